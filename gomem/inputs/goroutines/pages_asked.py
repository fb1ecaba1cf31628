"""What a Go program asked for as it ran out of memory, by the arguments of the runtime's frames.

Printed by    the runtime stack below `fatal error: runtime: out of memory`.
Form          runtime.sysMap(0xc1e0000000, 0x4000000, 0x16b3e18)     where, how many bytes
              runtime.(*mheap).sysAlloc(0x169b820, 0x2000, …)        the heap, bytes
              runtime.(*mheap).grow(0x169b820, 0x1, 0x0)             the heap, pages of 8 KiB
              runtime.(*mheap).alloc_m(0x169b820, 0x1, 0x4b, …)      the heap, pages
Quirks        sysMap maps whole arenas, of 64 MiB or more since Go 1.11 and 1 MiB before: a small
              object gets that many bytes. So the pages have the request, where they are shown.
              A size class has spans of at most 10 pages, and a stack at most 1 GB.
              `0x510b4a?` is an argument that may have been overwritten.
              Up to Go 1.4 the runtime was in C: SysMap, MHeap_Grow, MHeap_Alloc. In 1.5 it was
              mHeap_Grow and so on.
The heap      begins at 0xc000000000 on 64 bits, at 0x4000000000 on arm64, since Go 1.11; then the
              address says how far it reaches. Up to Go 1.10 the spans and the bitmap of the whole
              reserved arena come first (mallocinit): 8 GiB and 128 MiB in Go 1.3 and 1.4, for 128
              GiB; 32 GiB and 512 MiB in 1.5 and 1.6, for 512 GiB; 16 GiB and 512 MiB in 1.7 to
              1.10, with half the bitmap. sysMap then had another argument, `reserved`.
              Since Go 1.26 it begins at a random address. On 32 bits it begins behind the program,
              in whose data the third argument of sysMap is, a counter of the runtime.
              What is mapped at its begin is the first memory of the heap: the program is not at
              main yet, and the size of an object says nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from gomem.inputs.pprof.calls.names import release_in_path
from gomem.inputs.text_lines import decoded
from gomem.releases import Fact, GoRelease, parse_release
from gomem.units import MIB

PAGE = 8192
SPAN_OF_SMALL = 10 * PAGE  # the largest span of a size class (sizeclasses.go)
MAX_STACK = 1_000_000_000
MAX_ARENA = 64 * MIB  # what a request of one page maps
ADDRESS_SPACE = 4 << 30  # of 32 bits; the kernel can keep a quarter of it
MAX_HEAP = 1 << 40  # addresses after the first hint
ARGUMENTS_WITH_RESERVED = 2  # of sysMap, after the address and the size, up to Go 1.10
BEGIN, BEGIN_ON_ARM64 = 0xC000000000, 0x4000000000
C_BEGIN, BEGIN_SINCE_1_5, BEGIN_SINCE_1_7 = 0xC208000000, 0xC820000000, 0xC420000000
_HEAP = rb"(?:runtime[./])?(?:\(\*mheap\)\.|[mM]Heap_)"
_PAGES = re.compile(
    rb"^[ \t]*" + _HEAP + rb"(?:[gG]row|alloc(?:_m|Span(?:Locked)?|Manual)?"
    rb"|Alloc(?:_m|SpanLocked|Locked|Stack)?)\(0x[0-9a-f]{1,16}, 0x([0-9a-f]{1,9})[,)]",
    re.MULTILINE,
)
_BYTES = re.compile(
    rb"^[ \t]*" + _HEAP + rb"[sS]ysAlloc\(0x[0-9a-f]{1,16}, 0x([0-9a-f]{1,12})[,)]", re.MULTILINE
)
_MAPPED = re.compile(
    rb"^[ \t]*runtime[./](s|S)ysMap(?:OS)?"
    rb"\(0x([0-9a-f]{1,12}), 0x([0-9a-f]{1,12})((?:, [^,\n)]+)*)\)",
    re.MULTILINE,
)
_FOR_OBJECTS = re.compile(
    rb"^[ \t]*" + _HEAP + rb"(?:alloc(?:_m|\.func1)?|Alloc(?:_m)?)\(", re.MULTILINE
)
_FOR_SMALL = re.compile(rb"^[ \t]*runtime\.(?:\(\*mcache\)\.refill|MCache_Refill)\(", re.MULTILINE)
_COUNTER = re.compile(rb", 0x([0-9a-f]{1,8})\??")  # in the program's data
_ADDRESS = re.compile(rb"\b0x(c[0-9a-f]{9})\b")
_ON_32_BITS = re.compile(rb"/runtime/(?:asm_(?:386|arm|mipsx)|rt0_\w{3,10}_(?:386|arm))\.s:")
_ON_ARM64 = re.compile(rb"/runtime/asm_arm64\.s:")


@dataclass(frozen=True, slots=True)
class Asked:
    """What the runtime asked the system for, and how far its heap reached."""

    size_bytes: int | None = None  # of the request; None if no frame shows it
    is_one_object: bool = False  # whether it is for a single object
    is_small: bool = False  # whether it is for objects of at most 32 KiB, or as small
    heap_bytes: int | None = None  # from the first address of the heap to what was asked for
    is_first: bool = False  # whether it is for the first memory of the heap
    is_32_bit: bool = False  # by the runtime's assembly, or the address that was mapped


def asked_by_frames(text: bytes) -> Asked:
    """Return what the arguments in the runtime's frames show of a request for memory."""
    mapped = _MAPPED.search(text)
    is_32_bit = _ON_32_BITS.search(text) is not None
    is_32_bit |= mapped is not None and int(mapped[2], 16) < ADDRESS_SPACE
    heap = None if mapped is None else _heap_bytes(text, mapped, is_32_bit=is_32_bit)
    if mapped is not None and heap == 0:
        return Asked(int(mapped[3], 16), is_first=True, is_32_bit=is_32_bit)
    size = _size_of(text, is_in_heap=heap is not None)
    is_small = _FOR_SMALL.search(text) is not None
    asked = Asked(size, is_small=is_small, heap_bytes=heap, is_32_bit=is_32_bit)
    if size is None:
        return asked
    is_object = size > MAX_STACK or _FOR_OBJECTS.search(text) is not None
    is_small = size <= SPAN_OF_SMALL
    return replace(asked, is_one_object=is_object and not is_small, is_small=is_small)


def _size_of(text: bytes, *, is_in_heap: bool) -> int | None:
    if pages := _PAGES.search(text):
        return int(pages[1], 16) * PAGE
    if size := _BYTES.search(text):
        return int(size[1], 16)
    mapped = _MAPPED.search(text)
    size_bytes = 0 if mapped is None else int(mapped[3], 16)
    return size_bytes if is_in_heap and size_bytes > MAX_ARENA else None


def _heap_bytes(text: bytes, mapped: re.Match[bytes], *, is_32_bit: bool) -> int | None:
    """Return how far the heap reached when more was mapped; None if its begin is unknown."""
    if is_32_bit:
        counter = _COUNTER.fullmatch(mapped[4])
        behind = 0 if counter is None else int(mapped[2], 16) - int(counter[1], 16)
        return behind if behind > 0 else None
    release = parse_release(release_in_path(decoded(text)) or "")
    if release is not None and release >= Fact.RANDOM_ADDRESS.since:
        return None
    begin = _begin_of(text, mapped)
    size_bytes = int(mapped[2], 16) - begin
    return size_bytes if begin and 0 <= size_bytes < MAX_HEAP else None


def _begin_of(text: bytes, mapped: re.Match[bytes]) -> int:
    """Return the first address of the heap, by the form of the call that maps; 0 if unknown."""
    has_reserved = mapped[4].count(b",") == ARGUMENTS_WITH_RESERVED and b"{" not in mapped[4]
    if mapped[1] == b"S":
        return C_BEGIN if has_reserved else 0
    if not has_reserved:
        is_arm64 = _ON_ARM64.search(text) or int(mapped[2], 16) < BEGIN
        return BEGIN_ON_ARM64 if is_arm64 else BEGIN
    lowest = min((int(found, 16) for found in _ADDRESS.findall(text)), default=0)
    if BEGIN_SINCE_1_7 <= lowest < BEGIN_SINCE_1_5:
        return BEGIN_SINCE_1_7
    release = parse_release(release_in_path(decoded(text)) or "")
    return BEGIN_SINCE_1_5 if release is not None and release < GoRelease(7) else 0
