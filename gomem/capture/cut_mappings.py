"""Which smaps files are truncated between two mappings? A truncated file looks complete by itself.

The kernel writes smaps in pieces that end after a mapping, so an interrupted copy often ends after
a mapping, too. A file is reported as truncated only if one of two facts proves the truncation:

- The kernel's own mappings are the last in the file and exist for a process's whole life. If
  another file of the capture has such a mapping and this file does not, the end is missing.
- [stack], which every process has, is missing, and the kernel's own sum for the same snapshot is
  larger than the sum of the file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from gomem.errors import Damage
from gomem.text import Bytes, File, text
from gomem.units import KIB

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from gomem.capture.moment import Artefact

STACK = "[stack]"
LAST = (STACK, "[vdso]", "[vsyscall]")
MAPPING_KINDS = frozenset({"smaps", "maps"})
SUMS = {"smaps_rollup": ("mappings", "Rss"), "status": ("status", "VmRSS")}
ROUNDING, SHARE = 64 * KIB, 0.01  # possible difference of two readings of a running process
_WAY_OUT = "the file is cut between two mappings; copy it again in one read"


def cut_mappings(artefacts: Sequence[Artefact], damaged: Iterable[str]) -> Iterator[Damage]:
    """Yield damage for each file of mappings that ends early and is not in `damaged` already."""
    known = set(damaged)
    files = [
        file
        for file in artefacts
        if file.kind.name in MAPPING_KINDS and file.source.name not in known and len(_paths(file))
    ]
    for file in files:
        why = _shorter_than_another(file, files) or _less_than_a_sum(file, artefacts)
        if why:
            line = int(file.parsed.mappings["line"].iloc[-1])
            yield Damage(file.source.name, f"line {line}", text("{}: {}", why, _WAY_OUT))


def _shorter_than_another(artefact: Artefact, files: Sequence[Artefact]) -> str:
    """Name the final mappings that another file has and this file does not; empty if none."""
    mine = set(_paths(artefact))
    for other in files:
        missing = sorted(set(LAST) & (set(_paths(other)) - mine))
        if missing:
            *most, last = missing
            named = f"{', '.join(most)} and {last}" if most else last
            verb = "are" if most else "is"
            has = File(other.source.name)
            return text("it ends here; {}, which {} has, {} missing", named, has, verb)
    return ""


def _less_than_a_sum(artefact: Artefact, artefacts: Sequence[Artefact]) -> str:
    """Name a kernel sum at the same snapshot that exceeds this file's, if [stack] is missing."""
    sizes = artefact.parsed.mappings["Rss"]
    if STACK in set(_paths(artefact)) or sizes.isna().all():
        return ""
    mine = int(sizes.sum())
    for other in artefacts:
        if other.moment != artefact.moment or other.kind.name not in SUMS:
            continue
        frame, name = SUMS[other.kind.name]
        said = getattr(other.parsed, frame)[name].iloc[-1]
        if pd.notna(said) and int(said) - mine > max(ROUNDING, SHARE * int(said)):
            what = "the last mapping; no {}, and {} resident where {} says {}"
            return text(what, STACK, Bytes(mine), File(other.source.name), Bytes(int(said)))
    return ""


def _paths(artefact: Artefact) -> pd.Series:
    return artefact.parsed.mappings["path"]
