"""Who allocates what grows: the program's own functions, for every cause that names them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.causes.finding import Site
from gomem.text import Share, Text, text

if TYPE_CHECKING:
    import pandas as pd

    from gomem.causes.case import Case
    from gomem.causes.thresholds import Thresholds

SITES = 3


def growing_sites(case: Case) -> tuple[Site, ...]:
    """The program's own functions that have more in the last profile, the largest first."""
    return largest_sites(case.facts.profiles.growth_holders, case.thresholds)


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
            line=None if row.line is None or row.line != row.line else int(row.line),
            low=float(row.low),
            high=float(row.high),
            change=float(row.change),
            share=float(row.change) / whole,
        )
        for row in large.astype(object).itertuples()
    )


def share_words(share: float, thresholds: Thresholds) -> Text:
    """How much of a whole a part is, in words that hold to the number."""
    if share >= thresholds.nearly_all_share:
        return Text("nearly all")
    if share > thresholds.most_share:
        return text("most of it ({})", Share(share))
    return text("the largest part ({})", Share(share))
