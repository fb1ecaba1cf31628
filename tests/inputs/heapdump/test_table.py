"""A heap dump as frames."""

import pytest

import gomem
from gomem.errors import FormatError
from gomem.inputs.heapdump.table import read_heapdump
from tests import heap_dumps as made
from tests.heap_dumps import ARENA, RELEASES, an_object, dump, recorded


def test_a_pointer_into_an_object_is_of_that_object_and_says_how_far():
    read = read_heapdump(
        dump(
            an_object(ARENA + 64, [ARENA + 24, 0x1234], at=[0, 8]),
            an_object(ARENA, [1, 2, 3, 4]),
        )
    )

    pointers = read.pointers
    assert [0, 0] == pointers["object"].tolist()
    assert 1 == pointers["target"][0]
    assert 24 == pointers["inside"][0]
    assert pointers["target"].isna().tolist() == [False, True]
    assert pointers["inside"].isna().tolist() == [False, True]


def test_roots_say_where_they_lie():
    read = read_heapdump(
        dump(
            an_object(ARENA, [1]),
            made.goroutine(7),
            made.frame(ARENA + 0x9000, [ARENA, ARENA, 3], "main.work", at=[8]),
            made.segment(12, made.DATA, [0, ARENA], at=[0, 8]),
            made.segment(13, made.DATA + 64, [ARENA], at=[0]),
            made.finalizer(ARENA, 0x123),
        )
    )

    said = read.roots[["kind", "owner", "offset", "declared", "target"]].to_numpy().tolist()
    assert [
        ["data", 0, 8, True, 0],
        ["bss", 1, 0, True, 0],
        ["frame", 0, 8, True, 0],
        ["frame", 0, 0, False, 0],
        ["finalizer", 0, 0, True, 0],
    ] == said


def test_a_goroutine_is_named_by_what_it_began_with_past_the_compilers_wrapper():
    read = read_heapdump(
        dump(
            made.goroutine(7),
            made.frame(ARENA + 0x9000, [0], "runtime.gopark"),
            made.frame(ARENA + 0x9008, [0], "main.serve", depth=1),
            made.frame(ARENA + 0x9010, [0], "main.main.gowrap2", depth=2),
            made.frame(ARENA + 0x9018, [0], "runtime.goexit", depth=3),
        )
    )

    row = read.goroutines.iloc[0]
    assert ("main.serve", "waiting", "chan receive", 4) == (
        row["function"], row["status"], row["wait_reason"], row["frames"],
    )  # fmt: skip


@pytest.mark.parametrize(
    ("called", "began_with"),
    [
        ("runtime.chanrecv1", "main.main.gowrap2"),
        ("internal/sync.(*Mutex).lockSlow", "main.main.gowrap2"),
        ("sync.runtime_notifyListWait", "main.main.gowrap2"),
        ("example.com/pool.run[go.shape.int]", "main.main.gowrap2"),
        ("net/http.(*Server).Serve", "net/http.(*Server).Serve"),
        ("example.com/pool.Run[go.shape.struct { main.id int }]",
         "example.com/pool.Run[go.shape.struct { main.id int }]"),
        ("main.(*conn).serve", "main.(*conn).serve"),
    ],
)  # fmt: skip
def test_a_function_that_is_inlined_into_the_wrapper_is_not_mistaken_for_what_it_calls(
    called, began_with
):
    """
    `go serve(stop)`, with serve inlined, stands in what serve called: as a rule, the runtime's.
    """
    read = read_heapdump(
        dump(
            made.goroutine(7),
            made.frame(ARENA + 0x9000, [0], "runtime.gopark"),
            made.frame(ARENA + 0x9008, [0], called, depth=1),
            made.frame(ARENA + 0x9010, [0], "main.main.gowrap2", depth=2),
            made.frame(ARENA + 0x9018, [0], "runtime.goexit", depth=3),
        )
    )

    assert began_with == read.goroutines["function"][0]


def test_a_sample_is_of_its_object_and_bucket():
    read = read_heapdump(
        dump(
            an_object(ARENA, [1, 2]),
            made.bucket(0x99, 16, "runtime.mallocgc", "main.fill", "main.main"),
            made.sample(ARENA, 0x99),
            made.sample(ARENA + 0x5000, 0x98),
        )
    )

    assert "main.fill" == read.buckets["function"][0]
    assert 0 == read.samples["target"][0] == read.samples["bucket"][0]
    assert read.samples[["target", "bucket"]].iloc[1].isna().all()
    assert ["runtime.mallocgc", "main.fill", "main.main"] == read.calls["function"].tolist()


@pytest.mark.parametrize("release", RELEASES)
def test_recorded_goroutines_are_those_that_the_program_began(release):
    """
    Go 1.18 to 1.21 call a `go` statement's wrapper as they would a function of the program's.
    """
    functions = recorded(release).goroutines["function"].value_counts()
    serve, report = ("main.main.func1", "main.main.func2")
    if release != "1.18.10":
        serve, report = ("main.serve", "main.report")

    assert (12, 4, 1) == tuple(functions[[serve, report, "main.main"]])


def test_a_dump_without_a_record_has_every_frame_all_the_same():
    read = read_heapdump(dump())

    for name in ("objects", "pointers", "roots", "frames", "goroutines", "finalizers", "segments",
                 "stats", "buckets", "calls", "samples", "types", "damage"):  # fmt: skip
        frame = getattr(read, name)
        assert 0 == len(frame), name
        assert list(frame.columns) == gomem.columns(frame)["column"].tolist(), name


def test_another_file_is_named(tmp_path):
    file = tmp_path / "heap.dump"
    file.write_bytes(b"<!DOCTYPE html><html></html>")

    with pytest.raises(FormatError, match="HTML"):
        read_heapdump(file)


def test_reading_tells_how_far_it_is(tmp_path):
    file = tmp_path / "heap.dump"
    file.write_bytes(dump(an_object(ARENA, [1])))
    seen = []

    read_heapdump(file, progress=lambda done, total: seen.append((done, total)))

    assert (file.stat().st_size, file.stat().st_size) == seen[-1]
