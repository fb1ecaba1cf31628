"""Why a program crashed is read before its goroutines, however it was pasted."""

import pytest

import gomem
from gomem.errors import CaptureError
from gomem.inputs.goroutines.crash import (
    ALLOCATING,
    DEADLOCK,
    OUT_OF_MEMORY,
    Crash,
    asked_words,
    crash_of,
)
from gomem.inputs.goroutines.parse import HEADLESS
from gomem.inputs.looks_like import looks_like
from gomem.text import Bytes, Function, Text
from gomem.units import GIB, MIB
from tests.builders import FIXTURES

STACK = """
runtime stack:
runtime.throw(0x6b1f2a, 0x16)
\t/go/src/runtime/panic.go:1112 +0x72
runtime.sysMap(0xc024000000, 0x4000000, 0xa23c98)
\t/go/src/runtime/mem_linux.go:169 +0xc5
runtime.largeAlloc(0x3000000, 0x1, 0xedc370)
\t/go/src/runtime/malloc.go:1152 +0x92
"""
HEAD = "fatal error: runtime: out of memory\n"
MAIN = (
    "\ngoroutine 1 [running]:\nmain.fill(0x3000000)\n\t/src/main.go:7 +0x92\n"
    "main.main()\n\t/src/main.go:9 +0x1d\n"
)
OF_RUNTIME = (
    "\ngoroutine 1 [running]:\nruntime.systemstack_switch()\n\t/go/src/runtime/asm.s:1 +0x1\n"
)
DEAD = (
    "fatal error: all goroutines are asleep - deadlock!\n\n"
    "goroutine 1 [chan receive]:\nmain.main()\n\t/src/main.go:9 +0x1d\n"
)

LARGE = Crash(OUT_OF_MEMORY, 48 * MIB, is_one_object=True, heap_bytes=576 * MIB)


@pytest.mark.parametrize(
    ("text", "crash"),
    [
        pytest.param(HEAD + STACK, LARGE, id="largeAlloc"),
        pytest.param(f"`{HEAD}{STACK}", LARGE, id="in a backtick"),
        pytest.param(f"$ {HEAD}{STACK}", LARGE, id="behind a prompt"),
        pytest.param(STACK, LARGE, id="without its first line"),
        pytest.param(HEAD, Crash(OUT_OF_MEMORY), id="its first line alone"),
        pytest.param(
            "runtime: out of memory: cannot allocate 4194304-byte block (66912256 in use)\n",
            Crash(OUT_OF_MEMORY, 4194304, 66912256, is_small=True),
            id="in words",
        ),
        pytest.param(
            f"{HEAD}runtime.(*mcache).allocLarge(0x7f12, 0x200000, 0x1)\n",
            Crash(OUT_OF_MEMORY, 2 * MIB, is_one_object=True),
            id="since Go 1.16",
        ),
        pytest.param(DEAD, Crash(DEADLOCK), id="a deadlock"),
        pytest.param("panic: boom\n", None, id="a panic"),
        pytest.param("runtime.throw(0x1)\n\t/x.go:1\nmain.f(0x1)\n", None, id="another throw"),
    ],
)
def test_why_it_crashed(text, crash):
    assert crash == crash_of(text.encode())


@pytest.mark.parametrize("goroutine", [MAIN, OF_RUNTIME], ids=["main", "in the runtime"])
@pytest.mark.parametrize("head", [HEAD, f"$ {HEAD}", ""], ids=["whole", "prompt", "cut"])
def test_out_of_memory_is_said_first_with_the_size(tmp_path, head, goroutine):
    path = tmp_path / "crash.txt"
    path.write_text(f"{head}{STACK}{goroutine}")
    headline = gomem.diagnose(path).verdict.sentence

    assert headline.startswith("The program ran out of memory")
    assert [48 * MIB, 576 * MIB] == [size.value for size in Text(headline).of(Bytes)]


def test_a_declared_deadlock_is_said(tmp_path):
    path = tmp_path / "crash.txt"
    path.write_text(DEAD)

    assert "deadlock" in gomem.diagnose(path).verdict.sentence


@pytest.mark.parametrize("before", ["`", "$ ", "> "])
def test_without_goroutines_it_is_named(before):
    seen = looks_like(f"{before}{HEAD}{STACK}".encode(), "")

    assert "ran out of memory" in seen.what
    assert "48 MiB" in seen.what


BEHIND = (
    "net/http.(*conn).serve(0x21f80c0)\n\t/go/server.go:1817 +0x644\n"
    "created by net/http.(*Server).Serve\n\t/go/server.go:2927 +0x2f0\n"
)


def test_a_paste_that_begins_within_a_goroutine_is_damaged():
    read = gomem.read_goroutines((BEHIND + MAIN).encode())

    assert [HEADLESS] == [fault.what for fault in read.damaged]
    assert 1 == len(read.goroutines)


@pytest.mark.parametrize("head", [HEAD + STACK, "panic: boom\n\n", "Here it is:\n\n"])
def test_what_stands_before_a_whole_dump_is_no_damage(head):
    assert () == gomem.read_goroutines((head + MAIN).encode()).damaged


def test_addresses_of_32_bits_run_out_as_memory_does():
    text = (
        "fatal error: runtime: cannot map pages in arena address space\n\n"
        "goroutine 16 [running]:\nruntime.throw(0x5e9723)\n\tc:/go/panic.c:520 +0x71\n"
        "runtime.mallocgc(0x9e00000, 0x1)\n\tc:/go/malloc.goc:1 +0x1\n"
    )

    assert Crash(OUT_OF_MEMORY, 158 * MIB, is_one_object=True) == crash_of(text.encode())


def test_a_line_of_the_runtimes_within_a_session_is_named():
    line = b"runtime: out of memory: cannot allocate 310378496-byte block (3610640384 in use)"

    seen = looks_like(b"$ ./api prune\nload all snapshots\n" + line + b"\n", "")

    assert seen.is_evidence
    assert (
        f"asking for one object of {Bytes(310378496)} with {Bytes(3610640384)} in use" in seen.what
    )


def test_stacks_without_their_first_line_are_named_with_what_was_asked_for():
    """
    As Windows has it, which commits memory as the runtime hands it out.
    """
    stack = (
        b"runtime stack:\nruntime.throw({0x12c5ba0?, 0xcf5f05a000?})\n\t/go/panic.go:1067 +0x4d\n"
        b"runtime.sysUsedOS(0xcf5f028000, 0x220000)\n\t/go/mem_windows.go:83 +0x1bb\n"
    )
    seen = looks_like(stack, "issue.md")

    assert seen.is_evidence
    assert "ran out of memory" in seen.what
    assert [0x220000] == [size.value for size in Text(seen.what).of(Bytes)]


def test_a_compiler_that_ran_out_of_memory_is_said_to_be_one(tmp_path):
    stack = (
        "go version 1.17\n\n# example.com/api/encoder\nfatal error: runtime: out of memory\n\n"
        "goroutine 1 [running]:\nmain.compile(0x1)\n\t/src/main.go:7 +0x8f\n"
    )
    (tmp_path / "build.txt").write_text(stack)

    verdict = gomem.diagnose(tmp_path / "build.txt").verdict

    assert "The Go compiler ran out of memory while it built example.com/api/encoder" in (
        verdict.headline
    )
    assert "go build -p 1" in verdict.next_step


HUGE = FIXTURES / "pasted/goroutines"


@pytest.mark.parametrize("release", ["1.20.14", "1.27.3"])
@pytest.mark.parametrize("first", [0, 2], ids=["whole", "without its head"])
def test_a_single_huge_object_is_named_with_the_function_that_asks(tmp_path, release, first):
    lines = (HUGE / f"go{release}-huge.txt").read_text().splitlines(keepends=True)
    path = tmp_path / "crash.txt"
    path.write_text("".join(lines[first:]))

    said = gomem.diagnose(path).verdict

    assert 16 * GIB == said.sentence.of(Bytes)[0].value
    assert "main.decode" == said.sentence.of(Function)[0]
    assert "length" in said.next_step
    assert "/debug/pprof" not in said.next_step


def test_an_object_that_is_small_beside_the_heap_is_not_called_the_cause(tmp_path):
    path = tmp_path / "crash.txt"
    block = "runtime: out of memory: cannot allocate {}-byte block ({} in use)\n"
    path.write_text(block.format(128 << 20, 60 << 30) + HEAD + STACK + MAIN)

    assert "length" not in gomem.diagnose(path).verdict.next_step


def test_a_stack_that_waits_for_a_large_object_says_so_without_any_head():
    text = (
        "goroutine 7 gp=0xc0 m=1 mp=0xc1 [running]:\nruntime.systemstack_switch()\n\t/a.s:1 +0x8\n"
        "runtime.(*mheap).alloc(0x1000?, 0x8?, 0x0?)\n\t/m.go:2 +0x5\n"
        "runtime.(*mcache).allocLarge(0x0?, 0x3000000, 0x0?)\n\t/m.go:3 +0x8\n"
        "runtime.mallocgc(0x3000000, 0x5ca, 0x1)\n\t/m.go:4 +0x5\n"
        "bytes.growSlice({0xc0, 0x1, 0x2}, 0x3)\n\t/b.go:5 +0x5\n"
        "example.com/api.(*Page).read(0xc0)\n\t/p.go:6 +0x1\n"
    )

    crash = crash_of(text.encode())

    assert ALLOCATING == crash.why
    assert 48 * MIB == crash.asked_bytes
    assert ("bytes.growSlice", "example.com/api.(*Page).read") == crash.callers
    assert ["bytes.growSlice", "example.com/api.(*Page).read"] == list(
        asked_words(crash).of(Function)
    )


@pytest.mark.parametrize(
    ("block", "beside", "is_32_bit", "fills"),
    [
        ((512 << 20, 3200 << 20), "GOARCH=386", True, True),
        ((512 << 20, 3200 << 20), "main.f(0x8c1a2b30)", True, True),
        ((512 << 20, 3200 << 20), "main.f(0xc0001a2b30, 0x8c1a2b30)", False, False),
        ((512 << 20, 3200 << 20), "", None, True),
        ((2 << 30, 1200 << 20), "", None, False),
        ((512 << 20, 1 << 30), "GOARCH=386", True, False),
        ((512 << 20, 5 << 30), "", None, False),
    ],
    ids=[
        "by name",
        "by addresses",
        "long addresses",
        "unknown",
        "one object is most",
        "far below",
        "more than 32 bits reach",
    ],
)
def test_a_crash_near_4_gib_of_a_32_bit_program_has_a_full_address_space(
    tmp_path, block, beside, is_32_bit, fills
):
    size, in_use = block
    text = (
        f"runtime: out of memory: cannot allocate {size}-byte block ({in_use} in use)\n"
        f"fatal error: out of memory\n{beside}\n"
    )

    crash = crash_of(text.encode())

    assert (is_32_bit, fills) == (crash.is_32_bit, crash.fills_32_bits)
    (tmp_path / "crash.txt").write_text(text)
    with pytest.raises(CaptureError) as refused:
        gomem.diagnose(tmp_path / "crash.txt")
    said = str(refused.value)
    assert fills == ("build it for 64 bits" in said)
    assert (fills and is_32_bit is None) == ("if it is a 32-bit program" in said)
    assert fills != ("find where the length" in said)


@pytest.mark.parametrize("size", [8192, 65536, 131072, 4 * MIB])
@pytest.mark.parametrize("before", ["", "> ", "$ ", "    "])
def test_the_least_that_the_heap_grows_by_is_no_objects_length(size, before):
    """
    Each release rounds what the heap grows by up to its own number of pages (mheap.grow).
    """
    line = f"{before}runtime: out of memory: cannot allocate {size}-byte block (901775360 in use)\n"

    seen = looks_like(f"{line}{before}fatal error: out of memory\n".encode(), "")

    assert "one object" not in seen.what
    assert "the least that the heap grows by" in seen.what
    assert "length" not in f"{seen.way_out}"


def test_an_object_in_the_frames_counts_rather_than_the_growth_of_the_heap():
    line = f"runtime: out of memory: cannot allocate {4 * MIB}-byte block (901775360 in use)\n"

    crash = crash_of((line + HEAD + STACK).encode())

    assert (48 * MIB, True) == (crash.asked_bytes, crash.is_one_object)


@pytest.mark.parametrize(
    ("address", "is_32_bit"),
    [("0x6b2f0000", True), ("2083520512", True), ("0x7f21a03c4000", False)],
)
def test_an_address_that_a_32_bit_heap_cannot_use_shows_a_full_address_space(address, is_32_bit):
    text = (
        f"runtime: memory allocated by OS ({address}) not in usable range [0x95810000,0x15810000)\n"
        "runtime: out of memory: cannot allocate 262144-byte block (603979776 in use)\n"
        "fatal error: out of memory\n"
    )
    seen = looks_like(text.encode(), "")

    assert is_32_bit == crash_of(text.encode()).is_out_of_addresses
    assert is_32_bit == ("no addresses left for its heap" in seen.what)
    assert is_32_bit == ("build it for 64 bits" in f"{seen.way_out}")


NO_THREAD = (
    b"runtime: failed to create new OS thread (have %d already; errno=%d)\n"
    b"runtime: may need to increase max user processes (ulimit -u)\nfatal error: newosproc\n\n"
    b"runtime stack:\nruntime.throw(0x18, 0x9)\n\t/go/src/runtime/panic.go:605 +0x95\n"
)


@pytest.mark.parametrize(
    ("errno", "said"), [(11, "EAGAIN"), (12, "ENOMEM"), (22, "EINVAL"), (7, "errno 7")]
)
def test_a_thread_that_the_kernel_refused_is_no_lack_of_memory(errno, said):
    text = NO_THREAD % (5, errno)
    crash = crash_of(text)
    seen = looks_like(text, "crash.txt")

    assert ("no thread", 5, errno) == (crash.why, crash.threads, crash.errno)
    assert f"it had 5 ({said}" in f"{seen.what}"
    assert "pids.max" in f"{seen.way_out}"
    assert "gomem capture" not in f"{seen.way_out}"


AT_START = (
    b"fatal error: runtime: cannot allocate memory\n\nruntime stack:\nruntime.throw(0x68, 0x1f)\n"
    b"\t/go/src/runtime/panic.go:1117 +0x5c\nruntime.persistentalloc1(0x80, 0x4, 0xad, 0x0)\n"
    b"\t/go/src/runtime/malloc.go:1360 +0x2a8\nruntime.%b(0xac, 0xad)\n"
    b"\t/go/src/runtime/mranges.go:1 +0x3\n"
)


@pytest.mark.parametrize(
    ("function", "is_at_start"),
    [(b"(*addrRanges).init", True), (b"schedinit", True), (b"(*mheap).grow", False)],
)
def test_a_program_that_got_no_page_before_main_is_at_a_limit(function, is_at_start):
    text = AT_START % function
    seen = looks_like(text, "crash.txt")

    assert is_at_start == crash_of(text).is_at_start == ("before main" in f"{seen.what}")
    assert is_at_start == ("ulimit -v" in f"{seen.way_out}")
    for margin in (b"> ", b"    "):
        assert seen == looks_like(margin + text.replace(b"\n", b"\n" + margin), "crash.txt")
    below = AT_START % b"(*mheap).grow" + b"\ngoroutine 1 [running]:\nruntime.schedinit()\n"
    assert not crash_of(below).is_at_start


def test_the_object_is_in_the_frames_as_the_heap_grows_by_whole_chunks():
    crash = crash_of(
        b"runtime: out of memory: cannot allocate 8388608-byte block (62586880 in use)\n"
        b"fatal error: out of memory\n\ngoroutine 8 [running]:\n"
        b"runtime.(*mcache).allocLarge(0x424d85?, 0x500000, 0x1)\n\t/go/src/runtime/mcache.go:236\n"
        b"runtime.mallocgc(0x500000, 0x0, 0x0)\n\t/go/src/runtime/malloc.go:1165\n"
        b"bytes.growSlice({0x0, 0x0, 0x6a5140?}, 0x0?)\n\t/go/src/bytes/buffer.go:249\n"
    )

    assert 5 << 20 == crash.asked_bytes
    assert crash.is_one_object


def test_a_sentence_can_quote_the_runtimes_message():
    text = (
        b'It throws " fatal error: runtime: cannot allocate memory " and exits:\n\n'
        b"> goroutine 5 [running]:\nruntime.throw(0x6eb0bc, 0x1f)\n\t/go/src/runtime/panic.go:617\n"
        b"runtime.newArenaMayUnlock(0x919e80)\n\t/go/src/runtime/mheap.go:1930 +0xda\n"
    )

    assert OUT_OF_MEMORY == crash_of(text).why


@pytest.mark.parametrize(
    ("above", "is_crash"),
    [
        ("It crashes with fatal error: runtime: out of memory every night.", True),
        ('It ends with "runtime: out of memory":', True),
        ("fatal error: runtime: out of memory\nis what it says in the end.", True),
        ("It does not print fatal error: runtime: out of memory any more.", False),
        ("It is slow.", False),
    ],
)
@pytest.mark.parametrize("mark", ["", "> ", "```\n"])
def test_a_sentence_above_the_stacks_says_why_it_crashed(tmp_path, above, is_crash, mark):
    stack = "goroutine 5 [running]:\nmain.load()\n\t/src/load.go:17 +0x72\n"
    (tmp_path / "ticket.md").write_text(f"{above}\n\n{mark}{stack}")

    said = f"{gomem.diagnose(tmp_path / 'ticket.md').verdict.sentence}"

    assert is_crash == ("ran out of memory" in said)


def test_a_process_that_printed_its_own_stacks_has_not_crashed(tmp_path):
    (tmp_path / "ticket.md").write_text(
        "Another pod died with fatal error: runtime: out of memory. This one is alive:\n\n"
        "goroutine 12 [running]:\nruntime/pprof.writeGoroutineStacks({0x1, 0x2})\n"
        "\t/go/src/runtime/pprof/pprof.go:700 +0x6a\n"
    )

    assert "ran out of memory" not in f"{gomem.diagnose(tmp_path / 'ticket.md').verdict.sentence}"


def test_the_start_of_a_program_gets_one_advice(tmp_path):
    (tmp_path / "crash.txt").write_bytes(AT_START % b"mallocinit")

    with pytest.raises(CaptureError) as refused:
        gomem.load(tmp_path / "crash.txt")

    assert "ulimit -v" in f"{refused.value}"
    assert "gomem capture" not in f"{refused.value}"
