"""How the facts of each snapshot are computed: its two sides, compared once."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pandas as pd

from gomem.analysis.mappings.kinds import ClassifiedMappings, classify_mappings
from gomem.analysis.mappings.native import LargeBlocks
from gomem.analysis.memory.cgroup import HARD_LIMITS, HIGH_LIMITS
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
from gomem.facts.known_process import known_process
from gomem.facts.moment import ON_PAGE, THREADS, THREADS_ON_PAGE, MomentFacts
from gomem.facts.retention import cycles_of
from gomem.facts.settings import environment_of
from gomem.inputs.kinds import METRICS_PAGE
from gomem.inputs.metrics.table import memstats_of_metrics
from gomem.inputs.status.parse import SMALLEST_PAGE_BYTES
from gomem.units import KIB

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gomem.capture.capture import Capture
    from gomem.capture.moment import Moment
    from gomem.facts.known_process import KnownProcess
    from gomem.releases import GoVersion

GOARCH_WITH_ONE_PAGE_SIZE = frozenset({"386", "amd64"})
LARGEST_PAGE_BYTES = 64 * KIB
SCRAPED = (SCRAPED_RSS, ON_PAGE, THREADS_ON_PAGE)
LIVE_HEAP = "/gc/heap/live:bytes"  # marked by the last collection; since Go 1.21
RUNTIME_SIDE = ("memstats", "heap_text", "metrics")
KERNEL_SIDE = ("smaps", "pmap", "smaps_rollup", "status")
MEMORY_FRAMES = (
    "memstats", "metrics", "process", "smaps", "rollups", "status", "statm", "cgroup", "processes",
    "logged",
)  # fmt: skip


def facts_of_moments(capture: Capture) -> tuple[MomentFacts, ...]:
    """The facts of every moment that says anything about memory, in order.

    Where none does, those of the moments that count goroutines: their number tells a leak alone.
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
    facts = _with_limits(facts)
    limits = {known.name: known.gomemlimit_bytes for known in facts}
    heaps = _heaps(sides, capture.go_version, limits, cycles)
    blocks = LargeBlocks([known.mappings for known in facts if known.mappings is not None])
    return tuple(replace(known, large_blocks=blocks, heap=heaps.get(known.name)) for known in facts)


def _with_limits(facts: Sequence[MomentFacts]) -> list[MomentFacts]:
    """The same with the cgroup's limits at each moment that says how much is charged.

    A limit is a setting: where one moment says it and none another, it holds at all of them.
    """
    said = {
        name: {known.cgroup[name] for known in facts if name in known.cgroup}
        for name in (*HARD_LIMITS, *HIGH_LIMITS)
    }
    limits = {name: next(iter(values)) for name, values in said.items() if len(values) == 1}
    # The files that say a limit, or that there is none.
    stating = [f.path("cgroup") for f in facts if not f.cgroup.keys().isdisjoint(HARD_LIMITS)]
    return [
        replace(
            known,
            cgroup={**limits, **known.cgroup},
            limits_from="" if known.path("cgroup") in stating else next(iter(stating), ""),
        )
        if known.cgroup
        else known
        for known in facts
    ]


def _page_bytes_of(capture: Capture) -> int | None:
    """The kernel's page size, by the manifest or the architecture; None if unknown."""
    noted = capture.manifest.fact("page_size")
    if type(noted) is int and SMALLEST_PAGE_BYTES <= noted <= LARGEST_PAGE_BYTES:
        return noted
    built_for = {build.build["goarch"].iloc[0] for build in capture.builds.values()}
    return SMALLEST_PAGE_BYTES if built_for and built_for <= GOARCH_WITH_ONE_PAGE_SIZE else None


@dataclass(frozen=True)
class _Sides:
    """A moment with its MemStats and its mappings, as far as each can be used."""

    moment: Moment  # the moment
    memstats: pd.Series | None  # A row of MemStats
    metrics: dict[str, float]  # runtime/metrics by name, of the last reading
    scraped: dict[str, float]  # what a page of metrics says of the process, by the page's names
    runtime_side: str  # where the row of MemStats is from; see `claims.RUNTIME_SIDES`
    classified: ClassifiedMappings | None  # its mappings by kind
    is_least: bool = False  # whether mappings are missing
    listed: Listed | None = None  # what a table of processes says of it
    logged: Logged | None = None  # what its own log says

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
        """Whether a table of processes or the program's own log says RSS."""
        is_listed = self.listed is not None and self.listed.rss_bytes is not None
        return is_listed or (self.logged is not None and self.logged.rss_bytes is not None)

    @property
    def rss_is_unknown(self) -> bool:
        """Whether nothing whole says how much is resident."""
        moment = self.moment
        known = (moment.status["VmRSS"], moment.rollups["Rss"], moment.statm["resident"])
        is_said = any(column.notna().any() for column in known) or SCRAPED_RSS in self.scraped
        is_said |= self.rss_is_pasted
        return self.classified is None and not is_said and not len(moment.cgroup)


def _marked(cycles: pd.DataFrame) -> dict[int, int]:
    """What each collection of a log marked, by its number; nothing if a number is of two runs."""
    known = cycles[cycles["heap_live_bytes"].notna()]
    if cycles["number"].duplicated().any():
        return {}
    return dict(zip(known["number"].tolist(), known["heap_live_bytes"].tolist(), strict=True))


def _live_bytes(sides: _Sides, marked: Mapping[int, int]) -> int | None:
    """What the last collection before the moment marked, by runtime/metrics, else by the log.

    None before the first collection, and where MemStats and the metrics count different ones.
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
    cgroup = _limits(moment.cgroup, "name", "value")
    classes = moment.size_classes
    return MomentFacts(
        name=moment.name,
        ledger=_ledger(sides, skew, cgroup, page_bytes),
        memstats=sides.memstats,
        mappings=None if classified is None else classified.mappings,
        size_classes=classes[classes["dump"] == classes["dump"].max()],
        metrics=sides.metrics,
        paths=moment.paths,
        skew=skew,
        goroutines=moment.goroutines,
        goroutine_total=moment.goroutine_count,
        cgroup=cgroup,
        limits=_limits(moment.limits, "limit", "soft"),
        time=None if moment.time is None else pd.Timestamp(moment.time),
        live_bytes=_live_bytes(sides, marked),
        scraped=sides.scraped,
        page=_page(moment) if sides.runtime_side == "metrics" else None,
        threads=_threads(sides),
        pid=_number(moment.status, "Pid"),
        listed=sides.listed,
        logged=sides.logged,
    )


def _threads(sides: _Sides) -> int | None:
    """How many there are, by the kernel, by runtime/metrics, by a page; None without any."""
    known = sides.metrics.get(THREADS, sides.scraped.get(THREADS_ON_PAGE))
    counted = _number(sides.moment.status, "Threads")
    return counted if counted is not None or known is None else int(known)


def _number(frame: pd.DataFrame, column: str) -> int | None:
    row = _last(frame)
    return None if row is None or pd.isna(row[column]) else int(row[column])


def _page(moment: Moment) -> pd.Series | None:
    """MemStats from a page of metrics, as a row; None without one."""
    rows = moment.memstats
    return _last(rows[rows["artefact"] == moment.paths.get(METRICS_PAGE)])


def _limits(rows: pd.DataFrame, name: str, value: str) -> dict[str, int | None]:
    """Numbers by their names, as two columns have them; None for no limit."""
    sizes = [None if pd.isna(size) else int(size) for size in rows[value]]
    return dict(zip(rows[name], sizes, strict=True))


def _classified(
    moment: Moment, memstats: pd.Series | None, damaged: set[str]
) -> ClassifiedMappings | None:
    """The mappings by kind; None without any, for maps, which have no Rss, and for a damaged smaps.

    The sums of a damaged smaps are too small, and a report that is quietly short is worse than a
    coarser one; but where no file of the capture says RSS, they are a lower bound that is said.
    """
    mappings = moment.smaps
    if mappings["Rss"].isna().all() or damaged & set(mappings["artefact"]):
        return None
    return classify_mappings(mappings, memstats)


def _dumps(moment: Moment) -> pd.DataFrame:
    """MemStats; not those of a page where runtime/metrics say the same as JSON."""
    stats = moment.memstats
    page, json = moment.paths.get(METRICS_PAGE), moment.paths.get("metrics")
    return stats if page in (None, json) else stats[stats["artefact"] != page]


def _metrics(moment: Moment) -> pd.DataFrame:
    """Of several files with runtime/metrics the first: two are two readings."""
    values = moment.metrics
    return values[values["artefact"] == moment.paths.get("metrics")]


def _scraped(moment: Moment) -> dict[str, float]:
    """What a page of metrics says of the process, by the page's names; of its last scrape."""
    row = _last(moment.process)
    if row is None:
        return {}
    return {name: row[name] for name in SCRAPED if not pd.isna(row[name])}


def _heap_row(stats: pd.DataFrame) -> pd.Series | None:
    """The last row, if it has all that the ledger needs."""
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
        mapped_by="smaps Rss" if "smaps" in moment.paths else "pmap RSS",
        is_least=sides.is_least,
        listed=sides.listed,
        logged=sides.logged,
        assumed=moment.assumed,
    )


def _last(frame: pd.DataFrame) -> pd.Series | None:
    return frame.iloc[-1] if len(frame) else None


def _page_bytes(mappings: pd.DataFrame) -> int | None:
    """The kernel's page size, from smaps; None without smaps."""
    sizes = mappings["KernelPageSize"].dropna()
    return None if sizes.empty else int(sizes.min())


def _skew(sides: _Sides, ends: pd.Series | None) -> Skew:
    """The time between the two sides, and the collections in it, if they can be counted."""
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
    """NumGC by MemStats and by runtime/metrics, if metrics were read between MemStats and smaps."""
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
    """Heap kept, given back and still resident, by moment; see `heap_return`."""
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
    last = values[values["reading"] == values["reading"].max()]
    return dict(zip(last["name"], last["value"], strict=True))
