"""A process or container in a table, and sizes that were rounded when printed."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from gomem.units import ADDRESS_SPACE_BYTES, GIB, KIB, MIB, TIB

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

TOOLS = frozenset({"grep", "ps", "top", "htop"})  # tools that list themselves
# Programs that are not written in Go, by name.
NOT_GO = frozenset(
    {"postgres", "postmaster", "mysqld", "mariadbd", "mongod", "redis-server", "clickhouse-serv"}
    | {"python", "python2", "python3", "java", "node", "ruby", "perl", "php", "php-fpm", "R"}
    | {"nginx", "httpd", "apache2", "chrome", "firefox", "qemu-system-x86"}
)
SIZE = re.compile(rb"(\d{1,15})(?:\.(\d{1,9}))? ?([A-Za-z]{0,3})")
BINARY = {b"k": KIB, b"m": MIB, b"g": GIB, b"t": TIB}
UNITS = {b"b": 1, b"kb": 10**3, b"mb": 10**6, b"gb": 10**9, b"tb": 10**12} | {
    letter + rest: factor for letter, factor in BINARY.items() for rest in (b"", b"i", b"ib")
}
DECIMAL = frozenset({b"k", b"M", b"G", b"T"})  # of Kubernetes' suffixes


@dataclass(frozen=True, slots=True)
class Rounded:
    """A size and its resolution."""

    bytes: int
    step_bytes: int


def rounded_size(text: bytes, *, bare: int = 1) -> Rounded | None:
    """Parse a size: `76.7m`, `330.4MiB`, `12 GiB`, or `46120` in units of `bare`; else None."""
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


def quantity(text: bytes) -> Rounded | None:
    """Parse a size as Kubernetes writes it: `3G` is 10^9 bytes each, `3Gi` is 2^30; else None."""
    is_decimal = text.strip()[-1:] in DECIMAL
    return rounded_size(text.strip() + b"B" if is_decimal else text)


def bytes_of(text: bytes) -> int:
    """Return a printed size in bytes; 0 if it is not one."""
    size = rounded_size(text)
    return 0 if size is None else size.bytes


@dataclass(frozen=True, slots=True)
class ProcessRow:
    """A process or container at one time; None for values that the tool does not print."""

    tool: str  # the tool that printed it
    name: str  # command, or container name
    pid: int | None = None
    rss: Rounded | None = None
    # of a container: the cgroup's charge minus inactive page cache
    working_set: Rounded | None = None
    mapped_bytes: int | None = None  # address space
    shared_bytes: int | None = None  # resident file and shared memory pages
    anon_bytes: int | None = None
    file_bytes: int | None = None
    shmem_bytes: int | None = None
    swap_bytes: int | None = None
    limit_bytes: int | None = None
    threads: int | None = None
    age_seconds: int | None = None  # since its start
    # What ran out of memory when the OOM killer killed it: `cgroup` or `machine`; empty if alive.
    killed_in: str = ""
    time: datetime | None = None
    time_of_day: str = ""  # of the reading, if only that is known
    container_id: bytes = b""  # of docker stats
    reading: int = 0
    line: int = 0


@dataclass(frozen=True, slots=True)
class ProcessTable:
    """The parsed table: rows in order, and the cgroup's numbers in the kernel's log."""

    rows: tuple[ProcessRow, ...]
    # From the OOM killer: the cgroup's numbers by the kernel's names; None means no limit.
    cgroup: Mapping[str, int | None] = field(default_factory=dict)


def of_one_reading(rows: Sequence[ProcessRow]) -> tuple[ProcessRow, ...]:
    """Join readings of docker stats whose containers have the same names, but all other IDs.

    These are of two hosts, or of containers that were created anew: not one that grew.
    """
    if not all(row.container_id for row in rows):
        return tuple(rows)
    ids = dict[str, set[bytes]]()
    for row in rows:
        ids.setdefault(row.name, set()).add(row.container_id)
    readings = len({row.reading for row in rows})
    is_other = readings > 1 and all(len(of_name) == readings for of_name in ids.values())
    return tuple(replace(row, reading=0) for row in rows) if is_other else tuple(rows)


def program_of(command: str) -> str:
    """Return a command's program without its directory; container names stay unchanged."""
    # environment variables before the command
    words = (word for word in command.split() if "=" not in word)
    program = next(words, "")
    return PurePosixPath(program).name if program.startswith(("/", "./")) else program


def with_whole_name(rows: Sequence[ProcessRow]) -> tuple[ProcessRow, ...]:
    """Complete the name in a cut last row from other rows of the same process.

    These have the same PID and tool.
    """
    if not rows or rows[-1].pid is None:
        return tuple(rows)
    last = rows[-1]
    same = (row.name for row in rows if (row.pid, row.tool) == (last.pid, last.tool))
    whole = max((name for name in same if name.startswith(last.name)), key=len, default=last.name)
    return (*rows[:-1], replace(last, name=whole))
