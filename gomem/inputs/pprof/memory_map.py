"""The memory map at the end of a legacy text profile: the file of each address.

Written by    tcmalloc, after `MAPPED_LIBRARIES:`, as /proc/self/maps; other C++ servers, after
              `--- Memory map: ---`, as `00400000-00fcb000: $source/server`, preceded by a line
              `source=/home`.
Described in  google/pprof, profile/legacy_profile.go.
Quirks        Only executable segments of a file count. Adjacent ones of a file are one mapping.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from gomem.inputs.pprof.columns import Mappings
from gomem.inputs.text_lines import lines_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

SENTINELS = (b"MAPPED_LIBRARIES:", b"--- Memory map: ---")
_RANGE = r"\s*(?:0x)?([0-9a-f]{1,16})[\s-]\s*(?:0x)?([0-9a-f]{1,16}):?"
_PROC = re.compile(
    _RANGE + r"\s+([-rwxps]{3,4})\s+([0-9a-f]+)\s+[0-9a-f]+:[0-9a-f]+\s+[0-9]+\s*(.*)"
)
_BRIEF = re.compile(_RANGE + r"(?:\s+([-rwxps]{3,4}))?\s+(\S+)(?:\s+\(@([0-9a-f]+)\))?.*")
_SETTING = re.compile(r"\s*(\w+)=(\S*)\s*")
_LIBRARY = re.compile(r"[.]so$|[.]so[._][0-9]+")


@dataclass(frozen=True)
class Mapped:
    """A part of the address space."""

    start: int
    limit: int
    offset: int
    file: str


def mapped_in(text: bytes) -> list[Mapped]:
    """Parse a memory map: the executable mappings of files, the program first."""
    found: list[Mapped] = []
    settings: dict[str, str] = {}
    for line in lines_of(text):
        if setting := _SETTING.fullmatch(line):
            settings[setting[1]] = setting[2]
            continue
        mapping = _mapped(line, settings)
        if mapping is None:
            continue
        if found and found[-1].file == mapping.file and found[-1].limit == mapping.start:
            found[-1] = replace(found[-1], limit=mapping.limit)
        else:
            found.append(mapping)
    programs = (place for place, mapping in enumerate(found) if _is_program(mapping.file))
    if (place := next(programs, 0)) > 0:
        found[0], found[place] = found[place], found[0]
    return found


def _mapped(line: str, settings: dict[str, str]) -> Mapped | None:
    if found := _PROC.fullmatch(line):
        start, limit, permissions, offset, file = found.groups()
    elif found := _BRIEF.fullmatch(line):
        start, limit, permissions, file, offset = found.groups()
    else:
        return None
    if permissions and "x" not in permissions:
        return None
    for name, value in settings.items():
        file = file.replace(f"${name}", value)
    return Mapped(int(start, 16), int(limit, 16), int(offset or "0", 16), file.strip())


def _is_program(file: str) -> bool:
    name = file.replace("(deleted)", "").strip()
    return bool(name) and not name.startswith("[") and _LIBRARY.search(name) is None


def mappings_of(mapped: list[Mapped], string: Callable[[str], int]) -> Mappings:
    """Return these as a profile's mappings; `string` returns the index of a text."""
    return Mappings.of(
        [
            (
                mapping.start,
                mapping.limit,
                mapping.offset,
                string(mapping.file),
                0,
                False,
                False,
                False,
                False,
            )
            for mapping in mapped
        ]
    )


def placed(addresses: NDArray[np.uint64], mapped: list[Mapped]) -> NDArray[np.int32]:
    """Return the first mapping that contains each address; -1 if there is none."""
    found = np.full(len(addresses), -1, np.int32)
    for row, mapping in reversed(list(enumerate(mapped))):
        limit = np.uint64(min(mapping.limit, 2**64 - 1))
        found[(addresses >= np.uint64(mapping.start)) & (addresses < limit) & (addresses > 0)] = row
    return found
