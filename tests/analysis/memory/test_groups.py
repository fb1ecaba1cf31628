"""The groups of memory add up to RSS to the byte, and none of them is below zero."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gomem.analysis.memory.groups import GROUPS, memory_groups, side_by_side
from gomem.analysis.memory.ledger import PARTS
from tests.builders import CAPTURES, FIXTURES, diagnosed
from tests.views.ledgers import ledger

MIB = 1 << 20
CLAIMED = PARTS[:4]
INJECTED = sorted(path for path in (FIXTURES / "injected").iterdir() if path.is_dir())


def parts_of(*, doubtful=False, left_over=False, **sizes):
    """A ledger's parts, with claims where the runtime makes them."""
    frame = ledger(None, **sizes).parts
    frame["claimed_bytes"] = [size if part in CLAIMED else None for part, size in sizes.items()]
    frame["claimed_bytes"] = frame["claimed_bytes"].astype("Int64")
    frame["confidence"] = "doubtful" if doubtful else "left over" if left_over else "counted"
    return frame


def sizes_of(groups):
    return dict(zip(groups.rows["group"], groups.rows["bytes"].tolist(), strict=True))


@pytest.mark.at_most(15)
@pytest.mark.parametrize("path", [*CAPTURES, *INJECTED], ids=lambda path: path.name)
def test_the_groups_of_every_fixture_add_up_to_rss(path):
    for facts in diagnosed(path).moments:
        sizes = facts.groups.rows["bytes"]
        assert facts.rss_bytes == sizes.sum()
        assert (sizes >= 0).all()


@given(
    sizes=st.dictionaries(st.sampled_from(PARTS), st.integers(0, 1 << 40)),
    untouched=st.floats(0, 1),
    live=st.none() | st.integers(0, 1 << 41),
    doubtful=st.booleans(),
)
def test_whatever_the_parts_the_groups_add_up_and_none_is_below_zero(
    sizes, untouched, live, doubtful
):
    """
    What was never touched is at most all that the other parts claim together.
    """
    sizes.pop("heap_untouched", None)
    off = int(untouched * sum(sizes.values()))
    parts = parts_of(doubtful=doubtful, **sizes, heap_untouched=-off)
    rss = sum(sizes.values()) - off

    groups = memory_groups(parts, rss, live)

    assert rss == sum(sizes_of(groups).values())
    assert all(size >= 0 for size in sizes_of(groups).values())
    assert set(groups.rows["group"]) <= set(GROUPS)


def test_objects_are_live_or_garbage_by_what_the_last_collection_marked():
    parts = parts_of(heap_objects=10 * MIB, heap_slack=MIB, heap_idle=2 * MIB, stacks=MIB)

    groups = memory_groups(parts, 14 * MIB, 7 * MIB)

    wanted = {"go_live": 7, "go_garbage": 3, "go_free": 3, "go_stacks": 1}
    assert {group: size * MIB for group, size in wanted.items()} == sizes_of(groups)


def test_where_nothing_tells_what_is_live_objects_are_one_group():
    groups = memory_groups(parts_of(heap_objects=10 * MIB), 10 * MIB)

    assert {"go_objects": 10 * MIB} == sizes_of(groups)


@pytest.mark.parametrize(
    ("claimed_mib", "untouched", "is_one"),
    [
        pytest.param(10, 4 * MIB - 1, False, id="under-4-MiB"),
        pytest.param(10, 4 * MIB, True, id="4-MiB"),
        pytest.param(1000, 20 * MIB - 1, False, id="under-2-per-cent"),
        pytest.param(1000, 20 * MIB, True, id="2-per-cent"),
    ],
)
def test_the_go_heap_is_one_group_where_many_of_its_claims_were_never_touched(
    claimed_mib, untouched, is_one
):
    claimed = claimed_mib * MIB
    parts = parts_of(heap_objects=claimed, heap_untouched=-untouched, binary=MIB)

    groups = memory_groups(parts, claimed - untouched + MIB)

    assert is_one == groups.heap_is_one
    assert claimed - untouched == groups.bytes_of("go_heap" if is_one else "go_objects")
    assert claimed == groups.claimed_bytes_of("go_heap" if is_one else "go_objects")
    assert [claimed] * is_one == list(groups.claims_within("go_heap")["claimed_bytes"])


def test_few_untouched_bytes_come_off_the_free_heap_then_off_the_objects():
    """
    3 MiB: 1 off the free heap, of which another MiB is resident by LazyFree, 1 off the garbage,
    1 off what is live.
    """
    parts = parts_of(
        heap_objects=10 * MIB, heap_idle=MIB, stacks=MIB, heap_released_resident=MIB,
        heap_untouched=-3 * MIB,
    )  # fmt: skip

    groups = memory_groups(parts, 10 * MIB, 9 * MIB)

    wanted = {"go_live": 8, "go_garbage": 0, "go_free": 1, "go_stacks": 1}
    assert {group: size * MIB for group, size in wanted.items()} == sizes_of(groups)


def test_two_states_of_the_process_leave_the_go_heap_undivided():
    parts = parts_of(doubtful=True, heap_objects=100 * MIB, heap_untouched=-99 * MIB)

    groups = memory_groups(parts, MIB, 50 * MIB)

    assert {"go_heap": MIB} == sizes_of(groups)
    assert not groups.heap_is_one
    assert groups.claimed_bytes_of("go_heap") is None


def test_the_arenas_without_memstats_are_the_go_heap():
    groups = memory_groups(parts_of(heap_released_resident=MIB, heap_unexplained=2 * MIB), 3 * MIB)

    assert {"go_heap": 3 * MIB} == sizes_of(groups)


def test_what_is_left_of_a_total_is_nobodys():
    """
    Without smaps, what VmRSS has beyond the other parts may be anything's, not C's.
    """
    parts = parts_of(left_over=True, mapped_files=MIB, anonymous_other=2 * MIB)

    assert {"files": MIB, "undivided": 2 * MIB} == sizes_of(memory_groups(parts, 3 * MIB))


def test_without_rss_the_groups_are_claims():
    groups = memory_groups(parts_of(heap_objects=MIB, stacks=MIB), None, MIB)

    assert groups.rows["bytes"].isna().all()
    assert MIB == groups.claimed_bytes_of("go_live")


def test_what_is_drawn_is_resident_and_beyond_it_what_go_claims():
    """
    Of what nobody claims, such as files, nothing lies beyond; without RSS the claims are drawn.
    """
    parts = parts_of(heap_objects=MIB, mapped_files=MIB)
    known, unknown = memory_groups(parts, 2 * MIB), memory_groups(parts, None)

    assert ({"go_objects": MIB, "files": MIB}, 0) == known.drawn(2 * MIB)
    assert ({"go_objects": MIB}, 0) == unknown.drawn(None)


def test_side_by_side_the_go_heap_stands_above_its_groups_where_one_moment_has_it_as_one():
    whole = memory_groups(parts_of(heap_objects=2 * MIB, stacks=MIB), 3 * MIB)
    one = memory_groups(parts_of(heap_objects=90 * MIB, heap_untouched=-80 * MIB), 10 * MIB)

    rows = side_by_side([whole, one]).set_index("group")

    assert ["go_heap", "go_objects", "go_stacks"] == list(rows.index)
    assert [3 * MIB, 10 * MIB] == list(rows.loc["go_heap", ["0", "1"]])
    assert rows["1"].isna().tolist() == [False, True, True]


@pytest.mark.parametrize(
    ("capture", "moment", "live"),
    [
        pytest.param("zeroing-go1.24.6", "1-start", False, id="before-the-first-collection"),
        pytest.param("zeroing-go1.24.6", "2-loaded", True, id="by-the-metric"),
        pytest.param("cache-shrink-go1.9.7", "3-collected", True, id="by-the-log"),
    ],
)
def test_what_is_live_is_known_by_the_metric_or_by_the_logs_last_cycle(capture, moment, live):
    """
    Before the first collection the metric is a made-up starting value of the pacer's.
    """
    facts = diagnosed(FIXTURES / "captures" / capture).by_moment[moment]

    assert live == (facts.live_bytes is not None)
    if live:
        assert 0 < facts.live_bytes <= int(facts.memstats["HeapAlloc"])


def test_the_log_and_the_metric_agree_on_what_is_live():
    """
    Two sources, one number: the log rounds down to 1 MiB.
    """
    facts = diagnosed(FIXTURES / "captures/healthy-go1.27.3").by_moment["3-later"]
    cycles = diagnosed(FIXTURES / "captures/healthy-go1.27.3").capture.gc.cycles
    of_log = cycles.set_index("number").loc[int(facts.memstats["NumGC"]), "heap_live_bytes"]

    assert pd.notna(of_log)
    assert 0 <= facts.live_bytes - of_log < MIB
