"""The text form of a count profile: `/debug/pprof/goroutine?debug=1`, threadcreate, leaks.

Written by    Go's runtime/pprof, in printCountProfile.
Quirks        A record is `count @ 0x…`, then its labels (since Go 1.10), then its frames. The
              largest count comes first. The header has the sum of all counts, which shows whether
              the text is complete.
              The runtime's own innermost frames, where goroutines wait, have an address but no
              line. A protobuf profile has their names.
              Since Go 1.21, the addresses of inlined calls are those of their callers.
Pasted        People leave out the header, or all but the largest records. The header, if it is
              there, keeps the total. Markdown turns each line's `#` into a heading, and copying
              then drops it. A narrow terminal breaks long lines.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from gomem.errors import EXCERPT, Damage, FormatError, excerpt
from gomem.inputs.pprof.columns import Labels, ValueType
from gomem.inputs.pprof.heap_text import TextReader
from gomem.inputs.pprof.text_lines import CUT_FRAME, cut_frame_of, frame_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gomem.inputs.pprof.columns import PprofColumns
    from gomem.inputs.pprof.text_lines import Frame

_HEADER = re.compile(rb"\s*(goroutine|goroutineleak|threadcreate) profile: total (\d{1,18})[^\n]*")
# Without its total, as people shorten it; the record below says that it is one.
_SHORT_HEADER = re.compile(
    rb"\s*(goroutine|goroutineleak|threadcreate) profile:?[ \t]*\r?\n"
    rb"(?=\s*\d{1,18} @(?: +0x[0-9a-f]))"
)
_RECORD = re.compile(rb"(\d{1,18}) @((?: +0x[0-9a-f]{1,16})*)\s*")
_LABELS = re.compile(rb"(?:# )?labels: (\{.*\})\s*")
_HEADLESS = re.compile(
    rb"\s*\d{1,18} @(?: +0x[0-9a-f]{1,16})+\s*?\n(?:\s*(?:# )?labels: \{.*\}\s*?\n)?"
    rb"\s*#?[\t ]*0x[0-9a-f]{1,16}[\t ]+\S.*\+0x[0-9a-f]+[\t ]+.*:\d+"
)
_FRAME_BEGUN = re.compile(rb"(?:#[\t ]+)?0x[0-9a-f]{1,16}[\t ]+\S")
# An address whose first 0 was lost or mistyped, `# 1xc14029`.
_MANGLED = re.compile(rb"\A(?P<before>(?:#[\t ]*)?)[1-9oO]?x(?=[0-9a-f]{4,16}[\t ]+\S)")
_BEGINS = re.compile(rb"\s*(?:#|0x[0-9a-f]+\s|\d+ @|labels:)")
NO_TOTAL = (
    f"{EXCERPT}its first line does not say of how many; there may be more than its records count"
)
NO_HEAD = (
    f"{EXCERPT}begins without the line that says which profile it is, and of how many: read as a "
    "profile of goroutines, of which there may be more"
)


@dataclass(frozen=True, slots=True)
class CountText:
    """A count profile in text form."""

    columns: PprofColumns
    total: int | None  # sum in the header, not less than the records' sum; None without a header


def _unbroken(lines: list[bytes], first: int) -> Iterator[tuple[int, bytes]]:
    """Rejoin lines broken by a terminal; yields each with the number of its first line."""
    number, whole = first, b""
    for at, line in enumerate(lines, start=first):
        if line.strip() and _goes_on(whole, line):
            whole = _rejoined(whole, line)
            continue
        if at > first:
            yield number, whole
        number, whole = at, line
    yield number, whole


def _rejoined(line: bytes, behind: bytes) -> bytes:
    is_next_word = line.lstrip()[:1].isdigit() and behind.startswith(b"0x")
    return line + b" " * is_next_word + behind


def _goes_on(line: bytes, behind: bytes) -> bool:
    """Whether a line ends inside a record's addresses or a frame, and the next one continues it."""
    if _RECORD.fullmatch(line.strip()):
        return _RECORD.fullmatch(_rejoined(line, behind).strip()) is not None
    said = line.strip()
    is_open = _FRAME_BEGUN.match(said) is not None and _CountReader.frame(said) is None
    return is_open and not _BEGINS.match(behind)


def looks_like_count_text(data: bytes) -> bool:
    """Whether a text begins with the header of a count profile, or with a record and its frames."""
    return any(form.match(data) for form in (_HEADER, _HEADLESS, _SHORT_HEADER))


def parse_count_text(data: bytes, *, source: str) -> tuple[CountText, list[Damage]]:
    """Parse a count profile in text form; returns it and the damage.

    If the records' sum is less than the header's, the text is an excerpt, which counts as damage.
    Raises FormatError if the text begins neither with the header of a count profile nor with a
    record and its frames.
    """
    reader = _CountReader(data, source)
    return reader.read(), reader.damage


@dataclass
class _CountReader(TextReader):
    labels: list[tuple[int, str, str]] = field(default_factory=list)

    def read(self) -> CountText:
        header = _HEADER.match(self.data) or _SHORT_HEADER.match(self.data)
        if header is None and _HEADLESS.match(self.data) is None:
            raise FormatError(self.source, "byte 0", "not a profile of counts in text")
        begin = 0 if header is None else header.end()
        first = self.data[:begin].count(b"\n") + 1
        lines = [line.rstrip(b"\r") for line in self.data[begin:].split(b"\n")]
        for number, line in _unbroken(lines, first):
            self._take(line.strip(), number)
        self.close()
        if header is None:
            self.damage.append(Damage(self.source, f"line {first}", NO_HEAD))
            return CountText(self._columns("goroutine"), None)
        name = header[1].decode()
        if header.re is _SHORT_HEADER:
            self.damage.append(Damage(self.source, f"line {first - 1}", NO_TOTAL))
            return CountText(self._columns(name), None)
        total, found = int(header[2]), sum(count for count, *_ in self.values)
        if found != total:
            what = f"an excerpt: its records count {found}, and its header says {total}"
            self.damage.append(Damage(self.source, f"byte {len(self.data)}", what))
        return CountText(self._columns(name), total)

    def _take(self, line: bytes, number: int) -> None:
        """Parse a line: a record, or a line of the current record."""
        if record := _RECORD.fullmatch(self.whole(line, number)):
            self.begin(record[2], (int(record[1]),))
        elif self.values and (frame := self.frame(line)) is not None:
            self.frames.append(frame)
        elif self.values and (labels := _LABELS.fullmatch(line)):
            self._label(labels[1])
        elif self.values and (cut := cut_frame_of(line)) is not None:
            self.frames.append(cut)
            self.damage.append(Damage(self.source, f"line {number}", CUT_FRAME, excerpt(line)))
        elif line:
            what = "not a line of a profile of counts in text; wanted `n @ 0x…`"
            self.damage.append(Damage(self.source, f"line {number}", what, excerpt(line)))

    @staticmethod
    def frame(line: bytes) -> tuple[int, Frame | None] | None:
        """Parse a frame's address and place, with or without the leading `#`."""
        plain = _MANGLED.sub(rb"\g<before>0x", line)
        return frame_of(b"# " + plain if plain.startswith(b"0x") else plain)

    def _columns(self, name: str) -> PprofColumns:
        value = np.array(self.values, np.int64).reshape(-1, 1)
        counts = ValueType(name, "count")
        for text in (name, "count"):
            self.string(text)
        rows = [(row, self.string(key), self.string(text), 0, 0) for row, key, text in self.labels]
        return self.columns((counts,), value, Labels.of(rows), counts, 1)

    def _label(self, text: bytes) -> None:
        """Add the current record's labels; the runtime prints them as a JSON object of strings."""
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):
            return
        row = len(self.values) - 1
        self.labels += [(row, key, value) for key, value in found.items() if isinstance(value, str)]
