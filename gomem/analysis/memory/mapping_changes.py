"""Which mappings of a process grew, shrank, came or went between two times?

Within a process, a mapping is recognised by its place: two mappings of one kind whose addresses
overlap are the same, however the kernel has split or merged them meanwhile. Two processes lie at
different addresses, so there mappings are matched by kind and file alone.
"""

from __future__ import annotations

import pandas as pd

from gomem.inputs.schema import Column, build

_SIDES = ("before", "after")
STATES = ("new", "gone", "grew", "shrank", "same")
MAPPING_CHANGES = (
    Column("kind", "str", "", "What the mapping is."),
    Column("path", "str", "", "The file or the name that it has; else empty."),
    Column("start", "UInt64", "address", "Where it begins; missing between two processes."),
    Column("end", "UInt64", "address", "Where it ends; missing between two processes."),
    Column("state", "str", "", "One of `STATES`, by its resident bytes."),
    Column("before_vmas", "int64", "count", "Mappings before."),
    Column("after_vmas", "int64", "count", "Mappings after."),
    Column("before_size_bytes", "int64", "B", "Address space before."),
    Column("after_size_bytes", "int64", "B", "Address space after."),
    Column("before_rss_bytes", "int64", "B", "Resident before."),
    Column("after_rss_bytes", "int64", "B", "Resident after."),
    Column("change_bytes", "int64", "B", "Resident after less before."),
)


def match_mappings(
    before: pd.DataFrame, after: pd.DataFrame, *, same_process: bool | None = None
) -> pd.DataFrame:
    """Compare the mappings of two times.

    Args:
        before: Classified mappings of the earlier time, or of the capture before.
        after: Those of the later one.
        same_process: Whether both are of one process; if None, found from where the stack ends.

    Returns:
        A row per mapping matched, the largest change of resident bytes first; see
        `MAPPING_CHANGES`. A side without the mapping counts 0.
    """
    one = is_one_process(before, after) if same_process is None else same_process
    both = pd.concat(
        [
            frame[["kind", "path", "start", "end", "Size", "Rss"]].assign(side=side)
            for side, frame in zip(_SIDES, (before, after), strict=True)
        ],
        ignore_index=True,
    )
    both["path"] = both["path"].mask(both["path"].str.startswith("[anon:"), "")
    both = both.sort_values(["kind", "path", "start"], kind="stable", ignore_index=True)
    group = both.groupby(["kind", "path"], sort=False).ngroup()
    both["extent"] = _extents(both, group) if one else group
    table = _summed(both)
    if not one:
        table[["start", "end"]] = pd.NA
    table["state"] = _states(table)
    order = table["change_bytes"].abs().sort_values(ascending=False, kind="stable").index
    return build(dict(table.loc[order].reset_index(drop=True)), MAPPING_CHANGES)


def is_one_process(before: pd.DataFrame, after: pd.DataFrame) -> bool:
    """Whether two lists of mappings are of one process.

    The kernel places the stack at random when a program starts, and its end never moves; unless
    both have a stack, the vdso decides.
    """
    for name, edge in (("[stack]", "end"), ("[vdso]", "start")):
        places = [set(frame.loc[frame["path"] == name, edge]) for frame in (before, after)]
        if all(places):
            return places[0] == places[1]
    return False


def _extents(both: pd.DataFrame, group: pd.Series) -> pd.Series:
    """A number for each set of mappings that overlap, within one kind and file."""
    reached = both.groupby(group)["end"].cummax().shift(1, fill_value=0)
    apart = (both["start"] >= reached) | (group != group.shift(1))
    return apart.cumsum()


def _summed(both: pd.DataFrame) -> pd.DataFrame:
    counted = {}
    for side in _SIDES:
        mine = both["side"] == side
        counted[f"{side}_vmas"] = mine.astype("int64")
        counted[f"{side}_size_bytes"] = both["Size"].fillna(0).where(mine, 0).astype("int64")
        counted[f"{side}_rss_bytes"] = both["Rss"].fillna(0).where(mine, 0).astype("int64")
    sums = pd.DataFrame(counted).groupby(both["extent"], sort=False).sum()
    sums["change_bytes"] = sums["after_rss_bytes"] - sums["before_rss_bytes"]
    places = both[["start", "end"]].groupby(both["extent"], sort=False)
    first = both.loc[~both["extent"].duplicated(), ["kind", "path", "extent"]]
    table = first.set_index("extent").join(sums)
    table["start"] = places["start"].min().astype("UInt64")
    table["end"] = places["end"].max().astype("UInt64")
    return table.reset_index(drop=True)


def _states(table: pd.DataFrame) -> pd.Series:
    states = pd.Series("same", index=table.index, dtype="str")
    states[table["change_bytes"] > 0] = "grew"
    states[table["change_bytes"] < 0] = "shrank"
    states[table["before_vmas"] == 0] = "new"
    states[table["after_vmas"] == 0] = "gone"
    return states
