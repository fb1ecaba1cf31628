"""The names of a profile's rows in shared output."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from gomem.inputs.pprof.sites import AllocationSites
from gomem.text import File, Function
from gomem.views.share import Hidden, share

if TYPE_CHECKING:
    import pandas as pd

    from gomem.analysis.profiles.top_difference import TopDifference

    Sites: TypeAlias = AllocationSites | TopDifference

Shown = Callable[[str], str]
NAMED = ("function", "other")  # columns with names of the chosen granularity


def names_shown(granularity: str, hidden: Hidden) -> Shown:
    """Return a function from a row's name to the name to show; file paths lose their folders."""
    if not hidden.redact:
        return str
    kind = File if granularity == "files" else Function
    return lambda name: hidden.text(kind(name))


def sites_shown(sites: Sites, shown: Shown) -> Sites:
    """Return the rows with shown names; two files of one name in different folders stay apart."""
    if not isinstance(sites, AllocationSites):
        return replace(sites, top=_renamed(sites.top, shown))
    printed = {shown(name): share for name, share in sites.printed_shares.items()}
    return replace(sites, function=list(map(shown, sites.function)), printed_shares=printed)


def rows_shown(rows: pd.DataFrame, shown: Shown, hidden: Hidden) -> pd.DataFrame:
    """Return the rows with shown names, also of labels and files."""
    return share(_renamed(rows, shown), hidden) if hidden.redact else rows


def _renamed(rows: pd.DataFrame, shown: Shown) -> pd.DataFrame:
    return rows.assign(**{name: rows[name].map(shown) for name in NAMED if name in rows})
