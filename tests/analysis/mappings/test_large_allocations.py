"""Large objects: three counts bound how much of them has pointers, and how much is resident."""

import pandas as pd
import pytest

from gomem.analysis.mappings.large_allocations import LargeAllocations, large_allocations

SMALL = pd.DataFrame({"Size": [8, 64], "Mallocs": [40, 10], "Frees": [30, 10]})  # 80 bytes live


@pytest.mark.parametrize(
    ("heap_alloc", "scannable", "untouched", "expected"),
    [
        pytest.param(1080, 600, 0, LargeAllocations(1000, 600, 520, 0), id="bounds"),
        pytest.param(1080, 1050, 0, LargeAllocations(1000, 1000, 970, 0), id="all that is large"),
        pytest.param(1080, 50, 0, LargeAllocations(1000, 50, 0, 0), id="no fewer than none"),
        pytest.param(1080, 600, 400, LargeAllocations(1000, 600, 520, 0), id="room for it"),
        pytest.param(1080, 600, 500, LargeAllocations(1000, 600, 520, 100), id="more than room"),
        pytest.param(1080, 600, 9999, LargeAllocations(1000, 600, 520, 600), id="all untouched"),
        pytest.param(1080, None, 0, LargeAllocations(1000, 1000, 0, 0), id="pointers uncounted"),
        pytest.param(60, 50, 0, LargeAllocations(0, 0, 0, 0), id="BySize is a moment ahead"),
    ],
)
def test_bounds(heap_alloc, scannable, untouched, expected):
    assert expected == large_allocations(heap_alloc, SMALL, scannable, untouched)


def test_what_can_be_resident_is_what_need_not_be_untouched():
    large = LargeAllocations(1000, 600, 520, 100)

    assert (500, 420) == (large.resident_bytes, large.least_resident_bytes)
    assert 0 == LargeAllocations(1000, 600, 50, 100).least_resident_bytes


def test_without_sizes_it_cannot_be_told():
    assert large_allocations(1080, SMALL.iloc[:0], 600, 0) is None
