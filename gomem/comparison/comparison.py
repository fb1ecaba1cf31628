"""Two captures, or two benchmark files, compared: what changed, and is it noise?

What can one capture per side show?

* Benchmarks have many measurements per side. They are compared by rank tests, as in benchmark
  files.
* RSS, heap sizes and GC cost are one value per capture. One capture per side cannot show how much
  two runs of one program differ. So there is a difference but no p-value, and the metric's verdict
  is `?`. Each further capture adds a value to its side. Measured: in four recordings of one pair of
  programs, RSS changed by +2, -27, 0 and +9 %. The overall judgement still covers differences
  beyond a heap's normal variation; see `gomem.comparison.direction`.
* A gctrace log has many pauses and intervals, but they come from one run and are not independent. A
  rank test on them shows that two runs differ, which two runs of one program do anyway. So a log,
  too, counts as one measurement, summarised by medians and p99. Measured: of the 66 pairs among
  twelve runs of one program on a busy machine, rank tests at 5 % call 40 different in their pauses,
  48 in intervals, and 49 in CPU per collection.
* Several captures per side are samples. Measured on 100 pairs of sides, with six runs each, drawn
  from 24 runs of one unchanged program: 35 of 1100 comparisons (3.2 %) had a p below 5 %, 14 of
  which were too small to matter. 3 of the 100 judgements were not `same`.
* A sampled profile has its own intervals. They separate a change from sampling noise. With several
  runs per side, rank tests do so, too; see `gomem.comparison.sites`. Measured on the same 100
  pairs: of 4306 sites, 42 (1.0 %) were called grown or shrunk.

Benchmarks are one family of tests, and the levels of memory and GC are another. The correction for
multiple tests is computed within each family.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

import pandas as pd

from gomem.analysis.profiles.changes import rename_of
from gomem.capture.capture import Capture
from gomem.capture.load import load
from gomem.comparison.benchmarks import compare_bench
from gomem.comparison.causes import compared_causes
from gomem.comparison.judgement import judge
from gomem.comparison.levels import compare_levels, level_notes, rates_by_counters, too_little
from gomem.comparison.moments import compared_groups, compared_ledgers, compared_moments
from gomem.comparison.one_process import seconds_between
from gomem.comparison.programs import DIFFERENT, different_programs
from gomem.comparison.samples import METRICS, MIN_CHANGE, Comparison
from gomem.comparison.settings import differing_settings
from gomem.comparison.side import SIDES, Side, facts_at, order_note
from gomem.comparison.sites import sites_compared
from gomem.comparison.windows import (
    incomparable,
    not_compared,
    not_judged,
    window_of,
    windows_table,
)
from gomem.diagnosis.changes import Change, change_between
from gomem.diagnosis.diagnosis import Diagnosis, diagnose
from gomem.diagnosis.pairing import counterparts, first_pair
from gomem.errors import CaptureError, Damage
from gomem.inputs.gobench.parse import looks_like_gobench
from gomem.inputs.gobench.table import CONFIG, RESULTS, UNIT_NOTES, Bench, read_bench
from gomem.inputs.schema import empty
from gomem.sources.listing import list_capture
from gomem.sources.paths import matching
from gomem.text import CaptureName, MomentName, joined, text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from os import PathLike

    Comparable: TypeAlias = Diagnosis | Capture | Bench | str | PathLike[str]
    Progress: TypeAlias = Callable[[str, int, int], None]


def compare(
    before: Comparable | Sequence[Comparable],
    after: Comparable | Sequence[Comparable],
    *,
    requests: int | None = None,
    renames: Sequence[str] = (),
    least_change: float = MIN_CHANGE,
    margin: float | None = None,
) -> Comparison:
    """Compare two captures, or two benchmark files: what changed, by how much, and is it noise?

    Args:
        before: A capture, a diagnosis, benchmark results, or a path to load one from. A list, a
            tuple or a pattern such as `runs/*` gives several measurements of one side.
        after: The same.
        requests: Requests that each capture served between its snapshots, if no load test has the
            number.
        renames: Functions, types or packages that were renamed, as `OLD=NEW`; see
            `gomem.analysis.profiles.changes`.
        least_change: A change smaller than this, as a fraction of the median before, is `same`.
        margin: If given, also test whether each metric is worse by at most this fraction of the
            median before, and whether it is equivalent; see `equivalence` in the metrics.

    Raises:
        CaptureError: A path has nothing that gomem can read, or only one side is benchmark results.
    """
    old, new = opened(before), opened(after)
    old_benches, new_benches = _benches(old), _benches(new)
    if len(old_benches) == len(old) and len(new_benches) == len(new):
        sides = _joined(old_benches), _joined(new_benches)
        compared = compare_bench(*sides, least_change=least_change, margin=margin)
        return replace(compared, judgement=judge(compared))
    old_captures, new_captures = _diagnoses(old), _diagnoses(new)
    if len(old_captures) == len(old) and len(new_captures) == len(new):
        return compare_diagnoses(
            old_captures,
            new_captures,
            requests=requests,
            renames=renames,
            least_change=least_change,
            margin=margin,
        )
    names = (CaptureName(run.capture.name) for run in (*old_captures, *new_captures))
    what = "not a benchmark file, but the other side is; compare like with like"
    raise CaptureError(text("{}: {}", joined(", ", names), what))


def opened(side: Comparable | Sequence[Comparable]) -> list[Diagnosis | Bench]:
    """Load all captures of a side for a comparison; each match of a pattern is a separate run.

    Raises CaptureError if nothing matches a pattern, or a path has nothing that gomem can read.
    """
    return [open_side(run) for each in _several(side) for run in _matched(each)]


def _matched(given: Comparable) -> Sequence[Comparable]:
    return [given] if isinstance(given, (Diagnosis, Capture, Bench)) else matching(given)


def open_side(given: Comparable, progress: Progress | None = None) -> Diagnosis | Bench:
    """Load a path, or diagnose a loaded capture, for a comparison.

    `progress` is called with each file's name, its number and the number of files. Raises
    CaptureError if the path has nothing that gomem can read.
    """
    if isinstance(given, (Diagnosis, Bench)):
        return given
    if isinstance(given, Capture):
        return diagnose(given)
    entries = list_capture(given).entries
    if len(entries) == 1:
        source = entries[0].open()
        if looks_like_gobench(source.data):
            return read_bench(replace(source, name=str(given)))
    return diagnose(load(given, progress=progress))


def compare_diagnoses(
    before: Diagnosis | Sequence[Diagnosis],
    after: Diagnosis | Sequence[Diagnosis],
    *,
    requests: int | None = None,
    renames: Sequence[str] = (),
    least_change: float = MIN_CHANGE,
    margin: float | None = None,
) -> Comparison:
    """Compare diagnosed captures, one or several per side, layer by layer, as `compare` does.

    The result has metrics for benchmarks, memory, collector and load; the ledgers of all matching
    moments; and the allocation sites of the last moments, from each side's first capture. With
    several captures on a side, the ledger is that of the run with the median RSS, because only the
    parts of a single run add up.
    """
    runs = _several(before), _several(after)
    names = [list(captures[0].ledgers) for captures in runs]
    pairs = counterparts(*names)
    first, last = first_pair(*names) or ("", ""), pairs[-1] if pairs else ("", "")
    sides = zip(SIDES, runs, first, last, strict=True)
    old, new = (Side(*side, requests) for side in sides)
    profiles = [side.captures[0].capture.heap_profiles for side in (old, new)]
    profiled = counterparts(list(profiles[0]), list(profiles[1]))[-1:]
    asked: dict[str, Any] = {"least_change": least_change, "margin": margin}
    benches = _compare_benches(old, new, asked)
    levels = compare_levels(old, new, asked)
    windows = [
        list(map(window_of, side.captures, side.spans, side.requests)) for side in (old, new)
    ]
    sites = sites_compared(
        old.captures,
        new.captures,
        [rename_of(text) for text in renames],
        (old.requests, new.requests),
    )
    unlike = different_programs(old.captures, new.captures)
    apart = incomparable(windows[0], windows[1])
    by_counters = rates_by_counters(old, new)
    apart = {name: apart[name] for name in apart.keys() - by_counters}
    notes = [
        *_notes(old, new, [*pairs[-1:], *profiled]),
        *level_notes(old, new),
        *filter(None, [order_note(old.captures, new.captures)]),
        *benches.notes,
        *levels.notes,
        *sites.notes,
    ]
    metrics = pd.concat([benches.metrics, not_compared(levels.metrics, apart)], ignore_index=True)
    compared = Comparison(
        metrics=not_judged(metrics, DIFFERENT) if unlike else metrics,
        settings=pd.concat(
            [differing_settings(old.captures, new.captures), benches.settings], ignore_index=True
        ).drop_duplicates("name"),
        windows=windows_table(
            (side.word, side.first, side.last, of_side)
            for side, of_side in zip((old, new), windows, strict=True)
        ),
        samples=pd.concat([benches.samples, levels.samples], ignore_index=True),
        geomeans=benches.geomeans,
        moments=compared_moments(old, new, pairs, profiled),
        ledger=compared_ledgers(old, new, pairs),
        groups=compared_groups(old, new, pairs),
        sites=sites.sites,
        site_rates=sites.rates,
        notes=tuple(notes),
        damaged=tuple(
            damage for side in (old, new) for run in side.captures for damage in _damage(run)
        ),
        change=_change(old, new),
        too_little=too_little(old, new) | apart,
        by_counters=by_counters,
        findings=compared_causes(
            old.captures[0], new.captures[0].with_baseline(old.captures[0]), unlike
        ),
        change_trees=sites.change_trees,
        process_seconds=seconds_between(old.captures, new.captures),
        unlike=unlike,
        **asked,
    )
    return replace(compared, judgement=judge(compared, old.captures, new.captures))


def _change(old: Side, new: Side) -> Change | None:
    """Compute the RSS change between the median runs of the two sides."""
    if old.middle is None or new.middle is None:
        return None
    (before, first), (after, last) = old.middle, new.middle
    return change_between(first, last, (before.facts.account, after.facts.account))


def _several(side: Any) -> list[Any]:
    several = list(side) if isinstance(side, (list, tuple)) else [side]
    if not several:
        raise ValueError("one side is empty; wanted at least one capture or benchmark file")
    return several


def _compare_benches(old: Side, new: Side, asked: Mapping[str, Any]) -> Comparison:
    sides = [
        [bench for run in side.captures for bench in run.capture.bench.values()]
        for side in (old, new)
    ]
    if not any(sides):
        return Comparison(empty(METRICS))
    return compare_bench(_joined(sides[0]), _joined(sides[1]), **asked)


def _joined(benches: Sequence[Bench]) -> Bench:
    """Merge the results of several files into one; different configurations stay separate.

    Runs of one side differ in keys such as the date. A key that only differs between files does not
    separate their results.
    """
    results, config, first = [empty(RESULTS)], [empty(CONFIG)], 0
    for bench in benches:
        results.append(bench.results.assign(config=bench.results["config"] + first))
        config.append(bench.config.assign(config=bench.config["config"] + first))
        first = 1 + max([first, *results[-1]["config"]])
    return Bench(
        pd.concat(results, ignore_index=True),
        pd.concat(config, ignore_index=True),
        pd.concat([empty(UNIT_NOTES), *(bench.units for bench in benches)], ignore_index=True),
        tuple(dict.fromkeys(key for bench in benches for key in bench.told_apart)),
        damaged=tuple(damage for bench in benches for damage in bench.damaged),
    )


def _notes(old: Side, new: Side, compared: Sequence[tuple[str, str]]) -> Iterator[str]:
    for first, second in dict.fromkeys(compared):
        if first != second:
            said = "the before side has no “{}”: its last, “{}”, is compared with it"
            yield text(said, MomentName(second), MomentName(first))
    for side, names in ((old, 0), (new, 1)):
        for pair in compared[:1]:
            facts = facts_at(side.captures[0], pair[names])
            notes = () if facts is None or facts.ledger is None else facts.ledger.notes
            at = MomentName(pair[names])
            yield from (text("{}, {}: {}", side.word, at, note) for note in notes)


def _damage(diagnosis: Diagnosis) -> list[Damage]:
    """The unreadable parts, each with its capture, which can be the file itself."""
    name = diagnosis.capture.name
    return [
        place
        if name.endswith(place.source.partition(":")[0])  # without the line of a paste
        else replace(place, source=f"{name}/{place.source}")
        for place in diagnosis.capture.damaged
    ]


def _benches(side: Sequence[Diagnosis | Bench]) -> list[Bench]:
    return [bench for bench in side if isinstance(bench, Bench)]


def _diagnoses(side: Sequence[Diagnosis | Bench]) -> list[Diagnosis]:
    return [diagnosis for diagnosis in side if isinstance(diagnosis, Diagnosis)]
