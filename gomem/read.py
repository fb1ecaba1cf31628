"""The public `read_x`: a source, through its format, into tables; a few lines for each kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.sources import open_source

if TYPE_CHECKING:
    import pandas as pd

    from gomem.sources import Readable
    from gomem.tables.gctrace import GcLog
    from gomem.tables.gobench import Bench
    from gomem.tables.memstats import MemStats
    from gomem.tables.metrics import RuntimeMetrics
    from gomem.tables.pprof import Profile
    from gomem.tables.smaps import Smaps


def read_bench(readable: Readable) -> Bench:
    """Read the output of `go test -bench`.

    Raises:
        FormatError: There is no benchmark result in it.
    """
    from gomem.formats.gobench import parse_gobench
    from gomem.tables.gobench import bench_of

    source = open_source(readable)
    parsed, damage = parse_gobench(source.data, source=source.name)
    return bench_of(parsed, [*source.damage, *damage])


def read_gctrace(readable: Readable) -> GcLog:
    """Read a GODEBUG=gctrace=1 log, as the program wrote it or as a log collector wrapped it.

    A log without any line of the collector gives empty frames.
    """
    from gomem.formats.gctrace import parse_gctrace
    from gomem.tables.gctrace import gctrace_tables

    source = open_source(readable)
    columns, damage = parse_gctrace(source.data, source=source.name)
    return gctrace_tables(columns, [*source.damage, *damage])


def read_memstats(readable: Readable) -> MemStats:
    """Read runtime.MemStats from JSON: one object, one a line, an array, or expvar's /debug/vars.

    Raises:
        FormatError: There is no MemStats dump in it.
    """
    from gomem.formats.memstats import parse_memstats
    from gomem.tables.memstats import memstats_tables

    source = open_source(readable)
    dumps, damage = parse_memstats(source.data, source=source.name)
    return memstats_tables(dumps, [*source.damage, *damage])


def read_metrics(readable: Readable) -> RuntimeMetrics:
    """Read runtime/metrics from flat JSON.

    Raises:
        FormatError: There is no reading in it.
    """
    from gomem.formats.metrics import parse_metrics
    from gomem.tables.metrics import metrics_tables

    source = open_source(readable)
    readings, damage = parse_metrics(source.data, source=source.name)
    return metrics_tables(readings, [*source.damage, *damage])


def read_smaps(readable: Readable) -> Smaps:
    """Read /proc/PID/smaps, smaps_rollup or maps.

    Raises:
        FormatError: There is no mapping in it.
    """
    from gomem.errors import FormatError
    from gomem.formats.smaps import parse_smaps
    from gomem.tables.smaps import smaps_of

    source = open_source(readable)
    mappings, damage = parse_smaps(source.data, source=source.name)
    if not len(mappings.start):
        raise FormatError(source.name, "", "no mapping; wanted /proc/PID/smaps")
    return smaps_of(mappings, [*source.damage, *damage])


def read_status(readable: Readable) -> pd.DataFrame:
    """Read /proc/PID/status or statm into one row; the damage stands in `attrs["damage"]`.

    Raises:
        FormatError: It has no field of status.
    """
    from gomem.errors import FormatError
    from gomem.formats.status import looks_like_statm, parse_statm, parse_status
    from gomem.tables.status import statm_table, status_table

    source = open_source(readable)
    if looks_like_statm(source.data):
        return statm_table(parse_statm(source.data))
    status, damage = parse_status(source.data, source=source.name)
    if not status.sizes and not status.counts:
        raise FormatError(source.name, "", "no field with a number; wanted /proc/PID/status")
    frame = status_table(status)
    frame.attrs["damage"] = (*source.damage, *damage)
    return frame


def read_pprof(readable: Readable) -> Profile:
    """Read a pprof profile of any kind, compressed or not.

    Raises:
        FormatError: It is not a profile, or not a whole one.
    """
    from gomem.errors import FormatError
    from gomem.formats.heap_text import looks_like_heap_text
    from gomem.formats.pprof import parse_pprof
    from gomem.tables.pprof import Profile

    source = open_source(readable)
    if looks_like_heap_text(source.data):
        what = "a heap profile in text, which gomem does not read; fetch it without ?debug=1"
        raise FormatError(source.name, "", what)
    try:
        columns, damage = parse_pprof(source.data, source=source.name)
    except FormatError as error:
        for cause in source.damage:  # the bytes before the profile's own end
            raise FormatError(source.name, cause.where, cause.what) from error
        raise
    return Profile(source.name, columns, (*source.damage, *damage))
