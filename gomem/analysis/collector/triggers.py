"""Why did each collection run: the pacer, the program, the two-minute timer, or a memory limit?

The log marks collections that the program forced, and announces periodic ones. The log never says
that a memory limit (since Go 1.19) set the goal. A limit is named only if nothing else explains the
goal:

- no GOGC gives the goal: see `gogc.Goals.beyond_any`;
- runtime/metrics has GOGC, and the goal is lower than GOGC sets it;
- most goals agree on a GOGC, and several others are lower without agreeing on another value. (If
  the program had changed its GOGC, the lower goals would agree on the new one.)
- the goal stays while the live heap changes: see `constant_goals`.

Once a limit is proven, goals with hardly any room also count as set by the limit.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from gomem.analysis.collector.constant_goals import FIRST_GOAL_BYTES, runs_with_constant_goal
from gomem.analysis.collector.gogc import (
    GOAL_COLUMNS,
    MIN_GOALS,
    Goals,
    agreed_percents,
    allowed_percents,
)
from gomem.analysis.collector.steps import (
    CPU_PARTS,
    ROUNDING_BYTES,
    STEP_COLUMNS,
    STOPS,
    Cycles,
    available_seconds,
    gc_steps,
    overlapping,
    row_sums,
    stopped_seconds,
)
from gomem.inputs.schema import Column, build
from gomem.statistics.quantiles import Tally
from gomem.text import Words

if TYPE_CHECKING:
    from collections.abc import Mapping

COLUMNS = tuple(dict.fromkeys((*STEP_COLUMNS, *STOPS, *GOAL_COLUMNS, "forced", "periodic")))
TRIGGERS = ("pacer", "limit", "forced", "periodic")
_THEIRS = "Over their steps, each to the next GC:"
TRIGGER_COUNTS = (
    Column("trigger", "str", "", "What triggered the GCs, one of `TRIGGERS`.", Words),
    Column("cycles", "int64", "count", "Collections."),
    Column("fraction", "float64", "fraction", "Of all; missing without a collection."),
    Column("gc_cpu_seconds", "float64", "s", "CPU that they took."),
    Column("stopped_seconds", "float64", "s", "Total pause."),
    Column("marking_cpu_seconds", "float64", "s", f"{_THEIRS} CPU that marking took."),
    Column("marking_cpu_fraction", "float64", "fraction", f"{_THEIRS} the same, of GOMAXPROCS."),
    Column("interval_p50_seconds", "float64", "s", f"{_THEIRS} the median length."),
    Column("heap_live_p50_bytes", "float64", "B", "Median of what they marked; to 1 MiB."),
    Column("heap_goal_p50_bytes", "float64", "B", "Median of their goals; to 1 MiB."),
    Column("room_p50_fraction", "float64", "ratio", "Median of their goals' room above the live."),
)
GOGC = (
    Column("run", "int64", "", "Which process of the log."),
    Column("gogc_fraction", "float64", "ratio", "1.0 is GOGC=100; missing if off or unknown."),
    Column("low", "float64", "ratio", "Lowest value that the heap goals allow."),
    Column("high", "float64", "ratio", "The most that as many goals allow."),
    Column("known_from", "str", "", "Source of the value.", Words),
)
METRICS, ENVIRONMENT, NOTHING = "runtime/metrics", "environment", "no file states it"
STATED = frozenset({METRICS, ENVIRONMENT})
SUMS = ("gc_cpu_seconds", "stopped_seconds", "marking_cpu_seconds", "available")
MEDIANS = (
    "interval_p50_seconds", "heap_live_p50_bytes", "heap_goal_p50_bytes", "room_p50_fraction",
)  # fmt: skip
TOLERANCE = 0.01  # of the goal: a margin, because room for stacks is not counted
CRAMPED_PERCENT = 5  # nobody sets a lower GOGC, so if there is a limit, it set such a goal
ONE_GOGC_FRACTION = 0.9  # of the lower goals: if that many agree, GOGC was changed


@dataclass(frozen=True)
class GcTriggers:
    """Why the collections of a log ran."""

    cycles: pd.DataFrame  # `run`, `number`, `trigger` of each; empty for a log too long for memory
    counts: pd.DataFrame  # a row per trigger, in the order of `TRIGGERS`; see `TRIGGER_COUNTS`
    gogc: pd.DataFrame  # a row per run; see `GOGC`
    beyond_any: int  # number of goals that no GOGC can set

    def of(self, trigger: str) -> pd.Series:
        """Return the row of `counts` for a trigger."""
        return self._rows[trigger]

    @cached_property
    def _rows(self) -> dict[str, pd.Series]:
        return {str(name): row for name, row in self.counts.set_index("trigger").iterrows()}

    @property
    def gogc_is_known(self) -> bool:
        """Whether GOGC is known without inference."""
        return bool(len(self.gogc)) and bool(self.gogc["known_from"].isin(STATED).all())


def gc_triggers(
    cycles: Cycles,
    gogc_fraction: float | None = None,
    memory_limit_bytes: float | None = None,
    gogc_source: str = METRICS,
) -> GcTriggers:
    """Determine why each collection ran.

    `gogc_fraction` (1.0 for 100) and `memory_limit_bytes` are what files say, and None if unknown.
    Infinite means off or unset; the limit is also infinite if the release has no limits.
    `gogc_source` is one of `STATED`.
    """
    gogc = _gogc(cycles, gogc_fraction, gogc_source)
    limited = None
    if memory_limit_bytes is None or math.isfinite(memory_limit_bytes):
        constant = runs_with_constant_goal(cycles) if gogc_fraction is None else frozenset()
        of_limit = gogc.index.isin(constant)
        gogc.loc[of_limit, ["gogc_fraction", "low", "high"]] = math.nan
        gogc.loc[of_limit, "known_from"] = NOTHING
        limited = _Limited.of(cycles, gogc, constant, set_to=memory_limit_bytes)
    counts, beyond_any, last = _Counts(), 0, 0
    named = []
    for piece, before in overlapping(cycles, COLUMNS):
        goals = Goals.of(piece)
        trigger = _places(piece, goals, limited)
        if before:
            trigger[0] = last  # its predecessor is not in this piece
        last = trigger[-1] if len(trigger) else last
        counts.add(piece, goals, trigger, before)
        beyond_any += int(goals.beyond_any[before:].sum())
        if isinstance(cycles, pd.DataFrame):
            names = pd.Series(np.array(TRIGGERS)[trigger], piece.index, dtype="str")
            named.append(piece[["run", "number"]].assign(trigger=names))
    none = {"run": [], "number": [], "trigger": pd.Series([], dtype="str")}
    rows = named[0] if named else pd.DataFrame(none)
    return GcTriggers(rows, counts.table, _table(gogc), beyond_any)


def _places(piece: pd.DataFrame, goals: Goals, limited: _Limited | None) -> np.ndarray:
    """Return why each collection of a piece ran, as an index of `TRIGGERS`."""
    by_limit = np.zeros(len(piece), bool) if limited is None else limited.made(goals)
    why = {
        "forced": piece["forced"].to_numpy(bool),
        "periodic": piece["periodic"].to_numpy(bool),
        "limit": by_limit,
    }
    return np.select(list(why.values()), list(map(TRIGGERS.index, why)), TRIGGERS.index("pacer"))


def _gogc(cycles: Cycles, known: float | None, source: str) -> pd.DataFrame:
    """Return the GOGC of each run, NaN if unknown, and its source."""
    runs: set[int] = set()
    allowed = []
    for piece, _ in overlapping(cycles, GOAL_COLUMNS):
        runs |= set(pd.unique(piece["run"]).tolist())
        if known is None:
            allowed.append(allowed_percents(Goals.of(piece)))
    index = pd.Index(sorted(runs))
    if known is not None:
        columns = dict.fromkeys(("gogc_fraction", "low", "high"), known)
        return pd.DataFrame(columns | {"known_from": source}, index=index)
    agreed = agreed_percents(_added(allowed)).reindex(index)
    agreeing, telling = (agreed[name].fillna(0).astype(int) for name in ("agreeing", "telling"))
    words = [f"{count} of {all_} goals" for count, all_ in zip(agreeing, telling, strict=True)]
    inferred = agreed["percent"].notna().to_numpy()
    known_from = np.where(inferred, np.array(words, dtype=object), NOTHING)
    fractions = {"gogc_fraction": "percent", "low": "least", "high": "most"}
    columns = {name: agreed[of].astype(float) / 100 for name, of in fractions.items()}
    return pd.DataFrame(columns | {"known_from": known_from}, index=index)


def _added(allowed: list[pd.DataFrame]) -> pd.DataFrame:
    together = pd.concat(allowed, ignore_index=True)
    return together.groupby(["run", "low", "high"])["goals"].sum().reset_index()


@dataclass(frozen=True)
class _Limited:
    """The goals that a memory limit set, as far as proven."""

    gogc: pd.Series  # GOGC by run
    lower: frozenset[int]  # runs in which a goal lower than GOGC's was set by a limit
    sure: frozenset[int]  # runs that certainly have a limit
    constant: frozenset[int]  # runs in which it set every goal

    @classmethod
    def of(
        cls, cycles: Cycles, gogc: pd.DataFrame, constant: frozenset[int], *, set_to: float | None
    ) -> _Limited:
        runs = frozenset(gogc.index)
        is_stated = bool(len(gogc)) and bool(gogc["known_from"].isin(STATED).all())
        first = cls(gogc["gogc_fraction"], runs if is_stated else frozenset(), constant, constant)
        proven, others, counts = Counter[int](), [], Counter[int]()
        for piece, before in overlapping(cycles, GOAL_COLUMNS):
            goals = Goals.of(piece)
            beyond = goals.beyond_any
            below = _below(goals, first.gogc_of(goals)) & ~beyond
            beyond[:before] = below[:before] = False
            proven.update(goals.run[beyond].tolist())
            counts.update(goals.run[below].tolist())
            others.append(allowed_percents(goals, below))
        lower = runs if is_stated else _runs_with_lower(counts, _added(others))
        proven.update({run: count for run, count in counts.items() if run in lower})
        sure = {run for run in runs if set_to is not None or proven[run] >= MIN_GOALS}
        return cls(gogc["gogc_fraction"], lower, frozenset(sure), constant)

    def gogc_of(self, goals: Goals) -> np.ndarray:
        """Return the GOGC of each goal's run."""
        return pd.Series(goals.run).map(self.gogc).to_numpy(float)

    def made(self, goals: Goals) -> np.ndarray:
        """Return whether a limit set each of these goals.

        With GOGC=off nothing else does, unless the program sets it later, after the least goal.
        """
        gogc = self.gogc_of(goals)
        lower = _below(goals, gogc) & np.isin(goals.run, list(self.lower))
        cramped = (goals.percents()[1] < CRAMPED_PERCENT) & goals.may_be_limited
        stays = goals.may_be_limited & np.isin(goals.run, list(self.constant))
        is_off = np.isinf(gogc) & (goals.goal > FIRST_GOAL_BYTES)
        is_sure = np.isin(goals.run, list(self.sure))
        return goals.beyond_any | lower | stays | is_off | (cramped & is_sure)


def _runs_with_lower(counts: Counter[int], allowed: pd.DataFrame) -> frozenset[int]:
    """Return runs with several goals below those of the inferred GOGC, without another GOGC."""
    other = agreed_percents(allowed)
    agree = other["agreeing"] >= ONE_GOGC_FRACTION * other["telling"]
    changed = set(other.index[agree])
    several = {run for run, count in counts.items() if count >= MIN_GOALS}
    return frozenset(several - changed)


def _below(goals: Goals, gogc: np.ndarray) -> np.ndarray:
    """Return whether a goal is lower than GOGC alone sets; printed sizes are up to 1 MiB low."""
    with np.errstate(invalid="ignore"):
        least = np.maximum(goals.live * (1 + gogc), FIRST_GOAL_BYTES * gogc)
        return goals.may_be_limited & ((goals.goal + ROUNDING_BYTES) * (1 + TOLERANCE) < least)


class _Counts:
    """Counts collections by trigger; `table` has the totals."""

    def __init__(self) -> None:
        self._cycles = np.zeros(len(TRIGGERS), np.int64)
        self._sums = {(trigger, name): 0.0 for trigger in TRIGGERS for name in SUMS}
        self._known = Counter[tuple[str, str]]()
        self._samples = {(trigger, name): Tally() for trigger in TRIGGERS for name in MEDIANS}

    def add(self, piece: pd.DataFrame, goals: Goals, trigger: np.ndarray, before: int) -> None:
        """Add further collections; a step counts in the piece in which it ends.

        Triggers are indices of `TRIGGERS`.
        """
        steps, own = gc_steps(piece), piece.iloc[before:]
        room = (goals.goal - goals.live) / np.where(goals.live > 0, goals.live, np.nan)
        of_steps = {
            "marking_cpu_seconds": steps["marking_cpu_seconds"],
            "available": available_seconds(steps),
            "interval_p50_seconds": steps["seconds"],
        }
        of_cycles = {
            "gc_cpu_seconds": pd.Series(row_sums(own, CPU_PARTS)),
            "stopped_seconds": stopped_seconds(own),
            "heap_live_p50_bytes": own["heap_live_bytes"],
            "heap_goal_p50_bytes": own["heap_goal_bytes"],
            "room_p50_fraction": pd.Series(room[before:]),
        }
        self._cycles += np.bincount(trigger[before:], minlength=len(TRIGGERS))
        self._add(of_steps, trigger[piece.index.get_indexer(steps.index)])
        self._add(of_cycles, trigger[before:])

    def _add(self, columns: Mapping[str, pd.Series], triggers: np.ndarray) -> None:
        rows = {name: triggers == place for place, name in enumerate(TRIGGERS)}
        rows = {name: theirs for name, theirs in rows.items() if theirs.any()}
        for name, column in columns.items():
            values = column.to_numpy(float, na_value=np.nan)
            for trigger, theirs in rows.items():
                found = values[theirs]
                if name in SUMS:
                    self._sums[trigger, name] += float(np.nansum(found))
                    self._known[trigger, name] += int((~np.isnan(found)).sum())
                else:
                    self._samples[trigger, name].add(found)

    @property
    def table(self) -> pd.DataFrame:
        """Return the counts; see `TRIGGER_COUNTS`."""
        cycles = self._cycles
        sums = {}
        for name in SUMS:
            known = np.array([self._known[trigger, name] for trigger in TRIGGERS])
            total = np.array([self._sums[trigger, name] for trigger in TRIGGERS])
            sums[name] = np.where((known == 0) & (cycles > 0), np.nan, total)
        available = sums.pop("available")
        available = np.where(available > 0, available, np.nan)
        medians = {
            name: [self._samples[trigger, name].quantile(0.5) for trigger in TRIGGERS]
            for name in MEDIANS
        }
        columns = {
            "trigger": list(TRIGGERS),
            "cycles": cycles,
            "fraction": cycles / (cycles.sum() or np.nan),
            "marking_cpu_fraction": sums["marking_cpu_seconds"] / available,
        }
        return build(columns | sums | medians, TRIGGER_COUNTS)


def _table(gogc: pd.DataFrame) -> pd.DataFrame:
    """Build the table; infinity becomes missing, because GOGC=off has no number."""
    fractions = gogc[["gogc_fraction", "low", "high"]].astype(float)
    known = fractions.where(
        np.isfinite(fractions) & fractions[["gogc_fraction"]].notna().to_numpy()
    )
    return build(dict(gogc.assign(**known).rename_axis("run").reset_index()), GOGC)
