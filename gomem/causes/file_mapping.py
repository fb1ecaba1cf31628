"""Files and shared memory that the program has mapped count in RSS, and are no heap.

Clean pages of a file are page cache: the kernel takes them back when memory is short, so they
bring no process to its limit. Pages of shared memory (memfd, /dev/shm, tmpfs) have no file to go
back to, and written pages of a private mapping are the process's own: both stay.
"""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from gomem.analysis.memory.groups import FILES
from gomem.causes.cause import Cause
from gomem.causes.evidence import known, of_rss, rss_evidence
from gomem.causes.finding import Evidence, Finding, Severity
from gomem.causes.sites import called_by, caller_sites
from gomem.text import Count, File, MomentName, Text, text
from gomem.units import format_bytes

if TYPE_CHECKING:
    import pandas as pd

    from gomem.causes.case import Case
    from gomem.facts.moment import MomentFacts

KINDS = ("mapped-file", "shared-memory")
SHOWN = 3  # files named as evidence


def find(case: Case) -> list[Finding]:
    """One finding for each moment with many pages of files or of shared memory."""
    return case.at_moments(_at)


CAUSE = Cause(
    code="file-mapping",
    mechanism="The program, or a library such as an embedded database, has mapped files. Clean "
    "pages of them count in RSS, but the kernel takes them back when memory is short. Shared "
    "memory (memfd, /dev/shm) and written private pages stay: a container's limit counts them.",
    remedy="Compare RssAnon, not RSS, with the heap. To have fewer pages resident, map less, call "
    "madvise(MADV_DONTNEED) on what has been read, or read instead of mapping; unmap and close "
    "shared memory that is no longer needed.",
    references=("mmap(2)", "memfd_create(2)", "proc_pid_status(5): RssAnon, RssFile"),
    bears_on=("mappings",),
    rule=find,
    claims=frozenset({FILES}),
    past="mapped files and shared memory took",
)
_CLEAN = (
    "It brings no process to its limit: the kernel takes clean pages back before it kills, and a "
    "container's working set counts the recently used ones alone. "
)


def staying_bytes(mine: pd.DataFrame) -> int:
    """Resident bytes that the kernel cannot take back without swap.

    All of shared memory, and of files the pages that the program has written itself: those are
    copies, and anonymous. Private_Dirty has pages too that whoever wrote the file has left in the
    page cache: the kernel writes them to disk and takes them back.
    """
    shared = mine["kind"] == "shared-memory"
    copied = mine.loc[~shared, "Anonymous"].fillna(0)
    return int(mine.loc[shared, "Rss"].sum() + copied.sum())


def _at(moment: MomentFacts, case: Case) -> Finding | None:
    """A warning if what stays is much by itself: page cache alone is none."""
    if moment.mappings is None:
        return None
    limits, callers, rss = case.thresholds, case.facts.callers.mapping, moment.rss_bytes or 0
    mine = _files(moment)
    assert mine is not None
    size, staying = int(mine["Rss"].sum()), staying_bytes(mine)
    if size < limits.notable(limits.file_bytes, moment.rss_bytes):
        return None
    is_large = staying >= max(limits.file_bytes, limits.large_rss_fraction * rss)
    by_path = mine.groupby("path")["Rss"].sum().sort_values(ascending=False, kind="stable")
    sums = {
        "Rss of mapped files and shared memory": size,
        "Rss of it that cannot be reclaimed": staying,
    }
    smaps = moment.path("smaps")
    largest = (
        Evidence(smaps, f"Rss of {_name(path)}", int(resident), "B")
        for path, resident in by_path.head(SHOWN).items()
    )
    return CAUSE.finding(
        Severity.WARNING if is_large else Severity.INFO,
        text(
            "{}: {}",
            _whose(by_path, of_rss(size, rss), _at_first(moment, len(by_path), case)),
            _reclaim(size, staying),
        ),
        moment=moment.name,
        size=size,
        evidence=(*largest, *known(smaps, "B", sums), *rss_evidence(moment)),
        next_step=("" if is_large else _CLEAN) + called_by(callers, "mmap") + CAUSE.remedy,
        sites=caller_sites(callers, limits, size),
    )


def _files(moment: MomentFacts) -> pd.DataFrame | None:
    """The mappings of files and of shared memory; None without smaps."""
    if moment.mappings is None:
        return None
    is_file = moment.mappings["kind"].isin(KINDS) & ~moment.is_shared_anonymous
    return moment.mappings[is_file]


def _at_first(moment: MomentFacts, files: int, case: Case) -> Text:
    """How many there were at the first moment, where that was a part of what the last has."""
    mapped = [(one, found) for one in case.facts.moments if (found := _files(one)) is not None]
    (first, found), (last, _) = mapped[0], mapped[-1]
    before = found["path"].nunique()
    if moment is not last or files <= case.thresholds.rise_ratio * before:
        return Text()
    return text(" ({} at {})", Count(before), MomentName(first.name))


def _whose(by_path: pd.Series, share: str, at_first: Text) -> Text:
    """Which file takes it, or the largest of several."""
    largest = _name(by_path.index[0])
    if len(by_path) == 1:
        return text("the mapped file or shared memory {} takes {}", File(largest), share)
    return text(
        "{} files{}, mapped or in shared memory, take {}, the largest, {}, {}",
        Count(len(by_path)),
        at_first,
        share,
        File(largest),
        format_bytes(int(by_path.iloc[0])),
    )


def _reclaim(size: int, staying: int) -> str:
    if staying == 0:
        return "the kernel takes all of it back when memory is short"
    if staying == size:
        return "none of it can be reclaimed without swap"
    return (
        f"{format_bytes(staying)} of it cannot be reclaimed without swap, the rest can when "
        "memory is short"
    )


def _name(path: object) -> str:
    """The file without its folders: a report gets shared."""
    return PurePosixPath(str(path)).name or "shared anonymous memory"
