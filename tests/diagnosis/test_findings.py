"""Findings of one cause are one finding, dated, and ranked by what they cost the process now."""

from dataclasses import replace

import pytest

from gomem.causes.finding import Evidence, Finding, Severity
from gomem.causes.thresholds import Thresholds
from gomem.diagnosis.findings import Scale, one_a_cause
from gomem.text import Bytes, MomentName

MIB = 1 << 20
BOTH = ("smaps", "memstats")


def scale(*rss_mib, kinds=BOTH, whole_mib=100):
    """Moments 1, 2, … with these RSS, each with its own artefacts of these kinds."""
    names = [str(number) for number in range(1, len(rss_mib) + 1)]
    return Scale(
        {name: {kind: f"{name}/{kind}" for kind in kinds} for name in names},
        {name: size * MIB for name, size in zip(names, rss_mib, strict=True)},
        whole_mib * MIB,
        Thresholds(large_rss_fraction=0.0),
    )


def finding(code="idle-heap-kept", moment=None, mib=None, severity=Severity.WARNING, **more):
    cited = "smaps" if moment is None else f"{moment}/smaps"
    more = {"evidence": (Evidence(cited, "Rss", 1, "B"),)} | more
    return Finding(
        code=code,
        severity=severity,
        title=f"{mib} MiB",
        moment=moment,
        bytes=None if mib is None else mib * MIB,
        mechanism="",
        next_step="take another",
        moments=() if moment is None else (moment,),
        **more,
    )


def test_findings_of_one_cause_are_one_of_the_last_moment():
    found = [finding(moment=name, mib=mib) for name, mib in (("1", 10), ("2", 12), ("3", 11))]

    (one,) = one_a_cause(found, scale(50, 50, 50))

    assert ("3", ("1", "2", "3"), True) == (one.moment, one.moments, one.now)
    assert ("11 MiB", 11 * MIB, "3/smaps") == (one.title, one.bytes, one.evidence[0].artefact)


def test_a_far_larger_moment_before_is_said_beside_the_present_one():
    found = [finding(moment="1", mib=200), finding(moment="2", mib=10)]

    (one,) = one_a_cause(found, scale(300, 100))

    assert "10 MiB (peak 200 MiB at snapshot 1)" == one.title
    assert 10 * MIB == one.bytes


@pytest.mark.parametrize(
    ("mib", "severity"),
    [(50, Severity.INFO), (49, Severity.INFO)],
)
def test_what_is_over_is_a_note(mib, severity):
    """
    Also where it was a quarter of the 200 MiB of RSS at its peak.
    """
    large = replace(scale(100, 200, 100), thresholds=Thresholds())

    (one,) = one_a_cause([finding(moment="2", mib=mib)], large)
    (kept,) = one_a_cause([finding(moment="3", mib=mib)], large)

    assert severity == one.severity
    assert Severity.WARNING == kept.severity


@pytest.mark.parametrize(
    ("last_rss", "end"),
    [
        pytest.param(100, "; released before snapshot 3", id="rss-fell-by-it"),
        pytest.param(125, "; released before snapshot 3", id="by-half-of-it"),
        pytest.param(126, "; no longer significant at snapshot 3", id="by-less-than-half-of-it"),
    ],
)
def test_what_is_over_is_told_in_the_past_and_advises_nothing_that_the_capture_answers(
    last_rss, end
):
    (one,) = one_a_cause([finding(moment="2", mib=150)], scale(100, 200, last_rss))

    assert not one.now
    assert f"150 MiB of excess idle heap at snapshot 2{end}" == one.title
    assert one.next_step.startswith("Nothing to do now. If the peak")


def test_the_largest_of_what_is_over_comes_first_and_then_the_last():
    found = [finding(moment="1", mib=150), finding(moment="2", mib=50)]

    (one,) = one_a_cause(found, scale(300, 200, 40))

    assert [150 * MIB, 50 * MIB] == [size.value for size in one.title.of(Bytes)]
    assert ("1", "2", "3") == tuple(name.value for name in one.title.of(MomentName))
    assert ("2", 50 * MIB) == (one.moment, one.bytes)


def without_smaps(known, *names):
    """The same, but for these moments' smaps."""
    bare = {name: {"memstats": f"{name}/memstats"} for name in names}
    return replace(known, moments=known.moments | bare)


def test_where_the_last_moment_cannot_show_a_cause_nobody_knows_whether_it_holds_now():
    """
    The last moment has no smaps: it is neither said to hold now, nor that it is over.
    """
    by = without_smaps(scale(100, 100), "2")

    (one,) = one_a_cause([finding(moment="1", mib=9)], by)

    assert (False, False) == (one.now, one.over)
    assert "9 MiB (last seen at snapshot 1)" == one.title
    assert "take another" == one.next_step
    assert not by.is_past(one)


def test_a_later_moment_that_can_show_a_cause_ends_it_though_the_last_cannot():
    (one,) = one_a_cause([finding(moment="1", mib=9)], without_smaps(scale(100, 99, 99), "3"))

    assert (False, True) == (one.now, one.over)


def test_what_holds_at_the_last_moment_holds_now_whatever_earlier_ones_lack():
    found = [finding(moment=name, mib=9) for name in ("1", "3")]

    (one,) = one_a_cause(found, without_smaps(scale(100, 99, 99), "2"))

    assert (True, False, "9 MiB") == (one.now, one.over, one.title)


def test_a_merged_finding_is_as_severe_as_it_is_now():
    """
    Where it holds no more at the last moment, as severe as it ever was.
    """
    found = [
        finding(moment="1", mib=50, severity=Severity.CRITICAL),
        finding(moment="2", mib=49, severity=Severity.INFO),
    ]

    (one,) = one_a_cause(found, scale(100, 100))

    assert Severity.INFO == one.severity
    later = scale(100, 100, 100)
    del later.moments["3"]["smaps"]  # so nothing says whether it still is so
    (unknown,) = one_a_cause(found, later)
    assert Severity.CRITICAL == unknown.severity


def codes(*found, **known):
    return [one.code for one in one_a_cause(found, known.get("by", scale(100, 100)))]


def test_severity_comes_before_cost_and_cost_is_of_memory_or_of_cpu():
    """
    A quarter of the CPU costs more than a tenth of the memory, and a critical finding more yet.
    """
    memory = finding("idle-heap-kept", "2", 10)
    cpu = finding("gc-pressure", cpu_fraction=0.24)
    more_memory = finding("native-memory", "2", 25)
    killed = finding("limit-risk", "2", 1, Severity.CRITICAL)

    expected = ["limit-risk", "native-memory", "gc-pressure", "idle-heap-kept"]
    assert expected == codes(memory, cpu, more_memory, killed)


def test_what_holds_now_comes_before_what_is_over():
    over = finding("idle-heap-kept", "1", 90)
    now = finding("native-memory", "2", 10)

    assert ["native-memory", "idle-heap-kept"] == codes(over, now)


def test_what_only_a_release_makes_possible_is_never_above_what_was_measured():
    release = (Evidence("Go release", "the manifest", "go1.24.2", ""),)
    info = Severity.INFO
    possible = finding(
        "untouched-now-resident", "2", 90, info, evidence=release, confidence="possible"
    )
    measured = finding("file-mapping", "1", 10, info)
    likely = finding("huge-pages", "2", 50, info, evidence=release, confidence="likely")

    expected = ["huge-pages", "file-mapping", "untouched-now-resident"]
    assert expected == codes(possible, measured, likely)


def test_findings_about_the_data_come_last_however_severe():
    damaged = finding("data-damaged", severity=Severity.WARNING)
    note = finding("heap-headroom", None, 10, Severity.INFO)

    assert ["heap-headroom", "data-damaged"] == codes(damaged, note)


def test_what_spoils_a_moment_is_not_what_only_may():
    sure = finding("data-skew", "1")
    perhaps = finding("data-skew", "2", severity=Severity.INFO)

    assert [("1",), ("2",)] == [one.moments for one in one_a_cause([sure, perhaps], scale(1, 1))]


def test_a_share_is_the_larger_of_memory_and_cpu_and_none_where_the_whole_is_unknown():
    by, unknown = scale(100), Scale({"1": {}})

    assert 0.25 == by.share(finding(mib=25, cpu_fraction=0.1))
    assert 0.5 == by.share(finding(mib=25, cpu_fraction=0.5))
    assert 0.0 == unknown.share(finding(mib=25))
    assert 0.1 == unknown.share(finding(mib=25, cpu_fraction=0.1))


def test_a_moment_with_just_the_files_that_showed_a_cause_ends_it():
    by = scale(100, 40, kinds=("smaps",))

    (one,) = one_a_cause([finding(moment="1", mib=60)], by)

    assert one.over
    assert by.is_past(one)


def test_what_is_over_is_past_unless_rss_shows_that_its_memory_stayed():
    found = finding(moment="1", mib=60)
    stayed, given_back = scale(100, 99), scale(100, 40)
    unknown = Scale(stayed.moments, {"1": 100 * MIB}, 100 * MIB)

    assert [False, True, True] == [by.is_past(found) for by in (stayed, given_back, unknown)]
    assert given_back.given_back_by(finding(moment="1")) is None
    assert given_back.given_back_by(finding(mib=60)) is None
    assert scale(100).given_back_by(found) is None
    assert "2" == given_back.given_back_by(found)


def test_the_last_is_the_last_of_the_moments_in_whatever_order_they_are_found():
    found = [finding(moment="2", mib=12), finding(moment="3", mib=11), finding(moment="1", mib=10)]

    (one,) = one_a_cause(found, scale(50, 50, 50))

    assert ("3", ("1", "2", "3"), "11 MiB") == (one.moment, one.moments, one.title)


def test_what_is_over_and_has_no_bytes_keeps_its_words():
    (one,) = one_a_cause([finding(moment="1")], scale(50, 50))

    assert (True, "None MiB", "take another") == (one.over, one.title, one.next_step)


@pytest.mark.parametrize(("peak", "said"), [(125, True), (124, False)])
def test_a_peak_is_said_from_a_quarter_more_on(peak, said):
    found = [finding(moment="1", mib=peak), finding(moment="2", mib=100)]

    (one,) = one_a_cause(found, scale(300, 300))

    assert said == ("(peak " in one.title)
