"""Where do a process's resident bytes go, part by part, and how many does nothing explain?

The kernel's side is smaps: every mapping is of one kind. The runtime's side is MemStats, or the
same numbers from runtime/metrics. Inside the arenas the runtime's claims are laid against what is
resident; what is left over is either memory that was mapped and never touched (below zero) or
resident memory that no claim covers (above zero). So the parts add up to RSS to the byte.
"""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from gomem.analysis.mappings import (
    ClassifiedMappings,
    arena_bytes,
    metadata_claim,
    work_buffer_bytes,
)
from gomem.units import format_bytes, format_seconds

PARTS = (
    "heap_objects",
    "heap_slack",
    "heap_idle",
    "stacks",
    "heap_released_resident",
    "heap_untouched",
    "heap_unexplained",
    "runtime_metadata",
    "binary",
    "libraries",
    "native_heap",
    "thread_stacks",
    "mapped_files",
    "shared_memory",
    "kernel",
    "anonymous_other",
)
PART_OF_KIND = {
    "go-runtime": "runtime_metadata",
    "binary": "binary",
    "library": "libraries",
    "native-heap": "native_heap",
    "thread-stack": "thread_stacks",
    "mapped-file": "mapped_files",
    "shared-memory": "shared_memory",
    "kernel": "kernel",
    "anonymous-other": "anonymous_other",
}
MEANING = {
    "heap_objects": "objects, live or not yet swept",
    "heap_slack": "free slots in spans that hold objects",
    "heap_idle": "spans without objects, kept for reuse",
    "stacks": "goroutine stacks and GC work buffers in the arenas",
    "heap_released_resident": "given back with MADV_FREE, still counted by the kernel",
    "heap_untouched": "claimed by the runtime, never touched, so not resident",
    "heap_unexplained": "resident in the arenas beyond every claim",
    "runtime_metadata": "span structures, GC bitmaps, page tables of the runtime",
    "binary": "the program's code, constants and globals",
    "libraries": "shared objects",
    "native_heap": "C's heap: brk and malloc arenas",
    "thread_stacks": "stacks of threads",
    "mapped_files": "files mapped by the program",
    "shared_memory": "shared memory, memfd",
    "kernel": "vdso and its like",
    "anonymous_other": "what nothing explains",
}
HEAP_PARTS = frozenset(PARTS[:7])
ROUNDING = 64 << 10  # VmRSS is counted per CPU; up to this it agrees


@dataclass(frozen=True)
class Ledger:
    """One process's resident bytes at one moment, accounted for part by part.

    Attributes:
        rss_bytes: Resident bytes; None if no artefact of the moment says.
        parts: A row per part: `part`, `bytes`, `claimed_bytes` (what the runtime says of it,
            `<NA>` where it says nothing) and `source`. `bytes` adds up to `rss_bytes`, exactly.
        checks: The kernel's other totals: `total`, `bytes`, `difference_bytes` to `rss_bytes`.
        notes: What to know before believing it: assumptions, disagreements, what would be finer.
    """

    rss_bytes: int | None
    parts: pd.DataFrame
    checks: pd.DataFrame
    notes: tuple[str, ...]

    def part(self, name: str) -> int:
        """Bytes of one part; 0 if the ledger does not have it."""
        rows = self.parts.loc[self.parts["part"] == name, "bytes"]
        return int(rows.sum())

    def has(self, name: str) -> bool:
        """Whether the sources of the ledger can tell this part."""
        return bool((self.parts["part"] == name).any())

    @property
    def residual_bytes(self) -> int:
        """Resident bytes that the parts do not add up to: 0, always."""
        return (self.rss_bytes or 0) - int(self.parts["bytes"].sum()) if self.rss_bytes else 0


def reconcile_rss(
    classified: ClassifiedMappings | None = None,
    memstats: pd.Series | None = None,
    status: pd.Series | None = None,
    rollup_rss_bytes: int | None = None,
    skew_seconds: float | None = None,
) -> Ledger:
    """Account for resident memory with what the kernel and the runtime each know.

    Args:
        classified: The mappings of the moment; without them the ledger is coarser.
        memstats: A row of the MemStats table of the same moment.
        status: A row of the status table of the same moment.
        rollup_rss_bytes: Rss of smaps_rollup, as a check.
        skew_seconds: How far MemStats and the mappings lie apart in time, if known.

    Returns:
        The ledger. Its parts are those that the sources can tell; they add up to `rss_bytes`.
    """
    if classified is not None:
        rows, notes = _fine(classified, memstats)
        rss_bytes: int | None = int(classified.mappings["Rss"].sum())
    else:
        rows, rss_bytes, notes = _coarse(memstats, status, rollup_rss_bytes)
    notes = [*notes, *_skew_notes(skew_seconds)]
    checks = _checks(rss_bytes, status, rollup_rss_bytes)
    notes += _disagreements(checks)
    parts = pd.DataFrame(rows, columns=["part", "bytes", "claimed_bytes", "source"])
    parts = parts.astype({"part": "str", "bytes": "int64", "claimed_bytes": "Int64"})
    return Ledger(rss_bytes, parts, checks, tuple(notes))


_Row = tuple[str, int, int | None, str]


def _fine(
    classified: ClassifiedMappings, memstats: pd.Series | None
) -> tuple[list[_Row], list[str]]:
    frame = classified.mappings
    notes = list(classified.notes)
    arenas = frame[frame["kind"] == "go-heap"]
    if memstats is None:
        rows = _heap_without_memstats(arenas)
        if len(arenas):
            notes.append("no MemStats of this moment, so the heap stands in one piece")
    else:
        rows = _heap(arenas, memstats, _work_buffers(frame, memstats))
    claimed = None if memstats is None else _metadata_claimed(frame, memstats)
    for kind, part in PART_OF_KIND.items():
        of_kind = frame[frame["kind"] == kind]
        if len(of_kind) or part == "runtime_metadata":
            resident = int(of_kind["Rss"].sum())
            said = claimed if part == "runtime_metadata" else None
            rows.append((part, resident, said, f"smaps Rss of {kind}"))
    return rows, notes


def _work_buffers(frame: pd.DataFrame, memstats: pd.Series) -> int:
    return work_buffer_bytes(frame, memstats) or 0


def _metadata_claimed(frame: pd.DataFrame, memstats: pd.Series) -> int:
    return metadata_claim(memstats) - _work_buffers(frame, memstats)


def _claims(memstats: pd.Series, work_buffers: int) -> list[tuple[str, int, str]]:
    """What the runtime says is in the arenas and not given back."""
    field = {name: int(memstats[name]) for name in _HEAP_FIELDS}
    stacks = "MemStats.StackInuse"
    return [
        ("heap_objects", field["HeapAlloc"], "MemStats.HeapAlloc"),
        ("heap_slack", field["HeapInuse"] - field["HeapAlloc"], "MemStats.HeapInuse - HeapAlloc"),
        (
            "heap_idle",
            field["HeapIdle"] - field["HeapReleased"],
            "MemStats.HeapIdle - HeapReleased",
        ),
        (
            "stacks",
            field["StackInuse"] + work_buffers,
            f"{stacks} + GC work buffers" if work_buffers else stacks,
        ),
    ]


_HEAP_FIELDS = ("HeapAlloc", "HeapInuse", "HeapIdle", "HeapReleased", "StackInuse")


def has_heap_fields(memstats: pd.Series) -> bool:
    """Whether a MemStats row has all that the ledger needs."""
    return bool(memstats[list(_HEAP_FIELDS)].notna().all())


def _heap(arenas: pd.DataFrame, memstats: pd.Series, work_buffers: int) -> list[_Row]:
    claims = _claims(memstats, work_buffers)
    lazy_free = int(arenas["LazyFree"].fillna(0).sum())
    rows: list[_Row] = [(part, size, size, source) for part, size, source in claims]
    rows.append(("heap_released_resident", lazy_free, None, "smaps LazyFree of go-heap"))
    rest = int(arenas["Rss"].sum()) - sum(size for _, size, _ in claims) - lazy_free
    source = "smaps Rss of go-heap, less the parts above"
    rows.append(("heap_untouched", min(rest, 0), None, source))
    rows.append(("heap_unexplained", max(rest, 0), None, source))
    return rows


def _heap_without_memstats(arenas: pd.DataFrame) -> list[_Row]:
    if arenas.empty:
        return []
    lazy_free = int(arenas["LazyFree"].fillna(0).sum())
    resident = int(arenas["Rss"].sum()) - lazy_free
    return [
        ("heap_released_resident", lazy_free, None, "smaps LazyFree of go-heap"),
        ("heap_unexplained", resident, None, "smaps Rss of go-heap; no MemStats to divide it"),
    ]


def _coarse(
    memstats: pd.Series | None, status: pd.Series | None, rollup_rss_bytes: int | None
) -> tuple[list[_Row], int | None, list[str]]:
    """Without smaps: the runtime's claims against the kernel's one number."""
    notes = ["no whole smaps of this moment; add one with: cat /proc/PID/smaps > smaps"]
    rows: list[_Row] = []
    if memstats is not None:
        rows += [(part, size, size, source) for part, size, source in _claims(memstats, 0)]
        metadata = metadata_claim(memstats)
        rows.append(("runtime_metadata", metadata, metadata, "MemStats: the other *Sys fields"))
    rss_bytes, source = _resident(status, rollup_rss_bytes)
    if rss_bytes is None:
        notes.append("nothing of this moment says how much is resident")
        return rows, None, notes
    if status is not None and status[["RssFile", "RssShmem"]].notna().all():
        files = "status RssFile: program and libraries too"
        rows.append(("mapped_files", int(status["RssFile"]), None, files))
        rows.append(("shared_memory", int(status["RssShmem"]), None, "status RssShmem"))
    rest = rss_bytes - sum(row[1] for row in rows)
    if memstats is not None:
        rows.append(("heap_untouched", min(rest, 0), None, f"{source}, less the parts"))
    rows.append(("anonymous_other", max(rest, 0), None, f"{source}, less the parts"))
    return rows, rss_bytes, notes


def _resident(status: pd.Series | None, rollup_rss_bytes: int | None) -> tuple[int | None, str]:
    if rollup_rss_bytes is not None:
        return rollup_rss_bytes, "smaps_rollup Rss"
    if status is not None and not pd.isna(status["VmRSS"]):
        return int(status["VmRSS"]), "status VmRSS"
    return None, ""


def _checks(
    rss_bytes: int | None, status: pd.Series | None, rollup_rss_bytes: int | None
) -> pd.DataFrame:
    totals: list[tuple[str, int]] = []
    if rollup_rss_bytes is not None:
        totals.append(("smaps_rollup Rss", rollup_rss_bytes))
    if status is not None and not pd.isna(status["VmRSS"]):
        totals.append(("status VmRSS", int(status["VmRSS"])))
    rows = [(name, size, size - rss_bytes) for name, size in totals if rss_bytes is not None]
    return pd.DataFrame(rows, columns=["total", "bytes", "difference_bytes"]).astype(
        {"total": "str", "bytes": "int64", "difference_bytes": "int64"}
    )


def _disagreements(checks: pd.DataFrame) -> list[str]:
    return [
        (
            f"{row.total} differs from the sum of smaps by {format_bytes(row.difference_bytes)}: "
            "the files are of different moments, or one is cut"
        )
        for row in checks.itertuples()
        if abs(row.difference_bytes) > max(ROUNDING, 0.01 * row.bytes)
    ]


def _skew_notes(skew_seconds: float | None) -> list[str]:
    if skew_seconds is None or skew_seconds < 1:
        return []
    note = (
        f"MemStats and smaps lie {format_seconds(skew_seconds)} apart; a collection between them "
        "moves hundreds of megabytes from one part to another"
    )
    return [note]


__all__ = [
    "HEAP_PARTS", "MEANING", "PARTS", "Ledger", "arena_bytes", "has_heap_fields", "reconcile_rss",
]  # fmt: skip
