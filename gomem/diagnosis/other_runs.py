"""Sentences on the other runs of a program in one text, besides the last run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.analysis.profiles.published import BUILD_ID, FILE, RELEASE, VDSO
from gomem.capture.other_processes import RSS
from gomem.capture.runs import GOROUTINES
from gomem.facts.one_process import PROGRAM, told_apart_by
from gomem.inputs.processes.containers import NO_NAME
from gomem.text import (
    Bytes,
    Command,
    Count,
    File,
    MomentName,
    Program,
    Quoted,
    Share,
    Text,
    joined,
    text,
)

if TYPE_CHECKING:
    from gomem.capture.capture import Capture
    from gomem.capture.runs import OtherRun
    from gomem.facts.capture import CaptureFacts

NAMED = 3  # the last runs
COMPARE_RUNS = text(
    "Save each run to a file of its own and compare them: {}.", Command("gomem compare FIRST LAST")
)

TOLD_APART_BY = {
    BUILD_ID: ", by the build IDs in the heap profiles",
    RELEASE: ", by the Go releases in the heap profiles",
    FILE: ", by the program's path in the heap profiles",
    PROGRAM: ", by the inode of its program's file",
    VDSO: ", by the address of its [vdso]",
}
BY_COUNTERS = ", by counters of MemStats that fell or disagree"


def has_other_runs(capture: Capture) -> bool:
    """Whether a text has MemStats of a process other than the last."""
    return any(not run.is_same_process and run.process is None for run in capture.other_runs)


def earlier_processes_words(facts: CaptureFacts) -> Text:
    """The snapshots of earlier processes, with their PIDs; empty if there are none."""
    earlier = facts.of_earlier_processes
    if not earlier:
        return Text()
    pids = dict.fromkeys(str(m.pid) for m in earlier if m.pid is not None)
    named = joined(", ", (MomentName(moment.name) for moment in earlier[-NAMED:]))
    more = len(earlier) - NAMED
    others = text(" and {} before", Count(more, "snapshot")) if more > 0 else Text()
    now = next((m.pid for m in reversed(facts.moments) if m.pid is not None), None)
    are = "is" if len(earlier) == 1 else "are"
    how = text(" (PID {}, now {})", joined(", ", pids), str(now)) if pids else _how(facts)
    words = "{}{} {} of another process{}, so gomem measures no change across the two."
    return text(words, named, others, are, how)


def _how(facts: CaptureFacts) -> str:
    by = told_apart_by(facts)
    return next((words for mark, words in TOLD_APART_BY.items() if mark in by), BY_COUNTERS)


def kept_words(capture: Capture) -> Text:
    """How many readings of a long file are snapshots; empty if all are."""
    long = {
        file.source.name: file.parsed.all_rows
        for file in capture.files
        if getattr(file.parsed, "all_rows", None)
    }
    if not long:
        return Text()
    name, count = next(iter(long.items()))
    kept = sum(file.source.name == name for file in capture.files)
    words = (
        "{} has {}, of which {} are snapshots, numbered by row: the first, the last, and the "
        "highest in each interval between."
    )
    return text(words, File(name), Count(count, "reading"), str(kept))


def other_runs_words(capture: Capture) -> Text:
    """The earlier runs, one sentence each; empty if there are none."""
    runs = capture.other_runs
    if not runs:
        return Text()
    more = len(runs) - NAMED
    others = text("Before these lines are {}.", Count(more, "other run")) if more > 0 else Text()
    is_alone = len({file.source.text_name for file in capture.files}) == 1
    told = (
        words
        for run in runs[-NAMED:]
        for words in (_run_words(run, is_alone=is_alone), _sys_words(run))
    )
    return joined(" ", filter(None, (*told, others)))


def _sys_words(run: OtherRun) -> Text:
    """Sys of a run in a column beside that of the last column; empty if either is unknown."""
    if run.sys_bytes is None or run.last_sys is None:
        return Text()
    title, last = run.last_sys
    there, name = text("Sys is {} there", Bytes(run.sys_bytes)), Quoted(repr(title))
    if last == run.sys_bytes:
        return text("{}, as in the run {}.", there, name)
    change = text(
        "{} {}", Share(abs(last / run.sys_bytes - 1)), "more" if last > run.sys_bytes else "less"
    )
    return text("{}, and {} in the run {}, {}.", there, Bytes(last), name, change)


def _run_words(run: OtherRun, *, is_alone: bool) -> Text:
    first, last = run.places
    if run.is_same_process:
        return _earlier_words(run, is_alone=is_alone)
    if run.process is not None:
        return _process_words(run, *run.process)
    if run.labels is not None:
        return _labelled_words(run, *run.labels)
    if first == last and run.said:
        words = "{} is {} in the run {} ({})."
        return text(words, run.level, _size(run, run.last_bytes), Quoted(repr(run.said)), first)
    if first == last:
        words = "{} is a reading of another process, with a {} of {}."
        return text(words, first.capitalize() or "Another", run.level, _size(run, run.first_bytes))
    words = "Lines {} to {}{} are of another process: its {} {} in {}."
    lines = (place.removeprefix("line ") for place in run.places)
    said = text(" ({})", Quoted(run.said)) if run.said else Text()
    return text(words, *lines, said, run.level, _went(run), Count(run.readings, "reading"))


def _labelled_words(run: OtherRun, label: str, last_label: str, last_bytes: int) -> Text:
    """The change from a run of one reading to the last, by the names that the text gives them."""
    change = last_bytes / run.last_bytes - 1 if run.last_bytes else 0.0
    less = text(", {} {}", Share(abs(change)), "more" if change > 0 else "less") * bool(change)
    words = "{} is {} in the run {} ({}), and {} in the run {}{}."
    before = _size(run, run.last_bytes), Quoted(repr(label)), run.places[0]
    return text(words, run.level, *before, _size(run, last_bytes), Quoted(repr(last_label)), less)


def _went(run: OtherRun) -> Text:
    """How the size moved; of one that swings, its range instead of its ends."""
    if run.swing_bytes is not None:
        return text("moved between {} and {}", *(_size(run, size) for size in run.swing_bytes))
    first, last = (_size(run, size) for size in (run.first_bytes, run.last_bytes))
    return text("went from {} to {}", first, last)


def _size(run: OtherRun, size: int) -> Bytes | Count:
    return Count(size) if run.level == GOROUTINES else Bytes(size)


def _earlier_words(run: OtherRun, *, is_alone: bool) -> Text:
    """The other readings of the same process, besides the last reading."""
    first, last = run.places
    if not is_alone:
        if first == last:
            words = "{} has an earlier reading, with {} {}."
            return text(words, File(run.path), run.level, Bytes(run.first_bytes))
        words = "{} has {} before its last: {} {}."
        count = Count(run.readings, "reading")
        return text(words, File(run.path), count, run.level, _went(run))
    if first == last:
        words = "{} has an earlier reading, with a {} of {}."
        return text(words, first.capitalize() or "The text", run.level, Bytes(run.first_bytes))
    words = "Before that, lines {} to {} have {}: {} {}."
    count = Count(run.readings, "earlier reading")
    if not run.is_earlier:
        words, count = "Lines {} to {} have {}: {} {}.", Count(run.readings, "other reading")
    lines = (place.removeprefix("line ") for place in run.places)
    return text(words, *lines, count, run.level, _went(run))


def _process_words(run: OtherRun, program: str, pid: int | None) -> Text:
    """Another process or container in the text; their order in time is unknown."""
    first = run.places[0]
    what = text("another process ({}, PID {})", Program(program or "no name"), str(pid))
    if pid is None:
        noun = "the pod" if run.is_pod else "the container"
        noun = "another process" if run.level == RSS else noun
        what = text("{} {}", noun, Quoted(program))
        if program.endswith(f"/{NO_NAME}"):
            words = (
                "a container without a name, the cgroup of the pod {} itself, which kubectl top "
                "adds to its containers"
            )
            what = text(words, Quoted(program.removesuffix(f"/{NO_NAME}")))
    if run.beside_a_container:
        words = (
            "{} is of a process, {}, at {} RSS: a container's working set has that of all its "
            "processes, page cache and kernel memory."
        )
        who = (
            text("{}, PID {}", Program(program or "no name"), str(pid)) if pid else Quoted(program)
        )
        return text(words, first.capitalize(), who, Bytes(run.last_bytes))
    label = text(" ({})", Quoted(run.said)) if run.said else Text()
    if run.readings == 1:
        words = "{}{} is of {}, at {} {}: the two sizes do not show growth."
        return text(words, first.capitalize(), label, what, Bytes(run.last_bytes), run.level)
    lines = (place.removeprefix("line ") for place in run.places)
    words = "Lines {} to {}{} are of {}, whose {} {}."
    return text(words, *lines, label, what, run.level, _went(run))
