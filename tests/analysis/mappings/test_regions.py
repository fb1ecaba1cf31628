"""Regions of the address space, and mappings known again, by a few addresses."""

import numpy as np
import pandas as pd
import pytest

from gomem.analysis.mappings.changes import is_one_process, match_mappings
from gomem.analysis.mappings.kinds import address_regions
from gomem.analysis.mappings.large_allocations import LargeAllocations


def mapped(*rows):
    """Kind, start, end, Rss; permissions and path where they are told."""
    whole = [(*row, *("rw-p", "")[len(row) - 4 :]) for row in rows]
    frame = pd.DataFrame(whole, columns=["kind", "start", "end", "Rss", "perms", "path"])
    sizes = frame["end"] - frame["start"]
    return frame.astype({"start": "uint64", "end": "uint64", "Rss": "Int64"}).assign(Size=sizes)


def test_mappings_of_one_kind_that_follow_one_another_are_a_region():
    """
    In the order of their addresses, with gaps; what is only reserved does not part them.
    """
    regions = address_regions(
        mapped(
            ("library", 70, 80, 3), ("binary", 10, 20, 5), ("binary", 30, 35, 1),
            ("go-heap", 36, 60, 0, "---p"), ("library", 90, 91, None),
            ("binary", 95, 99, 2, "---p"),
        )
    )  # fmt: skip

    assert [
        ("binary", 10, 35, 2, 15, 6), ("library", 70, 91, 2, 11, 3), ("binary", 95, 99, 1, 4, 2),
    ] == list(regions.itertuples(index=False, name=None))  # fmt: skip


def test_a_region_ends_where_the_last_of_its_mappings_does():
    regions = address_regions(mapped(("binary", 10, 50, 1), ("binary", 20, 30, 1)))

    assert [50] == regions["end"].tolist()
    assert address_regions(mapped()).empty


@pytest.mark.parametrize(
    ("before", "after", "one"),
    [
        pytest.param([("[stack]", 5, 9)], [("[stack]", 4, 9)], True, id="it grows downwards"),
        pytest.param([("[stack]", 5, 9)], [("[stack]", 5, 8)], False, id="it ends elsewhere"),
        pytest.param([("[stack]", 5, 9), ("[vdso]", 1, 2)], [("[vdso]", 1, 3)], True, id="vdso"),
        pytest.param([("[vdso]", 1, 2)], [("[vdso]", 0, 2)], False, id="another vdso"),
        pytest.param([("[stack]", 5, 9)], [], False, id="nothing to tell by"),
        pytest.param([], [], False, id="nothing at all"),
    ],
)
def test_one_process_has_one_end_of_its_stack(before, after, one):
    sides = [pd.DataFrame(rows, columns=["path", "start", "end"]) for rows in (before, after)]

    assert one == is_one_process(*sides)


def test_in_one_process_mappings_that_overlap_are_one():
    """
    What touches is apart; what lies within the reach of one before is not.
    """
    before = mapped(("go-heap", 0, 10, 4), ("go-heap", 10, 20, 3), ("go-heap", 40, 90, 9))
    after = mapped(("go-heap", 0, 10, 4), ("go-heap", 45, 50, 2), ("go-heap", 60, 80, 1))

    found = match_mappings(before, after, same_process=True).set_index("start")

    assert [10, 20, 90] == found.loc[[0, 10, 40], "end"].tolist()
    assert ["same", "gone", "shrank"] == found.loc[[0, 10, 40], "state"].tolist()
    assert [1, 2, 50, 25, 9, 3, -6] == found.loc[
        40, ["before_vmas", "after_vmas", "before_size_bytes", "after_size_bytes",
             "before_rss_bytes", "after_rss_bytes", "change_bytes"]
    ].tolist()  # fmt: skip
    assert [40, 10, 0] == found.index.tolist()


def test_in_two_processes_those_of_one_kind_and_file_are_one():
    before = mapped(("mapped-file", 0, 10, 4, "r--s", "/a"), ("go-heap", 50, 60, 3, "rw-p", ""))
    after = mapped(
        ("mapped-file", 70, 80, 4, "r--s", "/b"), ("go-heap", 0, 9, 2, "rw-p", "[anon: Go: heap]"),
        ("go-heap", 90, 99, np.nan, "rw-p", ""),
    )  # fmt: skip

    found = match_mappings(before, after, same_process=False)

    assert [("/a", "gone", -4), ("/b", "new", 4), ("", "shrank", -1)] == list(
        zip(found["path"], found["state"], found["change_bytes"], strict=True)
    )
    assert found["start"].isna().all()


@pytest.mark.parametrize(("least", "exact"), [(90, True), (89, False)])
def test_bounds_a_tenth_apart_are_one_number(least, exact):
    assert exact == LargeAllocations(1000, 100, least, 0).is_exact
