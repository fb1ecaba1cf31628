"""/proc/PID/numa_maps: the resident pages of each mapping, by NUMA node.

Printed by    show_numa_map of the kernel's fs/proc/task_mmu.c, only with CONFIG_NUMA.
Form          7f4a7b210000 default file=/usr/lib/x.so anon=9 dirty=9 N0=9 kernelpagesize_kB=4
Quirks        Pages of a mapping are the sum of its N0, N1 …; `mapped` is left out if all pages are
              anonymous or all are dirty. Huge pages of hugetlbfs (`huge`) are not in RSS.
              Pages of [vdso] are counted in smaps alone.
              There is no end address, so it cannot stand for smaps.
"""

from __future__ import annotations

import re
from collections import Counter

from gomem.inputs.resemblance import Resemblance
from gomem.text import Bytes, Count, joined, text
from gomem.units import KIB

MIN_ROWS = 2
_ROW = re.compile(
    rb"^[ \t]*[0-9a-f]{5,16} (?:default|local|(?:bind|interleave|prefer|weighted)\S*)"
    rb"(?P<rest>(?: [^\n]*)? N\d{1,4}=\d{1,12}[^\n]*)$",
    re.MULTILINE,
)
_NODE = re.compile(rb" N(\d{1,4})=(\d{1,12})")
_ANON = re.compile(rb" anon=(\d{1,12})")
_PAGE = re.compile(rb" kernelpagesize_kB=(\d{1,9})")
_HUGE = re.compile(rb" huge(?: |$)")
_ASK = "cat /proc/PID/smaps > smaps has the same memory in a form that gomem reads"


def pages_by_node(head: bytes, _: str) -> Resemblance | None:
    """Describe the resident memory of numa_maps: anonymous or of files, and by node."""
    rows = list(_ROW.finditer(head))
    if len(rows) < MIN_ROWS:
        return None
    nodes: Counter[int] = Counter()
    anonymous = 0
    for row in rows:
        rest = row["rest"]
        page = _PAGE.search(rest)
        each = int(page[1]) * KIB if page else 4 * KIB
        if _HUGE.search(rest):
            continue
        for node, pages in _NODE.findall(rest):
            nodes[int(node)] += int(pages) * each
        anon = _ANON.search(rest)
        anonymous += int(anon[1]) * each if anon else 0
    whole = sum(nodes.values())
    words = "numa_maps of a process: {} resident in {}, {} of it anonymous"
    what = text(words, Bytes(whole), Count(len(rows), "mapping"), Bytes(anonymous))
    if len(nodes) > 1:
        by_node = (text("{} on node {}", Bytes(size), str(node)) for node, size in nodes.items())
        what = text("{} ({})", what, joined(", ", by_node))
    return Resemblance(what, _ASK, is_evidence=True)
