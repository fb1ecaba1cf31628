"""How far a capture is from its limits: of moments that are made up in a line."""

import pandas as pd
import pytest

from gomem.diagnosis.limits import limits_of
from gomem.facts.moment import MomentFacts
from gomem.units import MIB


def moment(name, seconds=None, limit=100, used=None):
    """A moment of a cgroup with so many anonymous MiB."""
    time = None if seconds is None else pd.Timestamp(seconds, unit="s", tz="UTC")
    cgroup = {} if used is None else {
        "memory.current": used * MIB, "anon": used * MIB,
        "memory.max": None if limit is None else limit * MIB,
    }  # fmt: skip
    return MomentFacts(name, cgroup=cgroup, time=time)


def test_a_line_through_the_moments_reaches_the_limit():
    """
    From 50 MiB to 70 in 20 s; 30 are left.
    """
    found = limits_of([moment(str(n), 10 * n, used=50 + 10 * n) for n in range(3)])

    assert "2" == found.moment
    assert (3, pytest.approx(30.0)) == (found.growth.points, found.growth.seconds)
    assert 70 * MIB == found.cgroup.current_bytes


def test_garbage_reaches_no_limit():
    found = limits_of([moment(str(n), 10 * n, used=50 + 10 * n) for n in range(3)], bounded=True)

    assert found.bounded
    assert pytest.approx(30.0) == found.growth.seconds


@pytest.mark.parametrize(
    "about", [{"seconds": None}, {"limit": None}, {"seconds": 5}], ids=["no clock", "none", "one"]
)
def test_without_a_clock_or_a_limit_nobody_knows_when(about):
    moments = [moment(str(n), **{"seconds": 10 * n, "used": 50 + n} | about) for n in range(3)]

    assert limits_of(moments).growth is None


def test_the_last_moment_that_says_anything_of_a_limit_counts():
    assert "1" == limits_of([moment("1", used=50), moment("2")]).moment
    assert limits_of([moment("1"), moment("2")]) is None
    assert limits_of([]) is None
