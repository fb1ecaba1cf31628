"""runtime/metrics readings as rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import pandas as pd

from gomem.inputs.metrics.parse import looks_like_metrics, parse_metrics
from gomem.inputs.schema import Column, WithDamage, build
from gomem.inputs.unwrap import read_plain
from gomem.sources.artefact import open_source

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gomem.errors import Damage
    from gomem.inputs.metrics.parse import Metrics
    from gomem.sources.artefact import Readable

VALUES = (
    Column("reading", "int64", "", "Which reading of the file, from 0."),
    Column("name", "str", "", "The runtime's name, with its unit behind the colon."),
    Column("value", "float64", "", "In the name's unit; infinite where there is no limit."),
)
HISTOGRAMS = (
    Column("reading", "int64", "", "Which reading of the file, from 0."),
    Column("name", "str", "", "The runtime's name, with its unit behind the colon."),
    Column("low", "float64", "", "Lower bound of the bucket, in the name's unit."),
    Column("high", "float64", "", "Upper bound of the bucket, in the name's unit."),
    Column("count", "int64", "count", "Entries since the start."),
)

# MemStats' fields as sums of metrics: the runtime's own identities, which hold since Go 1.16.
_CLASSES = "/memory/classes/"
_HEAP = ("heap/objects", "heap/unused", "heap/free", "heap/released")
MEMSTATS = {
    "Alloc": ("heap/objects",),
    "HeapAlloc": ("heap/objects",),
    "HeapInuse": ("heap/objects", "heap/unused"),
    "HeapIdle": ("heap/free", "heap/released"),
    "HeapReleased": ("heap/released",),
    "HeapSys": _HEAP,
    "StackInuse": ("heap/stacks",),
    "StackSys": ("heap/stacks", "os-stacks"),
    "MSpanInuse": ("metadata/mspan/inuse",),
    "MSpanSys": ("metadata/mspan/inuse", "metadata/mspan/free"),
    "MCacheInuse": ("metadata/mcache/inuse",),
    "MCacheSys": ("metadata/mcache/inuse", "metadata/mcache/free"),
    "GCSys": ("metadata/other",),
    "BuckHashSys": ("profiling/buckets",),
    "OtherSys": ("other",),
    "Sys": ("total",),
}
COUNTS = {
    "NextGC": "/gc/heap/goal:bytes",
    "NumGC": "/gc/cycles/total:gc-cycles",
    "NumForcedGC": "/gc/cycles/forced:gc-cycles",
    "TotalAlloc": "/gc/heap/allocs:bytes",
    "HeapObjects": "/gc/heap/objects:objects",
}
NO_GOAL_FROM = 2.0**60


@dataclass(frozen=True)
class RuntimeMetrics(WithDamage):
    """The readings of one artefact.

    Attributes:
        values: A row per scalar; see `VALUES`.
        histograms: A row per bucket; see `HISTOGRAMS`.
        damaged: What could not be read.
    """

    values: pd.DataFrame
    histograms: pd.DataFrame
    damaged: tuple[Damage, ...] = ()

    def _repr_html_(self) -> str:
        return self.values.to_html(escape=True)


def metrics_tables(readings: Sequence[Metrics], damage: Sequence[Damage]) -> RuntimeMetrics:
    """Lay readings out as rows: scalars, and the buckets of histograms."""
    values = [
        (number, name, value)
        for number, reading in enumerate(readings)
        for name, value in reading.scalars.items()
    ]
    buckets = [
        (number, name, low, high, count)
        for number, reading in enumerate(readings)
        for name, (bounds, counts) in reading.histograms.items()
        for low, high, count in zip(bounds, bounds[1:], counts, strict=False)
    ]
    return RuntimeMetrics(_frame(values, VALUES), _frame(buckets, HISTOGRAMS), tuple(damage))


def memstats_of_metrics(values: pd.DataFrame) -> pd.DataFrame:
    """The MemStats fields that runtime/metrics determine: a row per reading, Go's field names.

    A field is `<NA>` if one of its metrics is missing, as all are before Go 1.16.
    """
    wide = values.pivot_table(index="reading", columns="name", values="value", sort=False)
    wide = wide.reset_index(drop=True)
    sums = {
        field: _sum(wide, [f"{_CLASSES}{part}:bytes" for part in parts])
        for field, parts in MEMSTATS.items()
    }
    counts = {field: _sum(wide, [name]) for field, name in COUNTS.items()}
    return pd.DataFrame({**sums, **counts})


def _sum(wide: pd.DataFrame, names: list[str]) -> pd.Series:
    if not set(names) <= set(wide.columns):
        return pd.Series(pd.NA, index=wide.index, dtype="Int64")
    total = wide[names].sum(axis=1, skipna=False)
    return total.where(total < NO_GOAL_FROM).astype("Int64")


def _frame(rows: Sequence[tuple[object, ...]], schema: tuple[Column, ...]) -> pd.DataFrame:
    names = [column.name for column in schema]
    columns = zip(*rows, strict=True) if rows else [()] * len(names)
    return build({name: list(column) for name, column in zip(names, columns, strict=True)}, schema)


def read_metrics(readable: Readable) -> RuntimeMetrics:
    """Read runtime/metrics from flat JSON.

    Raises:
        FormatError: There is no reading in it.
    """
    source = open_source(readable)
    parse = partial(parse_metrics, source=source.name)
    readings, damage, _ = read_plain(source.data, source.name, looks_like_metrics, parse)
    return metrics_tables(readings, [*source.damage, *damage])
