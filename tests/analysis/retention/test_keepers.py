"""Who keeps the heap, held to what the programs were made to hold and to a plain search."""

import json
from collections import defaultdict
from functools import cache

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gomem.analysis.retention.keepers import NotWhole, retention_of
from gomem.analysis.retention.variables import WrongSymbols
from gomem.inputs.heapdump.table import read_heapdump
from gomem.inputs.schema import build_rows
from gomem.inputs.symbols.table import SYMBOLS, read_symbols
from tests import heap_dumps as made
from tests.heap_dumps import ARENA, DATA, FOLDER, RELEASES, TEXT, an_object, dump, path_of

HELD = json.loads((FOLDER / "held.json").read_text())
OVERHEAD = 0.12  # of what is held: size classes, keys, tables of maps, goroutines' structures
STACK = ARENA + 0x90000


@cache
def recorded(release, name="dump"):
    symbols = read_symbols(path_of(release, "nm.txt")).symbols
    return retention_of(made.recorded(release, name), symbols)


def kept(retention):
    keepers = retention.keepers
    return dict(
        zip(zip(keepers["kind"], keepers["name"], strict=True), keepers["bytes"], strict=True)
    )


def symbols_of(*rows):
    return build_rows(
        [(address, size, letter, name, None, None) for name, letter, address, size in rows],
        SYMBOLS,
    )


def kept_in(*records, symbols=None):
    return kept(retention_of(read_heapdump(dump(*records)), symbols))


@pytest.mark.parametrize("release", RELEASES)
def test_each_keeper_of_a_recorded_program_keeps_what_it_was_made_to_hold(release):
    """
    And hardly more. The goroutines' functions are named by their wrappers up to Go 1.21.
    """
    serve, report = ("main.main.func1", "main.main.func2")
    if release != "1.18.10":
        serve, report = ("main.serve", "main.report")
    named = {
        ("global", "main.cache"): "main.cache",
        ("global", "main.queue"): "main.queue",
        ("global", "main.visitors"): "main.visitors",
        ("global", "main.magic"): "main.magic",
        ("goroutine", serve): "main.serve",
        ("goroutine", report): "main.report",
        ("other", "timer main.expire.func1"): "timers",
        ("other", "main.registry and main.requests"): "shared",
        ("other", "finalizer main.open.func1 and main.opened"): "main.opened",
        ("finalizer", "main.open.func1"): "finalizer",
    }

    found = kept(recorded(release))

    for keeper, holds in named.items():
        assert HELD[holds] <= found[keeper] <= (1 + OVERHEAD) * HELD[holds], keeper


@pytest.mark.parametrize("release", RELEASES)
def test_what_is_kept_and_what_is_not_are_all_objects(release):
    retention = recorded(release)
    objects = retention.dump.objects

    assert retention.live_bytes == retention.keepers["bytes"].sum()
    assert retention.live_objects == retention.keepers["objects"].sum()
    assert int(objects["size"].sum()) == retention.live_bytes + retention.unreachable_bytes
    # Twenty buffers of 8 KiB were dropped right before the dump.
    assert 20 * 8192 <= retention.unreachable_bytes <= 25 * 8192


def without(retention, nodes):
    """The bytes that a plain search from all keepers but one no longer finds."""
    tree = retention.tree
    following = defaultdict(list)
    for source, target in zip(tree.source.tolist(), tree.target.tolist(), strict=True):
        following[source].append(target)
    gone = set(nodes)
    seen, left = {tree.graph.root}, [tree.graph.root]
    while left:
        for target in following[left.pop()]:
            if target not in seen and target not in gone:
                seen.add(target)
                left.append(target)
    objects = [node for node in seen if node < tree.graph.objects]
    return retention.live_bytes - int(tree.graph.size[objects].sum())


@pytest.mark.parametrize("release", RELEASES)
def test_a_keeper_keeps_what_a_search_without_it_no_longer_finds(release):
    retention = recorded(release)
    rows = retention.keepers[retention.keepers["node"] >= 0].head(12)

    for row in rows.itertuples():
        assert without(retention, [row.node]) == row.bytes, row.name


@st.composite
def heaps(draw):
    """A few objects that point at each other, and variables that point at some of them."""
    count = draw(st.integers(1, 12))
    row = st.integers(0, count - 1)
    pointers = [draw(st.lists(row, max_size=3)) for _ in range(count)]
    return pointers, draw(st.lists(row, min_size=1, max_size=4))


@settings(max_examples=60, deadline=None)
@given(heaps())
def test_retained_bytes_are_those_of_a_search_for_any_graph(heap):
    pointers, variables = heap
    address = [ARENA + 64 * row for row in range(len(pointers))]
    records = [
        an_object(
            address[row], [address[to] for to in into], at=range(0, 8 * len(into), 8), size=32
        )
        for row, into in enumerate(pointers)
    ]
    words = [address[row] for row in variables]
    data = made.segment(12, DATA, words, at=range(0, 8 * len(words), 8))

    retention = retention_of(read_heapdump(dump(*records, data)))

    for row in retention.keepers[retention.keepers["node"] >= 0].itertuples():
        assert without(retention, [row.node]) == row.bytes
    assert retention.live_bytes == retention.keepers["bytes"].sum()


OBJECTS = [an_object(ARENA + 256 * n, [0], size=256) for n in range(4)]


def test_a_structure_on_the_stack_that_is_passed_by_address_is_followed():
    """
    The callee's frame names only the address. What lies there up to the next variable counts; a
    word that nothing points at is left of an earlier call.
    """
    record = [
        *OBJECTS,
        made.goroutine(1),
        made.frame(STACK, [STACK + 32], "main.await", at=[0]),
        made.frame(STACK + 16, [ARENA + 768, 0, ARENA, ARENA + 256, ARENA + 512], "main.report",
                   at=[32], depth=1),
        made.segment(12, DATA, [0]),
    ]  # fmt: skip

    assert {("goroutine", "main.report"): 768} == kept_in(*record)


def test_what_the_linker_laid_out_belongs_to_the_variable_that_points_at_it():
    """
    It has no symbol; the symbol before it, whose size it lies behind, is not its own.
    """
    symbols = symbols_of(
        ("runtime.data", "D", DATA, 0),
        ("main.visitors", "D", DATA, 8),
        ("crypto/x509.systemRoots", "D", DATA + 16, 8),
    )
    words = [DATA + 40, 0, ARENA, 0, 0, 0, ARENA + 256]

    found = kept_in(*OBJECTS, made.segment(12, DATA, words, at=range(0, 56, 8)), symbols=symbols)

    assert {("global", "main.visitors"): 256, ("global", "crypto/x509.systemRoots"): 256} == found


def test_without_symbols_a_variable_is_its_address_and_segment():
    record = [*OBJECTS, made.segment(13, DATA, [ARENA, 0, ARENA + 256], at=[0, 16])]

    assert {("global", f"{DATA:#x} in bss"): 256, ("global", f"{DATA + 16:#x} in bss"): 256} == (
        kept_in(*record)
    )


def test_a_finalizer_keeps_what_its_object_refers_to_and_not_the_object():
    objects = [
        an_object(ARENA, [ARENA + 64], at=[0], size=64),
        an_object(ARENA + 64, [0], size=32),
        an_object(ARENA + 96, [TEXT], size=16),
    ]
    data = made.segment(12, DATA, [0])

    found = retention_of(read_heapdump(dump(*objects, made.finalizer(ARENA, ARENA + 96), data)))
    queued = made.finalizer(ARENA, ARENA + 96, queued=True)

    assert {("finalizer", f"{TEXT:#x}"): 48} == kept(found)
    assert 64 == found.unreachable_bytes
    assert {("finalizer", f"{TEXT:#x}"): 112} == kept_in(*objects, queued, data)


def test_goroutines_of_one_function_keep_together_what_none_keeps_alone():
    record = [
        *OBJECTS,
        *(
            part
            for n in range(3)
            for part in (
                made.goroutine(n + 1),
                made.frame(STACK + 64 * n, [ARENA], "main.work", at=[0]),
            )
        ),
        made.segment(12, DATA, [0]),
    ]
    retention = retention_of(read_heapdump(dump(*record)))

    assert [("goroutine", "main.work", 3, 256)] == [
        tuple(row) for row in retention.keepers[["kind", "name", "count", "bytes"]].to_numpy()
    ]


def test_a_slice_that_keeps_its_whole_array_is_said():
    retention = recorded("1.24.13")
    row = retention.arrays.iloc[0]

    assert (262144, "main.magic", 4096, True) == (
        row["bytes"], row["keeper"], row["lowest"], row["only_inside"],
    )  # fmt: skip
    assert not retention.arrays["only_inside"][1:].any()


def test_the_path_leads_to_where_it_fans_out():
    retention = recorded("1.24.13")
    paths = {name: retention.path(row) for row, name in enumerate(retention.keepers["name"])}

    assert "main.cache" == paths["main.cache"][0]
    assert paths["main.cache"][-1].startswith("800 objects: 400 of 48 B")
    assert ("main.queue", "chain of 1\u202f000, each an object of 128 B") == paths["main.queue"]
    assert ("main.report", "started by main.main", "frame of main.report") == (
        paths["main.report"][:3]
    )
    assert "function value main.expire.func1" == paths["timer main.expire.func1"][1]


def test_a_keeper_is_found_by_its_name_with_or_without_the_package():
    retention = recorded("1.24.13")

    assert [0] == retention.named("main.cache")
    assert retention.named("main.magic") == retention.named("magic") == [1]
    assert [] == retention.named("main.nothing")


def test_a_dump_that_is_cut_says_nothing_of_keepers():
    with pytest.raises(NotWhole, match="its roots come last"):
        retention_of(read_heapdump(dump(*OBJECTS, end=False)))


def test_symbols_of_another_program_are_refused():
    symbols = read_symbols(path_of("1.22.12", "nm.txt")).symbols

    with pytest.raises(WrongSymbols, match="wanted the symbols of the executable that wrote"):
        retention_of(made.recorded("1.24.13"), symbols)


def test_a_program_that_was_loaded_elsewhere_has_its_variables_there():
    """
    Position-independent: all addresses are as far from the symbols' as its functions are.
    """
    record = [
        *OBJECTS,
        made.goroutine(1),
        made.frame(STACK, [0], "main.main"),
        made.segment(12, DATA, [ARENA], at=[0]),
    ]
    linked = symbols_of(("main.main", "T", 0x1000, 64), ("main.x", "D", DATA - TEXT + 0x1000, 8))

    assert {("global", "main.x"): 256} == kept_in(*record, symbols=linked)


def laid_out(size):
    """A dump whose bss is 32 bytes further on than the symbols of another build say."""
    moved = DATA + 32
    record = [*OBJECTS, made.segment(13, moved, [ARENA, 0, ARENA + 256], at=[0, 16])]
    symbols = symbols_of(
        ("runtime.bss", "B", DATA, 0),
        ("main.cache", "B", DATA, 8),
        ("main.queue", "B", DATA + 16, 8),
        ("runtime.ebss", "B", DATA + size, 0),
    )
    return kept_in(*record, symbols=symbols)


def test_variables_of_a_build_with_other_linker_flags_are_laid_over_the_dumps():
    assert {("global", "main.cache"): 256, ("global", "main.queue"): 256} == laid_out(24)


def test_variables_of_a_segment_of_another_size_are_not_those_of_the_dump():
    words = (DATA + 32, DATA + 48)

    assert {("global", f"{word:#x} in bss"): 256 for word in words} == laid_out(40)


def test_who_allocated_is_said_by_keeper_and_the_truth_is_in_the_interval():
    retention = recorded("1.24.13")
    allocated = retention.allocated
    cells = {
        (retention.keepers["name"][row.keeper], row.function): (row.low, row.high)
        for row in allocated.itertuples()
    }
    by_fill, by_sprintf = cells["main.cache", "main.fill"], cells["main.cache", "fmt.Sprintf"]

    # main.fill allocates 400 values of 1 KiB and 400 entries of 48 B, and the map's tables grow
    # under it; Sprintf the 400 keys of 16 B.
    assert by_fill[0] <= 400 * (1024 + 48) <= by_fill[1]
    assert by_sprintf[0] <= 400 * 16 <= by_sprintf[1]
    assert {"main.readMagic"} == {site for keeper, site in cells if keeper == "main.magic"}
    assert (allocated["low"] <= allocated["high"]).all()


def test_where_every_allocation_was_sampled_the_numbers_are_exact():
    objects = [an_object(ARENA + 64 * n, [0], size=64) for n in range(9)]
    words = [ARENA + 64 * n for n in range(9)]
    records = [made.bucket(1, 64, "main.fill"), *(made.sample(word, 1) for word in words)]
    data = made.segment(12, DATA, words, at=range(0, 72, 8))

    retention = retention_of(
        read_heapdump(dump(*objects, data, *records)), symbols_of(("main.x", "D", DATA, 72))
    )

    assert [[0, "main.fill", 576.0, 576.0, 576.0]] == retention.allocated.to_numpy().tolist()


def test_a_heap_without_samples_has_no_sites():
    record = dump(*OBJECTS, made.segment(12, DATA, [ARENA], at=[0]))

    assert 0 == len(retention_of(read_heapdump(record)).allocated)


def test_a_keeper_is_no_larger_for_pointers_that_are_nil_or_lead_outside():
    record = [
        an_object(ARENA, [0, 0x1234, STACK], at=[0, 8, 16], size=32),
        made.segment(12, DATA, [ARENA, 0x10], at=[0, 8]),
    ]

    assert {("global", f"{DATA:#x} in data"): 32} == kept_in(*record)


def test_the_answer_shows_itself():
    retention = recorded("1.24.13")

    assert "live_bytes=1.69 MiB" in repr(retention)
    assert len(repr(retention)) <= 400
    assert "main.cache" in retention._repr_html_()
    assert isinstance(retention.keepers, pd.DataFrame)
    assert np.all(np.diff(retention.keepers["bytes"]) <= 0)
