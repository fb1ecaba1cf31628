"""The ledger: parts that add up to RSS to the byte, from whatever files there are."""

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gomem.analysis.mappings.kinds import classify_mappings
from gomem.analysis.memory.ledger import (
    HEAP_PARTS,
    PARTS,
    RUNTIME_SIDES,
    Ledger,
    claims_of,
    has_heap_fields,
    has_lazy_free,
    reconcile_rss,
)
from gomem.inputs.memstats.table import read_memstats
from gomem.inputs.smaps.table import read_smaps
from gomem.inputs.status.table import read_status
from gomem.units import KIB, MIB
from tests.builders import MOMENTS, mappings, memstats_row, moment_id, smaps_entry

ARENA = 64 * MIB
HEAP = 0xC000000000
PROGRAM = smaps_entry(0x400000, 0x500000, "r-xp", "/app/api", rss_kib=1024)


def ledger_of(rss_kib: int, lazy_free_kib: int = 0, **memstats: int) -> Ledger:
    """The ledger of a process with 1 MiB of program and one arena of 40 MiB in use."""
    table = mappings(
        PROGRAM,
        smaps_entry(HEAP, HEAP + 40 * MIB, rss_kib=rss_kib, lazy_free_kib=lazy_free_kib),
        smaps_entry(HEAP + 40 * MIB, HEAP + ARENA, "---p"),
    )
    row = memstats_row(**memstats)
    return reconcile_rss(classify_mappings(table, row), row)


def parts_of(ledger: Ledger) -> dict[str, int]:
    return {row.part: row.bytes for row in ledger.parts.itertuples() if row.bytes}


def test_a_hand_made_process_is_accounted_for():
    """
    30 objects + 2 slack + 5 idle + 2 stacks = 39 MiB claimed; 36 of them are resident, so 3 were
    never touched; with 1 MiB of program RSS is 37.
    """
    ledger = ledger_of(
        36 * 1024,
        HeapAlloc=30 * MIB,
        HeapInuse=32 * MIB,
        HeapIdle=6 * MIB,
        HeapReleased=1 * MIB,
        HeapSys=38 * MIB,
        StackInuse=1 * MIB,
        GCSys=MIB,
    )

    assert 37 * MIB == ledger.rss_bytes
    assert {
        "heap_objects": 30 * MIB,
        "heap_slack": 2 * MIB,
        "heap_idle": 5 * MIB,
        "stacks": 2 * MIB,  # StackInuse and 1 MiB of work buffers: 40 - 38 - 1
        "heap_untouched": -3 * MIB,
        "binary": 1 * MIB,
    } == parts_of(ledger)


def test_released_memory_that_is_still_resident_is_a_part_of_its_own():
    ledger = ledger_of(
        30 * 1024,
        20 * 1024,
        HeapAlloc=10 * MIB,
        HeapInuse=10 * MIB,
        HeapIdle=30 * MIB,
        HeapReleased=30 * MIB,
        HeapSys=40 * MIB,
    )

    assert 20 * MIB == ledger.part("heap_released_resident")
    assert 0 == ledger.part("heap_idle")
    assert 31 * MIB == int(ledger.parts["bytes"].sum())


def test_more_than_the_claims_is_unexplained_and_never_hidden():
    ledger = ledger_of(40 * 1024, HeapAlloc=8 * MIB, HeapInuse=8 * MIB, HeapSys=40 * MIB)

    assert 32 * MIB == ledger.part("heap_unexplained")
    assert 0 == ledger.part("heap_untouched")


@pytest.mark.at_most(13)
@pytest.mark.parametrize("moment", MOMENTS, ids=moment_id)
def test_every_fixture_adds_up_to_its_rss(moment):
    """
    The parts sum to RSS, RSS is the kernel's own sum, and nothing is left to anonymous_other.
    """
    memstats = read_memstats(moment / "memstats.json").stats.iloc[-1]
    classified = classify_mappings(read_smaps(moment / "smaps").mappings, memstats)
    rollup = int(read_smaps(moment / "smaps_rollup").totals["Rss"])

    ledger = reconcile_rss(
        classified, memstats, read_status(moment / "status").status.iloc[0], rollup
    )

    assert rollup == ledger.rss_bytes
    assert rollup == int(ledger.parts["bytes"].sum())
    assert [0, 0] == list(ledger.checks["difference_bytes"])
    assert ledger.part("anonymous_other") < 0.01 * rollup
    assert 0 in {ledger.part("heap_untouched"), ledger.part("heap_unexplained")}
    assert ledger.part("heap_unexplained") == 0


@pytest.mark.at_most(13)
@pytest.mark.parametrize("moment", MOMENTS, ids=moment_id)
def test_resident_metadata_is_within_what_the_runtime_claims(moment):
    memstats = read_memstats(moment / "memstats.json").stats.iloc[-1]
    classified = classify_mappings(read_smaps(moment / "smaps").mappings, memstats)

    row = reconcile_rss(classified, memstats).parts.set_index("part").loc["runtime_metadata"]

    assert row["bytes"] <= row["claimed_bytes"] + 256 * KIB


size = st.integers(0, 2**40)


@settings(max_examples=30)
@given(size, size, size, size, size, size, size)
def test_the_parts_add_up_whatever_the_runtime_says(objects, slack, idle, gone, stacks, rss, lazy):
    """
    Even when MemStats and smaps contradict each other, as when they are of different moments.
    """
    ledger = ledger_of(
        rss // KIB,
        lazy // KIB,
        HeapAlloc=objects,
        HeapInuse=objects + slack,
        HeapIdle=idle + gone,
        HeapReleased=gone,
        HeapSys=objects + slack + idle + gone,
        StackInuse=stacks,
    )

    assert ledger.rss_bytes == int(ledger.parts["bytes"].sum())


def test_without_smaps_the_ledger_is_coarser_and_says_so():
    """
    20 MiB claimed by the runtime, 4 MiB of files, 30 MiB resident: 6 MiB are of nobody.
    """
    memstats = memstats_row(HeapAlloc=18 * MIB, HeapInuse=18 * MIB, GCSys=2 * MIB)
    status = pd.Series({"VmRSS": 30 * MIB, "RssFile": 4 * MIB, "RssShmem": 0})

    ledger = reconcile_rss(None, memstats, status)

    assert 30 * MIB == ledger.rss_bytes
    assert 6 * MIB == ledger.part("anonymous_other")
    assert 30 * MIB == int(ledger.parts["bytes"].sum())
    assert "no smaps in this snapshot" in ledger.notes[0]


@pytest.mark.parametrize("with_smaps", [True, False])
def test_a_part_names_runtime_metrics_where_those_stand_in_for_memstats(with_smaps):
    row = memstats_row(HeapAlloc=3 * MIB, HeapInuse=4 * MIB, GCSys=2 * MIB)
    table = mappings(PROGRAM, smaps_entry(HEAP, HEAP + 4 * MIB, rss_kib=4096))
    classified = classify_mappings(table, row) if with_smaps else None

    parts = reconcile_rss(classified, row, runtime_side="metrics").parts.set_index("part")

    assert not parts["source"].str.contains("MemStats").any()
    assert "/memory/classes/heap/unused:bytes" == parts.loc["heap_slack", "source"]


def test_a_part_names_the_page_that_it_was_read_from():
    row = memstats_row(HeapAlloc=3 * MIB, HeapInuse=4 * MIB)
    page = {"process_resident_memory_bytes": 9.0 * MIB}
    status = pd.Series({"VmRSS": 8 * MIB, "RssFile": 0, "RssShmem": 0})

    ledger = reconcile_rss(None, row, status, scraped=page, runtime_side="metrics-page")

    assert not ledger.parts["source"].str.contains("MemStats").any()
    assert {"status VmRSS": 0, "metrics-page process_resident_memory_bytes": MIB} == dict(
        zip(ledger.checks["total"], ledger.checks["difference_bytes"], strict=True)
    )


def test_without_memstats_the_heap_stands_in_one_piece():
    table = mappings(
        PROGRAM,
        smaps_entry(HEAP, HEAP + 4 * MIB, rss_kib=4096, lazy_free_kib=1024),
        smaps_entry(HEAP + 4 * MIB, HEAP + ARENA, "---p"),
    )

    ledger = reconcile_rss(classify_mappings(table))

    assert 3 * MIB == ledger.part("heap_unexplained")
    assert 1 * MIB == ledger.part("heap_released_resident")
    assert 5 * MIB == int(ledger.parts["bytes"].sum())


def test_without_any_resident_number_there_is_no_rss_and_no_zero():
    ledger = reconcile_rss(None, memstats_row(HeapAlloc=18 * MIB, HeapInuse=18 * MIB))

    assert ledger.rss_bytes is None
    assert 18 * MIB == ledger.part("heap_objects")


def test_a_total_that_disagrees_is_reported():
    table = mappings(PROGRAM)

    ledger = reconcile_rss(classify_mappings(table), rollup_rss_bytes=9 * MIB)

    assert [8 * MIB] == list(ledger.checks["difference_bytes"])
    assert "smaps_rollup Rss is" in ledger.notes[-1]


def test_skew_is_said_where_numbers_are_subtracted():
    ledger = reconcile_rss(classify_mappings(mappings(PROGRAM)), skew_seconds=4.0)

    assert "4 s apart" in ledger.notes[-1]


def confidence_of(ledger: Ledger) -> dict[str, str]:
    return dict(zip(ledger.parts["part"], ledger.parts["confidence"], strict=True))


def test_each_part_says_how_it_is_known():
    """
    The runtime counts objects, the kernel names the program; the arenas have no name here.
    """
    known = confidence_of(ledger_of(10 * 1024, HeapAlloc=9 * MIB, HeapInuse=9 * MIB,
                                    HeapSys=40 * MIB))  # fmt: skip

    assert "counted" == known["heap_objects"]
    assert "counted" == known["binary"]
    assert "inferred" == known["heap_released_resident"]
    assert "left over" == known["heap_unexplained"]


def test_structures_of_the_runtimes_that_have_no_name_are_inferred():
    """
    3 MiB of them by its count, and the 32 of the index, beside 4 MiB of arenas.
    """
    table = mappings(
        PROGRAM,
        smaps_entry(HEAP, HEAP + 4 * MIB, rss_kib=4096),
        smaps_entry(HEAP + 4 * MIB, HEAP + ARENA, "---p"),
        smaps_entry(0x7F0000000000, 0x7F0000300000, rss_kib=2048),
        smaps_entry(0x7F2000000000, 0x7F2002000000, rss_kib=8),
        smaps_entry(0x7F3000000000, 0x7F3000100000, "r--s", "/data/a.db", rss_kib=64),
    )
    row = memstats_row(HeapAlloc=MIB, HeapInuse=MIB, HeapSys=4 * MIB, GCSys=3 * MIB)

    known = confidence_of(reconcile_rss(classify_mappings(table, row), row))

    assert ("inferred", "counted") == (known["runtime_metadata"], known["mapped_files"])
    assert ("counted", "left over") == (known["stacks"], known["heap_unexplained"])


def test_a_collection_in_between_makes_the_heaps_parts_doubtful_and_no_others():
    row = memstats_row(HeapAlloc=MIB, HeapInuse=MIB, HeapSys=4 * MIB)
    table = mappings(
        PROGRAM,
        smaps_entry(HEAP, HEAP + 4 * MIB, rss_kib=4096),
        smaps_entry(HEAP + 4 * MIB, HEAP + ARENA, "---p"),
    )

    ledger = reconcile_rss(
        classify_mappings(table, row), row, skew_seconds=3.0, collections_between=2
    )

    doubtful = {part for part, how in confidence_of(ledger).items() if how == "doubtful"}
    assert set(PARTS[:7]) - {"heap_released_resident"} == doubtful
    assert "3 s apart, and 2 GCs ended in between" in " ".join(ledger.notes)
    assert ledger.notes[-1].startswith("the Go heap and stacks are not reliably broken down, ")
    assert "_" not in ledger.notes[-1]
    assert ledger.next_file.startswith("MemStats and smaps again")
    assert 5 * MIB == int(ledger.parts["bytes"].sum())


def test_arenas_that_do_not_hold_what_memstats_say_make_the_heap_doubtful():
    """
    40 MiB of arenas, and a HeapSys of 80: the two files are of different moments.
    """
    ledger = ledger_of(10 * 1024, HeapAlloc=9 * MIB, HeapInuse=9 * MIB, HeapSys=80 * MIB)

    assert "doubtful" == confidence_of(ledger)["heap_objects"]
    assert "counted" == confidence_of(ledger)["binary"]


@pytest.mark.at_most(13)
@pytest.mark.parametrize("moment", MOMENTS, ids=moment_id)
def test_no_fixture_taken_at_a_standstill_is_doubtful(moment):
    memstats = read_memstats(moment / "memstats.json").stats.iloc[-1]
    classified = classify_mappings(read_smaps(moment / "smaps").mappings, memstats)

    ledger = reconcile_rss(classified, memstats)

    assert "doubtful" not in set(ledger.parts["confidence"])
    assert "" == ledger.next_file


def test_the_next_file_is_the_one_that_would_say_most():
    table = mappings(PROGRAM)

    assert reconcile_rss(None, memstats_row()).next_file.startswith("smaps")
    assert reconcile_rss(classify_mappings(table)).next_file.startswith("MemStats")


def test_both_sides_stand_beside_each_other():
    """
    The runtime claims 30 MiB in the arenas, 24 are resident; of the program it knows nothing.
    """
    ledger = ledger_of(24 * 1024, HeapAlloc=28 * MIB, HeapInuse=30 * MIB, HeapIdle=10 * MIB,
                       HeapReleased=10 * MIB, HeapSys=40 * MIB)  # fmt: skip

    sides = ledger.sides.set_index("where")

    assert [30 * MIB, 24 * MIB, -6 * MIB] == list(sides.loc["heap and stacks"])
    assert [0, 0, 0] == list(sides.loc["runtime structures"])
    assert pd.isna(sides.loc["outside Go's runtime", "claimed_bytes"])
    assert ledger.rss_bytes == sides["resident_bytes"].sum()


def test_where_there_is_no_go_heap_memstats_cannot_contradict_it():
    row = memstats_row(HeapAlloc=MIB, HeapInuse=MIB, HeapSys=4 * MIB)

    ledger = reconcile_rss(classify_mappings(mappings(PROGRAM), row), row)

    assert "doubtful" not in set(ledger.parts["confidence"])
    assert "" == ledger.next_file
    assert not any("HeapSys" in note for note in ledger.notes)


def test_a_status_is_a_check_where_it_says_a_total():
    classified = classify_mappings(mappings(PROGRAM))

    told = reconcile_rss(classified, status=pd.Series({"VmRSS": MIB + 4 * KIB})).checks
    silent = reconcile_rss(classified, status=pd.Series({"VmRSS": pd.NA})).checks

    assert [("status VmRSS", 4 * KIB)] == list(
        zip(told["total"], told["difference_bytes"], strict=True)
    )
    assert silent.empty


def test_a_rollup_says_more_than_its_total():
    rollup = pd.Series({"Rss": 9 * MIB, "Anonymous": 7 * MIB, "LazyFree": MIB})

    ledger = reconcile_rss(None, memstats_row(), rollup=rollup, rollup_rss_bytes=9 * MIB)

    assert (2 * MIB, MIB) == (ledger.part("mapped_files"), ledger.part("heap_released_resident"))


def test_the_ledger_names_what_says_how_much_is_resident():
    row, status = memstats_row(), pd.Series({"VmRSS": MIB})

    assert (
        "smaps Rss" == reconcile_rss(classify_mappings(mappings(PROGRAM)), row, status).rss_source
    )
    assert "status VmRSS" == reconcile_rss(None, row, status).rss_source
    assert "" == reconcile_rss(None, row).rss_source


@pytest.mark.parametrize(("beyond_kib", "notes"), [(64, 0), (65, 1)])
def test_a_total_may_differ_by_64_kib(beyond_kib, notes):
    """
    VmRSS is counted per CPU. Of a process of 1 MiB a hundredth is less.
    """
    classified = classify_mappings(mappings(PROGRAM))
    told = len(reconcile_rss(classified).notes)

    total = MIB + beyond_kib * KIB

    assert told + notes == len(reconcile_rss(classified, rollup_rss_bytes=total).notes)


@pytest.mark.parametrize(("beyond_kib", "notes"), [(1024, 0), (1028, 1)])
def test_a_total_may_differ_by_a_hundredth(beyond_kib, notes):
    """
    Of 100 MiB less 1, and a hundredth of that total is 1 MiB and a little less beyond it.
    """
    program = smaps_entry(0x400000, 0x400000 + 99 * MIB, "r-xp", "/app/api", rss_kib=99 * 1024)
    classified = classify_mappings(mappings(program))
    told = len(reconcile_rss(classified).notes)

    total = 99 * MIB + beyond_kib * KIB

    assert told + notes == len(reconcile_rss(classified, rollup_rss_bytes=total).notes)


@pytest.mark.parametrize(
    ("seconds", "collections", "words"),
    [
        pytest.param(0.999, None, "", id="less than a second"),
        pytest.param(1.0, None, "whether one ended in between is unknown", id="a second"),
        pytest.param(1.0, 0, "no GC ended in between", id="none in it"),
        pytest.param(0.1, 1, "1 GC ended in between", id="one in less"),
        pytest.param(None, 2, "measured apart, and 2 GCs ended", id="no clock"),
        pytest.param(None, 0, "", id="none, and no clock"),
    ],
)
def test_what_is_said_of_a_skew(seconds, collections, words):
    classified = classify_mappings(mappings(PROGRAM))
    told = reconcile_rss(classified).notes

    notes = reconcile_rss(classified, skew_seconds=seconds, collections_between=collections).notes

    assert bool(words) == (len(notes) > len(told))
    assert words in " ".join(notes)


HEAP_ROW = {"HeapAlloc": 30, "HeapInuse": 36, "HeapIdle": 20, "HeapReleased": 9, "StackInuse": 5}


@pytest.mark.parametrize(("buffers", "stacks", "more"), [(0, 5, ""), (3, 8, " + GC work buffers")])
def test_what_go_has_reserved_in_the_arenas_follows_from_five_fields(buffers, stacks, more):
    claims = claims_of(pd.Series(HEAP_ROW), buffers, RUNTIME_SIDES["memstats"])

    assert [
        ("heap_objects", 30, "MemStats.HeapAlloc"),
        ("heap_slack", 6, "MemStats.HeapInuse - HeapAlloc"),
        ("heap_idle", 11, "MemStats.HeapIdle - HeapReleased"),
        ("stacks", stacks, f"MemStats.StackInuse{more}"),
    ] == claims


@pytest.mark.parametrize("lacking", [*HEAP_ROW, None])
def test_all_five_fields_are_needed(lacking):
    row = pd.Series(HEAP_ROW | ({lacking: pd.NA} if lacking else {}), dtype="Int64")

    assert (lacking is None) is has_heap_fields(row)


def test_pmap_does_not_show_released_memory():
    unknown = pd.Series([pd.NA, pd.NA], dtype="Int64")

    assert not has_lazy_free(pd.DataFrame({"LazyFree": unknown}))
    assert has_lazy_free(pd.DataFrame({"LazyFree": unknown.fillna(0)}))
    assert has_lazy_free(pd.DataFrame({"LazyFree": unknown}).iloc[:0])


def test_a_ledger_has_a_part_or_zero_of_it():
    ledger = reconcile_rss(classify_mappings(mappings(PROGRAM)))

    assert (MIB, 0) == (ledger.part("binary"), ledger.part("stacks"))
    assert (True, False) == (ledger.has("binary"), ledger.has("stacks"))
    assert (True, 0) == (ledger.has("runtime_metadata"), ledger.part("runtime_metadata"))


def test_what_go_has_reserved_for_heap_and_stacks_is_added():
    ledger = reconcile_rss(None, memstats_row(**HEAP_ROW, GCSys=7))

    assert 30 + 6 + 11 + 5 == ledger.heap_claimed_bytes
    assert 7 == ledger.part("runtime_metadata")
    assert {
        "heap_objects", "heap_slack", "heap_idle", "stacks",
        "heap_released_resident", "heap_untouched", "heap_unexplained",
    } == HEAP_PARTS  # fmt: skip


def test_a_coarse_ledger_has_each_total_as_a_part_and_a_rest():
    """
    Of 200 Go has 52 and 7, files 40, shared memory 8 and released memory 10: 83 are of nobody.
    """
    rollup = pd.Series({"Rss": 200, "LazyFree": 10})
    status = pd.Series({"VmRSS": 190, "RssFile": 40, "RssShmem": 8})

    ledger = reconcile_rss(None, memstats_row(**HEAP_ROW, GCSys=7), status, rollup=rollup)

    assert {
        "heap_objects": 30, "heap_slack": 6, "heap_idle": 11, "stacks": 5,
        "runtime_metadata": 7, "mapped_files": 40, "shared_memory": 8,
        "heap_released_resident": 10, "anonymous_other": 83,
    } == parts_of(ledger)  # fmt: skip
    assert (True, 0) == (ledger.has("heap_untouched"), ledger.part("heap_untouched"))
    assert ("left over", "counted") == (
        confidence_of(ledger)["anonymous_other"], confidence_of(ledger)["mapped_files"],
    )  # fmt: skip


def test_more_claims_than_rss_were_never_touched():
    ledger = reconcile_rss(None, memstats_row(**HEAP_ROW), pd.Series({"VmRSS": 50}))

    assert (-2, 0) == (ledger.part("heap_untouched"), ledger.part("anonymous_other"))
    assert 50 == int(ledger.parts["bytes"].sum())


def test_without_memstats_released_memory_is_of_nobody():
    ledger = reconcile_rss(rollup=pd.Series({"Rss": 200, "LazyFree": 10}))

    assert {"anonymous_other": 200} == parts_of(ledger)
    assert not ledger.has("heap_untouched")


@pytest.mark.parametrize(("assumed", "more"), [((), 0), (("a",), 1), (("a", "b"), 1)])
def test_files_that_may_be_of_another_snapshot_are_told_in_one_note(assumed, more):
    status = pd.Series({"VmRSS": 50})
    plain = reconcile_rss(None, None, status).notes

    notes = reconcile_rss(None, None, status, assumed=assumed).notes

    assert len(plain) + more == len(notes)
    assert all(name in str(notes[-1]) for name in assumed)


def test_missing_mappings_make_rss_a_lower_bound():
    classified = classify_mappings(mappings(PROGRAM))
    whole, part = reconcile_rss(classified), reconcile_rss(classified, is_least=True)

    assert (False, True) == (whole.is_least, part.is_least)
    assert len(whole.notes) + 1 == len(part.notes)


@pytest.mark.parametrize(
    ("collections", "is_doubtful"), [(None, False), (0, False), (1, True), (2, True)]
)
def test_a_collection_in_between_makes_a_ledger_doubtful(collections, is_doubtful):
    table = mappings(PROGRAM, smaps_entry(HEAP, HEAP + ARENA, rss_kib=4096))
    row = memstats_row(HeapAlloc=MIB, HeapInuse=MIB, HeapSys=ARENA)

    ledger = reconcile_rss(classify_mappings(table, row), row, collections_between=collections)

    assert is_doubtful is ("doubtful" in confidence_of(ledger).values())
    assert is_doubtful is bool(ledger.next_file)


def test_a_part_whose_mappings_have_no_name_is_inferred_if_some_is_resident():
    """
    Zeroed data of the program has no name either, and follows its file.
    """
    table = mappings(
        PROGRAM,
        smaps_entry(0x500000, 0x600000, "rw-p", rss_kib=512),
        smaps_entry(0x7F0000000000, 0x7F0000300000, rss_kib=64),
    )

    known = confidence_of(reconcile_rss(classify_mappings(table)))

    assert ("counted", "inferred") == (known["binary"], known["anonymous_other"])


def test_the_runtimes_structures_have_their_claim_beside_them_less_work_buffers():
    """
    4 MiB of arenas and a HeapSys of 3: 1 MiB of the collector's 2 is in the arenas.
    """
    table = mappings(
        PROGRAM,
        smaps_entry(HEAP, HEAP + 4 * MIB, rss_kib=4096),
        smaps_entry(HEAP + 4 * MIB, HEAP + ARENA, "---p"),
    )
    row = memstats_row(HeapAlloc=MIB, HeapInuse=2 * MIB, HeapSys=3 * MIB, GCSys=2 * MIB)

    parts = reconcile_rss(classify_mappings(table, row), row).parts.set_index("part")

    assert [MIB, MIB, 0, MIB] == [
        parts.loc[part, "bytes"] for part in ("heap_objects", "heap_slack", "heap_idle", "stacks")
    ]
    assert (MIB, MIB) == (
        parts.loc["runtime_metadata", "claimed_bytes"], parts.loc["heap_unexplained", "bytes"],
    )  # fmt: skip
    assert (MIB, 0) == (
        parts.loc["stacks", "claimed_bytes"], parts.loc["heap_untouched", "bytes"],
    )  # fmt: skip
