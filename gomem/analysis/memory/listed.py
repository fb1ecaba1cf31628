"""Which process of a pasted table does the capture show, and what does the table say about it?

A process killed by the OOM killer comes first, then a process identified by a PID or a name in the
capture. Otherwise the largest process is taken, and the output says so; so it is of several killed.
Processes are never added up, because they share pages.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gomem.inputs.processes.oom import OOM
from gomem.inputs.processes.row import TOOLS, program_of
from gomem.inputs.schema import rows_of
from gomem.units import is_unknown

if TYPE_CHECKING:
    from collections.abc import Collection

    import pandas as pd

COARSE = 1e-3


@dataclass(frozen=True)
class Listed:
    """A process or a container in a table.

    Attributes:
        tool: The tool that printed it.
        name: The program, without folder and arguments; or the container's name.
        pid: The PID; None for a container.
        rss_bytes: RSS; None for a container.
        working_set_bytes: Use of a container's cgroup, without inactive page cache; else None.
        step_bytes: The rounding of these sizes.
        file_bytes: File pages in RSS; None if unknown.
        shmem_bytes: Shared memory in RSS; None if unknown.
        shared_bytes: Files and shared memory in RSS (SHR in top); None if unknown.
        limit_bytes: The limit of the cgroup; None if there is no limit, or if unknown.
        threads: The number of threads; None if the table does not count them.
        killed_in: What was full when the OOM killer killed it: `cgroup`, `machine`; or empty.
        kills: How many times the OOM killer killed this program, according to the table.
        kill_seconds: From the first of these kills to the last; None without times.
        others: How many other processes or containers the table has.
        is_largest: Whether it was chosen as the largest of several.
        shares_limit: Whether several containers are listed, all with the same limit.
        mapped_bytes: The address space (VSZ, VIRT); None if unknown.
        larger: Name, PID and RSS of the largest process listed beside a killed one, if larger.
        also_killed: Name and RSS of the other killed processes, the largest first.
    """

    tool: str
    name: str
    pid: int | None
    rss_bytes: int | None
    working_set_bytes: int | None
    step_bytes: int
    file_bytes: int | None
    shmem_bytes: int | None
    shared_bytes: int | None
    limit_bytes: int | None
    threads: int | None
    killed_in: str
    kills: int
    kill_seconds: float | None
    others: int
    is_largest: bool
    shares_limit: bool = False
    mapped_bytes: int | None = None
    larger: tuple[str, int, int] | None = None
    also_killed: tuple[tuple[str, int], ...] = ()

    @property
    def is_candidate(self) -> bool:
        """Whether it is the largest of the OOM killer's table, which shows no killed process."""
        return self.tool == OOM and self.is_largest and not self.killed_in

    @property
    def is_coarse(self) -> bool:
        """Whether sizes are rounded so much that three digits show it."""
        size = self.rss_bytes or self.working_set_bytes or 0
        return self.step_bytes > COARSE * size


def listed_process(
    rows: pd.DataFrame, pid: int | None = None, names: Collection[str] = (), tool: str = ""
) -> Listed | None:
    """Return the process to report, from the last reading; None if no row has a size.

    `pid` and `names` (of programs) come from the rest of the capture. If they come from another
    table of the same `tool`, a table without the PID (or the name, if there is no PID) shows other
    processes, and the result is None.
    """
    if not len(rows):
        return None
    last = rows[rows["reading"] == rows["reading"].max()]
    listed = list(rows_of(last))
    every = [row for row in listed if _size(row)]
    if not every:
        return None
    killed = [row for row in reversed(every) if row["killed_in"]]
    by_pid = [row for row in every if pid is not None and row["pid"] == pid]
    by_name = [row for row in every if program_of(row["name"]) in names]
    is_there = by_pid or (pid is None and by_name) or killed
    if tool and not is_there and {row["tool"] for row in every} == {tool}:
        return None
    meant = (
        [row for row in killed if row in by_pid or row in by_name] or killed or by_pid or by_name
    )
    own = [row for row in every if program_of(row["name"]) not in TOOLS] or every
    row = max(meant or own, key=_size)
    program = program_of(row["name"])
    # A line that is truncated after the name has no size, but it is still a kill.
    kills = [
        kill
        for kill in listed
        if kill["killed_in"] and row in killed and program_of(kill["name"]) == program
    ]
    times = [kill["printed_at"] for kill in kills if not is_unknown(kill["printed_at"])]
    gone = {kill["pid"] for kill in (*kills, *killed)} - {row["pid"]}
    also = sorted((kill for kill in killed if kill["pid"] in gone), key=_size, reverse=True)
    every = [other for other in every if other["pid"] is None or other["pid"] not in gone]
    largest = max((row for row in every if row["pid"] not in gone), key=_size)
    is_larger = bool(killed) and _size(largest) > _size(row)
    every += [other for other in listed if other["tool"] == OOM and other["rss_bytes"] == 0]
    # of two hosts, containers can have one name
    known = {(row["pid"], (row["name"], row["line"]) * (row["pid"] is None)) for row in every}
    return Listed(
        row["tool"],
        program,
        row["pid"],
        row["rss_bytes"],
        row["working_set_bytes"],
        row["step_bytes"],
        row["file_bytes"],
        row["shmem_bytes"],
        row["shared_bytes"],
        row["limit_bytes"],
        row["threads"],
        row["killed_in"],
        len(kills),
        (times[-1] - times[0]).total_seconds() if len(times) == len(kills) > 1 else None,
        len(known) - 1,
        len(known) > 1 and not killed and row is max(own, key=_size),
        len(known) > 1 and row["pid"] is None and len({row["limit_bytes"] for row in every}) == 1,
        row["mapped_bytes"],
        (program_of(largest["name"]), largest["pid"], _size(largest)) if is_larger else None,
        tuple((program_of(kill["name"]), _size(kill)) for kill in also),
    )


def _size(row: dict[str, object]) -> int:
    size = row["rss_bytes"] or row["working_set_bytes"]
    return size if isinstance(size, int) else 0
