"""Rows of mappings, and one cut in two: no part has more resident than it is large."""

import pandas as pd
import pytest

from gomem.analysis.mappings.rows import Cut, MappingRows, cut
from gomem.units import KIB
from tests.builders import mappings, smaps_entry

PAGE = 4 * KIB
START = 0xC000000000


def of_ten_pages(resident_pages):
    return mappings(smaps_entry(START, START + 10 * PAGE, rss_kib=4 * resident_pages))


@pytest.mark.parametrize(
    ("resident", "wanted", "parts"),
    [
        pytest.param(6, None, [4, 2], id="the lower is full first"),
        pytest.param(3, None, [3, 0], id="all in the lower"),
        pytest.param(6, 1, [1, 5], id="as much as is known of it"),
        pytest.param(6, 5, [4, 2], id="no more than its size"),
        pytest.param(8, 0, [2, 6], id="what does not fit into the upper"),
    ],
)
def test_what_is_resident_lies_in_two_parts(resident, wanted, parts):
    """
    Of ten pages the lower part has four.
    """
    whole = of_ten_pages(resident)
    where = Cut(0, START + 4 * PAGE, None if wanted is None else wanted * PAGE)

    frame, rows = cut(whole, where), MappingRows.of(whole).cut(where)

    assert parts == [size // PAGE for size in frame["Rss"]]
    assert parts == [size // PAGE for size in rows.resident.tolist()]
    assert [4, 6] == [size // PAGE for size in frame["Size"]]


def test_of_a_mapping_without_a_count_nothing_is_taken_for_resident():
    frame = of_ten_pages(6)
    frame["Rss"] = pd.array([pd.NA], "Int64")

    assert [0] == MappingRows.of(frame).resident.tolist()
