"""A capture: what was collected of one process, as moments whose artefacts are read together."""

from __future__ import annotations

import os
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

import pandas as pd

from gomem.capture.place import MANIFEST, Artefact, place, time_of
from gomem.errors import CaptureError, Damage, FormatError
from gomem.inputs.cgroup.table import CGROUP
from gomem.inputs.kinds import kind_of, not_an_artefact
from gomem.inputs.limits.table import LIMITS
from gomem.inputs.memstats.parse import json_values
from gomem.inputs.memstats.table import SIZE_CLASSES, STATS
from gomem.inputs.metrics.table import VALUES
from gomem.inputs.read import (
    read_bench,
    read_cgroup,
    read_escapes,
    read_gctrace,
    read_limits,
    read_memstats,
    read_metrics,
    read_pprof,
    read_smaps,
    read_status,
)
from gomem.inputs.schema import Column, build, damage_table, empty
from gomem.inputs.smaps.table import MAPPINGS
from gomem.inputs.status.table import STATUS
from gomem.releases import GoVersion, known_version
from gomem.sources.bounds import Bounds
from gomem.sources.listing import Entry, list_capture
from gomem.sources.long import LongSource, long_source
from gomem.sources.names import natural_key
from gomem.units import MIB

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from os import PathLike

    from gomem.inputs.escapes.table import EscapeAnalysis
    from gomem.inputs.gctrace.table import GcLog
    from gomem.inputs.gobench.table import Bench
    from gomem.inputs.pprof.table import Profile
    from gomem.sources.artefact import Source

SOURCE = Column("artefact", "str", "", "Path of the artefact inside the capture.")
MOMENT = Column("moment", "str", "", "The moment; empty for what belongs to the whole capture.")
MOMENTS = (
    Column("moment", "str", "", "Name of the moment."),
    Column("time", "datetime64[ns, UTC]", "", "When: the earliest of its artefacts' times."),
    Column("skew_seconds", "float64", "s", "From its first artefact's time to its last."),
    Column("artefacts", "int64", "count", "Artefacts read."),
)
ARTEFACTS = (
    Column("path", "str", "", "Path inside the capture."),
    Column("kind", "str", "", "Kind, found from the content; empty if it is of none."),
    MOMENT,
    Column("bytes", "int64", "B", "Size as stored."),
    Column("sha256", "str", "", "Digest of the bytes as stored."),
    Column("time", "datetime64[ns, UTC]", "", "When it was taken, as far as known."),
    Column("time_source", "str", "", "How that is known: manifest, name, its own clock, file."),
)
GOROUTINES = (
    MOMENT,
    Column("goroutines", "int64", "count", "Goroutines with this stack."),
    Column(
        "function", "str", "", "The innermost function outside the runtime; empty without a stack."
    ),
    Column("stack", "str", "", "Function names, innermost first, joined by `;`."),
)


@dataclass(frozen=True)
class Capture:
    """What was collected of one process.

    Attributes:
        name: What reports call it.
        moments: A row per moment, in order; see `MOMENTS`.
        artefacts: A row per file; see `ARTEFACTS`.
        memstats: MemStats dumps, with `moment` first; see `tables.memstats.STATS`.
        metrics: runtime/metrics scalars, with `moment` first; see `tables.metrics.VALUES`.
        smaps: Mappings, with `moment` first; see `tables.smaps.MAPPINGS`.
        rollups: The kernel's own sums (smaps_rollup), with `moment` first.
        status: /proc/PID/status, with `moment` first; see `tables.status.STATUS`.
        cgroup: The control group's memory files, with `moment` first; see `tables.cgroup.CGROUP`.
        limits: /proc/PID/limits, with `moment` first; see `tables.limits.LIMITS`.
        goroutines: Goroutines by stack, from goroutine profiles; see `GOROUTINES`.
        size_classes: BySize of the MemStats dumps, with `moment` first.
        gc: The collector's log, if there is one.
        profiles: Profiles by moment, then by kind (`heap`, `allocs`, `goroutine`, …).
        bench: Benchmark files by path.
        escapes: The compiler's escape analysis, by path.
        damaged: Everything that could not be read.
        unrecognised: Of its sources, the files that are of no kind gomem knows.
        go_version: The release that made it, as far as known.
    """

    name: str
    moments: pd.DataFrame
    artefacts: pd.DataFrame
    memstats: pd.DataFrame
    metrics: pd.DataFrame
    smaps: pd.DataFrame
    rollups: pd.DataFrame
    status: pd.DataFrame
    cgroup: pd.DataFrame
    limits: pd.DataFrame
    goroutines: pd.DataFrame
    size_classes: pd.DataFrame
    gc: GcLog | None
    profiles: Mapping[str, Mapping[str, Profile]]
    bench: Mapping[str, Bench]
    escapes: Mapping[str, EscapeAnalysis]
    damaged: tuple[Damage, ...]
    unrecognised: frozenset[str]
    go_version: GoVersion

    @property
    def damage(self) -> pd.DataFrame:
        """What could not be read: source, where, what, text."""
        return damage_table(self.damaged)

    @property
    def heap_profiles(self) -> dict[str, Profile]:
        """Each moment's heap profile, or its allocs profile, which holds the same."""
        found = {
            moment: profiles.get("heap") or profiles.get("allocs")
            for moment, profiles in self.profiles.items()
        }
        return {moment: profile for moment, profile in found.items() if profile is not None}

    def _repr_html_(self) -> str:
        kinds = self.artefacts["kind"].value_counts().to_frame("files")
        head = f"<p>{len(self.moments)} moments, {self.go_version}, {len(self.damaged)} damaged</p>"
        return head + self.moments.to_html(escape=True) + kinds.to_html(escape=True)


@dataclass
class _Gathering:
    """What is known while a capture is put together."""

    damage: list[Damage] = field(default_factory=list)
    artefacts: list[Artefact] = field(default_factory=list)
    passed_over: list[Source] = field(default_factory=list)
    unrecognised: set[str] = field(default_factory=set)


def load(
    *paths: str | PathLike[str],
    go_version: str | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> Capture:
    """Load a capture: a folder, an archive, or loose files that belong together.

    Args:
        paths: One folder or archive, or any number of files.
        go_version: The release, such as `go1.24.2`, where the capture does not name it.
        progress: Called with each file's name, its number and how many there are.

    Raises:
        CaptureError: There is nothing at a path, or nothing in it that gomem can read.
    """
    if not paths:
        raise CaptureError("no capture named; wanted a folder, an archive or files")
    gathering = _Gathering()
    sources = _open_all(paths, gathering, progress)
    manifest = _manifest(sources, gathering)
    _read_all(sources, gathering, progress)
    if not gathering.artefacts:
        raise CaptureError(_nothing_readable(str(paths[0]), gathering))
    present = {artefact.source.name for artefact in gathering.artefacts}
    present |= {source.name for source in gathering.passed_over}
    gathering.artefacts, wrong = place(gathering.artefacts, manifest, present)
    gathering.damage += wrong
    return _assemble(str(paths[0]), gathering, _version(go_version, manifest, gathering))


def _open_all(
    paths: Sequence[str | PathLike[str]],
    gathering: _Gathering,
    progress: Callable[[str, int, int], None] | None,
) -> list[Source]:
    bounds = Bounds()
    listings = [list_capture(path, bounds) for path in paths]
    entries = [entry for listing in listings for entry in listing.entries]
    if len(paths) > 1:
        entries = _named_apart(entries, paths)
    for listing in listings:
        gathering.damage += listing.damage
    sources = []
    for number, entry in enumerate(entries, start=1):
        if progress is not None:
            progress(entry.name, number, len(entries))
        sources.append(_open(entry))
    return sources


def _open(entry: Entry) -> Source:
    """The file, read whole; of a long GC log its beginning: the rest is read piece by piece."""
    long = long_source(entry)
    if long is not None and kind_of(long.data, entry.name) == "gctrace":
        return long
    return entry.open()


def _named_apart(entries: Sequence[Entry], paths: Sequence[str | PathLike[str]]) -> list[Entry]:
    """Loose files by their paths below the folder they share: `1/smaps` and `2/smaps`."""
    if len(entries) != len(paths):
        raise CaptureError("several captures named as one; wanted one folder or archive, or files")
    full = [Path(path).absolute() for path in paths]
    if len(set(full)) < len(full):
        raise CaptureError(f"a file is named twice among {', '.join(map(str, paths))}")
    shared = os.path.commonpath([path.parent for path in full])
    return [
        replace(entry, name=path.relative_to(shared).as_posix())
        for entry, path in zip(entries, full, strict=True)
    ]


def _manifest(sources: Sequence[Source], gathering: _Gathering) -> dict[str, Any]:
    """The manifest that `gomem capture` wrote, or nothing."""
    for source in sources:
        if PurePosixPath(source.name).name == MANIFEST and kind_of(source.data) == "manifest":
            values, damage = json_values(source.data, source.name)
            gathering.damage += damage
            return values[0][1]
        if PurePosixPath(source.name).name == MANIFEST:
            what = "not a manifest of gomem's; moments are found from folders and names instead"
            gathering.damage.append(Damage(source.name, "", what))
    return {}


def _read_all(
    sources: Iterable[Source],
    gathering: _Gathering,
    progress: Callable[[str, int, int], None] | None,
) -> None:
    for source in sources:
        kind = kind_of(source.data, source.name)
        if PurePosixPath(source.name).name == MANIFEST:
            continue
        gathering.damage += source.damage
        if kind is None:
            gathering.passed_over.append(source)
            if not source.damage:
                gathering.damage.append(not_an_artefact(source.data, source.name))
                gathering.unrecognised |= {source.name} if source.data else set()
            continue
        try:
            if isinstance(source, LongSource):
                parsed, damage = _read_long(source, progress)
            else:
                parsed, damage = _READERS[kind](replace(source, damage=()))
        except FormatError as error:
            gathering.passed_over.append(source)
            gathering.damage.append(error.damage)
            continue
        gathering.damage += damage
        time, time_source = time_of(source, parsed)
        gathering.artefacts.append(Artefact(source, kind, "", time, time_source, parsed))


def _read_long(
    source: LongSource, progress: Callable[[str, int, int], None] | None
) -> tuple[GcLog, Sequence[Damage]]:
    def advance(done: int, total: int | None) -> None:
        if progress is not None and total is not None:
            progress(f"{source.name} (MiB)", done // MIB, total // MIB)

    log = read_gctrace(source, progress=advance)
    return log, log.damaged


def _with_damage(read: Callable[[Any], Any]) -> Callable[[Source], tuple[Any, Sequence[Damage]]]:
    def reader(source: Source) -> tuple[Any, Sequence[Damage]]:
        parsed = read(source)
        if isinstance(parsed, pd.DataFrame):
            return parsed, parsed.attrs.pop("damage", ())
        return parsed, parsed.damaged

    return reader


_READERS: dict[str, Callable[[Source], tuple[Any, Sequence[Damage]]]] = {
    "cgroup": _with_damage(read_cgroup),
    "escapes": _with_damage(read_escapes),
    "gctrace": _with_damage(read_gctrace),
    "gobench": _with_damage(read_bench),
    "heap_text": _with_damage(read_pprof),
    "limits": _with_damage(read_limits),
    "maps": _with_damage(read_smaps),
    "memstats": _with_damage(read_memstats),
    "metrics": _with_damage(read_metrics),
    "pprof": _with_damage(read_pprof),
    "smaps": _with_damage(read_smaps),
    "smaps_rollup": _with_damage(read_smaps),
    "statm": _with_damage(read_status),
    "status": _with_damage(read_status),
}


def _version(given: str | None, manifest: dict[str, Any], gathering: _Gathering) -> GoVersion:
    if given is not None:
        version = known_version(given, "--go-version")
        if version is None:
            raise CaptureError(f"{given}: not a Go release; wanted the form go1.24.2")
        return version
    version = known_version(str(manifest.get("go_version", "")), f"{MANIFEST} go_version")
    if version is not None:
        return version
    for artefact in gathering.artefacts:
        text = getattr(artefact.parsed, "go_version", None)
        if isinstance(text, str):
            version = known_version(text, f"a path in {artefact.source.name}")
            if version is not None:
                return version
    ranges = [a.parsed.go_version_range for a in gathering.artefacts if a.kind == "gctrace"]
    return ranges[0] if ranges else GoVersion()


def _nothing_readable(name: str, gathering: _Gathering) -> str:
    if not gathering.passed_over:
        return f"{name}: nothing in it; wanted at least one artefact, such as a heap profile"
    reasons = "; ".join(str(damage) for damage in gathering.damage[:3])
    more = len(gathering.damage) - 3
    return f"{name}: nothing that gomem can read: {reasons}" + (
        f"; and {more} more" if more > 0 else ""
    )


def _assemble(name: str, gathering: _Gathering, version: GoVersion) -> Capture:
    artefacts = gathering.artefacts
    moments = _moments_table(artefacts)
    order = list(moments["moment"])
    placed = sorted(
        (a for a in artefacts if a.moment), key=lambda artefact: order.index(artefact.moment)
    )
    mapped = [a for a in placed if a.kind == "smaps"]
    with_smaps = {a.moment for a in mapped}
    mapped += [a for a in placed if a.kind == "maps" and a.moment not in with_smaps]
    logs = [a.parsed for a in artefacts if a.kind == "gctrace"]
    profiles = _profiles(placed)
    dumps = _dumps(placed)
    return Capture(
        name=name,
        moments=moments,
        artefacts=_artefacts_table(artefacts, gathering.passed_over),
        memstats=_stack(dumps, None, lambda parsed: parsed.stats, STATS),
        metrics=_stack(placed, "metrics", lambda parsed: parsed.values, VALUES),
        smaps=_stack(mapped, None, lambda parsed: parsed.mappings, MAPPINGS),
        rollups=_stack(placed, "smaps_rollup", lambda parsed: parsed.mappings, MAPPINGS),
        status=_stack(placed, "status", lambda parsed: parsed, STATUS),
        cgroup=_stack(placed, "cgroup", lambda parsed: parsed, CGROUP),
        limits=_stack(placed, "limits", lambda parsed: parsed, LIMITS),
        goroutines=_goroutines(profiles),
        size_classes=_stack(dumps, None, lambda parsed: parsed.size_classes, SIZE_CLASSES),
        gc=_join_logs(logs),
        profiles=profiles,
        bench={a.source.name: a.parsed for a in artefacts if a.kind == "gobench"},
        escapes={a.source.name: a.parsed for a in artefacts if a.kind == "escapes"},
        damaged=tuple(gathering.damage),
        unrecognised=frozenset(gathering.unrecognised),
        go_version=version,
    )


def _dumps(placed: Sequence[Artefact]) -> list[Artefact]:
    """MemStats of each moment: its own artefact, or else the end of a heap profile in text."""
    dumps = [a for a in placed if a.kind == "memstats"]
    have = {a.moment for a in dumps}
    ends = [a for a in placed if a.kind == "heap_text" and a.moment not in have]
    return dumps + [replace(a, parsed=a.parsed.memstats) for a in ends if a.parsed.memstats]


def _profiles(placed: Sequence[Artefact]) -> dict[str, dict[str, Profile]]:
    profiles: dict[str, dict[str, Profile]] = {}
    for artefact in placed:
        if artefact.kind in {"pprof", "heap_text"}:
            profiles.setdefault(artefact.moment, {}).setdefault(
                artefact.parsed.kind, artefact.parsed
            )
    return profiles


def _moments_table(artefacts: Sequence[Artefact]) -> pd.DataFrame:
    groups: dict[str, list[Artefact]] = {}
    for artefact in artefacts:
        if artefact.moment:
            groups.setdefault(artefact.moment, []).append(artefact)
    rows = [(name, *_when(group), len(group)) for name, group in groups.items()]
    trusted = all(
        all(a.time_source in {"manifest", "name"} for a in group) for group in groups.values()
    )
    if trusted:
        rows.sort(key=lambda row: row[1])
    else:
        rows.sort(key=lambda row: natural_key(row[0]))
    names = [column.name for column in MOMENTS]
    columns = zip(*rows, strict=True) if rows else ([] for _ in names)
    return build(dict(zip(names, map(list, columns), strict=True)), MOMENTS)


def _when(group: Sequence[Artefact]) -> tuple[Any, float | None]:
    """The earliest time of a moment's artefacts, and how far they lie apart.

    File times are left aside as soon as there are better ones: a copy changes them.
    """
    better = [a.time for a in group if a.time is not None and a.time_source != "file"]
    times = better or [a.time for a in group if a.time is not None]
    if not times:
        return pd.NaT, None
    return min(times), (max(times) - min(times)).total_seconds()


def _artefacts_table(artefacts: Sequence[Artefact], passed_over: Sequence[Source]) -> pd.DataFrame:
    rows = [
        (
            a.source.name,
            a.kind,
            a.moment,
            a.source.stored_bytes,
            a.source.sha256,
            a.time,
            a.time_source,
        )
        for a in artefacts
    ]
    rows += [(s.name, "", "", s.stored_bytes, s.sha256, None, "") for s in passed_over]
    rows.sort(key=lambda row: natural_key(row[0]))
    names = [column.name for column in ARTEFACTS]
    return build(dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)), ARTEFACTS)


def _stack(
    placed: Sequence[Artefact],
    kind: str | None,
    frame_of: Callable[[Any], pd.DataFrame],
    schema: tuple[Column, ...],
) -> pd.DataFrame:
    """The frames of all artefacts of a kind under one another, with moment and path."""
    frames = []
    for artefact in placed:
        if kind is None or artefact.kind == kind:
            frame = frame_of(artefact.parsed)
            frames.append(frame.assign(moment=artefact.moment, artefact=artefact.source.name))
    if not frames:
        return empty((MOMENT, *schema, SOURCE))
    stacked = pd.concat(frames, ignore_index=True)
    first = [MOMENT.name]
    return stacked[first + [name for name in stacked.columns if name not in first]]


def _goroutines(profiles: Mapping[str, Mapping[str, Profile]]) -> pd.DataFrame:
    frames = [
        _goroutines_of(by_kind["goroutine"]).assign(moment=moment)
        for moment, by_kind in profiles.items()
        if "goroutine" in by_kind
    ]
    if not frames:
        return empty(GOROUTINES)
    return pd.concat(frames, ignore_index=True)[[column.name for column in GOROUTINES]]


def _goroutines_of(profile: Profile) -> pd.DataFrame:
    """A row per stack: how many goroutines, the function they are in, and the stack."""
    frames = profile.stacks.sort_values(["sample", "depth"]).astype({"function": "str"})
    functions = frames.groupby("sample")["function"]
    own = frames[~frames["function"].str.startswith("runtime.")].groupby("sample")["function"]
    counts = profile.samples.iloc[:, 0]
    return pd.DataFrame(
        {
            "goroutines": counts,
            "function": own.first().reindex(counts.index).fillna(functions.first()).fillna(""),
            "stack": functions.agg(";".join).reindex(counts.index).fillna(""),
        }
    )


def _join_logs(logs: Sequence[GcLog]) -> GcLog | None:
    """One log of all: a second file is a run of its own."""
    if not logs:
        return None
    first, *others = logs
    return first.joined(others) if others else first
