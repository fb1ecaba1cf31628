"""The arguments of the runtime's frames say how much was asked for, and how large the heap was."""

import pytest

import gomem
from gomem.errors import CaptureError
from gomem.inputs.goroutines.crash import asked_words, crash_of
from gomem.inputs.goroutines.pages_asked import Asked, asked_by_frames
from gomem.inputs.looks_like import looks_like
from gomem.text import Bytes, Text
from gomem.units import GIB, KIB, MIB

THROW = (
    "fatal error: runtime: out of memory\n\nruntime stack:\nruntime.throw(0x8, 0x16)\n\t/x.go:1\n"
)
# By release: a large object, and one of a few bytes.
GO_1_27 = (
    "runtime.sysMapOS(0xc000800000, 0x80400000, {0x65, 0x4})\n\t/src/runtime/mem_linux.go:175\n"
    "runtime.(*mheap).grow(0x834260, 0x40002?)\n\t/src/runtime/mheap.go:1616 +0x265\n"
    "runtime.(*mheap).allocSpan(0x834260, 0x40002, 0x0, 0x1)\n\t/src/runtime/mheap.go:1299 +0x1\n"
    "runtime.(*mheap).alloc.func1()\n\t/src/runtime/mheap.go:1017 +0x5c\n"
)
GO_1_12 = (
    "runtime.sysMap(0xc0c0000000, 0x4000000, 0x16b3e18)\n\t/src/runtime/mem_linux.go:170 +0xc7\n"
    "runtime.(*mheap).sysAlloc(0x169b820, 0x4000, 0x169b830, 0x2)\n\t/src/runtime/malloc.go:633\n"
    "runtime.(*mheap).grow(0x169b820, 0x2, 0x0)\n\t/src/runtime/mheap.go:1222 +0x42\n"
    "runtime.(*mheap).alloc_m(0x169b820, 0x2, 0x4b)\n\t/src/runtime/mheap.go:977 +0xc2\n"
)
GO_1_8 = (
    "runtime.sysMap(0xc460000000, 0x100000, 0xc485f9c000, 0xefb058)\n\t/src/runtime/mem.go:219\n"
    "runtime.(*mheap).sysAlloc(0xee1b00, 0x100000, 0x12500)\n\t/src/runtime/malloc.go:407 +0x37a\n"
    "runtime.(*mheap).grow(0xee1b00, 0x8, 0x0)\n\t/src/runtime/mheap.go:726 +0x62\n"
)
GO_1_4 = (
    "runtime.SysMap(0xc248000000, 0x50000000, 0x427f00, 0x93bf58)\n\t/src/runtime/mem_linux.c:147\n"
    "runtime.MHeap_SysAlloc(0x947f40, 0x50000000)\n\t/src/runtime/malloc.goc:616 +0x15b\n"
    "MHeap_Grow(0x947f40, 0x28000)\n\t/src/runtime/mheap.c:319 +0x5d\n"
)
ON_ARM64 = GO_1_12.replace("0xc0c0000000", "0x40c0000000")


@pytest.mark.parametrize(
    ("frames", "asked"),
    [
        pytest.param(GO_1_27, Asked(2 * GIB + 16 * KIB, True, heap_bytes=8 * MIB), id="1.27"),
        pytest.param(GO_1_12, Asked(16 * KIB, is_small=True, heap_bytes=3 * GIB), id="1.12"),
        pytest.param(GO_1_8, Asked(64 * KIB, is_small=True, heap_bytes=1 * GIB), id="1.8"),
        pytest.param(GO_1_4, Asked(1280 * MIB, True, heap_bytes=1 * GIB), id="1.4"),
        pytest.param(ON_ARM64, Asked(16 * KIB, is_small=True, heap_bytes=3 * GIB), id="arm64"),
        pytest.param(
            "runtime.sysMap(0xc010000000, 0x20000000, 0x1)\n",
            Asked(512 * MIB, heap_bytes=256 * MIB),
            id="many arenas mapped",
        ),
        pytest.param(
            "runtime.sysMap(0xc010000000, 0x4000000, 0x1)\n",
            Asked(heap_bytes=256 * MIB),
            id="an arena says nothing about the request",
        ),
        pytest.param(
            "runtime.sysMap(0x7f3510000000, 0x20000000, 0x1)\n", Asked(), id="beside the heap"
        ),
        pytest.param(
            "runtime.sysMap(0xc0c0000000, 0x20000000, 0x1)\n\t/go1.26.1/src/runtime/mem.go:1\n",
            Asked(),
            id="at a random address",
        ),
        pytest.param(
            "runtime.sysMap(0xc900000000, 0x100000, 0x1, 0x2)\n",
            Asked(),
            id="of one of two older releases",
        ),
        pytest.param(
            "runtime.(*mheap).allocManual(0x1, 0x4000, 0x1)\n", Asked(128 * MIB), id="a stack"
        ),
        pytest.param(
            "runtime.(*mcache).refill(0x35, 0x2c, 0x33)\n\tC:/go/src/runtime/mcache.go:125 +0xee\n"
            "runtime.systemstack(0x12)\n\tC:/go/src/runtime/asm_386.s:393 +0x5e\n",
            Asked(is_small=True, is_32_bit=True),
            id="32 bits",
        ),
        pytest.param(
            GO_1_12.replace("0xc0c0000000", "0xc000000000"),
            Asked(64 * MIB, is_first=True),
            id="the first arena",
        ),
        pytest.param(
            GO_1_12.replace("0xc0c0000000", "0x2d6b3e18"),
            Asked(16 * KIB, is_small=True, heap_bytes=704 * MIB, is_32_bit=True),
            id="by the program's end, on 32 bits",
        ),
        pytest.param("main.main()\n\t/src/main.go:9\n", Asked(), id="nothing"),
    ],
)
def test_what_frames_show(frames, asked):
    assert asked == asked_by_frames(frames.encode())


def test_a_large_object_is_named_with_the_heap():
    words = asked_words(crash_of((THROW + GO_1_27).encode()))

    assert [2 * GIB + 16 * KIB, 8 * MIB] == [size.value for size in words.of(Bytes)]
    assert "one object" in words


def test_a_large_object_is_to_be_limited():
    assert "length" in str(looks_like((THROW + GO_1_27).encode(), "").way_out)


def test_a_full_heap_is_to_be_captured():
    seen = looks_like((THROW + GO_1_12).encode(), "")

    assert "only 16 KiB" in seen.what
    assert "length" not in str(seen.way_out)


def test_a_program_that_gets_no_first_arena_has_a_limit(tmp_path):
    path = tmp_path / "crash.txt"
    path.write_text(
        "It dies at once:\n\n" + THROW + GO_1_12.replace("0xc0c0000000", "0xc000000000")
    )
    with pytest.raises(CaptureError) as refused:
        gomem.diagnose(path)

    assert "64 MiB; it was refused its first pages, before main" in str(refused.value)
    assert "ulimit -v" in str(refused.value)
    assert "nothing" not in str(refused.value)


def test_a_32_bit_program_is_to_be_built_for_64():
    stack = "runtime.systemstack(0x12)\n\tC:/go/src/runtime/asm_386.s:393 +0x5e\n"
    seen = looks_like((THROW + stack).encode(), "")

    assert "32-bit" in seen.what
    assert "GOARCH" in str(seen.way_out)


@pytest.mark.parametrize("why", ["runtime: out of memory", "all goroutines are asleep - deadlock!"])
def test_a_process_that_has_ended_is_asked_nothing(tmp_path, why):
    path = tmp_path / "crash.txt"
    path.write_text(
        f"fatal error: {why}\n\ngoroutine 1 [running]:\nmain.main()\n\t/src/main.go:9 +0x1d\n"
    )
    diagnosis = gomem.diagnose(path)
    steps = [diagnosis.verdict.next_step, *(found.next_step for found in diagnosis.findings)]

    assert not any("curl" in Text(step) for step in steps)
