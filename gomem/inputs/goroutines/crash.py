"""Why a Go program crashed, according to what the runtime prints before the goroutines.

Printed by    the runtime's throw and fatal: `fatal error: runtime: out of memory`, followed by
              `runtime stack:` with the frames that requested memory.
Quirks        Up to Go 1.15 large objects come from runtime.largeAlloc(size, …), later from
              runtime.(*mcache).allocLarge(mcache, size, …). Both print the size in hexadecimal.
              `cannot allocate N-byte block (M in use)` has both sizes in words. N is what the heap
              was to grow by (mheap.grow), rounded up to `LEAST_GROWTH`, for any object below it.
              `memory allocated by OS (P) not in usable range [A,B)`, up to Go 1.10, is printed only
              where the addresses reserved for a 32-bit heap are used up (mheap.sysAlloc).
              Without 32-bit addresses left it is `cannot map pages in arena address space`.
              `runtime: goroutine stack exceeds 1000000000-byte limit` comes before `fatal error:
              stack overflow`. A stack doubles, so it is at most half of the limit by then.
              The goroutine that asked is `running`: below the runtime's frames is its caller.
              `runtime: failed to create new OS thread (have 5 already; errno=11)` is clone's error:
              EAGAIN is a limit on processes (clone(2)), and no lack of memory.
              Before main, the runtime's own set-up asks for pages: then a limit refuses the first.
Pasted        after a prompt, inside backticks or quoted, often without the first line. Then only
              runtime.throw called by runtime.sysMap shows the cause, or a running goroutine whose
              innermost frames wait on the system stack for a large object; or a sentence above.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from gomem.inputs.goroutines.faults import fault_of, place_words
from gomem.inputs.goroutines.pages_asked import ADDRESS_SPACE, asked_by_frames
from gomem.inputs.pprof.calls.names import of_the_runtime
from gomem.text import Bytes, Count, Text, text
from gomem.units import KIB, MIB

OUT_OF_MEMORY, DEADLOCK, STACK_OVERFLOW = "out of memory", "deadlock", "stack overflow"
NO_THREAD = "no thread"
FATAL = frozenset({OUT_OF_MEMORY, DEADLOCK, STACK_OVERFLOW, NO_THREAD})  # end the process
ALLOCATING = "allocating"  # a large object; the lines that say why it crashed are cut off
_OUT_OF_MEMORY = re.compile(
    rb"^[\s`$#>]{0,8}(?:(?:fatal error: )?runtime: (?:out of memory|cannot allocate memory"
    rb"|cannot map pages in arena address space|VirtualAlloc of)|fatal error: out of memory)"
    rb"|^runtime\.throw\([^\n]*\)\n[^\n]*\n(?:runtime\.[sS]ysMap|runtime\.sysMapOS"
    rb"|runtime\.newArenaMayUnlock|runtime\.sysUsedOS"
    rb"|runtime\.\(\*mheap\)\.sysAlloc|runtime\.largeAlloc"
    rb"|runtime\.\(\*mcache\)\.allocLarge)\(",
    re.MULTILINE,
)
_SAID = re.compile(  # in a sentence
    rb"^(?![^\n]{0,300}(?:\b(?:no|not|never|without)\b|n't)[^\n]{0,80}runtime: )[^\n]{0,300}?"
    rb"\bruntime: (?:out of memory|cannot allocate memory)",
    re.MULTILINE,
)
_DEADLOCK = re.compile(
    rb"^[\s`$#>]{0,8}fatal error: all goroutines are asleep - deadlock!", re.MULTILINE
)
_OVERFLOW = re.compile(
    rb"^[\s`$#>]{0,8}(?:runtime: goroutine stack exceeds (\d{1,18})-byte limit"
    rb"|fatal error: stack overflow)",
    re.MULTILINE,
)
_THREADS = re.compile(
    rb"^[\s`$#>]{0,8}runtime: failed to create new OS thread \(have (\d{1,9}) already; "
    rb"errno=(\d{1,5})\)"
    rb"|^[\s`$#>]{0,8}runtime/cgo: pthread_create failed: ([^\n]{0,80})", re.MULTILINE,
)  # fmt: skip
_CGO_ERRNO = {b"Resource temporarily unavailable": 11, b"Cannot allocate memory": 12}
_STARTED = re.compile(rb"^PC=0x[0-9a-f]+ m=(\d{1,7})\b", re.MULTILINE)  # threads so far
_ERRORS = {
    11: "EAGAIN, a limit on processes and threads is reached",
    12: "ENOMEM, the kernel has no memory for it",
    22: "EINVAL, which an emulator answers that lacks the call",
}
# Functions that set up the runtime, before main.
_SET_UP = re.compile(
    rb"^runtime\.(?:schedinit|mallocinit|rt0_go|\(\*mheap\)\.init|\(\*addrRanges\)\.init"
    rb"|\(\*pageAlloc\)\.init|modulesinit)\b", re.MULTILINE,
)  # fmt: skip
_FIRST_GOROUTINE = re.compile(rb"^goroutine \d", re.MULTILINE)
_MARGIN = re.compile(rb"^(?: {0,3}> ?| {4})", re.MULTILINE)  # of a quotation, or of code
_HEADER = re.compile(rb"^[ \t]*goroutine \d{1,19} [^\n]*\[", re.MULTILINE)
# What a process that goes on calls to print its own goroutines.
_IS_ALIVE = re.compile(
    rb"^[ \t]*(?:runtime/pprof\.writeGoroutineStacks|runtime\.Stack|runtime/debug\.Stack)\(",
    re.MULTILINE,
)
_ASKED = re.compile(
    rb"cannot allocate (\d{1,18})-byte block \((\d{1,18}) in use\)"
    rb"|VirtualAlloc of (\d{1,18}) bytes failed"
    rb"|runtime\.(?:largeAlloc|mallocgc)\(0x([0-9a-f]{1,12})[,)]"
    rb"|runtime\.\(\*mcache\)\.allocLarge\([^\n,]*, 0x([0-9a-f]{1,12})[,)]"
)
_WAITING_FOR_MEMORY = re.compile(
    rb"^goroutine \d+ [^\n]*\[running[^\n]*\]:\nruntime\.systemstack_switch\([^\n]*\n[^\n]*\n"
    rb"runtime\.(?:\(\*mheap\)\.alloc|mallocgc)\(",
    re.MULTILINE,
)
_RUNNING = re.compile(rb"^goroutine \d+ [^\n]*\[running[^\n]*\]:\n", re.MULTILINE)
_FRAME = re.compile(rb"^([^\s(][^\n]*?)\([^()\n]*\)$", re.MULTILINE)
_ALLOCATES = (b"runtime.mallocgc", b"runtime.makeslice", b"runtime.growslice")
_FOR_SLICES = ("runtime.growslice", "runtime.makeslice")  # append and make
# go build names the package before the output of its crashed compiler.
_BUILDING = re.compile(
    rb"^# ([\w./@~+-]{1,300})\n(?:[^\n]{0,500}\n){0,3}?fatal error", re.MULTILINE
)
# On Windows the runtime commits memory when it hands it out: the purpose of that memory.
_COMMITTED = re.compile(rb"runtime\.sysUsedOS\((?:0x)?[0-9a-f]{1,16}, 0x([0-9a-f]{1,12})\)")
_COMMIT_LIMIT = re.compile(rb"VirtualAlloc of \d{1,18} bytes failed with errno ?= ?1455\b")
# What the heap grows by at least: 16 pages up to Go 1.10, of 4 KiB up to 1.2 and 8 KiB later; the
# pages of one span in 1.11 to 1.13; a chunk of 512 pages since 1.14 (pallocChunkPages).
LEAST_GROWTH, CHUNK = 128 * KIB, 4 * MIB
# Up to Go 1.10, with 32-bit addresses alone.
_OUT_OF_RANGE = re.compile(
    rb"memory allocated by OS \((0x[0-9a-f]{1,16}|\d{1,20})\) not in usable range "
    rb"\[0x[0-9a-f]{1,8},0x[0-9a-f]{1,8}\)"
)
_ARCHITECTURE_32 = re.compile(
    rb"\b(?:linux|windows|freebsd|android)[-/_ ](?:386|arm(?:v[5-7]\w{0,3})?|mips(?:le)?)\b(?!\w)"
    rb"|GOARCH[=: ]{1,2}['\"]?(?:386|arm|mips|mipsle)\b|\bi[36]86\b|\barmv[5-7]\w{0,3}\b"
)
_SHORT_ADDRESS = re.compile(rb"\b0x[1-9a-f][0-9a-f]{7}\b")
_LONG_ADDRESS = re.compile(rb"\b0x[0-9a-f]{9,16}\b")


@dataclass(frozen=True, slots=True)
class Crash:
    """Why a program crashed: `OUT_OF_MEMORY`, `DEADLOCK`, `STACK_OVERFLOW`, and so on."""

    why: str
    asked_bytes: int | None = None  # requested when no memory was left
    in_use_bytes: int | None = None  # the heap in use at that time
    limit_bytes: int | None = None  # of the overflowed stack
    is_at_commit_limit: bool = False  # Windows' error 1455: RAM and paging file are all committed
    is_one_object: bool = False  # whether a single object was requested, and its size is known
    # The functions that requested it or are at fault, without the runtime's, innermost first; empty
    # if not shown.
    callers: tuple[str, ...] = ()
    message: str = ""  # the runtime's, of a fault that is no lack of memory
    building: str = ""  # the package being compiled, if the compiler crashed
    is_at_start: bool = False  # whether the runtime was being set up, before main
    threads: int | None = None  # threads that it had when it got no other
    started: int | None = None  # threads that it had started, ended ones too, instead
    errno: int = 0  # why it got none
    is_out_of_addresses: bool = False  # whether a 32-bit program got none of its last addresses
    is_32_bit: bool | None = None  # by the addresses or architecture in the text; None if unknown
    heap_bytes: int | None = None  # how far the heap reached by then, by its addresses
    is_small: bool = False  # whether it asked for no more than small objects need

    @property
    def fills_32_bits(self) -> bool:
        """Whether the addresses of a 32-bit program are used up: it says so, or its heap does."""
        if self.is_out_of_addresses:
            return True
        if self.is_32_bit is False or self.in_use_bytes is None or self.asked_bytes is None:
            return False
        if self.asked_bytes > self.in_use_bytes:
            return False
        whole = self.in_use_bytes + self.asked_bytes
        return self.in_use_bytes < ADDRESS_SPACE and whole > ADDRESS_SPACE - ADDRESS_SPACE // 4


def crash_of(text: bytes) -> Crash | None:
    """Return why the program crashed, from its output; None if the text shows no such crash."""
    text = _MARGIN.sub(b"", text)
    if (crash := _other_crash(text)) is not None:
        return crash
    found = _OUT_OF_MEMORY.search(text)
    if found is None and _IS_ALIVE.search(text) is None:
        found = _SAID.search(text)
    if found is not None:
        return _out_of_memory(text, found)
    crash = _of_memory(text) if _WAITING_FOR_MEMORY.search(text) else Crash(ALLOCATING)
    return replace(crash, why=ALLOCATING) if crash.is_one_object else None


def crash_said(dump: bytes, whole: bytes) -> Crash | None:
    """Return why the program of a dump crashed, also if the text above the dump says it.

    `whole` is the text that a person pasted the dump into.
    """
    crash = crash_of(dump)
    if (crash is not None and crash.why != ALLOCATING) or _IS_ALIVE.search(dump):
        return crash
    first = _HEADER.search(dump)
    above, header, _ = _MARGIN.sub(b"", whole).partition(first[0].strip() if first else b"\n")
    if not header or _HEADER.search(above):
        return crash  # another dump is above this one
    said = crash_of(above + dump)
    return crash if said is None else said


def _other_crash(text: bytes) -> Crash | None:
    """Return a crash that has another cause than the size of the heap."""
    if _DEADLOCK.search(text):
        return Crash(DEADLOCK)
    if (threads := _THREADS.search(text)) is not None:
        if threads[1]:
            return Crash(NO_THREAD, threads=int(threads[1]), errno=int(threads[2]))
        started = _STARTED.search(text, threads.end())
        errno = _CGO_ERRNO.get(threads[3].strip(), 0)
        return Crash(NO_THREAD, started=int(started[1]) if started else None, errno=errno)
    if (overflow := _OVERFLOW.search(text)) is not None:
        return Crash(STACK_OVERFLOW, limit_bytes=int(overflow[1]) if overflow[1] else None)
    if (fault := fault_of(text)) is not None:
        why, message, callers = fault
        return Crash(why, message=message, callers=callers)
    return None


def _out_of_memory(text: bytes, found: re.Match[bytes]) -> Crash:
    above = _FIRST_GOROUTINE.split(text, maxsplit=1)[0]
    crash = replace(
        (asking := _of_memory(text)),
        is_at_commit_limit=_COMMIT_LIMIT.search(text) is not None,
        is_at_start=asking.is_at_start or _SET_UP.search(above) is not None,
    )
    is_full = b"arena address space" in found[0] and _is_of_32_bits(text)
    if is_full or _has_no_address_left(text):
        crash = replace(crash, is_32_bit=True, is_out_of_addresses=True)
    building = _BUILDING.search(text, 0, found.end())
    if building is not None:
        return replace(crash, building=building[1].decode("utf-8", "replace"))
    return crash


def _of_memory(text: bytes) -> Crash:
    """Return an out-of-memory crash with the requested size."""
    frames = asked_by_frames(text)
    crash = replace(
        Crash(OUT_OF_MEMORY),
        heap_bytes=frames.heap_bytes,
        is_at_start=frames.is_first,
        is_32_bit=True if frames.is_32_bit else None,
    )
    asked = _ASKED.search(text)
    if asked is None and (committed := _COMMITTED.search(text)):
        return replace(crash, asked_bytes=int(committed[1], 16))
    if asked is None:
        is_object = frames.is_one_object
        crash = replace(crash, asked_bytes=frames.size_bytes, is_small=frames.is_small)
        return replace(crash, is_one_object=is_object, callers=_callers(text) if is_object else ())
    decimal, in_use, by_windows, *hexadecimal = asked.groups()
    if size := by_windows:
        return replace(crash, asked_bytes=int(size))
    size = int(decimal) if decimal else int(next(filter(None, hexadecimal)), 16)
    crash = replace(crash, asked_bytes=size, is_one_object=True, callers=_callers(text))
    if not in_use:
        return crash
    crash = replace(crash, in_use_bytes=int(in_use), is_32_bit=_is_of_32_bits(text))
    # What the heap grows by is rounded up: the object is in the frames.
    in_frames = next((found for found in map(_hexadecimal, _ASKED.finditer(text)) if found), 0)
    if in_frames > LEAST_GROWTH:
        return replace(crash, asked_bytes=in_frames)
    is_least = size <= LEAST_GROWTH or size == CHUNK
    return replace(crash, is_one_object=False, is_small=True, callers=()) if is_least else crash


def _hexadecimal(asked: re.Match[bytes]) -> int:
    """Return the size that a frame has of an object; 0 if it is no frame."""
    size = asked[4] or asked[5]
    return int(size, 16) if size else 0


def _has_no_address_left(text: bytes) -> bool:
    """Whether the kernel gave the runtime an address that a 32-bit heap cannot use."""
    address = _OUT_OF_RANGE.search(text)
    return address is not None and int(address[1], 0) < ADDRESS_SPACE


def _is_of_32_bits(text: bytes) -> bool | None:
    """Whether a text names a 32-bit architecture, or has addresses of at most 8 digits alone."""
    if _ARCHITECTURE_32.search(text):
        return True
    if _LONG_ADDRESS.search(text):
        return False
    return True if _SHORT_ADDRESS.search(text) else None


def _callers(text: bytes) -> tuple[str, ...]:
    """Return the functions of the running goroutine below the runtime's that allocate."""
    running = _RUNNING.search(text)
    if running is None:
        return ()
    stack = text[running.end() :].partition(b"\n\n")[0]
    names = [name[1] for name in _FRAME.finditer(stack)]
    if not any(name.startswith(_ALLOCATES) for name in names):
        return ()
    decoded = [name.decode("utf-8", "replace") for name in names]
    own = tuple(name for name in decoded if not of_the_runtime(name))
    return own or tuple(name for name in decoded if name in _FOR_SLICES)[:1]


def asked_words(crash: Crash) -> Text:
    """Say what a program asked for, where, and how large its heap was; empty if unknown."""
    asked = text("asking for {}", _size_words(crash))
    if crash.asked_bytes is None and not crash.is_small:
        asked = Text()
    if crash.callers:
        asked = text("{} in {}", asked, place_words(crash.callers))
    if crash.in_use_bytes is not None:
        return text("{} with {} in use", asked, Bytes(crash.in_use_bytes))
    if crash.heap_bytes is not None:
        reached = text("with a heap of {} (by its addresses)", Bytes(crash.heap_bytes))
        return text("{} {}", asked, reached) if asked else reached
    return asked


def _size_words(crash: Crash) -> Text:
    """Say how much a program asked for."""
    if crash.asked_bytes is None:
        return Text("room for small objects")
    words = "only {}" if crash.is_small else "{}"
    if crash.is_small and crash.in_use_bytes is not None:
        words = "{}, the least that the heap grows by,"
    return text("one object of {}" if crash.is_one_object else words, Bytes(crash.asked_bytes))


_FIND_THREAD_LIMIT = (
    "that is no lack of memory in the heap: ulimit -u, cat /sys/fs/cgroup/pids.max and sysctl "
    "kernel.threads-max have the limits; with thousands of threads, the stacks say what blocks them"
)
_AT_START = Text(
    "it was refused its first pages, before main: by a limit on its address space or on locked "
    "memory, not for its use"
)
_FIND_LIMIT = (
    "look for the limit: ulimit -v and -d, ulimit -l if something calls mlockall, sysctl "
    "vm.overcommit_memory (2), a seccomp profile; or the build is for another processor (go "
    "version -m PROGRAM names its GOARCH and GOARM)"
)
_ON_32_BITS = Text(
    "it is a 32-bit program, which has addresses for 2 to 4 GiB at most, whatever the machine has"
)
_BUILD_FOR_64_BITS = (
    "build it for 64 bits (GOARCH=amd64 or arm64); go version -m PROGRAM names its GOARCH"
)


def refused_words(crash: Crash) -> tuple[Text, str] | None:
    """Say what else than its use stopped a program, and what to do; None if nothing shows that."""
    if crash.why == NO_THREAD:
        why = _ERRORS.get(crash.errno, f"errno {crash.errno}" * bool(crash.errno))
        had = text("; it had {}", Count(crash.threads)) if crash.threads else Text()
        had = text("; it had started {}", Count(crash.started)) if crash.started else had
        words = "the kernel refused it another thread{}{}"
        return text(words, had, f" ({why})" * bool(why)), _FIND_THREAD_LIMIT
    if crash.is_at_start:
        return _AT_START, _FIND_LIMIT
    full = _address_space_words(crash)
    if full:
        return full, _BUILD_FOR_64_BITS
    is_large = crash.heap_bytes is None or crash.heap_bytes > ADDRESS_SPACE // 4
    if crash.is_32_bit and is_large and crash.in_use_bytes is None and not crash.is_one_object:
        return _ON_32_BITS, _BUILD_FOR_64_BITS
    return None


def _address_space_words(crash: Crash) -> Text:
    """Say that the addresses of a 32-bit program are used up; empty if they cannot be."""
    if not crash.fills_32_bits:
        return Text()
    if crash.is_32_bit and crash.is_out_of_addresses:
        return Text("it is a 32-bit program, which has no addresses left for its heap")
    if crash.is_32_bit:
        return Text("it is a 32-bit program, whose address space of at most 4 GiB is full")
    return Text("if it is a 32-bit program, its address space of at most 4 GiB is full")
