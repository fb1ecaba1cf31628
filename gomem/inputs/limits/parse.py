"""/proc/PID/limits: the resource limits of the process.

Printed by    proc_pid_limits, in the kernel's fs/proc/base.c: columns of fixed width.
Quirks        `unlimited` means no limit. Only the width separates the columns, because the names
              contain spaces. The soft limit of the stack is the size that glibc gives to thread
              stacks.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from gomem.errors import Damage, excerpt

HEADER = re.compile(rb"Limit +Soft Limit +Hard Limit +Units\s*")
NO_LIMIT = 2**63  # numbers from here on mean no limit
LINE = re.compile(rb"(Max [a-z -]+?) {2,}(\d{1,20}|unlimited) +(\d{1,20}|unlimited) *([a-z]*) *")


class Limit(NamedTuple):
    """One resource's limits; None means no limit."""

    name: str
    soft: int | None
    hard: int | None
    unit: str


def looks_like_limits(data: bytes) -> bool:
    """Whether the content begins with the kernel's header of /proc/PID/limits."""
    return HEADER.fullmatch(data.split(b"\n", 1)[0]) is not None


def parse_limits(data: bytes, *, source: str) -> tuple[list[Limit], list[Damage]]:
    """Parse /proc/PID/limits; any line of another form becomes damage."""
    limits: list[Limit] = []
    damage: list[Damage] = []
    for number, line in enumerate(data.splitlines()[1:], start=2):
        match = LINE.fullmatch(line)
        if match:
            name, unit = match[1].decode("ascii"), match[4].decode("ascii")
            limits.append(Limit(name, _number(match[2]), _number(match[3]), unit))
        else:
            what = "not a line of /proc/PID/limits; wanted a name, two limits and a unit"
            damage.append(Damage(source, f"line {number}", what, excerpt(line)))
    return limits, damage


def _number(text: bytes) -> int | None:
    return None if text == b"unlimited" or int(text) >= NO_LIMIT else int(text)
