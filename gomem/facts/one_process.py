"""Which snapshots are of the last process? A restart, or another build, makes changes meaningless.

A process keeps its PID, its program's file and build ID, and the address of its [vdso], and its
counters never fall. Two snapshots with the same number of collections have the same last
collection.

A capture whose folders `before` and `after` are of two processes is two captures.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pandas as pd

from gomem.analysis.profiles.published import (
    BUILD_ID,
    FILE,
    RELEASE,
    VDSO,
    are_apart,
    marks_of,
)
from gomem.capture.place import AFTER, BEFORE, place_of_word
from gomem.capture.release import release_of
from gomem.sources.names import natural_key

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gomem.capture.capture import Capture
    from gomem.facts.capture import CaptureFacts
    from gomem.facts.moment import MomentFacts
    from gomem.inputs.pprof.table import Profile

BINARY = "binary"  # a kind of mapping
PROGRAM = "program"  # its file, by device and inode
BUILD = {BUILD_ID, FILE, PROGRAM, RELEASE}  # marks that a restart does not change
_RELEASE = re.compile(r"(v|version|rel|release|build|go)[-_. ]?([0-9][\w.]*)", re.IGNORECASE)
COUNTERS = ("NumGC", "TotalAlloc", "Mallocs", "PauseTotalNs")
LAST_GC = "LastGC"
ROUNDING = 0.99  # a log can print a counter rounded up
NEAR = pd.Timedelta("10ms")  # a page of metrics rounds times

_Shown = tuple["pd.Series | None", dict[str, object]]  # counters and marks of a snapshot


def of_last_process(
    moments: Sequence[MomentFacts], profiles: Mapping[str, Profile]
) -> Sequence[MomentFacts]:
    """Return the snapshots of the process of the last one, as far as their files show it.

    Processes follow each other. But if one would begin within a folder, and the snapshots of that
    folder alone are of one process, two processes were recorded side by side in their folders.
    """
    shown = [_shown(moment, profiles.get(moment.name)) for moment in moments]
    began = _begin_of_last(shown)
    if not began:
        return moments
    last = _folder(moments[-1].name)
    beside = [place for place, moment in enumerate(moments) if _folder(moment.name) == last]
    if beside[0] >= began or _begin_of_last([shown[place] for place in beside]):
        return moments[began:]
    return [moments[place] for place in beside]


def _shown(moment: MomentFacts, profile: Profile | None) -> _Shown:
    return _counters(moment), _marks(moment, profile)


def _begin_of_last(shown: Sequence[_Shown]) -> int:
    """The place of the first snapshot of the last process, if one process follows another."""
    began, counters = 0, None
    marks: dict[str, object] = {}
    for place, (known, found) in enumerate(shown):
        fell = known is not None and counters is not None and _fell(counters, known)
        if fell or are_apart(marks, found):
            began, counters, marks = place, None, {}
        marks |= found
        counters = counters if known is None else known
    return began


def told_apart_by(facts: CaptureFacts) -> set[str]:
    """Return the marks that changed with the last process; empty if only counters show it."""
    profiles, moments = facts.capture.heap_profiles, facts.by_moment
    before, after = (
        dict(
            mark for name in names for mark in _marks(moments.get(name), profiles.get(name)).items()
        )
        for names in _processes(facts)
    )
    return {name for name in before.keys() & after.keys() if before[name] != after[name]}


def _processes(facts: CaptureFacts) -> tuple[list[str], list[str]]:
    """The snapshots of earlier processes and of the last; by heap profiles if only these exist."""
    if facts.moments:
        parts = facts.of_earlier_processes, facts.of_last_process
        earlier, last = ([moment.name for moment in part] for part in parts)
    else:
        last = [*facts.profiles.of_last_process]
        earlier = [name for name in facts.capture.heap_profiles if name not in last]
    return earlier, last


def _marks(moment: MomentFacts | None, profile: Profile | None) -> dict[str, object]:
    """What stays as long as a process lives, by a snapshot's files."""
    marks: dict[str, object] = {} if profile is None else marks_of(profile)
    if moment is not None and moment.pid is not None:
        marks["PID"] = moment.pid
    if moment is not None and moment.mappings is not None:
        marks |= _marks_of_mappings(moment.mappings)
    return marks


def _marks_of_mappings(mappings: pd.DataFrame) -> dict[str, object]:
    """The address of the [vdso], and the program's file by device and inode."""
    marks: dict[str, object] = {}
    mappings = mappings.reindex(columns=["path", "kind", "start", "device", "inode"])
    vdso = mappings.loc[mappings["path"] == VDSO, "start"]
    program = mappings.loc[(mappings["kind"] == BINARY) & (mappings["inode"] > 0)]
    if len(vdso):
        marks[VDSO] = int(vdso.iloc[0])
    if len(program):
        marks[PROGRAM] = tuple(program[["device", "inode"]].iloc[0])
    return marks


def _counters(moment: MomentFacts) -> pd.Series | None:
    stats = moment.any_memstats
    return None if stats is None else stats.reindex([*COUNTERS, LAST_GC])


def _fell(before: pd.Series, after: pd.Series) -> bool:
    """Whether a counter fell, or a collection has two times; missing values say nothing."""
    both = [name for name in COUNTERS if pd.notna(before[name]) and pd.notna(after[name])]
    if any(after[name] < ROUNDING * before[name] for name in both):
        return True
    ends = before[LAST_GC], after[LAST_GC]
    is_same = "NumGC" in both and before["NumGC"] == after["NumGC"] > 0
    return bool(is_same and not any(map(pd.isna, ends)) and abs(ends[1] - ends[0]) > NEAR)


def halves(facts: CaptureFacts) -> tuple[Capture, Capture] | None:
    """Return the captures of the folders for before and after; None if there are no two.

    One folder has all snapshots of earlier processes, the other all of the last. The folders are
    named for before and after or for releases, or the two are builds of a program.
    """
    early, late = ({_folder(name) for name in names} for names in _processes(facts))
    folders = {_folder(name) for name in facts.capture.by_moment}
    if len(folders) != 2 or (len(early), len(late)) != (1, 1) or early == late:
        return None
    in_time = [*early, *late]
    in_order = _by_names(*in_time)
    if BUILD & told_apart_by(facts):
        in_order = in_order or in_time
    if not in_order:
        return None
    before, after = (_part(facts.capture, folder) for folder in in_order)
    return before, after


def _by_names(*folders: str) -> list[str]:
    """Sort two folders by their names; empty if these are for nothing that has an order.

    Two processes can run side by side, so their names count for more than the clock.
    """
    places = [place_of_word(folder) for folder in folders]
    if sorted(place for place in places if place is not None) == [BEFORE, AFTER]:
        return sorted(folders, key=lambda folder: place_of_word(folder) or 0)
    releases = [_RELEASE.fullmatch(folder) for folder in folders]
    words = {None if release is None else release[1] for release in releases}
    return sorted(folders, key=natural_key) if len(words) == 1 and None not in words else []


def _folder(name: str) -> str:
    return name.partition("/")[0]


def _part(capture: Capture, folder: str) -> Capture:
    """The capture of one folder; paths stay those of the whole."""

    def is_in(path: str) -> bool:
        return path == folder or path.startswith(f"{folder}/")

    files = tuple(file for file in capture.files if is_in(file.source.name))
    said = release_of(None, capture.manifest, capture.files)
    if said == capture.go_version:  # the user does not give it
        said = release_of(None, capture.manifest, files)
    return replace(
        capture,
        name=f"{capture.name}/{folder}",
        go_version=capture.go_version if said.exact is None else said,
        by_moment={name: known for name, known in capture.by_moment.items() if is_in(name)},
        files=files,
        passed_over=tuple(source for source in capture.passed_over if is_in(source.name)),
        damaged=tuple(damage for damage in capture.damaged if is_in(damage.source)),
        looks={path: look for path, look in capture.looks.items() if is_in(path)},
        unread_evidence=tuple(path for path in capture.unread_evidence if is_in(path)),
    )
