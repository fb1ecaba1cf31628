"""Folded stacks: `main.main;main.work 120`, a line a stack, outermost frame first.

Written by    flame graph tools and many profilers; there is no standard.
Quirks        The number is after the last space: a frame's name may hold spaces, no semicolon.
              What the numbers count is not said.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from gomem.errors import Damage, FormatError, excerpt
from gomem.inputs.pprof.columns import (
    Functions,
    Labels,
    Locations,
    Mappings,
    PprofColumns,
    ValueType,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

_LINE = re.compile(r"(.+?)[ \t]+(-?\d{1,18})\s*")


def parse_folded(
    data: bytes, *, source: str, sample_type: ValueType
) -> tuple[PprofColumns, list[Damage]]:
    """Read folded stacks as a profile of one sample type.

    Args:
        data: The whole text.
        source: What damage calls it: as a rule, its path.
        sample_type: What the numbers count, and their unit.

    Raises:
        FormatError: There is no stack in it.
    """
    names: dict[str, int] = {}
    stacks: list[list[int]] = []
    values: list[int] = []
    damage: list[Damage] = []
    for number, text in enumerate(data.decode("utf-8", "backslashreplace").splitlines(), start=1):
        line = _LINE.fullmatch(text)
        if line:
            frames = reversed(line[1].split(";"))
            stacks.append([names.setdefault(name.strip(), len(names)) for name in frames])
            values.append(int(line[2]))
        elif text.strip() and not text.startswith("#"):
            what = "not a folded stack; wanted `frame;frame number`"
            damage.append(Damage(source, f"line {number}", what, excerpt(text)))
    if not stacks:
        raise FormatError(source, "", "no folded stack in it; wanted `frame;frame number`")
    return _columns(names, stacks, values, sample_type), damage


def write_folded(stacks: Iterable[tuple[tuple[str, ...], int]]) -> str:
    """Write stacks, innermost frame first, with their numbers; equal ones are added up.

    A semicolon in a frame's name becomes a colon: the format has no way to write one.
    """
    sums: dict[str, int] = {}
    for frames, value in stacks:
        line = ";".join(frame.replace(";", ":") for frame in reversed(frames))
        sums[line] = sums.get(line, 0) + value
    return "".join(f"{line} {value}\n" for line, value in sorted(sums.items()) if line and value)


def _columns(
    names: dict[str, int], stacks: list[list[int]], values: list[int], sample_type: ValueType
) -> PprofColumns:
    count = len(names)
    ids, none = np.arange(1, count + 1), np.zeros(count, np.int64)
    rows = np.arange(1, count + 1, dtype=np.int32)
    nowhere = none.astype(np.int32)
    zero = np.zeros(0, np.int64)
    return PprofColumns(
        sample_types=(sample_type,),
        value=np.array(values, np.int64).reshape(-1, 1),
        stack_offsets=np.concatenate(([0], np.cumsum([len(stack) for stack in stacks]))),
        stack=np.array([row for stack in stacks for row in stack], np.int32),
        labels=Labels(*(zero.astype(np.int32),) * 3, zero, zero.astype(np.int32)),
        locations=Locations(
            id=ids,
            mapping=np.full(count, -1, np.int32),
            address=none.astype(np.uint64),
            folded=none.astype(np.bool_),
            line_offsets=np.arange(count + 1),
            line_function=np.arange(count, dtype=np.int32),
            line_number=none,
            line_column=none,
        ),
        functions=Functions(ids, rows, rows, nowhere, none),
        mappings=Mappings(
            zero,
            *(zero.astype(np.uint64),) * 3,
            *(zero.astype(np.int32),) * 2,
            *(zero.astype(np.bool_),) * 4,
        ),
        strings=["", *names],
        time_nanos=0,
        duration_nanos=0,
        period_type=ValueType("", ""),
        period=0,
        default_sample_type="",
        comments=(),
        doc_url="",
        drop_frames="",
        keep_frames="",
    )
