"""How high RSS and the heap lie over many moments, as a section of the report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gomem.inputs.schema import rows_of
from gomem.units import format_bytes, is_unknown
from gomem.views.document import Paragraph, Section
from gomem.views.tables import count, size, table, words

if TYPE_CHECKING:
    from gomem.diagnosis.diagnosis import Diagnosis

NAMES = {"rss_bytes": "RSS", "HeapAlloc": "HeapAlloc", "HeapInuse": "HeapInuse"}
SHARES = {"p50_bytes": "half", "p99_bytes": "99 %", "p999_bytes": "99.9 %"}
COLUMNS = (
    words("level", lambda row: NAMES[row["level"]]),
    count("moments", "moments"),
    *(size(share, name) for name, share in SHARES.items()),
    size("highest", "max_bytes"),
)


def levels_section(diagnosis: Diagnosis) -> Section | None:
    """Quantiles over the moments; None of few."""
    rows = rows_of(diagnosis.facts.level_quantiles)
    if not rows:
        return None
    caption = "Levels over the moments: what half, 99 % and 99.9 % of them do not exceed"
    quantiles = table(caption, COLUMNS, rows)
    said = _words(rows[0])
    blocks = (Paragraph(said), quantiles)
    return Section("levels", "How high memory lies", blocks, brief=False, gist=said.rstrip("."))


def _words(row: dict[str, Any]) -> str:
    """The first level in a sentence, as far as its moments carry it."""
    told = [
        f"{share} of the moments at or below {format_bytes(row[name])}"
        for name, share in SHARES.items()
        if not is_unknown(row[name])
    ]
    shares = ", ".join(told)
    return f"{NAMES[row['level']]}: {shares}; at most {format_bytes(row['max_bytes'])}."
