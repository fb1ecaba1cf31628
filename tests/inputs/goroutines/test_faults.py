"""Crashes that are no lack of memory are named with the function at fault."""

import pytest

import gomem
from gomem.inputs.goroutines.crash import OUT_OF_MEMORY, crash_of
from gomem.inputs.goroutines.faults import BAD_LENGTH, MAP_RACE
from gomem.inputs.looks_like import looks_like
from gomem.text import Function, Text

BELOW = "main.(*cache).put(0xc000012000, {0x4c1f20, 0x3})\n\t/src/cache.go:31 +0x5c\n"
END = "created by main.main in goroutine 1\n\t/src/main.go:9 +0x4f\n"


def frame(name):
    return f"{name}(0x1, 0x2)\n\t/go/src/runtime/some.go:81 +0x2d\n"


def race(*above, kind="writes"):
    stack = "".join(map(frame, above))
    return f"fatal error: concurrent map {kind}\n\ngoroutine 9 [running]:\n{stack}{BELOW}{END}"


def panicked(message, *above):
    return f"panic: {message}\n\ngoroutine 1 [running]:\n{''.join(map(frame, above))}{BELOW}{END}"


@pytest.mark.parametrize("kind", ["writes", "read and map write", "iteration and map write"])
@pytest.mark.parametrize(
    "above",
    [
        (),
        ("runtime.throw", "runtime.mapassign_faststr"),
        ("runtime.throw", "runtime.mapaccess1"),
        ("runtime.fatal", "internal/runtime/maps.fatal", "internal/runtime/maps.(*Map).PutSlot"),
        ("runtime.throw", "hash_insert", "runtime.mapassign1"),
    ],
)
def test_a_race_on_a_map_is_named_first_with_its_function(tmp_path, kind, above):
    path = tmp_path / "crash.txt"
    path.write_text(race(*above, kind=kind))
    verdict = gomem.diagnose(path).verdict

    assert ["main.(*cache).put"] == [name.value for name in Text(verdict.sentence).of(Function)]
    assert "Two goroutines used one map" in verdict.sentence
    assert "not a memory problem" in verdict.sentence
    assert "go test -race ./..." in f"{verdict.next_step}"
    assert "pprof/heap" not in f"{verdict.next_step}"


def test_the_library_is_named_with_the_function_that_it_is_for():
    text = race("runtime.throw", "runtime.mapaccess1", "reflect.mapassign").encode()

    assert (MAP_RACE, ("reflect.mapassign", "main.(*cache).put")) == (
        crash_of(text).why,
        crash_of(text).callers,
    )


def test_a_log_that_has_the_newest_line_first_is_read_from_its_end():
    newest_first = "\n".join(reversed(race("runtime.throw").rstrip().split("\n")))

    assert ("main.(*cache).put",) == crash_of(newest_first.encode()).callers


@pytest.mark.parametrize(
    ("message", "above"),
    [
        ("runtime error: makeslice: len out of range", ("panic", "runtime.panicmakeslicelen")),
        ("runtime error: makeslice: cap out of range", ("runtime.makeslice",)),
        ("runtime error: growslice: len out of range [recovered]", ("panic", "runtime.growslice")),
        (
            "runtime error: makeslice: len out of range",
            ("main.f.func1", "panic", "runtime.goPanic"),
        ),
    ],
)
def test_a_length_out_of_range_is_one_that_was_computed_wrongly(tmp_path, message, above):
    path = tmp_path / "crash.txt"
    path.write_text(panicked(message, *above))
    verdict = gomem.diagnose(path).verdict

    assert ["main.(*cache).put"] == [name.value for name in Text(verdict.sentence).of(Function)]
    assert "a length was read from input or computed wrongly" in verdict.sentence
    assert "pprof/heap" not in f"{verdict.next_step}"


def test_a_buffer_that_is_too_large_and_a_panic_that_a_server_caught():
    buffer = panicked("bytes.Buffer: too large", "panic", "bytes.(*Buffer).grow").encode()
    served = b"http: panic serving 10.0.0.7:5123: runtime error: makeslice: len out of range\n"

    assert ("bytes.(*Buffer).grow", "main.(*cache).put") == crash_of(buffer).callers
    assert BAD_LENGTH == crash_of(served).why


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("fatal error: concurrent map writes\n", "Two goroutines used one map"),
        ("$ ./api\nfatal error: concurrent map writes\n", "Two goroutines used one map"),
        ("panic: runtime error: makeslice: len out of range\n", "a length was read"),
    ],
)
def test_without_a_stack_it_is_named_too(line, said):
    assert said in f"{looks_like(line.encode(), 'crash.txt').what}"


def test_a_stack_of_the_runtimes_set_up_is_a_crash_before_main():
    stack = "".join(frame(f"runtime.{name}") for name in ("throw", "x", "schedinit", "rt0_go"))
    seen = looks_like(f"runtime stack:\n{stack}".encode(), "crash.txt")

    assert "before main, in the runtime's set-up (runtime.schedinit)" in f"{seen.what}"


# Frames of Go up to 1.4


OLD = (
    "goroutine 16 [running]:\nruntime.throw(0x846c934)\n\t/go/src/pkg/runtime/panic.c:520 +0x71\n"
    "runtime.SysMap(0x0, 0x100000)\n\t/go/src/pkg/runtime/mem_linux.c:159 +0x13a\n"
    "MHeap_Grow(0x847d800, 0x10)\n\t/go/src/pkg/runtime/mheap.c:319 +0x57\n"
    "largealloc(0x0, 0x5cb16d90)\n\t/go/src/pkg/runtime/malloc.goc:224 +0x5\n"
    "runtime.mallocgc(0x100000, 0x1)\n\t/go/src/pkg/runtime/malloc.goc:169 +0x6\n"
    "growslice1(0x692900, 0x1)\n\t/go/src/pkg/runtime/slice.goc:125 +0x7\n"
    "runtime.growslice(0x692900, 0x1)\n\t/go/src/pkg/runtime/slice.goc:84 +0x8\n"
)


@pytest.mark.parametrize(
    ("below", "callers"), [(BELOW, ("main.(*cache).put",)), ("", ("runtime.growslice",))]
)
def test_c_functions_of_old_runtimes_are_not_the_programs(below, callers):
    text = f"fatal error: runtime: out of memory\n\n{OLD}{below}".encode()

    assert callers == crash_of(text).callers
    assert OUT_OF_MEMORY == crash_of(text).why


def test_c_functions_of_old_runtimes_are_not_where_a_goroutine_is():
    read = gomem.read_goroutines((OLD + BELOW).encode())

    assert ["main.(*cache).put"] == [*read.goroutines["function"]]


@pytest.mark.parametrize(
    ("old", "new", "is_full"), [("", "", True), ("0x5cb16d90", "0x7f15d5cb16d90", False)]
)
def test_no_pages_to_map_below_4_gib_is_a_full_address_space(old, new, is_full):
    head = "fatal error: runtime: cannot map pages in arena address space\n\n"
    crash = crash_of((head + OLD.replace(old, new) if old else head + OLD).encode())

    assert is_full == crash.fills_32_bits
