"""Mapped files and shared memory count in RSS but are not heap.

Clean file pages are page cache. The kernel reclaims page cache when memory is short, so page cache
does not push a process to its limit. Two kinds of pages stay. Pages of shared memory (memfd,
/dev/shm, tmpfs) have no file on disk, and written pages of a private mapping belong to the process.
If a file is deleted, or only its base name is known (pmap), nothing but a device's number says
whether its dirty pages can be written to a disk: that of tmpfs and of other file systems without a
disk of their own has 0 in front.

A deleted file keeps its pages and its place on the disk until no process has it open or mapped. So
many of them are mappings that nothing unmaps.
"""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import pandas as pd

from gomem.analysis.memory.groups import FILES
from gomem.analysis.memory.totals import mapped_file_bytes
from gomem.causes.cause import Case, Cause
from gomem.causes.commands import WHO_MAPS, sentences, with_files
from gomem.causes.evidence import known, of_rss, rss_evidence
from gomem.causes.finding import Evidence, Finding, Severity
from gomem.causes.sites import called_by, caller_sites
from gomem.text import Bytes, Command, Count, File, MomentName, Text, text

if TYPE_CHECKING:
    from gomem.facts.moment import MomentFacts

KINDS = ("mapped-file", "shared-memory")
SHOWN = 3  # files cited as evidence
DELETED = r" \(deleted\)$"


def find(case: Case) -> list[Finding]:
    """Return one finding per snapshot with many pages of files or shared memory."""
    return case.at_moments(_at)


_MAP_LESS = (
    "To keep fewer pages resident, map less, call madvise(MADV_DONTNEED) after reading, or read "
    "instead of mapping."
)
_SHARED = (
    "See where the shared memory is: {}. A file in /dev/shm or on another tmpfs keeps its pages "
    "until it is deleted or truncated, and no process has it open or mapped; madvise and munmap "
    "alone free nothing."
)
CAUSE = Cause(
    code="file-mapping",
    mechanism="The program, or a library such as an embedded database, has mapped files. Clean "
    "pages of mapped files count toward RSS, but the kernel reclaims such pages when memory is "
    "short. Shared memory (memfd, /dev/shm) and written private pages stay in RSS, and count "
    "toward a container's limit.",
    remedy=text(
        "Compare RssAnon, not RSS, with the heap: {}. {}",
        Command("grep ^Rss /proc/PID/status"),
        _MAP_LESS,
    ),
    references=("mmap(2)", "memfd_create(2)", "proc_pid_status(5): RssAnon, RssFile"),
    bears_on=("mappings",),
    rule=find,
    claims=frozenset({FILES}),
    past="mapped files and shared memory",
)
_PILE_UP = (
    "See which calls map files: {}. The number of file mappings rose from {} to {}: unmap each "
    "mapping after use, or map each file once and share the mapping."
)
_CLEAN = (
    "Nothing to do: before the kernel OOM-kills a process, it drops clean file pages, and writes "
    "dirty ones back to drop them."
)
_DIRTY = (
    "See where the files are: {}. On tmpfs (/dev/shm, and /tmp on some systems), dirty pages stay "
    "until the file is deleted and every mapping is unmapped, and they count toward the "
    "container's limit; on a disk, the kernel writes them back."
)
_FIND = "grep -e deleted -e /dev/shm {}"
_WHERE = Command(_FIND.format("/proc/PID/maps"))


_AGAIN = (
    "See which calls map files: {}. Unmap each mapping after use, or map the file once and share "
    "the mapping. The kernel allows a process 65 530 mappings (vm.max_map_count)."
)
_COUNTED_TWICE = (
    "The same part of the file is mapped again and again. RSS counts its pages once for each "
    "mapping, and they are in memory once; but each mapping stays until it is unmapped."
)


_OUTDATED = (
    "See which calls map files: {}. Unmap each file before it is deleted or replaced: until then "
    "it keeps its pages, and its space on the disk. See the files: {}."
)
_DISK = r"^0*[1-9a-fA-F][0-9a-fA-F]*:"  # of a device's number


def staying_bytes(mine: pd.DataFrame) -> int:
    """Return resident bytes that the kernel cannot reclaim without swap.

    All shared memory counts, and so do pages of private file mappings that the program has written,
    which are anonymous copies. Private_Dirty is not used: it includes pages that another writer
    left dirty in the page cache, which the kernel writes back and reclaims.
    """
    shared = mine["kind"] == "shared-memory"
    copied = mine.loc[~shared, "Anonymous"].fillna(0)
    return int(mine.loc[shared, "Rss"].sum() + copied.sum())


def dirty_bytes(mine: pd.DataFrame) -> int:
    """Return dirty bytes of files of which no name shows whether they are on a disk.

    These are shared mappings of deleted files without a disk's number, of files that pmap prints
    without a folder, and all mappings of files if nothing shows how much of them is private.
    """
    if "Dirty" in mine:
        dirty = mine["Dirty"]
    else:
        dirty = mine["Shared_Dirty"].fillna(0) + mine["Private_Dirty"].fillna(0)
    path, is_shared = mine["path"].astype("str"), mine["perms"].astype("str").str.endswith("s")
    on_disk = mine["device"].astype("str").str.contains(_DISK)
    has_place = path.str.startswith("/") & (on_disk | ~path.str.contains(DELETED))
    has_no_copies = mine["Anonymous"].isna()
    is_unknown = (is_shared & ~has_place) | (~is_shared & has_no_copies)
    return int(dirty[(mine["kind"] != "shared-memory") & is_unknown].fillna(0).sum())


def _at(moment: MomentFacts, case: Case) -> Finding | None:
    """Return a finding: a warning if much is unreclaimable; page cache alone is a note."""
    if moment.mappings is None:
        return _by_status(moment, case)
    limits, callers, rss = case.thresholds, case.facts.callers.mapping, moment.rss_bytes or 0
    mine = _files(moment)
    size, staying = int(mine["Rss"].sum()), staying_bytes(mine)
    if size < limits.notable(limits.file_bytes, moment.rss_bytes):
        return None
    if (again := _mapped_again(mine)) is not None and len(again) >= limits.same_mappings:
        return _again(again, moment, case)
    if (outdated := _outdated(mine, moment, case)) is not None:
        return outdated
    dirty = dirty_bytes(mine)
    is_large = staying + dirty >= max(limits.file_bytes, limits.large_rss_fraction * rss)
    by_path = mine.groupby("path")["Rss"].sum().sort_values(ascending=False, kind="stable")
    mapped = [moment for moment in case.facts.moments if moment.mappings is not None]
    before, at_first = _files(mapped[0]), Text()
    files_before = before["path"].nunique()
    if moment is mapped[-1] and len(by_path) > limits.rise_ratio * files_before:
        at_first = text(" ({} at {})", Count(files_before), MomentName(mapped[0].name))
    remedy = Text(CAUSE.remedy if is_large or dirty else _CLEAN)
    is_shared = mine["kind"] == "shared-memory"
    if is_large and mine.loc[is_shared, "Rss"].sum() > limits.most_share * size:
        remedy = text(_SHARED, with_files(_FIND, moment.path("smaps")))
    if len(mine) > limits.rise_ratio * len(before):  # mappings accumulate and are never unmapped
        remedy = text(_PILE_UP, WHO_MAPS, Count(len(before)), Count(len(mine)))
    if dirty:
        remedy = sentences(remedy, text(_DIRTY, _WHERE))
    sums = {
        "Rss of mapped files and shared memory": size,
        "Rss that cannot be reclaimed": staying,
    }
    if dirty:
        is_deleted = mine["path"].astype("str").str.contains(DELETED)
        sums |= {
            "Rss of deleted files": int(mine.loc[is_deleted, "Rss"].sum()),
            "dirty pages, unknown whether on a disk": dirty,
        }
    smaps = moment.path("smaps")
    largest = (
        Evidence(smaps, f"Rss of {name}", int(resident), "B")
        for name, resident in by_path.groupby(_name).sum().nlargest(SHOWN).items()
    )
    return CAUSE.finding(
        Severity.WARNING if is_large else Severity.INFO,
        _title(mine, by_path, (staying, dirty), rss, at_first),
        moment=moment.name,
        size=size,
        confidence="likely" if is_large and dirty > staying else "certain",
        evidence=(*largest, *known(smaps, "B", sums), *rss_evidence(moment)),
        next_step=sentences(remedy, called_by(callers, "mmap")),
        sites=caller_sites(callers, limits, size),
    )


def _by_status(moment: MomentFacts, case: Case) -> Finding | None:
    """Return a note if RssFile is far above the program's own text, so that it maps other files.

    RssFile has neither shared memory nor private copies.
    """
    status = case.facts.capture.status
    rows = status[status["moment"] == moment.name] if len(status) else status
    size = mapped_file_bytes(rows.iloc[-1]) if len(rows) else None
    limits, rss = case.thresholds, moment.rss_bytes or 0
    if size is None or size < max(1, limits.notable(limits.file_bytes, moment.rss_bytes)):
        return None
    said = {name: int(rows.iloc[-1][name]) for name in ("RssFile", "VmExe", "VmLib")}
    return CAUSE.finding(
        Severity.INFO,
        text("Mapped files take at least {}; {}", of_rss(size, rss), _reclaim(size, 0, 0)),
        moment=moment.name,
        size=size,
        confidence="likely",
        evidence=(*known(moment.path("status"), "B", said), *rss_evidence(moment)),
        next_step=_CLEAN,
    )


def _outdated(mine: pd.DataFrame, moment: MomentFacts, case: Case) -> Finding | None:
    """Return a finding if most mapped pages are of many deleted files, without shared memory."""
    limits, smaps, callers = case.thresholds, moment.path("smaps"), case.facts.callers.mapping
    is_deleted = mine["path"].astype("str").str.contains(DELETED)
    gone = mine[is_deleted & (mine["kind"] != "shared-memory")]
    count, size = int(gone["path"].nunique()), int(gone["Rss"].sum())
    least = limits.notable(limits.file_bytes, moment.rss_bytes)
    if count < limits.deleted_files or size < max(least, limits.most_share * mine["Rss"].sum()):
        return None
    words = "File mappings pile up: {} deleted files are still mapped, and have {}"
    return CAUSE.finding(
        Severity.WARNING,
        text(words, Count(count), of_rss(size, moment.rss_bytes or 0)),
        moment=moment.name,
        size=size,
        confidence="possible",
        evidence=(
            *known(smaps, "count", {"mapped files": int(mine["path"].nunique()), "deleted": count}),
            *known(
                smaps,
                "B",
                {"Rss of deleted files": size, "Rss that cannot be reclaimed": staying_bytes(mine)},
            ),
            *rss_evidence(moment),
        ),
        next_step=sentences(
            text(_OUTDATED, WHO_MAPS, with_files("grep deleted {}", smaps)),
            called_by(callers, "mmap"),
        ),
        sites=caller_sites(callers, limits, size),
    )


def _mapped_again(mine: pd.DataFrame) -> pd.DataFrame | None:
    """Return the mappings of the part of a file that is mapped most often; None without any."""
    parts = mine[mine["path"].astype("str").str.startswith("/")].groupby(["path", "offset"])
    sizes = parts.size()
    return None if sizes.empty else parts.get_group(sizes.idxmax())


def _again(again: pd.DataFrame, moment: MomentFacts, case: Case) -> Finding:
    """Return a finding if the same part of a file is mapped too often to be of use."""
    smaps, callers = moment.path("smaps"), case.facts.callers.mapping
    size, pss = int(again["Rss"].sum()), again["Pss"].sum(min_count=1) if "Pss" in again else None
    shared = None if pss is None or pd.isna(pss) else int(pss)
    name = File(_name(again["path"].iloc[0]))
    but = Text() if shared is None else text(", but its pages are only {} (Pss)", Bytes(shared))
    words = "File mappings pile up: {} is mapped {} times; RSS counts {} for it{}"
    return CAUSE.finding(
        Severity.WARNING,
        text(words, name, Count(len(again)), Bytes(size), but),
        moment=moment.name,
        size=size,
        confidence="likely",
        evidence=(
            *known(smaps, "count", {"mappings of the same part of the file": len(again)}),
            *known(smaps, "B", {"Size of the part": int(again["Size"].max())}),
            *known(smaps, "B", {"Rss of these mappings": size, "Pss of these mappings": shared}),
            *rss_evidence(moment),
        ),
        mechanism=_COUNTED_TWICE,
        next_step=sentences(text(_AGAIN, WHO_MAPS), called_by(callers, "mmap")),
        sites=caller_sites(callers, case.thresholds, size),
    )


def _files(moment: MomentFacts) -> pd.DataFrame:
    """Return the file and shared-memory mappings of a snapshot with smaps."""
    assert moment.mappings is not None
    is_file = moment.mappings["kind"].isin(KINDS) & ~moment.is_shared_anonymous
    return moment.mappings[is_file]


def _title(
    mine: pd.DataFrame, by_path: pd.Series, held: tuple[int, int], rss: int, at_first: Text
) -> Text:
    """Name the file, or the largest of several files, and how much the kernel cannot reclaim.

    `held` has the bytes that stay, and the dirty bytes that might.
    """
    size = int(mine["Rss"].sum())
    largest, share = File(_name(by_path.index[0])), of_rss(size, rss)
    is_shared = mine["kind"] == "shared-memory"
    what = "Shared memory" if is_shared.all() else "Mapped file"
    if len(by_path) == 1:
        return text("{} {} takes {}; {}", what, largest, share, _reclaim(size, *held))
    if not is_shared.all():
        what = "Mapped files and shared memory" if is_shared.any() else "Mapped files"
    many = Count(len(by_path), "file")
    is_part = 0 < sum(held) < size and size not in held
    if at_first or is_part:  # each needs a number
        share = Text(Bytes(size))
    reclaim = _reclaim(size, *held)
    if at_first and is_part:  # the title has no room for another number
        reclaim = Text("the kernel can reclaim part of it")
    named = text("the largest is {}", largest)
    if by_path.iloc[0] == by_path.iloc[-1]:
        named = text("each has {}", Bytes(int(by_path.iloc[0])))
    take = "takes" if is_shared.all() else "take"
    return text("{} {} {} in {}{}; {}; {}", what, take, share, many, at_first, named, reclaim)


def _reclaim(size: int, staying: int, dirty: int) -> Text:
    if dirty == size:
        return Text("the pages are dirty: if the files are on tmpfs, the kernel cannot reclaim it")
    if dirty and not staying:
        return text("{} is dirty, not reclaimable if on tmpfs", Bytes(dirty))
    if staying == 0:
        return Text("the kernel can reclaim all of it")
    if staying == size:
        return Text("the kernel cannot reclaim it without swap")
    return text("{} is not reclaimable without swap", Bytes(staying))


def _name(path: object) -> str:
    """Return the file name without folders, because reports are shared."""
    return PurePosixPath(str(path)).name or "shared anonymous memory"
