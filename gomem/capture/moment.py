"""A file of a capture, and a snapshot: the files of one time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import pandas as pd

from gomem.capture.clock import BY_NAME, CLOCK_WITHOUT_DATE, EXACT, MANIFEST_TIME, OWN_CLOCK
from gomem.errors import did_you_mean
from gomem.inputs.kinds import Kind, capture_frames, slot_of
from gomem.inputs.schema import TEXT, Column, Dictionary, build, dictionary_of, empty, texts
from gomem.text import File, Function, MomentName, Words

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from gomem.inputs.pprof.table import Profile
    from gomem.sources.artefact import Source

SOURCE = Column("artefact", "str", "", "Path of the artefact inside the capture.", File)
MOMENT = Column(
    "moment", "str", "", "The moment; empty for what belongs to the whole capture.", MomentName
)
GOROUTINES = (
    MOMENT,
    Column("goroutines", "int64", "count", "Goroutines with this stack."),
    Column(
        "function",
        *TEXT,
        "The innermost function outside the runtime; empty without a stack.",
        Function,
    ),
    Column("stack", "str", "", "Function names, innermost first, joined by `;`.", Function),
    Column(
        "state", "str", "", "What they wait for; missing from a profile, which does not say.", Words
    ),
    Column("wait_seconds", "float64", "s", "Waiting time, in full minutes; missing below 1 min."),
    Column(
        "created_by", "str", "", "The function that started them; missing from a profile.", Function
    ),
)
FRAMES = capture_frames()
MEMSTATS, CGROUP = "memstats", "cgroup"
GOROUTINE_PROFILE, GOROUTINE_DUMP, METRICS = "goroutine", "goroutines", "metrics"
PROFILES, PRINTED = frozenset({"pprof", "heap_text", "count_text"}), frozenset({"pprof_text"})


@dataclass(frozen=True)
class Artefact:
    """A file of a capture, with its snapshot and time."""

    source: Source  # its bytes and its name
    kind: Kind  # its kind
    moment: str  # its moment; empty if it belongs to the whole capture
    time: datetime | None  # when it was taken; None if unknown
    time_source: str  # the source of the time: manifest, name, its own clock, file
    parsed: Any  # the parsed content
    # whether it is assigned to the last moment only because its name has no moment
    is_of_last: bool = False

    def __repr__(self) -> str:
        return f"<Artefact {self.source.name}: {self.kind.name}>"

    @property
    def exact_time(self) -> datetime | None:
        """The file's time; None unless its clock is good enough to compute differences."""
        return self.time if self.time_source in EXACT else None


@dataclass(frozen=True)
class Moment:
    """A snapshot: the artefacts of one time, with the same frames as a capture.

    The frames `memstats`, `metrics`, `process`, `smaps`, `rollups`, `status`, `statm`, `cgroup`,
    `limits`, `goroutine_stacks`, `pauses` and `size_classes` are those of `gomem.inputs.kinds`.
    Each has the column `moment` first and `artefact` last, and no rows if the snapshot has no such
    artefact.

    Attributes:
        name: The snapshot's name.
        artefacts: The snapshot's files, in the order of the capture.
        collections: Collections that ended while the kernel's files were read; None if the manifest
            does not have the count.
    """

    name: str
    artefacts: tuple[Artefact, ...]
    collections: int | None = None

    def __getattr__(self, name: str) -> pd.DataFrame:
        if name not in FRAMES:
            near = did_you_mean(name, [*FRAMES, *dir(self)])
            raise AttributeError(f"a moment has no {name}; it has {', '.join(FRAMES)}{near}")
        frame = self._stacked(name)
        self.__dict__[name] = frame
        return frame

    def _stacked(self, name: str) -> pd.DataFrame:
        """The frame of the first kind of artefact that has it; of MemStats, of the fullest one.

        Of a cgroup, those of all kinds: an OOM report can have the usage, memory.stat its parts.
        """
        found: list[pd.DataFrame] = []
        for kind, own in FRAMES[name]:
            frames = [
                _placed(frame, self.name, file.source.name)
                for file in self.artefacts
                if file.kind is kind and (frame := _part(file.parsed, own)) is not None
            ]
            if frames:
                found.append(
                    frames[0] if len(frames) == 1 else pd.concat(frames, ignore_index=True)
                )
                if name not in {MEMSTATS, CGROUP}:
                    return found[0]
        known = [frame for frame in found if len(frame)]
        if name == CGROUP and known:
            return known[0] if len(known) == 1 else pd.concat(known, ignore_index=True)
        # A log with some fields does not displace the file that has all of them.
        return max(found, key=_known_columns, default=empty_frame(name))

    @property
    def times(self) -> list[datetime]:
        """The times of the artefacts, all by the best clock that any of the artefacts has.

        The best clock is the manifest's, then a time in the name, then the artefact's own clock.
        The mtime of a file does not count.
        """
        for clock in (MANIFEST_TIME, BY_NAME, OWN_CLOCK, CLOCK_WITHOUT_DATE):
            times = [
                file.time for file in self.artefacts if file.time_source == clock and file.time
            ]
            if times:
                return times
        return []

    @property
    def time(self) -> datetime | None:
        """The earliest time of the artefacts; None if unknown."""
        return min(self.times, default=None)

    @property
    def assumed(self) -> tuple[str, ...]:
        """Files whose names have no snapshot, and that are therefore assigned to this last one."""
        return tuple(file.source.name for file in self.artefacts if file.is_of_last)

    @property
    def not_before(self) -> datetime | None:
        """The end of the last collection in MemStats; the snapshot was taken then or later."""
        ends = self.memstats["LastGC"].dropna()
        return None if ends.empty else ends.max().to_pydatetime(warn=False)

    @property
    def allocated_bytes(self) -> int:
        """Bytes allocated since the process started, according to MemStats; 0 if unknown."""
        total = self.memstats["TotalAlloc"].max()
        return 0 if pd.isna(total) else int(total)

    @property
    def skew_seconds(self) -> float | None:
        """Seconds from the first artefact to the last; None if fewer than two have a clock."""
        times = [file.exact_time for file in self.artefacts if file.exact_time is not None]
        return (max(times) - min(times)).total_seconds() if len(times) > 1 else None

    @cached_property
    def profiles(self) -> Mapping[str, Profile]:
        """The first profile of each kind: `heap`, `allocs`, `goroutine` and so on.

        A printed profile is used only if there is no other profile of its kind.
        """
        found: dict[str, Profile] = {}
        for kinds in (PROFILES, PRINTED):
            for file in self.artefacts:
                if file.kind.name in kinds:
                    found.setdefault(file.parsed.kind, file.parsed)
        return found

    @property
    def heap_profile(self) -> Profile | None:
        """The heap profile, or the allocs profile, which has the same data."""
        found = [self.profiles[kind] for kind in ("heap", "allocs") if kind in self.profiles]
        return min(found, key=lambda profile: profile.printed is not None, default=None)

    @cached_property
    def goroutines(self) -> pd.DataFrame:
        """Goroutines by stack, from stacks in text, else from a profile; see `GOROUTINES`.

        Stacks in text have wait reasons. But with very many goroutines the text is cut off; then a
        profile is used.
        """
        dump, profile = self._goroutine_dump, self.profiles.get(GOROUTINE_PROFILE)
        if profile is not None and not profile.has_stacks:
            profile = None  # a table does not have each goroutine's location
        if dump is None and profile is None:
            return empty(GOROUTINES)
        if dump is not None:
            rows = self.goroutine_stacks
            frame = rows[(rows["artefact"] == dump.source.name) & ~rows["of_the_runtime"]]
            return frame[[column.name for column in GOROUTINES]].reset_index(drop=True)
        assert profile is not None
        counted = goroutines_of(profile).assign(moment=self.name)
        return build({name: counted[name] for name in counted}, GOROUTINES)

    @property
    def goroutine_count(self) -> int | None:
        """The number of goroutines; if `goroutines` is from an excerpt, it shows fewer.

        None if no artefact counts goroutines.
        """
        profile = self.profiles.get(GOROUTINE_PROFILE)
        counted = None if profile is None else profile.header_total
        if self.goroutines.empty:
            dumps = (file.parsed for file in self.artefacts if file.kind.name == MEMSTATS)
            beside = [count for dump in dumps for count in dump.goroutines]
            return counted or next(reversed(beside), None)
        shown = int(self.goroutines["goroutines"].sum())
        return shown if counted is None or self._goroutine_dump is not None else max(shown, counted)

    @property
    def _goroutine_dump(self) -> Artefact | None:
        """The most complete stacks in text; incomplete ones only without a count from a profile."""
        dumps = [file for file in self.artefacts if file.kind.name == GOROUTINE_DUMP]
        whole = [dump for dump in dumps if not dump.parsed.damaged]
        usable = whole if GOROUTINE_PROFILE in self.profiles else whole or dumps
        return next(iter(usable), None)

    @cached_property
    def paths(self) -> Mapping[str, str]:
        """The path of the first file of each kind; for profiles, the kind is `heap` and so on.

        For runtime/metrics, `metrics` is the JSON file if there is one, and `metrics-page` the
        page.
        """
        found = {file.kind.name: file.source.name for file in reversed(self.artefacts)}
        found |= {
            slot_of(file.kind, file.source.name, file.parsed): file.source.name
            for file in reversed(self.artefacts)
            if file.kind.name == METRICS
        }
        found |= {kind: profile.source for kind, profile in self.profiles.items()}
        dump = self._goroutine_dump
        return found if dump is None else found | {GOROUTINE_PROFILE: dump.source.name}

    def time_of(self, *kinds: str) -> pd.Timestamp | None:
        """Return the time of the first artefact of these kinds; its clock allows subtraction.

        None if no such artefact has a time.
        """
        for kind in kinds:
            of_kind = [
                file for file in self.artefacts if file.kind.name == kind and file.exact_time
            ]
            best = [file for file in of_kind if file.source.name == self.paths.get(kind)]
            for file in (*best, *of_kind):
                return pd.Timestamp(file.exact_time)
        return None

    def _repr_html_(self) -> str:
        rows = [(file.source.name, file.kind.name) for file in self.artefacts]
        files = pd.DataFrame(rows, columns=["file", "kind"])
        return f"<p>{len(files)} artefacts</p>{files.to_html(escape=True, index=False)}"

    def __repr__(self) -> str:
        kinds = ", ".join(dict.fromkeys(file.kind.name for file in self.artefacts))
        return f"<Moment {self.name}: {kinds}>"


@cache
def empty_frame(name: str) -> pd.DataFrame:
    """Return an empty frame of a capture, with the columns and types of a full one."""
    kind, own = FRAMES[name][0]
    return empty((MOMENT, *kind.schema(own), SOURCE))


def _placed(frame: pd.DataFrame, moment: str, artefact: str) -> pd.DataFrame:
    """Add the snapshot before a frame's columns, and the artefact after them."""
    placed = frame.copy(deep=False)
    placed.insert(0, MOMENT.name, texts([moment] * len(frame)))
    placed[SOURCE.name] = texts([artefact] * len(frame))
    placed.attrs["columns"] = with_place(frame.attrs.get("columns", Dictionary()))
    return placed


def with_place(told: Dictionary) -> Dictionary:
    """Return a frame's dictionary with the columns `moment` and `artefact` added."""
    return Dictionary({**told, **dictionary_of((MOMENT, SOURCE))})


def _known_columns(frame: pd.DataFrame) -> int:
    """How many columns have a value in the last row."""
    return int(frame.iloc[-1].notna().sum()) if len(frame) else 0


def _part(parsed: Any, dotted: str) -> pd.DataFrame | None:
    """Return a frame of parsed content, such as `memstats.stats`; None if it does not exist."""
    first, _, rest = dotted.partition(".")
    inner = attrgetter(first)(parsed)
    return inner if inner is None or not rest else _part(inner, rest)


def goroutines_of(profile: Profile) -> pd.DataFrame:
    """Return a row per stack: the number of goroutines, the current function, and the stack."""
    frames = profile.stacks.dropna(subset=["function"]).sort_values(["sample", "depth"])
    frames = frames.astype({"function": "str"})
    functions = frames.groupby("sample")["function"]
    own = frames[~frames["function"].str.startswith("runtime.")].groupby("sample")["function"]
    counts = profile.samples.iloc[:, 0]
    function = own.first().reindex(counts.index).fillna(functions.first()).fillna("")
    stack = functions.agg(";".join).reindex(counts.index).fillna("")
    return pd.DataFrame({"goroutines": counts, "function": function, "stack": stack})
