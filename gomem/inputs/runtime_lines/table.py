"""Memory that a program logs: a row per reading, and the MemStats fields that follow from it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from gomem.errors import FormatError
from gomem.inputs.memstats.goroutine_counts import goroutine_counts, has_goroutine_counts
from gomem.inputs.memstats.in_words import has_more_in_words
from gomem.inputs.memstats.logged_at import clock_at_start, time_beside
from gomem.inputs.memstats.parse import parse_memstats_in_words
from gomem.inputs.memstats.table import STATS, memstats_tables
from gomem.inputs.runtime_lines.parse import (
    LoggedReading,
    looks_like_runtime_lines,
    parse_runtime_lines,
    parse_table,
)
from gomem.inputs.runtime_lines.patterns import COUNTS, SIZES
from gomem.inputs.runtime_lines.structured import (
    OWN_WORDS,
    looks_like_structured,
    parse_structured,
    unread_sizes,
)
from gomem.inputs.runtime_lines.tables import has_rss_column, looks_like_table
from gomem.inputs.runtime_lines.typed import looks_like_typed, parse_typed
from gomem.inputs.schema import Column, Frames, build, build_rows
from gomem.inputs.unwrap import any_plain, read_plain
from gomem.inputs.wrong_file import reads
from gomem.text import Words

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime

    import pandas as pd

    from gomem.sources.artefact import Source

_MEANS = {
    "rss": "RSS.",
    "go_alloc": "HeapAlloc of MemStats.",
    "go_idle": "Idle heap that was not released.",
    "go_released": "HeapReleased.",
    "go_slack": "HeapInuse less HeapAlloc.",
    "go_total": "Sys of MemStats less HeapReleased.",
    "go_sys": "Sys of MemStats.",
    "go_stacks": "Stacks.",
    "cgo": "C's heap, what is allocated.",
    "cgo_total": "C's heap, what is resident.",
    "go_heap_inuse": "HeapInuse of MemStats.",
    "go_heap_idle": "HeapIdle of MemStats, released or not.",
    "go_heap_sys": "HeapSys of MemStats.",
    "go_next_gc": "NextGC of MemStats, the heap goal.",
    "goroutines": "Goroutines.",
    "gcs": "GCs so far.",
    "objects": "Objects on the heap.",
    "threads": "Threads.",
}
_FIELDS = {
    "go_alloc": "HeapAlloc", "go_released": "HeapReleased", "go_sys": "Sys",
    "go_stacks": "StackInuse", "gcs": "NumGC", "objects": "HeapObjects",
    "go_heap_inuse": "HeapInuse", "go_heap_idle": "HeapIdle", "go_heap_sys": "HeapSys",
    "go_next_gc": "NextGC",
}  # fmt: skip
READINGS = (
    Column("logged_at", "datetime64[ns, UTC]", "", "When it was logged; UTC if no zone is named."),
    Column("program", "str", "", "Whose form the line has, or --pattern.", Words),
    *(Column(f"{name}_bytes", "Int64", "B", _MEANS[name]) for name in SIZES),
    *(Column(name, "Int64", "count", _MEANS[name]) for name in COUNTS),
    Column("step_bytes", "Int64", "B", "What the largest size is rounded to."),
    Column("line", "int64", "", "Line in the log, from 1."),
)
MAX_MOMENTS = 120  # per log, evenly spaced; each is the peak of its interval


# The day and the time; a priority can stand before them, a host and a program come after them.
_SYSLOG = re.compile(
    rb"(?:<\d{1,3}>)?([A-Z][a-z]{2} [ \d]\d) (\d\d:\d\d:\d\d)(?:\.\d{1,9})? "
    rb"\S+ [^\s:\[]+(?:\[\d+\])?: "
)


@dataclass(frozen=True)
class RuntimeLines(Frames):
    """Readings of a log: `readings`, a row each; `stats`, the same as MemStats."""

    readings: pd.DataFrame
    stats: pd.DataFrame
    # Whether each is from another process than the previous one, if the text shows it.
    begins: tuple[bool, ...] = ()
    times_of_day: tuple[str, ...] = ()  # of readings that have no more; else empty
    # Of one of the readings kept of a long file: its number there, from 1, and how many there are.
    row: int | None = None
    all_rows: int | None = None
    unread: tuple[str, ...] = ()  # keys that look like sizes, of logs with nothing else but counts

    @cached_property
    def time(self) -> datetime | None:
        """When the last reading was logged; None if unknown."""
        known = self.readings["logged_at"].dropna()
        return None if known.empty else known.iloc[-1].to_pydatetime(warn=False)

    @property
    def time_of_day(self) -> str:
        """The last reading's time of day, if only that is known; else empty."""
        return self.times_of_day[-1] if self.times_of_day else ""

    @property
    def dumps(self) -> Iterator[RuntimeLines]:
        """Yield each reading; of a long log only the first, the last and the peaks in between."""
        yield from self._dumps

    @cached_property
    def _dumps(self) -> list[RuntimeLines]:
        if len(self.readings) == 1:
            return [self]
        chosen = _chosen(self.readings)
        is_long = len(chosen) < len(self.readings)
        places = self.readings["line"].rank(method="first").astype("int64").tolist()
        return [
            RuntimeLines(
                self.readings.iloc[row : row + 1].reset_index(drop=True),
                self.stats.iloc[row : row + 1].reset_index(drop=True),
                self.begins[row : row + 1],
                self.times_of_day[row : row + 1],
                unread=self.unread,
                row=places[row] if is_long else None,
                all_rows=len(self.readings) if is_long else None,
            )
            for row in chosen
        ]


def _chosen(readings: pd.DataFrame) -> list[int]:
    """Return the chosen rows: all, or the first, the last, and the peak of each interval."""
    count = len(readings)
    if count <= MAX_MOMENTS:
        return list(range(count))
    sizes = readings[[f"{name}_bytes" for name in ("rss", "go_total", "go_alloc")]]
    level = sizes.bfill(axis=1).iloc[:, 0].fillna(0).to_numpy(np.int64)
    stretches = np.array_split(np.arange(1, count - 1), MAX_MOMENTS - 2)
    peaks = [int(rows[level[rows].argmax()]) for rows in stretches]
    return [0, *peaks, count - 1]


def _as_memstats(reading: LoggedReading) -> dict[str, object]:
    """Return the MemStats fields that are logged, or follow from them; others are missing."""
    of = reading.values.get
    alloc, released, total = of("go_alloc"), of("go_released"), of("go_total")
    sys = of("go_sys") if total is None or released is None else total + released
    in_use, all_idle, heap_sys = _heap_of(reading.values)
    return {
        "Alloc": alloc, "HeapAlloc": alloc, "HeapInuse": in_use, "HeapIdle": all_idle,
        "HeapReleased": released, "HeapSys": heap_sys, "Sys": sys, "StackInuse": of("go_stacks"),
        "HeapObjects": of("objects"), "NumGC": of("gcs"), "NextGC": of("go_next_gc"),
        "place": f"line {reading.line}",
    }  # fmt: skip


def _heap_of(values: Mapping[str, int]) -> tuple[int | None, int | None, int | None]:
    """Return HeapInuse, HeapIdle and HeapSys, of which two give the third; None if unknown."""
    of = values.get
    alloc, slack, idle, released = of("go_alloc"), of("go_slack"), of("go_idle"), of("go_released")
    in_use, all_idle, heap_sys = of("go_heap_inuse"), of("go_heap_idle"), of("go_heap_sys")
    if in_use is None and alloc is not None and slack is not None:
        in_use = alloc + slack
    if all_idle is None and idle is not None and released is not None:
        all_idle = idle + released
    if heap_sys is None and in_use is not None and all_idle is not None:
        heap_sys = in_use + all_idle
    return in_use, all_idle, heap_sys


def _row(reading: LoggedReading) -> tuple[object, ...]:
    sizes = (reading.values.get(name) for name in SIZES)
    counts = (reading.values.get(name) for name in COUNTS)
    largest = max(reading.steps, key=lambda name: reading.values[name], default=None)
    step = None if largest is None else reading.steps[largest]
    return (reading.time, reading.program, *sizes, *counts, step, reading.line)


@reads("a log with a program's own memory figures", "runtime_lines")
def read_runtime_lines(source: Source) -> RuntimeLines:
    """Read memory logged by CockroachDB, OpenTelemetry's Collector and others.

    Also reads MemStats in a program's own words if the same lines have RSS or the number of
    goroutines, and lines with only that number. Raises FormatError if no line has one of the known
    forms.
    """
    try:
        readings, damaged, text = read_plain(source, looks_like_runtime_lines, parse_runtime_lines)
    except FormatError as error:
        if has_more_in_words(source.data) and not any_plain(has_rss_column, source.data):
            return _in_words(source)
        form = (looks_like_structured, parse_structured)
        if not any_plain(looks_like_structured, source.data):
            if has_goroutine_counts(source.data):
                return _counts(source)
            is_typed = looks_like_typed(source.data)
            form = (looks_like_typed, parse_typed) if is_typed else (looks_like_table, parse_table)
        try:
            readings, damaged, text = read_plain(source, *form)
        except FormatError:
            raise error from None
    frame = build_rows(map(_row, readings), READINGS)
    frame["line"] = text.lines(frame["line"].to_numpy())
    of_day = tuple(reading.time_of_day for reading in readings)
    of_day = of_day if any(of_day) else _by_syslog(source, frame)
    return RuntimeLines(frame, _stats(readings), times_of_day=of_day, damaged=damaged)


def _by_syslog(source: Source, frame: pd.DataFrame) -> tuple[str, ...]:
    """The times of day of syslog's stamps, which have no year; empty if not all are of one day."""
    if frame["logged_at"].notna().any():
        return ()
    lines = source.data.split(b"\n")
    rows = frame["line"].tolist()
    stamps = [_SYSLOG.match(lines[row - 1]) for row in rows if row <= len(lines)]
    found = [stamp for stamp in stamps if stamp is not None]
    is_whole = len(found) == len(frame) and len({stamp[1] for stamp in found}) == 1
    return tuple(stamp[2].decode() for stamp in found) if is_whole else ()


def _in_words(source: Source) -> RuntimeLines:
    """Read MemStats in words, and the RSS in the same lines; see `memstats.in_words`."""
    dumps, damaged = parse_memstats_in_words(source.data, source=source.name)
    readings = []
    beside = zip(dumps.place, dumps.times, dumps.rss, dumps.goroutines, strict=True)
    for row, (place, time, rss, goroutines) in enumerate(beside):
        fields = {name: counter[row] for name, counter in dumps.counters.items()}
        values = {
            name: int(fields[field])
            for name, field in _FIELDS.items()
            if fields[field] is not np.ma.masked
        }
        steps = {name: dumps.steps.get(_FIELDS[name], 1) for name in values if name in SIZES}
        if rss is not None:
            values["rss"], steps["rss"] = rss
        if goroutines is not None:
            values["goroutines"] = goroutines
        line = int(place.removeprefix("line "))
        readings.append(LoggedReading(OWN_WORDS, line, time, values, steps))
    stats = memstats_tables(dumps).stats
    damaged = [*source.damage, *damaged]
    frame = build_rows(map(_row, readings), READINGS)
    of_day = tuple(dumps.times_of_day) if all(dumps.times_of_day) else _by_syslog(source, frame)
    return RuntimeLines(frame, stats, tuple(dumps.begins), of_day, damaged=tuple(damaged))


def _counts(source: Source) -> RuntimeLines:
    """Read lines with only the number of goroutines."""
    lines = source.data.split(b"\n")
    readings = []
    for number, count in goroutine_counts(source.data):
        line = lines[number - 1]
        time, _ = time_beside(line, 0, len(line), len(line))
        clock = "" if time else clock_at_start(line)
        values = {"goroutines": count}
        readings.append(LoggedReading(OWN_WORDS, number, time, values, time_of_day=clock))
    frame = build_rows(map(_row, readings), READINGS)
    of_day = tuple(reading.time_of_day for reading in readings)
    return RuntimeLines(
        frame,
        _stats(readings),
        times_of_day=of_day if all(of_day) else (),
        damaged=source.damage,
        unread=tuple(unread_sizes(source.data)),
    )


def _stats(readings: Sequence[LoggedReading]) -> pd.DataFrame:
    rows = [_as_memstats(reading) for reading in readings]
    return build({name: [row[name] for row in rows] for name in rows[0]}, STATS)
