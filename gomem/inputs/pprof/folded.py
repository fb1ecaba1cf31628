"""Folded stacks: `main.main;main.work 120`, one stack per line, outermost frame first.

Written by    flame graph tools and many profilers; there is no standard.
Quirks        The number follows the last space: a frame's name can contain spaces, but no
              semicolon. The format does not say what the numbers count.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from gomem.errors import Damage, FormatError, excerpt, printable
from gomem.inputs.pprof.columns import Labels
from gomem.inputs.pprof.heap_text import TextReader
from gomem.inputs.text_lines import lines_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gomem.inputs.pprof.columns import PprofColumns, ValueType

_LINE = re.compile(r"(.+?)[ \t]+(-?[0-9]{1,18})\s*")


def parse_folded(
    data: bytes, *, source: str, sample_type: ValueType
) -> tuple[PprofColumns, list[Damage]]:
    """Parse folded stacks as a profile of one sample type; raises FormatError without any stack."""
    reader = TextReader(data, source, strings={"": 0})
    for number, text in enumerate(lines_of(data), start=1):
        line = _LINE.fullmatch(text)
        if line:
            names = [frame.strip().encode("utf-8", "surrogatepass") for frame in line[1].split(";")]
            places = [reader.location(0, ((name, b"", 0),)) for name in reversed(names)]
            reader.stacks.append(places)
            reader.values.append((int(line[2]),))
        elif text.strip() and not text.startswith("#"):
            what = "not a folded stack; wanted `frame;frame number`"
            reader.damage.append(Damage(source, f"line {number}", what, excerpt(text)))
    if not reader.stacks:
        raise FormatError(source, "", "no folded stack in it; wanted `frame;frame number`")
    value = np.array(reader.values, np.int64)
    return reader.columns((sample_type,), value, Labels.of()), reader.damage


def write_folded(stacks: Iterable[tuple[tuple[str, ...], int]]) -> str:
    """Write stacks, innermost frame first, with their values; equal stacks are added up."""
    # In a frame's name, a semicolon becomes a colon, and a line break is escaped, because the
    # format cannot represent them.
    sums: dict[str, int] = {}
    for frames, value in stacks:
        line = ";".join(printable(frame).replace(";", ":") for frame in reversed(frames))
        sums[line] = sums.get(line, 0) + value
    return "".join(f"{line} {value}\n" for line, value in sorted(sums.items()) if line and value)
