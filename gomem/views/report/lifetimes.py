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
CAPTION = (
    "The mean lifetime of a site's objects is its bytes in use divided by its allocation rate. The "
    "dashed line is the length of the capture."
)


def _bounds(row: Row) -> Cell:
    return between(row["lifetime_low"], row["lifetime_high"], seconds_cell)


COLUMNS = (
    function("function", "function"),
    rate("allocated", "alloc_bytes_per_second"),
    size("mean in use", "inuse_bytes"),
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
            (Paragraph(_advice(diagnosis.facts.own_lifetimes)), figure, shown),
        ),
    )


def _advice(own: Lifetimes | None) -> Text:
    """Which of the program's own functions could use a sync.Pool, and whose memory stays."""
    parts = () if own is None else (
        (
            "Candidates for a sync.Pool: {}. Much is allocated in their calls and soon freed.",
            own.pooling,
        ),
        ("Most of the memory from {} stayed in use during the capture.", own.aging),
    )  # fmt: skip
    said = [
        text(template, joined(", ", map(Function, map(known_name, names))))
        for template, sites in parts
        if (names := [name for name in sites["function"] if name])  # "" is all in the library
    ]
    return joined(" ", said or ["No function stands out by the lifetime of its objects."])
