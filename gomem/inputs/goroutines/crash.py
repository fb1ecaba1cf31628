"""Why a Go program crashed, according to what the runtime prints before the goroutines.

Printed by    the runtime's throw and fatal: `fatal error: runtime: out of memory`, followed by
              `runtime stack:` with the frames that requested memory.
Quirks        Up to Go 1.15 large objects come from runtime.largeAlloc(size, …), later from
              runtime.(*mcache).allocLarge(mcache, size, …). Both print the size in hexadecimal.
              `cannot allocate N-byte block (M in use)` has both sizes in words.
              Without 32-bit addresses left it is `cannot map pages in arena address space`.
              `runtime: goroutine stack exceeds 1000000000-byte limit` comes before `fatal error:
              stack overflow`. A stack doubles, so it is at most half of the limit by then.
Pasted        after a prompt or inside backticks, often without the first line. Then only
              runtime.throw called by runtime.sysMap shows the cause.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

OUT_OF_MEMORY, DEADLOCK, STACK_OVERFLOW = "out of memory", "deadlock", "stack overflow"
_OUT_OF_MEMORY = re.compile(
    rb"^[\s`$#>]{0,8}(?:(?:fatal error: )?runtime: (?:out of memory|cannot allocate memory"
    rb"|cannot map pages in arena address space|VirtualAlloc of)|fatal error: out of memory)"
    rb"|^runtime\.throw\([^\n]*\)\n[^\n]*\n(?:runtime\.sysMap|runtime\.sysMapOS"
    rb"|runtime\.sysUsedOS|runtime\.\(\*mheap\)\.sysAlloc)\(",
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
_ASKED = re.compile(
    rb"cannot allocate (\d{1,18})-byte block \((\d{1,18}) in use\)"
    rb"|VirtualAlloc of (\d{1,18}) bytes failed"
    rb"|runtime\.(?:largeAlloc|mallocgc)\(0x([0-9a-f]{1,12})[,)]"
    rb"|runtime\.\(\*mcache\)\.allocLarge\([^\n,]*, 0x([0-9a-f]{1,12})[,)]"
)
# go build names the package before the output of its crashed compiler.
_BUILDING = re.compile(
    rb"^# ([\w./@~+-]{1,300})\n(?:[^\n]{0,500}\n){0,3}?fatal error", re.MULTILINE
)
# On Windows the runtime commits memory when it hands it out: the purpose of that memory.
_COMMITTED = re.compile(rb"runtime\.sysUsedOS\((?:0x)?[0-9a-f]{1,16}, 0x([0-9a-f]{1,12})\)")
_COMMIT_LIMIT = re.compile(rb"VirtualAlloc of \d{1,18} bytes failed with errno ?= ?1455\b")


@dataclass(frozen=True, slots=True)
class Crash:
    """Why a program crashed: `OUT_OF_MEMORY`, `DEADLOCK` or `STACK_OVERFLOW`."""

    why: str
    asked_bytes: int | None = None  # requested when no memory was left
    in_use_bytes: int | None = None  # the heap in use at that time
    limit_bytes: int | None = None  # of the overflowed stack
    is_at_commit_limit: bool = False  # Windows' error 1455: RAM and paging file are all committed
    building: str = ""  # the package being compiled, if the compiler crashed


def crash_of(text: bytes) -> Crash | None:
    """Return why the program crashed, from its output; None if the text shows no such crash."""
    if _DEADLOCK.search(text):
        return Crash(DEADLOCK)
    if (overflow := _OVERFLOW.search(text)) is not None:
        return Crash(STACK_OVERFLOW, limit_bytes=int(overflow[1]) if overflow[1] else None)
    found = _OUT_OF_MEMORY.search(text)
    if found is None:
        return None
    crash = replace(_of_memory(text), is_at_commit_limit=_COMMIT_LIMIT.search(text) is not None)
    building = _BUILDING.search(text, 0, found.end())
    if building is not None:
        return replace(crash, building=building[1].decode("utf-8", "replace"))
    return crash


def _of_memory(text: bytes) -> Crash:
    """Return an out-of-memory crash with the requested size."""
    asked = _ASKED.search(text)
    if asked is None and (committed := _COMMITTED.search(text)):
        return Crash(OUT_OF_MEMORY, int(committed[1], 16))
    if asked is None:
        return Crash(OUT_OF_MEMORY)
    decimal, in_use, by_windows, *hexadecimal = asked.groups()
    if size := decimal or by_windows:
        return Crash(OUT_OF_MEMORY, int(size), int(in_use) if in_use else None)
    return Crash(OUT_OF_MEMORY, int(next(filter(None, hexadecimal)), 16))
