"""The public `read_x`: a source, through its format, into tables; a few lines for each kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.sources.artefact import open_source

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

    from gomem.errors import Damage
    from gomem.inputs.escapes.table import EscapeAnalysis
    from gomem.inputs.gctrace.table import GcLog
    from gomem.inputs.gobench.table import Bench
    from gomem.inputs.memstats.table import MemStats
    from gomem.inputs.metrics.table import RuntimeMetrics
    from gomem.inputs.pprof.columns import PprofColumns
    from gomem.inputs.pprof.table import Profile
    from gomem.inputs.smaps.table import Smaps
    from gomem.sources.artefact import Readable, Source
    from gomem.sources.long import Progress


def read_bench(readable: Readable) -> Bench:
    """Read the output of `go test -bench`.

    Raises:
        FormatError: There is no benchmark result in it.
    """
    from gomem.inputs.gobench.parse import parse_gobench
    from gomem.inputs.gobench.table import bench_of

    source = open_source(readable)
    parsed, damage = parse_gobench(source.data, source=source.name)
    return bench_of(parsed, [*source.damage, *damage])


def read_cgroup(readable: Readable) -> pd.DataFrame:
    """Read one memory file of a control group; the damage stands in `attrs["damage"]`.

    Raises:
        FormatError: There is no number in it.
    """
    from gomem.errors import FormatError
    from gomem.inputs.cgroup.parse import parse_cgroup
    from gomem.inputs.cgroup.table import cgroup_table

    source = open_source(readable)
    parsed, damage = parse_cgroup(source.data, source=source.name)
    if not parsed.values:
        raise FormatError(source.name, "", "no number; wanted memory.current, memory.stat …")
    frame = cgroup_table(parsed)
    frame.attrs["damage"] = (*source.damage, *damage)
    return frame


def read_escapes(readable: Readable) -> EscapeAnalysis:
    """Read what `go build -gcflags=-m` or `-m=2` printed: what goes to the heap, and why.

    Raises:
        FormatError: There is no verdict in it.
    """
    from gomem.errors import FormatError
    from gomem.inputs.escapes.parse import parse_escapes
    from gomem.inputs.escapes.table import escapes_of

    source = open_source(readable)
    escapes, damage = parse_escapes(source.data, source=source.name)
    if not escapes.kind:
        raise FormatError(source.name, "", "no verdict; wanted the output of go build -gcflags=-m")
    return escapes_of(escapes, [*source.damage, *damage])


def read_gctrace(readable: Readable, *, progress: Progress | None = None) -> GcLog:
    """Read a GODEBUG=gctrace=1 log, as the program wrote it or as a log collector wrapped it.

    A log without any line of the collector gives empty frames. The log itself is never whole in
    memory, only what is read of it.

    Args:
        readable: A path, bytes, or a binary file object.
        progress: Called with the stored bytes read and how many there are.
    """
    from gomem.inputs.gctrace.parse import join_pieces, parse_pieces
    from gomem.inputs.gctrace.table import gctrace_tables
    from gomem.sources.long import open_stream

    stream = open_stream(readable)
    pieces = stream.pieces(progress)
    columns, damage = join_pieces(parse_pieces(pieces, source=stream.name))
    return gctrace_tables(columns, [*stream.damage, *damage])


def iter_gctrace(readable: Readable, *, progress: Progress | None = None) -> Iterator[GcLog]:
    """Read a gctrace log of any length in the memory of a few pieces of it.

    Args:
        readable: A path, bytes, or a binary file object.
        progress: Called with the stored bytes read and how many there are.

    Yields:
        Logs of 4 MiB each, at least one, that together are the whole: runs, line numbers, and what
        came before go on from one to the next.
    """
    from gomem.inputs.gctrace.parse import parse_pieces
    from gomem.inputs.gctrace.table import gctrace_tables
    from gomem.sources.bounds import Bounds
    from gomem.sources.long import open_stream

    stream = open_stream(readable, bounds=Bounds.of_a_stream())
    for columns, damage in parse_pieces(stream.pieces(progress), source=stream.name):
        noted = [*stream.damage, *damage]
        stream.damage.clear()
        yield gctrace_tables(columns, noted)


def read_limits(readable: Readable) -> pd.DataFrame:
    """Read /proc/PID/limits, a row a resource; the damage stands in `attrs["damage"]`.

    Raises:
        FormatError: There is no limit in it.
    """
    from gomem.errors import FormatError
    from gomem.inputs.limits.parse import parse_limits
    from gomem.inputs.limits.table import limits_table

    source = open_source(readable)
    limits, damage = parse_limits(source.data, source=source.name)
    if not limits:
        raise FormatError(source.name, "", "no limit in it; wanted /proc/PID/limits")
    frame = limits_table(limits)
    frame.attrs["damage"] = (*source.damage, *damage)
    return frame


def read_memstats(readable: Readable) -> MemStats:
    """Read runtime.MemStats from JSON: one object, one a line, an array, or expvar's /debug/vars.

    The MemStats at the end of a heap profile in text are read, too.

    Raises:
        FormatError: There is no MemStats dump in it.
    """
    from gomem.inputs.memstats.parse import parse_memstats
    from gomem.inputs.memstats.table import memstats_tables
    from gomem.inputs.pprof.heap_text import looks_like_heap_text, memstats_of

    source = open_source(readable)
    data = source.data
    if looks_like_heap_text(data):
        data = memstats_of(data, source=source.name)
    dumps, damage = parse_memstats(data, source=source.name)
    return memstats_tables(dumps, [*source.damage, *damage])


def read_metrics(readable: Readable) -> RuntimeMetrics:
    """Read runtime/metrics from flat JSON.

    Raises:
        FormatError: There is no reading in it.
    """
    from gomem.inputs.metrics.parse import parse_metrics
    from gomem.inputs.metrics.table import metrics_tables

    source = open_source(readable)
    readings, damage = parse_metrics(source.data, source=source.name)
    return metrics_tables(readings, [*source.damage, *damage])


def read_smaps(readable: Readable) -> Smaps:
    """Read /proc/PID/smaps, smaps_rollup or maps.

    Raises:
        FormatError: There is no mapping in it.
    """
    from gomem.errors import FormatError
    from gomem.inputs.smaps.parse import parse_smaps
    from gomem.inputs.smaps.table import smaps_of

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
    from gomem.inputs.status.parse import looks_like_statm, parse_statm, parse_status
    from gomem.inputs.status.table import statm_table, status_table

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
    """Read a pprof profile of any kind, compressed or not, or a heap profile in text.

    Raises:
        FormatError: It is not a profile, or not a whole one.
    """
    from gomem.errors import FormatError
    from gomem.inputs.pprof.heap_text import looks_like_heap_text
    from gomem.inputs.pprof.parse import parse_pprof
    from gomem.inputs.pprof.table import Profile

    source = open_source(readable)
    if looks_like_heap_text(source.data):
        return _read_heap_text(source)
    try:
        columns, damage = parse_pprof(source.data, source=source.name)
    except FormatError as error:
        for cause in source.damage:  # the bytes before the profile's own end
            raise FormatError(source.name, cause.where, cause.what) from error
        raise
    if not columns.drop_frames:
        return Profile(source.name, columns, (*source.damage, *damage))
    kept = _without_dropped(columns, source.name, damage)
    return Profile(source.name, kept, (*source.damage, *damage), undropped=columns)


def read_folded(readable: Readable, sample_type: str = "samples", unit: str = "count") -> Profile:
    """Read folded stacks, such as `main.main;main.work 120`, as a profile.

    Args:
        readable: A path, a file or bytes.
        sample_type: What the numbers count,
        unit: and their unit: the format does not say.

    Raises:
        FormatError: There is no stack in it.
    """
    from gomem.inputs.pprof.columns import ValueType
    from gomem.inputs.pprof.folded import parse_folded
    from gomem.inputs.pprof.table import Profile

    source = open_source(readable)
    kind = ValueType(sample_type, unit)
    columns, damage = parse_folded(source.data, source=source.name, sample_type=kind)
    return Profile(source.name, columns, (*source.damage, *damage))


def _without_dropped(columns: PprofColumns, source: str, damage: list[Damage]) -> PprofColumns:
    """Leave out what the profile asks to leave out; a pattern that is none is damage."""
    from gomem.errors import Damage
    from gomem.inputs.pprof.calls.filters import drop_uninteresting

    try:
        return drop_uninteresting(columns)
    except ValueError as error:
        damage.append(Damage(source, "drop_frames", f"{error}; all frames stay"))
        return columns


def _read_heap_text(source: Source) -> Profile:
    from gomem.inputs.memstats.parse import parse_memstats
    from gomem.inputs.memstats.table import memstats_tables
    from gomem.inputs.pprof.heap_text import parse_heap_text
    from gomem.inputs.pprof.table import Profile

    text, damage = parse_heap_text(source.data, source=source.name)
    found = (*source.damage, *damage)
    if text.memstats is None:
        return Profile(source.name, text.columns, found)
    dumps, wrong = parse_memstats(text.memstats, source=source.name)
    return Profile(
        source.name,
        text.columns,
        (*found, *wrong),
        memstats=memstats_tables(dumps, wrong),
        max_rss_bytes=text.max_rss_bytes,
    )
