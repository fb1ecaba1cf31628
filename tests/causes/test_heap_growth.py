"""A leak is found in a series of heap profiles alone, and named where a log has found it."""

import pytest

from gomem.analysis.profiles.growth import growth, series_of
from gomem.causes import heap_growth
from gomem.causes.answers import Answers
from gomem.releases import GoVersion
from tests.builders import FIXTURES, diagnosed
from tests.causes.test_allocation_spike import taken
from tests.heap_profiles import heap, seen

SPIKY = FIXTURES / "captures" / "spiky-go1.27.3"
MINUTE = 60


def answers(*sightings, seconds=1):
    """A profile every so many seconds, with so many sightings of 4 KiB in use, 2 MiB for each 4."""
    series = series_of(
        {
            f"{number:02}": taken(number * seconds, heap(seen(count, 4096)))
            for number, count in enumerate(sightings)
        }
    )
    return Answers((), GoVersion(), heap_series=series, growth=growth(series))


def test_a_leak_that_only_profiles_show_is_found():
    """
    From 50 to 140 sightings of 4 KiB, 526 338 B each: 90 × 526 338 B in 9 seconds.
    """
    (finding,) = heap_growth.find(answers(*range(50, 150, 10)))

    assert round(90 * 526_338 / 1e5) == round(finding.bytes / 1e5)
    assert "what main.leaf allocates is kept, and grows by 5.02 MiB/s" in finding.title
    assert ("possible", "09") == (finding.confidence, finding.moment)


def test_watched_for_long_it_is_likely():
    (finding,) = heap_growth.find(answers(*range(50, 150, 10), seconds=2 * MINUTE))

    assert "likely" == finding.confidence


@pytest.mark.parametrize(
    "sightings",
    [
        pytest.param(range(50, 120, 10), id="seven profiles"),
        pytest.param(
            [*range(10, 100, 30), 100, 101, 99, 100, 101, 100, 99], id="it has levelled off"
        ),
        pytest.param([50, 90] * 5, id="to and fro"),
        pytest.param(range(50, 65), id="7 MiB"),
        pytest.param([100] * 10, id="nothing moves"),
    ],
)
def test_what_is_no_leak_is_none(sightings):
    assert [] == heap_growth.find(answers(*sightings))


def test_the_recording_names_its_leak_beside_what_the_log_says():
    """
    With the log and without it: the audit records, which nobody ever deletes.
    """
    diagnosis = diagnosed(SPIKY)
    (with_log,) = [one for one in diagnosis.findings if one.code == "heap-growth"]
    profiles = Answers(
        diagnosis.moments,
        GoVersion(),
        heap_series=diagnosis.heap_series,
        growth=diagnosis.growth,
    )

    (alone,) = heap_growth.find(profiles)

    field = "inuse_space of main.newAuditRecord"
    assert field in {one.field for one in with_log.evidence}
    assert "main.newAuditRecord" in alone.title
    last = diagnosis.growth.set_index("function").loc["main.newAuditRecord", "last"]
    assert last in {one.value for one in alone.evidence if one.field == field}
    assert "scrape-19/heap.pb.gz" in {one.artefact for one in alone.evidence}
