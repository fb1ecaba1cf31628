"""What a profile's rows are called in an output that is shared."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gomem.inputs.pprof.sites import AllocationSites
from gomem.text import File
from gomem.views.share import share

if TYPE_CHECKING:
    import pandas as pd

    from gomem.analysis.profiles.top_difference import TopDifference
    from gomem.inputs.pprof.table import Profile
    from gomem.views.share import Hidden

NAMED = ("function", "other")  # columns of frames whose names are those of a granularity


def names_of(profile: Profile, granularity: str, hidden: Hidden) -> dict[str, str]:
    """What to show for each row's name; nothing if all are shown as they are.

    The rows stay what they are: two files of one name in different folders are two rows.
    """
    if not hidden.redact:
        return {}
    return profile.nodes(granularity).names_with(lambda path: hidden.text(File(path)))


def sites_shown(
    sites: AllocationSites | TopDifference, names: dict[str, str]
) -> AllocationSites | TopDifference:
    """The same rows under these names."""
    if not names:
        return sites
    if isinstance(sites, AllocationSites):
        printed = {names.get(name, name): share for name, share in sites.printed_shares.items()}
        functions = [names.get(name, name) for name in sites.function]
        return replace(sites, function=functions, printed_shares=printed)
    return replace(sites, top=_renamed(sites.top, names))


def rows_shown(rows: pd.DataFrame, names: dict[str, str], hidden: Hidden) -> pd.DataFrame:
    """The same rows, with labels and files as they may be shown, too."""
    return share(_renamed(rows, names), hidden) if hidden.redact else rows


def _renamed(rows: pd.DataFrame, names: dict[str, str]) -> pd.DataFrame:
    columns = {name: rows[name].replace(names) for name in NAMED if name in rows}
    return rows.assign(**columns)
