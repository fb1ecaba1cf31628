"""A gctrace log as frames: collections, scavenges, pacer lines, and counts of other lines."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Any

import pandas as pd

from gomem.inputs.gctrace.grammar import NEWEST, OLDEST
from gomem.inputs.gctrace.parse import parse_pieces
from gomem.inputs.packed import PackedFrame
from gomem.inputs.schema import FRACTION, SECONDS, Column, WithDamage, build, build_rows, empty
from gomem.inputs.wrong_file import name_another
from gomem.releases import GoRelease, GoVersion
from gomem.sources.artefact import Source
from gomem.sources.bounds import Bounds
from gomem.sources.long import open_stream
from gomem.text import Words
from gomem.units import format_count, format_seconds

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from gomem.errors import Damage
    from gomem.inputs.gctrace.columns import GcTraceColumns
    from gomem.inputs.gctrace.grammar import Release
    from gomem.sources.artefact import Readable
    from gomem.sources.long import Progress, Stream

# Rows in a piece of a long log: with fewer, pandas' overhead per call dominates.
MIN_ROWS = 1 << 17
_RUN = Column(
    "run", "int64", "", "Process of the log, from 1; a new one begins where GC numbers fall."
)
_LINE = Column("line", "int64", "", "Line of the log, from 1; where it begins, if it was torn.")
_TIME = Column(
    "time", "datetime64[ns, UTC]", "", "When the line was written, if a log collector says so."
)
_AFTER = Column("after_cycle", "Int64", "", "Number of the last GC line before it.")
_HERE = "To 1 MiB, rounded down."

_GC_SHARE = "GC's share of CPU since the program's start, not of this cycle; to 0.01, cut."

CYCLES = (
    _RUN,
    Column("number", "int64", "", "Which collection of its process, from 1: NumGC after it."),
    Column("at_seconds", *SECONDS, "When it began, since the program's start; to 1 ms."),
    _TIME,
    Column("forced", "bool", "", "Forced by the program; up to Go 1.8 any stop-the-world GC."),
    Column("periodic", "bool", "", "Announced by `GC forced`: no GC for two minutes before it."),
    Column("leak_check", "bool", "", "Run for a goroutine-leak profile."),
    Column("sweep_termination_seconds", *SECONDS, "First stop of the world; to two digits, cut."),
    Column("scan_seconds", *SECONDS, "Concurrent scan; 1.5 only."),
    Column("write_barrier_seconds", *SECONDS, "Switching the write barrier on; 1.5 only."),
    Column("mark_seconds", *SECONDS, "Concurrent mark; to two digits, cut."),
    Column("mark_termination_seconds", *SECONDS, "Second stop of the world; to two digits, cut."),
    Column("cpu_sweep_termination_seconds", *SECONDS, "First pause times the Ps that it stopped."),
    Column("cpu_scan_seconds", *SECONDS, "CPU of the concurrent scan; 1.5 only."),
    Column("cpu_assist_seconds", *SECONDS, "CPU of mark assists by allocating goroutines."),
    Column("cpu_background_seconds", *SECONDS, "CPU of dedicated and fractional workers."),
    Column("cpu_idle_seconds", *SECONDS, "CPU of marking on Ps that had nothing else to do."),
    Column("cpu_mark_termination_seconds", *SECONDS, "Second pause times the Ps that it stopped."),
    Column("gc_cpu_since_start_fraction", *FRACTION, _GC_SHARE),
    Column("heap_at_start_bytes", "Int64", "B", f"Heap when it began. {_HERE}"),
    Column("heap_at_mark_end_bytes", "Int64", "B", f"Heap when marking ended. {_HERE}"),
    Column("heap_live_bytes", "Int64", "B", f"Heap that was marked. {_HERE}"),
    Column("heap_goal_bytes", "Int64", "B", f"Goal of this collection; missing if none. {_HERE}"),
    Column("stacks_bytes", "Int64", "B", f"Stacks scanned; all stacks in 1.18, 1.19. {_HERE}"),
    Column("globals_bytes", "Int64", "B", f"Globals with pointers; since 1.18. {_HERE}"),
    Column("gomaxprocs", "Int64", "count", "GOMAXPROCS when it began."),
    _LINE,
)

_KIB_HERE = "scav to 1 KiB, scvg to 1 MiB, rounded down."
SCAVENGES = (
    _RUN,
    _AFTER,
    _TIME,
    Column(
        "event",
        "str",
        "",
        "`scav` (scavtrace=1, since 1.14) or `scvg` (gctrace=1, to 1.13).",
        Words,
    ),
    Column("generation", "Int64", "", "Number that 1.15 to 1.18 (scav), and to 1.12 (scvg) print."),
    Column("forced", "bool", "", "By debug.FreeOSMemory."),
    Column("controller_reset", "boolean", "", "Its controller started over; scav since 1.18."),
    Column("released_bytes", "Int64", "B", f"Released since the line before; {_KIB_HERE}"),
    Column("released_background_bytes", "Int64", "B", "Released in the background; since Go 1.21."),
    Column(
        "released_eager_bytes", "Int64", "B", "Released at once, forced included; since Go 1.21."
    ),
    Column("released_total_bytes", "Int64", "B", f"HeapReleased; {_KIB_HERE}"),
    Column("utilisation_fraction", "float64", "fraction", "HeapInuse of what is retained; cut."),
    Column("heap_inuse_bytes", "Int64", "B", "HeapInuse; scvg only."),
    Column("heap_idle_bytes", "Int64", "B", "HeapIdle; scvg only."),
    Column("heap_sys_bytes", "Int64", "B", "HeapSys; scvg only."),
    Column("consumed_bytes", "Int64", "B", "HeapSys less HeapReleased; scvg only."),
    _LINE,
)

PACER = (
    _RUN,
    _AFTER,
    _TIME,
    Column(
        "kind", "str", "", "`assist`, `goal` (to 1.17), `cycle` (since 1.18) or `sweep`.", Words
    ),
    Column("assist_ratio", "float64", "ratio", "Scan work owed for each byte allocated."),
    Column("scan_bytes", "Int64", "B", f"Heap to be scanned. {_HERE}"),
    Column("heap_at_start_bytes", "Int64", "B", f"Heap when the collection began. {_HERE}"),
    Column("heap_goal_bytes", "Int64", "B", f"Its goal. {_HERE}"),
    Column("dedicated_workers", "Int64", "count", "Ps that mark and do nothing else."),
    Column("fractional_workers", "float64", "count", "Share of a P's time for marking beside."),
    Column("H_m_prev", "Int64", "B", "Marked by the collection before; to 1.17."),
    Column("h_t", "float64", "ratio", "Trigger, as growth over H_m_prev; to 1.17."),
    Column("H_T", "Int64", "B", "Trigger; to 1.17."),
    Column("h_a", "float64", "ratio", "Heap reached, as growth over H_m_prev; to 1.17."),
    Column("H_a", "Int64", "B", "Heap reached; to 1.17."),
    Column("h_g", "float64", "ratio", "Goal, as growth over H_m_prev; to 1.17."),
    Column("H_g", "Int64", "B", "Goal; to 1.17."),
    Column("u_a", "float64", "fraction", "CPU that marking took; to 1.17."),
    Column("u_g", "float64", "fraction", "CPU that marking aimed at; to 1.17."),
    Column("W_a", "Int64", "B", "Scan work done; to 1.17."),
    Column("goalΔ", "float64", "ratio", "Goal less trigger, as growth; to 1.17."),
    Column("actualΔ", "float64", "ratio", "Heap reached less trigger, as growth; to 1.17."),
    Column("u_a_over_u_g", "float64", "ratio", "u_a over u_g, as printed; to 1.17."),
    Column("cpu_fraction", "float64", "fraction", "CPU that marking took; since 1.18, cut."),
    Column("cpu_goal_fraction", "float64", "fraction", "CPU that it aimed at; since 1.18."),
    Column("heap_work_bytes", "Int64", "B", "Heap scanned; since 1.18."),
    Column("stack_work_bytes", "Int64", "B", "Stacks scanned; since 1.18."),
    Column("globals_work_bytes", "Int64", "B", "Globals scanned; since 1.18."),
    Column("expected_work_bytes", "Int64", "B", "Scan work expected; since 1.18."),
    Column("trigger_bytes", "Int64", "B", "Heap at which it began; since 1.18."),
    Column("heap_live_bytes", "Int64", "B", "Heap when marking ended, or when sweeping did."),
    Column("goal_miss_bytes", "Int64", "B", "Heap when marking ended, less the goal; since 1.18."),
    Column("cons_mark_ratio", "float64", "ratio", "Allocation against marking; since 1.18."),
    Column("controller_reset", "bool", "", "The pacer's controller started over; 1.18, 1.19."),
    Column("allocated_bytes", "Int64", "B", f"Allocated while sweeping. {_HERE}"),
    Column("swept_pages", "Int64", "count", "Pages of 8 KiB that were swept."),
    Column("pages_per_byte", "float64", "ratio", "Pages to sweep for each byte allocated."),
    _LINE,
)

OTHER = (
    Column("kind", "str", "", "`program`, `broken`, or a kind of line of the runtime's.", Words),
    Column("lines", "int64", "count", "How many."),
)


_NOTES = {
    "partial": "{} collections' lines are cut, or have numbers left out: what is whole of them is "
    "counted, the rest is unknown",
    "excerpt": "{} lines are too short to say which they are",
    "template": "the form of the line, as the documentation writes it, is quoted beside the log",
    "too_old": "{} lines are of Go 1.4 or older: their form has no time since the start and no "
    "goal, and is not read",
}
_NAMES = tuple(column.name for column in CYCLES)
# Known for every line that was parsed whole, in every release.
_IN_WHOLE_LINES = ("mark_seconds", "cpu_background_seconds", "heap_live_bytes", "gomaxprocs")


@dataclass(frozen=True)
class GcLog(WithDamage):
    """A gctrace log."""

    # A row per collection; see `CYCLES`. Packed if the log is too long for memory.
    cycles: pd.DataFrame | PackedFrame
    scavenges: pd.DataFrame  # a row per `scav` or `scvg` line; see `SCAVENGES`
    pacer: pd.DataFrame  # a row per `pacer` line; see `PACER`
    other: pd.DataFrame  # counts of lines of other kinds; see `OTHER`
    go_version_range: GoVersion  # the releases whose runtime prints these forms
    damaged: tuple[Damage, ...] = ()  # what could not be read

    def pieces(self, columns: Sequence[str]) -> Iterator[pd.DataFrame]:
        """Yield columns of the collections, piece by piece if they are packed."""
        if isinstance(self.cycles, PackedFrame):
            yield from self.cycles.pieces(columns)
        else:
            yield self.cycles[list(columns)]

    @property
    def old_lines(self) -> int:
        """The number of lines from Go 1.4 or older, a form that is not parsed."""
        counts = dict(zip(self.other["kind"], self.other["lines"], strict=True))
        return int(counts.get("too_old", 0))

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes that are not damage: quoted lines, and lines of another form."""
        counts = Counter(dict(zip(self.other["kind"], self.other["lines"], strict=True)))
        pieces = self.pieces(_IN_WHOLE_LINES)
        counts["partial"] = sum(int(piece.isna().any(axis=1).sum()) for piece in pieces)
        said = ((words, counts[kind]) for kind, words in _NOTES.items())
        return tuple(words.format(format_count(count)) for words, count in said if count)

    def joined(self, others: Sequence[GcLog]) -> GcLog:
        """Join several logs in order; each file's processes are separate runs."""
        logs = (self, *others)
        packed = any(isinstance(log.cycles, PackedFrame) for log in logs)
        joined = _joined(_one_after_another(logs), packed=packed)
        return replace(joined, go_version_range=_both([log.go_version_range for log in logs]))

    def __repr__(self) -> str:
        return f"<GcLog: {len(self.cycles)} collections, {len(self.scavenges)} scavenger lines>"

    def _repr_html_(self) -> str:
        pieces = self.pieces(("run", "at_seconds"))
        lasting = pd.concat([piece.groupby("run")["at_seconds"].max() for piece in pieces])
        lasting = lasting.groupby(level=0).max()
        runs, seconds = len(lasting), lasting.sum()
        head = (
            f"{format_count(len(self.cycles))} collections in {format_seconds(seconds)}, "
            f"{runs} runs, {len(self.scavenges)} scavenger lines, {len(self.damaged)} damaged; "
            f"Go {self.go_version_range}"
        )
        *_, last = self.pieces(_NAMES)
        return f"<p>{head}</p>{last.tail().to_html(escape=True)}"


def packed_log(pieces: Iterable[GcLog]) -> GcLog:
    """Join the pieces of one log, with its collections packed."""
    return _joined(pieces, packed=True)


def _joined(pieces: Iterable[GcLog], *, packed: bool) -> GcLog:
    cycles: PackedFrame | list[pd.DataFrame] = (
        PackedFrame(empty(CYCLES), MIN_ROWS) if packed else []
    )
    logs, none = [], empty(CYCLES)
    for log in pieces:
        for part in log.pieces(_NAMES):
            cycles.append(part)
        logs.append(replace(log, cycles=none))
    counts: Counter[str] = Counter()
    for log in logs:
        counts.update(dict(zip(log.other["kind"], log.other["lines"], strict=True)))
    return GcLog(
        cycles=pd.concat(cycles, ignore_index=True) if isinstance(cycles, list) else cycles,
        scavenges=pd.concat([log.scavenges for log in logs], ignore_index=True),
        pacer=pd.concat([log.pacer for log in logs], ignore_index=True),
        other=build_rows(counts.items(), OTHER),
        go_version_range=logs[-1].go_version_range,
        damaged=tuple(damage for log in logs for damage in log.damaged),
    )


def _one_after_another(logs: Sequence[GcLog]) -> Iterator[GcLog]:
    """Yield logs piece by piece; the runs of each continue after those of the previous log."""
    shift = 0
    for log in logs:
        own = log
        for part in log.pieces(_NAMES):
            frames = {"cycles": part, "scavenges": own.scavenges, "pacer": own.pacer}
            shifted = {name: of.assign(run=of["run"] + shift) for name, of in frames.items()}
            yield replace(own, **shifted)
            rest = {name: getattr(log, name).iloc[:0] for name in ("scavenges", "pacer", "other")}
            own = replace(log, **rest, damaged=())
        shift += _last_run(log)


def gctrace_tables(columns: GcTraceColumns, damage: Sequence[Damage]) -> GcLog:
    """Convert a log's events to frames, in the log's order, without copying the arrays."""
    events = ((columns.cycles, CYCLES), (columns.scavenges, SCAVENGES), (columns.pacer, PACER))
    frames = (build(_with_times(of, schema), schema, copy=False) for of, schema in events)
    cycles, scavenges, pacer = frames
    other, version = build_rows(columns.others.items(), OTHER), _version(columns.go_releases)
    return GcLog(cycles, scavenges, pacer, other, version, tuple(damage))


def _with_times(columns: Mapping[str, Any], schema: Sequence[Column]) -> dict[str, Any]:
    """Select the schema's columns; times get their zone."""
    named = {column.name: columns[column.name] for column in schema if column.name in columns}
    return {**named, "time": pd.Series(columns["time"]).dt.tz_localize("UTC")}


def _version(range_of: tuple[Release, Release] | None) -> GoVersion:
    """Return the range of releases; empty if the forms are printed by all releases."""
    if range_of is None:
        return GoVersion(evidence="the log holds lines of several releases")
    (_, low), (_, high) = range_of
    return GoVersion(
        GoRelease(low) if low > OLDEST[1] else None,
        GoRelease(high) if high < NEWEST[1] else None,
        evidence="inferred from the format of the gctrace log",
    )


def _both(ranges: Sequence[GoVersion]) -> GoVersion:
    """Return the releases that fit every log."""
    low = max((version.low for version in ranges if version.low is not None), default=None)
    high = min((version.high for version in ranges if version.high is not None), default=None)
    if low is not None and high is not None and low > high:
        return _version(None)
    return GoVersion(low, high, evidence=ranges[0].evidence)


def _last_run(log: GcLog) -> int:
    runs = [frame["run"].max() for frame in (log.scavenges, log.pacer) if len(frame)]
    runs += [piece["run"].max() for piece in log.pieces(["run"]) if len(piece)]
    return int(max(runs, default=1))


def read_gctrace(
    readable: Readable, *, progress: Progress | None = None, packed: bool = False
) -> GcLog:
    """Read a GODEBUG=gctrace=1 log, as the program wrote it or as a log collector wrapped it.

    A log without GC lines gives empty frames. A file of another kind raises a FormatError that says
    which. The log itself is never whole in memory, only the parsed result; a very long log needs
    `packed`. `progress` is called with the number of stored bytes read and their total.
    """
    if packed:
        return packed_log(iter_gctrace(readable, progress=progress))
    stream = open_stream(readable)
    pieces = stream.pieces(progress)
    first = next(pieces, b"")
    logs = list(_pieces(stream, chain([first], pieces)))
    log = logs[0] if len(logs) == 1 else _joined(logs, packed=False)
    if first.strip() and not (len(log.cycles) or len(log.scavenges) or len(log.pacer)):
        name_another(Source(stream.name, first, first), "a gctrace log", ["gctrace"], refused=False)
    return log


def iter_gctrace(readable: Readable, *, progress: Progress | None = None) -> Iterator[GcLog]:
    """Read a gctrace log of any length in the memory of a few pieces.

    Yields logs of 4 MiB each, at least one, that together are the whole: runs, line numbers and
    cumulative state continue from one to the next. `progress` is called as by `read_gctrace`.
    """
    stream = open_stream(readable, bounds=Bounds.of_a_stream())
    return _pieces(stream, stream.pieces(progress))


def _pieces(stream: Stream, pieces: Iterable[bytes]) -> Iterator[GcLog]:
    for columns, damage in parse_pieces(pieces, source=stream.name):
        noted = [*stream.damage, *damage]
        stream.damage.clear()
        yield gctrace_tables(columns, noted)
