"""Edges of what a diagnosis and a comparison say, each function by itself."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from gomem.analysis.collector.triggers import METRICS
from gomem.analysis.memory.skew import collection_ends
from gomem.analysis.what_if.what_if import Asked
from gomem.capture.capture import Capture
from gomem.causes.finding import Evidence, Finding, Severity
from gomem.comparison import comparison
from gomem.comparison.budgets import _more, budget_of
from gomem.comparison.builds import _build_row, _corrected
from gomem.comparison.judgement import _benchmarks, _margin
from gomem.comparison.programs import program_of
from gomem.comparison.samples import BENCHMARK, FAMILY_NOTE, compare_samples
from gomem.comparison.side import Span
from gomem.comparison.sites import _notes as notes_of_sites
from gomem.comparison.windows import Window, not_compared, window_of
from gomem.diagnosis.changes import change_between
from gomem.diagnosis.diagnosis import Diagnosis
from gomem.diagnosis.findings import Findings, Scale
from gomem.errors import CaptureError
from gomem.facts.capture import CaptureFacts
from gomem.facts.moment import MomentFacts
from gomem.facts.retention import HUGE, _huge_excess
from gomem.facts.retention import cycles_of as logged_cycles
from gomem.facts.settings import _by_log
from gomem.facts.sides import (
    KERNEL_SIDE,
    _collections_counted_twice,
    _dumps,
    _last_reading,
    _ledger,
    _live_bytes,
    _marked,
    _page_bytes_of,
    _scraped,
    _skew,
)
from gomem.facts.what_if import CGROUP, _for_container, _memory_now
from gomem.inputs.gobench.table import read_bench
from gomem.releases import GoVersion
from gomem.units import KIB, MIB
from tests.builders import memstats_row, samples_frame
from tests.gc_logs import cycles_of, packed_cycles
from tests.views.ledgers import ledger

CYCLES, LIVE = "/gc/cycles/total:gc-cycles", "/gc/heap/live:bytes"
NOON = pd.Timestamp("2026-11-20T12:00:00Z")


# Windows, spans


def collector(begin=None, end=None, cycles=7):
    seconds = None if begin is None else (begin, end)
    return SimpleNamespace(log_seconds=seconds, cost=SimpleNamespace(cycles=cycles))


def test_of_one_moment_the_window_is_the_logs():
    one = MomentFacts("1", memstats=memstats_row(NumGC=5))
    of_log = SimpleNamespace(collector=collector(2.0, 12.0))

    assert Window(10.0, 7, 3, (2.0, 12.0)) == window_of(of_log, Span(one, one), 3)
    assert Window(None, 5, None, None) == window_of(
        SimpleNamespace(collector=None), Span(None, one), None
    )
    assert Window(None, None, None, None) == window_of(
        SimpleNamespace(collector=collector()), Span(None, None), None
    )


def test_of_two_moments_the_window_is_theirs():
    ends = [
        MomentFacts(str(n), memstats=memstats_row(NumGC=n), time=NOON + pd.Timedelta(seconds=n))
        for n in (2, 9)
    ]
    of_log = SimpleNamespace(collector=collector(2.0, 99.0))
    without = [MomentFacts("1"), MomentFacts("2")]

    assert Window(7.0, 7, None, (2.0, 99.0)) == window_of(of_log, Span(*ends), None)
    assert Window(None, None, None, (2.0, 99.0)) == window_of(of_log, Span(*without), None)


def test_what_one_side_lacks_keeps_its_verdict():
    """
    Nothing is said of a difference where there is none.
    """
    both = samples_frame("NumGC", "count", [1.0]), samples_frame("NumGC", "count", [2.0])
    old = pd.concat([both[0], samples_frame("cycles", "count", [1.0])])
    new = pd.concat([both[1], samples_frame("seconds", "s", [1.0])])

    told = not_compared(
        compare_samples(old, new).metrics, dict.fromkeys(("NumGC", "cycles", "seconds"), "why")
    ).set_index("name")

    assert {
        "NumGC": "why",
        "cycles": "only on the before side",
        "seconds": "only on the after side",
    } == told["note"].to_dict()


def test_what_a_request_costs():
    """
    30 bytes and 6 objects more for 3 requests; the collector's CPU was not counted.
    """
    first = MomentFacts("1", memstats=memstats_row(NumGC=1, TotalAlloc=10, Mallocs=4))
    last = MomentFacts("2", memstats=memstats_row(NumGC=2, TotalAlloc=40, Mallocs=10))

    assert {"alloc_bytes_per_request": 10.0, "mallocs_per_request": 2.0} == Span(
        first, last
    ).per_request(3)
    assert {} == Span(first, last).per_request(0)
    assert {} == Span(last, first).per_request(3)
    assert {} == Span(last, last).per_request(3)
    assert {} == Span(MomentFacts("0"), last).per_request(3)
    less = MomentFacts("2", memstats=memstats_row(NumGC=2, TotalAlloc=9, Mallocs=4))
    assert {"mallocs_per_request": 0.0} == Span(first, less).per_request(3)


# Changes


@pytest.mark.parametrize(
    ("sides", "change"), [((True, True), 5), ((True, False), None), ((False, True), None)]
)
def test_a_kind_that_one_side_lacks_is_none_there_if_both_have_smaps(sides, change):
    table = pd.DataFrame(
        {name: [] for name in ("kind", "path", "start", "end", "Size", "Rss", "perms", "inode")}
    )
    parts = {"heap_objects": 9}, {"heap_objects": 9, "native_heap": 5}
    before, after = (
        MomentFacts("1", ledger=ledger(sum(one.values()), **one), mappings=table if has else None)
        for one, has in zip(parts, sides, strict=True)
    )

    found = change_between(before, after).ledger.parts.set_index("part")["change_bytes"]

    assert (change is None) == pd.isna(found["native_heap"])
    assert change is None or change == found["native_heap"]


# Findings


def over(moment="1", size=60 * MIB):
    cited = (Evidence("1/smaps", "Rss", 1, "B"),)
    about = {"title": "", "mechanism": "", "next_step": "", "moments": ("1",), "evidence": cited}
    return Finding(
        code="idle-heap-kept", severity=Severity.WARNING, moment=moment, bytes=size, **about
    )


@pytest.mark.parametrize(
    ("rss", "by"),
    [
        pytest.param({}, None, id="nowhere known"),
        pytest.param({"2": 1}, None, id="not known then"),
        pytest.param({"1": 100 * MIB, "2": 70 * MIB}, "2", id="by half"),
        pytest.param({"1": 100 * MIB, "2": 70 * MIB + 1}, None, id="by less"),
    ],
)
def test_what_was_given_back_is_known_where_rss_is_known_then_and_now(rss, by):
    moments = {name: {"smaps": f"{name}/smaps"} for name in ("1", "2")}

    assert by == Scale(moments, rss).given_back_by(over())
    assert Scale(moments, rss).given_back_by(over(size=0)) is None


# Judgements


def row(before, after, n=1, verdict="worse", **more):
    change = None if not before else after / before - 1
    return {
        "before_median": before, "after_median": after, "before_n": n, "after_n": n,
        "difference": after - before, "change": change, "verdict": verdict,
    } | more  # fmt: skip


def metrics(*rows):
    names = ["name", "layer", *row(1, 1), "p_value", "p_adjusted", "unit", "equivalence"]
    return pd.DataFrame([{name: one.get(name) for name in names} for one in rows], columns=names)


def compared(*rows, **more):
    claims = {"largest_claim": None, "least_change": 0.005, "margin": None, "too_little": {}}
    return SimpleNamespace(metrics=metrics(*rows), **claims | more)


def test_how_many_metrics_are_shown_to_be_no_worse():
    rows = [{"equivalence": one} for one in ("no worse", "equivalent", "?", None)]

    assert [] == _margin(compared(*rows))
    assert [] == _margin(compared({}, margin=0.1))
    assert ["No worse than 10.0 %: shown for 2 of 3 metrics (1 equivalent)."] == _margin(
        compared(*rows, margin=0.1)
    )
    assert ["No worse than 10.0 %: shown for 1 of 1 metrics."] == _margin(
        compared(rows[0], margin=0.1)
    )


@pytest.mark.parametrize(
    ("verdicts", "told"),
    [
        (["same"], ("same", "1 benchmark metric changed by less than 0.5 %.")),
        (["~", "~"], ("same", "All 2 benchmark metrics show no significant change.")),
        (["changed", "?"], ("?", "1 of 2 benchmark metrics changed and 1 has too few runs")),
    ],
)
def test_benchmarks_are_counted_by_what_became_of_them(verdicts, told):
    rows = [row(1, 1, verdict=one, layer=BENCHMARK, p_value=0.5) for one in verdicts]

    verdict, said = _benchmarks(compared(*rows))

    assert told[0] == verdict
    assert said.startswith(told[1])
    assert _benchmarks(compared(row(1, 1, layer="memory"))) is None


# Budgets, builds


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        pytest.param([1, 2, 3, 4], [2, 3, 4, 5], 28, id="with ties"),
        pytest.param([1, 2, 3, 4], [4, 3, 2, 1], None, id="no difference"),
        pytest.param([1, 2], [3, 4], 6, id="wholly apart"),
        pytest.param(range(1, 30), [15.5] * 28 + [14.5], None, id="more than anybody measures"),
    ],
)
def test_how_many_runs_would_tell(before, after, said):
    """
    Noether's: (1.96 + 0.84)² = 7.84 over 6 times the square of how far from a half it is that a
    value after lies above one before; where both are equal, half of it. In 10 of 16 pairs it does
    and in 3 they are equal: 0.71875, so 7.84 / (6 x 0.21875²) = 27.3.
    """
    told = _more(np.array(before, float), np.array(after, float))

    assert ("" if said is None else f"; about {said} runs per side would decide") == told


def test_p_is_corrected_over_all_builds_benchmarks_and_levels_apart():
    """
    Two benchmarks and one level vary; the third benchmark does not, and counts for nothing.
    """
    keys = [("benchmark", "s", "A"), ("benchmark", "s", "B"), ("benchmark", "s", "C"),
            ("memory", "B", "RSS")]  # fmt: skip
    rows = pd.DataFrame(keys, columns=["layer", "unit", "name"])
    values = [(*key, value) for key in keys for value in ((1, 1) if key[2] == "C" else (1, 2))]
    samples = pd.DataFrame(values, columns=["layer", "unit", "name", "value"])

    adjusted, families = _corrected(
        rows.assign(build="new", p_value=[0.01, 0.03, 1.0, 0.04]),
        {"new": SimpleNamespace(samples=samples)},
    )

    assert [0.02, 0.03, 1.0, 0.04] == pytest.approx(adjusted)
    assert [2, 2, 0, 1] == families


# Sites


@pytest.mark.parametrize(
    ("profiles", "said"),
    [
        (
            ({}, {"1": 1}),
            ["the before side has no heap profile, so allocation sites are not compared"],
        ),
        (
            ({"1": 1}, {}),
            ["the after side has no heap profile, so allocation sites are not compared"],
        ),
    ],
)
def test_without_profiles_nothing_else_is_said_of_sites(profiles, said):
    assert said == list(notes_of_sites([None], [None], 0, [], [[one] for one in profiles]))


def test_the_program_is_called_as_profiles_say_where_nothing_else_does():
    def named(*files):
        profiles = {str(n): SimpleNamespace(mappings=pd.DataFrame({"file": one}))
                    for n, one in enumerate(files)}  # fmt: skip
        manifest = SimpleNamespace(fact=lambda _: None)
        capture = SimpleNamespace(builds={}, manifest=manifest, heap_profiles=profiles)
        return program_of(SimpleNamespace(capture=capture, moments=()))

    assert "api" == named(["/app/api", "/lib/c.so"], ["/other/api"])
    assert "" == named(["/app/api"], ["/app/db"]) == named() == named(["[vdso]"])


# Moments


def sides_of(memstats=None, metrics=None, scraped=None, **about):
    nothing = {name: pd.DataFrame() for name in ("status", "statm", "rollups", "memstats")}
    smaps = pd.DataFrame({"KernelPageSize": pd.array([], "Int64")})
    nothing |= {"smaps": smaps, "paths": {}, "collections": None, "assumed": ()}
    moment = SimpleNamespace(**nothing | {"time_of": lambda *_: None} | about)
    return SimpleNamespace(
        moment=moment, memstats=memstats, metrics=metrics or {}, scraped=scraped or {},
        runtime_side="memstats", classified=None, is_least=False, listed=None, logged=None,
        rss_is_pasted=False,
    )  # fmt: skip


def test_a_moment_has_a_ledger_if_anything_says_what_is_resident_or_claimed():
    skew = SimpleNamespace(seconds=None, collections=None)
    statm = pd.DataFrame([{"resident": 8, "shared": 2}])

    def has(*, cgroup=None, **about):
        return _ledger(sides_of(**about), skew, cgroup or {}, None) is not None

    assert not has()
    assert has(scraped={"process_resident_memory_bytes": 5.0})
    assert has(cgroup={"anon": 5})
    assert has(statm=statm)
    assert has(memstats=memstats_row(HeapSys=5))
    assert 8 * 64 * KIB == _ledger(sides_of(statm=statm), skew, {}, 64 * KIB).rss_bytes


@pytest.mark.parametrize(
    ("number", "metrics", "live"),
    [
        pytest.param(5, {CYCLES: 5, LIVE: 7}, 7, id="both sides count the same"),
        pytest.param(5, {CYCLES: 6, LIVE: 7}, None, id="they do not"),
        pytest.param(5, {}, 70, id="the log"),
        pytest.param(4, {}, None, id="not in the log"),
        pytest.param(0, {}, None, id="before the first"),
        pytest.param(None, {CYCLES: 5, LIVE: 7}, 7, id="metrics alone"),
        pytest.param(None, {CYCLES: 0, LIVE: 7}, None, id="metrics before the first"),
        pytest.param(None, {LIVE: 7}, None, id="nobody counts"),
        pytest.param(None, {}, None, id="nothing"),
    ],
)
def test_what_the_last_collection_marked(number, metrics, live):
    stats = None if number is None else memstats_row(NumGC=number)

    assert live == _live_bytes(sides_of(stats, metrics), {0: 1, 5: 70})


def test_a_log_of_two_runs_does_not_say_what_a_collection_marked():
    cycles = pd.DataFrame({"number": [1, 2], "heap_live_bytes": pd.array([7, None], "Int64")})

    assert {1: 7} == _marked(cycles)
    assert {} == _marked(cycles.assign(number=1))


@pytest.mark.parametrize(
    ("noted", "processors", "size"),
    [
        (4096, (), 4096), (65536, (), 65536), (4095, (), None), (65537, (), None),
        (True, (), None), (None, (), None), (None, ("amd64",), 4096), (None, ("386",), 4096),
        (None, ("amd64", "arm64"), None), (16384, ("amd64",), 16384),
    ],
)  # fmt: skip
def test_the_kernels_page_size(noted, processors, size):
    builds = {one: SimpleNamespace(build=pd.DataFrame({"goarch": [one]})) for one in processors}
    manifest = SimpleNamespace(fact={"page_size": noted}.get)

    assert size == _page_bytes_of(SimpleNamespace(manifest=manifest, builds=builds))


@pytest.mark.parametrize(
    ("times", "total", "counts"),
    [
        pytest.param((1, 2, 3), 6, (5, 6), id="read in between"),
        pytest.param((2, 2, 2), 6, (5, 6), id="at once"),
        pytest.param((2, 1, 3), 6, None, id="before"),
        pytest.param((1, 4, 3), 6, None, id="after"),
        pytest.param((1, None, 3), 6, None, id="nobody knows when"),
        pytest.param((1, 2, 3), None, None, id="not counted"),
    ],
)
def test_collections_counted_twice(times, total, counts):
    at = dict(zip(("memstats", "metrics", "smaps"), times, strict=True))
    metrics = {} if total is None else {CYCLES: total}
    sides = sides_of(metrics=metrics, time_of=at.get)

    assert counts == _collections_counted_twice(sides, memstats_row(NumGC=5))
    assert _collections_counted_twice(sides, None) is None


def test_collections_that_the_collector_counted_itself_come_first():
    at = {"memstats": NOON, KERNEL_SIDE[0]: NOON + pd.Timedelta(seconds=2)}

    def time_of(*kinds):
        return next((at[kind] for kind in kinds if kind in at), None)

    counted, unknown = (_skew(sides_of(collections=n, time_of=time_of), None) for n in (0, None))

    assert (2.0, 0) == (counted.seconds, counted.collections)
    assert (2.0, None) == (unknown.seconds, unknown.collections)


def test_of_a_page_beside_metrics_as_json_memstats_are_of_neither_twice():
    stats = pd.DataFrame({"artefact": ["page", "dump"]})

    def dumps(**paths):
        kinds = {"page": "metrics-page", "json": "metrics"}
        named = {kinds[kind]: path for kind, path in paths.items()}
        return len(_dumps(SimpleNamespace(memstats=stats, paths=named)))

    assert [2, 2, 1] == [dumps(), dumps(page="page", json="page"), dumps(page="page", json="x")]


def test_what_a_page_of_metrics_says_is_of_its_last_scrape():
    pages = pd.DataFrame({"process_resident_memory_bytes": [1.0, 2.0],
                          "go_goroutines": [5.0, None], "go_threads": [7, 8]})  # fmt: skip

    said = _scraped(SimpleNamespace(process=pages))
    assert {"process_resident_memory_bytes": 2.0, "go_threads": 8} == said
    assert {} == _scraped(SimpleNamespace(process=pages.iloc[:0]))


def test_metrics_are_those_of_the_last_reading():
    values = pd.DataFrame({"reading": [1, 2], "name": ["a", "a"], "value": [5.0, 6.0]})

    assert {"a": 6.0} == _last_reading(values)


# What other settings would do


def test_memory_beside_the_heap_is_of_the_last_moment_that_says_it_all():
    row = memstats_row(HeapInuse=6, HeapReleased=2, HeapSys=10, HeapAlloc=5, Sys=17, MSpanSys=3,
                       GCSys=1)  # fmt: skip
    partial = row.copy()
    partial["GCSys"] = pd.NA

    found = _memory_now([MomentFacts("1", memstats=row), MomentFacts("2", memstats=partial),
                         MomentFacts("3")])  # fmt: skip

    assert (8, 7, 4, 1, 10, None) == (
        found.retained_bytes, found.beside_bytes, found.growing_bytes, found.slack_bytes,
        found.heap_sys_bytes, found.rss_bytes,
    )  # fmt: skip
    assert _memory_now([MomentFacts("3")]) is None


def test_gogc_is_that_of_the_run_that_lasted_longest():
    fractions = [0.5, 1.0, None, 2.0]
    table = pd.DataFrame(
        {
            "run": [1, 2, 3, 4],
            "gogc_fraction": fractions,
            "low": fractions,
            "high": fractions,
            "known_from": [*["4 of 4 goals"] * 3, METRICS],
        }
    )

    def inferred(run, cycles=1):
        longest = None if run is None else SimpleNamespace(run=run)
        found = _by_log(SimpleNamespace(
            cycles=pd.DataFrame({"n": range(cycles)}), longest_run=longest, path="gc.log",
            triggers=SimpleNamespace(gogc=table),
        ))  # fmt: skip
        return found and found.value

    assert [0.5, 1.0, None, None, None, None] == [inferred(run) for run in (1, 2, 3, 4, 5, None)]
    assert inferred(1, cycles=0) is None


def test_a_container_is_what_is_asked_or_the_cgroups_limit():
    def group(limit, **about):
        return MomentFacts("1", cgroup={"memory.current": 5, "memory.max": limit}, **about)

    made = ledger(9 * MIB, heap_objects=9 * MIB)
    whole = group(90 * MIB, ledger=made, mappings=pd.DataFrame({"kind": []}))

    assert 7 == _for_container(Asked(container_bytes=7), [group(9)]).container_bytes
    found = _for_container(Asked(), [group(5), group(90)])
    assert (90, CGROUP, None) == (found.container_bytes, found.container_source, found.steps)
    for moments in ([], [MomentFacts("1")], [group(90), group(None)]):
        assert _for_container(Asked(), moments).container_bytes is None
    assert _for_container(Asked(), [whole]).steps["bytes"].sum() % MIB == 0
    assert _for_container(Asked(), [group(90 * MIB, ledger=made)]).steps is None


@pytest.mark.parametrize(
    ("huge", "unexplained", "excess"),
    [(None, 5, None), ([3, 4], 5, 5), ([3, 4], 9, 7), ([3, pd.NA], 9, 3), ([3, 4], None, 0)],
)
def test_what_is_resident_in_huge_pages_beyond_the_claims(huge, unexplained, excess):
    """
    Of the arenas alone, and no more than nobody claims.
    """
    parts = {"heap_objects": 9} | ({} if unexplained is None else {"heap_unexplained": unexplained})
    table = pd.DataFrame({"kind": ["go-heap", "go-heap", "binary"]})
    if huge is not None:
        table[HUGE] = pd.array([*huge, 90], "Int64")
    made = ledger(sum(parts.values()), **parts)

    assert excess == _huge_excess(MomentFacts("1", ledger=made, mappings=table))
    assert _huge_excess(MomentFacts("1", ledger=made)) is None


@pytest.mark.parametrize(
    ("size", "unit", "allowed"),
    [
        ("+5B", "B", 5), ("+5kB", "B", 5e3), ("+5KB", "B/op", 5e3), ("+5MB", "B", 5e6),
        ("+5GB", "B", 5e9), ("+5KiB", "B", 5 << 10), ("+5MiB", "B", 5 << 20),
        ("+5GiB", "B", 5 << 30), ("+5ns", "sec/op", 5e-9), ("+5us", "s", 5e-6),
        ("+5µs", "s", 5e-6), ("+5ms", "s", 5e-3), ("+5s", "s", 5), ("+5sec", "s", 5),
        ("+5pp", "fraction", 0.05), ("+5", "count", 5), ("+0", "fraction", 0), ("-5", "count", -5),
        ("+50%", "B", 50), ("-50 %", "B", -50),
    ],
)  # fmt: skip
def test_what_a_budget_allows_in_the_metrics_unit(size, unit, allowed):
    told = budget_of("rss", size).applied(np.array([100.0]), unit)

    assert 100 + allowed == pytest.approx(told[0])


def test_a_negative_value_is_worse_by_its_size():
    assert -50 == budget_of("x", "+50%").applied(np.array([-100.0]), "count")[0]


@pytest.mark.parametrize(
    ("size", "unit"), [("+5ms", "B"), ("+5MiB", "s"), ("+5", "fraction"), ("+5pp", "B")]
)
def test_a_budget_of_another_unit_is_refused(size, unit):
    with pytest.raises(CaptureError, match="wanted %"):
        budget_of("x", size).applied(np.array([1.0]), unit)


def built(p_adjusted, p_value=0.03, note=""):
    about = {"before_n": 4, "before_median": 1.0, "p_value": p_value, "note": note}
    about |= {f"after_{key}": place for place, key in enumerate(("n", "median", "low", "high"))}
    return _build_row(about, p_adjusted, 12)


def test_a_builds_row_says_of_how_many_comparisons_it_is_one():
    """
    Of all builds together, and not of its own table, whose word of that is dropped.
    """
    own = FAMILY_NOTE.format(3)

    assert FAMILY_NOTE.format(12) == built(0.06, note=own)["note"]
    assert f"only after; {FAMILY_NOTE.format(12)}" == built(0.06, note=f"only after; {own}")["note"]
    assert "" == built(0.05, note=own)["note"] == built(None)["note"]
    assert "" == built(0.06, p_value=0.051)["note"]
    assert FAMILY_NOTE.format(12) == built(0.06, p_value=0.05)["note"]
    row = built(None)
    assert (0, 1, 2, 3, 4, 1.0) == (
        row["n"], row["median"], row["low"], row["high"], row["baseline_n"], row["baseline_median"],
    )  # fmt: skip


@pytest.mark.parametrize(
    ("before", "after"), [(pd.NA, 40), (10, pd.NA), (40, 10)], ids=["before", "after", "less"]
)
def test_what_was_not_counted_on_both_sides_has_no_cost(before, after):
    ends = [memstats_row(NumGC=n, TotalAlloc=0, Mallocs=n) for n in (1, 2)]
    for row, size in zip(ends, (before, after), strict=True):
        row["TotalAlloc"] = size

    span = Span(*(MomentFacts(str(n), memstats=row) for n, row in enumerate(ends)))

    assert {"mallocs_per_request": 1.0} == span.per_request(1)


def test_what_is_opened_already_is_taken_as_it_is(monkeypatch):
    monkeypatch.setattr(comparison, "diagnose", lambda one: ("diagnosed", one))
    capture = Capture("c", {}, (), (), (), {}, GoVersion())
    bench, known = read_bench(b"BenchmarkA 1 5 ns/op\n"), Diagnosis(CaptureFacts(capture))

    assert ("diagnosed", capture) == comparison.open_side(capture)
    assert bench is comparison.open_side(bench)
    assert known is comparison.open_side(known)


def test_of_a_log_too_long_for_memory_nobody_asks_when_collections_ended():
    stats = pd.DataFrame({"NumGC": [1], "LastGC": [NOON]})
    cycles = cycles_of({}, {})

    def logged(gc):
        return logged_cycles(SimpleNamespace(gc=gc))

    assert logged(None) is logged(SimpleNamespace(cycles=packed_cycles(cycles, 1))) is None
    assert [1, 2] == collection_ends(logged(SimpleNamespace(cycles=cycles)), stats).index.tolist()


def test_findings_have_a_row_each():
    (row,) = Findings([over()]).frame.to_dict("records")

    assert ("idle-heap-kept", "warning", "1", 60 * MIB, True) == tuple(
        row[name] for name in ("code", "severity", "moment", "bytes", "now")
    )
    assert "<Findings: idle-heap-kept>" == repr(Findings([over()]))
    assert "<Findings: none>" == repr(Findings())
