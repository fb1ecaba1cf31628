"""runtime/metrics as frames, from JSON; and all Go data on a page of Prometheus metrics."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pandas as pd

from gomem.errors import Damage, FormatError
from gomem.inputs.memstats.parse import COUNTERS, NO_GOAL_FROM, MemStatsDumps, masked
from gomem.inputs.memstats.table import STATS, memstats_tables
from gomem.inputs.metrics.page import ends_before_go, looks_like_page, parse_page, without_cut_line
from gomem.inputs.metrics.parse import (
    looks_like_lines,
    looks_like_readings,
    parse_lines,
    parse_metrics,
)
from gomem.inputs.metrics.series import largest_series
from gomem.inputs.schema import Column, Frames, build_rows, empty
from gomem.inputs.unwrap import plain_texts, read_plain
from gomem.inputs.wrong_file import reads
from gomem.numbered import Label
from gomem.text import Words

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from gomem.inputs.memstats.table import MemStats
    from gomem.inputs.metrics.page import Page
    from gomem.inputs.metrics.parse import Metrics
    from gomem.inputs.metrics.series import MetricSeries
    from gomem.sources.artefact import Source

VALUES = (
    Column("reading", "int64", "", "Which reading of the file, from 0."),
    Column("name", "str", "", "The runtime's name, with its unit behind the colon.", Label),
    Column("value", "float64", "", "In the name's unit; infinite where there is no limit."),
)
HISTOGRAMS = (
    Column("reading", "int64", "", "Which reading of the file, from 0."),
    Column("name", "str", "", "The runtime's name, with its unit behind the colon.", Label),
    Column("low", "float64", "", "Lower bound of the bucket, in the name's unit."),
    Column("high", "float64", "", "Upper bound of the bucket, in the name's unit."),
    Column("count", "int64", "count", "Entries since the start."),
)
PROCESS = (
    Column("reading", "int64", "", "Which scrape of the page, from 0."),
    Column("go_version", "str", "", "The release, as `go_info` has it.", Words),
    Column("go_goroutines", "Int64", "count", "Goroutines, by runtime.NumGoroutine."),
    Column("go_threads", "Int64", "count", "Threads that the runtime has created."),
    Column("process_resident_memory_bytes", "Int64", "B", "RSS by /proc/self/stat, in pages."),
    Column("process_virtual_memory_bytes", "Int64", "B", "Address space."),
    Column("process_cpu_seconds_total", "float64", "s", "CPU time, to 10 ms."),
    Column("process_start_time_seconds", "datetime64[ns, UTC]", "", "Start, to 10 ms."),
    Column("process_open_fds", "Int64", "count", "Open file descriptors."),
    Column(
        "process_max_fds",
        "Int64",
        "count",
        "Limit on open file descriptors; missing without a limit.",
    ),
)
PAUSE_QUANTILES = (
    Column("reading", "int64", "", "Which scrape of the page, from 0."),
    Column(
        "quantile", "float64", "fraction", "Quantile over the last 256 GCs, or over all if fewer."
    ),
    Column("pause_seconds", "float64", "s", "Duration of both pauses together."),
)

# MemStats fields as sums of metrics: the runtime's own identities since Go 1.16.
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


@dataclass(frozen=True)
class RuntimeMetrics(Frames):
    """The readings of one artefact; JSON has only `values` and `histograms`."""

    values: pd.DataFrame  # a row per scalar; see `VALUES`
    # A row per bucket; see `HISTOGRAMS`. A page has fewer buckets than the runtime.
    histograms: pd.DataFrame
    memstats: MemStats | None = None  # MemStats on a metrics page; None if there are none
    # A row per scrape of a page; see `PROCESS`.
    process: pd.DataFrame = field(default_factory=lambda: empty(PROCESS))
    # A row per quantile of a page; see `PAUSE_QUANTILES`.
    pause_quantiles: pd.DataFrame = field(default_factory=lambda: empty(PAUSE_QUANTILES))
    series: MetricSeries | None = None  # the metric with the most, if a page has many
    go_version: str | None = None  # the release, from the page's `go_info`
    time: datetime | None = None  # the latest time stamp of a page, if it has any
    release_evidence: ClassVar[str] = "go_info"  # the source of the release

    @property
    def stats(self) -> pd.DataFrame:
        """MemStats on a page, a row per scrape; empty for JSON."""
        return empty(STATS) if self.memstats is None else self.memstats.stats

    @property
    def is_page(self) -> bool:
        """Whether it is a page of Prometheus metrics."""
        return bool(len(self.process))


def metrics_tables(readings: Sequence[Metrics], damaged: tuple[Damage, ...] = ()) -> RuntimeMetrics:
    """Convert readings to frames: scalars, and histogram buckets."""
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
    return RuntimeMetrics(
        build_rows(values, VALUES), build_rows(buckets, HISTOGRAMS), damaged=damaged
    )


def memstats_of_metrics(values: pd.DataFrame) -> pd.DataFrame:
    """Compute MemStats fields from runtime/metrics: a row per reading, with Go's field names."""
    # A field is `<NA>` if one of its metrics is missing; before Go 1.16 all are.
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
    return total.where(total < float(NO_GOAL_FROM)).astype("Int64")


def page_tables(pages: Sequence[Page], damaged: tuple[Damage, ...]) -> RuntimeMetrics:
    """Convert pages to frames: MemStats, runtime/metrics, and the process."""
    last = pages[-1]
    quantiles = [
        (number, quantile, seconds)
        for number, page in enumerate(pages)
        for quantile, seconds in sorted(page.pauses.items())
    ]
    return replace(
        metrics_tables([page.runtime for page in pages], damaged),
        memstats=memstats_tables(_dumps(pages)) if last.memstats else None,
        process=_process(pages),
        pause_quantiles=build_rows(quantiles, PAUSE_QUANTILES),
        go_version=last.go_version or None,
        time=last.time,
    )


def _dumps(pages: Sequence[Page]) -> MemStatsDumps:
    """Return MemStats of each scrape; invalid counts, such as NextGC without a goal, are masked."""
    counters = {}
    for name in COUNTERS:
        most = 2.0**63 if name == "LastGC" else float(NO_GOAL_FROM)
        counters[name] = masked([_count(page.memstats.get(name), most) for page in pages])
    fractions = [page.memstats.get("GCCPUFraction", np.nan) for page in pages]
    places = [f"scrape {number}" if len(pages) > 1 else "" for number in range(1, len(pages) + 1)]
    return MemStatsDumps(counters, np.array(fractions, np.float64), places)


def _count(value: float | None, most: float = 2.0**53) -> int | None:
    return None if value is None or not 0 <= value < most else round(value)


def _process(pages: Sequence[Page]) -> pd.DataFrame:
    rows = [
        (number, page.go_version or None, *(_cell(column, page.process) for column in PROCESS[2:]))
        for number, page in enumerate(pages)
    ]
    return build_rows(rows, PROCESS)


def _cell(column: Column, numbers: Mapping[str, float]) -> object:
    value = numbers.get(column.name)
    if column.dtype == "float64":
        return np.nan if value is None else value
    if column.dtype == "Int64":
        return _count(value)
    start = _count(None if value is None else value * 1e9, 2.0**63)
    return pd.NaT if start is None else pd.Timestamp(start, tz="UTC")


@reads("runtime/metrics as JSON or lines, or a page of Prometheus metrics", "metrics")
def read_metrics(source: Source) -> RuntimeMetrics:
    """Read runtime/metrics from flat JSON or lines, or all Go data on a page of Prometheus metrics.

    A page also has MemStats, the release, RSS and the number of goroutines, if it contains them.
    Its numbers are floats: bytes and counts are exact below 2^53, times to 256 ns; numbers of
    go-metrics (`consul_runtime_alloc_bytes`) to one part in 16 million. Raises FormatError if there
    is no reading, or if a page has several processes and none is clearly meant.
    """
    if not looks_like_readings(source.data):
        page = _read_page(source)
        if page is not None:
            return page
        texts = (source.data, *(text.data for text in plain_texts(source.data)))
        if any(map(looks_like_lines, texts)):
            readings, damaged, _ = read_plain(source, looks_like_lines, parse_lines)
            return metrics_tables(readings, damaged)
    readings, damaged, _ = read_plain(source, looks_like_readings, parse_metrics)
    return metrics_tables(readings, damaged)


def _read_page(source: Source) -> RuntimeMetrics | None:
    """Read a page, also a pasted one; None if it is not a page."""
    data, cut = without_cut_line(source.data)
    if ends_before_go(source.data):
        what = (
            "a page of Prometheus metrics that ends within a line, without a number of Go's before"
        )
        raise FormatError(source.name, cut, f"{what} that: it may be cut, wanted the whole page")
    texts = (text.data for text in plain_texts(data))
    if not looks_like_page(data) and not any(map(looks_like_page, texts)):
        return None
    pages, damaged, _ = read_plain(replace(source, data=data), looks_like_page, parse_page)
    if cut:
        what = "the page ends within a line: it is cut, and numbers may be missing"
        damaged = (*damaged, Damage(source.name, cut, what))
    return replace(page_tables(pages, damaged), series=largest_series(data))
