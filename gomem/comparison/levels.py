"""The levels of two sides: RSS, heap, GC cost, and the results of a load test.

A level is one value per capture. Rates (GC CPU, allocation, collections per second) come from the
counters at two snapshots, if every capture of both sides has them. All rates then cover the same
period and have the same definition. If some capture has no counters, rates come from logs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from gomem.comparison.samples import METRICS, Comparison, compare_samples
from gomem.comparison.side import Side, Span, load_of
from gomem.comparison.single_values import COLLECTION_RATE, GC_CPU, RATES, levels_of, load_levels
from gomem.inputs.schema import empty, rows_of
from gomem.text import MomentName, text
from gomem.units import is_unknown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gomem.diagnosis.diagnosis import Diagnosis

MIN_COLLECTIONS = 20  # in total; a start-up's few collections do not characterise GC CPU


def compare_levels(before: Side, after: Side, asked: Mapping[str, Any]) -> Comparison:
    """Compare each level by the values that the runs of both sides have."""
    by_counters = rates_by_counters(before, after)
    old, new = (_levels(side, by_counters) for side in (before, after))
    if not len(old) and not len(new):
        return Comparison(empty(METRICS))
    return compare_samples(old, new, **asked)


def rates_by_counters(before: Side, after: Side) -> frozenset[str]:
    """The rates that every capture's counters provide."""
    spans = [*before.spans, *after.spans]
    return frozenset(name for name in RATES if spans and all(name in span.rates for span in spans))


def _levels(side: Side, by_counters: frozenset[str]) -> pd.DataFrame:
    runs = zip(side.captures, side.spans, side.requests, strict=True)
    return pd.concat([_of_run(*run, by_counters) for run in runs])


def _of_run(
    diagnosis: Diagnosis, span: Span, requests: float | None, by_counters: frozenset[str]
) -> pd.DataFrame:
    facts, rates = span.last, span.rates
    collector = {**rates, **_of_log(diagnosis, span)}
    collector |= {name: rates[name] for name in by_counters}
    load = load_of(diagnosis) | span.per_request(requests or 0)
    levels = levels_of(
        None if facts is None else facts.rss_bytes,
        None if facts is None else facts.memstats,
        None if facts is None else facts.goroutine_count,
        collector,
    )
    return pd.concat([levels, load_levels(load)]) if load else levels


def _of_log(diagnosis: Diagnosis, span: Span) -> Mapping[str, Any]:
    """The log's values, unless the log does not cover the period between the moments."""
    log = diagnosis.collector
    if log is None or span.not_covered_by(log):
        return {}
    cost = log.cost
    values = {name: value for name, value in cost.values.items() if not is_unknown(value)}
    rate = {COLLECTION_RATE: (cost.cycles - cost.runs) / cost.seconds} if cost.seconds else {}
    return values | rate


def too_little(before: Side, after: Side) -> dict[str, str]:
    """Metrics with too few data, each with the reason, such as a start-up's few collections."""
    sides = before, after
    is_counted = GC_CPU in rates_by_counters(before, after)
    if is_counted:
        collections = [[span.collections for span in side.spans] for side in sides]
    else:
        logs = [[run.collector for run in side.captures if run.collector] for side in sides]
        collections = [[log.cost.steady_cycles for log in side] for side in logs]
    if enough_collections(*collections, by_counters=is_counted):
        return {}
    return {GC_CPU: f"fewer than {MIN_COLLECTIONS} GCs are too few to measure the cost of GC"}


def enough_collections(before: list[int], after: list[int], *, by_counters: bool) -> bool:
    """Whether there are enough collections on both sides for a GC CPU rate.

    Counters cover the whole time between two moments, so it is enough that each run of one side
    collected often; the other side collecting rarely is the change itself. Every log must have
    enough.
    """
    if by_counters:
        return max(min(before, default=0), min(after, default=0)) >= MIN_COLLECTIONS
    return min([*before, *after], default=0) >= MIN_COLLECTIONS


def level_notes(before: Side, after: Side) -> Iterator[str]:
    """Notes on the levels: logs that are left out, and loads that differ."""
    sides = before, after
    for side in sides:
        for diagnosis, span in zip(side.captures, side.spans, strict=True):
            if reason := span.not_covered_by(diagnosis.collector):
                yield text("the {} side's GC log is not compared, because {}", side.word, reason)
    for side in sides:
        runs = (sum(len(test.runs) for test in run.capture.loads.values()) for run in side.captures)
        if count := next((count for count in runs if count > 1), 0):
            tests = f"{count} load tests in a capture"
            yield f"{side.word} side: {tests}; no load test is compared, because one is needed"
        if side.first != side.last and any(map(load_of, side.captures)):
            ends = MomentName(side.first), MomentName(side.last)
            said = "{} side: costs per request cover the time between {} and {}"
            yield text(said, side.word, *ends)
    tools = [{name for run in side.captures for name in _load_tools(run)} for side in sides]
    if all(tools) and tools[0] != tools[1]:
        old, new = (", ".join(sorted(map(str, names))) for names in tools)
        yield f"the load generator is {old} before, and {new} after"


def _load_tools(diagnosis: Diagnosis) -> Iterator[str]:
    """The load generators, with their connection counts."""
    for test in diagnosis.capture.loads.values():
        for row in rows_of(test.runs):
            held = row["connections"]
            yield row["tool"] if is_unknown(held) else f"{row['tool']} with {held} connections"
