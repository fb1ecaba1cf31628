"""The text form of a profile that counts: `/debug/pprof/goroutine?debug=1`, threadcreate, leaks.

Written by    Go's runtime/pprof, in printCountProfile.
Quirks        A record is `count @ 0x…`, then its labels (since Go 1.10), then its frames; the most
              first. The header has the sum of all counts, so a cut text is seen to be cut.
              The runtime's own innermost frames, where goroutines wait, have an address and no
              line: of these a profile in protobuf has the names, and this text has not.
              Addresses of inlined calls, since Go 1.21, are their caller's and those behind it.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from gomem.errors import Damage, FormatError, excerpt
from gomem.inputs.pprof.columns import Labels, ValueType
from gomem.inputs.pprof.heap_text import TextReader, frame_of

if TYPE_CHECKING:
    from gomem.inputs.pprof.columns import PprofColumns

_HEADER = re.compile(rb"\s*(goroutine|goroutineleak|threadcreate) profile: total (\d{1,18})[^\n]*")
_RECORD = re.compile(rb"(\d{1,18}) @((?: *0x[0-9a-f]{1,16})*)\s*")
_LABELS = re.compile(rb"# labels: (\{.*\})\s*")


def looks_like_count_text(data: bytes) -> bool:
    """Whether it begins with the header of such a profile."""
    return _HEADER.match(data) is not None


def parse_count_text(data: bytes, *, source: str) -> tuple[PprofColumns, list[Damage]]:
    """Read a profile of counts in text, and what could not be read.

    Records that count less than the header says are damage: the text is cut. FormatError where it
    does not begin with the header of such a profile.
    """
    reader = _CountReader(data, source)
    return reader.read(), reader.damage


@dataclass
class _CountReader(TextReader):
    labels: list[tuple[int, str, str]] = field(default_factory=list)

    def read(self) -> PprofColumns:
        header = _HEADER.match(self.data)
        if header is None:
            raise FormatError(self.source, "byte 0", "not a profile of counts in text")
        first = self.data[: header.end()].count(b"\n") + 1
        for number, line in enumerate(self.data[header.end() :].split(b"\n"), start=first):
            if record := _RECORD.fullmatch(line):
                self.begin(record[2], (int(record[1]),))
            elif self.values and (frame := frame_of(line)) is not None:
                self.frames.append(frame)
            elif self.values and (labels := _LABELS.fullmatch(line)):
                self._label(labels[1])
            elif line.strip():
                what = "not a line of a profile of counts in text; wanted `n @ 0x…`"
                self.damage.append(Damage(self.source, f"line {number}", what, excerpt(line)))
        self.close()
        total, found = int(header[2]), sum(count for count, *_ in self.values)
        if found != total:
            what = f"counts {found}, and its header says {total}: it is cut, or lines are missing"
            self.damage.append(Damage(self.source, f"byte {len(self.data)}", what))
        name = header[1].decode()
        value = np.array(self.values, np.int64).reshape(-1, 1)
        counts = ValueType(name, "count")
        for text in (name, "count"):
            self.string(text)
        rows = [(row, self.string(key), self.string(text), 0, 0) for row, key, text in self.labels]
        return self.columns((counts,), value, Labels.of(rows), counts, 1)

    def _label(self, text: bytes) -> None:
        """Labels of the record before, as the runtime prints them: a JSON object of texts."""
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):
            return
        row = len(self.values) - 1
        self.labels += [(row, key, value) for key, value in found.items() if isinstance(value, str)]
