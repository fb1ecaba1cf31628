"""What grows over a series of profiles, as a section of the report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gomem.inputs.schema import rows_of
from gomem.units import format_bytes, format_seconds, is_unknown, minus
from gomem.views.document import Block, Cell, Figure, Paragraph, Section, Table
from gomem.views.figures.flame_graph import known_name
from gomem.views.figures.growth import plot_growth
from gomem.views.values import NOTHING, bytes_cell
from gomem.views.words import how_many

if TYPE_CHECKING:
    import pandas as pd

    from gomem.analysis.profiles.growth import Series
    from gomem.diagnosis.diagnosis import Diagnosis

SHOWN = 15  # rows; the JSON report and `Diagnosis.growth` have all
CALLERS = 3  # that stand below a function's name


def growth_section(diagnosis: Diagnosis) -> Section | None:
    """The stacks that move; None without a series, or if none does."""
    series, growth = diagnosis.facts.profiles.heap_series, diagnosis.growth
    moving = growth[growth["shape"] != "flat"]
    if series is None or moving.empty:
        return None
    caption = "What the stacks with the largest slopes have in use; each mark is a heap profile."
    figure = Figure(caption, plot_growth, lambda: {"series": series, "growth": growth})
    blocks: list[Block] = [Paragraph(_words(series, growth)), figure, _table(moving)]
    return Section("growth", "What grows", tuple(blocks), gist=_gist(moving))


def _gist(moving: pd.DataFrame) -> str:
    shapes = moving["shape"].value_counts()
    return ", ".join(f"{how_many(count, 'stack')}: {shape}" for shape, count in shapes.items())


def _words(series: Series, growth: pd.DataFrame) -> str:
    seconds = float(series.moments["seconds"].iloc[-1])
    text = f"inuse_space by stack in {len(series.moments)} heap profiles over "
    text += f"{format_seconds(seconds)}"
    if series.repeated:
        count = len(series.repeated)
        text += f"; {count} more {'repeats' if count == 1 else 'repeat'} the one before"
    flat = int((growth["shape"] == "flat").sum())
    if flat:
        text += f". {flat} stacks stay as they are"
    return (
        f"{text}. The slope is the median over all pairs of profiles; its interval includes the "
        "error of sampling. Only a ramp is projected to go on; a saw-tooth comes back to its "
        "highest level, everything else stays at its last."
    )


def _table(moving: pd.DataFrame) -> Table:
    """For each leak, only its largest stack."""
    shown = moving[moving["leak"].isna() | moving["representative"].fillna(value=False)]
    rows = tuple(_row(row, moving) for row in rows_of(shown.head(SHOWN)))
    columns = ("allocates", "shape", "first", "last", "a second", "95 % interval", "in an hour")
    more = f", {SHOWN} of {len(shown)}" if len(shown) > SHOWN else ""
    return Table(f"Stacks by slope of inuse_space{more}", columns, "<<>>>>>", rows)


def _row(row: dict[str, Any], moving: pd.DataFrame) -> tuple[Cell, ...]:
    *callers, function = row["stack"].split(";")
    note = " < ".join(known_name(name) for name in reversed(callers[-CALLERS:]))
    alike = 0 if is_unknown(row["leak"]) else int((moving["leak"] == row["leak"]).sum()) - 1
    if alike:
        note += f"; {alike} more {'stack rises' if alike == 1 else 'stacks rise'} with it"
    return (
        Cell(known_name(function), note=note, code=True),
        Cell(row["shape"]),
        bytes_cell(row["first"]),
        bytes_cell(row["last"]),
        Cell(_per_second(row["slope"])),
        Cell(f"{_per_second(row['slope_low'])} to {_per_second(row['slope_high'])}"),
        _projected(row),
    )


def _per_second(rate: float) -> str:
    return minus(f"{format_bytes(rate)}/s")


def _projected(row: dict[str, Any]) -> Cell:
    if is_unknown(row["projected"]):
        return NOTHING
    note = ""
    if not is_unknown(row["projected_low"]):
        note = f"{format_bytes(row['projected_low'])} to {format_bytes(row['projected_high'])}"
    return Cell(format_bytes(row["projected"]), note=note)
