"""A capture: the data collected from one process, as snapshots whose artefacts belong together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import pandas as pd

from gomem.capture.manifest import Manifest
from gomem.capture.moment import (
    FRAMES,
    GOROUTINES,
    MOMENT,
    Artefact,
    Moment,
    empty_frame,
    with_place,
)
from gomem.capture.ordered import in_order
from gomem.errors import did_you_mean
from gomem.inputs.metrics.parse import NO_LIMIT
from gomem.inputs.pprof.about import HEAP_TYPES
from gomem.inputs.pprof.sites import sites_named, top_sites
from gomem.inputs.schema import (
    SECONDS,
    Column,
    Dictionary,
    WithDamage,
    build_rows,
    dictionary_of,
    empty,
)
from gomem.sources.names import natural_key
from gomem.text import File, MomentName, Text, Words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime

    from gomem.capture.runs import OtherRun
    from gomem.errors import Damage
    from gomem.inputs.buildinfo.table import Build
    from gomem.inputs.environ.table import Environ
    from gomem.inputs.escapes.table import EscapeAnalysis
    from gomem.inputs.gctrace.table import GcLog
    from gomem.inputs.gobench.table import Bench
    from gomem.inputs.heapdump.table import HeapDump
    from gomem.inputs.loadtest.table import LoadTest
    from gomem.inputs.pprof.table import Profile
    from gomem.inputs.processes.consumed import UnitLimit
    from gomem.inputs.symbols.table import Symbols
    from gomem.releases import GoVersion
    from gomem.sources.artefact import Source

MOMENTS = (
    Column("moment", "str", "", "Name of the moment.", MomentName),
    Column("time", "datetime64[ns, UTC]", "", "When: the earliest of its artefacts' times."),
    Column(
        "skew_seconds", *SECONDS, "Time from its first artefact to its last; missing if unknown."
    ),
    Column("artefacts", "int64", "count", "Artefacts read."),
)
ARTEFACTS = (
    Column("path", "str", "", "Path inside the capture.", File),
    Column("kind", "str", "", "Kind, by its content; empty if unknown.", Words),
    MOMENT,
    Column("bytes", "int64", "B", "Size as stored."),
    Column("sha256", "str", "", "Digest of the bytes as stored.", Words),
    Column("time", "datetime64[ns, UTC]", "", "Time at which it was taken; missing if unknown."),
    Column(
        "time_source", "str", "", "Source of the time: manifest, name, its own clock, file.", Words
    ),
    Column(
        "looks_like", "object", "", "What a file of unknown kind looks like; otherwise empty.", Text
    ),
)
NO_LEVELS = frozenset({"moment", "artefact", "reading", "place", "Name", "State", "go_version"})
ROLLUP_FIELDS = ("Rss", "Pss", "Anonymous", "LazyFree", "Swap")
_OWN = (
    Column("goroutines", "Int64", "count", "Goroutines, by the moment's profile or dump."),
    Column("max_rss_bytes", "Int64", "B", "Peak RSS, as a heap profile in text ends with."),
    Column("inuse_space", "Int64", "B", "In-use bytes of the heap profile, up to two GCs old."),
    Column("alloc_space", "Int64", "B", "Allocated since the start, by the heap profile."),
)
OWN = dictionary_of(_OWN)
METRIC_UNITS = {"bytes": "B", "seconds": "s", "cpu-seconds": "s", "percent": ""}
WHOLE_UNITS = frozenset({"B", "count", "ns"})


@dataclass(frozen=True)
class Capture(WithDamage, Mapping[str, Moment]):
    """The data collected from one process: a mapping of its snapshots by name, in order.

    `capture["3-later"]` is a snapshot, with its own frames. The capture's frames cover all
    snapshots. Their first columns are `moment` and `time`, the last is `artefact`: `memstats`,
    `metrics`, `process` (from /metrics), `smaps`, `rollups` (the kernel's sums), `status`, `statm`,
    `cgroup`, `limits`, `goroutine_stacks`, `pauses`, `size_classes`.

    Attributes:
        name: The capture's name in reports.
        by_moment: The snapshots by name, in order.
        files: Every artefact that was read, with its parsed content.
        passed_over: Files whose kind gomem does not know, or that could not be read at all.
        damaged: Every part that could not be read.
        looks: What each file of unknown kind looks like (`a Git LFS pointer`), by path.
        go_version: The Go release of the process, as far as known.
        manifest: The collector's facts about the process, and the data it could not get.
        unread_evidence: Paths of files of unknown kind that contain memory data.
        other_runs: Readings that no frame has: of earlier processes in a text, or before its last.
        unused_sizes, unused_counts, unused_settings: Of prose; by file. No frame has them.
        told_beside, stated, unit: Of tables and sentences of a text, and of a unit of systemd.
        system, place: The system that a text names, if not Linux; where the files' paths begin.
    """

    name: str
    by_moment: Mapping[str, Moment]
    files: tuple[Artefact, ...]
    passed_over: tuple[Source, ...]
    damaged: tuple[Damage, ...]
    looks: Mapping[str, str]
    go_version: GoVersion
    manifest: Manifest = field(default_factory=Manifest)
    unread_evidence: tuple[str, ...] = ()
    other_runs: tuple[OtherRun, ...] = ()
    unused_sizes: tuple[str, ...] = ()
    unused_counts: tuple[str, ...] = ()
    unused_settings: Mapping[str, str] = field(default_factory=dict)
    told_beside: tuple[Text, ...] = ()
    stated: tuple[Text, ...] = ()
    unit: UnitLimit | None = None
    system: str = ""
    place: str = ""

    def __getitem__(self, moment: str) -> Moment:
        """Return the snapshot of that name; raises KeyError with the existing names."""
        if moment not in self.by_moment:
            names = ", ".join(self.by_moment) or "none"
            near = did_you_mean(moment, self.by_moment)
            raise KeyError(f"{self.name} has no moment {moment}; it has {names}{near}")
        return self.by_moment[moment]

    def __iter__(self) -> Iterator[str]:
        return iter(self.by_moment)

    def __len__(self) -> int:
        return len(self.by_moment)

    def __contains__(self, moment: object) -> bool:
        return moment in self.by_moment

    def __bool__(self) -> bool:
        """A capture with only a log has no snapshots, but is still true."""
        return True

    def _ipython_key_completions_(self) -> list[str]:
        return list(self.by_moment)

    def __getattr__(self, name: str) -> pd.DataFrame:
        if name not in FRAMES:
            near = did_you_mean(name, [*FRAMES, *dir(self)])
            known = ", ".join(FRAMES)
            raise AttributeError(f"a capture has no {name}; its frames are {known}{near}")
        frames = [getattr(moment, name) for moment in self.by_moment.values()]
        filled = [frame for frame in frames if len(frame)]
        frame = pd.concat(filled, ignore_index=True) if filled else empty_frame(name)
        ordered = in_order(frame, self.times)
        self.__dict__[name] = ordered
        return ordered

    @property
    def times(self) -> dict[str, datetime | None]:
        """The time of each snapshot, in order; None if unknown."""
        return {name: moment.time for name, moment in self.by_moment.items()}

    @property
    def file_name(self) -> str:
        """The name without its folder, for pages, which must not contain folders."""
        return PurePath(self.name).name

    @cached_property
    def moments(self) -> pd.DataFrame:
        """A row per snapshot, in order; see `MOMENTS`."""
        rows = [
            (moment.name, moment.time, moment.skew_seconds, len(moment.artefacts))
            for moment in self.by_moment.values()
        ]
        return in_order(build_rows(rows, MOMENTS), self.times)

    @cached_property
    def artefacts(self) -> pd.DataFrame:
        """A row per file, in natural order of paths; see `ARTEFACTS`.

        A file with a series of dumps is listed at its first snapshot.
        """
        files = {file.source.name: file for file in reversed(self.files)}
        rows: list[tuple[Any, ...]] = []
        for file in files.values():
            stored = (file.source.stored_bytes, file.source.sha256)
            said = (file.moment, *stored, file.time, file.time_source, "")
            rows.append((file.source.name, file.kind.name, *said))
        rows += [
            (source.name, "", "", source.stored_bytes, source.sha256, None, "", look)
            for source in self.passed_over
            for look in (self.looks.get(source.name, ""),)
        ]
        rows.sort(key=lambda row: natural_key(row[0]))
        return build_rows(rows, ARTEFACTS)

    @cached_property
    def gc(self) -> GcLog | None:
        """The GC log; None without one. Each of several log files is a separate run."""
        logs = list(self.of_kind("gctrace").values())
        return logs[0].joined(logs[1:]) if len(logs) > 1 else next(iter(logs), None)

    @property
    def profiles(self) -> dict[str, Mapping[str, Profile]]:
        """Profiles by snapshot, then by kind (`heap`, `allocs`, `goroutine`, …)."""
        return {name: moment.profiles for name, moment in self.by_moment.items() if moment.profiles}

    @property
    def heap_profiles(self) -> dict[str, Profile]:
        """Each snapshot's heap profile, or its allocs profile, which has the same data."""
        found = {name: moment.heap_profile for name, moment in self.by_moment.items()}
        return {moment: profile for moment, profile in found.items() if profile is not None}

    def top(
        self,
        sample_type: str = "inuse_space",
        n: int | None = 20,
        granularity: str = "functions",
        *,
        cum: bool = False,
    ) -> pd.DataFrame:
        """Return the top sites of the heap profiles at each snapshot; see `Profile.top`.

        The result is one long frame: `moment`, `time`, then the columns of
        `inputs.pprof.sites.SITES`. Each snapshot has `n` sites, or all if `n` is None; it is left
        out if its profile does not have the sample type. Raises ValueError if no profile has the
        sample type, or if the granularity is unknown.
        """
        profiles = self.heap_profiles
        known = {
            *HEAP_TYPES,
            *(t for profile in profiles.values() for t in profile.sample_type_names),
        }
        if sample_type not in known:
            near = did_you_mean(sample_type, known)
            raise ValueError(f"{sample_type}: wanted one of {', '.join(sorted(known))}{near}")
        frames = [
            top_sites(profile, sample_type, n, granularity, cum=cum).top.assign(moment=moment)
            for moment, profile in profiles.items()
            if sample_type in profile.sample_type_names
        ]
        if not frames:
            return in_order(empty((MOMENT, *sites_named(granularity))), self.times)
        frame = pd.concat(frames, ignore_index=True)
        frame = frame[["moment", *frame.columns.drop("moment")]]
        frame.attrs["columns"] = with_place(frames[0].attrs["columns"])
        return in_order(frame, self.times)

    @cached_property
    def goroutines(self) -> pd.DataFrame:
        """Goroutines by snapshot and stack, from dumps or profiles; see `moment.GOROUTINES`."""
        found = [moment.goroutines for moment in self.by_moment.values() if len(moment.goroutines)]
        frame = pd.concat(found, ignore_index=True) if found else empty(GOROUTINES)
        return in_order(frame, self.times)

    @property
    def bench(self) -> Mapping[str, Bench]:
        """Benchmark files by path."""
        return self.of_kind("gobench")

    @property
    def loads(self) -> Mapping[str, LoadTest]:
        """Results of load generators, by path."""
        return self.of_kind("loadtest")

    @property
    def escapes(self) -> Mapping[str, EscapeAnalysis]:
        """The compiler's escape analysis, by path."""
        return self.of_kind("escapes")

    @cached_property
    def levels(self) -> pd.DataFrame:
        """A wide row per snapshot, ordered by time if known; see `capture.levels_of`.

        `Diagnosis.levels` adds RSS and the ledger's parts.
        """
        return levels_of(self.by_moment.values())

    @cached_property
    def pauses(self) -> pd.DataFrame:
        """Pauses recorded in MemStats; those that several dumps share are listed once."""
        frame = self.__getattr__("pauses")
        return frame.drop_duplicates(["number", "end"]).reset_index(drop=True)

    @property
    def heap_dumps(self) -> Mapping[str, HeapDump]:
        """Dumps of `runtime/debug.WriteHeapDump`, by path."""
        return self.of_kind("heapdump")

    @property
    def symbols(self) -> Mapping[str, Symbols]:
        """Symbols of executables, as `go tool nm` prints them, by path."""
        return self.of_kind("symbols")

    @property
    def builds(self) -> Mapping[str, Build]:
        """Build information of executables, by path."""
        return self.of_kind("buildinfo")

    @property
    def environs(self) -> Mapping[str, Environ]:
        """The variables for the Go runtime in a process's environment, by path."""
        return self.of_kind("environ")

    def of_kind(self, name: str) -> dict[str, Any]:
        """Return the parsed content of every artefact of a kind, by path."""
        return {file.source.name: file.parsed for file in self.files if file.kind.name == name}

    def _repr_html_(self) -> str:
        kinds = self.artefacts["kind"].value_counts().to_frame("files")
        head = f"<p>{len(self.moments)} moments, {self.go_version}, {len(self.damaged)} damaged</p>"
        return head + self.moments.to_html(escape=True) + kinds.to_html(escape=True)

    def __repr__(self) -> str:
        return f"<Capture {self.name}: {len(self.by_moment)} moments, {self.go_version}>"


def levels_of(moments: Iterable[Moment]) -> pd.DataFrame:
    """Return a row per snapshot, ordered by time if known."""
    # The columns are `moment`, MemStats' fields, counts from status and a page of metrics, `Rss`
    # and other sums of smaps or smaps_rollup, `goroutines`, `max_rss_bytes` of a heap profile in
    # text, and the scalars of runtime/metrics by their names. Of several dumps at a moment, the
    # last counts; unknown values are missing.
    rows = list(moments)
    times = {moment.name: moment.time for moment in rows}
    clock = pd.to_datetime(list(times.values()), utc=True).as_unit("ns")
    frame = pd.DataFrame([_row(moment) for moment in rows], index=pd.Index(clock, name="time"))
    if not len(frame.columns):
        frame["moment"] = pd.Series(index=frame.index, dtype="str")
    told = dict(OWN)
    for moment in rows:
        told |= _metrics_columns(moment.metrics["name"].unique())
        for table in (moment.rollups, moment.smaps, moment.process, moment.status, moment.memstats):
            told |= table.attrs.get("columns", {})
    whole = [name for name in frame if _is_whole(name, frame[name], told)]
    typed = frame.astype(dict.fromkeys(whole, "Int64"))
    typed.attrs["columns"] = Dictionary(told)
    return in_order(typed, times, is_timed=False)


def _is_whole(name: str, column: pd.Series, told: Mapping[str, Mapping[str, str]]) -> bool:
    """Whether a column has integers, whichever of its values are missing and whichever rows exist.

    A limit does not, because it is infinite if not set; nor does a number that can exceed 64 bits,
    such as the goal when GC is off, or a fraction.
    """
    if name in NO_LIMIT or told.get(name, {}).get("unit") not in WHOLE_UNITS:
        return False
    known = column.dropna().astype("float64")
    return bool(((known % 1 == 0) & (known.abs() < 2.0**63)).all())


def _metrics_columns(names: Iterable[str]) -> dict[str, dict[str, str]]:
    units = ((name, name.rpartition(":")[2]) for name in names)
    return {
        name: {"unit": METRIC_UNITS.get(unit, "count"), "means": "See the package runtime/metrics."}
        for name, unit in units
    }


def _row(moment: Moment) -> dict[str, Any]:
    row: dict[str, Any] = {"moment": moment.name}
    for name in ("memstats", "status", "process"):
        frame = getattr(moment, name)
        if len(frame):
            last = frame.iloc[-1]
            row |= {field: last[field] for field in frame.columns if field not in NO_LEVELS}
    row |= _mapped(moment)
    row |= {} if moment.goroutine_count is None else {"goroutines": moment.goroutine_count}
    peaks = [profile.max_rss_bytes for profile in moment.profiles.values() if profile.max_rss_bytes]
    row |= {"max_rss_bytes": max(peaks)} if peaks else {}
    if (profile := moment.heap_profile) is not None:
        known = {"inuse_space", "alloc_space"}.intersection(profile.sample_type_names)
        row |= {name: int(profile.total(name)) for name in sorted(known)}
    metrics = moment.metrics[moment.metrics["artefact"] == moment.paths.get("metrics")]
    last_reading = metrics[metrics["reading"] == metrics["reading"].max()]
    return row | dict(zip(last_reading["name"], last_reading["value"], strict=True))


def _mapped(moment: Moment) -> dict[str, int]:
    """Sums over smaps; without smaps, the kernel's sums in smaps_rollup."""
    frame = moment.smaps if len(moment.smaps) else moment.rollups
    known = [name for name in ROLLUP_FIELDS if name in frame and frame[name].notna().any()]
    return {name: int(frame[name].sum()) for name in known}
