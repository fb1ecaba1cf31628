"""The report's section on growth over a series of profiles."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from gomem.text import Seconds
from gomem.units import format_bytes, format_rate, format_seconds, is_unknown, minus
from gomem.views.document import Cell, Figure, Paragraph, Section
from gomem.views.figures.flame_graph import known_name
from gomem.views.figures.growth import plot_growth
from gomem.views.tables import Column, Row, shown_by, size, table, words
from gomem.views.values import NOTHING
from gomem.views.words import how_many

if TYPE_CHECKING:
    import pandas as pd

    from gomem.analysis.profiles.growth import Series
    from gomem.diagnosis.diagnosis import Diagnosis

SHOWN = 15  # rows; the JSON report and `Diagnosis.growth` have all
CALLERS = 3  # shown below a function's name


def growth_section(diagnosis: Diagnosis) -> Section | None:
    """The stacks that change; None without a series, or if none changes."""
    series, growth = diagnosis.facts.profiles.heap_series, diagnosis.growth
    moving = growth[growth["shape"] != "flat"]
    if series is None or moving.empty:
        return None
    caption = (
        "inuse_space of the call stacks with the steepest slopes. Each mark is a heap profile."
    )
    figure = Figure(caption, plot_growth, lambda: {"series": series, "growth": growth})
    shown = moving[moving["leak"].isna() | moving["representative"].fillna(value=False)]
    more = f", {SHOWN} of {len(shown)}" if len(shown) > SHOWN else ""
    horizon = Seconds(diagnosis.facts.profiles.growth_horizon_seconds)
    projected = Column(f"projected, in {horizon}", _projected)
    columns = (Column("stack", partial(_row, moving), "<"), *SLOPES, projected)
    slopes = table(f"Stacks by slope of inuse_space{more}", columns, shown.head(SHOWN))
    shapes = moving["shape"].value_counts()
    gist = ", ".join(f"{how_many(count, 'stack')}: {shape}" for shape, count in shapes.items())
    blocks = (Paragraph(_words(series, growth)), figure, slopes)
    return Section("growth", "Growth by stack", blocks, gist=gist)


def _words(series: Series, growth: pd.DataFrame) -> str:
    seconds = float(series.moments["seconds"].iloc[-1])
    has_repeats = bool(series.repeated)
    which = f"{len(series.moments)}{' distinct' * has_repeats} heap profiles"
    text = f"inuse_space by stack in {which} over {format_seconds(seconds)}"
    if has_repeats:
        count = len(series.repeated)
        text += f" ({count} more {'is' if count == 1 else 'are'} identical to the previous one)"
    flat = int((growth["shape"] == "flat").sum())
    if flat:
        are = "stack is" if flat == 1 else "stacks are"
        text += f". {flat} more {are} flat and not shown"
    return (
        f"{text}. The slope is the median of all pairwise slopes; its interval includes sampling "
        "error. Profiles lag and a function can have several stacks, so the live heap can grow "
        "faster than any of them. The last column projects each stack forward by three times the "
        "observed time, at most an hour: a ramp continues at its slope, a saw-tooth stays at its "
        "peak, and any other shape stays at its last value."
    )


def _row(moving: pd.DataFrame, row: Row) -> Cell:
    """The allocating function and its callers; for a leak, its largest stack and how many rise."""
    *callers, function = row["stack"].split(";")
    note = " < ".join(known_name(name) for name in reversed(callers[-CALLERS:]))
    alike = 0 if is_unknown(row["leak"]) else int((moving["leak"] == row["leak"]).sum()) - 1
    if alike:
        note += f"; {alike} more {'stack rises' if alike == 1 else 'stacks rise'} with it"
    return Cell(known_name(function), note=note, code=True)


def _per_second(rate: float, row: Row) -> str:
    return minus(format_rate(rate, row["slope_low"], row["slope_high"]))


def _projected(row: Row) -> Cell:
    if is_unknown(row["projected"]):
        return NOTHING
    low, high = format_bytes(row["projected_low"]), format_bytes(row["projected_high"])
    note = "" if is_unknown(row["projected_low"]) else f"{low} to {high}"
    return Cell(format_bytes(row["projected"]), note=note)


SLOPES = (
    words("shape", "shape"),
    size("first", "first"),
    size("last", "last"),
    shown_by(Cell)("slope", lambda row: _per_second(row["slope"], row)),
    shown_by(Cell)(
        "95 % interval",
        lambda row: " to ".join(_per_second(row[end], row) for end in ("slope_low", "slope_high")),
    ),
)
