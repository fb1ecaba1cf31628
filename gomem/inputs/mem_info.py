"""The kernel's report on all memory (Mem-Info), logged when no page is left or on SysRq-M.

Printed by    show_free_areas and show_mem of mm/page_alloc.c, since 6.0 of mm/show_mem.c.
Form          active_anon:9 inactive_anon:9 isolated_anon:0       of the machine, in pages
              Node 0 active_anon:36kB … shmem:0kB kernel_stack:0kB    of a node, in kB, since 4.8
              Node 0 Normal free:36kB min:9kB … managed:99kB    of a zone; `Node 0` only with NUMA
              Node 0 Normal: 9*4kB (UM) 9*8kB … = 99kB    free blocks, and their sum
              9 total pagecache pages / 9 pages in swap cache, which the former includes
              9 pages RAM / 9 pages reserved / Total swap = 0kB
Quirks        The lists of anonymous pages include shared memory and tmpfs. `min` includes the
              boost, if a kernel prints one; below `min` only the kernel itself gets pages.
              The page size is 4 KiB, unless a node's line has the same count in kB: their
              ratio is the page size. A report does not mean that the kernel killed a process: it
              is also logged after a failed allocation.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gomem.inputs.resemblance import Resemblance
from gomem.text import Bytes, Quoted, Share, Text, joined, text
from gomem.units import KIB

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

USUAL_PAGE = 4 * KIB
NAMED = 3  # uses, and zones
_ZONE = re.compile(
    rb"(?:\bNode (?P<node>\d{1,4}) )?\b(?P<zone>DMA32|DMA|Normal|HighMem|Movable|Device)"
    rb" free:(?P<free>\d{1,15})kB (?P<rest>[^\n]{0,2000})"
)
_NODE = re.compile(rb"\bNode (\d{1,4}) (active_anon:\d{1,15}kB [^\n]{0,2000})")
_SIZE = re.compile(rb"\b([a-z_]+):(\d{1,15})[kK]B")
_COUNTS = re.compile(rb"\bactive_anon:\d{1,12} inactive_anon:\d{1,12} isolated_anon:\d")
_COUNT = re.compile(
    rb"(?<![\w(])(active_anon|inactive_anon|active_file|inactive_file|unevictable|slab_reclaimable"
    rb"|slab_unreclaimable|shmem|pagetables|free):(\d{1,12})(?![\dkK])"
)
_RAM = re.compile(rb"(?<![\w=])(\d{1,12}) pages (RAM|reserved)\b")
_SWAP = re.compile(rb"\b(Free|Total) swap += ?(\d{1,15})kB")
_PART = re.compile(
    rb"\bMem-Info:|\blowmem_reserve\[\]:|\bpages (?:RAM|reserved)\b|\b(?:Free|Total) swap +="
    rb"|(?<![\w(])(?:slab_reclaimable|unevictable|mapped|free|active_file):\d{1,12} [a-z]"
)
MIN_PARTS = 2  # of free blocks, page cache and swap
_BLOCKS = re.compile(
    rb"(?P<place>(?:\bNode \d{1,4} )?\b(?:DMA32|DMA|Normal|HighMem|Movable|Device)): "
    rb"\d{1,9}\*\d{1,6}kB[^\n=]{0,600} = (?P<size>\d{1,15})kB"
)
_PAGE_CACHE = re.compile(rb"(?<!\w)(\d{1,12}) total pagecache pages\b")
_SWAP_CACHE = re.compile(rb"(?<!\w)(\d{1,12}) pages in swap cache\b")
_ASK_WHOSE = (
    "the kernel logs it when an allocation fails: dmesg -T | grep -i 'killed process' says whom it "
    "killed, if it did, dmesg -T | grep -i -A 200 'tasks state' has the RSS of each process"
)
_ASK = "its table of tasks says whose: dmesg -T | grep -i -A 200 'tasks state'"
_ASK_NOW = "nothing was killed by it; ps aux --sort=-rss | head has the largest processes now"
_FAILED = re.compile(rb"page allocation failure[.:] order:(\d{1,2})")
_NO_USES = "without the lists of what uses it"
SHARED, UNLISTED = "shared memory and tmpfs", "in none of its lists"
_LISTS = {
    "page cache": ("active_file", "inactive_file"),
    SHARED: ("shmem",),
    "unevictable": ("unevictable",),
    "unreclaimable slab": ("slab_unreclaimable",),
    "reclaimable slab": ("slab_reclaimable",),
    "page tables": ("pagetables",),
}
_ALL_LISTS = frozenset(
    {"active_anon", "inactive_anon", "active_file", "inactive_file", "free"}
    | {"slab_reclaimable", "slab_unreclaimable"}
)
_ASK_FOR = {
    SHARED: "df -h -t tmpfs and ipcs -m have what lies there now",
    "unreclaimable slab": "slabtop -o -s c | head -20 has the kernel's caches now, by size",
    UNLISTED: (
        "memory of drivers, huge pages, vmalloc or a hypervisor's balloon is in no list: "
        "grep -E 'Huge|Vmalloc|Percpu' /proc/meminfo"
    ),
}


@dataclass(slots=True)
class MemInfo:
    """The last report in a text: sizes in bytes, under the kernel's names."""

    counts: dict[str, int] = field(default_factory=dict)  # of the machine, or summed over nodes
    zones: dict[str, dict[str, int]] = field(default_factory=dict)
    ram_bytes: int = 0
    swap: dict[str, int] = field(default_factory=dict)

    @property
    def total_bytes(self) -> int | None:
        """The memory that the kernel manages; None if neither RAM nor zones are in the report."""
        managed = sum(zone.get("managed", 0) for zone in self.zones.values())
        return self.ram_bytes or managed or None

    @property
    def uses(self) -> dict[str, int]:
        """Bytes by use, as far as the report has them.

        If it has RAM and every list, the rest of RAM is the use `UNLISTED`.
        """
        of = self.counts
        uses = {name: sum(of[part] for part in parts) for name, parts in _LISTS.items()
                if of.keys() >= set(parts)}  # fmt: skip
        if {"active_anon", "inactive_anon"} <= of.keys():
            listed = of["active_anon"] + of["inactive_anon"] - of.get("shmem", 0)
            uses["anonymous" if "shmem" in of else "anonymous or shared"] = max(listed, 0)
        if self.ram_bytes and of.keys() >= _ALL_LISTS:
            uses[UNLISTED] = max(self.ram_bytes - sum(uses.values()) - of["free"], 0)
        return uses


def of_the_kernel(head: bytes, _: str) -> Resemblance | None:
    """Describe what filled the machine, and the zones below their minimum."""
    info = mem_info(head)
    if info is None:
        return _of_its_end(head)
    (first, size), *others = sorted(info.uses.items(), key=lambda use: -use[1]) or [("", 0)]
    whole = info.total_bytes
    share = text(" ({} of {})", Share(size / whole), Bytes(whole)) if whole else Text()
    used = [text("{} {}{}", Bytes(size), first, share) if first else Text(_NO_USES)]
    used += [text("{} {}", Bytes(size), name) for name, size in others[: NAMED - 1] if size]
    failed = _FAILED.search(head)
    why = text(" after a failed allocation of order {}", failed[1].decode()) if failed else Text()
    words = "the kernel's report on all memory (Mem-Info){}: {}"
    what = text(words, why, joined(", ", used))
    said = joined("; ", [what, *_zones_words(info), *_swap_words(info)])
    ask = _ASK if failed is None else _ASK_NOW
    return Resemblance(said, _ASK_FOR.get(first, ask), is_evidence=True)


def _of_its_end(head: bytes) -> Resemblance | None:
    """Describe the end of a report without the lists above: free blocks, page cache and swap."""
    blocks = {found["place"]: int(found["size"]) * KIB for found in _BLOCKS.finditer(head)}
    pages, swap_cache = _PAGE_CACHE.search(head), _SWAP_CACHE.search(head)
    swap = {name.decode(): int(size) * KIB for name, size in _SWAP.findall(head)}
    if sum(map(bool, (blocks, pages, swap))) < MIN_PARTS:
        return None
    said = []
    if blocks:
        said.append(text("{} free in the zones that it shows", Bytes(sum(blocks.values()))))
    if pages:
        cached = int(pages[1]) - (int(swap_cache[1]) if swap_cache else 0)
        without = " without the swap cache" if swap_cache else ""
        said.append(text("{} page cache{}", Bytes(max(cached, 0) * USUAL_PAGE), without))
    said += [*_swap_words(MemInfo(swap=swap))]
    if "Total" not in swap and swap.get("Free") == 0:
        said.append(Text("no swap free (Free swap = 0kB)"))
    words = "the end of the kernel's report on all memory (Mem-Info): {}"
    return Resemblance(text(words, joined("; ", said)), _ASK_WHOSE, is_evidence=True)


def _zones_words(info: MemInfo) -> Iterator[Text]:
    low = [
        text("zone {} has {} free, below its min of {}", Quoted(name), *_free(zone))
        for name, zone in info.zones.items()
        if zone.get("min", 0) > zone["free"]
    ]
    yield from low[:NAMED]
    if info.zones and not low:
        name, zone = max(info.zones.items(), key=lambda zone: zone[1].get("managed", 0))
        words = "no zone is below its min: {} has {} free, with a min of {}"
        yield text(words, Quoted(name), *_free(zone))


def _free(zone: dict[str, int]) -> tuple[Quoted, Quoted]:
    """Return free and min as the kernel prints them: near the limit a rounded size says less."""
    free, least = (Quoted(f"{size // KIB} kB") for size in (zone["free"], zone.get("min", 0)))
    return free, least


def _swap_words(info: MemInfo) -> Iterator[Text]:
    whole, free = info.swap.get("Total"), info.swap.get("Free")
    if whole == 0:
        yield Text("no swap")
    elif whole is not None and free is not None:
        yield text("{} of {} swap free", Bytes(free), Bytes(whole))


def mem_info(data: bytes) -> MemInfo | None:
    """Parse the last report in a text, as far as it goes; None without one."""
    if b"free:" not in data and b"active_anon:" not in data:
        return None
    begun = data.rfind(b"Mem-Info:")
    data = data[max(begun, 0) :]
    info = MemInfo(zones=_zones(data))
    nodes = {found[1]: _sizes(found[2]) for found in _NODE.finditer(data)}
    pages = dict(_COUNT.findall(data)) if _COUNTS.search(data) else {}
    counts = {name.decode("ascii"): int(number) for name, number in pages.items()}
    of_nodes = _summed(nodes.values())
    page = _page_size(counts, of_nodes)
    info.counts = _summed(info.zones.values()) | of_nodes
    info.counts |= {name: number * page for name, number in counts.items()}
    ram = {name: int(number) * page for number, name in _RAM.findall(data)}
    info.ram_bytes = max(ram.get(b"RAM", 0) - ram.get(b"reserved", 0), 0)
    info.swap = {name.decode(): int(size) * KIB for name, size in _SWAP.findall(data)}
    return info if info.zones or nodes or counts else None


def lines_of_mem_info(data: bytes) -> set[int]:
    """Return the lines, from 1, of the reports in a text of another kind."""
    if mem_info(data) is None:
        return set()
    forms = (_ZONE, _NODE, _COUNTS, _PART)
    lines = enumerate(data.split(b"\n"), start=1)
    return {number for number, line in lines if any(form.search(line) for form in forms)}


def _zones(data: bytes) -> dict[str, dict[str, int]]:
    zones = {}
    for found in _ZONE.finditer(data):
        node = b"" if found["node"] in (None, b"0") else b" of node " + found["node"]
        name = (found["zone"] + node).decode("ascii")
        zones[name] = {"free": int(found["free"]) * KIB} | _sizes(found["rest"])
    return zones


def _sizes(text_of: bytes) -> dict[str, int]:
    return {name.decode("ascii"): int(size) * KIB for name, size in _SIZE.findall(text_of)}


def _summed(parts: Iterable[dict[str, int]]) -> dict[str, int]:
    sums: Counter[str] = Counter()
    for part in parts:
        sums.update(part)
    return dict(sums)


def _page_size(counts: dict[str, int], of_nodes: dict[str, int]) -> int:
    """Return the size of a page, by a number that the report has in pages and in kB."""
    name = max(counts.keys() & of_nodes.keys(), key=lambda name: counts[name], default="")
    if not counts.get(name):
        return USUAL_PAGE
    return max(of_nodes[name] // counts[name], 1)
