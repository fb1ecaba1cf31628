"""Who allocates, and what of it and of benchmarks changed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.analysis.profiles.call_tree import call_tree
from gomem.errors import CaptureError, did_you_mean
from gomem.inputs.pprof.sites import top_sites
from gomem.plot.data import comparison_of, diagnosis_of, one_axes, profile_of
from gomem.views.figures.benchmarks import have_multiples, plot_benchmarks
from gomem.views.figures.flame_graph import draw_flame
from gomem.views.figures.growth import plot_growth
from gomem.views.figures.site_changes import plot_site_changes
from gomem.views.figures.sites import plot_sites

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from gomem.comparison.samples import Comparison
    from gomem.inputs.pprof.table import Profile
    from gomem.plot.data import Data
    from gomem.views.figures.flame_graph import FlameGraph


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
    profile = profile_of(data, moment)
    if sample_type not in profile.sample_type_names:
        names = profile.sample_type_names
        near = did_you_mean(sample_type, names)
        raise ValueError(f"{sample_type}: wanted one of {', '.join(names)}{near}")
    top = top_sites(profile, sample_type, 12, granularity)
    rows = top.top.rename(columns={"flat": "value", "flat_low": "low", "flat_high": "high"})
    return one_axes(plot_sites(rows, top.unit, title=f"Who has most {sample_type}"), ax)


def growth(data: Data, *, ax: Axes | None = None) -> Axes:
    """What the stacks that move have in use, from profile to profile.

    Args:
        data: A capture, diagnosis or path with a series of heap profiles that have a time.
        ax: Where to draw; a figure of its own if None.

    Raises:
        CaptureError: There are too few profiles.
    """
    diagnosis = diagnosis_of(data)
    if diagnosis.facts.profiles.heap_series is None:
        raise CaptureError(f"{diagnosis.capture.file_name}: too few heap profiles that have a time")
    return one_axes(plot_growth(diagnosis.facts.profiles.heap_series, diagnosis.growth), ax)


def spike(data: Data, at: str | pd.Timestamp | None = None, *, ax: Axes | None = None) -> Axes:
    """Who allocated beyond the usual in one interval between two heap profiles.

    Args:
        data: A capture, diagnosis or path with a series of heap profiles that have a time.
        at: A moment's name or a time; the interval that stands out most if None.
        ax: Where to draw; a figure of its own if None.

    Raises:
        CaptureError: There are no such profiles.
    """
    diagnosis = diagnosis_of(data)
    found = diagnosis.spike(at)
    if found is None:
        raise CaptureError(
            f"{diagnosis.capture.file_name}: wanted two heap profiles that have a time"
        )
    rows = found.allocated.rename(columns={"extra_bytes": "value"})
    beyond = rows[rows["value"] > 0]
    rows = beyond if len(beyond) else rows
    title = f"Allocated beyond the usual from {found.before} to {found.after}"
    return one_axes(plot_sites(rows, "bytes", title=title), ax)


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
    found = comparison_of(comparison, after)
    rows = found.metrics[have_multiples(found.metrics)]
    if rows.empty:
        raise CaptureError("no metric is known on both sides and above 0 before")
    return one_axes(plot_benchmarks(rows), ax)


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
    found = comparison_of(comparison, after)
    rows = found.sites[found.sites["sample_type"] == sample_type]
    if rows.empty:
        raise CaptureError(f"no two heap profiles have {sample_type} to compare")
    return one_axes(plot_site_changes(rows), ax)
