"""Each sample is counted where its stack first leaves the standard library."""

import pandas as pd

from gomem.analysis.profiles.own_code import Stacks, holders, own_code, recursing
from gomem.inputs.pprof.read import read_pprof
from tests.builders import FIXTURES
from tests.heap_profiles import heap, stack

SPIKE = FIXTURES / "captures/spiky-go1.27.3/settled/heap.pb.gz"


def test_what_the_library_allocates_is_its_callers_and_nothing_is_lost():
    """
    io.ReadAll has the bytes by pprof; main.unpack called it.
    """
    profile = read_pprof(SPIKE)

    rows = own_code(Stacks.of_profile(profile, "inuse_space")).set_index("function")["value"]

    flat = profile.top("inuse_space").set_index("function")["flat"]
    assert rows["main.unpack"] >= flat["io.ReadAll"]
    assert profile.total("inuse_space") == rows.sum()
    assert rows.is_monotonic_decreasing


def allocating(*names):
    """9000 bytes of one stack, the innermost function first."""
    return heap(stack(*range(1, len(names) + 1)), names=names)


def test_who_allocates_for_it_is_a_function_that_a_program_can_call():
    """
    internal/bytealg is the library's own; runtime.mapassign says that a map grows.
    """
    built = ("internal/bytealg.MakeNoZero", "strings.(*Builder).grow", "main.document")
    grown = ("internal/runtime/maps.newGroups", "runtime.mapassign_faststr", "main.index")
    kept = ("example.com/m/internal/tree.New", "main.main")

    for names in (built, grown):
        (row,) = holders(allocating(*names), sample_type="alloc_space").itertuples()
        assert (row.own_function, row.function) == (names[2], names[1])
    (row,) = holders(allocating(*kept), sample_type="alloc_space").itertuples()
    assert (row.own_function, row.function) == (kept[0], kept[0])


def called(profile, pattern):
    rows = own_code(Stacks.of_profile(profile, "alloc_space", pattern), pattern)
    return list(zip(rows["function"], rows["called"], rows["value"], strict=True))


def test_who_calls_is_the_nearest_own_function_outside_of_the_call():
    """
    What C calls back is inside of it, and cgo's stub is nobody's to mend.
    """
    profile = allocating(
        *("main.back", "runtime.cgocall", "main._Cfunc_keep", "main.look", "main.main")
    )

    assert [("main.look", "main._Cfunc_keep", 9000)] == called(profile, r"^runtime\.cgocall$")
    assert [] == called(profile, r"^runtime\.GC$")


def test_whoever_fetches_a_profile_calls_nothing():
    handler = "net/http/pprof.handler.ServeHTTP"

    assert [] == called(allocating("runtime.GC", handler, "main.middleware"), r"^runtime\.GC$")
    assert [("", "", 9000)] == called(allocating("runtime.GC", "net/http.serve"), r"^runtime\.GC$")


def dump(*stacks):
    counts = [count for count, _ in stacks]
    return pd.DataFrame({"goroutines": counts, "stack": [names for _, names in stacks]})


def test_stacks_in_text_say_who_calls_as_well():
    goroutines = dump(
        (3, "runtime.gopark;main.wait"),
        (2, "runtime.GC;runtime/debug.FreeOSMemory;main.free;main.main"),
        (1, "runtime.GC;net/http/pprof.Index;main.middleware"),
        (5, "main.GC;main.main"),
    )

    rows = own_code(Stacks.of_text(goroutines, r"^runtime\.GC$"), r"^runtime\.GC$")

    assert [("main.free", 2, "runtime/debug.FreeOSMemory")] == list(
        rows[["function", "value", "called"]].itertuples(index=False, name=None)
    )


def test_what_stands_in_one_stack_several_times_recurses():
    """
    By all frames of all goroutines: nine of white in one, four of black in each of three.
    """
    goroutines = dump(
        (1, ";".join(["main.white"] * 9 + ["main.main"])),
        (3, ";".join(["main.black", "main.step"] * 4 + ["main.main"])),
        (50, "main.step;main.main"),
    )

    rows = recursing(Stacks.of_text(goroutines))

    assert {"main.white": 9, "main.black": 4, "main.step": 4} == dict(
        zip(rows["function"], rows["value"], strict=True)
    )
    assert "main.main" not in set(rows["function"])
    assert recursing(Stacks.of_text(dump((1, "main.main")))).empty
