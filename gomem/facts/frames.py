"""DataFrames over all snapshots of a capture."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from gomem.analysis.collector.steps import stopped_seconds
from gomem.analysis.mappings.kinds import kinds_by_moment
from gomem.analysis.memory.containers import ContainerSizes, containers_frame, containers_of
from gomem.analysis.memory.ledger import LEDGER_PARTS, PARTS
from gomem.analysis.memory.skew import collection_ends
from gomem.analysis.series.level import LEVEL_QUANTILES, MIN_MOMENTS, level_quantiles
from gomem.capture.moment import MOMENT
from gomem.inputs.schema import SECONDS, Column, Dictionary, dictionary_of, empty
from gomem.text import Words

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gomem.capture.capture import Capture
    from gomem.facts.capture import CaptureFacts

PART_LEVELS = dictionary_of(
    (
        Column("rss_bytes", "Int64", "B", "RSS, the sum of the parts of the ledger."),
        *(
            Column(part, "Int64", "B", f"This part of the ledger; see `gomem explain {part}`.")
            for part in PARTS
        ),
    )
)
KINDS = dictionary_of(
    (
        Column(
            "kind", "str", "", "Kind of the mapping; `gomem explain` describes each kind.", Words
        ),
        Column("rule", "str", "", "The rule that assigned the kind.", Words),
    )
)
PAUSES = dictionary_of(
    (
        Column(
            "time",
            "datetime64[ns, UTC]",
            "",
            "Time of the log line, or of the end of the collection; missing if unknown.",
        ),
        Column("pause_seconds", *SECONDS, "Sum of both STW phases, as in PauseNs."),
    )
)


def ledger_frame(facts: CaptureFacts) -> pd.DataFrame:
    """Return all ledgers: `moment`, then the columns of `LEDGER_PARTS`."""
    parts = {name: ledger.parts for name, ledger in facts.ledgers.items()}
    return _by_moment(parts, LEDGER_PARTS)


def kinds_frame(facts: CaptureFacts) -> pd.DataFrame:
    """Return mappings by kind: `moment`, then the columns of `BY_KIND`."""
    return kinds_by_moment(facts.smaps)


def smaps_frame(facts: CaptureFacts) -> pd.DataFrame:
    """Return the mappings of all snapshots with `kind`, and the `rule` that assigned it.

    The columns are those of `Capture.smaps`. A mapping with two kinds becomes two rows. Mappings
    from `maps` have no kind, because that file does not show residence.
    """
    frames = [moment.mappings for moment in facts.moments if moment.mappings is not None]
    if not frames:
        return facts.capture.smaps.iloc[:0].assign(kind="", rule="")
    frame = pd.concat(frames, ignore_index=True)
    frame.attrs["columns"] = Dictionary(frames[0].attrs.get("columns", {}) | KINDS)
    return frame


def levels_frame(facts: CaptureFacts) -> pd.DataFrame:
    """Return one wide row per snapshot, by time if known, with all its levels side by side.

    `moment`, `rss_bytes`, the parts of its ledger, then the columns of `Capture.levels`.
    """
    rows = [
        {"moment": name, "rss_bytes": ledger.rss_bytes}
        | dict(zip(ledger.parts["part"], ledger.parts["bytes"].tolist(), strict=True))
        for name, ledger in facts.ledgers.items()
    ]
    wide = facts.capture.levels
    if not rows:
        return wide
    parts = pd.DataFrame(rows).set_index("moment").reindex(wide["moment"]).astype("Int64")
    named = pd.concat([parts.reset_index(), wide.drop(columns="moment").reset_index()], axis=1)
    named.attrs["columns"] = Dictionary(wide.attrs["columns"] | PART_LEVELS)
    return named.set_index("time")


def cycles_frame(capture: Capture, cycles: pd.DataFrame) -> pd.DataFrame:
    """Return a log's collections with their times and STW pauses.

    The time is that of the log line, if a log collector stamped it. Otherwise it is the end of the
    collection, from MemStats that count the same collection; missing if nothing relates the log to
    the wall clock.
    """
    told = Dictionary(cycles.attrs.get("columns", {}) | PAUSES)
    timed = cycles.assign(pause_seconds=stopped_seconds(cycles))
    ends = collection_ends(cycles, capture.memstats, capture.pauses)
    if ends is not None:
        timed["time"] = timed["time"].fillna(timed["number"].map(ends))
    timed.attrs["columns"] = told
    return timed


def quantiles_frame(facts: CaptureFacts) -> pd.DataFrame:
    """Return quantiles of RSS and the heap; see `analysis.level_quantiles.LEVEL_QUANTILES`."""
    if len(facts.moments) < MIN_MOMENTS:
        return empty(LEVEL_QUANTILES)
    rows = [
        {"rss_bytes": moment.rss_bytes}
        | ({} if moment.memstats is None else dict(moment.memstats[["HeapAlloc", "HeapInuse"]]))
        for moment in facts.moments
    ]
    return level_quantiles(pd.DataFrame(rows))


def _by_moment(frames: Mapping[str, pd.DataFrame], columns: tuple[Column, ...]) -> pd.DataFrame:
    """Concatenate frames, each with its snapshot."""
    names = ["moment", *(column.name for column in columns)]
    if not frames:
        return empty((MOMENT, *columns))
    frame = pd.concat(
        [frame.assign(moment=name)[names] for name, frame in frames.items()], ignore_index=True
    )
    frame.attrs["columns"] = dictionary_of((MOMENT, *columns))
    return frame


def containers_of_capture(facts: CaptureFacts) -> tuple[ContainerSizes, ...]:
    """Return the containers of pasted tables, the largest first."""
    return containers_of(facts.capture.processes)


def container_sizes(facts: CaptureFacts) -> pd.DataFrame:
    """Return the same as a frame; see `analysis.memory.containers.CONTAINERS`."""
    return containers_frame(facts.containers)
