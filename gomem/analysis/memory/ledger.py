"""What makes up RSS, part by part, and how many bytes remain unexplained?

smaps is the kernel's side: every mapping has one kind. MemStats, or the same numbers from
runtime/metrics, is the runtime's side. Inside the arenas, the memory that the runtime counts is
compared with the resident memory. If less is resident than counted, the difference is a negative
part: memory that was mapped but never touched. If more is resident, the difference is a positive
part: memory that no counter covers. So the parts add up to RSS, to the byte.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import pandas as pd

from gomem.analysis.mappings.arenas import work_buffer_bytes
from gomem.analysis.mappings.runtime import is_excerpt, metadata_claim
from gomem.analysis.memory.totals import checks_of, disagreements, fits, resident_totals, skew_notes
from gomem.capture.wanted import MEMSTATS, SMAPS
from gomem.inputs.answer import Answer
from gomem.inputs.schema import Column, build, build_rows
from gomem.text import File, Words, joined, text
from gomem.units import is_unknown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gomem.analysis.mappings.kinds import ClassifiedMappings
    from gomem.analysis.memory.listed import Listed
    from gomem.analysis.memory.logged import Logged
    from gomem.analysis.memory.totals import ResidentTotals

CLAIMED = ("heap_objects", "heap_slack", "heap_idle", "stacks")  # in the arenas, by the runtime
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
_LEFT_OVER = ("heap_untouched", "heap_unexplained")
PARTS = (*CLAIMED, "heap_released_resident", *_LEFT_OVER, *PART_OF_KIND.values())
HEAP_PARTS = frozenset(PARTS[:7])
TWO_STATES = (
    "the Go heap and stacks are not reliably broken down, because MemStats and the kernel show two "
    "states of the process; RSS and the other parts come from the kernel alone and are reliable"
)
ARENAS, STRUCTURES, OUTSIDE = "heap and stacks", "runtime structures", "outside Go's runtime"
_WHERE = {**dict.fromkeys(PARTS[:7], ARENAS), "runtime_metadata": STRUCTURES}
CONFIDENCE = {
    "counted": "counted by the kernel or the runtime",
    "inferred": "unnamed mappings, recognised by shape and place",
    "left over": "a total less the other parts",
    "doubtful": "from two files that show different states of the process",
}
LEDGER_PARTS = (
    Column("part", "str", "", "Part of RSS, one of `PARTS`.", Words),
    Column("bytes", "int64", "B", "Resident; below 0 only for heap_untouched."),
    Column(
        "claimed_bytes", "Int64", "B", "Bytes that the runtime reserved for it; missing if unknown."
    ),
    Column("source", "str", "", "The fields that it is made of.", Words),
    Column("confidence", "str", "", "How sure it is, one of `CONFIDENCE`.", Words),
)
LEDGER_SIDES = (
    Column(
        "where", "str", "", "The arenas, the runtime's own structures, or everything else.", Words
    ),
    Column("claimed_bytes", "Int64", "B", "Bytes that the runtime reserved; missing if unknown."),
    Column("resident_bytes", "int64", "B", "Bytes in RSS, as the kernel counts."),
    Column("difference_bytes", "Int64", "B", "Resident less reserved bytes."),
)
SMAPS_NEXT = f"smaps: {SMAPS.command()}"
MEMSTATS_NEXT = f"MemStats: {MEMSTATS.command()}"
LOGGED_RSS = (
    "the log does not separate free slots and stacks from the runtime's structures; all three "
    "count as the Go runtime"
)
EXCERPT_NOTE = (
    "the mappings are an excerpt with neither Go's heap nor the program, so anonymous memory is "
    "not broken down: it can belong to Go's runtime, to C or to the program"
)
LEAST = "mappings are missing, so RSS and its parts are at least what is shown"
AGAIN_NEXT = "MemStats and smaps again, in one command"
_FIELDS = ("HeapAlloc", "HeapInuse - HeapAlloc", "HeapIdle - HeapReleased", "StackInuse")
_CLASSES = (
    f"/memory/classes/heap/{name}:bytes" for name in ("objects", "unused", "free", "stacks")
)
_SOURCES = {
    "memstats": ([f"MemStats.{field}" for field in _FIELDS], "MemStats: the other *Sys fields"),
    "metrics-page": (
        [f"metrics-page {field}" for field in _FIELDS],
        "metrics-page: the other *Sys fields",
    ),
    "metrics": (_CLASSES, "/memory/classes: metadata, profiling/buckets and other"),
}
# The source of each reserved size, by the source of the runtime's numbers.
RUNTIME_SIDES = {
    side: dict(zip(CLAIMED, heap, strict=True)) | {"runtime_metadata": metadata}
    for side, (heap, metadata) in _SOURCES.items()
}
_HEAP_FIELDS = ("HeapAlloc", "HeapInuse", "HeapIdle", "HeapReleased", "StackInuse")


@dataclass(frozen=True, repr=False)
class Ledger(Answer):
    """RSS of one process at one snapshot, broken down into parts.

    Attributes:
        rss_bytes: Resident bytes; None if no artefact of the snapshot says how many.
        parts: A row per part; see `LEDGER_PARTS`. `bytes` adds up to `rss_bytes` exactly.
        checks: The kernel's other totals; see `LEDGER_CHECKS`.
        notes: Caveats: assumptions, contradictions, and what would give more detail.
        next_file: The file that would give more detail, and its command; empty if the ledger has
            all it can use.
        rss_source: The kind of artefact and the field with RSS, such as `status VmRSS`; empty if
            unknown.
        is_least: Whether some resident memory is in no file, so that RSS is a lower bound.
    """

    rss_bytes: int | None
    parts: pd.DataFrame
    checks: pd.DataFrame
    notes: tuple[str, ...]
    next_file: str = ""
    rss_source: str = ""
    is_least: bool = False

    def part(self, name: str) -> int:
        """Return the bytes of one part; 0 if the ledger does not have it."""
        return self._sizes.get(name, 0)

    def has(self, name: str) -> bool:
        """Return whether the ledger's sources can separate a part from the others."""
        return name in self._sizes

    @property
    def heap_claimed_bytes(self) -> int:
        """Bytes that Go reserved for the heap and for stacks, resident or not."""
        return sum(map(self.part, CLAIMED))

    @cached_property
    def _sizes(self) -> dict[str, int]:
        """Bytes by part; each part has one row."""
        return dict(zip(self.parts["part"], self.parts["bytes"].tolist(), strict=True))

    @property
    def sides(self) -> pd.DataFrame:
        """Reserved memory next to resident memory; see `LEDGER_SIDES`.

        A row each for the arenas, the runtime's own structures and everything else.
        """
        where = self.parts["part"].map(lambda part: _WHERE.get(part, OUTSIDE))
        sums = self.parts.groupby(where, sort=False)
        claimed = sums["claimed_bytes"].sum(min_count=1)
        resident = sums["bytes"].sum()
        columns = {
            "where": resident.index.tolist(),
            "claimed_bytes": claimed.array,
            "resident_bytes": resident.array,
            "difference_bytes": (resident - claimed).array,
        }
        return build(columns, LEDGER_SIDES)


def reconcile_rss(
    classified: ClassifiedMappings | None = None,
    memstats: pd.Series | None = None,
    status: pd.Series | None = None,
    rollup_rss_bytes: int | None = None,
    skew_seconds: float | None = None,
    *,
    collections_between: int | None = None,
    rollup: pd.Series | None = None,
    statm: pd.Series | None = None,
    page_bytes: int | None = None,
    cgroup: Mapping[str, int | None] | None = None,
    scraped: Mapping[str, float] | None = None,
    runtime_side: str = "memstats",
    mapped_by: str = "smaps Rss",
    is_least: bool = False,
    is_cut: bool = False,
    listed: Listed | None = None,
    logged: Logged | None = None,
    assumed: Sequence[str] = (),
) -> Ledger:
    """Break down RSS at one snapshot, by the numbers of the kernel and of the runtime.

    The parts are as fine as the sources allow, and add up to `rss_bytes`. Without mappings, the
    ledger is coarser: it then comes from smaps_rollup, status, statm (in pages) and the cgroup. RSS
    can also come from a page of Prometheus metrics (`scraped`), a table of processes (`listed`) or
    the program's log (`logged`). Sources that are not needed become checks. `collections_between`
    and `skew_seconds` say how far MemStats and the mappings are apart. `runtime_side`, one of
    `RUNTIME_SIDES`, is the source of the MemStats row. `mapped_by` is the field with a mapping's
    resident bytes, and `is_least` says whether mappings are missing; `is_cut` says that there is a
    smaps, but an incomplete one. `assumed` names files that are not proved to belong to this
    snapshot.
    """
    if rollup is None and rollup_rss_bytes is not None:
        rollup = pd.Series({"Rss": rollup_rss_bytes})
    sources = RUNTIME_SIDES[runtime_side]
    if classified is not None:
        rows, notes = _fine(classified, memstats, sources, mapped_by)
        rss_bytes: int | None = int(classified.mappings["Rss"].sum())
        rss_source = mapped_by
        is_part = is_excerpt(classified.mappings)
        is_least |= is_part
        notes = [*notes, EXCERPT_NOTE] if is_part else notes
        notes = [*notes, LEAST] if is_least else notes
    else:
        totals = resident_totals(
            rollup, status, cgroup, statm=statm, page_bytes=page_bytes, scraped=scraped,
            listed=listed, logged=logged,
        )  # fmt: skip
        rows, rss_bytes, notes = _coarse(memstats, totals, sources, logged, is_cut=is_cut)
        rss_source = "" if totals is None else totals.source
        is_least |= totals is not None and totals.is_least
    if assumed:
        verb = "is" if len(assumed) == 1 else "are"
        named = joined(", ", map(File, assumed))
        notes = [*notes, text("{} {} assumed to belong to the last snapshot", named, verb)]
    is_of_two_states = bool(collections_between) or not fits(classified, memstats)
    notes = [*notes, *skew_notes(skew_seconds, collections_between)]
    checks = checks_of(rss_bytes, status, rollup_rss_bytes, scraped or {})
    notes += disagreements(checks, "the sum of smaps" if classified is not None else rss_source)
    doubtful = _DOUBTFUL_PARTS if is_of_two_states and memstats is not None else frozenset()
    inferred = None if classified is None else _inferred_kinds(classified.mappings)
    has_both = memstats is not None
    known = (_confidence(row[0], inferred, doubtful, is_of_both=has_both) for row in rows)
    parts = build_rows(((*row, how) for row, how in zip(rows, known, strict=True)), LEDGER_PARTS)
    if doubtful:
        notes.append(TWO_STATES)
    next_file = AGAIN_NEXT if is_of_two_states else ""
    if classified is None or memstats is None:
        next_file = SMAPS_NEXT if classified is None else MEMSTATS_NEXT
    return Ledger(rss_bytes, parts, checks, tuple(notes), next_file, rss_source, is_least)


_DOUBTFUL_PARTS = HEAP_PARTS - {"heap_released_resident"}  # which comes only from smaps' LazyFree
_KINDS_OF_PART = {part: kind for kind, part in PART_OF_KIND.items()}


def _inferred_kinds(frame: pd.DataFrame) -> frozenset[str] | None:
    """Return kinds with resident unnamed mappings, which were inferred by shape or place.

    None of an excerpt without Go heap: nothing can be inferred from it.
    """
    if is_excerpt(frame):
        return None
    return frozenset(frame["kind"][(frame["path"] == "") & (frame["Rss"].fillna(0) > 0)])


def _confidence(
    part: str, inferred: frozenset[str] | None, doubtful: frozenset[str], *, is_of_both: bool
) -> str:
    """Return the confidence of a part; see `CONFIDENCE`.

    Inferred kinds were not recognised by name (None without mappings to judge by). Doubtful parts
    depend on two files that do not fit together.
    """
    if part in doubtful:
        return "doubtful"
    if inferred is None:
        return "left over" if part in {*_LEFT_OVER, "anonymous_other"} else "counted"
    if part in _LEFT_OVER and is_of_both:
        return "left over"
    if part in CLAIMED:
        return "counted"
    kind = _KINDS_OF_PART.get(part, "go-heap")
    # The zeroed data of a program follows its file's mapping: this is the ELF format, not a guess.
    return "inferred" if kind in inferred - {"binary", "library"} else "counted"


_Row = tuple[str, int, int | None, str]


def _fine(
    classified: ClassifiedMappings,
    memstats: pd.Series | None,
    sources: Mapping[str, str],
    mapped_by: str,
) -> tuple[list[_Row], list[str]]:
    frame = classified.mappings
    notes = list(classified.notes)
    arenas = frame.loc[frame["kind"] == "go-heap", ["Rss", "LazyFree"]]
    lazy_free = int(arenas["LazyFree"].fillna(0).sum())
    known = ("heap_released_resident", lazy_free, None, "smaps LazyFree of go-heap")
    released = [known] if has_lazy_free(frame) else []
    rest = int(arenas["Rss"].sum()) - lazy_free
    rows: list[_Row] = []
    claimed = None
    if memstats is not None:
        work_buffers = work_buffer_bytes(frame, memstats) or 0
        claimed = metadata_claim(memstats) - work_buffers
        claims = claims_of(memstats, work_buffers, sources)
        rows = [(part, size, size, source) for part, size, source in claims]
        rest -= sum(size for _, size, _ in claims)
        source = f"{mapped_by} of go-heap, less the parts above"
        rows += [
            *released,
            ("heap_untouched", min(rest, 0), None, source),
            ("heap_unexplained", max(rest, 0), None, source),
        ]
    elif len(arenas):
        notes.append("no MemStats in this snapshot, so the heap is not broken down")
        source = f"{mapped_by} of go-heap; no MemStats to break it down"
        rows = [*released, ("heap_unexplained", rest, None, source)]
    resident = frame["Rss"].groupby(frame["kind"]).sum()
    for kind, part in PART_OF_KIND.items():
        if kind in resident.index or part == "runtime_metadata":
            said = claimed if part == "runtime_metadata" else None
            rows.append((part, int(resident.get(kind, 0)), said, f"{mapped_by} of {kind}"))
    return rows, notes


def _coarse(
    memstats: pd.Series | None,
    totals: ResidentTotals | None,
    sources: Mapping[str, str],
    logged: Logged | None = None,
    *,
    is_cut: bool = False,
) -> tuple[list[_Row], int | None, list[str]]:
    """Build a ledger without smaps: memory reserved by Go and the kernel's totals."""
    notes = ["the smaps of this snapshot is incomplete" if is_cut else "no smaps in this snapshot"]
    rows: list[_Row] = []
    if memstats is not None:
        claims = claims_of(memstats, 0, sources)
        rows += [(part, size, size, source) for part, size, source in claims]
        metadata = metadata_claim(memstats)
        rows.append(("runtime_metadata", metadata, metadata, sources["runtime_metadata"]))
    elif logged is not None and logged.go_claims is not None:
        rows += _logged_claims(logged.go_claims)
        notes.append(LOGGED_RSS)
    of_go = bool(rows)
    if totals is None:
        notes.append("no file in this snapshot gives RSS")
        return rows, None, notes
    if totals.of_files is not None:
        rows.append(("mapped_files", totals.of_files[0], None, totals.of_files[1]))
    if totals.of_shared_memory is not None:
        rows.append(("shared_memory", totals.of_shared_memory[0], None, totals.of_shared_memory[1]))
    if memstats is not None and totals.lazy_free is not None:
        rows.append(("heap_released_resident", totals.lazy_free[0], None, totals.lazy_free[1]))
    rest = totals.rss_bytes - sum(row[1] for row in rows)
    if totals.of_native is not None:
        in_c = totals.of_native[0] if of_go else min(totals.of_native[0], max(rest, 0))
        rows.append(("native_heap", in_c, None, totals.of_native[1]))
        rest -= in_c
    left_over = f"{totals.source}, less the parts"
    if of_go:
        rows.append(("heap_untouched", min(rest, 0), None, left_over))
    rows.append(("anonymous_other", max(rest, 0), None, left_over))
    return rows, totals.rss_bytes, [*notes, *totals.notes]


def _logged_claims(claims: tuple[int, int, int]) -> list[_Row]:
    """Return memory reserved by Go as a program's log has it, with less detail than MemStats."""
    names = ("heap_objects", "heap_idle", "runtime_metadata")
    fields = ("Go alloc", "Go idle", "Go total, less alloc and idle")
    return [
        (part, size, size, f"runtime_lines {field}")
        for part, size, field in zip(names, claims, fields, strict=True)
    ]


def has_lazy_free(mappings: pd.DataFrame) -> bool:
    """Return whether mappings show memory released with MADV_FREE; those of pmap do not."""
    return not len(mappings) or bool(mappings["LazyFree"].notna().any())


def claims_of(
    memstats: pd.Series, work_buffers: int, sources: Mapping[str, str]
) -> list[tuple[str, int, str]]:
    """Return by part the arenas' memory that Go has reserved and not released: bytes and source."""
    allocated, in_use, idle, released, stacks = (int(memstats[name]) for name in _HEAP_FIELDS)
    sizes = (allocated, in_use - allocated, idle - released, stacks + work_buffers)
    more = ("", "", "", " + GC work buffers" if work_buffers else "")
    of_parts = zip(CLAIMED, sizes, more, strict=True)
    return [(part, size, sources[part] + words) for part, size, words in of_parts]


def has_heap_fields(memstats: pd.Series) -> bool:
    """Return whether a MemStats row has all fields that the ledger needs."""
    return not any(is_unknown(memstats[name]) for name in _HEAP_FIELDS)
