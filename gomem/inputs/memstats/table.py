"""runtime.MemStats dumps as rows."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from gomem.errors import FormatError
from gomem.inputs.memstats.in_words import looks_like_in_words
from gomem.inputs.memstats.parse import (
    looks_like_memstats,
    parse_memstats,
    parse_memstats_in_words,
)
from gomem.inputs.pprof.heap_tail import memstats_of
from gomem.inputs.pprof.heap_text import heap_text_in
from gomem.inputs.schema import Column, Frames, build
from gomem.inputs.unwrap import read_plain
from gomem.inputs.wrong_file import reads
from gomem.text import Words
from gomem.units import format_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from datetime import datetime

    from gomem.errors import Damage
    from gomem.inputs.memstats.parse import MemStatsDumps
    from gomem.sources.artefact import Source

STATS = (
    Column("Alloc", "Int64", "B", "The same as HeapAlloc."),
    Column("TotalAlloc", "Int64", "B", "Allocated on the heap since the start; only grows."),
    Column("Sys", "Int64", "B", "Address space the runtime has in use; not RSS."),
    Column("Lookups", "Int64", "count", "Pointer look-ups; 0 since Go 1.11."),
    Column("Mallocs", "Int64", "count", "Objects allocated since the start."),
    Column("Frees", "Int64", "count", "Objects freed since the start."),
    Column("HeapAlloc", "Int64", "B", "Objects, live or not yet swept, in size-class sizes."),
    Column("HeapSys", "Int64", "B", "Heap address space: HeapInuse + HeapIdle."),
    Column("HeapIdle", "Int64", "B", "Spans without objects, returned to the OS or not."),
    Column("HeapInuse", "Int64", "B", "Spans with objects; counted when taken, not when touched."),
    Column(
        "HeapReleased",
        "Int64",
        "B",
        "Idle heap returned to the OS; since Go 1.13 also never touched.",
    ),
    Column("HeapObjects", "Int64", "count", "Objects: Mallocs - Frees."),
    Column("StackInuse", "Int64", "B", "Stack spans; they lie in the arenas, outside HeapSys."),
    Column("StackSys", "Int64", "B", "StackInuse and stacks taken from the system."),
    Column("MSpanInuse", "Int64", "B", "Span structures in use."),
    Column("MSpanSys", "Int64", "B", "Span structures, taken from the system."),
    Column("MCacheInuse", "Int64", "B", "Caches per P in use."),
    Column("MCacheSys", "Int64", "B", "Caches per P, taken from the system."),
    Column("BuckHashSys", "Int64", "B", "Buckets of the memory profile."),
    Column("GCSys", "Int64", "B", "GC metadata and work buffers; the buffers lie in the arenas."),
    Column("OtherSys", "Int64", "B", "Other runtime structures."),
    Column("NextGC", "Int64", "B", "Heap goal of the next GC; missing if there is none."),
    Column("LastGC", "datetime64[ns, UTC]", "", "End of the last collection."),
    Column("PauseTotalNs", "Int64", "ns", "Stop-the-world time since the start, in nanoseconds."),
    Column("NumGC", "Int64", "count", "GCs since the start of the process."),
    Column("NumForcedGC", "Int64", "count", "Of them, asked for by the program; since Go 1.8."),
    Column(
        "GCCPUFraction",
        "float64",
        "fraction",
        "GC's share of the available CPU since the process started, without idle marking; over a "
        "log, see gc_cpu_fraction.",
    ),
    Column("place", "str", "", "Where in the file the dump begins.", Words),
)
PAUSES = (
    Column("dump", "int64", "", "Row of the dump."),
    Column("number", "int64", "", "Which collection, from 1."),
    Column("end", "datetime64[ns, UTC]", "", "End of the pause."),
    Column("pause_seconds", "float64", "s", "Both pauses of the GC together, to 1 ns."),
)
SIZE_CLASSES = (
    Column("dump", "int64", "", "Row of the dump."),
    Column("Size", "int64", "B", "Largest object of the class."),
    Column("Mallocs", "int64", "count", "Objects allocated since the start."),
    Column("Frees", "int64", "count", "Objects freed since the start."),
)

_GOROUTINES = re.compile(
    rb'"(?:num_?)?go_?routines?(?:_?(?:num|count))?"\s*:\s*(\d{1,9})\s*[,}]', re.IGNORECASE
)


@dataclass(frozen=True)
class MemStats(Frames):
    """Dumps: `stats`, a row each; `pauses`, each in the first dump with it; `size_classes`."""

    stats: pd.DataFrame
    pauses: pd.DataFrame
    size_classes: pd.DataFrame
    # The time before each dump in a log; empty if it is not from a log.
    times: tuple[datetime | None, ...] = ()
    # Whether each dump is from another process than the previous one, if the text shows it.
    begins: tuple[bool, ...] = ()
    # The resolution in bytes of each rounded field.
    steps: Mapping[str, int] = field(default_factory=dict)
    # The time of day before each dump in a log that has no more; empty if it has.
    times_of_day: tuple[str, ...] = ()
    goroutines: tuple[int, ...] = ()  # the number beside each dump, as programs publish with expvar

    @property
    def dumps(self) -> Iterator[MemStats]:
        """Yield each dump separately, in the file's order; damage stays with the file."""
        for row in range(len(self.stats)):
            pauses, classes = (_of_dump(row, own) for own in (self.pauses, self.size_classes))
            stats, times = self.stats.iloc[[row]].reset_index(drop=True), self.times[row : row + 1]
            begins, of_day = self.begins[row : row + 1], self.times_of_day[row : row + 1]
            count = self.goroutines[row : row + 1]
            yield MemStats(stats, pauses, classes, times, begins, self.steps, of_day, count)

    @property
    def time(self) -> datetime | None:
        """When the last dump was printed; None if unknown."""
        return self.times[-1] if self.times else None

    @property
    def time_of_day(self) -> str:
        """The last dump's time of day, if only that is known; else empty."""
        return self.times_of_day[-1] if self.times_of_day else ""

    def _repr_html_(self) -> str:
        last = self.stats.iloc[-1]
        shown = ("HeapAlloc", "HeapInuse", "HeapIdle", "HeapReleased", "StackInuse", "Sys")
        rows = (f"<tr><th>{name}</th><td>{format_bytes(last[name])}</td></tr>" for name in shown)
        cells = "".join(rows)
        return f"<p>{len(self.stats)} MemStats dumps; the last:</p><table>{cells}</table>"


def _of_dump(row: int, frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of one dump; an empty frame, as of dumps in words, is not searched."""
    return frame if frame.empty else frame[frame["dump"] == row].reset_index(drop=True)


def memstats_tables(dumps: MemStatsDumps, damaged: Iterable[Damage] = ()) -> MemStats:
    """Convert dumps, their pauses and their size classes to frames."""
    last_gc = dumps.counters["LastGC"]
    never = np.ma.getmaskarray(last_gc) | (last_gc.data == 0)
    columns = {**dumps.counters, "LastGC": _times(last_gc.data, never), "place": dumps.place}
    columns["GCCPUFraction"] = dumps.gc_cpu_fraction
    _, first = np.unique(dumps.pauses[:, 1:3], axis=0, return_index=True)
    dump, number, end, length = dumps.pauses[np.sort(first)].T  # dumps share most of their rings
    pauses = {"dump": dump, "number": number, "end": _times(end, end == 0)}
    pauses["pause_seconds"] = length / 1e9
    classes = dict(zip(("dump", "Size", "Mallocs", "Frees"), dumps.size_classes.T, strict=True))
    stats = build(columns, tuple(_rounded(column, dumps.steps) for column in STATS))
    frames = stats, build(pauses, PAUSES), build(classes, SIZE_CLASSES)
    told = tuple(dumps.times), tuple(dumps.begins), dict(dumps.steps)
    of_day = tuple(dumps.times_of_day) if all(dumps.times_of_day) else ()
    return MemStats(*frames, *told, times_of_day=of_day, damaged=tuple(damaged))


def _rounded(column: Column, steps: Mapping[str, int]) -> Column:
    """Add the resolution to the description of a rounded column."""
    if column.name not in steps:
        return column
    step = format_bytes(steps[column.name], brief=True)
    return replace(column, means=f"{column.means} To {step}, as the text has it.")


def _times(nanoseconds: np.ndarray, unknown: np.ndarray) -> pd.Series:
    times = pd.Series(nanoseconds.astype("datetime64[ns]")).dt.tz_localize("UTC")
    return times.mask(unknown)


@reads("MemStats as JSON or printed", "memstats", "heap_text", "runtime_lines")
def read_memstats(source: Source) -> MemStats:
    """Read runtime.MemStats from JSON: one object, one per line, an array, or expvar's /debug/vars.

    Also reads the MemStats at the end of a heap profile in text, and those that a program printed
    in its own words, such as `Alloc = 5 MiB`; their resolution is in the frame's dictionary. Raises
    FormatError if there are none.
    """
    profile = heap_text_in(source.data)
    if profile is not None:
        source = replace(source, data=memstats_of(profile, source=source.name))
    try:
        dumps, damaged, text = read_plain(source, looks_like_memstats, parse_memstats)
    except FormatError:
        if not looks_like_in_words(source.data):
            raise
        dumps, found = parse_memstats_in_words(source.data, source=source.name)
        damaged = (*source.damage, *found)
    else:
        dumps = replace(dumps, place=[text.place(place) for place in dumps.place])
    read, counts = memstats_tables(dumps, damaged), _GOROUTINES.findall(source.data)
    is_each = len(counts) == len(dumps)
    return replace(read, goroutines=tuple(map(int, counts))) if is_each else read
