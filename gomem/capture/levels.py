"""One wide row a moment: what its files count, side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from gomem.inputs.schema import Column, Dictionary, dictionary_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gomem.capture.moment import Moment

NO_LEVELS = frozenset({"moment", "artefact", "reading", "place", "Name", "State", "go_version"})
ROLLUP_FIELDS = ("Rss", "Pss", "Anonymous", "LazyFree", "Swap")

OWN = dictionary_of(
    (
        Column("goroutines", "Int64", "count", "Goroutines, by the moment's profile or dump."),
        Column("max_rss_bytes", "Int64", "B", "Peak RSS, as a heap profile in text ends with."),
    )
)


def levels_of(moments: Iterable[Moment]) -> pd.DataFrame:
    """A row a moment, by time where that is known.

    Its columns are `moment`, MemStats' fields, what status and a page of metrics count, `Rss` and
    others of smaps or smaps_rollup as sums, `goroutines`, `max_rss_bytes` of a heap profile in
    text, and the scalars of runtime/metrics by their names. Of several dumps of a moment it is the
    last; what a moment does not say is missing.
    """
    rows = list(moments)
    times = pd.to_datetime([one.time for one in rows], utc=True).as_unit("ns")
    frame = pd.DataFrame([_row(one) for one in rows], index=pd.Index(times, name="time"))
    if not len(frame.columns):
        frame["moment"] = pd.Series(index=frame.index, dtype="str")
    frame.attrs["columns"] = Dictionary(OWN | _told(rows))
    return frame


def _told(moments: Iterable[Moment]) -> dict[str, dict[str, str]]:
    """What the columns mean in the frames that they come from."""
    return {
        name: means
        for one in moments
        for frame in (one.rollups, one.smaps, one.process, one.status, one.memstats)
        for name, means in frame.attrs.get("columns", {}).items()
    }


def _row(moment: Moment) -> dict[str, Any]:
    row: dict[str, Any] = {"moment": moment.name}
    for name in ("memstats", "status", "process"):
        frame = getattr(moment, name)
        if len(frame):
            last = frame.iloc[-1]
            row |= {field: last[field] for field in frame.columns if field not in NO_LEVELS}
    row |= _mapped(moment)
    if len(moment.goroutines):
        row["goroutines"] = int(moment.goroutines["goroutines"].sum())
    peaks = [one.max_rss_bytes for one in moment.profiles.values() if one.max_rss_bytes]
    if peaks:
        row["max_rss_bytes"] = max(peaks)
    metrics = moment.metrics
    metrics = metrics[metrics["artefact"] == moment.paths.get("metrics")]
    last_reading = metrics[metrics["reading"] == metrics["reading"].max()]
    return row | dict(zip(last_reading["name"], last_reading["value"], strict=True))


def _mapped(moment: Moment) -> dict[str, int]:
    """Sums over smaps; of a moment without them the kernel's own, of smaps_rollup."""
    frame = moment.smaps if len(moment.smaps) else moment.rollups
    return {
        name: int(frame[name].sum())
        for name in ROLLUP_FIELDS
        if name in frame and frame[name].notna().any()
    }
