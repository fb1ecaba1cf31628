"""The instances of a fleet as a lookup table: one row per instance."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.analysis.fleet.population import in_time
from gomem.inputs.schema import Column, dictionary_of
from gomem.numbered import Build, Collected, Instance, Service
from gomem.text import Words

if TYPE_CHECKING:
    import pandas as pd

SHOWN = ("rss_bytes", "live_heap", "heap_objects", "heap_idle", "stacks", "native", "goroutines",
         "threads", "gc_cpu_fraction")  # fmt: skip
INSTANCES = (
    Column("instance", "str", "", "Which pod, host or process.", Instance),
    Column("service", "str", "", "Its program.", Service),
    Column("build", "str", "", "Its build.", Build),
    Column("captures", "int64", "count", "Captures of it that were read."),
    Column("capture", "str", "", "The last of them.", Collected),
    Column("path", "str", "", "Where that lies.", Collected),
    Column("rss_bytes", "float64", "B", "RSS now; missing if unknown."),
    Column("live_heap", "float64", "B", "Marked by the last GC; missing if unknown."),
    Column("heap_objects", "float64", "B", "HeapAlloc; missing if unknown."),
    Column("heap_idle", "float64", "B", "HeapIdle less HeapReleased; missing if unknown."),
    Column("stacks", "float64", "B", "StackInuse; missing if unknown."),
    Column("native", "float64", "B", "C and other native memory; missing without smaps."),
    Column("goroutines", "float64", "count", "Goroutines; missing if unknown."),
    Column("threads", "float64", "count", "Threads; missing if unknown."),
    Column("gc_cpu_fraction", "float64", "fraction", "GC's share of the CPU; missing if unknown."),
    Column("code", "str", "", "Of its own verdict; missing without a finding.", Words),
    Column("unlike", "str", "", "In what it is unlike the others; missing if it is not.", Words),
)
_BY = ["service", "instance"]


def instances(captures: pd.DataFrame, values: pd.DataFrame, unlike: pd.DataFrame) -> pd.DataFrame:
    """Return a row per instance, by service and name; see `INSTANCES`.

    Args:
        captures: See `frames.CAPTURES`.
        values: See `population.CURRENT`.
        unlike: See `outliers.OUTLIERS`.
    """
    ordered = in_time(captures)
    last = ordered.drop_duplicates(_BY, keep="last").set_index(_BY).sort_index()
    counted = ordered.groupby(_BY).size().rename("captures")
    wide = values[values["name"].isin(SHOWN)].pivot_table(
        index=_BY, columns="name", values="value", aggfunc="last"
    )
    parts = unlike.drop_duplicates(_BY).set_index(_BY)["part"].rename("unlike")
    base = last[["build", "capture", "path", "code"]]
    joined = base.join(counted).join(wide.reindex(columns=list(SHOWN))).join(parts)
    frame = joined.reset_index()[[column.name for column in INSTANCES]]
    frame = frame.astype({column.name: column.dtype for column in INSTANCES})
    frame.attrs["columns"] = dictionary_of(INSTANCES)
    return frame
