"""Which of the program's functions allocate the growing memory, or call the one in question?"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from gomem.causes.finding import Evidence, Site
from gomem.inputs.pprof.calls.names import base_name
from gomem.inputs.schema import rows_of
from gomem.text import File, Function, Seconds, Share, Text, text
from gomem.units import is_unknown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

    from gomem.causes.case import Case
    from gomem.causes.thresholds import Thresholds
    from gomem.facts.callers import Caller

SITES = 3


def growing_sites(case: Case) -> tuple[Site, ...]:
    """The program's own functions that have more in the last profile, the largest first."""
    return largest_sites(case.facts.profiles.growth_holders, case.thresholds)


def changed_sites(case: Case) -> tuple[Site, ...]:
    """Those that have more in the very last profile, a burst at the end included."""
    return largest_sites(case.facts.profiles.change_holders, case.thresholds)


def holding_sites(case: Case) -> tuple[Site, ...]:
    """Those functions; where one profile is all there is, those that have most of it in use."""
    if case.facts.profiles.growth_holders is not None:
        return growing_sites(case)
    return largest_sites(case.facts.profiles.in_use_holders, case.thresholds)


def allocating_sites(case: Case) -> tuple[Site, ...]:
    """The program's own functions that allocated most over the watch, the largest first."""
    return largest_sites(case.facts.profiles.allocation_holders, case.thresholds)


def largest_sites(rows: pd.DataFrame | None, thresholds: Thresholds) -> tuple[Site, ...]:
    """The own functions that have a large part of what came, the largest first.

    Args:
        rows: As of `profiles.own_code.HOLDERS`; None where no two profiles tell.
        thresholds: Of which `named_share` is how large a part must be.
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
    """How much of a whole a part is, where a title has room for a number."""
    return Text("nearly all" if share >= thresholds.nearly_all_share else Share(share))


def part_words(share: float, thresholds: Thresholds) -> str:
    """The same where a title has all its numbers."""
    if share >= thresholds.nearly_all_share:
        return "nearly all"
    return "most" if share > thresholds.most_share else "the largest part"


def site_evidence(path: str, field: str, sites: Sequence[Site]) -> tuple[Evidence, ...]:
    """What each of them has, by a profile; the field names it in `{}`."""
    return tuple(
        Evidence(path, text(field, Function(site.own_function)), round(site.change), "B")
        for site in sites
    )


def whole_evidence(path: str, field: str, sites: Sequence[Site]) -> tuple[Evidence, ...]:
    """What their shares are of, by a profile; none without sites."""
    return tuple(Evidence(path, field, round(site.change / site.share), "B") for site in sites[:1])


def pooling_words(case: Case, sites: Sequence[Site]) -> Text:
    """That a pool pays at the first of these sites that allocates much and soon drops it."""
    lives = case.facts.own_lifetimes
    row = None if lives is None else _first_of(sites, lives.pooling)
    if row is None:
        return Text()
    return text(
        "A sync.Pool pays in {}: its objects live {} at most, on average.",
        Function(row["function"]),
        Seconds(float(row["lifetime_high"])),
    )


def aging_words(case: Case, sites: Sequence[Site]) -> Text:
    """That the first of these sites that keeps what it allocates does so."""
    lives = case.facts.own_lifetimes
    row = None if lives is None else _first_of(sites, lives.aging)
    if row is None:
        return Text()
    return text(
        "{} keeps what it allocates: at most {} was freed during the capture.",
        Function(row["function"]),
        Share(float(row["freed_high"])),
    )


def _first_of(sites: Sequence[Site], rows: pd.DataFrame) -> Mapping[str, Any] | None:
    """The row of the first of the sites that has one; None if none has."""
    for site in sites:
        found = rows[rows["function"] == site.own_function]
        if len(found):
            return rows_of(found)[0]
    return None


def caller_sites(
    callers: Sequence[Caller], thresholds: Thresholds, size: float = math.nan
) -> tuple[Site, ...]:
    """The functions that do a good part of the calling, most first.

    Args:
        callers: As the facts have them.
        thresholds: Which share is worth a name.
        size: What is theirs at most, in bytes; NaN where that is not about memory.
    """
    low = math.nan if math.isnan(size) else 0.0
    return tuple(
        Site(by.called or by.function, by.function, by.file, by.line, low, size, size, share)
        for by in callers[:SITES]
        if (share := by.share) >= thresholds.named_share
    )


def called_by(callers: Sequence[Caller], what: str = "") -> Text:
    """Who calls it most, where, and by which file; empty if none says.

    `main.(*shop).look, shop.go:41, calls C (cpu.pb.gz).`

    Args:
        callers: As the facts have them.
        what: What is called; by the name of what the first calls if empty.
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
