"""Ledgers subtracted: the changes add up, and the verdict names what moved RSS."""

from itertools import pairwise

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gomem.analysis.memory.ledger import PART_OF_KIND, PARTS
from gomem.analysis.memory.ledger_change import LAYER_OF_PART, LedgerChange, change_ledger
from gomem.units import MIB
from tests.builders import CAPTURES, FIXTURES, diagnosed


def parts(**sizes: int) -> pd.DataFrame:
    return pd.DataFrame({"part": list(sizes), "bytes": [size * MIB for size in sizes.values()]})


def change(before: dict[str, int], after: dict[str, int]) -> LedgerChange:
    """The change between two ledgers in MiB, whose RSS is the sum of their parts."""
    sums = [sum(side.values()) * MIB for side in (before, after)]
    return change_ledger(parts(**before), parts(**after), *sums)


def test_memory_that_was_mapped_and_is_now_touched_is_residency_and_not_allocation():
    """
    The same 200 MiB of objects; 160 of them were never touched before, and all are now.
    """
    found = change(
        {"heap_objects": 200, "heap_untouched": -160}, {"heap_objects": 200, "heap_untouched": 0}
    )

    assert "residency" == found.verdict
    assert 160 * MIB == found.rss_change_bytes


@pytest.mark.parametrize(
    ("before", "after", "verdict"),
    [
        pytest.param({"heap_objects": 98}, {"heap_objects": 100}, "allocation", id="2 %"),
        pytest.param({"heap_objects": 99}, {"heap_objects": 101}, "unchanged", id="less"),
        pytest.param({"heap_objects": 10}, {"heap_objects": 11}, "allocation", id="1 MiB"),
        pytest.param(
            {"heap_objects": 60, "heap_idle": 40}, {"heap_objects": 58, "heap_idle": 42},
            "shifted", id="2 % inside",
        ),
        pytest.param(
            {"heap_objects": 60, "heap_idle": 41}, {"heap_objects": 58, "heap_idle": 43},
            "unchanged", id="less inside",
        ),
        pytest.param(
            {"heap_objects": 9, "heap_idle": 9}, {"heap_objects": 60, "heap_idle": 58},
            "allocation", id="more than half of it",
        ),
        pytest.param(
            {"heap_objects": 9, "heap_idle": 9}, {"heap_objects": 59, "heap_idle": 59},
            "mixed", id="half of it",
        ),
    ],
)  # fmt: skip
def test_how_much_a_change_must_be(before, after, verdict):
    """
    Of RSS on the larger side; and of all that went the same way.
    """
    assert verdict == change(before, after).verdict


def test_a_byte_less_than_a_mebibyte_is_no_change_of_a_small_process():
    before, after = parts(heap_objects=10), parts(heap_objects=11)
    after.loc[0, "bytes"] -= 1

    assert "unchanged" == change_ledger(before, after, 10 * MIB, 11 * MIB - 1).verdict


def test_what_objects_give_up_and_the_runtime_keeps_changes_no_rss():
    found = change({"heap_objects": 180, "heap_idle": 0}, {"heap_objects": 35, "heap_idle": 145})

    assert "shifted" == found.verdict


@pytest.mark.parametrize(
    ("part", "verdict"),
    [
        ("heap_objects", "allocation"),
        ("heap_idle", "retention"),
        ("native_heap", "native"),
        ("mapped_files", "files"),
        ("runtime_metadata", "runtime"),
        ("libraries", "program"),
    ],
)
def test_the_layer_that_moved_rss_is_named(part, verdict):
    found = change({part: 10, "binary": 5}, {part: 60, "binary": 5})

    assert verdict == found.verdict


@pytest.mark.parametrize(
    ("others", "verdict"),
    [
        pytest.param({"heap_objects": 1}, "native", id="memstats"),
        pytest.param({"heap_unexplained": 1}, "native", id="smaps-alone"),
        pytest.param({}, "undivided", id="only-rss"),
        pytest.param({"mapped_files": 5}, "undivided", id="only-status"),
    ],
)
def test_anonymous_memory_is_outside_go_only_where_the_heap_stands_apart(others, verdict):
    """
    VmRSS alone, or RssAnon, holds Go's heap with all else.
    """
    found = change({"anonymous_other": 10, **others}, {"anonymous_other": 60, **others})

    assert verdict == found.verdict


def test_of_what_is_not_divided_the_files_still_tell():
    found = change(
        {"anonymous_other": 10, "mapped_files": 5}, {"anonymous_other": 10, "mapped_files": 90}
    )

    assert "files" == found.verdict


def test_allocation_that_is_not_touched_is_said_beside_what_it_cost():
    """
    164 MiB more of objects made RSS rise by 5: the other 159 are not resident.
    """
    found = change(
        {"heap_objects": 1, "heap_untouched": 0}, {"heap_objects": 165, "heap_untouched": -159}
    )

    assert "allocation" == found.verdict


def test_two_causes_of_one_size_are_no_single_cause():
    found = change({"heap_objects": 10, "native_heap": 10}, {"heap_objects": 40, "native_heap": 40})

    assert "mixed" == found.verdict


def test_a_part_that_one_side_cannot_tell_is_unknown_and_so_is_the_verdict():
    """
    Without MemStats on one side the heap stands in one piece there.
    """
    before = parts(heap_unexplained=50)
    after = parts(heap_objects=80, heap_slack=10, heap_unexplained=0)

    found = change_ledger(before, after, 50 * MIB, 90 * MIB)

    by_part = found.parts.set_index("part")["change_bytes"]
    assert pd.isna(by_part["heap_objects"])
    assert "unknown" == found.verdict


def test_a_kind_of_mapping_that_smaps_does_not_list_is_zero_and_not_unknown():
    found = change_ledger(
        parts(heap_objects=10),
        parts(heap_objects=10, native_heap=64),
        10 * MIB,
        74 * MIB,
        zero_where_absent=frozenset(PART_OF_KIND.values()),
    )

    assert "native" == found.verdict


def test_without_rss_there_is_no_change_of_it():
    found = change_ledger(parts(heap_objects=1), parts(heap_objects=9))

    assert found.rss_change_bytes is None
    assert "unknown" == found.verdict


@pytest.mark.parametrize("sides", [(MIB, None), (None, 9 * MIB)])
def test_rss_of_one_side_alone_is_no_change_of_it(sides):
    found = change_ledger(parts(heap_objects=1), parts(heap_objects=9), *sides)

    assert (None, "unknown") == (found.rss_change_bytes, found.verdict)


def test_every_part_has_a_layer():
    assert set(PARTS) == set(LAYER_OF_PART)


size = st.integers(-(2**40), 2**40)
sides = st.dictionaries(st.sampled_from(PARTS), st.tuples(size, size), min_size=1)


@settings(max_examples=30)
@given(sides)
def test_the_changes_add_up_to_the_change_of_rss(both):
    before = {part: pair[0] for part, pair in both.items()}
    after = {part: pair[1] for part, pair in both.items()}

    found = change_ledger(
        pd.DataFrame({"part": list(before), "bytes": list(before.values())}),
        pd.DataFrame({"part": list(after), "bytes": list(after.values())}),
        sum(before.values()),
        sum(after.values()),
    )

    assert found.rss_change_bytes == int(found.parts["change_bytes"].sum())


@pytest.mark.parametrize("path", CAPTURES, ids=lambda path: path.name)
def test_the_moments_of_every_fixture_add_up(path):
    """
    Two sources, one number: the parts' changes against the kernel's own rollups.
    """
    diagnosis = diagnosed(path)
    rollups = diagnosis.capture.rollups.groupby("moment", sort=False)["Rss"].sum()
    ledgers = [(name, one) for name, one in diagnosis.ledgers.items() if name in rollups]

    for (first, before), (second, after) in pairwise(ledgers):
        found = change_ledger(
            before.parts,
            after.parts,
            before.rss_bytes,
            after.rss_bytes,
            zero_where_absent=frozenset(PART_OF_KIND.values()),
        )
        assert rollups[second] - rollups[first] == found.parts["change_bytes"].sum()


def test_the_zeroing_regression_is_residency_and_not_allocation():
    """
    The same program under 1.23.4 and 1.24.2.
    """
    old = diagnosed(FIXTURES / "captures/zeroing-go1.23.4").ledgers["2-loaded"]
    new = diagnosed(FIXTURES / "captures/zeroing-go1.24.2").ledgers["2-loaded"]

    found = change_ledger(old.parts, new.parts, old.rss_bytes, new.rss_bytes)

    assert "residency" == found.verdict


def test_a_change_that_no_layer_makes_alone_is_mixed():
    small = int(0.9 * MIB)
    frame = pd.DataFrame({"part": ["heap_objects", "runtime_metadata", "native_heap"]})

    found = change_ledger(frame.assign(bytes=0), frame.assign(bytes=small), 0, 3 * small)

    assert "mixed" == found.verdict


def test_a_layer_that_is_unknown_may_have_moved_more_than_one_that_is_known():
    before = parts(native_heap=10, heap_unexplained=50)
    after = parts(native_heap=60, heap_objects=50)

    assert "unknown" == change_ledger(before, after, 60 * MIB, 110 * MIB).verdict


def test_where_rss_stayed_an_unknown_layer_changes_nothing():
    before = parts(native_heap=10, heap_unexplained=50)
    after = parts(native_heap=10, heap_objects=50)

    assert "unchanged" == change_ledger(before, after, 60 * MIB, 60 * MIB).verdict


def test_where_nothing_moved_the_way_of_rss_its_cause_is_unknown():
    before, after = parts(native_heap=10), parts(native_heap=5)

    assert "unknown" == change_ledger(before, after, 10 * MIB, 60 * MIB).verdict


def test_a_layer_is_unknown_if_one_of_its_parts_is_wherever_it_stands():
    """
    Objects and slack are of one layer; only slack is known on both sides, and idle heap grew.
    """
    before = parts(heap_slack=1, heap_idle=5)
    after = parts(heap_objects=1, heap_slack=1, heap_idle=50)

    found = change_ledger(before, after, 6 * MIB, 52 * MIB)

    assert "unknown" == found.verdict
    assert [None, 0, 45 * MIB] == [
        None if pd.isna(size) else size for size in found.parts["change_bytes"]
    ]


def test_parts_of_a_layer_that_cancel_out_move_nothing():
    found = change(
        {"native_heap": 60, "thread_stacks": 10, "mapped_files": 5},
        {"native_heap": 10, "thread_stacks": 60, "mapped_files": 50},
    )

    assert "files" == found.verdict


def test_a_fall_is_told_by_what_fell():
    found = change({"heap_objects": 60, "mapped_files": 5}, {"heap_objects": 5, "mapped_files": 30})

    assert (-30 * MIB, "allocation") == (found.rss_change_bytes, found.verdict)


def test_of_what_is_not_divided_two_layers_are_not_told_apart():
    found = change(
        {"anonymous_other": 10, "mapped_files": 10}, {"anonymous_other": 60, "mapped_files": 60}
    )

    assert "undivided" == found.verdict


def test_a_part_that_is_new_is_native_and_comes_last():
    before, after = parts(novel=1, mapped_files=5), parts(novel=40, mapped_files=5)

    found = change_ledger(before, after, 6 * MIB, 45 * MIB)

    assert [("mapped_files", "files"), ("novel", "native")] == list(
        found.parts[["part", "layer"]].itertuples(index=False, name=None)
    )
    assert "native" == found.verdict


def test_each_part_of_either_side_has_its_bytes_in_the_ledgers_order():
    before = pd.DataFrame({"part": ["stacks", "heap_idle", "stacks"], "bytes": [3, 10, 4]})
    after = pd.DataFrame({"part": ["kernel", "heap_idle"], "bytes": [2, 6]})

    rows = change_ledger(before, after, zero_where_absent=frozenset({"kernel", "libraries"})).parts

    assert [
        ("stacks", "allocation", 7, None, None),
        ("heap_idle", "retention", 10, 6, -4),
        ("kernel", "program", 0, 2, 2),
    ] == [
        tuple(None if pd.isna(value) else value for value in row)
        for row in rows.itertuples(index=False, name=None)
    ]


@pytest.mark.parametrize("sides", [(100, 102), (102, 100)])
def test_a_change_is_measured_by_the_larger_side(sides):
    """
    Two hundredths of 102 are more than 2.
    """
    before, after = ({"heap_objects": size} for size in sides)

    assert "unchanged" == change(before, after).verdict
