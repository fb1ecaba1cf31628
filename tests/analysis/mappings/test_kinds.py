"""Which kind a mapping is: by name, by shape, and by what the runtime counts."""

import random

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gomem.analysis.mappings.arenas import legacy_arena, work_buffer_bytes
from gomem.analysis.mappings.kinds import KINDS, classify_mappings
from gomem.analysis.mappings.rows import Cut, MappingRows, cut
from gomem.inputs.memstats.table import read_memstats
from gomem.inputs.smaps.table import read_smaps
from gomem.units import KIB, MIB
from tests.builders import FIXTURES, mappings, memstats_row, smaps_entry

ARENA = 64 * MIB
PROGRAM = smaps_entry(0x400000, 0x500000, "r-xp", "/app/api", rss_kib=800)
DATA = smaps_entry(0x500000, 0x510000, "rw-p", "/app/api", rss_kib=60)
BRK = smaps_entry(0xA00000, 0xA21000, "rw-p", "[heap]", rss_kib=16)
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
        ("mapped-file", "r--p", "/data/index.bin (deleted)"),
        ("shared-memory", "rw-p", "/anon_hugepage (deleted)"),
        ("shared-memory", "rw-s", "/SYSV00000000 (deleted)"),
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


def test_a_program_that_was_replaced_while_it_runs_is_still_the_program():
    text = smaps_entry(0x400000, 0x500000, "r-xp", "/app/api (deleted)", rss_kib=800)
    data = smaps_entry(0x500000, 0x510000, "rw-p", "/app/api (deleted)", rss_kib=60)

    assert ["binary", "binary", "binary"] == kinds_of(text, data, BSS)


def test_beside_the_runtimes_named_mappings_an_unnamed_one_is_foreign():
    """
    Where the kernel shows names, all of the runtime's have one (made up: the recording machine's
    kernel shows none).
    """
    named = (
        smaps_entry(HEAP, HEAP + 4 * MIB, path="[anon: Go: heap]", rss_kib=4000),
        smaps_entry(HEAP + 4 * MIB, HEAP + ARENA, "---p", "[anon: Go: heap reservation]"),
        smaps_entry(0x7F0000000000, 0x7F0000300000, path="[anon: Go: gc bits]", rss_kib=900),
        smaps_entry(0x7F2000000000, 0x7F2002000000, path="[anon: Go: heap index]", rss_kib=8),
    )
    foreign = smaps_entry(0x7F1000000000, 0x7F1000200000, rss_kib=2048)

    kinds = kinds_of(PROGRAM, *named[:3], foreign, named[3], memstats=COUNTS)

    assert ["go-heap", "go-heap", "go-runtime", "anonymous-other", "go-runtime"] == kinds[1:]


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

    assert ["thread-stack", "thread-stack"] == kinds_of(PROGRAM, BRK, *entries)[2:]


def test_without_a_c_library_nothing_above_a_guard_page_is_a_stack():
    """
    A static Go program's threads have their stacks in its heap.
    """
    guard = 0x7F1000000000
    entries = (
        smaps_entry(guard, guard + 4 * KIB, "---p"),
        smaps_entry(guard + 4 * KIB, guard + 40 * MIB, rss_kib=40 * 1024 - 4),
    )

    own = smaps_entry(0x7F0000000000, 0x7F0000300000, rss_kib=2048)

    kinds = kinds_of(PROGRAM, *HEAP_IN_USE, own, *entries, INDEX, memstats=COUNTS)

    assert ["go-runtime", "anonymous-other", "go-runtime"] == kinds[-3:]


# 3 MiB of the runtime's structures by its count, and the 32 MiB of the index that it counts not.
COUNTS = memstats_row(HeapSys=4 * MIB, GCSys=2 * MIB, OtherSys=MIB)
HEAP_IN_USE = (
    smaps_entry(HEAP, HEAP + 4 * MIB, rss_kib=4000),
    smaps_entry(HEAP + 4 * MIB, HEAP + ARENA, "---p"),
)
INDEX = smaps_entry(0x7F2000000000, 0x7F2002000000, rss_kib=8)


def test_mappings_beyond_what_the_runtime_counts_are_not_the_runtimes():
    """
    Of 3 and 40 MiB beside the index, 3 MiB are what MemStats counts; so the other is foreign.
    """
    own = smaps_entry(0x7F0000000000, 0x7F0000300000, rss_kib=2048)
    foreign = smaps_entry(0x7F1000000000, 0x7F1002800000, rss_kib=40 * 1024)

    kinds = kinds_of(PROGRAM, *HEAP_IN_USE, own, foreign, INDEX, memstats=COUNTS)

    assert ["go-runtime", "anonymous-other", "go-runtime"] == kinds[-3:]


def test_a_mapping_that_the_runtime_shares_is_cut_by_its_count():
    """
    43 MiB in one mapping beside the index: 3 are the runtime's, so 40 are foreign. Of the 41 MiB
    resident, 40 are taken to be the foreign ones.
    """
    merged = smaps_entry(0x7F0000000000, 0x7F0002B00000, rss_kib=41 * 1024)

    classified = classify_mappings(mappings(PROGRAM, *HEAP_IN_USE, merged, INDEX), COUNTS)
    cut = classified.mappings.iloc[-3:-1]

    assert ["anonymous-other", "go-runtime"] == list(cut["kind"])
    assert [40 * MIB, 3 * MIB] == list(cut["Size"])
    assert [40 * MIB, 1 * MIB] == list(cut["Rss"])
    assert "one mapping holds both Go runtime memory and other memory" in classified.notes[1]


def test_without_memstats_what_is_too_much_for_the_runtime_is_not_its_own():
    foreign = smaps_entry(0x7F1000000000, 0x7F1002800000, rss_kib=40 * 1024)

    kinds = kinds_of(PROGRAM, *HEAP_IN_USE, foreign, INDEX)

    assert ["anonymous-other", "go-runtime"] == kinds[-2:]


def test_counts_that_are_not_there_do_not_make_a_mapping_foreign():
    """
    As from an exporter that leaves fields out: a missing count is unknown, and not 0.
    """
    own = smaps_entry(0x7F0000000000, 0x7F0000300000, rss_kib=2048)
    partial = memstats_row(HeapSys=4 * MIB).copy()
    partial[["GCSys", "OtherSys", "HeapSys"]] = pd.NA

    kinds = kinds_of(PROGRAM, *HEAP_IN_USE, own, INDEX, memstats=partial)

    assert ["go-runtime", "go-runtime"] == kinds[-2:]


def test_a_mapping_joined_to_a_threads_stack_is_cut_off():
    """
    Three stacks of 8 MiB, the third with 32 MiB of the runtime's index behind it.
    """
    guard, stack = 4 * KIB, 8 * MIB
    place, entries = 0x7F1000000000, []
    for behind in (0, 0, 32 * MIB):
        top = place + guard + stack + behind
        entries += [
            smaps_entry(place, place + guard, "---p"),
            smaps_entry(place + guard, top, rss_kib=40 if not behind else 48),
        ]
        place = top

    table = mappings(PROGRAM, BRK, *HEAP_IN_USE, *entries)
    kinds = classify_mappings(table, COUNTS).kinds().set_index("kind")

    assert 3 * (guard + stack) == kinds.loc["thread-stack", "size_bytes"]
    assert 3 * 40 * KIB == kinds.loc["thread-stack", "rss_bytes"]
    assert [32 * MIB, 8 * KIB] == list(kinds.loc["go-runtime", ["size_bytes", "rss_bytes"]])


def test_an_arena_above_a_full_arena_is_not_cut_into_a_stack():
    """
    The reserved end of the full arena is as small as a guard page; the stacks have 8 MiB.
    """
    guard, stack, arena = 4 * KIB, 8 * MIB, 64 * MIB
    place, entries = 0x7F1000000000, []
    for used in (arena - 56 * KIB, 25 * MIB + 464 * KIB):
        entries += [
            smaps_entry(place, place + used, rss_kib=used // KIB),
            smaps_entry(place + used, place + arena, "---p"),
        ]
        place += arena
    for _ in range(2):
        entries += [
            smaps_entry(place, place + guard, "---p"),
            smaps_entry(place + guard, place + guard + stack, rss_kib=40),
        ]
        place += guard + stack

    table = mappings(PROGRAM, BRK, *HEAP_IN_USE, *entries)
    kinds = classify_mappings(table, COUNTS).kinds().set_index("kind")

    assert 2 * 40 * KIB == kinds.loc["thread-stack", "rss_bytes"]
    assert 2 * arena <= kinds.loc["native-heap", "size_bytes"]


def test_a_stack_of_an_odd_size_has_that_of_the_nearest_ones():
    """
    Two of 8 MiB, and further up two of 2 MiB, and one of those with 32 MiB behind it.
    """
    guard, entries = 4 * KIB, []
    for place, size in (
        (0x7F1000000000, 8 * MIB),
        (0x7F1010000000, 8 * MIB),
        (0x7F2000000000, 2 * MIB),
        (0x7F2010000000, 2 * MIB),
        (0x7F2020000000, 34 * MIB),
    ):
        entries += [
            smaps_entry(place, place + guard, "---p"),
            smaps_entry(place + guard, place + guard + size, rss_kib=40),
        ]

    table = mappings(PROGRAM, BRK, *HEAP_IN_USE, *entries)
    kinds = classify_mappings(table, COUNTS).kinds().set_index("kind")

    assert 5 * guard + 2 * 8 * MIB + 3 * 2 * MIB == kinds.loc["thread-stack", "size_bytes"]


def test_of_two_aligned_runs_the_one_that_memstats_counts_is_the_heap():
    """
    A program can map 64 MiB of its own at a low address; MemStats says 4 MiB.
    """
    foreign = smaps_entry(HEAP + (1 << 36), HEAP + (1 << 36) + ARENA, rss_kib=64 * 1024)

    kinds = kinds_of(PROGRAM, *HEAP_IN_USE, foreign, INDEX, memstats=memstats_row(HeapSys=4 * MIB))

    assert ["go-heap", "go-heap", "anonymous-other", "go-runtime"] == kinds[1:]


def test_a_heap_that_the_kernel_placed_is_known_by_what_memstats_counts():
    """
    Made up: where all addresses that the runtime asks for are taken, arenas lie among the mmaps.
    """
    place = 0x7F4000000000
    heap = (
        smaps_entry(place, place + 12 * MIB, rss_kib=9000),
        smaps_entry(place + 12 * MIB, place + ARENA, "---p"),
    )

    kinds = kinds_of(PROGRAM, *heap, memstats=memstats_row(HeapSys=12 * MIB))

    assert "go-heap" == kinds[1]


def test_arenas_of_a_32_bit_program_are_4_mib_and_lie_behind_the_program():
    heap = (
        smaps_entry(0xA000000, 0xA400000, rss_kib=400),
        smaps_entry(0xA400000, 0x2A400000, "---p"),
    )
    own = smaps_entry(0xF7BDF000, 0xF7D50000, rss_kib=200)
    program = smaps_entry(0x8048000, 0x81A6000, "r-xp", "/app/api", rss_kib=800)
    memstats = memstats_row(HeapSys=4 * MIB, GCSys=2 * MIB)

    assert ["go-heap", "go-heap", "go-runtime"] == kinds_of(program, *heap, own, memstats=memstats)[
        1:
    ]


def test_on_arm64_too_a_stack_above_a_guard_page_is_a_threads():
    """
    Its mmaps lie below 0xffff… where arm64's addresses end.
    """
    guard = 0xFFFF80000000
    entries = (
        smaps_entry(0xAAAAC0000000, 0xAAAAC0100000, "r-xp", "/app/api", rss_kib=800),
        smaps_entry(0xAAAAD0000000, 0xAAAAD0021000, "rw-p", "[heap]", rss_kib=8),
        smaps_entry(guard, guard + 4 * KIB, "---p"),
        smaps_entry(guard + 4 * KIB, guard + 8 * MIB + 4 * KIB, rss_kib=40),
    )

    assert ["thread-stack", "thread-stack"] == kinds_of(*entries)[2:]


def test_on_arm64_the_heap_lies_below_the_program_and_the_mmaps():
    """
    Made up after the runtime's malloc.go: the first hint is 0x4000000000, mmaps are at 0xffff…
    """
    program = smaps_entry(0xAAAAC0000000, 0xAAAAC0100000, "r-xp", "/app/api", rss_kib=800)
    heap = (
        smaps_entry(0x4000000000, 0x4000400000, rss_kib=400),
        smaps_entry(0x4000400000, 0x4004000000, "---p"),
    )
    own = smaps_entry(0xFFFF80000000, 0xFFFF80200000, rss_kib=200)
    stack = smaps_entry(0xFFFFFF000000, 0xFFFFFF021000, "rw-p", "[stack]", rss_kib=8)
    memstats = memstats_row(HeapSys=4 * MIB, GCSys=2 * MIB)

    kinds = kinds_of(heap[0], heap[1], program, own, stack, memstats=memstats)

    assert ["go-heap", "go-heap", "binary", "go-runtime", "thread-stack"] == kinds


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


@settings(max_examples=40)
@given(layouts(), st.sampled_from([None, COUNTS, memstats_row()]))
def test_no_byte_is_lost_or_counted_twice(entries, memstats):
    table = mappings(PROGRAM, *entries)

    classified = classify_mappings(table, memstats).mappings

    assert set(classified["kind"]) <= set(KINDS)
    assert int(table["Rss"].sum()) == int(classified["Rss"].sum())
    assert int(table["Size"].sum()) == int(classified["Size"].sum())


REAL = FIXTURES / "injected/cgo-go1.27.3/4-large"  # with most sorts of mappings


def entries_of(smaps: str) -> list[list[str]]:
    """The lines of each entry."""
    entries: list[list[str]] = []
    for line in smaps.splitlines():
        if not line.partition(":")[0].isalnum() or "-" in line.split()[0]:
            entries.append([])
        entries[-1].append(line)
    return entries


def resident_by_kind(entries: list[list[str]]) -> dict[str, int]:
    text = "".join(line + "\n" for entry in entries for line in entry)
    memstats = read_memstats(REAL / "memstats.json").stats.iloc[-1]
    kinds = classify_mappings(read_smaps(text.encode()).mappings, memstats).kinds()
    return dict(zip(kinds["kind"], kinds["rss_bytes"], strict=True))


ENTRIES = entries_of((REAL / "smaps").read_text())
BY_KIND = resident_by_kind(ENTRIES)


@settings(max_examples=10)
@given(st.integers())
def test_the_order_of_entries_and_of_their_fields_does_not_matter(seed):
    order = random.Random(seed)  # noqa: S311  no secret
    shuffled = [[entry[0], *order.sample(entry[1:], len(entry) - 1)] for entry in ENTRIES]
    order.shuffle(shuffled)

    assert BY_KIND == resident_by_kind(shuffled)


@settings(max_examples=10)
@given(st.sets(st.integers(0, len(ENTRIES) - 1)))
def test_fields_of_a_newer_kernel_do_not_matter(places):
    newer = [
        [*entry, "Zeroed:               4096 kB"] if number in places else entry
        for number, entry in enumerate(ENTRIES)
    ]

    assert BY_KIND == resident_by_kind(newer)


@settings(max_examples=10)
@given(st.sets(st.integers(0, len(ENTRIES) - 1), min_size=1, max_size=5))
def test_a_lost_header_changes_no_total(places):
    """
    What is resident behind it is nobody's then, and neither gone nor another mapping's.
    """
    cut = [entry[number in places :] for number, entry in enumerate(ENTRIES)]

    assert sum(BY_KIND.values()) == sum(resident_by_kind(cut).values())


def test_pages_of_64_kib_do_not_matter():
    large = [
        [line.replace("PageSize:        4", "PageSize:       64") for line in e] for e in ENTRIES
    ]

    assert any("PageSize:       64" in line for line in large[0])
    assert BY_KIND == resident_by_kind(large)


@settings(max_examples=20)
@given(st.data())
def test_however_mappings_are_cut_the_sizes_add_up(data):
    """
    Every counter of every mapping is in the two parts, and no part has more than its size.
    """
    whole = read_smaps(REAL / "smaps").mappings.sort_values("start", ignore_index=True)
    position = data.draw(st.sampled_from(list(whole.index[whole["Size"] > 8 * KIB])))
    pages = int(whole.loc[position, "Size"]) // (4 * KIB)
    at = int(whole.loc[position, "start"]) + 4 * KIB * data.draw(st.integers(1, pages - 1))
    resident = data.draw(st.none() | st.integers(0, 2 * pages).map(lambda n: 4 * KIB * n))

    parts = cut(whole, Cut(position, at, resident))
    halves = parts.loc[[position, position + 1]]

    for name in ("Size", "Rss", "Pss", "Private_Dirty", "Anonymous", "LazyFree", "Swap"):
        assert int(whole[name].sum()) == int(parts[name].sum())
        assert (halves[name] <= halves["Size"]).all()
    assert list(halves["Size"]) == list((halves["end"] - halves["start"]).astype("int64"))


@pytest.mark.parametrize("unknown", ["HeapSys", "StackInuse"])
def test_work_buffers_take_both_counts(unknown):
    """
    64 MiB of arenas, 60 and 3 of them counted: a MiB is the collector's.
    """
    frame = classify_mappings(mappings(PROGRAM, smaps_entry(HEAP, HEAP + ARENA))).mappings
    row = memstats_row(HeapSys=60 * MIB, StackInuse=3 * MIB, GCSys=2 * MIB)

    assert MIB == work_buffer_bytes(frame, row)
    row[unknown] = pd.NA
    assert work_buffer_bytes(frame, row) is None


@pytest.mark.parametrize(("gc_kib", "found"), [(1024, True), (1023, False)])
def test_work_buffers_are_part_of_what_the_collector_counts(gc_kib, found):
    frame = classify_mappings(mappings(PROGRAM, smaps_entry(HEAP, HEAP + ARENA))).mappings
    row = memstats_row(HeapSys=60 * MIB, StackInuse=3 * MIB, GCSys=gc_kib * KIB)

    assert found == (work_buffer_bytes(frame, row) is not None)


@pytest.mark.parametrize(
    ("heap", "buffers"), [(64 * MIB, 0), (64 * MIB - 8 * KIB, 8 * KIB), (64 * MIB - 4 * KIB, None),
                          (64 * MIB + 8 * KIB, None)]
)  # fmt: skip
def test_work_buffers_are_whole_pages_of_gos_and_not_below_nothing(heap, buffers):
    frame = classify_mappings(mappings(PROGRAM, smaps_entry(HEAP, HEAP + ARENA))).mappings

    assert buffers == work_buffer_bytes(frame, memstats_row(HeapSys=heap, GCSys=MIB))


def test_a_heap_of_20_gib_is_no_layout_of_before_go_1_11():
    """
    It begins where the old spans did and covers where the old arena began, in whole arenas.
    """
    assert ["go-heap"] == kinds_of(PROGRAM, smaps_entry(HEAP, HEAP + 320 * ARENA))[1:]


@pytest.mark.parametrize("arena", [0xC420000000, 0xC820000000])
def test_before_go_1_11_spans_and_bitmap_lie_below_the_arena(arena):
    spans = smaps_entry(HEAP, HEAP + 0x15000, rss_kib=84)
    bitmap = smaps_entry(arena - 2 * MIB, arena, rss_kib=64)
    heap = smaps_entry(arena, arena + 5 * MIB, rss_kib=100)

    assert ["go-runtime", "go-runtime", "go-heap"] == kinds_of(PROGRAM, spans, bitmap, heap)[1:]


@pytest.mark.parametrize(("size", "arena"), [(2 * MIB, None), (2 * MIB + 4096, 0xC420000000)])
def test_what_ends_where_an_arena_would_begin_is_none(size, arena):
    spans = smaps_entry(HEAP, HEAP + 0x15000, rss_kib=84)
    begin = 0xC420000000 - 2 * MIB

    rows = MappingRows.of(mappings(spans, smaps_entry(begin, begin + size, rss_kib=64)))

    assert arena == legacy_arena(rows)


STACK = 0x7F1000000000


@pytest.mark.parametrize(
    ("guard_kib", "size_kib", "kind"),
    [
        (4, 64, "thread-stack"),
        (4, 60, "anonymous-other"),
        (4, 64 * 1024, "thread-stack"),
        (4, 64 * 1024 + 4, "anonymous-other"),
        (64, 64, "thread-stack"),
        (68, 64, "anonymous-other"),
    ],
)
def test_the_sizes_of_guards_and_of_threads_stacks(guard_kib, size_kib, kind):
    guard = smaps_entry(STACK - guard_kib * KIB, STACK, "---p")
    stack = smaps_entry(STACK, STACK + size_kib * KIB, rss_kib=40)

    assert kind == kinds_of(PROGRAM, BRK, guard, stack)[-1]


def test_a_c_library_is_a_file_or_a_brk():
    """
    Either alone: the file where it is shared, the brk where it is linked in.
    """
    guard = smaps_entry(STACK - 4 * KIB, STACK, "---p")
    stack = smaps_entry(STACK, STACK + MIB, rss_kib=40)
    library = smaps_entry(0x7F8000000000, 0x7F8000000000 + MIB, "r-xp", "/lib/libc.so.6")

    assert "thread-stack" == kinds_of(PROGRAM, guard, stack, library)[2]
    assert "thread-stack" == kinds_of(PROGRAM, BRK, guard, stack)[-1]
    assert "anonymous-other" == kinds_of(PROGRAM, guard, stack)[-1]


OWN, FOREIGN = 0x7F0000000000, 0x7F1000000000


def beside_the_index(*entries: str, memstats: pd.Series | None = COUNTS) -> list[str]:
    """Kinds of mappings of which, without the index, 3 MiB are the runtime's."""
    return kinds_of(PROGRAM, *HEAP_IN_USE, *entries, INDEX, memstats=memstats)[3:-1]


@pytest.mark.parametrize(
    ("more_kib", "kinds"), [(256, ["go-runtime"]), (260, ["anonymous-other", "go-runtime"])]
)
def test_a_quarter_of_a_mebibyte_beyond_the_count_is_nobody_elses(more_kib, kinds):
    """
    Each mapping is rounded up to pages, and C's library has a few of its own.
    """
    own = smaps_entry(OWN, OWN + 3 * MIB + more_kib * KIB, rss_kib=3072)

    assert kinds == beside_the_index(own)


@pytest.mark.parametrize(
    ("more_kib", "kinds"),
    [
        (64, ["go-runtime", "anonymous-other"]),
        (68, ["anonymous-other", "anonymous-other", "go-runtime"]),
    ],
)
def test_sizes_fit_the_count_to_within_64_kib(more_kib, kinds):
    """
    Where they do, they are the runtime's, though denser than the rest; where none do, the densest
    are foreign first, and the one across the line is cut.
    """
    own = smaps_entry(OWN, OWN + 3 * MIB + more_kib * KIB, rss_kib=3072)
    foreign = smaps_entry(FOREIGN, FOREIGN + 40 * MIB, rss_kib=20 * 1024)

    assert kinds == beside_the_index(own, foreign)


@pytest.mark.parametrize(("start", "kind"), [(1 << 32, "go-heap"), ((1 << 32) - ARENA, None)])
def test_below_4_gib_a_64_bit_process_has_no_arenas(start, kind):
    stack = smaps_entry(0x7FFC00000000, 0x7FFC00021000, path="[stack]", rss_kib=12)

    found = kinds_of(PROGRAM, smaps_entry(start, start + ARENA, rss_kib=40), stack)

    assert (kind or "anonymous-other") == found[1]


def test_a_kind_is_the_sum_of_its_mappings():
    """
    Of two files, 4 + 2 KiB are shared by another process, 1 KiB is swapped out.
    """
    first, second = (
        smaps_entry(start, start + MIB, "r--s", "/data/a.db", rss_kib=8).replace(
            "Swap:", f"Shared_Clean: {clean} kB\nShared_Dirty: {dirty} kB\nSwap:"
        )
        for start, clean, dirty in ((OWN, 3, 1), (FOREIGN, 2, 0))
    )
    second = second.replace("Swap:                  0 kB", "Swap:                  1 kB")

    kinds = classify_mappings(mappings(first, second)).kinds().set_index("kind")

    row = kinds.loc["mapped-file"]
    assert (2, 2 * MIB, 16 * KIB) == (row["vmas"], row["size_bytes"], row["rss_bytes"])
    assert (16 * KIB, 6 * KIB, KIB) == (row["pss_bytes"], row["shared_bytes"], row["swap_bytes"])
    alone = classify_mappings(mappings(PROGRAM)).kinds().iloc[0]
    assert (1, 0) == (alone["vmas"], alone["swap_bytes"])
    assert pd.isna(alone["shared_bytes"])


def test_behind_what_is_foreign_as_a_whole_a_quarter_of_a_mebibyte_is_not_cut_off():
    """
    40 MiB are foreign; of the 128 KiB that are left nobody knows whose they are.
    """
    own = smaps_entry(OWN, OWN + 3 * MIB + 128 * KIB, rss_kib=100)
    foreign = smaps_entry(FOREIGN, FOREIGN + 40 * MIB, rss_kib=40 * 1024)

    assert ["go-runtime", "anonymous-other"] == beside_the_index(own, foreign)


@pytest.mark.parametrize(
    ("start", "end", "kind"),
    [
        pytest.param(0, 64, "go-heap", id="whole"),
        pytest.param(4, 64, "anonymous-other", id="not from its start"),
        pytest.param(0, 60, "anonymous-other", id="not to its end"),
    ],
)
def test_arenas_are_whole(start, end, kind):
    run = smaps_entry(HEAP + start * MIB, HEAP + end * MIB, rss_kib=40)
    stack = smaps_entry(0x7FFC00000000, 0x7FFC00021000, path="[stack]", rss_kib=12)

    assert kind == kinds_of(PROGRAM, run, stack)[1]


def test_behind_the_heap_smaps_can_be_cut():
    """
    A paste that ends with the part of the arena in use: its reserved rest is missing.
    """
    run = smaps_entry(HEAP, HEAP + 60 * MIB, rss_kib=40)

    assert "go-heap" == kinds_of(PROGRAM, run)[-1]


@pytest.mark.parametrize(("size_kib", "kind"), [(60, "go-runtime"), (64, "anonymous-other")])
def test_what_is_smaller_than_64_kib_is_a_piece_of_the_runtimes_tables(size_kib, kind):
    own = smaps_entry(OWN, OWN + 3 * MIB, rss_kib=100)
    small = smaps_entry(OWN + 8 * MIB, OWN + 8 * MIB + size_kib * KIB, rss_kib=size_kib)
    foreign = smaps_entry(FOREIGN, FOREIGN + 40 * MIB, rss_kib=40 * 1024)

    assert ["go-runtime", kind, "anonymous-other"] == beside_the_index(own, small, foreign)


@pytest.mark.parametrize(
    ("rss_kib", "flag", "kinds"),
    [
        (1532, "hg", ["go-runtime", "anonymous-other"]),
        (1532, "nh", ["go-runtime", "anonymous-other"]),
        (1536, "hg", ["anonymous-other", "go-runtime"]),
        (1532, "dd", ["anonymous-other", "go-runtime"]),
    ],
)
def test_a_table_with_advice_on_huge_pages_that_is_half_empty_is_the_runtimes(rss_kib, flag, kinds):
    """
    Two of 3 MiB, of which one is counted: else the one with less resident is the runtime's.
    """
    table = smaps_entry(OWN, OWN + 3 * MIB, rss_kib=rss_kib).replace("ac \n", f"ac {flag} \n")
    other = smaps_entry(FOREIGN, FOREIGN + 3 * MIB, rss_kib=400)

    assert kinds == beside_the_index(table, other)


@pytest.mark.parametrize(
    ("rss_kib", "kinds"),
    [(4096 + 256, ["go-runtime"]), (4096 + 260, ["anonymous-other", "go-runtime"])],
)
def test_more_resident_than_is_counted_is_foreign_wherever_the_index_lies(rss_kib, kinds):
    """
    Beyond 3 MiB that are counted, one, and a quarter: the index may be elsewhere.
    """
    mapping = smaps_entry(OWN, OWN + 20 * MIB, rss_kib=rss_kib)

    assert kinds == kinds_of(PROGRAM, *HEAP_IN_USE, mapping, memstats=COUNTS)[3:]


@pytest.mark.parametrize(("rss_kib", "kind"), [(8508, "go-runtime"), (8512, "anonymous-other")])
def test_without_memstats_8_mib_and_8_per_cent_of_the_arenas_can_be_the_runtimes(rss_kib, kind):
    """
    Of 4 MiB of arenas 0.32, and 8 KiB are the index's: 8511.68 KiB are left.
    """
    mapping = smaps_entry(OWN, OWN + 20 * MIB, rss_kib=rss_kib)

    assert [kind] == beside_the_index(mapping, memstats=None)


def test_without_memstats_every_run_of_whole_arenas_is_the_heaps():
    second = smaps_entry(HEAP + (1 << 36), HEAP + (1 << 36) + ARENA, rss_kib=64 * 1024)

    assert ["go-heap"] * 3 == kinds_of(PROGRAM, *HEAP_IN_USE, second)[1:]


def test_before_1_11_arenas_are_not_with_baseline_what_memstats_say():
    """
    Their one reservation is larger than what is in use of it.
    """
    legacy = (
        smaps_entry(HEAP, HEAP + 0x15000, rss_kib=84),
        smaps_entry(0xC420000000 - 2 * MIB, 0xC420000000 + 80 * MIB, rss_kib=50 * 1024),
    )

    def notes(*entries):
        row = memstats_row(HeapSys=90 * MIB)
        return " ".join(classify_mappings(mappings(PROGRAM, *entries), row).notes)

    assert "the arenas in smaps hold 4 MiB" in notes(*HEAP_IN_USE)
    assert "the arenas in smaps hold" not in notes(*legacy)
