"""Memory of cgroups as systemd-cgtop and Nomad print it: gomem only reports it.

systemd-cgtop   CGroup  Tasks  %CPU  Memory  Input/s  Output/s     (`Control Group` before 255)
                system.slice/api.service  14  8.1  2.9G  -  -      memory.current: with page cache
Nomad           CPU  Memory  Disk  …  and below it  122/500 MHz  489 MiB/512 MiB  300 MiB
                `nomad alloc status -stats` has `Cache  Max Usage  RSS  Swap` below `Memory Stats`
"""

from __future__ import annotations

import re

from gomem.inputs.processes.row import bytes_of
from gomem.inputs.resemblance import ASK_CAPTURE, Resemblance, quoted
from gomem.text import Text, joined, text

NAMED = 3  # cgroups
_CGTOP = re.compile(
    rb"^[ \t>]*(?:CGroup|Control Group) +(?:Tasks|Proc\w*) +%CPU +Memory +Input/s", re.MULTILINE
)
_GROUP = re.compile(
    rb"^[ \t>]*(?P<name>/?[^\s/]\S{0,300}) +(?:\d{1,7}|-) +(?:[\d.]{1,8}|-)"
    rb" +(?P<size>\d[\d.]{0,8}[BKMGT]?) +\S+ +\S+[ \t]*\r?$",
    re.MULTILINE,
)
_SIZE = rb"\d[\d.]{0,8} [KMGT]?i?B"
_TASK = re.compile(
    rb"^[ \t>]*CPU +Memory +Disk\b[^\n]*\n[ \t>]*\d+/\d+ MHz +(?P<used>" + _SIZE + rb")/(?P<limit>"
    + _SIZE + rb")(?P<rest>[^\n]*)", re.MULTILINE,
)  # fmt: skip
_STATS = re.compile(
    rb"^[ \t>]*Cache +(?:Max Usage +)?RSS\b[^\n]*\n[ \t>]*(?P<cache>" + _SIZE + rb") +(?:" + _SIZE
    + rb" +)?(?P<rss>" + _SIZE + rb")", re.MULTILINE,
)  # fmt: skip
_KILLED = re.compile(rb"\bOOM Killed\b")
_ASK_CGTOP = (
    "that is memory.current, with page cache; cat /sys/fs/cgroup/GROUP/memory.stat > memory.stat "
    "says how much of it (version 1: memory.usage_in_bytes, /sys/fs/cgroup/memory/GROUP)"
)
_ASK_NOMAD = "nomad alloc status -stats ID says how much of it is RSS and cache"


def table_of_cgtop(head: bytes, _: str) -> Resemblance | None:
    """Describe the largest cgroups of systemd-cgtop that have none below them."""
    begun = _CGTOP.search(head)
    groups = {} if begun is None else dict(_GROUP.findall(head, begun.end()))
    leaves = [
        name
        for name in groups
        if not any(other.startswith(name.rstrip(b"/") + b"/") for other in groups)
    ]
    if not leaves:
        return None
    leaves.sort(key=lambda name: -bytes_of(groups[name]))
    said = (text("{} has {}", quoted(name), quoted(groups[name])) for name in leaves[:NAMED])
    what = text("what systemd-cgtop printed: {}", joined(", ", said))
    return Resemblance(what, _ASK_CGTOP, is_evidence=True)


def task_of_nomad(head: bytes, _: str) -> Resemblance | None:
    """Describe the memory of a Nomad task, and its limit."""
    task = _TASK.search(head)
    if task is None:
        return None
    stats = _STATS.search(head)
    parts = Text()
    if stats is not None:
        parts = text(", {} of it RSS, {} cache", quoted(stats["rss"]), quoted(stats["cache"]))
    killed = "; it was killed for want of memory (OOM Killed)" * bool(_KILLED.search(head))
    words = "what Nomad says of a task: it uses {} of {}{}{}"
    what = text(words, quoted(task["used"]), quoted(task["limit"]), parts, killed)
    return Resemblance(what, ASK_CAPTURE if stats else _ASK_NOMAD, is_evidence=True)
