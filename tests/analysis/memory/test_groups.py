"""The groups of memory add up to RSS to the byte, and none of them is below zero."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gomem.analysis.memory.groups import GO_HEAP_GROUPS, GROUPS, memory_groups, side_by_side
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


@pytest.mark.at_most(3)
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


def test_without_smaps_what_is_too_much_for_rss_comes_off_the_runtime_first():
    """
    Of 100 MiB of heap and 10 of structures, 104 are resident; then of 94, as free heap comes next.
    """
    sizes = {"heap_objects": 90 * MIB, "heap_idle": 10 * MIB, "runtime_metadata": 10 * MIB}
    said = [
        memory_groups(
            parts_of(**sizes, heap_untouched=-off * MIB), (110 - off) * MIB, has_smaps=False
        )
        for off in (6, 16)
    ]

    assert [{"go_objects": 90, "go_free": 10, "go_runtime": 4},
            {"go_objects": 90, "go_free": 4, "go_runtime": 0}] == [
        {group: size // MIB for group, size in sizes_of(each).items()} for each in said
    ]  # fmt: skip
    assert not any(each.heap_is_one for each in said)


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


def groups_of(live=None, rss=None, **sizes):
    """The groups of parts in MiB; RSS is their sum unless it is given."""
    whole = sum(sizes.values()) if rss is None else rss
    bytes_of = {part: size * MIB for part, size in sizes.items()}
    return memory_groups(parts_of(**bytes_of), whole * MIB, None if live is None else live * MIB)


def in_mib(sizes):
    return {group: size / MIB for group, size in sizes.items()}


def test_every_part_is_in_the_group_of_its_owner_in_order():
    """
    Each part has a power of two, of which the sums tell the parts.
    """
    sizes = {part: 1 << place for place, part in enumerate(PARTS) if part != "heap_untouched"}
    place = {part: 1 << place for place, part in enumerate(PARTS)}

    found = in_mib(groups_of(**sizes).sizes)

    assert {
        "go_objects": ("heap_objects",),
        "go_free": ("heap_slack", "heap_idle", "heap_released_resident", "heap_unexplained"),
        "go_stacks": ("stacks",),
        "go_runtime": ("runtime_metadata",),
        "native": ("native_heap", "thread_stacks", "anonymous_other"),
        "files": ("mapped_files", "shared_memory"),
        "program": ("binary", "libraries", "kernel"),
    } == {
        group: tuple(part for part in PARTS if int(size) & place[part])
        for group, size in found.items()
    }
    assert list(found) == [group for group in GROUPS if group in found]


@pytest.mark.parametrize(("live", "divided"), [(7, (7, 3)), (10, (10, 0)), (12, (10, 0))])
def test_no_more_is_live_than_there_are_objects(live, divided):
    groups = groups_of(live, heap_objects=10)

    assert divided == tuple(groups.bytes_of(name) / MIB for name in ("go_live", "go_garbage"))
    assert divided == tuple(
        groups.claimed_bytes_of(name) / MIB for name in ("go_live", "go_garbage")
    )


def test_reserved_memory_is_what_the_runtime_claims_in_rss_or_not():
    """
    3 of 12 were not touched: free heap has none, and objects 1 less.
    """
    groups = groups_of(heap_objects=10, heap_slack=1, heap_idle=1, heap_untouched=-3, binary=5)

    assert {"go_objects": 9, "go_free": 0, "program": 5} == in_mib(groups.sizes)
    assert {"go_objects": 10, "go_free": 2} == in_mib(groups.claimed)
    assert (None, 2 * MIB) == (
        groups.claimed_bytes_of("program"),
        groups.claimed_bytes_of("go_free"),
    )
    assert 3 * MIB == groups.drawn(14 * MIB)[1]


def test_a_heap_as_one_group_has_its_claims_by_part():
    """
    8 of 14 were not touched.
    """
    groups = groups_of(6, heap_objects=10, heap_idle=3, stacks=1, heap_untouched=-8, binary=5)

    assert {"go_heap": 6, "program": 5} == in_mib(groups.sizes)
    assert {"go_live": 6, "go_garbage": 4, "go_free": 3, "go_stacks": 1} == in_mib(groups.claimed)
    assert 14 * MIB == groups.claimed_bytes_of("go_heap")
    assert 6 * MIB == groups.bytes_within("go_heap")
    assert 8 * MIB == groups.drawn(11 * MIB)[1]
    assert ["go_live", "go_garbage", "go_free", "go_stacks"] == groups.claims_within("go_heap")[
        "group"
    ].tolist()
    assert groups.claims_within("program").empty
    assert {"go_heap", "program", "go_live", "go_garbage", "go_free", "go_stacks"} == set(
        groups.names
    )


def test_the_go_heap_is_the_sum_of_its_groups_or_unknown():
    whole = groups_of(heap_objects=10, heap_idle=1, stacks=1, binary=5)
    assert 12 * MIB == whole.bytes_within("go_heap")
    assert groups_of(binary=5).bytes_within("go_heap") is None
    assert groups_of(binary=5).bytes_of("go_heap") is None


def test_a_heap_that_is_divided_has_no_claims_within():
    groups = groups_of(heap_objects=10)

    assert not groups.heap_is_one
    assert groups.claims_within("go_objects").empty
    assert groups.claims_within("go_heap").empty


def test_untouched_memory_beyond_the_heap_comes_off_the_runtime_then_off_what_is_not_gos():
    """
    Without smaps: 17 of 10 in the heap, 5 of the runtime's and 1 of C leave 1 to files.
    """
    found = groups_of(
        heap_objects=10, runtime_metadata=5, native_heap=1, mapped_files=3, heap_untouched=-18
    )

    wanted = {"go_heap": 0, "go_runtime": 0, "native": 0, "files": 1}
    assert wanted == in_mib(found.sizes)


@pytest.mark.parametrize(
    ("others", "wanted"),
    [
        pytest.param(
            {"runtime_metadata": 5}, {"go_objects": 0, "go_free": 2, "go_runtime": 4},
            id="others first",
        ),
        pytest.param({}, {"go_objects": 0, "go_free": 1}, id="at last"),
    ],
)  # fmt: skip
def test_released_memory_that_the_kernel_counts_comes_off_at_last(others, wanted):
    """
    2 were not touched; of 1 of objects and 2 of free heap, the kernel has counted these 2.
    """
    found = groups_of(heap_objects=1, heap_released_resident=2, heap_untouched=-2, **others)

    assert wanted == in_mib(found.sizes)


def test_stacks_are_the_last_of_the_heap_to_be_untouched():
    found = groups_of(1, heap_objects=1, stacks=2, runtime_metadata=5, heap_untouched=-2)

    assert {"go_live": 0, "go_garbage": 0, "go_stacks": 1, "go_runtime": 5} == in_mib(found.sizes)


def test_side_by_side_a_group_that_a_snapshot_does_not_have_is_missing():
    rows = side_by_side([groups_of(heap_objects=10), groups_of(stacks=2, binary=5)])

    assert ["go_objects", "go_stacks", "program"] == rows["group"].tolist()
    assert [10 * MIB, None, None] == [None if pd.isna(size) else size for size in rows["0"]]
    assert [None, 2 * MIB, 5 * MIB] == [None if pd.isna(size) else size for size in rows["1"]]
    assert ["group", "name", "within", "0", "1"] == list(rows)


def test_side_by_side_live_heap_and_garbage_are_one_row_where_a_snapshot_does_not_tell_them():
    parts = parts_of(heap_objects=10 * MIB)

    rows = side_by_side([memory_groups(parts, 10 * MIB), memory_groups(parts, 10 * MIB, 7 * MIB)])

    assert [("go_objects", 10 * MIB, 10 * MIB)] == list(
        zip(rows["group"], rows["0"], rows["1"], strict=True)
    )


def test_side_by_side_the_sum_of_the_heap_says_which_rows_are_within_it():
    whole = memory_groups(parts_of(heap_unexplained=3 * MIB), 3 * MIB)
    rows = side_by_side([whole, groups_of(heap_objects=10, stacks=2)]).set_index("group")

    assert ("Go heap and stacks", False) == tuple(rows.loc["go_heap", ["name", "within"]])
    assert set(rows.index[rows["within"]]) == set(rows.index) & set(GO_HEAP_GROUPS)


def test_side_by_side_files_and_program_are_one_row_where_a_moment_has_no_smaps():
    without = memory_groups(parts_of(mapped_files=5 * MIB), 5 * MIB, has_smaps=False)
    fine = groups_of(mapped_files=1, binary=5)

    rows = side_by_side([without, fine]).set_index("group")

    assert "files and program text" == rows.loc["files", "name"] == without.rows["name"][0]
    assert "program" not in rows.index
    assert (5 * MIB, fine.bytes_of("files") + fine.bytes_of("program")) == (
        rows.loc["files", "0"], rows.loc["files", "1"],
    )  # fmt: skip
