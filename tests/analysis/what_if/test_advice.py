"""The arithmetic of a container's limit."""

import pandas as pd
import pytest

from gomem.analysis.what_if.what_if import fitting_gogc, limit_steps
from gomem.units import MIB


def test_a_tenth_is_left_and_the_rest_is_whole_mebibytes():
    """
    Of 100.5 MiB 90.45 are left.
    """
    steps = limit_steps(int(100.5 * MIB), "somebody")["bytes"].tolist()

    assert 90 * MIB == sum(steps)
    assert steps[1] == pytest.approx(-10.05 * MIB, abs=1)
    assert steps[2] == pytest.approx(-0.45 * MIB, abs=1)
    assert [100 * MIB, -10 * MIB, 0] == limit_steps(100 * MIB, "")["bytes"].tolist()


@pytest.mark.parametrize(("limit", "gogc"), [(19, None), (20, 50), (29, 50), (30, 200)])
def test_the_largest_gogc_fits_with_what_is_beside_the_heap(limit, gogc):
    tried = pd.DataFrame({"gogc": [200, 50], "retained_bytes_high": [20, 10]})

    assert gogc == fitting_gogc(tried, limit, 10.0)
