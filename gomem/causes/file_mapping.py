"""Files and shared memory that the program has mapped count in RSS, and are no heap.

Clean pages of a file are page cache: the kernel takes them back when memory is short, and keeps
no process from its limit. Pages of shared memory (memfd, /dev/shm, tmpfs) have no file to go back
to, and written pages of a private mapping are the process's own: both stay.
"""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from gomem.causes.finding import Evidence, Finding, Severity
from gomem.units import MIB, format_bytes, format_fraction

if TYPE_CHECKING:
    import pandas as pd

    from gomem.causes.answers import MomentFacts, Situation

CODE = "file-mapping"
KINDS = ("mapped-file", "shared-memory")
LEAST_BYTES = 4 * MIB
NOTABLE_SHARE = 0.10  # below a tenth of RSS nobody's limit or bill turns on it
LARGE_SHARE = 0.25  # of RSS, and staying: more than page cache, which alone is no warning
SHOWN = 3


def find(situation: Situation) -> list[Finding]:
    """One finding per moment with many pages of files or of shared memory."""
    return [
        _finding(moment, mine)
        for moment in situation.moments
        if moment.mappings is not None
        and (mine := moment.mappings[moment.mappings["kind"].isin(KINDS)])["Rss"].sum()
        >= max(LEAST_BYTES, NOTABLE_SHARE * (moment.rss_bytes or 0))
    ]


def staying_bytes(mine: pd.DataFrame) -> int:
    """Resident bytes that the kernel cannot take back without swap.

    All of shared memory, and what is private and written of files.
    """
    shared = mine["kind"] == "shared-memory"
    written = mine.loc[~shared, "Private_Dirty"].fillna(0)
    private = mine.loc[~shared, "perms"].str.endswith("p")
    return int(mine.loc[shared, "Rss"].sum() + written[private].sum())


def _finding(moment: MomentFacts, mine: pd.DataFrame) -> Finding:
    size, rss, staying = int(mine["Rss"].sum()), moment.rss_bytes or 0, staying_bytes(mine)
    large = staying >= max(LEAST_BYTES, LARGE_SHARE * rss)
    by_path = mine.groupby("path")["Rss"].sum().sort_values(ascending=False, kind="stable")
    smaps = moment.path("smaps")
    evidence = [
        Evidence(smaps, f"Rss of {_file_name(str(path))}", int(resident), "B")
        for path, resident in by_path.head(SHOWN).items()
    ]
    evidence += [
        Evidence(smaps, "Rss of mapped files and shared memory", size, "B"),
        Evidence(smaps, "Rss of it that cannot be reclaimed", staying, "B"),
        Evidence(smaps, "Rss", rss, "B"),
    ]
    return Finding(
        code=CODE,
        severity=Severity.WARNING if large else Severity.INFO,
        title=(
            f"{format_bytes(size)} ({format_fraction(size / rss)} of RSS) are mapped files and "
            f"shared memory; {format_bytes(staying)} of it cannot be reclaimed"
        ),
        moment=moment.name,
        bytes=size,
        evidence=tuple(evidence),
        mechanism=(
            "The program, or a library such as an embedded database, has mapped files. Clean "
            "pages of them count in RSS, but the kernel takes them back when memory is short. "
            "Shared memory (memfd, /dev/shm) and written private pages stay: a container's limit "
            "counts them."
        ),
        next_step=(
            "Compare RssAnon, not RSS, with the heap. To have fewer pages resident, map less, "
            "madvise(MADV_DONTNEED) what was read, or read instead of mapping; unmap and close "
            "shared memory that is done with."
        ),
        references=("mmap(2)", "memfd_create(2)", "proc_pid_status(5): RssAnon, RssFile"),
    )


def _file_name(path: str) -> str:
    """The file without its folders: a report gets shared."""
    return PurePosixPath(path).name or "shared anonymous memory"
