"""Mappings by kind, and the address space in a strip."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.inputs.schema import rows_of
from gomem.text import MomentName, text
from gomem.units import format_bytes, format_count
from gomem.views.document import Cell, Figure, Section, Table
from gomem.views.figures.address_space import plot_address_space
from gomem.views.report.shown import drawn_of, first_of, of_moments
from gomem.views.values import bytes_cell, count_cell

if TYPE_CHECKING:
    import pandas as pd

    from gomem.diagnosis.diagnosis import Diagnosis

CAPTION = (
    "Regions in order of address, as wide as they are mapped, filled as far as resident. "
    "Address space that is merely reserved is left out."
)
SHOWN = {
    "mapped": "size_bytes", "resident": "rss_bytes", "Pss": "pss_bytes",
    "shared": "shared_bytes", "swapped": "swap_bytes",
}  # fmt: skip


def mappings_section(diagnosis: Diagnosis) -> Section | None:
    """The strip of the moment that is shown first, and a table of each; None without smaps."""
    kinds = diagnosis.kinds
    names = list(dict.fromkeys(kinds["moment"]))
    if not names:
        return None
    first = first_of(names, diagnosis)
    drawn = drawn_of(names, first)
    own = {name: kinds[kinds["moment"] == name] for name in names}
    blocks = {
        name: (
            *((_strip(diagnosis, name, place),) if name in drawn else ()),
            kinds_table(rows, MomentName(name)),
        )
        for place, (name, rows) in enumerate(own.items(), start=1)
    }
    choice = of_moments(blocks, first)
    return Section("mappings", "Kinds of mappings", (choice,), gist=_gist(own[first]))


def _strip(diagnosis: Diagnosis, moment: str, place: int) -> Figure:
    return Figure(
        CAPTION,
        plot_address_space,
        lambda: {
            "regions": diagnosis.facts.regions(moment), "name": f"address-space-{place}",
            "moment": MomentName(moment),
        },
    )  # fmt: skip


def _gist(kinds: pd.DataFrame) -> str:
    """How much is mapped, and how much of it resident."""
    mapped, resident = (kinds[name].sum(min_count=1) for name in ("size_bytes", "rss_bytes"))
    count = format_count(int(kinds["vmas"].sum()))
    return f"{count} mappings of {format_bytes(mapped)}, {format_bytes(resident)} resident"


def kinds_table(kinds: pd.DataFrame, moment: str) -> Table:
    """A row per kind; what the kernel does not print has no column."""
    known = {head: name for head, name in SHOWN.items() if kinds[name].notna().any()}
    rows = tuple(
        (
            Cell(row["kind"]),
            count_cell(row["vmas"]),
            *(bytes_cell(row[name]) for name in known.values()),
        )
        for row in rows_of(kinds)
    )
    columns = ("kind", "mappings", *known)
    return Table(
        text("Mappings by kind, {}", moment), columns, "<" + ">" * (len(columns) - 1), rows
    )
