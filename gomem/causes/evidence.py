"""Evidence that several causes cite."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from gomem.causes.finding import Evidence
from gomem.text import Bytes, Share, Text, text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gomem.analysis.series.level import Rise
    from gomem.facts.moment import MomentFacts
    from gomem.releases import GoVersion

RELEASE = "Go release"  # where evidence names it
COMPUTED = "computed"  # where it names what the ledger makes of several files
WHOLE = {"B", "count"}  # units without fractions


def known(artefact: str, unit: str, values: Mapping[str, float | None]) -> tuple[Evidence, ...]:
    """Numbers of one artefact by their fields, those that are known.

    Args:
        artefact: As of `Evidence`.
        unit: The same; bytes and counts are rounded to whole ones.
        values: In the base unit; None where it is unknown.
    """
    return tuple(
        Evidence(artefact, name, round(value) if unit in WHOLE else value, unit)
        for name, value in values.items()
        if value is not None
    )


def rss_evidence(moment: MomentFacts) -> tuple[Evidence, ...]:
    """RSS, with the artefact and the field that say so; none where it is unknown."""
    ledger = moment.ledger
    if ledger is None or ledger.rss_bytes is None:
        return ()
    kind, _, field_name = ledger.rss_source.partition(" ")
    return known(moment.path(kind), "B", {field_name: ledger.rss_bytes})


def goal_evidence(moment: MomentFacts) -> tuple[Evidence, ...]:
    """The heap goal of a moment; none where it has none."""
    goal = moment.goal
    return () if goal is None else (Evidence(goal.path, goal.field, goal.size_bytes, "B"),)


def heap_evidence(moment: MomentFacts, *fields: str) -> tuple[Evidence, ...]:
    """Sizes of MemStats by their names; none for one that is unknown."""
    stats = moment.heap if moment.memstats is None else moment.memstats
    if stats is None:
        return ()
    sizes = {name: int(stats[name]) for name in fields if pd.notna(stats.get(name))}
    return known(moment.path("memstats"), "B", sizes)


def rise_evidence(
    artefact: str, what: str, rise: Rise, unit: str = "B", *, has_last: bool = True
) -> tuple[Evidence, ...]:
    """From where to where a level rose; of many readings, by medians, and the last one beside."""
    if not rise.are_medians:
        return known(artefact, unit, {f"{what}, first": rise.first, f"{what}, last": rise.last})
    levels = {
        f"{what}, median of the first tenth": rise.first,
        f"{what}, median of the last tenth": rise.last,
    }
    last = {f"{what}, last": rise.reached} if has_last else {}
    return known(artefact, unit, levels | last)


def watched_evidence(artefact: str, rise: Rise) -> tuple[Evidence, ...]:
    """How long a level was watched, and how far its first and last apart lie if that is less."""
    apart = rise.apart_seconds if rise.apart_seconds < rise.seconds else None
    return known(artefact, "s", {"time from first to last": apart, "time watched": rise.seconds})


def release_evidence(version: GoVersion) -> Evidence:
    """The Go release, and how it is known."""
    return Evidence(RELEASE, version.evidence, str(version), "")


def of_rss(size: float, rss_bytes: int) -> Text:
    """A size and its share of RSS: `12 MiB (30 % of RSS)`."""
    return text("{} ({} of RSS)", Bytes(round(size)), Share(size / rss_bytes))
