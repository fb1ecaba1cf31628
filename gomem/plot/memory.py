"""Figures of memory: ledgers, levels, memory returned to the OS, the address space."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pandas as pd

from gomem.errors import CaptureError, did_you_mean
from gomem.facts.moment import seconds_of
from gomem.numbered import Build
from gomem.plot.data import (
    all_axes,
    diagnosis_of,
    drawn,
    moment_of,
    name_of,
    one_axes,
    several_of,
)
from gomem.text import CaptureName, MomentName, text
from gomem.views.figures.address_space import plot_address_space
from gomem.views.figures.groups import plot_groups
from gomem.views.figures.groups_over_moments import plot_groups_over_moments
from gomem.views.figures.heap_return import plot_heap_return
from gomem.views.figures.ledger_change import plot_ledger_change
from gomem.views.figures.levels import plot_levels, plot_small_multiples
from gomem.views.figures.retention import plot_retention
from gomem.views.figures.waterfall import plot_rss_vs_heap
from gomem.views.report.scavenger import marks_of, timed_readings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from matplotlib.axes import Axes

    from gomem.analysis.memory.groups import MemoryGroups
    from gomem.diagnosis.diagnosis import Diagnosis
    from gomem.plot.data import Data

# The default columns: the first existing column of each row.
LEVELS = (
    ("rss_bytes", "Rss", "VmRSS", "process_resident_memory_bytes"),
    ("HeapSys",), ("HeapInuse",), ("HeapAlloc",), ("HeapReleased",),
)  # fmt: skip
PROFILE_LEVEL = "inuse_space"
LEVELS_OF_MANY = (LEVELS[0], ("HeapInuse",))  # of several builds


def waterfall(data: Data, moment: str | None = None, *, ax: Axes | None = None) -> Axes:
    """Draw the ledger of one snapshot, part by part, from heap objects to RSS."""
    diagnosis = diagnosis_of(data)
    name = moment_of(diagnosis, moment, diagnosis.ledgers, "says where memory is")
    drawing = plot_rss_vs_heap(diagnosis.ledgers[name])
    return one_axes(drawing, ax, name_of(diagnosis), MomentName(name))


def groups(data: Data, moment: str | None = None, *, ax: Axes | None = None) -> Axes:
    """Draw RSS by owner at one snapshot; hollow bars show memory reserved by Go but not in RSS."""
    diagnosis = diagnosis_of(data)
    told = [name for name, facts in diagnosis.by_moment.items() if facts.groups is not None]
    name = moment_of(diagnosis, moment, told, "says where memory is")
    facts = diagnosis.by_moment[name]
    assert facts.groups is not None
    drawing = plot_groups(facts.groups, facts.rss_bytes)
    return one_axes(drawing, ax, name_of(diagnosis), MomentName(name))


def ledger_over_time(data: Data | Mapping[str, Data], *, ax: Axes | None = None) -> Axes:
    """Draw RSS by owner at all snapshots, side by side.

    `data` is a capture, or several captures by name, each drawn at its largest RSS.
    """
    several, seconds = several_of(data), None
    if several is not None:
        each = {name: _known(capture) for name, capture in several.items()}
        moments: dict[str, tuple[MemoryGroups, int | None]] = {
            Build(name): max(found.values(), key=lambda pair: pair[1] or 0)
            for name, found in each.items()
            if found
        }
    else:
        diagnosis = diagnosis_of(cast("Data", data))
        moments = _known(diagnosis)
        seconds = seconds_of([diagnosis.by_moment[name] for name in moments])
    if not moments:
        raise CaptureError("no moment says where memory is; wanted smaps, status or MemStats")
    clock = None if seconds is None else seconds.tolist()
    return one_axes(drawn(plot_groups_over_moments, moments, clock), ax, name_of(data))


def _known(data: Data) -> dict[str, tuple[MemoryGroups, int | None]]:
    """Groups and RSS of each snapshot that has them."""
    told = diagnosis_of(data).moments
    return {
        MomentName(moment.name): (moment.groups, moment.rss_bytes)
        for moment in told
        if moment.groups is not None
    }


def ledger_change(data: Data, baseline: Data | None = None, *, ax: Axes | None = None) -> Axes:
    """Draw the change of RSS by part: from a baseline, or from the first snapshot to the last."""
    diagnosis = diagnosis_of(data)
    if baseline is not None:
        diagnosis = diagnosis.with_baseline(diagnosis_of(baseline))
    if diagnosis.baseline is not None:
        change = diagnosis.change_against_baseline
    else:
        change = diagnosis.change_over_all or next(reversed(diagnosis.changes), None)
    if change is None:
        what = "{}: wanted two moments that say where memory is"
        raise CaptureError(text(what, CaptureName(diagnosis.capture.file_name)))
    about = text("{} to {}", MomentName(change.before), MomentName(change.after))
    return one_axes(plot_ledger_change(change.ledger), ax, name_of(diagnosis), about)


def levels(
    data: Data | pd.DataFrame, columns: Sequence[str] | None = None, *, ax: Axes | None = None
) -> Axes:
    """Draw a line per column over the snapshots, on a time axis if they have times.

    `data` is a capture, or a frame like its `levels`. `columns` are in bytes; if None, the usual
    columns that exist are drawn. Raises KeyError for an unknown column.
    """
    frame = data if isinstance(data, pd.DataFrame) else diagnosis_of(data).levels
    wanted = list(columns or _usual(frame))
    for name in wanted:
        if name not in frame:
            near = did_you_mean(name, map(str, frame.columns))
            raise KeyError(f"{name}: not among the levels{near}")
    if not wanted or frame[wanted].isna().all(axis=None):
        raise CaptureError("no moment says how large the process is; wanted smaps or MemStats")
    drawing = drawn(plot_levels, frame.reindex(columns=["moment", *wanted]))
    return one_axes(drawing, ax, name_of(data))


def small_multiples(
    builds: Mapping[str, Data], columns: Sequence[str] | None = None, *,
    ax: Sequence[Axes] | None = None,
) -> list[Axes]:  # fmt: skip
    """Draw a panel of levels for each build, release or pod, all on one scale.

    `columns` are in bytes; if None, RSS and the heap in use. Raises KeyError if no build has a
    column. `ax` needs as many Axes as there are builds.
    """
    frames = {name: diagnosis_of(build).levels for name, build in builds.items()}
    told = {name for frame in frames.values() for name in frame if frame[name].notna().any()}
    usual = ([name for name in row if name in told] for row in LEVELS_OF_MANY)
    wanted = list(columns or [row[0] for row in usual if row])
    for name in wanted:
        if name not in told:
            raise KeyError(f"{name}: not among the levels{did_you_mean(name, map(str, told))}")
    if not wanted:
        raise CaptureError("no build says how large it is; wanted smaps, status or MemStats of one")
    columns = ["moment", *wanted]
    shown = {Build(name): frame.reindex(columns=columns) for name, frame in frames.items()}
    return all_axes(drawn(plot_small_multiples, shown), ax)


def heap_return(data: Data | Mapping[str, Data], *, ax: Axes | None = None) -> Axes:
    """Draw heap in use, idle heap, released heap and RSS, snapshot by snapshot.

    `data` is a capture with MemStats or runtime/metrics, or several captures by name, each with its
    panel.
    """
    each = several_of(data) or {"": cast("Data", data)}
    frames = {Build(name): _heap_of(diagnosis_of(capture)) for name, capture in each.items()}
    return one_axes(drawn(plot_heap_return, frames), ax, name_of(data))


def scavenger(data: Data, *, ax: Sequence[Axes] | None = None) -> list[Axes]:
    """Draw the heap in use, retained and released over time, with the scavenger's goals and RSS.

    `data` is a capture with at least three readings of MemStats that have a time. Returns two Axes:
    for the heap, and for the scavenger's lines in the log.
    """
    diagnosis = diagnosis_of(data)
    answer = diagnosis.scavenger
    timed = None if answer is None else timed_readings(answer)
    if answer is None or timed is None or timed.empty:
        what = "{}: wanted three MemStats that have a time"
        raise CaptureError(text(what, CaptureName(diagnosis.capture.file_name)))
    return all_axes(plot_retention(timed, marks_of(answer)), ax, name_of(diagnosis))


def address_space(data: Data, moment: str | None = None, *, ax: Axes | None = None) -> Axes:
    """Draw the mappings of one snapshot by address: width is mapped size, the filled part RSS."""
    diagnosis = diagnosis_of(data)
    mapped = [name for name, facts in diagnosis.by_moment.items() if facts.mappings is not None]
    name = moment_of(diagnosis, moment, mapped, "has smaps")
    drawing = plot_address_space(diagnosis.facts.regions(name))
    return one_axes(drawing, ax, name_of(diagnosis), MomentName(name))


def _heap_of(diagnosis: Diagnosis) -> pd.DataFrame:
    """A row per snapshot with the values that `heap_return` draws, in bytes."""
    heap = diagnosis.heap
    if heap.empty:
        what = (
            "{}: no moment has MemStats, so what the heap keeps is unknown; write "
            "runtime.ReadMemStats as JSON beside the profile"
        )
        raise CaptureError(text(what, CaptureName(diagnosis.capture.file_name)))
    rss = [diagnosis.ledgers[name].rss_bytes for name in heap["moment"]]
    told = heap[["moment", "HeapInuse", "idle_kept_bytes", "HeapReleased", "goal_bytes"]]
    return told.assign(LazyFree=heap["lazy_free_bytes"], RSS=pd.Series(rss, dtype="Int64"))


def _usual(levels: pd.DataFrame) -> list[str]:
    told = [
        [name for name in row if name in levels and levels[name].notna().any()] for row in LEVELS
    ]
    usual = [row[0] for row in told if row]
    if PROFILE_LEVEL in levels:  # if a moment has only a profile, this gives the heap in use
        alone = levels.reindex(columns=["HeapInuse"])["HeapInuse"].isna()
        usual += [PROFILE_LEVEL] * bool((levels[PROFILE_LEVEL].notna() & alone).any())
    return usual
