"""Processes and containers of a pasted table, one row each."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from gomem.inputs.cgroup.table import CGROUP
from gomem.inputs.processes.containers import DOCKER_STATS
from gomem.inputs.processes.docker_releases import CACHELESS_DOCKER, excludes_all_cache
from gomem.inputs.processes.oom import OOM
from gomem.inputs.processes.parse import looks_like_processes, parse_processes
from gomem.inputs.processes.row import of_one_reading
from gomem.inputs.schema import Column, Frames, build_rows
from gomem.inputs.unwrap import read_plain
from gomem.inputs.wrong_file import reads
from gomem.numbered import Label
from gomem.text import Words

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    import pandas as pd

    from gomem.inputs.processes.row import ProcessRow
    from gomem.sources.artefact import Source

PROCESSES = (
    Column("reading", "int64", "", "Which listing of the file, from 0."),
    Column("printed_at", "datetime64[ns, UTC]", "", "When, if a line says the date."),
    Column(
        "tool", "str", "", "What printed it: ps, top, docker stats, kubectl top, OOM killer.", Words
    ),
    Column("name", "str", "", "Command as it was printed; name of a container.", Label),
    Column("pid", "Int64", "", "Process number; of its own namespace in a container."),
    Column("rss_bytes", "Int64", "B", "RSS; missing of a container, whose tools do not say it."),
    Column(
        "working_set_bytes", "Int64", "B", "Used by a container's cgroup, less inactive page cache."
    ),
    Column("step_bytes", "Int64", "B", "What RSS or the working set is rounded to."),
    Column("mapped_bytes", "Int64", "B", "Address space."),
    Column("shared_bytes", "Int64", "B", "Resident pages of files and shared memory (SHR)."),
    Column("anon_bytes", "Int64", "B", "Resident, anonymous."),
    Column("file_bytes", "Int64", "B", "Resident pages of files."),
    Column("shmem_bytes", "Int64", "B", "Resident shared memory."),
    Column("swap_bytes", "Int64", "B", "Swapped out."),
    Column("limit_bytes", "Int64", "B", "Limit of its cgroup; missing if none is printed."),
    Column("threads", "Int64", "", "Number of threads (NLWP)."),
    Column(
        "killed_in",
        "str",
        "",
        "What ran out as the OOM killer ended it: cgroup, machine; or empty.",
        Words,
    ),
    Column("age_seconds", "Int64", "s", "Time since its start (ELAPSED)."),
    Column("line", "int64", "", "Line in the file, from 1."),
    Column("time_of_day", "str", "", "When, if a line says that without a date.", Words),
)


@dataclass(frozen=True)
class Processes(Frames):
    """Processes or containers: `processes`, a row each; `cgroup`, from the OOM killer's lines."""

    processes: pd.DataFrame
    cgroup: pd.DataFrame

    @property
    def time(self) -> datetime | None:
        """When the last reading was printed; None if unknown."""
        known = self.processes["printed_at"].dropna()
        return None if known.empty else known.iloc[-1].to_pydatetime(warn=False)

    @property
    def time_of_day(self) -> str:
        """When the last reading was printed, as `07:13:48`, if only that is known; else empty."""
        return "" if self.processes.empty else str(self.processes["time_of_day"].iloc[-1])

    @property
    def age(self) -> tuple[int, int] | None:
        """PID and age in seconds of the only process in the last reading; None without both."""
        last = self.processes[self.processes["reading"] == self.processes["reading"].max()]
        if len(last) != 1 or last[["pid", "age_seconds"]].isna().any(axis=None):
            return None
        return int(last["pid"].iloc[0]), int(last["age_seconds"].iloc[0])

    @property
    def dumps(self) -> Iterator[Processes]:
        """Yield each reading separately, in the file's order."""
        if self.processes.empty:  # the OOM killer's lines have only the cgroup
            yield replace(self, damaged=())
        for _, rows in self.processes.groupby("reading"):
            yield replace(self, processes=rows.reset_index(drop=True), damaged=())


def _row(row: ProcessRow) -> tuple[object, ...]:
    size = row.rss or row.working_set
    rss, used, step = (
        row.rss and row.rss.bytes,
        row.working_set and row.working_set.bytes,
        size and size.step_bytes,
    )
    parts = (row.mapped_bytes, row.shared_bytes, row.anon_bytes, row.file_bytes, row.shmem_bytes)
    who = (row.reading, row.time, row.tool, row.name, row.pid)
    rest = (row.swap_bytes, row.limit_bytes, row.threads, row.killed_in, row.age_seconds)
    return (*who, rss, used, step, *parts, *rest, row.line, row.time_of_day)


@reads("a table of processes, such as ps aux prints", "processes")
def read_processes(source: Source) -> Processes:
    """Read the output of ps, top, docker stats, kubectl top or the OOM killer.

    Raises FormatError if there is no process.
    """
    looks_like = partial(looks_like_processes, name=source.name)
    table, damaged, text = read_plain(source, looks_like, parse_processes)
    rows = build_rows(map(_row, of_one_reading(table.rows)), PROCESSES)
    if excludes_all_cache(source.data):
        rows["tool"] = rows["tool"].replace(DOCKER_STATS, CACHELESS_DOCKER)
    rows["line"] = text.lines(rows["line"].to_numpy())
    sizes = [(OOM, name, size) for name, size in table.cgroup.items()]
    return Processes(rows, build_rows(sizes, CGROUP), damaged=damaged)
