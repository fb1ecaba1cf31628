"""What a profile's rows are called in an output that is shared."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, TypeAlias

from gomem.inputs.pprof.sites import AllocationSites
from gomem.text import File, Function
from gomem.views.share import share

if TYPE_CHECKING:
    import pandas as pd

    from gomem.analysis.profiles.top_difference import TopDifference
    from gomem.views.share import Hidden

    Sites: TypeAlias = AllocationSites | TopDifference

Shown = Callable[[str], str]
NAMED = ("function", "other")  # columns of frames whose names are those of a granularity


def names_shown(granularity: str, hidden: Hidden) -> Shown:
    """What to show for a row's name: of a file its own name, behind a function, too."""
    if not hidden.redact:
        return str
    kind = File if granularity == "files" else Function
    return lambda name: hidden.text(kind(name))


def sites_shown(sites: Sites, shown: Shown) -> Sites:
    """The same rows by what is shown; two files of one name in different folders stay two."""
    if not isinstance(sites, AllocationSites):
        return replace(sites, top=_renamed(sites.top, shown))
    printed = {shown(name): share for name, share in sites.printed_shares.items()}
    return replace(sites, function=list(map(shown, sites.function)), printed_shares=printed)


def rows_shown(rows: pd.DataFrame, shown: Shown, hidden: Hidden) -> pd.DataFrame:
    """The same rows, with labels and files as they may be shown, too."""
    return share(_renamed(rows, shown), hidden) if hidden.redact else rows


def _renamed(rows: pd.DataFrame, shown: Shown) -> pd.DataFrame:
    return rows.assign(**{name: rows[name].map(shown) for name in NAMED if name in rows})
