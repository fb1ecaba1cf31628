"""The kernel's counters for a whole process, as one row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gomem.errors import FormatError
from gomem.inputs.schema import Column, Frames, build_rows
from gomem.inputs.status.parse import looks_like_statm, looks_like_status, parse_statm, parse_status
from gomem.inputs.unwrap import read_plain
from gomem.inputs.wrong_file import reads
from gomem.text import Program, Words

if TYPE_CHECKING:
    import pandas as pd

    from gomem.inputs.status.parse import Status
    from gomem.sources.artefact import Source

STATUS = (
    Column("Name", "str", "", "Program name, at most 15 bytes.", Program),
    Column("Threads", "Int64", "count", "Threads."),
    Column("VmPeak", "Int64", "B", "Largest address space so far."),
    Column("VmSize", "Int64", "B", "Address space."),
    Column("VmLck", "Int64", "B", "Locked."),
    Column("VmPin", "Int64", "B", "Pinned."),
    Column("VmHWM", "Int64", "B", "Largest resident set so far."),
    Column("VmRSS", "Int64", "B", "Resident: RssAnon + RssFile + RssShmem."),
    Column("RssAnon", "Int64", "B", "Resident, anonymous; MADV_FREE pages included."),
    Column("RssFile", "Int64", "B", "Resident pages of files."),
    Column("RssShmem", "Int64", "B", "Resident shared memory."),
    Column("VmData", "Int64", "B", "Private writable address space."),
    Column("VmStk", "Int64", "B", "Main thread's stack."),
    Column("VmExe", "Int64", "B", "Text of the executable."),
    Column("VmLib", "Int64", "B", "Text of libraries."),
    Column("VmPTE", "Int64", "B", "Page tables; in no RSS."),
    Column("VmSwap", "Int64", "B", "Swapped out, without shared memory."),
    Column("HugetlbPages", "Int64", "B", "hugetlbfs pages; in no RSS."),
    Column(
        "State",
        "str",
        "",
        "R running, S sleeping, D waiting for a disk, T stopped, t traced.",
        Words,
    ),
    Column("Pid", "Int64", "", "Process ID, in the PID namespace of whoever read it."),
    Column("step_bytes", "Int64", "B", "What sizes are rounded to: 1 KiB by the kernel."),
)
STATM = (
    Column("size", "int64", "pages", "Address space."),
    Column("resident", "int64", "pages", "Resident."),
    Column("shared", "int64", "pages", "Resident pages of files and shared memory."),
    Column("text", "int64", "pages", "Text of the executable."),
    Column("lib", "int64", "pages", "Always 0."),
    Column("data", "int64", "pages", "Private writable address space and stack."),
    Column("dt", "int64", "pages", "Always 0."),
)


@dataclass(frozen=True)
class ProcessStatus(Frames):
    """The kernel's counters for one process: `status`, one row; see `STATUS`."""

    status: pd.DataFrame


@dataclass(frozen=True)
class ProcessPages(Frames):
    """The counters in pages, from statm: `statm`, one row; see `STATM`."""

    statm: pd.DataFrame


def status_table(status: Status) -> pd.DataFrame:
    """Convert a status to one row; a field that the kernel does not print is `<NA>`."""
    found = {**status.sizes, **status.counts, "Name": status.name, "State": status.state}
    found["step_bytes"] = status.step
    return build_rows([[found.get(column.name) for column in STATUS]], STATUS)


@reads("/proc/PID/status", "status")
def read_status(source: Source) -> ProcessStatus:
    """Read /proc/PID/status; FormatError if it has no field of status."""
    status, damaged, _ = read_plain(source, looks_like_status, parse_status)
    if not status.sizes and not status.counts:
        raise FormatError(source.name, "", "no field with a number; wanted /proc/PID/status")
    return ProcessStatus(status_table(status), damaged=damaged)


@reads("/proc/PID/statm", "statm")
def read_statm(source: Source) -> ProcessPages:
    """Read /proc/PID/statm: seven numbers (or FormatError) in pages of unknown size."""
    pages, damaged, _ = read_plain(source, looks_like_statm, parse_statm)
    return ProcessPages(build_rows([pages], STATM), damaged=damaged)
