"""The limit: reached already, nearly, soon, or at worst."""

from dataclasses import replace

import pandas as pd
import pytest

import gomem
from gomem.analysis.memory.listed import Listed
from gomem.causes.finding import Severity
from gomem.causes.limit_risk import find
from gomem.text import Bytes
from gomem.units import MIB
from tests.causes.situations import answers, facts

NOON = pd.Timestamp("2026-11-20T12:00:00Z")


def cgroup(limit_mib: int | None, anon_mib: int, file_mib: int = 0, **more: int):
    """A cgroup that holds anonymous memory and page cache, in MiB."""
    return {
        "memory.max": None if limit_mib is None else limit_mib * MIB,
        "memory.current": (anon_mib + file_mib) * MIB,
        "anon": anon_mib * MIB,
        "file": file_mib * MIB,
        **more,
    }


USED = {"heap_mib": 60, "HeapAlloc": 30, "HeapInuse": 32, "HeapIdle": 28}


def test_what_cannot_be_reclaimed_fills_the_limit():
    (found,) = find(answers(facts(**USED, cgroup=cgroup(100, 95))))

    assert ("limit-risk", Severity.CRITICAL) == (found.code, found.severity)
    assert found.title.startswith(
        "The cgroup is nearly full: unreclaimable memory is 95 % of the limit of 100 MiB"
    )
    assert found.title.endswith("mostly anonymous memory")


def test_page_cache_that_fills_it_is_no_risk():
    assert [] == find(answers(facts(**USED, cgroup=cgroup(200, 62, 130))))


def test_a_kill_that_has_happened_comes_first():
    (found,) = find(answers(facts(**USED, cgroup=cgroup(200, 62, oom_kill=2))))

    assert Severity.CRITICAL == found.severity
    assert "has killed 2 processes in this cgroup" in found.title


def test_without_a_limit_there_is_no_risk():
    assert [] == find(answers(facts(**USED, cgroup=cgroup(None, 95))))


def test_mapped_and_untouched_memory_that_does_not_fit_is_a_risk():
    """
    62 charged, and 50 MiB of objects that nothing has touched yet: 112 of 100.
    """
    moment = facts(heap_mib=10, HeapAlloc=60, HeapInuse=60, cgroup=cgroup(100, 62))

    (found,) = find(answers(moment))

    assert Severity.WARNING == found.severity
    assert [112 * MIB, 100 * MIB] == [size.value for size in found.title.of(Bytes)]
    assert ("worst_case_bytes", 112 * MIB) in {(one.field, one.value) for one in found.evidence}


def test_what_is_charged_at_worst_is_evidence_only_where_both_sides_tell():
    moment = replace(facts(**USED, cgroup=cgroup(100, 95)), ledger=None)

    (found,) = find(answers(moment))

    assert Severity.CRITICAL == found.severity
    assert "worst_case_bytes" not in {one.field for one in found.evidence}


def test_growth_that_reaches_the_limit_within_a_day_is_a_risk():
    """
    1 MiB a second: 100 MiB are left.
    """
    moments = [
        facts(name=str(n), **USED, cgroup=cgroup(200, 70 + 10 * n),
              time=NOON + pd.Timedelta(seconds=10 * n))
        for n in range(4)
    ]  # fmt: skip

    (found,) = find(answers(*moments))

    assert "3" == found.moment
    assert found.title.startswith("The cgroup will reach its limit of 200 MiB in 1.7 min")
    assert "slope, 95 % interval, n=4" in {one.field for one in found.evidence}
    assert found.next_step.endswith(
        "Fix the growth first: a memory limit only delays the OOM kill."
    )


def test_a_slope_that_might_be_zero_reaches_the_limit_never():
    """
    Full, and neither surely growing nor surely shrinking.
    """
    moments = [
        facts(name=str(n), **USED, cgroup=cgroup(100, 95 + n % 2),
              time=NOON + pd.Timedelta(seconds=10 * n))
        for n in range(4)
    ]  # fmt: skip

    *_, found = find(answers(*moments))  # of each moment, as it is full at all

    until = {one.field: one.value for one in found.evidence}["time to the limit, 95 % interval"]
    assert until.endswith(" to never")


@pytest.mark.parametrize(("limit", "severity"), [(430, Severity.WARNING), (431, Severity.INFO)])
def test_a_limit_an_order_of_magnitude_beyond_what_was_seen_is_a_note(limit, severity):
    """
    30 MiB of growth were seen, up to 130; 300 MiB are left, and one more.
    """
    moments = [
        facts(name=str(n), **USED, cgroup=cgroup(limit, 0) | held(100 + 10 * n),
              time=NOON + pd.Timedelta(seconds=10 * n))
        for n in range(4)
    ]  # fmt: skip

    (found,) = find(answers(*moments))

    assert severity is found.severity
    seen = found.title.endswith("if the little growth seen so far continues")
    assert seen == (severity is Severity.INFO)


@pytest.mark.parametrize(
    ("known", "severity", "confidence"),
    [
        ({}, Severity.INFO, "possible"),
        ({"anon": 95 * MIB}, Severity.CRITICAL, "certain"),
        ({"oom_kill": 1}, Severity.CRITICAL, "certain"),
    ],
)
def test_without_memory_stat_what_is_charged_may_be_page_cache(known, severity, confidence):
    """
    A cgroup that reads files is full of them, always; a kill is a kill.
    """
    charged = {"memory.max": 100 * MIB, "memory.current": 95 * MIB}

    (found,) = find(answers(facts(**USED, cgroup=charged | known)))

    assert (severity, confidence) == (found.severity, found.confidence)
    assert ("without memory.stat" in found.title) == (severity is Severity.INFO)


def test_the_advice_shows_its_arithmetic():
    """
    100 of limit - 1 of program and stack - 34 charged beside RSS - 5 of margin.
    """
    (found,) = find(answers(facts(**USED, cgroup=cgroup(100, 95))))

    assert "GOMEMLIMIT=60MiB fits: the limit of 100 MiB minus 1 MiB outside Go" in found.next_step
    assert "Go uses 32 MiB now" in found.next_step


def test_a_gomemlimit_above_the_cgroups_limit_cannot_help():
    moment = facts(**USED, cgroup=cgroup(200, 62), metrics={"/gc/gomemlimit:bytes": 400.0 * MIB})

    (found,) = find(answers(moment))

    assert [400 * MIB, 200 * MIB] == [size.value for size in found.title.of(Bytes)]


def test_no_gomemlimit_is_no_finding():
    moment = facts(**USED, cgroup=cgroup(200, 62), metrics={"/gc/gomemlimit:bytes": 2.0**63})

    assert [] == find(answers(moment))


# ---- each guard alone


def growing(*anon_mib: float):
    """A moment every 10 seconds, with a limit of 200 MiB."""
    return [
        facts(name=str(n), **USED, cgroup=cgroup(200, 0) | held(size),
              time=NOON + pd.Timedelta(seconds=10 * n))
        for n, size in enumerate(anon_mib)
    ]  # fmt: skip


def held(anon_mib: float):
    return {"memory.current": int(anon_mib * MIB), "anon": int(anon_mib * MIB)}


def test_memory_that_fills_and_levels_off_reaches_no_limit():
    """
    Over all it surely grows; over its later half it does not.
    """
    filled = growing(70, 80, 90, 100, 110, 110, 110.5, 110, 110.5, 110)
    growth = answers(*filled).facts.limit_growth

    assert growth.slope_low > 0
    assert not growth.goes_on
    assert [] == find(answers(*filled))
    assert find(answers(*growing(70, 80, 90, 100, 110, 120, 130, 140, 150, 159)))


def test_what_fills_reaches_no_limit_however_few_the_moments():
    assert answers(*growing(70, 80, 90, 100)).facts.limit_growth.goes_on
    assert not answers(*growing(70, 90, 90, 90)).facts.limit_growth.goes_on


def test_growth_that_goes_on_need_not_be_a_straight_line():
    """
    A heap of which each cycle adds some: three moments of it have no sure slope of their own.
    """
    moments = growing(32, 72, 105, 134, 177)

    assert answers(*moments).facts.limit_growth.goes_on
    assert ["The cgroup will reach"] == [one.title[:21] for one in find(answers(*moments))]


def test_growth_that_is_small_beside_the_whole_goes_on_too():
    assert answers(*growing(170, 171, 172, 173, 174)).facts.limit_growth.goes_on
    assert not answers(*growing(170, 172, 174, 174, 174)).facts.limit_growth.goes_on


def test_growth_that_may_be_none_is_no_risk():
    """
    Its interval includes 0.
    """
    moments = growing(70, 90, 75, 95)

    assert (
        answers(*moments).facts.limit_growth.slope_low
        < 0
        < answers(*moments).facts.limit_growth.slope_high
    )
    assert [] == find(answers(*moments))


def test_growth_is_told_at_the_last_moment_alone():
    found = find(answers(*growing(70, 80, 90, 100)))

    assert ["3"] == [one.moment for one in found]


def test_no_kill_is_none():
    assert [] == find(answers(facts(**USED, cgroup=cgroup(200, 62, oom_kill=0))))
    (found,) = find(answers(facts(**USED, cgroup=cgroup(200, 62, oom_kill=1))))
    assert "has killed 1 process in" in found.title


def test_a_gomemlimit_as_high_as_the_cgroups_limit_is_not_above_it():
    def found(set_to):
        metrics = {"/gc/gomemlimit:bytes": float(set_to)}
        return find(answers(facts(**USED, cgroup=cgroup(200, 62), metrics=metrics)))

    assert [0, 1] == [len(found(200 * MIB)), len(found(200 * MIB + 1))]


def test_what_was_given_back_with_madv_free_can_be_reclaimed():
    """
    95 of 100 MiB are anonymous, and 40 of them LazyFree: the kernel takes those first.
    """
    about = {"HeapAlloc": 20, "HeapInuse": 20, "HeapIdle": 44, "HeapReleased": 44}
    lazy = facts(heap_mib=60, lazy_mib=40, **about, cgroup=cgroup(100, 95))
    kept = facts(heap_mib=60, **about, cgroup=cgroup(100, 95))

    assert [] == find(answers(lazy))
    assert 55 * MIB == lazy.cgroup_use.unreclaimable_bytes
    assert 95 * MIB == lazy.cgroup_use.counters["bytes"].sum()
    assert Severity.CRITICAL == find(answers(kept))[0].severity


def test_a_limit_said_at_one_snapshot_holds_at_all(tmp_path):
    """
    The last snapshot says how much is charged and not the limit: a setting, that the first says.
    """
    for name, files in {
        "1": {"memory.max": 200 * MIB, "memory.current": 100 * MIB},
        "2": {"memory.current": 195 * MIB, "memory.stat": f"anon {195 * MIB}\nfile 0"},
    }.items():
        (tmp_path / name).mkdir()
        for file, text in files.items():
            (tmp_path / name / file).write_text(f"{text}\n")

    diagnosis = gomem.diagnose(tmp_path)

    (found,) = (one for one in diagnosis.findings if one.code == "limit-risk")
    (limit,) = (one for one in found.evidence if one.field == "limit_bytes")
    assert ("critical", "2", 200 * MIB) == (str(found.severity), found.moment, limit.value)
    assert limit.artefact.startswith("1/")


def test_a_cgroup_that_has_been_at_its_limit_has_ended_nobody_unless_it_says_so(tmp_path):
    """
    `oom` counts how often memory was at its limit: that is at times of a ps beside it, or nothing.
    """
    for file, said in {
        "memory.max": 200 * MIB,
        "memory.current": 100 * MIB,
        "memory.stat": f"anon {90 * MIB}\nfile 0",
        "memory.events": "low 0\nhigh 0\nmax 9\noom 3\noom_kill 0",
    }.items():
        (tmp_path / file).write_text(f"{said}\n")

    assert "limit-risk" not in {one.code for one in gomem.diagnose(tmp_path).findings}


def test_a_limit_is_told_by_the_file_of_its_own_snapshot(tmp_path):
    """
    The first snapshot has the soft limit besides; that does not make the hard one its own.
    """
    for name, files in {
        "1": {"memory.max": 200 * MIB, "memory.high": 190 * MIB, "memory.current": 100 * MIB},
        "2": {
            "memory.max": 200 * MIB,
            "memory.current": 198 * MIB,
            "memory.stat": f"anon {198 * MIB}\nfile 0",
        },
    }.items():
        (tmp_path / name).mkdir()
        for file, said in files.items():
            (tmp_path / name / file).write_text(f"{said}\n")

    (found,) = (one for one in gomem.diagnose(tmp_path).findings if one.code == "limit-risk")
    (limit,) = (one for one in found.evidence if one.field == "limit_bytes")

    assert ("2", 200 * MIB, True) == (found.moment, limit.value, limit.artefact.startswith("2/"))


def container(used_mib: int, limit_mib: int | None):
    limit = None if limit_mib is None else limit_mib * MIB
    return Listed(
        "docker stats", "api", None, None, used_mib * MIB, MIB, None, None, None, limit, None,
        "", 0, None, 0, False,
    )  # fmt: skip


@pytest.mark.parametrize(("used", "limit", "is_risk"), [(99, 100, True), (50, 100, False)])
def test_a_container_near_its_limit_by_a_table_is_a_possible_risk(used, limit, is_risk):
    found = find(answers(facts(listed=container(used, limit))))

    assert is_risk == bool(found)
    assert ["possible"] * is_risk == [finding.confidence for finding in found]
    assert {Severity.INFO} >= {finding.severity for finding in found}


def test_a_container_without_a_limit_is_at_no_risk():
    assert [] == find(answers(facts(listed=container(99, None))))


def test_a_kill_is_the_news_whatever_the_name_of_its_file():
    """
    Kernel lines without a time, and a table of the container that was read before.
    """
    sizes = (None, 4096, 0, 0, None, 128 * MIB, None)
    killed = Listed("OOM killer", "api", 7, 120 * MIB, *sizes, "cgroup", 1, None, 0, False)
    (finding,) = find(answers(facts(name="dmesg", listed=killed), facts(name="stats")))

    assert finding.title.startswith("OOM: the kernel killed api (PID 7) at 120 MiB RSS")
    assert (Severity.CRITICAL, "stats") == (finding.severity, finding.moment)
