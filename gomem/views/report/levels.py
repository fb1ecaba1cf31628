"""The report's section on typical and highest RSS and heap over many snapshots."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gomem.inputs.schema import rows_of
from gomem.units import format_bytes, is_unknown
from gomem.views.document import Paragraph, Section
from gomem.views.tables import count, size, table, words

if TYPE_CHECKING:
    from gomem.diagnosis.diagnosis import Diagnosis

NAMES = {"rss_bytes": "RSS", "HeapAlloc": "HeapAlloc", "HeapInuse": "HeapInuse"}
QUANTILES = {"p50_bytes": "median", "p99_bytes": "p99", "p999_bytes": "p99.9"}
COLUMNS = (
    words("level", lambda row: NAMES[row["level"]]),
    count("snapshots", "moments"),
    *(size(word, name) for name, word in QUANTILES.items()),
    size("peak", "max_bytes"),
)


def levels_section(diagnosis: Diagnosis) -> Section | None:
    """Quantiles over the moments; None if there are too few."""
    rows = rows_of(diagnosis.facts.level_quantiles)
    if not rows:
        return None
    quantiles = table("RSS and heap over the snapshots", COLUMNS, rows)
    said = _words(rows[0])
    blocks = (Paragraph(said), quantiles)
    return Section(
        "levels", "Distribution of RSS and heap", blocks, brief=False, gist=said.rstrip(".")
    )


def _words(row: dict[str, Any]) -> str:
    """The first level in a sentence, with the quantiles that enough snapshots support."""
    known = [
        f"{word} {format_bytes(row[name])}"
        for name, word in QUANTILES.items()
        if not is_unknown(row[name])
    ]
    peak = f"peak {format_bytes(row['max_bytes'])}"
    return f"{NAMES[row['level']]} over {row['moments']} snapshots: {', '.join([*known, peak])}."
