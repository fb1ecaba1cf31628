"""The program's functions that allocate the growing memory, or make the calls in question."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from gomem.causes.finding import Evidence, Site
from gomem.facts.profiles import IN_USE, that_count
from gomem.inputs.pprof.calls.names import STARTS, base_name, own_function
from gomem.inputs.schema import rows_of
from gomem.text import File, Function, Seconds, Share, Text, text
from gomem.units import is_unknown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

    from gomem.causes.cause import Case
    from gomem.causes.thresholds import Thresholds
    from gomem.facts.callers import Caller
    from gomem.inputs.pprof.table import Profile

SITES = 3


def growing_sites(case: Case) -> tuple[Site, ...]:
    """Return the program's own functions that grew up to the last profile, the largest first."""
    return largest_sites(case.facts.profiles.growth_holders, case.thresholds)


def changed_sites(case: Case) -> tuple[Site, ...]:
    """Return the functions that grew up to the last profile, even if a burst ends there."""
    return largest_sites(case.facts.profiles.change_holders, case.thresholds)


def holding_sites(case: Case) -> tuple[Site, ...]:
    """Return the functions that grew; for a single profile, functions with most in use."""
    if case.facts.profiles.growth_holders is not None:
        return growing_sites(case)
    return largest_sites(case.facts.profiles.in_use_holders, case.thresholds)


def printed_sites(case: Case) -> tuple[Site, ...]:
    """Return the program's own functions with most in use in the last table that pprof printed.

    Without one, those with most of what a printed difference has more. A table has no stacks: if
    a library allocates most, the own function with most below it is the one with the least of all
    those that have it.
    """
    thresholds, last = case.thresholds, last_table(case)
    if last is None:
        return ()
    rows = last.top(IN_USE, n=None)
    whole = float(rows["flat"].clip(lower=0).sum()) if last.is_difference else last.total(IN_USE)
    if not whole:
        return ()
    least, most = (share * whole for share in (thresholds.named_share, thresholds.most_share))
    sizes = zip(rows["function"].astype(str), rows["flat"].astype(float), rows["cum"], strict=True)
    own = [row for row in sizes if own_function([row[0]]) and row[0] not in STARTS]
    flat = [(name, size) for name, size, _ in own if size >= least]
    below = [(name, float(cum)) for name, _, cum in own if cum >= most]
    has_most = flat and flat[0][1] >= most
    named = flat if has_most or not below else [min(below, key=lambda row: row[1])]
    return tuple(
        Site(name, name, low=size, high=size, change=size, share=min(1.0, size / whole))
        for name, size in named
    )[:SITES]


def last_table(case: Case) -> Profile | None:
    """Return the last table of memory in use that pprof printed, else a printed difference."""
    profiles = that_count(IN_USE, case.facts.profiles.by_moment)
    printed = [profile for profile in profiles.values() if profile.printed is not None]
    return printed[-1] if printed else case.facts.profiles.printed_difference


def allocating_sites(case: Case) -> tuple[Site, ...]:
    """Return the program's own functions that allocated most over the capture."""
    return largest_sites(case.facts.profiles.allocation_holders, case.thresholds)


def largest_sites(rows: pd.DataFrame | None, thresholds: Thresholds) -> tuple[Site, ...]:
    """Return the program's own functions with a large part of the increase, the largest first.

    Args:
        rows: See `profiles.own_code.HOLDERS`; None without two profiles.
        thresholds: `named_share` is the minimum part.
    """
    if rows is None or rows.empty:
        return ()
    more = rows[(rows["change"] > 0) & (rows["own_function"] != "")]
    whole = float(rows["change"].clip(lower=0).sum())
    large = more[more["change"] >= thresholds.named_share * whole].head(SITES)
    return tuple(
        Site(
            row.function,
            row.own_function,
            file=row.file,
            line=_whole(row.line),
            low=_known(row.low),
            high=_known(row.high),
            change=float(row.change),
            share=float(row.change) / whole,
            object_bytes=_whole(row.object_bytes),
        )
        for row in large.astype(object).itertuples()
    )


def _known(value: Any) -> float:
    return math.nan if is_unknown(value) else float(value)


def _whole(value: Any) -> int | None:
    return None if is_unknown(value) else int(value)


def share_words(share: float, thresholds: Thresholds) -> Text:
    """Say how large a part is, if a title has room for a number."""
    return Text("nearly all" if share >= thresholds.nearly_all_share else Share(share))


def part_words(share: float, thresholds: Thresholds) -> str:
    """Say how large a part is without a number, if a title already has enough numbers."""
    if share >= thresholds.nearly_all_share:
        return "nearly all"
    return "most" if share > thresholds.most_share else "the largest part"


def site_evidence(path: str, field: str, sites: Sequence[Site]) -> tuple[Evidence, ...]:
    """Return the bytes of each site in a profile; the field has `{}` in place of name and line.

    The line is that of the call with the most bytes in the function.
    """
    return tuple(Evidence(path, text(field, site.place), round(site.change), "B") for site in sites)


def whole_evidence(path: str, field: str, sites: Sequence[Site]) -> tuple[Evidence, ...]:
    """Return the total of a profile that the sites are shares of; empty without sites."""
    return tuple(Evidence(path, field, round(site.change / site.share), "B") for site in sites[:1])


def pooling_words(case: Case, sites: Sequence[Site]) -> Text:
    """Advise a sync.Pool, if a site that allocates much drops its objects soon."""
    lives = case.facts.own_lifetimes
    row = None if lives is None else _first_of(sites, lives.pooling)
    if row is None:
        return Text()
    return text(
        "Consider a sync.Pool in {}: its objects live {} or less on average.",
        Function(row["function"]),
        Seconds(float(row["lifetime_high"])),
    )


def aging_words(case: Case, sites: Sequence[Site]) -> Text:
    """Say that a site retains what it allocates; empty without such a site."""
    lives = case.facts.own_lifetimes
    row = None if lives is None else _first_of(sites, lives.aging)
    if row is None:
        return Text()
    return text(
        "At least {} of the memory that {} allocated was still in use at the last GC.",
        Share(1 - float(row["freed_high"])),
        Function(row["function"]),
    )


def _first_of(sites: Sequence[Site], rows: pd.DataFrame) -> Mapping[str, Any] | None:
    """Return the row of the first site with a row; None without one."""
    for site in sites:
        found = rows[rows["function"] == site.own_function]
        if len(found):
            return rows_of(found)[0]
    return None


def caller_sites(
    callers: Sequence[Caller], thresholds: Thresholds, size: float = math.nan
) -> tuple[Site, ...]:
    """Return the functions that make a large part of the calls, most calls first.

    Args:
        callers: Callers from the facts.
        thresholds: The minimum share.
        size: An upper bound of the memory of all calls, in bytes; NaN if the calls are not about
            memory.
    """
    low = math.nan if math.isnan(size) else 0.0
    return tuple(
        Site(by.called or by.function, by.function, by.file, by.line, low, size, size, share)
        for by in callers[:SITES]
        if (share := by.share) >= thresholds.named_share
    )


def called_by(callers: Sequence[Caller], what: str = "") -> Text:
    """Say who makes most calls, in which line, by which file; empty without callers.

    `main.(*shop).look, shop.go:41, calls C (cpu.pb.gz).`

    Args:
        callers: Callers from the facts.
        what: What is called; if empty, the function that the first caller calls.
    """
    if not callers:
        return Text()
    first = callers[0]
    place = Text(Function(first.function))
    if first.file:
        line = "" if first.line is None else f":{first.line}"
        place = text("{}, {}{},", place, File(base_name(first.file)), line)
    called = Text(what) or Function(first.called)
    return text("{} calls {} ({}).", place, called, File(first.path))
