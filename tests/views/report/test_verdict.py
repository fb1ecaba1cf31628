"""The badge of a report says how sure its headline is, and of nothing else."""

import pytest

from gomem.views.report.verdict import verdict
from tests.builders import CAPTURES, FIXTURES, diagnosed

RECORDED = {path.name: path for path in CAPTURES}


@pytest.mark.parametrize(
    ("path", "label"),
    [
        pytest.param(RECORDED["cache-shrink-go1.27.3"], "note", id="the change is the headline"),
        pytest.param(
            FIXTURES / "laboratory/captures/trailsd-g.tar.gz",
            "note · possible",
            id="the finding is",
        ),
    ],
)
def test_a_confidence_is_that_of_the_headline(path, label):
    diagnosis = diagnosed(path)

    assert diagnosis.verdict.confidence is not None
    assert label == verdict(diagnosis).label
