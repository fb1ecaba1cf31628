"""The machine's memory in a text: the head of top or htop, `free`, or /proc/meminfo.

top           MiB Mem :  32011.1 total,   1068.4 free,   2239.1 used,  28703.6 buff/cache
              MiB Swap:      0.0 total,      0.0 free,      0.0 used.   1601.3 avail Mem
              KiB Swap:  ...  free.  2957668 cached Mem, before procps 3.3.10
htop            Mem[||||||||||||6.10G/7.51G]     used without page cache
free                        total        used        free      shared  buff/cache   available
              Mem:          32011        2239        1068         500       28703        1601
              up to procps 3.3.9: `buffers cached` in their place, and -/+ buffers/cache: used free
meminfo       MemTotal:       32779366 kB
kubectl top   NAME       CPU(cores)   CPU%   MEMORY(bytes)   MEMORY%      of nodes
              worker-1   1613m        20%    11522Mi         35%
tmpfs and shared memory are part of the cache, and only their owners can free them: `shared` and
Shmem count them. top does not; there, cache that is not available is mostly theirs if it is a large
part of the machine: the kernel counts what it can reclaim as available, less a reserve
(Documentation/filesystems/proc.rst).
The text shows nothing about a single process.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gomem.inputs.processes.row import rounded_size
from gomem.inputs.resemblance import Resemblance, quoted
from gomem.text import Bytes, Count, Text, joined, text
from gomem.units import GIB, KIB, MIB

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

MEMINFO = "/proc/meminfo"
MIN_CACHE_SHARE = 0.5  # share of the machine that is page cache; a smaller one needs no words
MIN_HELD_SHARE = 0.5  # share of cache that cannot be freed; a smaller one is not mentioned
# Share of the machine: less cache than this is unavailable because of the kernel's reserve, too.
MIN_UNAVAILABLE_SHARE = 0.1
# A total of free without a unit: below the first bound it must be MiB (a machine of up to 256 GiB),
# because no machine has so few KiB. Above the second it must be KiB (at least 8 GiB). In between,
# both are possible.
MAX_IN_MIB, MIN_IN_KIB = 1 << 18, 1 << 23
_UNITS = {b"K": KIB, b"M": MIB, b"G": GIB}
_TOP = re.compile(
    rb"^[ \t]*(?P<unit>[KMG])iB Mem ?: *(?P<mem>\d[^\n]{10,200})(?:\n[ \t]*[KMG]iB Swap ?:"
    rb"(?P<swap>[^\n]{10,200}))?",
    re.MULTILINE,
)
_HTOP = re.compile(
    rb"\bMem ?\[[|#*@$%&. ]{0,200}(?P<mem>\d[\d.]{0,8}[KMGT])/(?P<total>\d[\d.]{0,8}[KMGT])\]"
)
_PART = re.compile(
    rb"(\d{1,15}(?:\.\d{1,3})?)\+?[ +]*(total|free|used|buff/cache|buffers|avail Mem|cached)"
)
_FREE = re.compile(
    rb"^[ \t]+total +used +free +shared +buff/cache +available[ \t]*\n[ \t]*Mem: +([\d.KMGTiB ]+)$",
    re.MULTILINE,
)
# Up to procps 3.3.9; `used` includes the cache there, and the second line has it without.
_OLD_FREE = re.compile(
    rb"^[ \t]*total +used +free +shared +buffers +cached[ \t]*\n[ \t]*Mem: +([\d.KMGTiB ]+)\n"
    rb"[ \t]*-/\+ buffers/cache: +(\S+) +\S+[ \t]*$", re.MULTILINE,
)  # fmt: skip
_OLD_FREE_NAMES = ("total", "used", "free", "shared", "buffers", "cached")
_SWAP = re.compile(rb"^[ \t]*Swap: +0B? +0B? +0B?[ \t]*$", re.MULTILINE)
_FREE_NAMES = ("total", "used", "free", "shared", "buff/cache", "available")
_MEMINFO = re.compile(
    rb"^(MemTotal|MemFree|MemAvailable|Buffers|Cached|Shmem): +(\d{1,15}) kB", re.MULTILINE
)
_IN_MEMINFO = {
    "MemTotal": "total", "MemFree": "free", "MemAvailable": "available", "Shmem": "shared",
}  # fmt: skip
_NODES = re.compile(
    rb"^[ \t]*NAME +CPU\(cores\) +CPU\(?%\)? +MEMORY\(bytes\) +MEMORY\(?%\)?[ \t]*\n"
    rb"(?:[ \t]*[a-z0-9][\w.-]{0,252} +\S+ +\S+ +\S+ +\S+[ \t]*(?:\n|\Z))+", re.MULTILINE
)  # fmt: skip
_SAID = (
    ("used", "{} used"), ("cached", "{} cached"), ("buff/cache", "{} in buffers and page cache"),
    ("free", "{} free"), ("available", "{} available"),
)  # fmt: skip
_ASK = (
    "it says nothing of one process: ps -eo pid,rss,args --sort=-rss | head has the largest, "
    "cat /proc/PID/smaps > smaps what is in one"
)
_ASK_NODES = (
    "a node's working set leaves out page cache that is not in use, and can leave out kernel "
    "memory: kubectl top pods -A --sort-by=memory has the pods, grep -e Slab -e Huge /proc/meminfo "
    "on the node what is outside them"
)
_RECLAIMED = "the kernel reclaims the cache when it needs memory, except tmpfs"
_ASK_SHARED = "df -h -t tmpfs and ipcs -m have what lies in tmpfs and shared memory"


def of_the_machine(head: bytes, _: str) -> Resemblance | None:
    """Describe the machine's memory as printed by top, htop, free or meminfo."""
    where, sizes = next(_readings(head), ("", {}))
    if not sizes.get("total"):
        return None
    said = [text(words, Bytes(sizes[name])) for name, words in _SAID if name in sizes]
    total, is_evidence = text("the machine has {}", Bytes(sizes["total"])), where != MEMINFO
    swap = ["no swap"] if _SWAP.search(head) else []
    what = text("{}: {}", where, joined(", ", [total, *said, *swap]))
    cache, (held, words) = sizes.get("buff/cache", 0), _held(sizes)
    if held <= MIN_HELD_SHARE * cache or not cache:
        cache = cache or sizes.get("cached", 0) + sizes.get("buffers", 0)
        if cache >= MIN_CACHE_SHARE * sizes["total"]:
            what = text("{}; {}", what, _RECLAIMED)
        return Resemblance(what, _ASK, is_evidence=is_evidence)
    what = text("{}; {}", what, text(words, Bytes(held)))
    return Resemblance(what, _ASK_SHARED, is_evidence=is_evidence)


def machine_bytes(head: bytes) -> int:
    """Return the machine's memory by top, htop, free or meminfo; 0 without them."""
    return next(_readings(head), ("", {}))[1].get("total", 0)


def nodes_of_kubectl(head: bytes, _: str) -> Resemblance | None:
    """Describe the table of nodes of `kubectl top nodes`: the smallest and the largest."""
    table = _NODES.search(head)
    rows = [line.split() for line in table[0].split(b"\n")[1:] if line.strip()] if table else []
    sizes = [(size.bytes, row) for row in rows if (size := rounded_size(row[3])) is not None]
    if not sizes:
        return None
    sizes.sort(key=lambda pair: pair[0])
    said = (
        text("{} on {} ({})", Bytes(size), quoted(row[0]), quoted(row[4]))
        for size, row in (sizes[-1], *sizes[:-1][:1])
    )
    words = "what kubectl top nodes printed: the working set of {}, the most {}"
    what = text(words, Count(len(sizes), "node"), joined(", the least ", said))
    return Resemblance(what, _ASK_NODES, is_evidence=True)


def _held(sizes: dict[str, int]) -> tuple[int, str]:
    """Return the cache that only its owners can free, and the words for it; 0 if unknown."""
    if "shared" in sizes:
        return sizes["shared"], "{} of the cache is tmpfs and shared memory, which cannot be freed"
    if not {"buff/cache", "available", "free"} <= sizes.keys():
        return 0, ""
    held = sizes["buff/cache"] - max(sizes["available"] - sizes["free"], 0)
    if held < MIN_UNAVAILABLE_SHARE * sizes["total"]:
        return 0, ""
    return held, "about {} of the cache cannot be freed: tmpfs and shared memory, mostly"


def lines_of_the_machine(data: bytes) -> set[int]:
    """Return the lines, from 1, of top's and htop's head about the machine's memory."""
    found = _TOP.search(data) or _HTOP.search(data)
    if found is None:
        return set()
    first = data.count(b"\n", 0, found.start("mem")) + 1
    return set(range(first, first + found[0].count(b"\n") + 1))


def _readings(head: bytes) -> Iterator[tuple[Text | str, dict[str, int]]]:
    if found := _TOP.search(head):
        each = _UNITS[found["unit"]]
        parts = [*_PART.findall(found["mem"]), *_PART.findall(found["swap"] or b"")[3:]]
        names = {b"avail Mem": "available"}
        sizes = {names.get(name, name.decode()): round(float(size) * each) for size, name in parts}
        yield "top's head", sizes
    if found := _HTOP.search(head):
        used, total = (rounded_size(found[name]) for name in ("mem", "total"))
        if used and total:
            yield "htop's head", {"total": total.bytes, "used": used.bytes}
    if found := _FREE.search(head):
        yield "what free printed", _of_free(found[1].split(), _FREE_NAMES)
    if found := _OLD_FREE.search(head):
        cells = found[1].split()
        cells[1:2] = [found[2]]
        yield "what free printed", _of_free(cells, _OLD_FREE_NAMES)
    if fields := dict(_MEMINFO.findall(head)):
        kib = {name.decode(): int(size) * KIB for name, size in fields.items()}
        said = {"total": 0} | {_IN_MEMINFO[name]: kib[name] for name in _IN_MEMINFO if name in kib}
        if {"Buffers", "Cached"} <= kib.keys():
            said["buff/cache"] = kib["Buffers"] + kib["Cached"]
        yield MEMINFO, said


def _of_free(cells: Sequence[bytes], names: Sequence[str]) -> dict[str, int]:
    """Return the sizes of a row of free; empty if its unit is unknown or a column is missing."""
    each = _unit_of_free(cells[0])
    read = [rounded_size(cell, bare=each) for cell in cells]
    if not each or len(read) != len(names):
        return {}
    return {name: size.bytes for name, size in zip(names, read, strict=True) if size}


def _unit_of_free(total: bytes) -> int:
    """Return the unit of free's numbers, guessed from the machine's size; 0 if unknown."""
    if not total.isdigit():
        return 1
    size = int(total)
    if size < MAX_IN_MIB:
        return MIB
    return KIB if size >= MIN_IN_KIB else 0
