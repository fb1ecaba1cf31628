"""The first screen of a report: the contents of memory and further findings.

It depends on the data. With RSS, it shows the first and the last snapshot, or the baseline and now.
With only a heap profile, it shows the functions with most inuse_space; with only a log, the GC's
numbers and its saw-tooth; with only goroutines, where they wait.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gomem.analysis.memory.groups import UNDIVIDED
from gomem.charts.look import BLUE, GROUP_LOOK, look_of_group
from gomem.diagnosis.findings import DATA_PREFIX
from gomem.diagnosis.first_sentence import first_and_rest
from gomem.diagnosis.owners import change_of
from gomem.diagnosis.part_words import brief_level
from gomem.inputs.schema import rows_of
from gomem.text import (
    Bytes,
    BytesChange,
    MomentName,
    Rate,
    Seconds,
    Share,
    Text,
    text,
)
from gomem.units import format_count, is_unknown
from gomem.views.document import Bar, Bars, Block, Figure, Key, Lead, Piece, Step, Tile, Tiles
from gomem.views.figures.flame_graph import known_name
from gomem.views.figures.gc_timeline import plot_gc_timeline
from gomem.views.names import typed
from gomem.views.report.allocations import SAMPLE_TYPES
from gomem.views.report.collector import opens_with_log, over_time_caption
from gomem.views.report.goroutines import goroutine_bars
from gomem.views.report.ledger import OTHERS, SMALL
from gomem.views.report.verdict import TONES, label_of, proof_of, steps_of, together
from gomem.views.values import NOTHING
from gomem.views.words import BOUNDS, CLAIMED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gomem.analysis.memory.bounds import Interval
    from gomem.causes.finding import Finding
    from gomem.diagnosis.diagnosis import Diagnosis
    from gomem.diagnosis.owners import Owner, Owners
    from gomem.facts.collector import CollectorFacts

LEADS = 3
SITES = 6
CAPTIONS = {
    "rss": "RSS by owner",
    "reserved": "Memory retained by Go, by owner",
}
GREY = GROUP_LOOK[UNDIVIDED]
BOUND = "////"  # hatching of a size that is an upper bound


def opening(diagnosis: Diagnosis) -> tuple[Block, ...]:
    """The bars or their replacement; then the findings that the verdict does not name."""
    shown: tuple[Block, ...] = ()
    if diagnosis.owners is not None:
        shown = (bars_of(diagnosis.owners),)
    elif diagnosis.sites_first is not None:
        shown = _sites(diagnosis, diagnosis.sites_first)
    elif diagnosis.collector is not None and opens_with_log(diagnosis):
        shown = _log(diagnosis.collector)
    elif (bars := goroutine_bars(diagnosis, BLUE)) is not None:
        shown = (bars,)
    return (*shown, *_leads(diagnosis))


# What RSS consists of


def bars_of(owners: Owners, *, is_series: bool = True) -> Bars:
    """Return a bar per snapshot on one scale: filled for RSS, hollow for other memory of Go.

    In a series, the last bar shows how the first changed; else the bars are independent.
    """
    totals, beyond, longest = owners.totals, owners.beyond, _longest(owners)
    small = [part for part in owners.parts if _largest(part) < SMALL * longest]
    small = small if len(small) > 1 else []
    large = [part for part in owners.parts if part not in small]
    bars = []
    for place, label in enumerate(owners.labels):
        drawn = sum(part.lengths[place] for part in owners.parts) or 1.0
        scale = totals[place] / drawn / longest
        pieces = [
            Piece(part.lengths[place] * scale, *_look(part))
            for part in large
            if part.lengths[place] > 0
        ]
        rest = sum(part.lengths[place] for part in small) * scale
        pieces += [Piece(rest, *GREY)] * bool(rest)
        is_last = place == len(totals) - 1
        finer = _finer(owners, large, scale) if is_last else ()
        hollow = (Piece(beyond[place] / longest, ""),) * bool(beyond[place])
        bars.append(Bar(label, Bytes(totals[place]), (*pieces, *hollow), finer=finer))
    if [part.key for part in owners.parts] == [UNDIVIDED] and not owners.finer:
        return Bars("RSS", tuple(bars))  # the bar has its size
    are_bounds = any(part.is_bounded for part in owners.parts)
    caption = CAPTIONS[owners.quantity] + BOUNDS * are_bounds
    return Bars(caption, tuple(bars), _keys(owners, large, small, is_series=is_series))


def _look(part: Owner) -> tuple[str, str]:
    """Return colour and hatching of a part; upper bounds are hatched."""
    colour, hatch = look_of_group(part.key)
    return (colour, hatch or BOUND) if part.is_bounded else (colour, hatch)


def _longest(owners: Owners) -> float:
    """The value of the longest bar; parts under `SMALL` of it have no legend entry."""
    return max(map(sum, zip(owners.totals, owners.beyond, strict=True))) or 1


def _largest(part: Owner) -> float:
    return max(part.lengths)


def _finer(owners: Owners, large: Sequence[Owner], scale: float) -> tuple[Piece, ...]:
    """The segments of the last bar's thin copy, divided as finely as its snapshot allows."""
    if not any(part.key in owners.finer for part in large):
        return ()
    return tuple(
        Piece(inside.lengths[-1] * scale, *_look(inside))
        for part in large
        for inside in owners.finer.get(part.key, (part,))
        if inside.lengths[-1] > 0
    )


def _keys(
    owners: Owners, large: Sequence[Owner], small: Sequence[Owner], *, is_series: bool
) -> tuple[Key, ...]:
    """The legend: the largest change first, or for one snapshot the largest part."""
    has_several = len(owners.totals) > 1
    changes = has_several and is_series
    moved = _change if changes else _spread if has_several else _largest
    ranked = sorted(large, key=lambda part: -abs(moved(part)))
    keys: list[Key] = []
    for part in ranked:
        change = _change_words(part.change) if changes else ""
        levels = tuple(_level(part, size) for size in part.sizes)
        keys.append(Key(part.name, *_look(part), levels, change))
        blank = ("",) * (len(owners.totals) - 1)
        for inside in owners.finer.get(part.key, ()):
            look = look_of_group(inside.key)
            size = brief_level(inside.sizes[-1])
            keys.append(Key(inside.name, *look, (*blank, size), is_finer=True))
    if small:
        sums = [sum(part.lengths[place] for part in small) for place in range(len(owners.totals))]
        change = _change_words(change_of(small)) if changes else ""
        keys.append(Key(OTHERS, *GREY, tuple(Bytes(round(size)) for size in sums), change))
    if any(owners.beyond):
        change = BytesChange(owners.beyond[-1] - owners.beyond[0]) if changes else ""
        keys.append(Key(CLAIMED, "", "", tuple(map(Bytes, owners.beyond)), change))
    return tuple(keys)


def _level(part: Owner, size: Interval) -> Text:
    is_at_most = part.is_bounded and size.width > 0 and not size.is_wide
    return text("≤ {}", Bytes(round(size.high))) if is_at_most else brief_level(size)


def _change_words(change: Interval) -> Text:
    """Format a change: a number, its bounds if they are far apart, or a dash if they include 0."""
    if not change.is_wide:
        return text("{}", BytesChange(round(change.middle)))
    ends = BytesChange(round(change.low)), BytesChange(round(change.high))
    return text("{} to {}", *ends) if change.surely_moves else Text(NOTHING.text)


def _change(part: Owner) -> float:
    return part.change_bytes


def _spread(part: Owner) -> float:
    """The largest difference between snapshots."""
    return max(part.lengths) - min(part.lengths)


# Captures without RSS


def _sites(diagnosis: Diagnosis, moment: str) -> tuple[Block, ...]:
    """The largest in-use sites, or the largest allocators, with sampling intervals."""
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
    whole = Bytes(known[sample_type].total)
    at = text(" at {}", MomentName(moment)) if len(diagnosis.capture.moments) > 1 else ""
    what = Text(sample_type)
    return (Bars(text("{}{}: {}, by function", what, at, whole), bars),) if bars else ()


def _interval(row: dict[str, Any]) -> Text:
    size = text("{}, {}", Bytes(row["flat"]), Share(row["flat_fraction"]))
    if is_unknown(row["flat_low"]) or is_unknown(row["flat_high"]):
        return size
    low, high = Bytes(row["flat_low"]), Bytes(row["flat_high"])
    return size if low == high else text("{} ({} to {})", size, low, high)


def _log(facts: CollectorFacts) -> tuple[Block, ...]:
    """GC cost, and the heap over time."""
    shown = {
        "GCs": (format_count, "cycles"),
        "GC interval p50": (Seconds, "interval_p50_seconds"),
        "GC CPU": (Share, "gc_cpu_fraction"),
        "longest STW phase": (Seconds, "longest_stop_seconds"),
        "allocation rate": (Rate, "allocation_rate_bytes_per_second"),
        "largest heap": (Bytes, "heap_peak_bytes"),
    }  # fmt: skip
    cost = facts.cost.values
    tiles = tuple(
        Tile(words(cost[key]), name)
        for name, (words, key) in shown.items()
        if not is_unknown(cost[key])
    )
    drawn = {"timeline": facts.timeline, "name": "opening"}
    return (Tiles(tiles), Figure(over_time_caption(facts), plot_gc_timeline, lambda: drawn))


# Further findings


def _leads(diagnosis: Diagnosis) -> tuple[Lead, ...]:
    """Short cards of findings that the verdict does not name; data findings come last."""
    others = [
        finding
        for finding in diagnosis.findings
        if finding.code != diagnosis.verdict.code and not finding.code.startswith(DATA_PREFIX)
    ]
    return tuple(_lead(finding, diagnosis) for finding in others[:LEADS])


def _lead(finding: Finding, diagnosis: Diagnosis) -> Lead:
    tone = TONES[finding.severity]
    said = steps_of(together(typed(diagnosis.verdict.next_step, diagnosis)))
    steps = [
        step for step in steps_of(together(typed(finding.next_step, diagnosis))) if step not in said
    ]
    commands = [place for place, step in enumerate(steps) if step.is_command]
    shown = tuple(steps[max(0, commands[0] - 1) : commands[0] + 1]) if commands else ()
    if steps and not commands:
        shown = (Step(first_and_rest(steps[0].text)[0]),)
    return Lead(
        together(typed(finding.title, diagnosis)),
        tone,
        label_of(tone, finding.confidence),
        finding.code,
        next(iter(proof_of(finding, 2)), ""),
        shown,
        "findings",
    )
