"""Object lifetimes, as a part of the report's allocation sites."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.text import Function, MomentName, Text, joined, text
from gomem.views.document import Block, Cell, Figure, Folded, Paragraph
from gomem.views.figures.flame_graph import known_name
from gomem.views.figures.lifetimes import plot_lifetimes
from gomem.views.tables import Column, Row, function, rate, seconds, size, table, words
from gomem.views.values import between, seconds_cell

if TYPE_CHECKING:
    from gomem.analysis.profiles.lifetimes import Lifetimes
    from gomem.diagnosis.diagnosis import Diagnosis

SHOWN = 12  # sites
CAPTION = "Bytes in use / bytes allocated per second; the dashed line is the time watched."


def _bounds(row: Row) -> Cell:
    return between(row["lifetime_low"], row["lifetime_high"], seconds_cell)


COLUMNS = (
    function("function", "function"),
    rate("allocated", "alloc_bytes_per_second"),
    size("in use", "inuse_bytes"),
    seconds("mean lifetime", "lifetime_seconds"),
    Column("95 % interval", _bounds),
    words("lives", "life"),
)


def lifetime_blocks(diagnosis: Diagnosis) -> tuple[Block, ...]:
    """Lifetimes and advice; empty with a single profile."""
    lives = diagnosis.facts.lifetimes
    if lives is None or lives.note or lives.sites.empty:
        return ()
    ends = (MomentName(lives.first), MomentName(lives.last))
    shown = table(text("Mean lifetime by site, {} to {}", *ends), COLUMNS, lives.largest(SHOWN))
    figure = Figure(CAPTION, plot_lifetimes, lambda: {"lifetimes": lives})
    return (
        Folded(
            "Object lifetimes: candidates for a sync.Pool",
            (Paragraph(_advice(lives)), figure, shown),
        ),
    )


def _advice(lives: Lifetimes) -> Text:
    """Where a sync.Pool helps, and what is retained."""
    parts = (
        ("A sync.Pool pays in {}: these functions allocate much and drop it soon.", lives.pooling),
        ("Retained during the whole capture: memory from {}.", lives.aging),
    )
    said = [
        text(template, joined(", ", map(Function, map(known_name, sites["function"]))))
        for template, sites in parts
        if len(sites)
    ]
    return joined(" ", said or ["No site stands out by the lifetime of its objects."])
