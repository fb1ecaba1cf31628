"""Evidence that several causes cite."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from gomem.causes.finding import Evidence
from gomem.text import Bytes, Count, Share, Text, text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gomem.analysis.series.level import Rise
    from gomem.facts.moment import MomentFacts
    from gomem.releases import GoVersion

RELEASE = "Go release"  # as evidence names it
COMPUTED = "computed"  # the artefact of numbers that the ledger computes from several files
MAX_NAMED = 2  # artefacts
WHOLE = {"B", "count"}  # units that are whole numbers


def known(artefact: str, unit: str, values: Mapping[str, float | None]) -> tuple[Evidence, ...]:
    """Return known numbers of one artefact as evidence.

    Args:
        artefact: See `Evidence`.
        unit: See `Evidence`; bytes and counts are rounded.
        values: By field, in the base unit; None if unknown.
    """
    return tuple(
        Evidence(artefact, name, round(value) if unit in WHOLE else value, unit)
        for name, value in values.items()
        if value is not None
    )


def rss_evidence(moment: MomentFacts) -> tuple[Evidence, ...]:
    """Return RSS, with its artefact and field; empty if unknown."""
    ledger = moment.ledger
    if ledger is None or ledger.rss_bytes is None:
        return ()
    _, _, field_name = ledger.rss_source.partition(" ")
    return known(rss_path(moment), "B", {field_name: ledger.rss_bytes})


def rss_path(moment: MomentFacts) -> str:
    """Return the artefact with RSS; empty if unknown."""
    source = "" if moment.ledger is None else moment.ledger.rss_source
    return moment.path(source.partition(" ")[0]) if source else ""


def goal_evidence(moment: MomentFacts) -> tuple[Evidence, ...]:
    """Return the heap goal of a snapshot; empty without a goal."""
    goal = moment.goal
    return () if goal is None else (Evidence(goal.path, goal.field, goal.size_bytes, "B"),)


def heap_evidence(moment: MomentFacts, *fields: str) -> tuple[Evidence, ...]:
    """Return MemStats sizes by name, without unknown sizes."""
    known_by = (moment.memstats, moment.heap, moment.partial)
    stats = next((stats for stats in known_by if stats is not None), None)
    if stats is None:
        return ()
    sizes = {name: int(stats[name]) for name in fields if pd.notna(stats.get(name))}
    return known(moment.path("memstats"), "B", sizes)


def rise_evidence(
    artefacts: Sequence[str], what: str, rise: Rise, unit: str = "B", *, has_last: bool = True
) -> tuple[Evidence, ...]:
    """Return a level's first and last value; for many readings, medians, and the last reading.

    `artefacts` are those of the readings, in order; a single one has them all.
    """
    first, last = artefacts[0], artefacts[-1]
    if not rise.are_medians:
        return (
            *known(first, unit, {f"{what}, first": rise.first}),
            *known(last, unit, {f"{what}, last": rise.last}),
        )
    levels = {
        f"{what}, median of the first 10 % of readings": rise.first,
        f"{what}, median of the last 10 % of readings": rise.last,
    }
    reached = {f"{what}, last": rise.reached} if has_last else {}
    return (*known(all_of(artefacts), unit, levels), *known(last, unit, reached))


def all_of(artefacts: Sequence[str]) -> str:
    """Name the artefacts of one number, or if they are many, how many they are."""
    several = list(dict.fromkeys(artefacts))
    many = str(Count(len(several), "file"))
    return ", ".join(several) if len(several) <= MAX_NAMED else many


def watched_evidence(artefact: str, rise: Rise) -> tuple[Evidence, ...]:
    """Return how long a level was watched, and the time from first to last reading if shorter."""
    apart = rise.apart_seconds if rise.apart_seconds < rise.seconds else None
    return known(
        artefact, "s", {"time between those readings": apart, "time watched": rise.seconds}
    )


def release_evidence(version: GoVersion) -> Evidence:
    """Return the Go release, and its source."""
    return Evidence(RELEASE, version.evidence, str(version), "")


def of_rss(size: float, rss_bytes: int) -> Text:
    """Format a size with its share of RSS: `12 MiB (30 % of RSS)`."""
    return text("{} ({} of RSS)", Bytes(round(size)), Share(size / rss_bytes))
