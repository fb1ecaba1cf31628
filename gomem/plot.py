"""Figures for your own notebook: data first, `ax=` where you want them, matplotlib Axes back.

    from gomem import plot

    plot.waterfall("captures/api", "3-later")
    plot.levels(capture, ["Rss", "HeapInuse"], ax=axes[0])
    with plot.style("paper"):
        plot.mmu("gctrace.log").figure.savefig("mmu.pdf")

Data is what you hold: a diagnosis, a capture, what a reader returned, or a path. A figure is drawn
on Axes of its own unless `ax` gives some, and returns them: one, or a list where it has several
panels. The flame graph alone is SVG, to be clicked.
"""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

import pandas as pd

from gomem.analysis.profiles.call_tree import call_tree
from gomem.comparison.comparison import compare
from gomem.comparison.samples import Comparison
from gomem.diagnosis.diagnosis import Diagnosis, diagnose
from gomem.errors import CaptureError, did_you_mean
from gomem.facts.collector import CollectorFacts
from gomem.inputs.gctrace.table import GcLog
from gomem.inputs.pprof.sites import top_sites
from gomem.inputs.pprof.table import Profile
from gomem.views.figures.address_space import plot_address_space
from gomem.views.figures.benchmarks import have_multiples, plot_benchmarks
from gomem.views.figures.flame_graph import draw_flame
from gomem.views.figures.gc_activity import plot_gc_activity
from gomem.views.figures.gc_timeline import plot_gc_timeline
from gomem.views.figures.groups import plot_groups
from gomem.views.figures.groups_over_moments import plot_groups_over_moments
from gomem.views.figures.growth import plot_growth
from gomem.views.figures.heap_return import plot_heap_return
from gomem.views.figures.ledger_change import plot_ledger_change
from gomem.views.figures.levels import plot_levels, plot_small_multiples
from gomem.views.figures.mmu import plot_mmu
from gomem.views.figures.pauses import plot_gc_pauses
from gomem.views.figures.retention import plot_retention
from gomem.views.figures.scavenges import plot_gc_scavenges
from gomem.views.figures.site_changes import plot_site_changes
from gomem.views.figures.sites import plot_sites
from gomem.views.figures.waterfall import plot_rss_vs_heap
from gomem.views.figures.what_if_grid import plot_what_if_grid
from gomem.views.report.scavenger import marks_of, timed_readings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from os import PathLike
    from typing import TypeAlias

    from matplotlib.axes import Axes

    from gomem.analysis.memory.groups import MemoryGroups
    from gomem.capture.capture import Capture
    from gomem.charts.figure import Drawing
    from gomem.views.figures.flame_graph import FlameGraph

    Path: TypeAlias = str | PathLike[str]
    Data: TypeAlias = Diagnosis | Capture | Path
    Log: TypeAlias = GcLog | Data

__all__ = [
    "address_space", "flame", "forest", "gc_activity", "gc_timeline", "groups", "growth",
    "heap_return", "ledger_change", "ledger_over_time", "levels", "mmu", "pauses", "scavenger",
    "scavenges", "site_changes", "sites", "small_multiples", "spike", "style", "waterfall",
    "what_if",
]  # fmt: skip

# Drawn where none are asked for: of each row the first that the frame has.
LEVELS = (
    ("rss_bytes", "Rss", "VmRSS", "process_resident_memory_bytes"),
    ("HeapSys",), ("HeapInuse",), ("HeapAlloc",), ("HeapReleased",),
)  # fmt: skip
OF_MANY = (LEVELS[0], ("HeapInuse",))  # of several builds
PAGE: Any = object()  # as `ax`: no Axes, but the drawing, which shows itself as SVG
INK, GROUND = "#e8e8e8", "#17191c"  # of dark paper
HOUSE: dict[str, Any] = {
    "font.size": 8.5, "axes.linewidth": 0.6, "hatch.linewidth": 0.6, "figure.dpi": 110,
    "savefig.dpi": 200, "svg.fonttype": "none", "pdf.fonttype": 42,
}  # fmt: skip
STYLES: dict[str, dict[str, Any]] = {
    "light": {},
    "dark": {
        **dict.fromkeys(("text.color", "axes.edgecolor", "xtick.color", "ytick.color"), INK),
        **dict.fromkeys(("figure.facecolor", "axes.facecolor", "savefig.facecolor"), GROUND),
    },
    "paper": {"font.family": "serif", "savefig.bbox": "tight", "savefig.dpi": 300},
}


@contextmanager
def style(name: str = "light") -> Iterator[None]:
    """The house style for what is drawn and saved inside: quiet, and the same for every figure.

    Colours are Okabe and Ito's and hatchings tell apart what colours do not, in each of them.

    Args:
        name: `light`, `dark` or `paper`, which has serifs and sheets cut to what is drawn.

    Raises:
        ValueError: There is no such style.
    """
    from matplotlib import pyplot as plt

    if name not in STYLES:
        raise ValueError(f"{name}: wanted one of {', '.join(STYLES)}{did_you_mean(name, STYLES)}")
    settings: Any = HOUSE | STYLES[name]
    with plt.rc_context(settings):
        yield


# Where the memory is


def waterfall(data: Data, moment: str | None = None, *, ax: Axes | None = None) -> Axes:
    """From heap objects, part by part, to RSS: the ledger of one moment.

    Args:
        data: A capture, a diagnosis or a path.
        moment: Which; the one that the verdict speaks of if None.
        ax: Where to draw; a figure of its own if None.

    Raises:
        CaptureError: The moment has no ledger.
        KeyError: There is no such moment.
    """
    diagnosis = _diagnosis(data)
    name = _moment(diagnosis, moment, diagnosis.ledgers, "says where memory is")
    return _one(plot_rss_vs_heap(diagnosis.ledgers[name]), ax)


def groups(data: Data, moment: str | None = None, *, ax: Axes | None = None) -> Axes:
    """Whose the resident memory of one moment is; hollow is what Go claims and never got.

    Arguments and errors are those of `waterfall`.
    """
    diagnosis = _diagnosis(data)
    told = [name for name, facts in diagnosis.by_moment.items() if facts.groups is not None]
    name = _moment(diagnosis, moment, told, "says where memory is")
    facts = diagnosis.by_moment[name]
    assert facts.groups is not None
    return _one(plot_groups(facts.groups, facts.rss_bytes), ax)


def ledger_over_time(data: Data | Mapping[str, Data], *, ax: Axes | None = None) -> Axes:
    """Whose the resident memory is at all moments, beside one another.

    Args:
        data: A capture, a diagnosis or a path; or several by name, each at its largest RSS.
        ax: Where to draw; a figure of its own if None.

    Raises:
        CaptureError: No moment has a ledger.
    """
    if hasattr(data, "items"):
        each = {name: _known(one) for name, one in data.items()}
        moments = {
            name: max(found.values(), key=lambda one: one[1] or 0)
            for name, found in each.items()
            if found
        }
    else:
        moments = _known(data)
    if not moments:
        raise CaptureError("no moment says where memory is; wanted smaps, status or MemStats")
    return _one(plot_groups_over_moments(moments), ax)


def _known(data: Data) -> dict[str, tuple[MemoryGroups, int | None]]:
    """Groups and RSS of each moment that says where memory is."""
    told = _diagnosis(data).moments
    return {one.name: (one.groups, one.rss_bytes) for one in told if one.groups is not None}


def ledger_change(data: Data, baseline: Data | None = None, *, ax: Axes | None = None) -> Axes:
    """What moved RSS, part by part: against a baseline, or from the first moment to the last.

    Args:
        data: A capture, a diagnosis or a path.
        baseline: The same of what it is compared with.
        ax: Where to draw; a figure of its own if None.

    Raises:
        CaptureError: There are no two moments with a ledger to compare.
    """
    diagnosis = _diagnosis(data)
    if baseline is not None:
        diagnosis = diagnosis.with_baseline(_diagnosis(baseline))
    if diagnosis.baseline is not None:
        change = diagnosis.change_against_baseline
    else:
        change = diagnosis.facts.change_over_all or next(reversed(diagnosis.changes), None)
    if change is None:
        raise CaptureError(
            f"{diagnosis.capture.file_name}: wanted two moments that say where memory is"
        )
    return _one(plot_ledger_change(change.ledger), ax)


def levels(
    data: Data | pd.DataFrame, columns: Sequence[str] | None = None, *, ax: Axes | None = None
) -> Axes:
    """Levels over the moments, on a clock where they have one: a line a column.

    Args:
        data: A capture, a diagnosis or a path; or a frame like their `levels`.
        columns: Which of its columns, in bytes; the usual ones that it has if None.
        ax: Where to draw; a figure of its own if None.

    Raises:
        CaptureError: No moment says anything of them.
        KeyError: There is no such column.
    """
    frame = data if isinstance(data, pd.DataFrame) else _diagnosis(data).levels
    wanted = list(columns or _usual(frame))
    for one in wanted:
        if one not in frame:
            near = did_you_mean(one, map(str, frame.columns))
            raise KeyError(f"{one}: not among the levels{near}")
    if not wanted or frame[wanted].isna().all(axis=None):
        raise CaptureError("no moment says how large the process is; wanted smaps or MemStats")
    return _one(plot_levels(frame[["moment", *wanted]]), ax)


def small_multiples(
    builds: Mapping[str, Data], columns: Sequence[str] | None = None, *,
    ax: Sequence[Axes] | None = None,
) -> list[Axes]:  # fmt: skip
    """Levels of several builds, releases or pods: a small panel each, all on one scale.

    Args:
        builds: By name a capture, a diagnosis or a path.
        columns: Which of their levels, in bytes; RSS and what the heap has in use if None.
        ax: As many Axes; a figure of its own if None.

    Raises:
        CaptureError: There is none, or nothing says how large any of them is.
        KeyError: No build has such a level.
    """
    frames = {name: _diagnosis(one).levels for name, one in builds.items()}
    told = {one for frame in frames.values() for one in frame if frame[one].notna().any()}
    usual = ([one for one in row if one in told] for row in OF_MANY)
    wanted = list(columns or [row[0] for row in usual if row])
    for one in wanted:
        if one not in told:
            raise KeyError(f"{one}: not among the levels{did_you_mean(one, map(str, told))}")
    if not wanted:
        raise CaptureError("no build says how large it is; wanted smaps, status or MemStats of one")
    shown = {name: frame.reindex(columns=["moment", *wanted]) for name, frame in frames.items()}
    return _all(plot_small_multiples(shown), ax)


def heap_return(data: Data | Mapping[str, Data], *, ax: Axes | None = None) -> Axes:
    """What the heap has in use, keeps idle and has given back, moment by moment, and RSS.

    Args:
        data: A capture, a diagnosis or a path.
        ax: Where to draw; a figure of its own if None.

    Raises:
        CaptureError: No moment has MemStats or runtime/metrics.
    """
    each = dict(data.items()) if hasattr(data, "items") else {"": data}
    frames = {name: _heap_of(_diagnosis(one)) for name, one in each.items()}
    return _one(plot_heap_return(frames), ax)


def scavenger(data: Data, *, ax: Sequence[Axes] | None = None) -> list[Axes]:
    """The heap in use, kept and given back on a clock, against the scavenger's goals, and RSS.

    Args:
        data: A capture, a diagnosis or a path, with three readings of MemStats that have a time.
        ax: Two Axes, for the heap and for the log's lines; a figure of its own if None.

    Raises:
        CaptureError: There are fewer readings.
    """
    diagnosis = _diagnosis(data)
    answer = diagnosis.scavenger
    timed = None if answer is None else timed_readings(answer)
    if answer is None or timed is None or timed.empty:
        raise CaptureError(f"{diagnosis.capture.file_name}: wanted three MemStats that have a time")
    return _all(plot_retention(timed, marks_of(answer)), ax)


def address_space(data: Data, moment: str | None = None, *, ax: Axes | None = None) -> Axes:
    """The mappings of one moment in order of address, as wide as mapped, filled as resident.

    Arguments and errors are those of `waterfall`.
    """
    diagnosis = _diagnosis(data)
    mapped = [name for name, facts in diagnosis.by_moment.items() if facts.mappings is not None]
    name = _moment(diagnosis, moment, mapped, "has smaps")
    return _one(plot_address_space(diagnosis.facts.regions(name)), ax)


# What the collector does


def gc_timeline(log: Log, *, ax: Sequence[Axes] | None = None) -> list[Axes]:
    """The heap's saw-tooth with its goal, and below it how long each collection stopped the world.

    Args:
        log: A gctrace log, or a capture, diagnosis or path that has one.
        ax: Two Axes, for the heap and for the stops; a figure of its own if None.

    Raises:
        CaptureError: There is no log, or no collection in it.
    """
    return _all(plot_gc_timeline(_collector(log).timeline), ax)


def gc_activity(log: Log, *, ax: Sequence[Axes] | None = None) -> list[Axes]:
    """CPU that collecting takes, by who does the work, and the rate of allocation below it.

    Arguments and errors are those of `gc_timeline`.
    """
    return _all(plot_gc_activity(_collector(log).timeline), ax)


def pauses(log: Log, *, ax: Sequence[Axes] | None = None) -> list[Axes]:
    """How long collections stop the world, and how far apart they are: two distributions.

    Arguments and errors are those of `gc_timeline`.
    """
    return _all(plot_gc_pauses(_collector(log).pauses), ax)


def mmu(log: Log, *, ax: Axes | None = None) -> Axes:
    """What the program keeps of its CPU in the worst window of each length.

    Arguments and errors are those of `gc_timeline`, with one panel.
    """
    return _one(plot_mmu(_collector(log).utilization), ax)


def what_if(log: Data, *, ax: Axes | None = None) -> Axes:
    """What other GOGC and GOMEMLIMIT would do: collections a second and the highest heap of each.

    Args:
        log: A capture, diagnosis or path with a gctrace log.
        ax: Where to draw; a figure of its own if None.

    Raises:
        CaptureError: There is no log, or it cannot tell.
    """
    diagnosis = _diagnosis(log)
    answer = diagnosis.what_if
    if answer is None:
        raise CaptureError(
            f"{diagnosis.capture.file_name} has no gctrace log; run it with GODEBUG=gctrace=1"
        )
    if answer.refused is not None:
        raise CaptureError(f"what other settings would do cannot be told: {answer.refused}")
    return _one(plot_what_if_grid(answer.grid), ax)


def scavenges(log: Log, *, ax: Sequence[Axes] | None = None) -> list[Axes]:
    """What the scavenger's lines gave back, in all and each.

    Args:
        log: As for `gc_timeline`; run with `GODEBUG=gctrace=1,scavtrace=1`.
        ax: Two Axes, for the total and for each line; a figure of its own if None.

    Raises:
        CaptureError: There is no log, or no line of the scavenger that a collection places.
    """
    collector = _collector(log)
    lines = collector.scavenges
    if lines["log_seconds"].isna().all():
        raise CaptureError("no line of the scavenger; run with GODEBUG=gctrace=1,scavtrace=1")
    return _all(plot_gc_scavenges(lines, float(collector.timeline["end_seconds"].iloc[-1])), ax)


# Who allocates


def sites(
    data: Profile | Data,
    sample_type: str = "inuse_space",
    moment: str | None = None,
    *,
    granularity: str = "functions",
    ax: Axes | None = None,
) -> Axes:
    """Who has most of a value, with the 95 % interval that sampling leaves.

    Args:
        data: A profile, or a capture, diagnosis or path with heap profiles.
        sample_type: Which value.
        moment: Which of a capture; the one whose sites the report shows first if None.
        granularity: `functions`, `lines`, `files`, `packages`, as of `Profile.top`.
        ax: Where to draw; a figure of its own if None.

    Raises:
        CaptureError: There is no heap profile.
        ValueError: The profile does not have the sample type.
    """
    profile = _profile(data, moment)
    if sample_type not in profile.sample_type_names:
        names = profile.sample_type_names
        near = did_you_mean(sample_type, names)
        raise ValueError(f"{sample_type}: wanted one of {', '.join(names)}{near}")
    top = top_sites(profile, sample_type, 12, granularity)
    rows = top.top.rename(columns={"flat": "value", "flat_low": "low", "flat_high": "high"})
    return _one(plot_sites(rows, top.unit, title=f"Who has most {sample_type}"), ax)


def growth(data: Data, *, ax: Axes | None = None) -> Axes:
    """What the stacks that move have in use, from profile to profile.

    Args:
        data: A capture, diagnosis or path with a series of heap profiles that have a time.
        ax: Where to draw; a figure of its own if None.

    Raises:
        CaptureError: There are too few profiles.
    """
    diagnosis = _diagnosis(data)
    if diagnosis.facts.profiles.heap_series is None:
        raise CaptureError(f"{diagnosis.capture.file_name}: too few heap profiles that have a time")
    return _one(plot_growth(diagnosis.facts.profiles.heap_series, diagnosis.growth), ax)


def spike(data: Data, at: str | pd.Timestamp | None = None, *, ax: Axes | None = None) -> Axes:
    """Who allocated beyond the usual in one interval between two heap profiles.

    Args:
        data: A capture, diagnosis or path with a series of heap profiles that have a time.
        at: A moment's name or a time; the interval that stands out most if None.
        ax: Where to draw; a figure of its own if None.

    Raises:
        CaptureError: There are no such profiles.
    """
    diagnosis = _diagnosis(data)
    found = diagnosis.spike(at)
    if found is None:
        raise CaptureError(
            f"{diagnosis.capture.file_name}: wanted two heap profiles that have a time"
        )
    rows = found.allocated.rename(columns={"extra_bytes": "value"})
    beyond = rows[rows["value"] > 0]
    rows = beyond if len(beyond) else rows
    title = f"Allocated beyond the usual from {found.before} to {found.after}"
    return _one(plot_sites(rows, "bytes", title=title), ax)


def flame(
    profile: Profile,
    base: Profile | None = None,
    sample_type: str | None = None,
    *,
    upwards: bool = False,
    least_width: float = 0.001,
    name: str = "flame",
) -> FlameGraph:
    """Draw a profile as a flame graph, or what changed since another.

    Args:
        profile: A profile of any kind.
        base: An earlier one to compare it with.
        sample_type: Which of its values; the default one if None.
        upwards: Whether calls stand above their callers instead of below.
        least_width: Share of the whole below which frames are left out.
        name: Unique on its page.

    Raises:
        ValueError: A profile does not have the sample type, or the name cannot be an id.
    """
    tree = call_tree(profile, sample_type, base, least_width=least_width)
    return draw_flame(tree, upwards=upwards, name=name)


# What changed


def forest(
    comparison: Comparison | Data, after: Data | None = None, *, ax: Axes | None = None
) -> Axes:
    """Benchmarks before and after: medians with their 95 % intervals, as multiples of before.

    Args:
        comparison: What `gomem.compare` returned; or the side before.
        after: The other side then.
        ax: Where to draw; a figure of its own if None.

    Raises:
        CaptureError: There is nothing to draw.
    """
    found = _comparison(comparison, after)
    rows = found.metrics[have_multiples(found.metrics)]
    if rows.empty:
        raise CaptureError("no metric is known on both sides and above 0 before")
    return _one(plot_benchmarks(rows), ax)


def site_changes(
    comparison: Comparison | Data,
    after: Data | None = None,
    sample_type: str = "alloc_space",
    *,
    ax: Axes | None = None,
) -> Axes:
    """What the sites that changed most have of a value in bytes, before and after.

    Args:
        comparison: What `gomem.compare` returned; or the side before.
        after: The other side then.
        sample_type: Which value.
        ax: Where to draw; a figure of its own if None.

    Raises:
        CaptureError: There are no two heap profiles.
    """
    found = _comparison(comparison, after)
    rows = found.sites[found.sites["sample_type"] == sample_type]
    if rows.empty:
        raise CaptureError(f"no two heap profiles have {sample_type} to compare")
    return _one(plot_site_changes(rows), ax)


# Data and Axes


def _diagnosis(data: Data) -> Diagnosis:
    return data if isinstance(data, Diagnosis) else diagnose(data)


def _heap_of(diagnosis: Diagnosis) -> pd.DataFrame:
    """A row a moment with what `heap_return` draws of it, in bytes."""
    heap = diagnosis.heap
    if heap.empty:
        raise CaptureError(
            f"{diagnosis.capture.file_name}: no moment has MemStats, so what the heap keeps is "
            "unknown; write runtime.ReadMemStats as JSON beside the profile"
        )
    rss = [diagnosis.ledgers[name].rss_bytes for name in heap["moment"]]
    told = heap[["moment", "HeapInuse", "idle_kept_bytes", "HeapReleased", "goal_bytes"]]
    return told.assign(LazyFree=heap["lazy_free_bytes"], RSS=pd.Series(rss, dtype="Int64"))


def _comparison(comparison: Comparison | Data, after: Data | None) -> Comparison:
    if isinstance(comparison, Comparison):
        return comparison
    if after is None:
        raise CaptureError("one side alone; wanted two, or what gomem.compare returned")
    return compare(comparison, after)


def _collector(log: Log) -> CollectorFacts:
    """The collector's answers, of a log that has collections."""
    if not isinstance(log, GcLog):
        return _diagnosis(log).logged
    if not len(log.cycles):
        raise CaptureError("the log has no collection")
    return CollectorFacts(log, "gctrace")


def _profile(data: Profile | Data, moment: str | None) -> Profile:
    if isinstance(data, Profile):
        return data
    diagnosis = _diagnosis(data)
    profiles = diagnosis.capture.heap_profiles
    return profiles[_moment(diagnosis, moment, profiles, "has a heap profile", sites=True)]


def _moment(
    diagnosis: Diagnosis,
    asked: str | None,
    known: Mapping[str, Any] | Sequence[str],
    wanted: str,
    *,
    sites: bool = False,
) -> str:
    """The moment asked for, or the one to look at first, among those that have what is drawn."""
    if asked is not None:
        diagnosis.capture[asked]  # says which there are, if it is none of them
    first = diagnosis.sites_first if sites else diagnosis.shown_first
    for name in (asked,) if asked is not None else (first, *reversed(list(known))):
        if name in known:
            return str(name)
    place = ", ".join(filter(None, [diagnosis.capture.file_name, asked]))
    raise CaptureError(f"{place}: nothing here {wanted}")


def _usual(levels: pd.DataFrame) -> list[str]:
    told = [[one for one in row if one in levels and levels[one].notna().any()] for row in LEVELS]
    return [row[0] for row in told if row]


def _one(drawing: Drawing, ax: Axes | None) -> Axes:
    if ax is PAGE:
        return cast("Axes", drawing)  # asked for by `gomem.notebook.show` alone
    return _all(drawing, None if ax is None else [ax])[0]


def _all(drawing: Drawing, axes: Sequence[Axes] | None) -> list[Axes]:
    """Draw it; matplotlib is loaded when the first figure is."""
    if axes is PAGE:
        return cast("list[Axes]", drawing)
    from gomem.charts.matplotlib_axes import draw_on

    return draw_on(drawing.chart, axes)
