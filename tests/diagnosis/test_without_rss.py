"""What is said where no file says how much is resident, of files that are made up in a line."""

import json
from types import SimpleNamespace

import pandas as pd
import pytest

import gomem
from gomem.capture.moment import empty_frame
from gomem.causes.thresholds import Thresholds
from gomem.diagnosis.further import NOTHING
from gomem.diagnosis.in_use import who_holds
from gomem.diagnosis.without_rss import ANYTHING, without_rss
from gomem.facts.goroutines import GoroutineCount
from gomem.facts.moment import MomentFacts
from gomem.releases import GoVersion
from gomem.text import Bytes, Command, MomentName
from gomem.units import MIB
from tests.builders import case_of
from tests.heap_profiles import bucket, heap, turned_over
from tests.views.ledgers import ledger


def told(facts=None, *, collector=None, goroutines=(), **capture):
    """What is said, whether it grew, and what to do next."""
    nothing = {"heap_profiles": {}, "profiles": {}, "bench": {}, "escapes": {},
               "memstats": empty_frame("memstats"), "metrics": empty_frame("metrics"),
               "processes": empty_frame("processes"), "files": (),
               "by_moment": {}, "damaged": [], "gc": None, "stated": (), "unused_sizes": (),
               "other_runs": (), "go_version": GoVersion()}  # fmt: skip
    files = SimpleNamespace(**nothing | capture)
    limits = Thresholds()
    case = case_of(thresholds=limits, goroutine_counts=goroutines)
    diagnosis = SimpleNamespace(
        findings=(),
        capture=files, collector=collector, thresholds=limits, case=case, facts=case.facts,
        moments=(), by_moment={},
    )  # fmt: skip
    return without_rss(diagnosis, facts)


def in_use(*sizes_mib):
    """A heap profile in which nothing was sampled, so that every number is exact."""
    names = [f"main.site{number}" for number in range(len(sizes_mib))]
    buckets = [
        bucket(1, int(size * MIB), leaf=number, root=number)
        for number, size in enumerate(sizes_mib, start=1)
    ]
    return heap(*buckets, rate=1, names=names)


def test_nothing_that_says_anything_is_answered_with_what_to_collect():
    assert (NOTHING, False, ANYTHING) == told()


def test_a_text_that_names_sizes_does_not_say_nothing_of_them():
    said, grew, step = told(unused_sizes=("565 MB", "1 GB", "7 MiB", "9 MiB"))

    assert "names sizes (565 MB, 1 GB, 7 MiB, …)" in said
    assert "Nothing here says" not in said
    assert (False, ANYTHING) == (grew, step)


@pytest.mark.parametrize(
    ("first", "last", "grew"),
    [
        pytest.param(10, 12, True, id="a fifth"),
        pytest.param(10, 11.9, False, id="less than a fifth"),
        pytest.param(1, 2, True, id="a mebibyte"),
        pytest.param(1, 1.9, False, id="less than a mebibyte"),
    ],
)
def test_heap_profiles_tell_how_the_heap_grew(first, last, grew):
    said, has_grown, _ = told(heap_profiles={"a": in_use(first), "b": in_use(last)})

    assert said.startswith("The heap profile has ")
    amounts = [round(part.value / MIB, 1) for part in said.of(Bytes)]
    assert [last, first, last] == pytest.approx([*amounts, last])
    assert ["b", "a"] == [part.value for part in said.of(MomentName)]
    assert grew == has_grown


def test_one_heap_profile_has_not_grown_and_names_no_moment():
    said, grew, _ = told(heap_profiles={"a": in_use(10)})

    assert said.startswith("The heap profile has 10 MiB of live objects. ")
    assert () == said.of(MomentName)
    assert not grew


def test_a_heap_profile_without_a_sample_says_so_and_not_nothing():
    said, _, _ = told(heap_profiles={"a": in_use(0)})

    assert "The heap profile has no sample in use: too little memory is in use" in said
    assert "0 B" not in said


def test_an_empty_heap_profile_says_who_allocated_beside_a_log_that_says_more(tmp_path):
    freed = [turned_over(27, 0, MIB, leaf=1, root=1), turned_over(1, 0, MIB, leaf=2, root=2)]
    profile = heap(*freed, rate=1, names=["main.normalise", "main.tally"])
    alone, _, _ = told(heap_profiles={"a": profile})
    gc = (
        "gc {n} @{n}.000s 4%: 0.1+1.7+0.1 ms clock, 0.1+0/0.2/0.3+0.1 ms cpu, 3->3->0 MB, "
        "4 MB goal, 2 P\n"
    )
    (tmp_path / "gc.log").write_text("".join(gc.format(n=n) for n in range(1, 30)))
    log = gomem.diagnose(tmp_path).collector
    beside, _, _ = told(heap_profiles={"a": profile}, collector=log)

    for said in (alone, beside):
        assert "Nearly all that was allocated is from main.normalise (96 %)." in said
    assert alone.startswith("The heap profile has no sample in use")
    assert beside.startswith("29 GCs in ")


@pytest.mark.parametrize(
    ("sizes", "named", "most"),
    [
        pytest.param((95, 5), 2, True, id="a twentieth"),
        pytest.param((96, 4), 1, True, id="less"),
        pytest.param((30, 25, 25, 20), 3, False, id="three at most"),
        pytest.param((51, 25, 24), 3, True, id="over half"),
        pytest.param((50, 25, 25), 3, False, id="half"),
        pytest.param([1] * 21, 0, False, id="none"),
    ],
)
def test_those_who_hold_a_twentieth_are_named(sizes, named, most):
    capture = SimpleNamespace(heap_profiles={"a": in_use(*sizes)}, go_version=GoVersion())
    diagnosis = SimpleNamespace(capture=capture, by_moment={}, collector=None, findings=())

    said = who_holds(diagnosis, "a")

    assert named == said.count("main.site")
    assert bool(named) == bool(said)
    assert most == said.startswith(("Most of the live bytes", "Nearly all live bytes"))
    assert (bool(named) and not most) == said.startswith(
        "Live bytes by the program's own functions: "
    )


def claims(paths=(), **sizes):
    made = ledger(None, **{part: size * MIB for part, size in sizes.items()})
    made.parts["claimed_bytes"] = made.parts["bytes"].astype("Int64")
    return MomentFacts("1", ledger=made, paths={kind: f"1/{kind}" for kind in paths})


@pytest.mark.parametrize(
    ("sizes", "words"),
    [
        ({"heap_objects": 95, "stacks": 5}, ["95 MiB Go obj", "5 MiB goroutine stacks."]),
        ({"heap_objects": 96, "stacks": 4}, ["96 MiB Go objects and garbage."]),
        (
            {"heap_objects": 40, "heap_idle": 30, "stacks": 20, "runtime_metadata": 10},
            ["40 MiB", "30 MiB free"],
        ),
    ],
)
def test_what_go_reserves_is_named_from_a_twentieth_on_and_two_at_most(sizes, words):
    said, grew, _ = told(claims(**sizes))

    assert said.startswith("Go retains 100 MiB: ")
    assert len(words) + 1 == said.count(" MiB")
    assert all(word in said for word in words)
    assert not grew


def test_who_has_what_go_reserves_is_told_by_a_heap_profile():
    """
    MemStats are of their moment; the profile is as old as a collection.
    """
    profiles = {"1": in_use(5), "2": in_use(10)}

    said, grew, _ = told(claims(heap_objects=40), heap_profiles=profiles, by_moment={1: 0, 2: 0})

    assert said.startswith("Go retains 40 MiB at ")
    assert " 40 MiB Go objects" in said
    assert "The heap profile has 10 MiB of live objects at " in said
    assert ["1", "2", "1"] == [part.value for part in said.of(MomentName)]
    assert said.endswith("Nearly all live bytes are from main.site0.")
    assert grew


def test_what_is_in_rss_is_what_smaps_says():
    for facts, more in ((claims(heap_objects=1), {}), (None, {"heap_profiles": {"a": in_use(1)}})):
        words, command, _ = told(facts, **more)[2].parts
        assert isinstance(command, Command)
        assert "/proc/PID/smaps" in command
        assert "RSS" in words


def test_nothing_reserved_says_nothing():
    assert NOTHING == told(claims(heap_objects=0))[0]
    assert NOTHING == told(MomentFacts("1"))[0]


STOPS = {"n": 1, "p99": 0.002, "max": 0.003}
UNKNOWN = {"p99": None, "max": None}


def log(cycles=1, seconds=0.0, cpu=None, stops=STOPS, live=None, run=None, missing=0):
    stw = SimpleNamespace(**{"n": cycles} | stops)
    cost = SimpleNamespace(cycles=cycles, seconds=seconds, gc_cpu_fraction=cpu, stw=stw,
                           steady_cycles=1, heap_live_last_bytes=live and live * MIB,
                           interval=SimpleNamespace(p50=None))  # fmt: skip
    lines = SimpleNamespace(old_lines=0)
    return SimpleNamespace(
        cost=cost,
        last_run=run,
        runs=(),
        costliest_run=None,
        missing=missing,
        log=lines,
        since_start=None,
    )


@pytest.mark.parametrize(
    ("collector", "said"),
    [
        (log(), "1 GC: longest pause 3 ms."),
        (log(2, 1.5), "2 GCs in 1.5 s: longest pause 3 ms."),
        (log(100, stops=STOPS | {"n": 100}), "100 GCs: p99 pause 2 ms."),
        (log(99, stops=STOPS | {"n": 99}), "99 GCs: longest pause 3 ms."),
        (log(2, cpu=0.01, stops=UNKNOWN), "2 GCs: at most 1 % of the CPU."),
        (log(2, cpu=0.0099, stops=UNKNOWN), "2 GCs: under 1 % of the CPU."),
        (log(2, cpu=0.132, stops=UNKNOWN), "2 GCs: at most 14 % of the CPU."),
        (log(2, cpu=0.25), "2 GCs: at most 25 % of the CPU, longest pause 3 ms."),
        (log(2, stops=UNKNOWN), "2 GCs: no line has their cost."),
        (log(3, 460.0, missing=18), "The log shows 3 of 21 GCs in 7.7 min: longest pause 3 ms."),
        (log(3, missing=3), "3 GCs: longest pause 3 ms."),
        (log(0), NOTHING),
    ],
)
def test_a_log_tells_what_collection_costs(collector, said):
    assert said == told(collector=collector)[0]


def growth(low, high, last=12):
    return SimpleNamespace(slope_low=low, slope_high=high, slope_bytes_per_second=float(MIB),
                           first_bytes=10 * MIB, last_bytes=last * MIB)  # fmt: skip


@pytest.mark.parametrize(
    ("run", "words", "grew"),
    [
        pytest.param(None, "; there are too few GCs for a trend.", False, id="no run"),
        pytest.param(
            growth(None, None),
            ", up from 10 MiB; there are too few GCs for a trend.",
            False,
            id="risen by a fifth",
        ),
        pytest.param(growth(None, None, 11.9), "; there are too few GCs", False, id="no interval"),
        pytest.param(growth(1, 2), " and grows by 1 MiB/s.", True, id="by a fifth"),
        pytest.param(growth(1, 2, 11), " and grows by 1 MiB/s.", False, id="by less"),
        pytest.param(growth(0, 2), " and does not grow significantly.", False, id="it may stay"),
        pytest.param(
            growth(-1, 0), " and does not grow significantly.", False, id="it may not shrink"
        ),
        pytest.param(growth(-2, -1), " and shrinks.", False, id="it shrinks"),
    ],
)
def test_a_log_tells_where_the_live_heap_goes(run, words, grew):
    said, has_grown, _ = told(collector=log(9, live=12, run=run))

    assert f". The live heap is 12 MiB after the last GC{words}" in said
    assert grew == has_grown


@pytest.mark.parametrize(("live", "said"), [(0, "under 1 MiB"), (1, "1 MiB")])
def test_a_live_heap_that_the_log_rounds_to_nothing_is_less_than_its_unit(live, said):
    assert f"The live heap is {said} after the last GC" in told(collector=log(9, live=live))[0]


def standing(*moments, count=None):
    """Goroutines of each moment by their place and state."""
    columns = ["goroutines", "stack", "state", "created_by"]
    frames = [pd.DataFrame(rows, columns=columns) for rows in moments]
    counts = [int(frame["goroutines"].sum()) for frame in frames]
    return tuple(
        GoroutineCount(str(place), None, count or counted, "goroutine.txt", frame)
        for place, (counted, frame) in enumerate(zip(counts, frames, strict=True))
    )


POLL = "internal/poll.runtime_pollWait;internal/poll.(*pollDesc).wait;net.(*conn).Read"


@pytest.mark.parametrize(
    ("goroutines", "said"),
    [
        pytest.param(
            standing([(9, "main.old", "IO wait", "main.go")],
                     [(3, "main.a", "IO wait", ""), (1, "main.b", "select", "")]),
            "4 goroutines; 3 wait in main.a (IO wait).", id="of the last moment",
        ),
        pytest.param(
            standing([(3, "main.a", "IO wait", ""), (4, "main.a", "select", "main.go"),
                      (5, "main.b", "sleep", "")]),
            "12 goroutines; 7 wait in main.a (mostly select), started by main.go.",
            id="several states",
        ),
        pytest.param(
            standing([(3, "", None, None)]), "3 goroutines; 3 wait in the runtime.", id="unknown"
        ),
        pytest.param(
            standing([(2, "main.a", "running", "")]),
            "2 goroutines; 2 are in main.a (running).", id="at work",
        ),
        pytest.param(
            standing([(3, f"{POLL};github.com/a/b.(*Conn).read;main.ask", "IO wait", "")]),
            "3 goroutines; 3 wait in github.com/a/b.(*Conn).read (IO wait).",
            id="the first function outside Go's library",
        ),
        pytest.param(
            standing(
                [(3, f"{POLL};net/http.(*conn).serve", "IO wait", "net/http.(*Server).Serve")]
            ),
            "3 goroutines; 3 wait in net/http.(*conn).serve (IO wait), started by "
            "net/http.(*Server).Serve. Each is a client's connection to this HTTP server.",
            id="what began, where all are of Go's library",
        ),
        pytest.param(
            standing([(560, "main.a", None, None)], count=800),
            "800 goroutines; the 560 shown here wait in main.a.", id="an excerpt",
        ),
        pytest.param(
            standing([(560, "main.a", None, None), (40, "main.b", None, None)], count=800),
            "800 goroutines; 560 of the 600 shown here wait in main.a.", id="a longer excerpt",
        ),
    ],
)  # fmt: skip
def test_goroutines_are_counted_where_they_wait(goroutines, said):
    assert said == told(goroutines=goroutines)[0]


def test_benchmarks_are_counted_by_their_names_and_lines():
    def of(*names):
        results = pd.DataFrame(
            {"name": names, "line": range(len(names)), "unit": "sec/op", "value": 1.0}
        )
        return SimpleNamespace(results=results, told_apart=())

    one, several = (told(bench={"a": benchmarks})[0] for benchmarks in (of("A", "A"), of("A", "B")))

    assert "1 benchmark, 2 results." == one
    assert "2 benchmarks, 2 results." == several


@pytest.mark.parametrize(
    ("line", "sizes"),
    [
        (b"HeapAlloc: 8 MiB, HeapSys: 64 MiB, NumGC: 3", [8, 64]),
        (b"HeapAlloc: 8 MiB, Sys: 70 MiB, NumGC: 3", [8, 70]),
        (
            b"HeapAlloc: 8 MiB, HeapIdle: 50 MiB, HeapReleased: 20 MiB, Sys: 70 MiB",
            [8, 50, 30, 50, 20, 70],
        ),
    ],
)
def test_some_fields_of_memstats_say_what_they_can(line, sizes, tmp_path):
    """
    Idle heap that was not returned, and how much of RSS can be Go's at most.
    """
    (tmp_path / "app.log").write_bytes(line + b"\n")
    said = gomem.diagnose(gomem.load(tmp_path / "app.log")).verdict

    assert sizes == [size.value // MIB for size in said.sentence.of(Bytes)]
    assert said.severity is None


@pytest.mark.parametrize(
    ("fields", "level", "size"),
    [
        ("Sys: 52 MiB, HeapSys: 40 MiB, HeapIdle: 21 MiB, HeapInuse: 19922944", "HeapInuse", 19),
        ("Sys=52 MiB HeapSys=40 MiB HeapIdle=20 MiB HeapReleased=1 MiB", "HeapSys", 40),
    ],
)
def test_memstats_without_what_is_allocated_say_what_they_have(fields, level, size, tmp_path):
    tmp_path.joinpath("worker.log").write_text(f"2026-03-01 10:00:00 worker: {fields}\n")

    said = gomem.diagnose(gomem.load(tmp_path)).verdict.headline

    assert said.startswith(f"{level} is ")
    assert next(iter(said.of(Bytes))).value == size * MIB


def test_a_level_without_what_is_allocated_is_followed(tmp_path):
    lines = (
        f"HeapInuse: {size} MiB, HeapIdle: 4 MiB, HeapSys: 40 MiB, Sys: 50 MiB" for size in (8, 24)
    )
    tmp_path.joinpath("worker.log").write_text("\n".join(lines) + "\n")

    verdict = gomem.diagnose(gomem.load(tmp_path)).verdict

    assert verdict.headline.startswith("HeapInuse went from ")
    assert [8 * MIB, 24 * MIB] == [size.value for size in verdict.headline.of(Bytes)[:2]]


def test_what_is_nobodys_is_said_where_it_is_more_than_the_largest():
    names = ["main.work", "runtime.malg", "net/http.init"]
    profile = heap(
        *(bucket(1, size * MIB, leaf=at, root=at) for at, size in enumerate((3, 5, 2), start=1)),
        rate=1,
        names=names,
    )

    said = told(heap_profiles={"a": profile})[0]

    assert "by the runtime and the Go library alone, mostly by runtime.malg" in said
    assert "by the program's own functions: main.work (30 %)" in said


def test_a_page_cut_before_gos_memory_asks_for_the_whole_page(tmp_path):
    page = (
        "# TYPE go_gc_heap_tiny_allocs_objects_total counter\n"
        "go_gc_heap_tiny_allocs_objects_total 1445\n"
        "# TYPE go_gc_pauses_seconds_total histogram\n"
        'go_gc_pauses_seconds_total_bucket{le="0.0001"} 7\n'
        'go_gc_pauses_seconds_total_bucket{le="+Inf"} 8\n'
        "go_gc_pauses_seconds_total_sum NaN\ngo_gc_pauses_seconds_total_count 8\n"
        "# HELP go_goroutines Number of goroutines that currently exist.\n# TYPE go_go"
    )
    (tmp_path / "page.prom").write_text(page)
    verdict = gomem.diagnose(tmp_path / "page.prom").verdict

    assert "has no go_memstats_ metrics: it is cut" in f"{verdict.headline}"
    assert "/metrics > metrics.prom" in f"{verdict.next_step}"


@pytest.mark.parametrize(
    ("other_mib", "is_named"),
    [pytest.param(700, True, id="most"), pytest.param(40, False, id="not")],
)
def test_the_runtimes_largest_field_is_named_if_the_runtime_is_most(other_mib, is_named, tmp_path):
    """
    100 MiB of heap: 700 of OtherSys are most of what Go retains, and 40 are less than half.
    """
    fields = {"HeapAlloc": 90, "HeapInuse": 100, "HeapSys": 100, "GCSys": 8, "OtherSys": other_mib}
    sizes = {name: mib * MIB for name, mib in fields.items()}
    others = ("HeapIdle", "HeapReleased", "StackInuse", "StackSys", "MSpanSys", "MCacheSys")
    sizes |= dict.fromkeys((*others, "BuckHashSys"), 0)
    sizes["Sys"] = (100 + 8 + other_mib) * MIB
    (tmp_path / "memstats.json").write_text(json.dumps(sizes))

    headline = gomem.diagnose(tmp_path).verdict.headline

    assert is_named == ("mostly OtherSys" in f"{headline}")


def test_a_profile_with_rate_0_is_off_and_no_sample_needs_a_frame(tmp_path):
    page = (
        "heap profile: 0: 0 [0: 1] @ heap/0\n\n# runtime.MemStats\n# Alloc = 336152640\n"
        "# TotalAlloc = 106730496520\n# Sys = 619137184\n# HeapAlloc = 336152640\n"
        "# HeapSys = 610533376\n# HeapIdle = 267911168\n# HeapInuse = 342622208\n"
        "# HeapReleased = 123953152\n# NextGC = 531824992\n"
    )
    (tmp_path / "heap.txt").write_text(page)

    diagnosis = gomem.diagnose(tmp_path)

    assert "its sampling rate is 0" in diagnosis.verdict.sentence
    assert "could not be checked" not in " ".join(f"{one.title}" for one in diagnosis.findings)
