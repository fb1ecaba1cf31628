"""Convert the caller's data to the results that figures draw, and find the Axes to draw on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from os import PathLike
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, cast

import pandas as pd

from gomem.capture.capture import Capture
from gomem.comparison.comparison import compare
from gomem.comparison.samples import Comparison
from gomem.diagnosis.diagnosis import Diagnosis, diagnose
from gomem.errors import CaptureError
from gomem.facts.collector import CollectorFacts
from gomem.inputs.gctrace.table import GcLog
from gomem.inputs.pprof.table import Profile
from gomem.text import CaptureName, File, MomentName, joined, text
from gomem.views.here import hidden_here
from gomem.views.share import share

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TypeAlias

    from matplotlib.axes import Axes

    from gomem.charts.figure import Drawing

    Path: TypeAlias = str | PathLike[str]
    Data: TypeAlias = Diagnosis | Capture | Path
    Log: TypeAlias = GcLog | Data

PAGE: Any = object()  # a value of `ax` for the drawing itself, shown as SVG


def diagnosis_of(data: Data) -> Diagnosis:
    """Return the diagnosis of the caller's data; a diagnosis is returned unchanged."""
    if isinstance(data, Diagnosis):
        return data
    if isinstance(data, pd.DataFrame):
        raise TypeError("a DataFrame; wanted a diagnosis, a capture, or the path of one")
    return diagnose(data)


def several_of(data: Data | Mapping[str, Data]) -> dict[str, Data] | None:
    """Return several captures by name; None if `data` is one capture, or another kind of data."""
    if isinstance(data, Mapping) and not isinstance(data, Capture):
        return dict(data)
    return None


def comparison_of(comparison: Comparison | Data, after: Data | None) -> Comparison:
    """Return the comparison of two sides, or `comparison` if it already is one."""
    if isinstance(comparison, Comparison):
        return comparison
    if after is None:
        raise CaptureError("one side alone; wanted two, or what gomem.compare returned")
    return compare(comparison, after)


def collector_of(log: Log) -> CollectorFacts:
    """Return the facts about the GC from a log, or data with a log; CaptureError without any GC."""
    if not isinstance(log, GcLog):
        return diagnosis_of(log).logged
    if not len(log.cycles):
        raise CaptureError("the log has no collection")
    return CollectorFacts(log, "gctrace")


def name_of(data: object) -> CaptureName | None:
    """Return the capture's name; None for a log, a frame or several captures."""
    if isinstance(data, Diagnosis):
        return CaptureName(data.capture.file_name)
    if isinstance(data, Capture):
        return CaptureName(data.file_name)
    return CaptureName(PurePath(data).name) if isinstance(data, (str, PathLike)) else None


def drawn(plot: Callable[..., Drawing], *data: Any, **options: Any) -> Drawing:
    """Draw a figure; in a redacted notebook, names in its data are replaced."""
    hidden = hidden_here()
    shown = (share(each, hidden) for each in data) if hidden.redact else data
    return plot(*shown, **options)


def profile_of(
    data: Profile | Data, moment: str | None
) -> tuple[Profile, tuple[str | None, str | None]]:
    """Return a profile, or a snapshot's heap profile, with the names of capture and snapshot."""
    if isinstance(data, Profile):
        return data, (File(PurePath(data.source).name), None)
    diagnosis = diagnosis_of(data)
    profiles = diagnosis.capture.heap_profiles
    name = moment_of(diagnosis, moment, profiles, "has a heap profile", sites=True)
    return profiles[name], (name_of(diagnosis), MomentName(name))


def moment_of(
    diagnosis: Diagnosis,
    asked: str | None,
    known: Mapping[str, Any] | Sequence[str],
    wanted: str,
    *,
    sites: bool = False,
) -> str:
    """Return the requested snapshot; if None, the first to show of those that have the data.

    Raises KeyError for an unknown snapshot, CaptureError if the requested one lacks the data.
    """
    if asked is not None:
        diagnosis.capture[asked]  # raises KeyError with all names if it is unknown
    first = diagnosis.sites_first if sites else diagnosis.shown_first
    for name in (asked,) if asked is not None else (first, *reversed(list(known))):
        if name in known:
            return str(name)
    named = (name_of(diagnosis), MomentName(asked or ""))
    raise CaptureError(text("{}: nothing here {}", joined(", ", filter(None, named)), wanted))


def one_axes(drawing: Drawing, ax: Axes | None, *about: str | None) -> Axes:
    """Draw a figure of one panel, with its title and subject; see `all_axes`."""
    if ax is PAGE:
        return cast("Axes", _headed(drawing, about))  # only `gomem.notebook.show` requests it
    return all_axes(drawing, None if ax is None else [ax], *about)[0]


def all_axes(drawing: Drawing, axes: Sequence[Axes] | None, *about: str | None) -> list[Axes]:
    """Draw a figure with its title and subject (capture, snapshot); empty words are left out.

    matplotlib is imported for the first figure.
    """
    headed = _headed(drawing, about)
    if axes is PAGE:
        return cast("list[Axes]", headed)
    from gomem.charts.matplotlib_axes import draw_on

    return draw_on(headed.chart, axes, headed.heading)


def _headed(drawing: Drawing, about: Sequence[str | None]) -> Drawing:
    heading = joined(" · ", filter(None, (drawing.title, *about)))
    return replace(drawing, heading=hidden_here().text(heading))
