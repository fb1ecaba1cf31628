"""How high RSS and the heap lie over many moments, as a section of the report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gomem.inputs.schema import rows_of
from gomem.units import format_bytes, format_count, is_unknown
from gomem.views.document import Cell, Paragraph, Section, Table
from gomem.views.values import bytes_cell

if TYPE_CHECKING:
    from gomem.diagnosis.diagnosis import Diagnosis

NAMES = {"rss_bytes": "RSS", "HeapAlloc": "HeapAlloc", "HeapInuse": "HeapInuse"}
SHARES = {"p50_bytes": "half", "p99_bytes": "99 %", "p999_bytes": "99.9 %"}


def levels_section(diagnosis: Diagnosis) -> Section | None:
    """Quantiles over the moments; None of few."""
    rows = rows_of(diagnosis.facts.level_quantiles)
    if not rows:
        return None
    table = Table(
        "Levels over the moments: what half, 99 % and 99.9 % of them do not exceed",
        ("level", "moments", "half", "99 %", "99.9 %", "highest"),
        "<>>>>>",
        tuple(_row(row) for row in rows),
    )
    words = _words(rows[0])
    blocks = (Paragraph(words), table)
    return Section("levels", "How high memory lies", blocks, brief=False, gist=words.rstrip("."))


def _row(row: dict[str, Any]) -> tuple[Cell, ...]:
    cells = (bytes_cell(row[name]) for name in (*SHARES, "max_bytes"))
    return (Cell(NAMES[row["level"]]), Cell(format_count(row["moments"])), *cells)


def _words(row: dict[str, Any]) -> str:
    """The first level in a sentence, as far as its moments carry it."""
    told = [
        f"{share} of the moments at or below {format_bytes(row[name])}"
        for name, share in SHARES.items()
        if not is_unknown(row[name])
    ]
    shares = ", ".join(told)
    return f"{NAMES[row['level']]}: {shares}; at most {format_bytes(row['max_bytes'])}."
