"""The first screen of a report, beside the verdict: whose the memory is, and what was found.

What it shows depends on what there is: the resident memory at the first moment and at the last, or
under the baseline and now; of a heap profile alone, who holds what is in use; of a log alone, the
collector's numbers and its saw-tooth.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from gomem.charts.look import BLUE, GROUP_LOOK
from gomem.diagnosis.findings import OF_DATA
from gomem.diagnosis.verdict import MISSING
from gomem.inputs.schema import rows_of
from gomem.text import MomentName, Text, Words, joined, text
from gomem.units import (
    format_bytes,
    format_count,
    format_fraction,
    format_seconds,
    format_value,
    is_unknown,
)
from gomem.views.document import Bar, Bars, Block, Figure, Key, Lead, Piece, Tile, Tiles
from gomem.views.figures.flame_graph import known_name
from gomem.views.figures.gc_timeline import plot_gc_timeline
from gomem.views.names import typed, typed_paths
from gomem.views.report.allocations import SAMPLE_TYPES
from gomem.views.report.ledger import OTHERS, SMALL
from gomem.views.report.verdict import TONES, together
from gomem.views.words import CLAIMED, GROUPS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gomem.analysis.memory.groups import MemoryGroups
    from gomem.causes.finding import Evidence, Finding
    from gomem.diagnosis.diagnosis import Diagnosis
    from gomem.facts.collector import CollectorFacts
    from gomem.facts.moment import MomentFacts

LEADS = 3
SITES = 6
PEAK = 1.25  # times the longer of first and last: a moment between them that is worth a bar
CAPTION = "Whose the resident memory is"
CLAIMS = "What Go claims; no file here says how much of it is resident"
GREY = GROUP_LOOK["undivided"]
HEAP = "go_heap"

_Labelled = tuple[str, "MomentFacts"]


def opening(diagnosis: Diagnosis) -> tuple[Block, ...]:
    """The bars, or what stands in for them; then the first findings, cut short."""
    return (*_shown(diagnosis), *_leads(diagnosis))


def _shown(diagnosis: Diagnosis) -> tuple[Block, ...]:
    moments = _moments(diagnosis)
    if moments:
        return (_bars(moments),)
    if diagnosis.sites_first is not None:
        return _sites(diagnosis, diagnosis.sites_first)
    if diagnosis.collector is not None and not diagnosis.collector.cycles.empty:
        return _log(diagnosis.collector)
    return ()


# Whose the memory is


def _moments(diagnosis: Diagnosis) -> list[_Labelled]:
    """Which moments to draw: the baseline's and its counterpart; else the first and the last."""
    known = [one for one in diagnosis.moments if one.groups is not None]
    known = [one for one in known if one.rss_bytes is not None] or known
    if not known:
        return []
    by_name = {one.name: one for one in known}
    shown = by_name.get(diagnosis.shown_first or "", known[-1])
    against = diagnosis.baseline_moment(shown.name)
    if against is not None and diagnosis.baseline is not None:
        old = diagnosis.baseline.by_moment[against]
        if old.groups is not None:
            before = text("baseline, {}", MomentName(old.name))
            return [(before, old), (MomentName(shown.name), shown)]
    chosen = dict.fromkeys([known[0].name, *_peak(known), known[-1].name])
    return [(MomentName(name), by_name[name]) for name in chosen]


def _peak(known: list[MomentFacts]) -> list[str]:
    sizes = [one.rss_bytes or 0 for one in known]
    highest = max(sizes)
    return [known[sizes.index(highest)].name] if highest >= PEAK * max(sizes[0], sizes[-1]) else []


def _bars(moments: list[_Labelled]) -> Bars:
    """A bar a moment, on one scale: filled what is resident, hollow what Go claims besides."""
    rows = [_groups(facts).drawn(facts.rss_bytes) for _, facts in moments]
    longest = max(sum(one.values()) + hollow for one, hollow in rows) or 1
    there = [group for group in GROUPS if any(one.get(group, 0) for one, _ in rows)]
    small = {
        group for group in there if all(one.get(group, 0) < SMALL * longest for one, _ in rows)
    }
    if len(small) == 1:
        small = set()
    resident = any(facts.rss_bytes is not None for _, facts in moments)
    bars = tuple(
        Bar(label, format_bytes(facts.rss_bytes if resident else sum(sizes.values())),
            tuple(_pieces(sizes, hollow, there, small, longest)))
        for (label, facts), (sizes, hollow) in zip(moments, rows, strict=True)
    )  # fmt: skip
    names = {group: name for _, facts in moments for group, name in _names(facts).items()}
    keys = [
        _key(names[group], group, [sizes for sizes, _ in rows])
        for group in there
        if group not in small
    ]
    if small:
        keys.append(_small_key(small, [sizes for sizes, _ in rows]))
    if any(hollow for _, hollow in rows):
        told = tuple(format_bytes(hollow) if hollow else "–" for _, hollow in rows)
        keys.append(Key(CLAIMED, "", "", told))
    return Bars(CAPTION if resident else CLAIMS, bars, tuple(keys))


def _names(facts: MomentFacts) -> dict[str, str]:
    told = _groups(facts).names
    return told | ({HEAP: f"{told[HEAP]}, undivided"} if HEAP in told else {})


def _groups(facts: MomentFacts) -> MemoryGroups:
    assert facts.groups is not None
    return facts.groups


def _pieces(
    sizes: dict[str, int], hollow: int, groups: list[str], small: set[str], longest: int
) -> Iterable[Piece]:
    for group in groups:
        if sizes.get(group, 0) and group not in small:
            yield Piece(sizes[group] / longest, *GROUP_LOOK[group])
    rest = sum(sizes.get(group, 0) for group in small)
    if rest:
        yield Piece(rest / longest, *GREY)
    if hollow:
        yield Piece(hollow / longest, "")


def _key(name: str, group: str, rows: list[dict[str, int]]) -> Key:
    told = tuple(format_bytes(sizes[group]) if group in sizes else "–" for sizes in rows)
    return Key(name, *GROUP_LOOK[group], told)


def _small_key(small: set[str], rows: list[dict[str, int]]) -> Key:
    sums = (sum(sizes.get(group, 0) for group in small) for sizes in rows)
    return Key(OTHERS, *GREY, tuple(map(format_bytes, sums)))


# Single files


def _sites(diagnosis: Diagnosis, moment: str) -> tuple[Block, ...]:
    """Who holds most of what is in use, or allocated most, with what sampling leaves open."""
    known = diagnosis.sites[moment]
    sample_type = next((name for name in SAMPLE_TYPES if name in known), None)
    if sample_type is None:
        return ()
    rows = rows_of(known[sample_type].top.head(SITES))
    longest = max((row["flat"] for row in rows), default=0) or 1
    bars = tuple(
        Bar(known_name(row["function"]), _interval(row), (Piece(row["flat"] / longest, BLUE),),
            code=True)
        for row in rows
        if row["flat"] > 0
    )  # fmt: skip
    whole = format_bytes(known[sample_type].total)
    at = text(" at {}", MomentName(moment)) if len(diagnosis.capture.moments) > 1 else ""
    said = "Who holds what is in use" if sample_type == SAMPLE_TYPES[0] else "Who allocated most"
    return (Bars(text("{}{}, of {} in all", said, at, whole), bars),) if bars else ()


def _interval(row: dict[str, Any]) -> str:
    said = f"{format_bytes(row['flat'])}, {format_fraction(row['flat_fraction'])}"
    if is_unknown(row["flat_low"]) or is_unknown(row["flat_high"]):
        return said
    low, high = format_bytes(row["flat_low"]), format_bytes(row["flat_high"])
    return said if low == high else f"{said} ({low} to {high})"


def _log(facts: CollectorFacts) -> tuple[Block, ...]:
    """What collecting costs, and the heap over time."""
    cost = facts.cost.values
    told = {
        "collections": _told(format_count, cost["cycles"]),
        "between two, the median": _told(format_seconds, cost["interval_p50_seconds"]),
        "CPU for collecting": _told(format_fraction, cost["gc_cpu_fraction"]),
        "longest stop": _told(format_seconds, cost["longest_stop_seconds"]),
        "allocated a second": _told(
            lambda rate: f"{format_bytes(rate)}/s", cost["allocation_rate_bytes_per_second"]
        ),
        "largest heap": _told(format_bytes, cost["heap_peak_bytes"]),
    }
    tiles = Tiles(tuple(Tile(value, name) for name, value in told.items() if value))
    caption = "Dark is live heap, light what was allocated since; the dashed line is the goal."
    drawn = {"timeline": facts.timeline, "name": "opening"}
    return (tiles, Figure(caption, plot_gc_timeline, lambda: drawn))


def _told(words: Any, value: float | None) -> str:
    return "" if value is None or is_unknown(value) else str(words(value))


# What was found


def _leads(diagnosis: Diagnosis) -> tuple[Lead, ...]:
    """The first findings; those about the data only where there is room."""
    told = diagnosis.verdict.code
    ranked = sorted(diagnosis.findings, key=lambda one: one.code.startswith(OF_DATA))
    if told is None:  # then the verdict says what to collect
        ranked = [one for one in ranked if one.code != MISSING]
    return tuple(
        _lead(finding, diagnosis, is_told=finding.code == told) for finding in ranked[:LEADS]
    )


def _lead(finding: Finding, diagnosis: Diagnosis, *, is_told: bool) -> Lead:
    """A finding cut short; what to do about the one that the verdict names stands there."""
    step = "" if is_told else first_sentence(typed(finding.next_step, diagnosis))
    return Lead(
        title=together(typed(finding.title, diagnosis)),
        tone=TONES[finding.severity],
        code=finding.code,
        proof=_proof(finding.evidence),
        next_step=together(step),
        section="findings",
    )


def _proof(evidence: tuple[Evidence, ...]) -> str:
    """The first number, with the second where it stands in the same file."""
    if not evidence:
        return ""
    same = [one for one in evidence[:2] if one.artefact == evidence[0].artefact]
    said = (text("{} = {}", one.field, format_value(one.value, one.unit)) for one in same)
    return together(text("{}: {}", typed_paths(evidence[0].artefact), joined("; ", said)))


def first_sentence(whole: str) -> Text:
    """A text's first sentence: up to what ends one in our own words, before a capital."""
    parts: list[str] = []
    for part in Text(whole).parts:
        end = re.search(r"[.?!](?= [A-Z])", part) if type(part) is Words else None
        parts.append(part if end is None else part[: end.end()])
        if end is not None:
            break
    return Text(*parts)
