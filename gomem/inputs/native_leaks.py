"""Memory outside Go as tools for C and C++ print it: gomem only reports it.

memleak       [16:32:51] Top 9 stacks with outstanding allocations:         (bcc, libbpf-tools)
              99 bytes in 9 allocations from stack       allocated and not freed since it began
memcheck      ==77== 99 bytes in 9 blocks are definitely lost in loss record 9 of 99   (Valgrind)
              ==77== 9,999 (99 direct, 9,900 indirect) bytes in 9 blocks are …
              ==77==    definitely lost: 99 bytes in 9 blocks           of the summary
massif        desc: … cmd: … and mem_heap_B=99 per snapshot             (Valgrind)
heaptrack     peak heap memory consumption: 9.99MB after 9.9s, total memory leaked: 9.99MB
mallinfo      mallinfo stats: …, uordblks=980 MiB, fordblks=109 MiB      (glibc, as programs log it)
None counts what Go allocates: its heap does not come from malloc.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gomem.errors import excerpt
from gomem.inputs.processes.row import rounded_size
from gomem.inputs.resemblance import Resemblance
from gomem.text import Bytes, Count, Quoted, Text, joined, text

if TYPE_CHECKING:
    from collections.abc import Iterator

NAMED = 3  # kinds of a summary
_STACK = re.compile(
    rb"^[ \t>]*(?P<size>\d{1,15}) bytes in (?P<count>\d{1,12}) allocations? from stack[ \t]*\r?\n"
    rb"(?P<frames>(?:(?![ \t>]*\d{1,15} bytes in )[ \t>]*\S[^\n]*\n?){0,20})", re.MULTILINE,
)  # fmt: skip
# `main.f+0x18 [api]` of bcc, `0x7f12 main.f+0x18 (/usr/bin/api)`, `0 [<7f12>] main.f+0x18 …`.
_FRAME = re.compile(
    rb"^[ \t>]*(?:\d+ )?(?:\[?<?(?:0x)?[0-9a-f]{6,16}>?\]? )?"
    rb"(?P<name>[A-Za-z_~][^\n]{0,2000}?)\+0x[0-9a-f]+", re.MULTILINE,
)  # fmt: skip
# What every C++ allocation goes through: the caller says more.
_ALLOCATORS = re.compile(
    rb"(?:operator new|(?:__libc_)?(?:malloc|calloc|realloc)|(?:posix_)?memalign)\b"
)
_NUMBER = rb"\d{1,3}(?:,\d{3})*"
_LOST = re.compile(
    rb"==\d{1,10}==\s+(?P<size>" + _NUMBER + rb")(?: \([^()\n]{1,80}\))? bytes in (?P<count>"
    + _NUMBER + rb") blocks are (?P<kind>definitely lost|indirectly lost|possibly lost"
    rb"|still reachable)"
)  # fmt: skip
_SUMMED = re.compile(
    rb"==\d{1,10}==\s+(?P<kind>definitely lost|indirectly lost|possibly lost|still reachable):"
    rb" (?P<size>" + _NUMBER + rb") bytes in (?P<count>" + _NUMBER + rb") blocks"
)
_MASSIF = re.compile(rb"^mem_heap_B=(\d{1,15})[ \t]*\r?$", re.MULTILINE)
_HEAPTRACK = re.compile(
    rb"^[ \t>]*(peak heap memory consumption|peak RSS \(including heaptrack overhead\)"
    rb"|total memory leaked): (\d[\d.]{0,12} ?[KMGT]?i?B)", re.MULTILINE,
)  # fmt: skip
_MALLINFO = re.compile(rb"\buordblks[=: ]{1,3}(\d[\d.]{0,12}) ?([KMGT]?i?B?)(?![\w.])")
_ASK = (
    "that is memory of C's allocator, which no Go profile has; gomem capture PID -o DIR says how "
    "much of RSS it is"
)


def native_allocations(head: bytes, _: str) -> Resemblance | None:
    """Describe what a tool for C and C++ says is allocated outside Go, and not freed."""
    said = next(
        filter(None, (look(head) for look in (_memleak, _memcheck, _others, in_malloc))), None
    )
    return None if said is None else Resemblance(said, _ASK, is_evidence=True)


def _memleak(head: bytes) -> Text | None:
    stacks = list(_STACK.finditer(head)) if b"from stack" in head else []
    if not stacks:
        return None
    largest = max(stacks, key=lambda stack: int(stack["size"]))
    names = [frame["name"] for frame in _FRAME.finditer(largest["frames"])]
    name = next((name for name in names if _ALLOCATORS.match(name) is None), None)
    by = text(" by {}", Quoted(excerpt(name))) if name else Text()
    words = "what memleak printed of memory that is not freed: {} in {}{}"
    size, times = Bytes(int(largest["size"])), Count(int(largest["count"]), "allocation")
    more = len(stacks) - 1
    said = text(words, size, times, by)
    return text("{}, and {} with less", said, Count(more, "stack")) if more else said


def _memcheck(head: bytes) -> Text | None:
    if b"==" not in head:
        return None
    summed = {found["kind"]: found for found in _SUMMED.finditer(head)}
    if summed:
        said = [text("{} {}", *_lost(found)) for found in list(summed.values())[:NAMED]]
        return text("what Valgrind's memcheck counts: {}", joined(", ", said))
    records = list(_LOST.finditer(head))
    if not records:
        return None
    largest = max(records, key=lambda found: _number(found["size"]))
    words = "records of Valgrind's memcheck, {} of them here, the largest: {} {} in {}"
    blocks = Count(_number(largest["count"]), "block")
    return text(words, Count(len(records)), *_lost(largest), blocks)


def _lost(found: re.Match[bytes]) -> tuple[Bytes, str]:
    return Bytes(_number(found["size"])), found["kind"].decode("ascii")


def _others(head: bytes) -> Text | None:
    """Return the peak that massif or heaptrack found."""
    heaps = [int(size) for size in _MASSIF.findall(head)]
    if heaps:
        words = "a file of Valgrind's massif: at most {} from malloc in {}"
        return text(words, Bytes(max(heaps)), Count(len(heaps), "snapshot"))
    said = list(_of_heaptrack(head))
    return text("what heaptrack printed: {}", joined(", ", said)) if said else None


def _of_heaptrack(head: bytes) -> Iterator[Text]:
    for name, size in _HEAPTRACK.findall(head):
        yield text("{} {}", name.decode("ascii"), Quoted(size.decode("ascii")))


def in_malloc(head: bytes) -> Text | None:
    """Say what malloc has in use by mallinfo, the last that a text has; None without it."""
    sizes = _MALLINFO.findall(head) if b"uordblks" in head else []
    size = rounded_size(b"".join(sizes[-1])) if sizes else None
    words = "malloc has {} in use by mallinfo (uordblks): memory of C, which is not in Go's heap"
    return None if size is None else text(words, Bytes(size.bytes))


def _number(said: bytes) -> int:
    return int(said.replace(b",", b""))
