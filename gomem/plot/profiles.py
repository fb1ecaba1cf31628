"""Allocation sites, their changes, and changes of benchmarks."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING

from gomem.analysis.profiles.call_tree import call_tree
from gomem.causes.allocation_spike import why_no_spike
from gomem.comparison.samples import BENCHMARK
from gomem.errors import CaptureError, did_you_mean
from gomem.inputs.pprof.sites import top_sites
from gomem.plot.data import comparison_of, diagnosis_of, drawn, name_of, one_axes, profile_of
from gomem.text import CaptureName, MomentName, text
from gomem.units import format_bytes, format_seconds
from gomem.views.figures.benchmarks import have_multiples, plot_benchmarks
from gomem.views.figures.flame_graph import draw_flame
from gomem.views.figures.growth import plot_growth
from gomem.views.figures.lifetimes import plot_lifetimes
from gomem.views.figures.site_changes import plot_site_changes
from gomem.views.figures.sites import by_flat, plot_sites
from gomem.views.here import hidden_here

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from gomem.analysis.profiles.allocation_spikes import Spike
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
    """Draw the largest sites of a sample type, with the 95 % sampling interval.

    `data` is a profile, or data with heap profiles. `moment` selects one by its snapshot; if None,
    it is the snapshot whose sites the report shows first. `granularity` is one of `Profile.top`:
    `functions`, `lines`, `files`, `packages`. Raises ValueError if the profile does not have the
    sample type.
    """
    profile, of = profile_of(data, moment)
    if sample_type not in profile.sample_type_names:
        names = profile.sample_type_names
        near = did_you_mean(sample_type, names)
        raise ValueError(f"{sample_type}: wanted one of {', '.join(names)}{near}")
    top = top_sites(profile, sample_type, 12, granularity)
    title = f"{sample_type} by {granularity.removesuffix('s')}"
    return one_axes(drawn(plot_sites, by_flat(top.top), top.unit, title=title), ax, *of)


def growth(data: Data, *, ax: Axes | None = None) -> Axes:
    """Draw the in-use bytes of changing stacks over a series of heap profiles that have times."""
    diagnosis = diagnosis_of(data)
    if diagnosis.facts.profiles.heap_series is None:
        what = "{}: too few heap profiles that have a time"
        raise CaptureError(text(what, CaptureName(diagnosis.capture.file_name)))
    drawing = plot_growth(diagnosis.facts.profiles.heap_series, diagnosis.growth)
    return one_axes(drawing, ax, name_of(diagnosis))


def lifetimes(data: Data, *, ax: Axes | None = None) -> Axes:
    """Draw the mean object lifetime by site, from heap profiles of one process that have times."""
    diagnosis = diagnosis_of(data)
    found = diagnosis.facts.lifetimes
    if found is None or found.sites.empty:
        what = "{}: needs two heap profiles with a time"
        raise CaptureError(text(what, CaptureName(diagnosis.capture.file_name)))
    return one_axes(plot_lifetimes(found), ax, name_of(diagnosis))


def spike(data: Data, at: str | pd.Timestamp | None = None, *, ax: Axes | None = None) -> Axes:
    """Draw the excess allocation in an interval between two heap profiles that have times.

    `at` is a snapshot or a time; if None, the interval that stands out is drawn. Raises
    CaptureError if no interval stands out.
    """
    diagnosis = diagnosis_of(data)
    found = diagnosis.spike(at)
    if found is None:
        raise CaptureError(why_no_spike(diagnosis.facts.profiles, diagnosis.capture.file_name))
    rows = found.allocated.rename(columns={"extra_bytes": "value"})
    beyond = rows[rows["value"] > 0]
    rows = beyond if len(beyond) else rows
    ends = MomentName(found.before), MomentName(found.after)
    title = hidden_here().text(text("Allocated beyond the usual from {} to {}", *ends))
    drawing = plot_sites(rows, "bytes", title=title)
    return one_axes(drawing, ax, _interval(found), name_of(diagnosis))


def _interval(found: Spike) -> str:
    """The interval's length, its total allocation, and the usual share of that."""
    allocated, seconds = format_bytes(found.allocated_bytes), format_seconds(found.seconds)
    usual = "" if isnan(found.usual_bytes) else f", {format_bytes(found.usual_bytes)} is usual"
    return f"{allocated} in {seconds}{usual}"


def flame(
    profile: Profile,
    base: Profile | None = None,
    sample_type: str | None = None,
    *,
    upwards: bool = False,
    least_width: float = 0.001,
    name: str = "flame",
) -> FlameGraph:
    """Draw a profile of any kind as a flame graph, or its change since an earlier profile.

    If `sample_type` is None, the profile's default is used. Callees are below their callers, or
    above with `upwards`; frames below `least_width` of the total are left out; `name` is unique on
    its page. Raises ValueError if a profile does not have the sample type, or if the name cannot be
    an id.
    """
    tree = call_tree(profile, sample_type, base, least_width=least_width)
    return draw_flame(tree, upwards=upwards, name=name)


def forest(
    comparison: Comparison | Data, after: Data | None = None, *, ax: Axes | None = None
) -> Axes:
    """Draw benchmarks before and after: medians with 95 % intervals, relative to before.

    Without benchmarks, all known metrics of both sides are drawn. `comparison` is a result of
    `gomem.compare`, or the before side, with `after` as the other.
    """
    found = comparison_of(comparison, after)
    rows = found.metrics[have_multiples(found.metrics)]
    of_benchmarks = rows[rows["layer"] == BENCHMARK]
    rows = of_benchmarks if len(of_benchmarks) else rows
    if rows.empty:
        raise CaptureError("no metric is known on both sides and above 0 before")
    return one_axes(drawn(plot_benchmarks, rows), ax)


def site_changes(
    comparison: Comparison | Data,
    after: Data | None = None,
    sample_type: str = "alloc_space",
    *,
    ax: Axes | None = None,
) -> Axes:
    """Draw the sites with the largest changes of a sample type in bytes, before and after.

    `comparison` is a result of `gomem.compare`, or the before side, with `after` as the other.
    """
    found = comparison_of(comparison, after)
    rows = found.sites[found.sites["sample_type"] == sample_type]
    if rows.empty:
        raise CaptureError(f"no two heap profiles have {sample_type} to compare")
    return one_axes(plot_site_changes(rows), ax)
