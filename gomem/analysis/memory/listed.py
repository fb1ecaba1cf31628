"""Which process of a pasted table is in question, and what does the table say about it?

The process that the OOM killer ended comes first, then the one that a PID or a name in the capture
identifies. Otherwise it is the largest, and the output says so. Several processes are never added
up, because they share pages.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gomem.inputs.processes.row import TOOLS, program_of
from gomem.inputs.schema import rows_of
from gomem.units import is_unknown

if TYPE_CHECKING:
    from collections.abc import Collection

    import pandas as pd

COARSE = 1e-3


@dataclass(frozen=True)
class Listed:
    """A process or a container of a table.

    Attributes:
        tool: What printed it.
        name: Its program, without its folder and arguments; or the container's name.
        pid: Its number, if it is a process.
        rss_bytes: RSS; None of a container.
        working_set_bytes: What a container's cgroup uses, less inactive page cache; else None.
        step_bytes: What either is rounded to.
        file_bytes: Of RSS pages of files; None if the table does not say.
        shmem_bytes: Of RSS shared memory; None likewise.
        shared_bytes: Of RSS files and shared memory together (SHR of top); None likewise.
        limit_bytes: The limit of its cgroup; None if nothing says, or there is none.
        killed_in: What ran out as the OOM killer ended it: `cgroup`, `machine`; or empty.
        kills: How many times the OOM killer ended a process of this program, by what is listed.
        kill_seconds: From the first of these kills to the last; None if no line says the time.
        others: How many others the table has.
        is_largest: Whether it is the largest of several, by which it is chosen unless more is said.
        shares_limit: Whether several containers are listed, all with the same limit.
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
    killed_in: str
    kills: int
    kill_seconds: float | None
    others: int
    is_largest: bool
    shares_limit: bool = False

    @property
    def is_coarse(self) -> bool:
        """Whether the rounding shows in three digits."""
        size = self.rss_bytes or self.working_set_bytes or 0
        return self.step_bytes > COARSE * size


def listed_process(
    rows: pd.DataFrame, pid: int | None = None, names: Collection[str] = (), tool: str = ""
) -> Listed | None:
    """The process in question of the last reading; None where no row has a size.

    `pid` and `names`, of programs, are what the rest of the capture says of the process. Where a
    table of `tool` says them, another table of it without this PID is of other processes.
    """
    last = rows[rows["reading"] == rows["reading"].max()]
    listed = list(rows_of(last))
    every = [row for row in listed if _size(row)]
    if not every:
        return None
    killed = [row for row in every if row["killed_in"]]
    by_pid = [row for row in every if pid is not None and row["pid"] == pid]
    by_name = [row for row in every if program_of(row["name"]) in names]
    if tool and not (by_pid or killed) and {row["tool"] for row in every} == {tool}:
        return None
    meant = killed[-1:] or by_pid or by_name
    own = [row for row in every if program_of(row["name"]) not in TOOLS] or every
    row = max(meant or own, key=_size)
    program = program_of(row["name"])
    # A line that is cut behind the name has no size, and is a kill all the same.
    kills = [
        kill
        for kill in listed
        if kill["killed_in"] and row in killed and program_of(kill["name"]) == program
    ]
    times = [kill["printed_at"] for kill in kills if not is_unknown(kill["printed_at"])]
    gone = {kill["pid"] for kill in kills} - {row["pid"]}
    every = [other for other in every if other["pid"] is None or other["pid"] not in gone]
    known = {(row["pid"], row["name"] if row["pid"] is None else "") for row in every}
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
        row["killed_in"],
        len(kills),
        (times[-1] - times[0]).total_seconds() if len(times) == len(kills) > 1 else None,
        len(known) - 1,
        len(known) > 1 and not killed and row is max(own, key=_size),
        len(known) > 1 and row["pid"] is None and len({row["limit_bytes"] for row in every}) == 1,
    )


def _size(row: dict[str, object]) -> int:
    size = row["rss_bytes"] or row["working_set_bytes"]
    return size if isinstance(size, int) else 0
