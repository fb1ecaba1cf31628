"""Which snapshots are of the last process? A restart, or another build, makes changes meaningless.

A process keeps its PID, its program's file and build ID, and the address of its [vdso], and its
counters never fall. Two snapshots with the same number of collections have the same last
collection.

A capture whose folders `before` and `after` are of two processes is two captures.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pandas as pd

from gomem.analysis.profiles.published import BUILD_ID, VDSO, are_apart, marks_of
from gomem.capture.place import AFTER, BEFORE, place_of_word

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gomem.capture.capture import Capture
    from gomem.facts.capture import CaptureFacts
    from gomem.facts.moment import MomentFacts
    from gomem.inputs.pprof.table import Profile

BINARY = "binary"  # a kind of mapping
PROGRAM = "program"  # its file, by device and inode
BUILD = {BUILD_ID, PROGRAM}  # marks that another build changes, and a restart does not
COUNTERS = ("NumGC", "TotalAlloc", "Mallocs", "PauseTotalNs")
LAST_GC = "LastGC"
ROUNDING = 0.99  # a log can print a counter rounded up
NEAR = pd.Timedelta("10ms")  # a page of metrics rounds times


def of_last_process(
    moments: Sequence[MomentFacts], profiles: Mapping[str, Profile]
) -> Sequence[MomentFacts]:
    """Return the snapshots since the process last changed, as far as their files show it."""
    began, counters = 0, None
    marks: dict[str, object] = {}
    for place, moment in enumerate(moments):
        known, found = _counters(moment), _marks(moment, profiles.get(moment.name))
        fell = known is not None and counters is not None and _fell(counters, known)
        if fell or are_apart(marks, found):
            began, counters, marks = place, None, {}
        marks |= found
        counters = counters if known is None else known
    return moments[began:]


def told_apart_by(facts: CaptureFacts) -> set[str]:
    """Return the marks that changed with the last process; empty if only counters show it."""
    earlier, last = facts.of_earlier_processes, facts.of_last_process
    if not earlier:
        return set()
    profiles = facts.capture.heap_profiles
    before, after = (_marks(m, profiles.get(m.name)) for m in (earlier[-1], last[0]))
    return {name for name in before.keys() & after.keys() if before[name] != after[name]}


def _marks(moment: MomentFacts, profile: Profile | None) -> dict[str, object]:
    """What stays as long as a process lives, by a snapshot's files."""
    marks: dict[str, object] = {} if profile is None else marks_of(profile)
    if moment.pid is not None:
        marks["PID"] = moment.pid
    if moment.mappings is not None:
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
    named for before and after, or the two are builds of a program.
    """
    capture, of_earlier = facts.capture, [moment.name for moment in facts.of_earlier_processes]
    folders = {name.partition("/")[0] for name in capture.by_moment}
    if len(folders) != 2 or not of_earlier:
        return None
    early, late = (
        {m.name.partition("/")[0] for m in moments}
        for moments in (facts.of_earlier_processes, facts.of_last_process)
    )
    places = [place_of_word(folder) for folder in (*early, *late)]
    is_in_order = places == [BEFORE, AFTER] or bool(BUILD & told_apart_by(facts))
    if len(early) != 1 or len(late) != 1 or early == late or not is_in_order:
        return None
    return _part(capture, *early), _part(capture, *late)


def _part(capture: Capture, folder: str) -> Capture:
    """The capture of one folder; paths stay those of the whole."""

    def is_in(path: str) -> bool:
        return path == folder or path.startswith(f"{folder}/")

    return replace(
        capture,
        name=f"{capture.name}/{folder}",
        by_moment={name: known for name, known in capture.by_moment.items() if is_in(name)},
        files=tuple(file for file in capture.files if is_in(file.source.name)),
        passed_over=tuple(source for source in capture.passed_over if is_in(source.name)),
        damaged=tuple(damage for damage in capture.damaged if is_in(damage.source)),
        looks={path: look for path, look in capture.looks.items() if is_in(path)},
        unread_evidence=tuple(path for path in capture.unread_evidence if is_in(path)),
    )
