"""A process or a container of a table, and sizes that were rounded before they were printed."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from gomem.units import ADDRESS_SPACE_BYTES, GIB, KIB, MIB, TIB

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

TOOLS = frozenset({"grep", "ps", "top", "htop"})  # that list themselves
# Programs that are in no Go, by their names in a list of processes.
NOT_GO = frozenset(
    {"postgres", "postmaster", "mysqld", "mariadbd", "mongod", "redis-server", "clickhouse-serv"}
    | {"python", "python2", "python3", "java", "node", "ruby", "perl", "php", "php-fpm", "R"}
    | {"nginx", "httpd", "apache2", "chrome", "firefox", "qemu-system-x86"}
)
SIZE = re.compile(rb"(\d{1,15})(?:\.(\d{1,3}))? ?([A-Za-z]{0,3})")
BINARY = {b"k": KIB, b"m": MIB, b"g": GIB, b"t": TIB}
UNITS = {b"b": 1, b"kb": 10**3, b"mb": 10**6, b"gb": 10**9, b"tb": 10**12} | {
    letter + rest: factor for letter, factor in BINARY.items() for rest in (b"", b"i", b"ib")
}


@dataclass(frozen=True, slots=True)
class Rounded:
    """A size, and the step of its last digit."""

    bytes: int
    step_bytes: int


def rounded_size(text: bytes, *, bare: int = 1) -> Rounded | None:
    """A size such as `76.7m`, `330.4MiB`, `12 GiB` or, in units of `bare`, `46120`; else None."""
    match = SIZE.fullmatch(text.strip())
    if match is None:
        return None
    unit = match[3].lower()
    each = UNITS.get(unit) if unit else bare
    if each is None:
        return None
    digits = len(match[2] or b"")
    value = int(match[1] + (match[2] or b"")) * each // 10**digits
    return Rounded(value, max(1, each // 10**digits)) if value <= ADDRESS_SPACE_BYTES else None


@dataclass(frozen=True, slots=True)
class ProcessRow:
    """A process or a container at one time; None for what its tool does not say."""

    tool: str  # what printed it
    name: str  # command, or the container's name
    pid: int | None = None
    rss: Rounded | None = None
    working_set: Rounded | None = None  # of a container: its cgroup's, less inactive page cache
    mapped_bytes: int | None = None  # address space
    shared_bytes: int | None = None  # resident pages of files and shared memory, together
    anon_bytes: int | None = None
    file_bytes: int | None = None
    shmem_bytes: int | None = None
    swap_bytes: int | None = None
    limit_bytes: int | None = None
    # Where memory ran out as the OOM killer ended it: `cgroup`, `machine`; empty if it lives.
    killed_in: str = ""
    time: datetime | None = None
    reading: int = 0
    line: int = 0


@dataclass(frozen=True, slots=True)
class ProcessTable:
    """What was printed: rows in their order, and what the kernel says of the cgroup."""

    rows: tuple[ProcessRow, ...]
    # Of the OOM killer: the cgroup's numbers by the kernel's names; None for no limit.
    cgroup: Mapping[str, int | None] = field(default_factory=dict)


def program_of(command: str) -> str:
    """A command's program, without its folder; a container's name as it is."""
    words = (word for word in command.split() if "=" not in word)  # variables before the command
    program = next(words, "")
    return PurePosixPath(program).name if program.startswith(("/", "./")) else program
