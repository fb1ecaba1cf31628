"""What retains each part of the account: sites, goroutines, kinds of mappings, and files."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gomem.analysis.memory.groups import FILES, LIVE, NATIVE, STACKS
from gomem.analysis.memory.mapped import BLOCKS, C_HEAP, MAPPED, THREADS
from gomem.causes.sites import changed_sites
from gomem.diagnosis.part_words import native_sizes

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gomem.analysis.memory.account import Part
    from gomem.causes.cause import Case
    from gomem.facts.callers import Caller, Callers
    from gomem.facts.moment import MomentFacts

MAX_FILES = 3


@dataclass(frozen=True)
class Holder:
    """What retains a part of a change."""

    name: str  # a function, a kind of mapping, or a file
    own_function: str | None  # the program's own function to look at; None if unknown
    low: float  # minimum growth in bytes; NaN if unknown
    high: float  # maximum growth in bytes; NaN if unknown


def holders_of(part: Part, case: Case) -> tuple[Holder, ...]:
    """The known holders of an account part's change, largest first."""
    found: list[Holder] = []
    if LIVE in part.groups:
        found += [
            Holder(site.function, site.own_function, site.low, site.high)
            for site in changed_sites(case)
        ]
    if STACKS in part.groups and case.facts.goroutines.waiting is not None:
        function = case.facts.goroutines.waiting.function
        grown = case.facts.goroutines.stacks_grown
        found.append(Holder(function, function, 0.0, max(0.0, grown)))
    elif STACKS in part.groups:
        found += [
            Holder(caller.function, caller.function, 0.0, part.after.high)
            for caller in case.facts.callers.recursing
            if caller.depth >= case.thresholds.recursion_depth
        ]
    mapped = [moment for moment in case.facts.moments if moment.mappings is not None]
    if mapped and NATIVE in part.groups:
        found += _native(mapped[-1], part, case.facts.callers)
    if mapped and FILES in part.groups:
        found += _files(mapped[-1], part, case.facts.callers)
    return tuple(sorted(found, key=_order))


def _order(holder: Holder) -> float:
    return -math.inf if math.isnan(holder.high) else -holder.high


def _native(moment: MomentFacts, part: Part, callers: Callers) -> list[Holder]:
    """C's heap, its large blocks, threads, and the program's own mappings, in the last smaps."""
    by_c = _first(callers.calling_c)
    owners = {C_HEAP: by_c, BLOCKS: by_c, THREADS: by_c, MAPPED: _first(callers.mapping)}
    return _grown(dict(zip(owners, native_sizes(moment), strict=True)), part, owners)


def _files(moment: MomentFacts, part: Part, callers: Callers) -> list[Holder]:
    """The files with the most resident bytes, in the last smaps."""
    assert moment.mappings is not None
    rows = moment.mappings[moment.mappings["kind"].isin(["mapped-file", "shared-memory"])]
    sizes = rows.groupby("path")["Rss"].sum().nlargest(MAX_FILES)
    by_path = {str(path): int(size) for path, size in sizes.items()}
    return _grown(by_path, part, dict.fromkeys(by_path, _first(callers.mapping)))


def _first(callers: Sequence[Caller]) -> str | None:
    """The program's own function behind most of the part; None if unknown."""
    return callers[0].function if callers else None


def _grown(sizes: dict[str, int], part: Part, owners: Mapping[str, str | None]) -> list[Holder]:
    """Bounds on the growth of each: before, it was at most as large as the whole part."""
    most = part.before.high
    return [
        Holder(name, owners[name], max(0.0, size - most), float(size))
        for name, size in sizes.items()
        if size > 0
    ]
