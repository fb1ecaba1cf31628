"""How close is a process to its limit, what would kill it and when, and which GOMEMLIMIT helps?

RSS can reach its worst case without any further allocation: all memory that the runtime has mapped
and not released becomes resident (written, zeroed, or put into huge pages), and everything else
stays as it is. Source: the runtime's mgcscavenge.go. For the charge of a cgroup, see `cgroup`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from gomem.analysis.memory.ledger import PARTS
from gomem.analysis.series.level import Level
from gomem.inputs.schema import Column, build_rows
from gomem.text import Bytes, Words, text
from gomem.units import MIB

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gomem.analysis.memory.cgroup import CgroupUse

GO_PARTS = PARTS[:8]  # parts of the heap, and the runtime's structures
HEAP_IN_USE = ("heap_objects", "heap_slack")
NEEDED_PARTS = (*HEAP_IN_USE, "stacks", "runtime_metadata")
# Go's GC guide asks for 5 to 10 % of headroom for memory that the runtime does not know about. Here
# that memory is measured and subtracted; 5 % are left for its growth.
MARGIN = 0.05
MIN_POINTS = 3  # a line through two points has no interval
LEVEL = 0.95
NEVER = math.inf
LIMIT_STEPS = (
    Column("step", "str", "", "What is added or subtracted.", Words),
    Column("bytes", "int64", "B", "How much; below 0 if subtracted."),
    Column("source", "str", "", "Source of the number; empty for rounding.", Words),
)
ADDRESS_SPACE = "Max address space"
NOT_DIVIDED = (
    "Go has {needed} in RSS now; only MemStats would show how much of that is in use and needs room"
)
ROOM = "Go uses {needed} now, which leaves {room} for garbage between GCs"
NO_ROOM = (
    "Go already uses {needed}, so under this limit the GC would run all the time: raise the "
    "container's limit, or hold less memory"
)


@dataclass(frozen=True)
class WorstCase:
    """RSS if everything that the runtime has mapped were resident.

    Attributes:
        rss_bytes: RSS now.
        worst_bytes: RSS if all memory that is mapped and not released became resident.
        retaken_bytes: RSS if released memory were reused as well, which the runtime can do at any
            time.
        steps: The arithmetic, see `LIMIT_STEPS`; adds up to `retaken_bytes`.
    """

    rss_bytes: int
    worst_bytes: int
    retaken_bytes: int
    steps: pd.DataFrame


def worst_case_rss(
    parts: pd.DataFrame, rss_bytes: int | None, memstats: pd.Series | None
) -> WorstCase | None:
    """Add up the memory that Go has mapped, and the present size of everything else.

    None without RSS or MemStats. Without smaps, non-Go memory in RSS can hide Go memory that was
    never touched, so the result is a lower bound of the worst case.
    """
    if rss_bytes is None or memstats is None or pd.isna(memstats["HeapReleased"]):
        return None
    sizes = parts.groupby("part")["bytes"].sum()
    claims = parts.groupby("part")["claimed_bytes"].sum(min_count=1)
    untouched = -int(sizes.get("heap_untouched", 0))
    metadata = claims.get("runtime_metadata", pd.NA)
    resident = int(sizes.get("runtime_metadata", 0))
    absent = 0 if pd.isna(metadata) else max(0, int(metadata) - resident)
    given_back = int(memstats["HeapReleased"])
    still_there = int(sizes.get("heap_released_resident", 0) + sizes.get("heap_unexplained", 0))
    retaken = max(0, given_back - still_there)
    rows = [
        ("RSS now", rss_bytes, "smaps, or status"),
        ("reserved by Go, never touched", untouched, "ledger: heap_untouched"),
        ("runtime structures, not in RSS", absent, "MemStats *Sys minus smaps"),
        ("released, can be reused", retaken, "MemStats.HeapReleased, not in RSS"),
    ]
    steps = build_rows(rows, LIMIT_STEPS)
    worst = rss_bytes + untouched + absent
    return WorstCase(rss_bytes, worst, worst + retaken, steps)


@dataclass(frozen=True)
class AddressSpace:
    """Mapped address space and the process's own limit (RLIMIT_AS).

    Attributes:
        limit_bytes: "Max address space" of /proc/PID/limits.
        mapped_bytes: All mappings together, reserved ones too; None without smaps.
    """

    limit_bytes: int
    mapped_bytes: int | None


def address_space_use(
    limits: Mapping[str, int | None], mappings: pd.DataFrame | None
) -> AddressSpace | None:
    """Return the use of the address space; `limits` have the kernel's names. None without a limit.

    Go reserves far more address space than it uses, and the limit counts all of it.
    """
    limit = limits.get(ADDRESS_SPACE)
    mapped = None if mappings is None else int(mappings["Size"].sum())
    return None if limit is None else AddressSpace(limit, mapped)


@dataclass(frozen=True)
class TimeToLimit:
    """The time until a linearly growing size reaches a limit."""

    slope_bytes_per_second: float  # of the line through the snapshots
    slope_low: float  # lower end of its 95 % interval
    slope_high: float  # upper end of its 95 % interval
    seconds: float  # until the limit at that slope; `inf` if never
    soonest_seconds: float  # at the upper end of the slope's interval
    latest_seconds: float  # at the lower end; `inf` if the size might not be growing
    points: int  # snapshots on the line
    seen_bytes: float  # observed growth on the line: slope times time
    left_bytes: float  # distance to the limit
    # Whether it grows to the end, by its shape if there are at least five snapshots: memory that
    # has filled and levelled off reaches no limit. An interval of the later half's own slope would
    # be too strict: with three snapshots it has one degree of freedom, and extends 13 standard
    # errors to either side.
    goes_on: bool = True


def time_to_limit(seconds: pd.Series, sizes: pd.Series, limit_bytes: int) -> TimeToLimit | None:
    """Extend the line through the snapshots to the limit; None for fewer than three times.

    The slope is the least-squares slope, with Student's interval. The interval covers scatter
    around a line, but not growth that is not linear; see `TimeToLimit.goes_on`.
    """
    known = seconds.notna() & sizes.notna()
    x = seconds[known].to_numpy(float)
    y = sizes[known].to_numpy(float)
    if len(set(x)) < MIN_POINTS:
        return None
    slope, low, high = _slope(x, y)
    order = np.argsort(x, kind="stable")
    rise = Level("cgroup", x[order], y[order]).rise
    left, seen = limit_bytes - float(y[np.argmax(x)]), float(slope * (x.max() - x.min()))
    goes_on = rise is None or rise.goes_on
    at, soonest, latest = (_reach(left, rate) for rate in (slope, high, low))
    return TimeToLimit(slope, low, high, at, soonest, latest, len(x), seen, left, goes_on)


def _slope(x: np.ndarray, y: np.ndarray) -> tuple[float, float, float]:
    """Return the slope of the least-squares line, with its 95 % interval."""
    from scipy.special import stdtrit

    (slope, _), covariance = np.polyfit(x - x[0], y, 1, cov=True)
    wide = float(stdtrit(len(x) - 2, (1 + LEVEL) / 2)) * math.sqrt(covariance[0, 0])
    return float(slope), float(slope - wide), float(slope + wide)


def _reach(left: float, slope: float) -> float:
    if left <= 0:
        return 0.0
    return float(left / slope) if slope > 0 else NEVER


@dataclass(frozen=True)
class LimitAdvice:
    """A recommended GOMEMLIMIT, and how it was computed.

    Attributes:
        gomemlimit_bytes: The recommendation, in whole MiB; None if nothing is left for Go.
        needed_bytes: Memory that Go cannot release now, without idle heap; its whole resident
            memory if the heap is not broken down.
        enough: Whether the recommendation exceeds `needed_bytes`; if not, the GC would run all the
            time.
        steps: The arithmetic, see `LIMIT_STEPS`; adds up to the recommendation.
        note: Caveats.
    """

    gomemlimit_bytes: int | None
    needed_bytes: int
    enough: bool
    steps: pd.DataFrame
    note: str


def advise_gomemlimit(
    limit_bytes: int,
    parts: pd.DataFrame,
    rss_bytes: int,
    cgroup: CgroupUse | None = None,
    limit_source: str = "memory.max",
) -> LimitAdvice:
    """Recommend a GOMEMLIMIT: the container's limit minus measured non-Go memory and a margin."""
    sizes = parts.groupby("part")["bytes"].sum()
    go = int(sizes.reindex(GO_PARTS).fillna(0).sum())
    is_divided = bool(sizes.index.isin(HEAP_IN_USE).any())
    needed = int(sizes.reindex(NEEDED_PARTS).fillna(0).sum()) if is_divided else go
    rows = [
        ("limit", limit_bytes, limit_source),
        ("outside Go in this process", -(rss_bytes - go), "ledger: RSS minus Go's parts"),
    ]
    if cgroup is not None:
        beside = max(0, cgroup.unreclaimable_bytes - rss_bytes)
        source = "memory.stat: unreclaimable memory, less RSS"
        if not cgroup.is_counted:
            source = "at most: the cgroup's usage, less RSS; without memory.stat page cache, too"
        rows.append(("kernel memory and other processes", -beside, source))
    share = f"{100 * MARGIN:g} % of the limit"
    rows.append(("margin for growth", -round(MARGIN * limit_bytes), share))
    left = sum(size for _, size, _ in rows)
    advised = left // MIB * MIB
    rows.append(("rounding down to a whole MiB", advised - left, ""))
    enough = advised > needed
    note = NOT_DIVIDED if not is_divided else ROOM if enough else NO_ROOM
    said = text(note, needed=Bytes(needed), room=Bytes(advised - needed))
    steps = build_rows(rows, LIMIT_STEPS)
    return LimitAdvice(advised if advised > 0 else None, needed, enough, steps, said)
