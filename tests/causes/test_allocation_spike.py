"""A jump between periodic profiles is found, with its site; what happens all the time is none."""

import json
from dataclasses import replace

import pytest

from gomem.analysis.profiles.allocation_spikes import find_spike
from gomem.causes import allocation_spike
from gomem.causes.answers import Answers
from gomem.releases import GoVersion
from gomem.views.json.report import report_json
from tests.builders import FIXTURES, diagnosed
from tests.heap_profiles import heap, seen

SPIKY = FIXTURES / "captures" / "spiky-go1.27.3"
SECOND = 10**9


def taken(seconds, profile):
    """The same profile, taken so many seconds after the first."""
    return replace(profile, columns=replace(profile.columns, time_nanos=(1 + seconds) * SECOND))


def answers(*sightings):
    """One profile a second, with so many sightings of 4 KiB since the start, 2 MiB for each 4."""
    profiles = {
        f"{second:02}": taken(second, heap(seen(count, 4096)))
        for second, count in enumerate(sightings, start=1)
    }
    return Answers((), GoVersion(), spike=find_spike(profiles))


def test_the_recording_has_one_and_it_names_the_site():
    (finding,) = [one for one in diagnosed(SPIKY).findings if one.code == "allocation-spike"]

    assert "warning" == str(finding.severity)
    assert "io.ReadAll allocated 100.0 % of the excess" in finding.title
    assert finding.bytes > 3 * (48 << 20)
    assert "alloc_space of io.ReadAll" in {one.field for one in finding.evidence}


def test_a_steady_rate_has_none():
    """
    100 sightings, 50 MiB, in each second.
    """
    assert [] == allocation_spike.find(answers(*range(100, 1300, 100)))


def test_a_jump_is_found_where_it_was():
    """
    Six seconds of 10 sightings of 4 KiB, which stand for 526 338 B each, then one of 510, 10 of
    them usual: 500 × 526 338 B are extra.
    """
    (finding,) = allocation_spike.find(answers(*range(10, 70, 10), *range(570, 630, 10)))

    assert ("07", 263) == (finding.moment, round(finding.bytes / 1e6))


@pytest.mark.parametrize(
    "counts",
    [
        pytest.param([10, 20, 520, 530], id="too few profiles for a usual rate"),
        pytest.param([*range(10, 70, 10), 80, *range(90, 150, 10)], id="twice the usual"),
        pytest.param([*range(1, 7), 26, *range(27, 33)], id="10 MiB"),
    ],
)
def test_what_does_not_stand_out_is_none(counts):
    assert [] == allocation_spike.find(answers(*counts))


def test_without_profiles_there_is_none():
    assert [] == allocation_spike.find(Answers((), GoVersion()))


def test_a_healthy_service_has_none():
    findings = diagnosed(FIXTURES / "captures" / "healthy-go1.27.3").findings

    assert "allocation-spike" not in {one.code for one in findings}


def test_a_redacted_report_does_not_name_its_moments():
    """
    They are numbered there; the texts of findings must not tell their names.
    """
    report = report_json(diagnosed(SPIKY), redact=True)

    assert "allocation-spike" in {one["code"] for one in report["findings"]}
    assert "scrape-" not in json.dumps(report)
