"""When was memory given back, on the collector's clock, and how much is released?

A `scav` or `scvg` line has no time of its own. It stands after the line of some collection and
before the next: that is as near as its time can be told, and both ends are given.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.analysis.collector.steps import log_seconds

if TYPE_CHECKING:
    import pandas as pd

COLUMNS = {
    "run": "int64",
    "after_cycle": "Int64",
    "log_seconds": "float64",
    "until_seconds": "float64",
    "event": "str",
    "forced": "bool",
    "released_bytes": "Int64",
    "released_background_bytes": "Int64",
    "released_eager_bytes": "Int64",
    "released_total_bytes": "Int64",
    "released_so_far_bytes": "Int64",
}


def gc_scavenges(
    cycles: pd.DataFrame, scavenges: pd.DataFrame, begins: pd.Series | None = None
) -> pd.DataFrame:
    """Place the scavenger's lines on the clock of the collections.

    A row per line: the start of the collection it stands after (`log_seconds`) and of the next one
    (`until_seconds`), on one clock for all runs (`steps.log_seconds`, or `begins`, where these are
    not all the collections); missing where there is none. Then what the line says, and the sum of
    what was released up to it in its run.
    """
    begins = log_seconds(cycles) if begins is None else begins
    clock = cycles[["run", "number"]].assign(begin=begins)
    clock["until"] = clock.groupby("run", sort=False)["begin"].shift(-1)
    placed = scavenges.merge(
        clock.astype({"number": "Int64"}).drop_duplicates(["run", "number"]),
        how="left",
        left_on=["run", "after_cycle"],
        right_on=["run", "number"],
    )
    in_parts = placed["released_background_bytes"] + placed["released_eager_bytes"]  # since 1.21
    released = placed["released_bytes"].fillna(in_parts)
    so_far = released.fillna(0).groupby(placed["run"], sort=False).cumsum()
    frame = placed.assign(
        log_seconds=placed["begin"],
        until_seconds=placed["until"],
        released_bytes=released,
        released_so_far_bytes=so_far,
    )
    return frame[list(COLUMNS)].astype(COLUMNS)
