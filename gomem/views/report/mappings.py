"""Mappings by kind, and the address space as a strip."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from gomem.text import MomentName, text
from gomem.units import format_bytes, format_count
from gomem.views.document import Block, Figure, Section
from gomem.views.figures.address_space import plot_address_space
from gomem.views.report.shown import drawn_of, first_of, of_moments
from gomem.views.tables import count, size, table, words

if TYPE_CHECKING:
    import pandas as pd

    from gomem.diagnosis.diagnosis import Diagnosis

CAPTION = (
    "Regions by address. The width of a region is its mapped size; its filled part is in RSS. "
    "Address space that is only reserved is left out."
)
SHOWN = {
    "mapped": "size_bytes", "RSS": "rss_bytes", "Pss": "pss_bytes",
    "shared": "shared_bytes", "swapped": "swap_bytes",
}  # fmt: skip
COLUMNS = (words("kind", "kind"), count("mappings", "vmas"), *map(size, SHOWN, SHOWN.values()))


def mappings_section(diagnosis: Diagnosis) -> Section | None:
    """The strip of the moment shown first, and a table per moment; None without smaps."""
    own = dict(iter(diagnosis.kinds.groupby("moment", sort=False)))
    if not own:
        return None
    first = first_of(own, diagnosis)
    drawn = drawn_of(list(own), first)
    blocks: dict[str, tuple[Block, ...]] = {}
    for place, (name, rows) in enumerate(own.items(), start=1):
        # Fields that the kernel does not print have no column.
        columns = [column for column in COLUMNS if column.heading not in SHOWN
                   or rows[SHOWN[column.heading]].notna().any()]  # fmt: skip
        kinds = table(text("Mappings by kind at {}", MomentName(name)), columns, rows)
        strip = Figure(CAPTION, plot_address_space, partial(_numbers, diagnosis, name, place))
        blocks[name] = (strip, kinds) if name in drawn else (kinds,)
    choice = of_moments(blocks, first)
    return Section("mappings", "Mappings", (choice,), gist=_gist(own[first]))


def _numbers(diagnosis: Diagnosis, moment: str, place: int) -> dict[str, Any]:
    regions = diagnosis.facts.regions(moment)
    return {"regions": regions, "name": f"address-space-{place}", "moment": MomentName(moment)}


def _gist(kinds: pd.DataFrame) -> str:
    """How much is mapped, and how much of that is resident."""
    mapped, resident = (kinds[name].sum(min_count=1) for name in ("size_bytes", "rss_bytes"))
    count = format_count(int(kinds["vmas"].sum()))
    return f"{count} mappings of {format_bytes(mapped)}, {format_bytes(resident)} in RSS"
