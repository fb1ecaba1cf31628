"""Do the kernel's totals agree with a ledger, and the two sides of it with one another?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from gomem.analysis.mappings.kinds import work_buffer_bytes
from gomem.analysis.memory.totals import SCRAPED
from gomem.inputs.schema import Column, build_rows
from gomem.text import Bytes, Count, Seconds, text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gomem.analysis.mappings.kinds import ClassifiedMappings

LEDGER_CHECKS = (
    Column("total", "str", "", "A total of the kernel's."),
    Column("bytes", "int64", "B", "What it says."),
    Column("difference_bytes", "int64", "B", "That, less the ledger's RSS."),
)
ROUNDING = 64 << 10  # VmRSS is counted per CPU, so it agrees to within this


def fits(classified: ClassifiedMappings | None, memstats: pd.Series | None) -> bool:
    """Whether the arenas in smaps hold what MemStats says; true if that cannot be checked."""
    if classified is None or memstats is None:
        return True
    frame = classified.mappings
    found = bool((frame["kind"] == "go-heap").any())
    return not found or work_buffer_bytes(frame, memstats) is not None


def checks_of(
    rss_bytes: int | None,
    status: pd.Series | None,
    rollup_rss_bytes: int | None,
    scraped: Mapping[str, float],
) -> pd.DataFrame:
    """The kernel's other totals beside a ledger's; see `LEDGER_CHECKS`."""
    totals: list[tuple[str, int]] = []
    if rollup_rss_bytes is not None:
        totals.append(("smaps_rollup Rss", rollup_rss_bytes))
    if status is not None and not pd.isna(status["VmRSS"]):
        totals.append(("status VmRSS", int(status["VmRSS"])))
    if SCRAPED in scraped:
        totals.append((f"metrics-page {SCRAPED}", int(scraped[SCRAPED])))
    rows = [(name, size, size - rss_bytes) for name, size in totals if rss_bytes is not None]
    return build_rows(rows, LEDGER_CHECKS)


def disagreements(checks: pd.DataFrame) -> list[str]:
    """Of the totals that lie further from the ledger's than counting by CPU explains."""
    return [
        text(
            "{} differs from the sum of smaps by {}: the files are of different moments, or one is "
            "cut",
            row.total,
            Bytes(row.difference_bytes),
        )
        for row in checks.itertuples()
        if abs(row.difference_bytes) > max(ROUNDING, 0.01 * row.bytes)
    ]


def skew_notes(skew_seconds: float | None, collections: int | None) -> list[str]:
    """That MemStats and smaps are of two moments, and what lies between them."""
    if not collections and (skew_seconds is None or skew_seconds < 1):
        return []
    apart = text(" {}", Seconds(skew_seconds)) if skew_seconds is not None else ""
    lie = text("MemStats and smaps lie{} apart", apart)
    if collections:
        return [text("{}, and {} ended between them", lie, Count(collections, "collection"))]
    if collections == 0:
        return [lie + "; no collection ended between them"]
    return [
        lie + "; a collection between them moves hundreds of megabytes from one part to another, "
        "and nothing here says whether there was one"
    ]
