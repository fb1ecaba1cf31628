"""How the facts of each snapshot are computed: MemStats and mappings, compared once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pandas as pd

from gomem.analysis.collector.counters import PROCESS_CPU
from gomem.analysis.mappings.kinds import ClassifiedMappings, classify_mappings
from gomem.analysis.mappings.native import LargeBlocks, stacks_of_threads
from gomem.analysis.memory.cgroup import cgroup_values
from gomem.analysis.memory.ledger import Ledger, has_heap_fields, reconcile_rss
from gomem.analysis.memory.listed import Listed, listed_process
from gomem.analysis.memory.logged import Logged, logged_reading
from gomem.analysis.memory.skew import (
    TOTAL_CYCLES,
    Skew,
    collection_ends,
    counted_skew,
    measure_skew,
)
from gomem.analysis.memory.totals import SCRAPED as SCRAPED_RSS
from gomem.analysis.scavenger.scavenger import heap_return
from gomem.facts.known_process import KnownProcess, known_process
from gomem.facts.moment import (
    ON_PAGE,
    OPEN_FILES,
    THREADS,
    THREADS_ON_PAGE,
    MomentFacts,
    with_limits,
)
from gomem.facts.retention import cycles_of
from gomem.facts.settings import environment_of
from gomem.inputs.kinds import METRICS_PAGE
from gomem.inputs.metrics.table import memstats_of_metrics
from gomem.inputs.status.parse import SMALLEST_PAGE_BYTES
from gomem.text import Count, text
from gomem.units import KIB

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gomem.capture.capture import Capture
    from gomem.capture.moment import Moment
    from gomem.releases import GoVersion

GOARCH_WITH_ONE_PAGE_SIZE = frozenset({"386", "amd64"})
LARGEST_PAGE_BYTES = 64 * KIB
SCRAPED = (SCRAPED_RSS, ON_PAGE, THREADS_ON_PAGE, OPEN_FILES, PROCESS_CPU)
LIVE_HEAP = "/gc/heap/live:bytes"  # marked by the last collection; since Go 1.21
RUNTIME_SIDE = ("memstats", "heap_text", "metrics")
KERNEL_SIDE = ("smaps", "pmap", "smaps_rollup", "status")
MEMORY_FRAMES = (
    "memstats", "metrics", "process", "smaps", "rollups", "status", "statm", "cgroup", "processes",
    "logged",
)  # fmt: skip


def facts_of_moments(capture: Capture) -> tuple[MomentFacts, ...]:
    """Return the facts of every snapshot with memory data, in order.

    If there is none, those of the snapshots that count goroutines: their number alone can show a
    leak.
    """
    every = capture.by_moment.values()
    moments = [
        moment for moment in every if any(len(getattr(moment, name)) for name in MEMORY_FRAMES)
    ]
    moments = moments or [moment for moment in every if len(moment.goroutines)]
    if not moments:
        return ()
    cycles = cycles_of(capture)
    ends = None if cycles is None else collection_ends(cycles, capture.memstats)
    damaged = {damage.source for damage in capture.damaged}
    known = known_process(capture)
    sides = [_Sides.of(moment, damaged, known) for moment in moments]
    if all(side.rss_is_unknown for side in sides):
        sides = [_Sides.of(moment, damaged, known, at_least=True) for moment in moments]
    marked = {} if capture.gc is None else _marked(capture.gc.cycles)
    page_bytes = _page_bytes_of(capture)
    started = environment_of(capture)
    facts = [replace(_facts(side, ends, marked, page_bytes), started=started) for side in sides]
    facts = with_limits(_of_one_kind(facts, sides, page_bytes))
    limits = {known.name: known.gomemlimit_bytes for known in facts}
    heaps = _heaps(sides, capture.go_version, limits, cycles)
    blocks = LargeBlocks([known.mappings for known in facts if known.mappings is not None])
    return tuple(replace(known, large_blocks=blocks, heap=heaps.get(known.name)) for known in facts)


def _of_one_kind(
    facts: list[MomentFacts], sides: Sequence[_Sides], page_bytes: int | None
) -> list[MomentFacts]:
    """Leave out a cgroup's RSS if other snapshots have a process's: it is another quantity."""
    kinds = {known.rss_is_of_cgroup for known in facts if known.rss_bytes is not None}
    if kinds != {True, False}:
        return facts
    return [
        replace(f, ledger=_ledger(side, f.skew, {}, page_bytes)) if f.rss_is_of_cgroup else f
        for f, side in zip(facts, sides, strict=True)
    ]


def _page_bytes_of(capture: Capture) -> int | None:
    """Return the kernel's page size, by the manifest or the architecture; None if unknown."""
    noted = capture.manifest.fact("page_size")
    if type(noted) is int and SMALLEST_PAGE_BYTES <= noted <= LARGEST_PAGE_BYTES:
        return noted
    built_for = {build.build["goarch"].iloc[0] for build in capture.builds.values()}
    return SMALLEST_PAGE_BYTES if built_for and built_for <= GOARCH_WITH_ONE_PAGE_SIZE else None


@dataclass(frozen=True)
class _Sides:
    """A snapshot with its MemStats and its mappings, as far as they are usable."""

    moment: Moment  # the snapshot
    memstats: pd.Series | None  # a row of MemStats
    metrics: dict[str, float]  # the last reading of runtime/metrics, by name
    scraped: dict[str, float]  # the process's metrics on a Prometheus page, by name
    runtime_side: str  # the source of `memstats`; see `claims.RUNTIME_SIDES`
    classified: ClassifiedMappings | None  # the mappings by kind
    is_least: bool = False  # whether mappings are missing, so that sums are lower bounds
    listed: Listed | None = None  # the process in a table of processes
    logged: Logged | None = None  # the memory data in its own log

    @classmethod
    def of(
        cls, moment: Moment, damaged: set[str], known: KnownProcess, *, at_least: bool = False
    ) -> _Sides:
        dumped, metrics = _heap_row(_dumps(moment)), _metrics(moment)
        is_from_metrics = dumped is None and len(metrics) > 0
        memstats = _heap_row(memstats_of_metrics(metrics)) if is_from_metrics else dumped
        is_of_page = dumped is not None and dumped["artefact"] == moment.paths.get(METRICS_PAGE)
        return cls(
            moment,
            memstats,
            _last_reading(metrics),
            _scraped(moment),
            "metrics" if is_from_metrics else METRICS_PAGE if is_of_page else "memstats",
            _classified(moment, memstats, set() if at_least else damaged),
            at_least and bool(damaged & set(moment.smaps["artefact"])),
            listed_process(moment.processes, *known),
            logged_reading(moment.logged),
        )

    @property
    def rss_is_pasted(self) -> bool:
        """Whether RSS comes from a table of processes or the program's own log."""
        is_listed = self.listed is not None and self.listed.rss_bytes is not None
        return is_listed or (self.logged is not None and self.logged.rss_bytes is not None)

    @property
    def rss_is_unknown(self) -> bool:
        """Whether no complete file has RSS."""
        moment = self.moment
        known = (moment.status["VmRSS"], moment.rollups["Rss"], moment.statm["resident"])
        is_said = any(column.notna().any() for column in known) or SCRAPED_RSS in self.scraped
        is_said |= self.rss_is_pasted
        return self.classified is None and not is_said and not len(moment.cgroup)


def _marked(cycles: pd.DataFrame) -> dict[int, int]:
    """Return what each collection of a log marked, by number; empty if two runs share a number."""
    known = cycles[cycles["heap_live_bytes"].notna()]
    if cycles["number"].duplicated().any():
        return {}
    return dict(zip(known["number"].tolist(), known["heap_live_bytes"].tolist(), strict=True))


def _live_bytes(sides: _Sides, marked: Mapping[int, int]) -> int | None:
    """Return what the last collection before the snapshot marked, by runtime/metrics or by the log.

    None before the first collection, or if MemStats and the metrics count different collections.
    """
    stats, metrics = sides.memstats, sides.metrics
    number = None if stats is None or pd.isna(stats["NumGC"]) else int(stats["NumGC"])
    cycles = metrics.get(TOTAL_CYCLES, number)
    if number == 0 or (number is not None and cycles != number):
        return None
    if LIVE_HEAP in metrics:
        return int(metrics[LIVE_HEAP]) if cycles else None
    return None if number is None else marked.get(number)


def _facts(
    sides: _Sides,
    ends: pd.Series | None,
    marked: Mapping[int, int],
    page_bytes: int | None,
) -> MomentFacts:
    moment, classified = sides.moment, sides.classified
    skew = _skew(sides, ends)
    cgroup = cgroup_values(moment.cgroup)
    classes = moment.size_classes
    return MomentFacts(
        name=moment.name,
        ledger=_ledger(sides, skew, cgroup, page_bytes),
        memstats=sides.memstats,
        mappings=None if classified is None else classified.mappings,
        size_classes=classes[classes["dump"] == classes["dump"].max()] if len(classes) else classes,
        metrics=sides.metrics,
        paths=moment.paths,
        skew=skew,
        goroutines=moment.goroutines,
        goroutine_total=moment.goroutine_count,
        cgroup=cgroup,
        limits=_limits(moment.limits),
        time=None if moment.time is None else pd.Timestamp(moment.time),
        live_bytes=_live_bytes(sides, marked),
        partial=_last(moment.memstats) if sides.memstats is None else None,
        scraped=sides.scraped,
        page=_page(moment) if sides.runtime_side == "metrics" else None,
        threads=_threads(sides),
        pid=_number(moment.status, "Pid"),
        listed=sides.listed,
        logged=sides.logged,
    )


def _threads(sides: _Sides) -> int | None:
    """Return the number of threads: by the kernel, ps, runtime/metrics, a page, or their stacks."""
    known = sides.metrics.get(THREADS, sides.scraped.get(THREADS_ON_PAGE))
    counted = _number(sides.moment.status, "Threads")
    if counted is None and sides.listed is not None:
        counted = sides.listed.threads
    if counted is None and sides.logged is not None:
        counted = sides.logged.sizes.get("threads")
    if counted is None and known is None and sides.classified is not None:
        return stacks_of_threads(sides.classified.mappings)
    return counted if counted is not None or known is None else int(known)


def _number(frame: pd.DataFrame, column: str) -> int | None:
    row = _last(frame)
    return None if row is None or pd.isna(row[column]) else int(row[column])


def _page(moment: Moment) -> pd.Series | None:
    """Return MemStats from a Prometheus page, as a row; None without one."""
    rows = moment.memstats
    return _last(rows[rows["artefact"] == moment.paths.get(METRICS_PAGE)])


def _limits(rows: pd.DataFrame) -> dict[str, int | None]:
    """Return the soft limits of a process by name; None for no limit."""
    sizes = [None if pd.isna(size) else int(size) for size in rows["soft"]]
    return dict(zip(rows["limit"], sizes, strict=True))


_PRINTED_AGAIN = (
    "{} grew while smaps was read, and smaps lists the old size and the new one: only the new one "
    "counts, so the Rss lines of the file add up to more"
)


def _classified(
    moment: Moment, memstats: pd.Series | None, damaged: set[str]
) -> ClassifiedMappings | None:
    """Return the mappings by kind; None without any, for maps (no Rss), or a damaged smaps.

    Sums of a damaged smaps are too small, and a coarser report is better than one with silently low
    numbers. But if no file of the capture has RSS, they are reported as a lower bound.
    """
    mappings = moment.smaps
    if not len(mappings) or mappings["Rss"].isna().all() or damaged & set(mappings["artefact"]):
        return None
    classified = classify_mappings(mappings, memstats)
    again = sum(getattr(file.parsed, "printed_again", 0) for file in moment.artefacts)
    if not again:
        return classified
    note = text(_PRINTED_AGAIN, Count(again, "mapping"))
    return replace(classified, notes=(*classified.notes, note))


def _dumps(moment: Moment) -> pd.DataFrame:
    """Return MemStats; not those of a Prometheus page if runtime/metrics have the same as JSON."""
    stats = moment.memstats
    page, json = moment.paths.get(METRICS_PAGE), moment.paths.get("metrics")
    return stats if page in (None, json) else stats[stats["artefact"] != page]


def _metrics(moment: Moment) -> pd.DataFrame:
    """Return the first of several files of runtime/metrics; two files are two readings."""
    values = moment.metrics
    if not len(values):
        return values
    return values[values["artefact"] == moment.paths.get("metrics")]


def _scraped(moment: Moment) -> dict[str, float]:
    """Return the process's metrics from the last scrape of a Prometheus page, by name."""
    row = _last(moment.process)
    if row is None:
        return {}
    return {name: row[name] for name in SCRAPED if name in row and not pd.isna(row[name])}


def _heap_row(stats: pd.DataFrame) -> pd.Series | None:
    """Return the last row, if it has everything that the ledger needs."""
    row = _last(stats)
    return row if row is not None and has_heap_fields(row) else None


def _ledger(
    sides: _Sides, skew: Skew, cgroup: dict[str, int | None], page_bytes: int | None
) -> Ledger | None:
    moment, classified, memstats = sides.moment, sides.classified, sides.memstats
    status, statm, rollup = map(_last, (moment.status, moment.statm, moment.rollups))
    known = (classified, memstats, status, statm, rollup)
    is_said = bool(cgroup) or SCRAPED_RSS in sides.scraped or sides.rss_is_pasted
    if all(row is None for row in known) and not is_said:
        return None
    return reconcile_rss(
        classified,
        memstats,
        status,
        None if rollup is None or pd.isna(rollup["Rss"]) else int(rollup["Rss"]),
        skew.seconds,
        collections_between=skew.collections,
        rollup=rollup,
        statm=statm,
        page_bytes=_page_bytes(moment.smaps) or page_bytes,
        cgroup=cgroup,
        scraped=sides.scraped,
        runtime_side=sides.runtime_side,
        is_cut=classified is None and "smaps" in moment.paths,
        mapped_by="smaps Rss" if "smaps" in moment.paths else "pmap RSS",
        is_least=sides.is_least,
        listed=sides.listed,
        logged=sides.logged,
        assumed=moment.assumed,
    )


def _last(frame: pd.DataFrame) -> pd.Series | None:
    return frame.iloc[-1] if len(frame) else None


def _page_bytes(mappings: pd.DataFrame) -> int | None:
    """Return the kernel's page size, from smaps; None without smaps."""
    sizes = mappings["KernelPageSize"].dropna()
    return None if sizes.empty else int(sizes.min())


def _skew(sides: _Sides, ends: pd.Series | None) -> Skew:
    """Return the time between MemStats and mappings, and the collections in it, if counted."""
    moment = sides.moment
    stats = _last(_dumps(moment))
    runtime, kernel = moment.time_of(*RUNTIME_SIDE), moment.time_of(*KERNEL_SIDE)
    if moment.collections is not None:
        return counted_skew(runtime, kernel, moment.collections)
    return measure_skew(
        runtime,
        kernel,
        ends,
        stats,
        _collections_counted_twice(sides, stats),
    )


def _collections_counted_twice(sides: _Sides, stats: pd.Series | None) -> tuple[int, int] | None:
    """Return NumGC of MemStats and of runtime/metrics read between MemStats and smaps; or None."""
    if stats is None or pd.isna(stats["NumGC"]):
        return None
    total = sides.metrics.get(TOTAL_CYCLES)
    first, between, last = map(sides.moment.time_of, ("memstats", "metrics", "smaps"))
    if total is None or first is None or between is None or last is None:
        return None
    return (int(stats["NumGC"]), int(total)) if first <= between <= last else None


def _heaps(
    sides: Sequence[_Sides],
    version: GoVersion,
    limits: Mapping[str, int | None],
    cycles: pd.DataFrame | None,
) -> dict[str, pd.Series]:
    """Return heap retained, released and still resident, by snapshot; see `heap_return`."""
    known = [(side.moment.name, side.memstats) for side in sides if side.memstats is not None]
    if not known:
        return {}
    rows = pd.DataFrame([row for _, row in known]).assign(moment=[name for name, _ in known])
    mapped = [
        side.classified.mappings[["kind", "LazyFree", "Rss"]].assign(moment=side.moment.name)
        for side in sides
        if side.classified is not None
    ]
    table = heap_return(rows, pd.concat(mapped) if mapped else None, version, limits, cycles)
    return {row["moment"]: row for _, row in table.iterrows()}


def _last_reading(values: pd.DataFrame) -> dict[str, float]:
    if not len(values):
        return {}
    last = values[values["reading"] == values["reading"].max()]
    return dict(zip(last["name"], last["value"], strict=True))
