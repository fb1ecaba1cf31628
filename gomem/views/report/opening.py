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
    from gomem.causes.finding import Evidence
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
    shown: tuple[Block, ...] = ()
    if moments := _moments(diagnosis):
        shown = (_bars(moments),)
    elif diagnosis.sites_first is not None:
        shown = _sites(diagnosis, diagnosis.sites_first)
    elif diagnosis.collector is not None and not diagnosis.collector.cycles.empty:
        shown = _log(diagnosis.collector)
    return (*shown, *_leads(diagnosis))


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
    sizes = [one.rss_bytes or 0 for one in known]
    highest = max(sizes)
    peak = [known[sizes.index(highest)].name] * (highest >= PEAK * max(sizes[0], sizes[-1]))
    chosen = dict.fromkeys([known[0].name, *peak, known[-1].name])
    return [(MomentName(name), by_name[name]) for name in chosen]


def _bars(moments: list[_Labelled]) -> Bars:
    """A bar a moment, on one scale: filled what is resident, hollow what Go claims besides."""
    each = [(facts.groups, facts.rss_bytes) for _, facts in moments if facts.groups is not None]
    rows = [groups.drawn(rss_bytes) for groups, rss_bytes in each]
    sizes, hollow = [one for one, _ in rows], [beyond for _, beyond in rows]
    longest = max(sum(one.values()) + beyond for one, beyond in rows) or 1
    there = [group for group in GROUPS if any(one.get(group, 0) for one in sizes)]
    small = [group for group in there if all(one.get(group, 0) < SMALL * longest for one in sizes)]
    small = small if len(small) > 1 else []
    large = [group for group in there if group not in small]
    others = [sum(one.get(group, 0) for group in small) for one in sizes]
    resident = any(facts.rss_bytes is not None for _, facts in moments)
    bars = []
    for (label, facts), own, rest, beyond in zip(moments, sizes, others, hollow, strict=True):
        pieces = [Piece(own[group] / longest, *GROUP_LOOK[group]) for group in large
                  if own.get(group, 0)]  # fmt: skip
        pieces += [Piece(rest / longest, *GREY)] * bool(rest)
        pieces += [Piece(beyond / longest, "")] * bool(beyond)
        whole = facts.rss_bytes if resident else sum(own.values())
        bars.append(Bar(label, format_bytes(whole), tuple(pieces)))
    names = {group: name for groups, _ in each for group, name in groups.names.items()}
    if HEAP in names:
        names[HEAP] += ", undivided"
    keys = [
        Key(names[group], *GROUP_LOOK[group],
            tuple(format_bytes(one[group]) if group in one else "–" for one in sizes))
        for group in large
    ]  # fmt: skip
    keys += [Key(OTHERS, *GREY, tuple(map(format_bytes, others)))] * bool(small)
    if any(hollow):
        keys.append(
            Key(CLAIMED, "", "", tuple(format_bytes(one) if one else "–" for one in hollow))
        )
    return Bars(CAPTION if resident else CLAIMS, tuple(bars), tuple(keys))


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
    shown = {
        "collections": (format_count, "cycles"),
        "between two, the median": (format_seconds, "interval_p50_seconds"),
        "CPU for collecting": (format_fraction, "gc_cpu_fraction"),
        "longest stop": (format_seconds, "longest_stop_seconds"),
        "allocated a second": (
            lambda rate: f"{format_bytes(rate)}/s", "allocation_rate_bytes_per_second",
        ),
        "largest heap": (format_bytes, "heap_peak_bytes"),
    }  # fmt: skip
    cost = facts.cost.values
    tiles = tuple(
        Tile(words(cost[key]), name)
        for name, (words, key) in shown.items()
        if not is_unknown(cost[key])
    )
    caption = "Dark is live heap, light what was allocated since; the dashed line is the goal."
    drawn = {"timeline": facts.timeline, "name": "opening"}
    return (Tiles(tiles), Figure(caption, plot_gc_timeline, lambda: drawn))


# What was found


def _leads(diagnosis: Diagnosis) -> tuple[Lead, ...]:
    """The first findings cut short; those about the data only where there is room."""
    told = diagnosis.verdict.code
    ranked = sorted(diagnosis.findings, key=lambda one: one.code.startswith(OF_DATA))
    if told is None:  # then the verdict says what to collect
        ranked = [one for one in ranked if one.code != MISSING]
    leads = []
    for finding in ranked[:LEADS]:
        # What to do about the one that the verdict names stands there.
        step = "" if finding.code == told else first_sentence(typed(finding.next_step, diagnosis))
        title = together(typed(finding.title, diagnosis))
        tone, proof = TONES[finding.severity], _proof(finding.evidence)
        leads.append(Lead(title, tone, finding.code, proof, together(step), "findings"))
    return tuple(leads)


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
