"""Which kind a mapping is: by name, by shape, and by what the runtime counts."""

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gomem.analysis.mappings import KINDS, classify_mappings, work_buffer_bytes
from gomem.read import read_memstats, read_smaps
from gomem.units import KIB, MIB
from tests.builders import MOMENTS, mappings, memstats_row, moment_id, smaps_entry

ARENA = 64 * MIB
PROGRAM = smaps_entry(0x400000, 0x500000, "r-xp", "/app/api", rss_kib=800)
DATA = smaps_entry(0x500000, 0x510000, "rw-p", "/app/api", rss_kib=60)
BSS = smaps_entry(0x510000, 0x550000, rss_kib=200)
HEAP = 0xC000000000


def kinds_of(*entries: str, memstats: pd.Series | None = None) -> list[str]:
    return list(classify_mappings(mappings(*entries), memstats).mappings["kind"])


@pytest.mark.parametrize(
    ("kind", "perms", "path"),
    [
        ("go-heap", "rw-p", "[anon: Go: heap]"),
        ("go-heap", "---p", "[anon: Go: heap reservation]"),
        ("go-runtime", "rw-p", "[anon: Go: page summary]"),
        ("native-heap", "rw-p", "[heap]"),
        ("native-heap", "rw-p", "[anon: glibc: malloc arena]"),
        ("thread-stack", "rw-p", "[stack]"),
        ("kernel", "r-xp", "[vdso]"),
        ("kernel", "r--p", "[vvar_vclock]"),
        ("library", "r-xp", "/usr/lib/x86_64-linux-gnu/libc.so.6"),
        ("library", "r--p", "/usr/lib/libm-2.31.so (deleted)"),
        ("mapped-file", "r--s", "/data/index.bin"),
        ("shared-memory", "rw-s", "/memfd:ring (deleted)"),
        ("shared-memory", "rw-s", "/dev/shm/ring"),
        ("shared-memory", "rw-s", ""),
        ("anonymous-other", "rw-p", "[anon: my allocator]"),
    ],
)
def test_a_name_decides(kind, perms, path):
    named = smaps_entry(0x7F0000000000, 0x7F0000010000, perms, path, rss_kib=4)

    assert kind == kinds_of(PROGRAM, named)[-1]


def test_the_program_is_its_file_and_the_zeroed_data_behind_it():
    assert ["binary", "binary", "binary"] == kinds_of(PROGRAM, DATA, BSS)


def test_an_arena_is_known_by_its_shape_at_any_base():
    """
    Go 1.26 and later choose a random base, with a reserved piece before the part in use.
    """
    base = 0x19B5B4000000
    entries = (
        smaps_entry(base, base + 48 * MIB, "---p"),
        smaps_entry(base + 48 * MIB, base + 136 * MIB, rss_kib=80_000),
        smaps_entry(base + 136 * MIB, base + 3 * ARENA, "---p"),
    )

    assert ["go-heap"] * 3 == kinds_of(PROGRAM, *entries)[1:]


def test_whole_arenas_split_by_advice_are_one_heap():
    """
    Go 1.11 to 1.16 map whole arenas; MADV_NOHUGEPAGE cuts them in steps of 2 MiB.
    """
    entries = (
        smaps_entry(HEAP, HEAP + 10 * MIB, rss_kib=9000),
        smaps_entry(HEAP + 10 * MIB, HEAP + 16 * MIB, rss_kib=100),
        smaps_entry(HEAP + 16 * MIB, HEAP + ARENA),
    )

    assert ["go-heap"] * 3 == kinds_of(PROGRAM, *entries)[1:]


def test_a_merged_bitmap_and_arena_is_cut_where_the_arena_begins():
    """
    Before Go 1.11 one mapping can hold both; its parts add up to the whole.
    """
    arena = 0xC420000000
    spans = smaps_entry(HEAP, HEAP + 0x15000, rss_kib=84)
    merged = smaps_entry(arena - 2 * MIB, arena + 80 * MIB, rss_kib=50 * 1024)

    frame = classify_mappings(mappings(PROGRAM, spans, merged)).mappings
    rows = frame[frame["start"] >= HEAP]

    assert ["go-runtime", "go-runtime", "go-heap"] == list(rows["kind"])
    assert [84 * KIB, 2 * MIB, 48 * MIB] == list(rows["Rss"])
    assert [2 * MIB, 80 * MIB] == list(rows["Size"])[1:]


def test_a_malloc_arena_is_not_a_go_arena():
    """
    glibc's are 64 MiB aligned too, but lie in the mmap area and grow by pages.
    """
    malloc = 0x7F8578000000
    entries = (
        smaps_entry(HEAP, HEAP + 4 * MIB, rss_kib=4000),
        smaps_entry(HEAP + 4 * MIB, HEAP + ARENA, "---p"),
        smaps_entry(malloc, malloc + 0x1EA000, rss_kib=1900),
        smaps_entry(malloc + 0x1EA000, malloc + ARENA, "---p"),
    )

    assert ["go-heap", "go-heap", "native-heap", "native-heap"] == kinds_of(PROGRAM, *entries)[1:]


def test_a_stack_above_a_guard_page_is_a_threads():
    guard = 0x7F1000000000
    entries = (
        smaps_entry(guard, guard + 4 * KIB, "---p"),
        smaps_entry(guard + 4 * KIB, guard + 8 * MIB + 4 * KIB, rss_kib=40),
    )

    assert ["thread-stack", "thread-stack"] == kinds_of(PROGRAM, *entries)[1:]


def test_what_the_runtime_does_not_count_is_not_the_runtimes():
    """
    MemStats counts 3 MiB of structures; of two mappings, 2 MiB and 40 MiB, the second is foreign.
    """
    heap = (
        smaps_entry(HEAP, HEAP + 4 * MIB, rss_kib=4000),
        smaps_entry(HEAP + 4 * MIB, HEAP + ARENA, "---p"),
    )
    own = smaps_entry(0x7F0000000000, 0x7F0000200000, rss_kib=2048)
    foreign = smaps_entry(0x7F1000000000, 0x7F1002800000, rss_kib=40 * 1024)
    memstats = memstats_row(HeapSys=4 * MIB, GCSys=2 * MIB, OtherSys=MIB)

    kinds = kinds_of(PROGRAM, *heap, own, foreign, memstats=memstats)

    assert ["go-runtime", "anonymous-other"] == kinds[-2:]


def test_a_process_without_a_go_heap_has_nothing_of_gos():
    other = smaps_entry(0x7F0000000000, 0x7F0000200000, rss_kib=2048)

    assert ["binary", "anonymous-other"] == kinds_of(PROGRAM, other)


def test_work_buffers_are_what_is_left_of_the_arenas():
    """
    4 MiB of arena = 3.5 MiB HeapSys + 480 KiB stacks + 32 KiB of work buffers.
    """
    frame = classify_mappings(
        mappings(
            smaps_entry(HEAP, HEAP + 4 * MIB), smaps_entry(HEAP + 4 * MIB, HEAP + ARENA, "---p")
        )
    ).mappings
    fits = memstats_row(HeapSys=3584 * KIB, StackInuse=480 * KIB, GCSys=MIB)
    too_large = memstats_row(HeapSys=5 * MIB, StackInuse=480 * KIB, GCSys=MIB)

    assert 32 * KIB == work_buffer_bytes(frame, fits)
    assert work_buffer_bytes(frame, too_large) is None


@pytest.mark.parametrize("with_memstats", [True, False], ids=["with MemStats", "smaps alone"])
@pytest.mark.parametrize("moment", MOMENTS, ids=moment_id)
def test_every_mapping_of_every_fixture_has_a_kind_and_the_arenas_fit(moment, with_memstats):
    """
    The programs map nothing of their own, so nothing may be left over.
    """
    memstats = read_memstats(moment / "memstats.json").stats.iloc[-1]
    table = read_smaps(moment / "smaps").mappings

    classified = classify_mappings(table, memstats if with_memstats else None)
    resident = classified.kinds().set_index("kind")["rss_bytes"]

    assert set(classified.mappings["kind"]) <= set(KINDS)
    assert int(table["Rss"].sum()) == int(resident.sum())
    assert 0 == resident.get("anonymous-other", 0)
    assert work_buffer_bytes(classified.mappings, memstats) is not None


@st.composite
def layouts(draw):
    """Any number of mappings that do not overlap, of any permission and size."""
    place, entries = 0x10000, []
    for _ in range(draw(st.integers(0, 8))):
        place += draw(st.sampled_from([0, 4 * KIB, MIB, 64 * MIB, 1 << 33, 1 << 45]))
        size = draw(st.sampled_from([4 * KIB, 132 * KIB, 4 * MIB, ARENA]))
        perms = draw(st.sampled_from(["rw-p", "---p", "r-xp", "rw-s"]))
        path = draw(st.sampled_from(["", "", "/app/api", "[heap]", "[anon: x]"]))
        rss = draw(st.integers(0, size // KIB))
        entries.append(smaps_entry(place, place + size, perms, path, rss_kib=rss))
        place += size
    return entries


@given(layouts())
def test_no_byte_is_lost_or_counted_twice(entries):
    table = mappings(PROGRAM, *entries)

    classified = classify_mappings(table).mappings

    assert set(classified["kind"]) <= set(KINDS)
    assert int(table["Rss"].sum()) == int(classified["Rss"].sum())
    assert int(table["Size"].sum()) == int(classified["Size"].sum())
