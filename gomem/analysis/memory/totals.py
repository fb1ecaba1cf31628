"""How large is RSS, and each kind of memory, without the process's mappings?

The sources are the kernel's totals, the finest first. smaps_rollup has anonymous memory and
LazyFree. status separates files from shared memory. statm counts pages without saying how large a
page is. A page of Prometheus metrics has only RSS. A cgroup has the sum over its processes. Facts
come from the kernel's proc.rst and cgroup-v2.rst. If a ledger has mappings, these totals are only
used as checks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from gomem.analysis.mappings.arenas import work_buffer_bytes
from gomem.analysis.memory.cgroup import ANON, first_known
from gomem.inputs.schema import Column, build_rows
from gomem.text import Bytes, Count, Seconds, Text, Words, text
from gomem.units import KIB

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gomem.analysis.mappings.kinds import ClassifiedMappings
    from gomem.analysis.memory.listed import Listed
    from gomem.analysis.memory.logged import Logged

TEXTS_OF_PROGRAM = 3  # size of a program's file pages, at most, in its text: 2.2 for Go's linker
USUAL_PAGE_BYTES = 4 * KIB
LISTED = "processes"  # the kind of artefact for tables of processes
LOGGED = "runtime_lines"  # the kind of artefact for logs in which a program reports its own RSS
SCRAPED = "process_resident_memory_bytes"
CGROUP_TOTALS = "cgroup memory.stat"
_ALONE = (
    "the metrics endpoint gives only the total RSS, so memory outside Go (files, C memory, the "
    "program itself) is not broken down"
)
_NO_MAPPED = (
    "memory.stat does not say here how much of files and shared memory is mapped (file_mapped), so "
    "RSS is at least its anonymous memory"
)
LEDGER_CHECKS = (
    Column("total", "str", "", "A total of the kernel's.", Words),
    Column("bytes", "int64", "B", "The total."),
    Column("difference_bytes", "int64", "B", "That, less the ledger's RSS."),
)
ROUNDING = 64 << 10  # VmRSS is counted per CPU, so it agrees within this


@dataclass(frozen=True)
class ResidentTotals:
    """RSS of one process and its largest parts, without mappings."""

    rss_bytes: int  # RSS
    source: str  # the source of that number
    of_files: tuple[int, str] | None = None  # file pages in RSS, with the name of the number
    of_shared_memory: tuple[int, str] | None = None  # shared memory in RSS
    lazy_free: tuple[int, str] | None = None  # MADV_FREE memory in RSS
    of_native: tuple[int, str] | None = None  # C heap in RSS, as counted by the program
    notes: tuple[str, ...] = ()  # what else the numbers include, or leave out
    is_least: bool = False  # whether some resident memory is in no number


def resident_totals(
    rollup: pd.Series | None = None,
    status: pd.Series | None = None,
    cgroup: Mapping[str, int | None] | None = None,
    *,
    statm: pd.Series | None = None,
    page_bytes: int | None = None,
    scraped: Mapping[str, float] | None = None,
    listed: Listed | None = None,
    logged: Logged | None = None,
) -> ResidentTotals | None:
    """Return the most detailed totals; None if RSS is unknown.

    statm counts pages, of `USUAL_PAGE_BYTES` if no other file has the page size. `scraped` are the
    process's Prometheus metrics, `listed` its row in ps and similar tools, `logged` the program's
    own log lines.
    """
    if rollup is not None and not pd.isna(rollup["Rss"]):
        return _of_rollup(rollup, status)
    if status is not None and not pd.isna(status["VmRSS"]):
        files, shared = _of_status(status)
        return ResidentTotals(
            int(status["VmRSS"]), "status VmRSS", files, shared, notes=tuple(_notes_of(status))
        )
    if statm is not None:
        return _of_statm(statm, page_bytes)
    if scraped is not None and SCRAPED in scraped:
        return ResidentTotals(int(scraped[SCRAPED]), f"metrics-page {SCRAPED}", notes=(_ALONE,))
    pasted = _of_listed(listed) or _of_logged(logged)
    return pasted if pasted is not None or cgroup is None else _of_group(cgroup)


def _of_logged(logged: Logged | None) -> ResidentTotals | None:
    """Return RSS and the C heap from a program's log."""
    if logged is None or logged.rss_bytes is None:
        return None
    note = text("RSS is from {}'s log, in steps of {}", logged.program, Bytes(logged.step_bytes))
    native = logged.sizes.get("cgo_total")
    of_native = None if native is None else (native, f"{LOGGED} CGO total")
    return ResidentTotals(logged.rss_bytes, f"{LOGGED} RSS", of_native=of_native, notes=(note,))


def _of_listed(listed: Listed | None) -> ResidentTotals | None:
    """Return RSS of a process in a table; only the OOM killer's lines separate file pages."""
    if listed is None or listed.rss_bytes is None:
        return None
    source = f"{LISTED} {listed.tool} RSS"
    note = text("RSS is from {}, rounded to {}", listed.tool, Bytes(listed.step_bytes))
    files = shared = None
    if listed.file_bytes is not None:
        files = (listed.file_bytes, f"{listed.tool} file-rss: program and libraries too")
        shared = (listed.shmem_bytes or 0, f"{listed.tool} shmem-rss")
    return ResidentTotals(listed.rss_bytes, source, files, shared, notes=(note,))


def _of_rollup(rollup: pd.Series, status: pd.Series | None) -> ResidentTotals:
    rss_bytes = int(rollup["Rss"])
    files, shared = (None, None) if status is None else _of_status(status)
    notes: tuple[str, ...] = ()
    if files is None and _known(rollup, "Anonymous"):
        files = (rss_bytes - int(rollup["Anonymous"]), "smaps_rollup Rss - Anonymous")
        notes = ("smaps_rollup does not separate shared memory from files: one row has both",)
    elif files is None and _known(rollup, "Pss_Anon"):
        # Of a rollup that is cut: anonymous memory is seldom shared, so that Pss has all of it.
        rest = max(0, rss_bytes - int(rollup["Pss_Anon"]))
        files = (rest, "smaps_rollup Rss - Pss_Anon: files and shared memory")
    lazy = None
    if _known(rollup, "LazyFree"):
        lazy = (int(rollup["LazyFree"]), "smaps_rollup LazyFree, of all mappings")
    return ResidentTotals(rss_bytes, "smaps_rollup Rss", files, shared, lazy, notes=notes)


def _known(row: pd.Series, name: str) -> bool:
    return name in row.index and not pd.isna(row[name])


def _of_status(status: pd.Series) -> tuple[tuple[int, str] | None, tuple[int, str] | None]:
    """Return files and shared memory; both unknown before Linux 4.5, which prints neither.

    Without one of them, the rest of VmRSS beside RssAnon is what it has, or both have.
    """
    named = (_known(status, "RssFile"), _known(status, "RssShmem"))
    rest = None
    if _known(status, "RssAnon") and _known(status, "VmRSS"):
        rest = max(int(status["VmRSS"] - status["RssAnon"]), 0)
    if not all(named) and rest is None:
        return None, None
    if not any(named):
        return (rest or 0, "status VmRSS - RssAnon: files and shared memory"), None
    files = int(status["RssFile"]) if named[0] else max((rest or 0) - int(status["RssShmem"]), 0)
    shared = int(status["RssShmem"]) if named[1] else max((rest or 0) - files, 0)
    return (files, "status RssFile: program and libraries too"), (shared, "status RssShmem")


def mapped_file_bytes(status: pd.Series) -> int | None:
    """Return the least that files other than the program and its libraries have of RSS, or None.

    The program's own pages are those of its text, and of its read-only data.
    """
    if not all(_known(status, name) for name in ("RssFile", "VmExe", "VmLib")):
        return None
    return int(status["RssFile"] - TEXTS_OF_PROGRAM * (status["VmExe"] + status["VmLib"]))


def _notes_of(status: pd.Series) -> Iterator[Text]:
    """Yield what status says beside RSS, and how exactly it says it."""
    if _known(status, "step_bytes") and status["step_bytes"] > KIB:
        yield text("the numbers of status are rounded to {}", Bytes(int(status["step_bytes"])))
    if _known(status, "VmSwap") and status["VmSwap"]:
        yield text("{} more is in swap (VmSwap), which is no RSS", Bytes(int(status["VmSwap"])))


def _of_statm(statm: pd.Series, page_bytes: int | None) -> ResidentTotals:
    """Return resident pages; files and shared memory are one number."""
    size = page_bytes or USUAL_PAGE_BYTES
    notes: tuple[str, ...] = (
        "statm does not separate shared memory from files; both count as files",
    )
    if page_bytes is None:
        assumed = text(
            "statm counts pages, and no file here has the page size; {} is assumed, as on amd64; "
            "on arm64 it might be 16 or 64 KiB",
            Bytes(size),
        )
        notes += (assumed,)
    files = (int(statm["shared"]) * size, "statm shared: files and shared memory")
    return ResidentTotals(int(statm["resident"]) * size, "statm resident", files, notes=notes)


def _of_group(cgroup: Mapping[str, int | None]) -> ResidentTotals | None:
    """Return anonymous memory and mapped files of all processes in a cgroup."""
    anonymous = first_known(cgroup, *ANON)
    if anonymous is None:
        return None
    note = (
        "RSS is the cgroup's: it covers all its processes, but only the file pages that were "
        "first read in this cgroup; the kernel counts in batches, so it lags by some 100 "
        "KiB"
    )
    mapped = first_known(cgroup, "file_mapped", "total_mapped_file", "mapped_file")
    if mapped is None:
        source = f"{CGROUP_TOTALS}, anonymous memory"
        return ResidentTotals(anonymous, source, notes=(note, _NO_MAPPED), is_least=True)
    files = (mapped, "cgroup memory.stat, mapped files: shared memory too")
    source = f"{CGROUP_TOTALS}, anonymous + mapped files"
    return ResidentTotals(anonymous + mapped, source, files, notes=(note,))


def fits(classified: ClassifiedMappings | None, memstats: pd.Series | None) -> bool:
    """Return whether the arenas in smaps match MemStats; true if they cannot be compared."""
    if classified is None or memstats is None:
        return True
    frame = classified.mappings
    has_heap = bool((frame["kind"] == "go-heap").any())
    return not has_heap or work_buffer_bytes(frame, memstats) is not None


def checks_of(
    rss_bytes: int | None,
    status: pd.Series | None,
    rollup_rss_bytes: int | None,
    scraped: Mapping[str, float],
) -> pd.DataFrame:
    """Return the kernel's other totals as checks of a ledger; see `LEDGER_CHECKS`."""
    totals: list[tuple[str, int]] = []
    if rollup_rss_bytes is not None:
        totals.append(("smaps_rollup Rss", rollup_rss_bytes))
    if status is not None and not pd.isna(status["VmRSS"]):
        totals.append(("status VmRSS", int(status["VmRSS"])))
    if SCRAPED in scraped:
        totals.append((f"metrics-page {SCRAPED}", int(scraped[SCRAPED])))
    rows = [(name, size, size - rss_bytes) for name, size in totals if rss_bytes is not None]
    return build_rows(rows, LEDGER_CHECKS)


def disagreements(checks: pd.DataFrame, rss_source: str = "the sum of smaps") -> list[str]:
    """Return notes on totals that differ from RSS by more than per-CPU counting explains."""
    return [
        text(
            "{} is {} {} {}: the files were read at different times, or one is truncated",
            row.total,
            Bytes(abs(row.difference_bytes)),
            "above" if row.difference_bytes > 0 else "below",
            rss_source,
        )
        for row in checks.itertuples()
        if abs(row.difference_bytes) > max(ROUNDING, 0.01 * row.bytes)
    ]


def skew_notes(skew_seconds: float | None, collections: int | None) -> list[str]:
    """Return notes on MemStats and smaps that were measured at different times."""
    if not collections and (skew_seconds is None or skew_seconds < 1):
        return []
    seconds = text(" {}", Seconds(skew_seconds)) if skew_seconds is not None else ""
    apart = text("MemStats and smaps were measured{} apart", seconds)
    if collections:
        return [text("{}, and {} ended in between", apart, Count(collections, "GC"))]
    if collections == 0:
        return [apart + "; no GC ended in between"]
    return [
        apart
        + "; a GC moves hundreds of megabytes from one part to another, and whether one ended in "
        "between is unknown"
    ]
