"""Mappings known again: by place in one process, by kind and file in two."""

from itertools import pairwise

import pytest

from gomem.analysis.mappings.changes import match_mappings
from gomem.analysis.mappings.kinds import classify_mappings
from gomem.units import MIB
from tests.builders import CAPTURES, FIXTURES, diagnosed, mappings, smaps_entry

HEAP = 0xC000000000
ARENA = 64 * MIB
STACK = 0x7FFC21C50000


def stack(end: int = STACK) -> str:
    return smaps_entry(end - MIB, end, "rw-p", "[stack]", rss_kib=16)


def heap(used_mib: int, rss_mib: int, base: int = HEAP) -> tuple[str, str]:
    used = base + used_mib * MIB
    return (
        smaps_entry(base, used, rss_kib=rss_mib * 1024),
        smaps_entry(used, base + ARENA, "---p"),
    )


def changes(before: tuple[str, ...], after: tuple[str, ...]):
    """State and change in MiB by kind and path, of what is not the same."""
    found = match_mappings(
        classify_mappings(mappings(*before)).mappings, classify_mappings(mappings(*after)).mappings
    )
    moved = found[found["state"] != "same"]
    return [(row.kind, row.path, row.state, row.change_bytes // MIB) for row in moved.itertuples()]


def test_a_heap_that_grew_into_its_reservation_is_one_mapping_that_grew():
    assert [("go-heap", "", "grew", 20)] == changes(
        (*heap(8, 8), stack()), (*heap(32, 28), stack())
    )


def test_what_comes_is_new_and_what_goes_is_gone():
    index = smaps_entry(0x7F0000000000, 0x7F0000000000 + 40 * MIB, "r--s", "/data/a.db",
                        rss_kib=40 * 1024)  # fmt: skip
    other = smaps_entry(0x7F1000000000, 0x7F1000000000 + 8 * MIB, "r--s", "/data/b.db",
                        rss_kib=8 * 1024)  # fmt: skip

    found = changes((*heap(8, 8), index, stack()), (*heap(8, 8), other, stack()))

    assert {("gone", -40), ("new", 8)} == {(state, size) for _, _, state, size in found}


def test_mappings_that_the_kernel_split_are_still_the_same():
    """
    Advice cuts one mapping into three; together they are what it was.
    """
    whole = smaps_entry(HEAP, HEAP + ARENA, rss_kib=40 * 1024)
    pieces = (
        smaps_entry(HEAP, HEAP + 16 * MIB, rss_kib=16 * 1024),
        smaps_entry(HEAP + 16 * MIB, HEAP + 32 * MIB),
        smaps_entry(HEAP + 32 * MIB, HEAP + ARENA, rss_kib=24 * 1024),
    )

    assert [] == changes((whole, stack()), (*pieces, stack()))


def test_two_processes_are_held_together_by_kind_and_file():
    """
    Another stack, another heap base: no address is the same, and yet only the heap grew.
    """
    moved = heap(8, 30 // 5, 0x19AC3C000000)

    found = changes((*heap(8, 4), stack()), (*moved, stack(STACK + 64 * MIB)))

    assert [("go-heap", "", "grew", 2)] == found


@pytest.mark.at_most(3)
@pytest.mark.parametrize("path", CAPTURES, ids=lambda path: path.name)
def test_the_changes_of_mappings_add_up_to_that_of_rss(path):
    """
    Two sources, one number: matched mappings against the kernel's own rollups.
    """
    diagnosis = diagnosed(path)
    rollups = diagnosis.capture.rollups.groupby("moment", sort=False)["Rss"].sum()
    moments = [facts for facts in diagnosis.moments if facts.mappings is not None]

    for before, after in pairwise(moments):
        found = match_mappings(before.mappings, after.mappings)
        assert rollups[after.name] - rollups[before.name] == found["change_bytes"].sum()
        assert found["start"].notna().all()


def test_between_two_captures_there_are_no_addresses_to_match():
    old = diagnosed(FIXTURES / "captures/zeroing-go1.23.4").moments[-1].mappings
    new = diagnosed(FIXTURES / "captures/zeroing-go1.24.2").moments[-1].mappings

    found = match_mappings(old, new)

    assert ("go-heap", "grew") == tuple(found.loc[0, ["kind", "state"]])
    assert found["start"].isna().all()
    assert new["Rss"].sum() - old["Rss"].sum() == found["change_bytes"].sum()
