"""What counts as less, and what as a contradiction: each allowance on both sides of its edge."""

from dataclasses import replace

import pytest

from gomem.causes.finding import Severity
from gomem.text import Bytes
from gomem.units import MIB
from tools.stranger.told import Told, _renamer, contradictions


def finding(code, size, *, title="", moment="2", evidence=()):
    return {
        "code": code,
        "severity": Severity.WARNING,
        "confidence": "likely",
        "moment": moment,
        "bytes": size,
        "cpu_fraction": None,
        "title": title,
        "evidence": list(evidence),
    }


def told(*findings, rss=None, of_group=(), parts=()):
    rows = {
        part: {"bytes": size, "source": "smaps", "confidence": "counted"} for part, size in parts
    }
    return Told(
        moments=("1", "2"),
        verdict=(),
        findings=findings,
        ledgers={"2": rows},
        rss={"2": rss},
        apart={},
        of_group=frozenset(of_group),
        damaged=frozenset(),
        read={"2": "memstats"},
    )


def contradicts(whole, less):
    return bool(contradictions(told(whole), told(less)))


@pytest.mark.parametrize(
    ("word", "whole", "said"),
    [("at least", 10, False), ("at least", 9, True), ("up to", 10, False), ("up to", 11, True)],
)
def test_a_size_that_its_title_calls_a_bound_bounds_the_wholes(word, whole, said):
    """
    10 MiB, exactly and one off to the wrong side; whatever lies on the right side will do.
    """
    title = f"it holds {word} {Bytes(10 * MIB)}"
    less = finding("idle-heap-kept", 10 * MIB, title=title)

    assert said == contradicts(finding("idle-heap-kept", whole * MIB), less)
    beyond = 100 if word == "at least" else 1
    assert not contradicts(finding("idle-heap-kept", beyond * MIB), less)


@pytest.mark.parametrize(
    ("word", "less", "said"),
    [("at least", 10, False), ("at least", 9, True), ("up to", 10, False), ("up to", 11, True)],
)
def test_a_size_that_the_wholes_title_calls_a_bound_bounds_the_less(word, less, said):
    title = f"it holds {word} {Bytes(10 * MIB)}"
    whole = finding("idle-heap-kept", 10 * MIB, title=title)

    assert said == contradicts(whole, finding("idle-heap-kept", less * MIB))


@pytest.mark.parametrize(
    ("rate", "seconds", "said"),
    [
        pytest.param(1.9, 15, False, id="so"),
        pytest.param(1.9, 9.9, True, id="in the same time"),
        pytest.param(1.3, 15, True, id="a third slower"),
    ],
)
def test_growth_over_another_time_is_held_to_its_rate(rate, seconds, said):
    whole = finding("heap-growth", 20 * MIB, evidence=watched(9.9, rate=2))
    less = finding("heap-growth", 35 * MIB, evidence=watched(seconds, rate=rate))

    assert said == contradicts(whole, less)


def watched(seconds, *, rate=None):
    slope = [] if rate is None else [("", "slope", rate * MIB, "B/s")]
    return [*slope, ("", "time watched", seconds, "s")]


@pytest.mark.parametrize(("less", "said"), [(20, False), (19, True)])
def test_what_came_with_goroutines_is_held_to_its_rate(less, said):
    """
    60 MiB in 10 s, and in 5 s a third less in each.
    """
    whole = finding("goroutine-leak", 60 * MIB, evidence=watched(10))

    assert said == contradicts(whole, finding("goroutine-leak", less * MIB, evidence=watched(5)))


@pytest.mark.parametrize(
    ("confidence", "left", "said"),
    [
        pytest.param("possible", None, False, id="goroutines are gone"),
        pytest.param("possible", "possible", False, id="goroutines are less sure"),
        pytest.param("likely", None, True, id="too sure"),
        pytest.param("possible", "likely", True, id="goroutines are still there"),
    ],
)
def test_growth_that_was_the_goroutines_may_be_nobodys(confidence, left, said):
    leak = finding("goroutine-leak", 60 * MIB)
    warning = {**finding("heap-growth", 30 * MIB), "confidence": confidence}
    note = {**warning, "severity": Severity.INFO, "confidence": "possible"}

    others = [{**leak, "confidence": left}] if left else []

    found = contradictions(told(leak, note), told(*others, warning))

    assert said == bool(found)


@pytest.mark.parametrize(("held", "said"), [(29, False), (30, True)])
def test_growth_that_was_the_goroutines_may_be_nobodys_where_they_hold_less(held, said):
    """
    30 MiB grew; the whole gives 60 to goroutines, as surely.
    """
    leak, growth = finding("goroutine-leak", 60 * MIB), finding("heap-growth", 30 * MIB)
    growth["confidence"] = "possible"
    whole = told(leak, growth | {"severity": Severity.INFO})
    stacks = finding("goroutine-leak", held * MIB, title=f"they hold at least {held} MiB")

    assert said == bool(contradictions(whole, told(stacks, growth)))


@pytest.mark.parametrize(
    ("moment", "confidence", "said"),
    [
        pytest.param("1", "possible", False, id="the last moment is lost"),
        pytest.param("2", "possible", True, id="at the last moment"),
        pytest.param(None, "possible", True, id="by the log"),
        pytest.param("1", "likely", True, id="too sure"),
    ],
)
def test_growth_may_be_possible_where_its_end_is_lost(moment, confidence, said):
    less = finding("heap-growth", MIB, moment=moment) | {"confidence": confidence}

    assert said == bool(contradictions(told(), told(less)))
    assert contradictions(told(), told(less | {"code": "goroutine-leak"}))


def test_growth_by_a_log_that_stands_alone_has_lost_no_end():
    less = finding("heap-growth", MIB, moment=None) | {"confidence": "possible"}

    assert contradictions(replace(told(), moments=()), replace(told(less), moments=()))


@pytest.mark.parametrize(
    ("share", "field", "said"),
    [(0.26, "cpu", False), (0.27, "cpu", True), (0.25, "another", True)],
)
def test_a_step_graver_is_no_contradiction_where_its_share_is_nearly_the_same(share, field, said):
    """
    24 % of the CPU; a tenth more is 26.4.
    """
    whole = finding("gc-pressure", None, evidence=[("m", "cpu, since 1", 0.24, "fraction")])
    graver = finding("gc-pressure", None, evidence=[("", f"{field}, since 2", share, "fraction")])
    graver["severity"] = Severity.CRITICAL

    assert said == contradicts(whole, graver)
    assert contradicts(whole | {"severity": Severity.INFO}, graver)


def test_a_bound_of_another_number_is_none():
    less = finding("idle-heap-kept", 10 * MIB, title="it holds at least 9.00 MiB of 10.0 MiB")

    assert contradicts(finding("idle-heap-kept", 20 * MIB), less)


@pytest.mark.parametrize(
    ("whole", "confidence", "said"),
    [
        pytest.param(0.3, "possible", False, id="of what the collector costs, possibly another's"),
        pytest.param(0.3, "likely", True, id="likely another's"),
        pytest.param(None, "possible", True, id="of memory"),
    ],
)
def test_a_cause_of_the_collectors_cost_may_be_possible_that_is_not_the_wholes(
    whole, confidence, said
):
    mine = finding("memory-limit-thrash", None) | {"cpu_fraction": whole}
    yours = finding("gc-pressure", None) | {"cpu_fraction": 0.25, "confidence": confidence}

    assert said == contradicts(mine, yours)
    assert contradicts(mine | {"severity": Severity.INFO}, yours)
    assert contradicts(mine, yours | {"cpu_fraction": None})


@pytest.mark.parametrize(("size", "said"), [(960, False), (959, True)])
def test_another_reading_of_a_moment_is_off_by_a_fiftieth_of_what_was_read(size, said):
    """
    By another value of HeapInuse, 2000; by the same value by nothing.
    """
    whole = finding("idle-heap-kept", 1000, evidence=[("", "HeapInuse", 2000, "B")])
    again = finding("idle-heap-kept", size, evidence=[("m", "HeapInuse", 2001, "B")])
    same = finding("idle-heap-kept", size, evidence=[("m", "HeapInuse", 2000, "B")])

    assert said == contradicts(whole, again)
    assert contradicts(whole, same)


@pytest.mark.parametrize(
    ("code", "moment", "least"),
    [
        ("native-memory", "2", 900),
        ("heap-growth", "2", 667),
        ("heap-headroom", None, 667),
        ("heap-headroom", "2", 1000),
    ],
)
def test_what_is_estimated_moves_by_so_much_and_no_more(code, moment, least):
    whole = finding(code, 1000, moment=moment)

    assert not contradicts(whole, finding(code, least, moment=moment))
    assert contradicts(whole, finding(code, least - 1, moment=moment))


@pytest.mark.parametrize(("rss", "said"), [(86, False), (85, True)])
def test_rss_of_a_control_group_leaves_out_pages_of_files(rss, said):
    """
    100 MiB, of which 10 are a program and 4 its libraries; rounding takes less than 1 MiB.
    """
    parts = [("binary", 10 * MIB), ("libraries", 4 * MIB), ("heap_objects", 86 * MIB)]
    whole = told(rss=100 * MIB, parts=parts)

    assert said == bool(contradictions(whole, told(rss=rss * MIB, of_group={"2"})))
    assert contradictions(whole, told(rss=rss * MIB))


@pytest.mark.parametrize(
    ("source", "confidence", "said"),
    [
        ("smaps Rss of go-heap, less the parts above", "doubtful", False),
        ("smaps Rss", "left over", False),
        ("smaps Rss", "inferred", False),
        ("smaps Rss", "doubtful", True),
        ("smaps Rss", "counted", True),
    ],
)
def test_what_other_parts_leave_may_be_another_number(source, confidence, said):
    def parted(size):
        one = told()
        one.ledgers["2"]["part"] = {"bytes": size, "source": source, "confidence": confidence}
        return one

    assert said == bool(contradictions(parted(1), parted(2)))


@pytest.mark.parametrize(
    ("source", "kind", "size", "said"),
    [
        ("MemStats.HeapAlloc", "heap_text", 52, False),
        ("MemStats.HeapAlloc", "heap_text", 53, True),
        ("MemStats.HeapAlloc", "memstats", 51, True),
        ("smaps Rss", "heap_text", 51, True),
    ],
)
def test_memstats_of_another_file_are_another_reading(source, kind, size, said):
    """
    50 MiB of 100, and so much more or less: a fiftieth of all that was read is 2.
    """

    def parted(*sizes):
        one = told()
        for part, mib in zip("ab", sizes, strict=True):
            one.ledgers["2"][part] = {
                "bytes": mib * MIB, "source": source, "confidence": "counted",
            }  # fmt: skip
        return one

    less = replace(parted(size, 100 - size), read={"2": kind})

    assert said == bool(contradictions(parted(50, 50), less))


def test_a_number_within_a_file_s_name_is_no_moment():
    rename = _renamer({"0001": "t01"})

    assert "GRA1.0001.mseed at t01, t01." == rename("GRA1.0001.mseed at 0001, 0001.")
