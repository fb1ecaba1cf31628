"""Two captures, or two benchmark files, compared: what changed, and is it noise?

What one capture on each side can say, and what it cannot:

* Benchmarks were measured many times on each side. They are compared by ranks, as benchmark files
  are.
* RSS, heap sizes and what the collector cost are one value per capture. That RSS fell from 184 to
  23 MiB is a fact about two captures; whether two runs differ as much anyway, one capture on each
  side cannot say. So there is a difference but no p, and the metric's verdict is `?`. More can be
  given; each adds a value to its side. Measured: in four recordings of one pair of programs, RSS
  changed by +2, -27, 0 and +9 %. The judgement of the whole still speaks where the difference is
  beyond what a heap does by itself; see `gomem.comparison.direction`.
* A gctrace log has many pauses and intervals, but they come from one run and depend on one another.
  Their ranks can only tell that two runs differ, and two runs of one program do. So a log, too,
  counts as one measurement, summed up by medians and 99th percentiles. Measured: of the 66 pairs
  among twelve runs of one program, one after the other on a busy machine, ranks at 5 % call 40
  different in their pauses, 48 in intervals, 49 in CPU per collection.
* Several captures a side are samples. Measured: of 100 pairs of sides, six runs each, drawn from 24
  runs of one unchanged program, 35 of 1100 comparisons (3.2 %) had a p below 5 %, 14 of which were
  too small to matter, and 3 of the 100 judgements were other than `same`.
* A sampled profile has intervals of its own. They tell a change from sampling noise, and of
  several runs a side their ranks do, too; see `gomem.comparison.sites`. Measured on the
  same 100 pairs: of 4306 sites, 42 (1.0 %) were called grown or shrunk.

Benchmarks on the one hand, and the levels of memory and collector on the other, are two questions:
the correction for multiple comparisons that stands beside each p is made within each.
"""

from __future__ import annotations

from dataclasses import replace
from statistics import median
from typing import TYPE_CHECKING, Any, TypeAlias

import pandas as pd

from gomem.analysis.memory.groups import NAMES, UNDIVIDED, alike
from gomem.analysis.memory.ledger import PART_OF_KIND, PARTS
from gomem.analysis.profiles.renames import rename_of
from gomem.capture.capture import Capture
from gomem.capture.load import load
from gomem.comparison.judgement import LEAST_COLLECTIONS, findings_compared, judge
from gomem.comparison.load_values import REQUESTS, load_levels, load_values
from gomem.comparison.programs import different_programs
from gomem.comparison.samples import (
    LEAST_CHANGE,
    METRICS,
    Comparison,
    compare_bench,
    compare_samples,
)
from gomem.comparison.single_values import GC_CPU, levels_of
from gomem.comparison.sites import sites_compared
from gomem.comparison.span import Span
from gomem.comparison.turns import order_note
from gomem.comparison.windows import incomparable, not_compared, window_of, windows_table
from gomem.diagnosis.diagnosis import Diagnosis, diagnose
from gomem.diagnosis.pairing import counterparts, first_pair
from gomem.errors import CaptureError
from gomem.facts.changes import change_between
from gomem.inputs.gobench.parse import looks_like_gobench
from gomem.inputs.gobench.table import CONFIG, RESULTS, UNIT_NOTES, Bench, read_bench
from gomem.inputs.schema import Column, build, build_rows, empty, rows_of
from gomem.sources.globs import matching
from gomem.sources.listing import list_capture
from gomem.units import is_unknown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from os import PathLike

    from gomem.analysis.memory.ledger_change import LedgerChange
    from gomem.errors import Damage
    from gomem.facts.moment import MomentFacts

    Comparable: TypeAlias = Diagnosis | Capture | Bench | str | PathLike[str]
    Progress: TypeAlias = Callable[[str, int, int], None]

SIDES = ("before", "after")
MOMENTS = (
    Column("before", "str", "", "Moment of the capture before."),
    Column("after", "str", "", "Moment of the capture after that it is compared with."),
    Column("before_rss_bytes", "Int64", "B", "RSS before."),
    Column("after_rss_bytes", "Int64", "B", "RSS after."),
    Column("change_bytes", "Int64", "B", "RSS after less before."),
    Column("of_metrics", "bool", "", "Whether the metrics of memory are of this pair."),
    Column("of_sites", "bool", "", "Whether the allocation sites are of this pair."),
)
LEDGER = (
    Column("before_moment", "str", "", "Moment of the capture before."),
    Column("after_moment", "str", "", "Moment of the capture after."),
    Column("part", "str", "", "Part of resident memory."),
    Column("before", "Int64", "B", "Its bytes before; missing if the capture cannot say."),
    Column("after", "Int64", "B", "Its bytes after; missing if the capture cannot say."),
    Column("change", "Int64", "B", "After less before."),
)

GROUPS = (
    *LEDGER[:2],
    Column("group", "str", "", "Whose memory it is; one of `analysis.memory.groups.GROUPS`."),
    Column("name", "str", "", "What sentences call it."),
    *LEDGER[3:],
)


def compare(
    before: Comparable | Sequence[Comparable],
    after: Comparable | Sequence[Comparable],
    *,
    requests: int | None = None,
    renames: Sequence[str] = (),
    least_change: float = LEAST_CHANGE,
    margin: float | None = None,
) -> Comparison:
    """Compare two captures, or two benchmark files: what changed, by how much, and is it noise?

    Args:
        before: A capture, a diagnosis, benchmark results, or a path to load one from. A list or
            tuple holds several measurements of one side, and so does a pattern such as `runs/*`.
        after: The same.
        requests: How many each capture answered between its moments, where no load test says so.
        renames: What functions, types or packages from before are called after, as `OLD=NEW`; see
            `gomem.analysis.profiles.renames`.
        least_change: A change smaller than this, as a fraction of the median before, is `same`.
        margin: Asks of each metric whether it is no worse than this, as a fraction of the median
            before, and whether it is equivalent; see `equivalence` in the metrics.

    Raises:
        CaptureError: A path holds nothing that gomem can read, or one side is benchmark results
            and the other is not.
    """
    old, new = opened(before), opened(after)
    old_benches, new_benches = _benches(old), _benches(new)
    if len(old_benches) == len(old) and len(new_benches) == len(new):
        joined = _joined(old_benches), _joined(new_benches)
        compared = compare_bench(*joined, least_change=least_change, margin=margin)
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
    captures = ", ".join(one.capture.name for one in (*old_captures, *new_captures))
    raise CaptureError(
        f"{captures}: not a benchmark file, but the other side is one; compare like with like"
    )


def opened(side: Comparable | Sequence[Comparable]) -> list[Diagnosis | Bench]:
    """All of one side, ready to be compared; each that a pattern matches is a run of its own.

    Raises:
        CaptureError: Nothing matches a pattern, or a path holds nothing that gomem can read.
    """
    return [open_side(one) for each in _several(side) for one in _matched(each)]


def _matched(one: Comparable) -> Sequence[Comparable]:
    return [one] if isinstance(one, (Diagnosis, Capture, Bench)) else matching(one)


def open_side(one: Comparable, progress: Progress | None = None) -> Diagnosis | Bench:
    """What is at a path, or what is given, ready to be compared.

    Args:
        one: A path, or what was loaded from one.
        progress: Called with each file's name, its number and how many there are.

    Raises:
        CaptureError: The path holds nothing that gomem can read.
    """
    if isinstance(one, (Diagnosis, Bench)):
        return one
    if isinstance(one, Capture):
        return diagnose(one)
    entries = list_capture(one).entries
    if len(entries) == 1:
        source = entries[0].open()
        if looks_like_gobench(source.data):
            return read_bench(replace(source, name=str(one)))
    return diagnose(load(one, progress=progress))


def compare_diagnoses(
    before: Diagnosis | Sequence[Diagnosis],
    after: Diagnosis | Sequence[Diagnosis],
    *,
    requests: int | None = None,
    renames: Sequence[str] = (),
    least_change: float = LEAST_CHANGE,
    margin: float | None = None,
) -> Comparison:
    """Compare diagnosed captures, layer by layer; see the module's text.

    Args:
        before: One capture's answers, or several of one side.
        after: The same.
        requests: How many each answered between its moments, where no load test says so.
        renames: As `compare` takes them.
        least_change: As `compare` takes it.
        margin: Likewise.

    Returns:
        Metrics of the benchmarks, of memory, of the collector and of the load; the ledgers of all
        matching moments; the allocation sites of the last ones, from each side's first capture.
        With several captures on a side, the ledger has medians, which need not add up.
    """
    old, new = _several(before), _several(after)
    pairs = counterparts(list(old[0].ledgers), list(new[0].ledgers))
    last = pairs[-1] if pairs else ("", "")
    old_profiles, new_profiles = (side[0].capture.heap_profiles for side in (old, new))
    profiled = counterparts(list(old_profiles), list(new_profiles))[-1:]
    asked: dict[str, Any] = {"least_change": least_change, "margin": margin}
    benches = _compare_benches(old, new, asked)
    first = first_pair(list(old[0].ledgers), list(new[0].ledgers)) or ("", "")
    spans = [(old, first[0], last[0]), (new, first[1], last[1])]
    levels = _compare_levels(spans[0], spans[1], requests, asked)
    requested = _requests(spans, requests)
    windows = [
        [window_of(one, _span(one, *moments), n) for one, n in zip(captures, counts, strict=True)]
        for (captures, *moments), counts in zip(spans, requested, strict=True)
    ]
    compared_sites = sites_compared(old, new, [rename_of(text) for text in renames], requested)
    unlike = incomparable(windows[0], windows[1])
    notes = [
        *_notes(old, new, [*pairs[-1:], *profiled]),
        *_not_covered(*spans),
        *_load_notes(*spans),
        *filter(None, [order_note(old, new)]),
    ]
    notes += [*benches.notes, *levels.notes]
    compared = Comparison(
        metrics=pd.concat(
            [benches.metrics, not_compared(levels.metrics, unlike)], ignore_index=True
        ),
        windows=windows_table(
            (side, begin, end, found)
            for side, (_, begin, end), found in zip(SIDES, spans, windows, strict=True)
        ),
        samples=pd.concat([benches.samples, levels.samples], ignore_index=True),
        geomeans=benches.geomeans,
        moments=_moments(old, new, pairs, profiled),
        ledger=_ledgers(old, new, pairs),
        groups=_groups(old, new, pairs),
        sites=compared_sites.sites,
        site_rates=compared_sites.rates,
        notes=(*notes, *compared_sites.notes),
        damaged=tuple(damage for one in (*old, *new) for damage in _damage(one)),
        change=_change(_middle(old, last[0]), _middle(new, last[1])),
        too_little=_too_little(*spans) | unlike,
        findings=findings_compared(old[0], new[0].with_baseline(old[0])),
        change_trees=compared_sites.change_trees,
        **asked,
    )
    judged = judge(compared, old, new)
    if said := different_programs(old, new):
        judged = replace(judged, sentence=f"{said} {judged.sentence}")
    return replace(compared, judgement=judged)


def _change(before: MomentFacts | None, after: MomentFacts | None) -> LedgerChange | None:
    change = change_between(before, after) if before is not None and after is not None else None
    return None if change is None else change.ledger


def _several(side: Any) -> list[Any]:
    several = list(side) if isinstance(side, (list, tuple)) else [side]
    if not several:
        raise ValueError("one side is empty; wanted at least one capture or benchmark file")
    return several


def _compare_benches(
    old: Sequence[Diagnosis], new: Sequence[Diagnosis], asked: Mapping[str, Any]
) -> Comparison:
    sides = [[b for one in side for b in one.capture.bench.values()] for side in (old, new)]
    if not any(sides):
        return Comparison(empty(METRICS))
    return compare_bench(_joined(sides[0]), _joined(sides[1]), **asked)


def _joined(benches: Sequence[Bench]) -> Bench:
    """The results of several files as those of one; their configurations stay apart.

    Runs of one side differ in their dates and the like: what only differs from file to file does
    not tell their results apart.
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


_Side: TypeAlias = "tuple[Sequence[Diagnosis], str, str]"  # its captures, first and last moment


def _compare_levels(
    before: _Side, after: _Side, requests: int | None, asked: Mapping[str, Any]
) -> Comparison:
    old, new = (_levels(*side, requests) for side in (before, after))
    return (
        compare_samples(old, new, **asked) if len(old) or len(new) else Comparison(empty(METRICS))
    )


def _levels(
    captures: Sequence[Diagnosis], first: str, last: str, requests: int | None
) -> pd.DataFrame:
    """One value per capture for each level, as samples to compare."""
    return pd.concat([_levels_of(one, _span(one, first, last), requests) for one in captures])


def _levels_of(diagnosis: Diagnosis, span: Span, requests: int | None) -> pd.DataFrame:
    facts = span.last
    collector = {**_of_log(diagnosis, span), **span.rates}
    load = _of_load(diagnosis)
    load |= span.per_request(load.get(REQUESTS, requests or 0))
    if facts is None:
        levels = levels_of(None, None, None, collector)
    else:
        levels = levels_of(facts.rss_bytes, facts.memstats, facts.goroutine_count, collector)
    return pd.concat([levels, load_levels(load)]) if load else levels


def _requests(
    spans: Sequence[_Side], requests: int | None
) -> tuple[list[float | None], list[float | None]]:
    """How many requests each capture of each side answered between its moments."""
    old, new = (
        [_of_load(one).get(REQUESTS, requests) for one in captures] for captures, *_ in spans
    )
    return old, new


def _of_load(diagnosis: Diagnosis) -> dict[str, float]:
    """What the load test says; of several nothing, as none of them is the whole load."""
    tests = list(diagnosis.capture.loads.values())
    if len(tests) != 1 or len(tests[0].runs) != 1:
        return {}
    return load_values(tests[0].runs, tests[0].latencies)


def _load_notes(*sides: _Side) -> Iterator[str]:
    for word, (captures, first, last) in zip(("before", "after"), sides, strict=True):
        for one in captures:
            count = sum(len(test.runs) for test in one.capture.loads.values())
            if count > 1:
                yield f"{word}: {count} load tests in a capture; wanted one, so none is compared"
                break
        if first != last and any(map(_of_load, captures)):
            yield f"{word}: a request's costs are of what lies between {first} and {last}"
    tools = [{name for one in side for name in _load_tools(one)} for side, *_ in sides]
    if all(tools) and tools[0] != tools[1]:
        yield f"the load was made by {_list(tools[0])} before, by {_list(tools[1])} after"


def _load_tools(diagnosis: Diagnosis) -> Iterator[str]:
    """Which load generators, and how many connections they held."""
    for test in diagnosis.capture.loads.values():
        for row in rows_of(test.runs):
            held = row["connections"]
            at = "" if is_unknown(held) else f" with {held} connections"
            yield f"{row['tool']}{at}"


def _too_little(*sides: _Side) -> dict[str, str]:
    """Metrics that say little, with the reason: a start-up's few collections are no rate."""
    counted = [[_span(one, *moments) for one in side] for side, *moments in sides]
    by_counters = all(GC_CPU in span.rates for spans in counted for span in spans)
    if by_counters:
        collections = [[span.collections for span in spans] for spans in counted]
    else:
        logs = [[one.collector for one in side if one.collector is not None] for side, *_ in sides]
        collections = [[log.cost.steady_cycles for log in side] for side in logs]
    if enough_collections(*collections, by_counters=by_counters):
        return {}
    return {GC_CPU: f"fewer than {LEAST_COLLECTIONS} collections cannot tell what they cost"}


def enough_collections(before: list[int], after: list[int], *, by_counters: bool) -> bool:
    """Whether the collector's share of the CPU says something of both sides.

    Counters are of all that lies between two moments, so it is enough that one side collected
    often: that the other did not is what changed. A log must be long enough wherever there is one.

    Args:
        before: Collections of each capture of one side.
        after: Those of the other.
        by_counters: Whether counters say the share, or logs.
    """
    if by_counters:
        return max(min(before, default=0), min(after, default=0)) >= LEAST_COLLECTIONS
    return min([*before, *after], default=0) >= LEAST_COLLECTIONS


def _middle(captures: Sequence[Diagnosis], moment: str) -> MomentFacts | None:
    """The facts of the run whose RSS is in the middle; of two such runs, the smaller one."""
    facts = [one for diagnosis in captures if (one := _facts_at(diagnosis, moment))]
    known = sorted((one.rss_bytes, n) for n, one in enumerate(facts) if one.rss_bytes is not None)
    return facts[known[(len(known) - 1) // 2][1]] if known else next(iter(facts), None)


def _of_log(diagnosis: Diagnosis, span: Span) -> Mapping[str, Any]:
    """What the log says, unless it ends before what the moments are of."""
    if diagnosis.collector is None or not span.is_covered_by(diagnosis.collector.last_number):
        return {}
    return diagnosis.collector.cost.values


def _not_covered(*sides: _Side) -> Iterator[str]:
    for word, (captures, first, last) in zip(("before", "after"), sides, strict=True):
        for one in captures:
            span = _span(one, first, last)
            number = None if one.collector is None else one.collector.last_number
            if number is not None and not span.is_covered_by(number):
                assert span.last is not None
                yield (
                    f"{word}: the GC log ends at collection {number}, of the {span.ended} until "
                    f"{span.last.name}; what it says is not compared"
                )


def _span(diagnosis: Diagnosis, first: str, last: str) -> Span:
    """What lies between two moments; between its own first and last if it has none so called."""
    known = [facts for facts in diagnosis.moments if facts.ledger is not None]
    if known and last not in [facts.name for facts in known]:
        return Span(known[0], known[-1])
    return Span(_facts_at(diagnosis, first), _facts_at(diagnosis, last))


def _facts_at(diagnosis: Diagnosis, moment: str) -> MomentFacts | None:
    """What is known of a moment; of the last one if there is none of this name."""
    known = [facts for facts in diagnosis.moments if facts.ledger is not None]
    named = [facts for facts in known if facts.name == moment]
    chosen = named or known[-1:]
    return chosen[0] if chosen else None


def _moments(
    old: Sequence[Diagnosis],
    new: Sequence[Diagnosis],
    pairs: Sequence[tuple[str, str]],
    profiled: Sequence[tuple[str, str]],
) -> pd.DataFrame:
    columns: dict[str, list[Any]] = {column.name: [] for column in MOMENTS}
    for pair in dict.fromkeys([*pairs, *profiled]):
        known = pair in pairs
        rss = [_rss(old, pair[0]) if known else None, _rss(new, pair[1]) if known else None]
        columns["before"].append(pair[0])
        columns["after"].append(pair[1])
        columns["before_rss_bytes"].append(rss[0])
        columns["after_rss_bytes"].append(rss[1])
        columns["change_bytes"].append(_difference(*rss))
        columns["of_metrics"].append(pair in pairs[-1:])
        columns["of_sites"].append(pair in profiled)
    return build(columns, MOMENTS)


def _rss(captures: Sequence[Diagnosis], moment: str) -> int | None:
    return _median(facts.rss_bytes for one in captures if (facts := _facts_at(one, moment)))


def _ledgers(
    old: Sequence[Diagnosis], new: Sequence[Diagnosis], pairs: Sequence[tuple[str, str]]
) -> pd.DataFrame:
    rows = []
    for first, second in pairs:
        for part in PARTS:
            sizes = _part(old, first, part), _part(new, second, part)
            if sizes != (None, None):
                rows.append((first, second, part, *sizes, _difference(*sizes)))
    return build_rows(rows, LEDGER)


def _part(captures: Sequence[Diagnosis], moment: str, part: str) -> int | None:
    known = (facts for one in captures if (facts := _facts_at(one, moment)))
    return _median(_part_bytes(facts, part) for facts in known)


def _part_bytes(facts: MomentFacts, part: str) -> int | None:
    """Bytes of a part: 0 where smaps has no mapping of its kind, unknown where nothing says."""
    assert facts.ledger is not None
    if facts.ledger.has(part):
        return facts.ledger.part(part)
    return 0 if facts.mappings is not None and part in PART_OF_KIND.values() else None


def _groups(
    old: Sequence[Diagnosis], new: Sequence[Diagnosis], pairs: Sequence[tuple[str, str]]
) -> pd.DataFrame:
    """As finely as all of both sides tell them apart."""
    rows = []
    for first, second in pairs:
        sides = [
            [facts.groups for one in side if (facts := _facts_at(one, name)) and facts.groups]
            for side, name in ((old, first), (new, second))
        ]
        told = alike([*sides[0], *sides[1]])
        before, after = told[: len(sides[0])], told[len(sides[0]) :]
        for group in (one for one in NAMES if any(one in sizes for sizes in told)):
            sizes = _of_group(before, group), _of_group(after, group)
            rows.append((first, second, group, NAMES[group], *sizes, _difference(*sizes)))
    return build_rows(rows, GROUPS)


def _of_group(side: Sequence[Mapping[str, int]], group: str) -> int | None:
    """Median of a group's bytes, which are 0 where memory is divided and has none of it."""
    return _median(sizes.get(group, None if UNDIVIDED in sizes else 0) for sizes in side)


def _median(values: Iterable[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return round(median(known)) if known else None


def _difference(before: int | None, after: int | None) -> int | None:
    return None if before is None or after is None else after - before


def _notes(
    old: Sequence[Diagnosis], new: Sequence[Diagnosis], compared: Sequence[tuple[str, str]]
) -> Iterator[str]:
    for first, second in dict.fromkeys(compared):
        if first != second:
            yield f"no moment before is called {second}, so it is compared with the last, {first}"
    versions = [{str(one.capture.go_version) for one in side} for side in (old, new)]
    if versions[0] != versions[1]:
        yield f"Go release differs: {_list(versions[0])} before, {_list(versions[1])} after"
    procs = [_gomaxprocs(side) for side in (old, new)]
    if all(procs) and procs[0] != procs[1]:
        yield f"GOMAXPROCS differs in gctrace: {_list(procs[0])} before, {_list(procs[1])} after"
    for word, side, names in (("before", old, 0), ("after", new, 1)):
        for pair in compared[:1]:
            facts = _facts_at(side[0], pair[names])
            notes = () if facts is None or facts.ledger is None else facts.ledger.notes
            yield from (f"{word}, {pair[names]}: {note}" for note in notes)


def _gomaxprocs(side: Sequence[Diagnosis]) -> set[int]:
    logs = [one.capture.gc for one in side if one.capture.gc is not None]
    return {int(procs) for log in logs for procs in log.cycles["gomaxprocs"].dropna().unique()}


def _damage(diagnosis: Diagnosis) -> list[Damage]:
    """What could not be read, each with the capture it is in."""
    name = diagnosis.capture.name
    return [
        one if name.endswith(one.source) else replace(one, source=f"{name}/{one.source}")
        for one in diagnosis.capture.damaged
    ]


def _benches(side: Sequence[Diagnosis | Bench]) -> list[Bench]:
    return [one for one in side if isinstance(one, Bench)]


def _diagnoses(side: Sequence[Diagnosis | Bench]) -> list[Diagnosis]:
    return [one for one in side if isinstance(one, Diagnosis)]


def _list(values: Iterable[object]) -> str:
    return ", ".join(sorted(str(value) for value in values))
