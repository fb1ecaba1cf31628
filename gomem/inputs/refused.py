"""Calls that the kernel refused with ENOMEM, as programs log them; gomem only reports them.

Printed by    Go's syscall.Errno: `cannot allocate memory`, behind the call or what it was for.
Form          Mmap value log file. Path=/data/0.vlog. Error=cannot allocate memory
              fork/exec /usr/bin/git: cannot allocate memory
mmap fails where address space or a limit on it is used up, fork where the kernel could not commit
the child's copy (mmap(2), fork(2), proc_sys_vm(5)). Neither says anything about RSS.
"""

from __future__ import annotations

import re

from gomem.inputs.resemblance import Resemblance
from gomem.text import Count, joined, text

_REFUSED = re.compile(
    rb"\b(mmap|fork/exec|clone|fork)2?\b[^\n]{0,400}?\b(?:cannot allocate memory|ENOMEM)\b",
    re.IGNORECASE,
)
MMAP = "mmap"
_ASK_MMAP = (
    "no RSS is in it: a 32-bit program has at most 4 GiB of addresses (go version -m PROGRAM names "
    "its GOARCH), else ulimit -v, vm.max_map_count or vm.overcommit_memory limits it; "
    "grep VmSize /proc/PID/status has what is mapped"
)
_ASK_FORK = (
    "the kernel could not commit what the new process might write: grep Commit /proc/meminfo has "
    "the machine's limit, sysctl vm.overcommit_memory whether it is in force"
)


def refused_for_memory(head: bytes, _: str) -> Resemblance | None:
    """Describe calls that failed with ENOMEM: which, and how often."""
    calls = [call.decode("ascii").lower() for call in _REFUSED.findall(head)]
    if not calls:
        return None
    names = dict.fromkeys(calls)
    each = (text("{} failed {}", name, Count(calls.count(name), "time")) for name in names)
    what = text("a log of the kernel's refusals (ENOMEM): {}", joined(", ", each))
    return Resemblance(what, _ASK_MMAP if MMAP in names else _ASK_FORK)
