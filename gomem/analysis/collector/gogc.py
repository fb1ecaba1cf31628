"""Which GOGC did a run use, according to the goals in its log?

The runtime computes each goal from what the previous collection marked:

    to 1.17   goal = live + live x GOGC/100
    from 1.18 goal = live + (live + stacks + globals) x GOGC/100

Not all goals are informative. The first goal is set before anything is marked. A goal is never
below 4 MiB x GOGC/100, so the goals of a small heap show nothing. The runtime raises a goal when a
collection starts late (to 64 KiB above the start), and keeps a goal at least 1 MiB above the live
heap during sweeping. A memory limit (from 1.19) lowers the goal, and then the other rules do not
apply.

GOGC is a whole per cent, and the log prints sizes in whole MiB. So each goal is consistent with a
few values, and the value that is consistent with most goals is the run's GOGC. Without such a
value, GOGC is unknown: GOGC changed during the run, a limit set most of the goals, or too few goals
are informative. GOGC is also
unknown if several goals are above those that agree. A limit that constrains a steady heap also
produces goals that agree, and the goals it did not constrain are higher.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from gomem.analysis.collector.steps import ROUNDING_BYTES, Cycles, overlapping
from gomem.units import MIB

MIN_LIVE_BYTES = 8 * MIB  # below, goals are the minimum, or rounding is most of the room
MIN_GOGC = 0.01  # GOGC is a whole per cent; with 0, GC would run without a break
MIN_GOALS = 3  # two agree by chance
AGREEING_FRACTION = 0.5  # of the informative goals, for a value to be the run's GOGC
MAX_PERCENT = 100_000
MIN_SURE_GOALS = 10  # of fewer, most can agree by chance on a value that the others just miss
NEARLY = 0.1  # of a value: goals that differ by less, due to late starts, can have the same GOGC
# Among values that fit equally well, the likeliest: people set round numbers.
ROUND_PERCENTS = (100, 50, 25, 10, 5)
GOAL_COLUMNS = (
    "run", "number", "heap_at_start_bytes", "heap_live_bytes", "heap_goal_bytes", "stacks_bytes",
    "globals_bytes",
)  # fmt: skip

IntArray = np.ndarray


@dataclass(frozen=True)
class Goals:
    """Heap goals of collections, each with what the previous collection marked.

    NaN where unknown.
    """

    run: IntArray  # which process
    live: np.ndarray  # marked by the previous collection, if its line is present
    goal: np.ndarray  # the goal that followed
    start: np.ndarray  # the heap when the collection began
    # stacks and globals in addition to the live heap; 0 if the release does not print them
    scanned: np.ndarray
    may_be_limited: np.ndarray  # whether the release has a memory limit, as far as its lines show

    @classmethod
    def of(cls, cycles: pd.DataFrame) -> Goals:
        """Extract the goals from collections; see `gomem.inputs.gctrace.table.CYCLES`."""
        sizes = {
            name: cycles[f"{name}_bytes"].to_numpy(float, na_value=np.nan)
            for name in ("heap_live", "heap_goal", "heap_at_start", "stacks", "globals")
        }
        run, number = cycles["run"].to_numpy(), cycles["number"].to_numpy()
        follows = np.zeros(len(run), bool)
        follows[1:] = (run[1:] == run[:-1]) & (number[1:] == number[:-1] + 1)
        beside = np.nan_to_num(sizes["stacks"]) + np.nan_to_num(sizes["globals"])
        return cls(
            run=run,
            live=np.where(follows, _before(sizes["heap_live"]), np.nan),
            goal=sizes["heap_goal"],
            start=sizes["heap_at_start"],
            scanned=np.where(follows, _before(beside), np.nan),
            may_be_limited=~np.isnan(sizes["stacks"]),
        )

    @property
    def beyond_any(self) -> np.ndarray:
        """Find goals that no GOGC can set, so that a memory limit must have set them.

        During sweeping, any GOGC leaves 1 MiB of headroom above the live heap. GOGC=1, the smallest
        non-zero value, leaves 1 %. A goal with less headroom comes from a limit.
        """
        with np.errstate(invalid="ignore"):
            none_left = self.goal <= self.live
            less_than_one = self.goal + ROUNDING_BYTES <= (1 + MIN_GOGC) * self.live
            return self.may_be_limited & (none_left | less_than_one)

    @property
    def telling(self) -> np.ndarray:
        """Find goals that are informative about GOGC.

        The live heap is large, the collection began before the heap reached the goal, and it is not
        certain that a limit set the goal.
        """
        with np.errstate(invalid="ignore"):
            in_time = self.start + ROUNDING_BYTES < self.goal
            return self.is_large & in_time & ~self.beyond_any

    @property
    def is_large(self) -> np.ndarray:
        """Find goals whose headroom is large compared with the 1 MiB of rounding."""
        with np.errstate(invalid="ignore"):
            return self.live >= MIN_LIVE_BYTES

    def percents(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the smallest and the largest GOGC, in per cent, consistent with each goal.

        Sizes in the log are rounded, so a goal is consistent with a range.
        """
        printed = np.where(self.may_be_limited, 2 * ROUNDING_BYTES, 0)
        with np.errstate(invalid="ignore", divide="ignore"):
            most_live = self.live + ROUNDING_BYTES
            low = (self.goal - most_live) / (most_live + self.scanned + printed)
            high = (self.goal + ROUNDING_BYTES - self.live) / (self.live + self.scanned)
        return np.ceil(100 * low).clip(1, MAX_PERCENT), np.floor(100 * high).clip(0, MAX_PERCENT)


def _before(values: np.ndarray) -> np.ndarray:
    return np.concatenate([[np.nan], values[:-1]])


def allowed_percents(goals: Goals, which: np.ndarray | None = None) -> pd.DataFrame:
    """Return the ranges of GOGC consistent with goals; by default, with the informative ones.

    A row per run and range, because a log can have very many goals: `run`, `low` and `high` in per
    cent, and `goals`, the number of goals with just this range.
    """
    which = goals.telling if which is None else which
    low, high = goals.percents()
    frame = pd.DataFrame(
        {
            "run": goals.run[which],
            "low": low[which].astype(np.int64),
            "high": high[which].astype(np.int64),
        }
    )
    return frame.groupby(["run", "low", "high"], sort=True).size().rename("goals").reset_index()


def agreed_percents(allowed: pd.DataFrame) -> pd.DataFrame:
    """Return for each run the GOGC consistent with most goals, by the ranges of `allowed_percents`.

    The columns are `percent`, missing unless enough goals are consistent and few are higher;
    `least` and `most`, the range that is consistent with as many; `agreeing`, the number of
    consistent goals; and `telling`, the number of all goals considered. Of equally good ranges, the
    highest gives `percent`, because a memory limit only lowers goals.
    """
    totals = allowed.groupby("run")["goals"].sum()
    fits = allowed[allowed["low"] <= allowed["high"]]
    if fits.empty:
        none = dict.fromkeys(("percent", "least", "most"), np.nan)
        return pd.DataFrame(none | {"agreeing": 0, "telling": totals})
    events = pd.DataFrame(
        {
            "run": np.tile(fits["run"], 2),
            "percent": np.concatenate([fits["low"], fits["high"] + 1]),
            "change": np.concatenate([fits["goals"], -fits["goals"]]),
        }
    )
    events = events.groupby(["run", "percent"], sort=True)["change"].sum().reset_index()
    events["agreeing"] = events["change"].cumsum()  # returns to 0 at the end of each run
    events["until"] = events["percent"].shift(-1, fill_value=0) - 1
    most = events.groupby("run")["agreeing"].transform("max")
    agree = events[events["agreeing"] == most]
    best = agree.drop_duplicates("run", keep="last").set_index("run")
    frame = pd.DataFrame(
        {
            "percent": roundest(best["percent"].astype(float), best["until"].astype(float)),
            "least": agree.groupby("run")["percent"].min().astype(float),
            "most": best["until"].astype(float),
            "agreeing": best["agreeing"],
            "telling": totals,
        }
    )
    _widen_few(fits, frame)
    frame["agreeing"] = frame["agreeing"].fillna(0).astype(np.int64)
    enough = frame["agreeing"] >= np.maximum(MIN_GOALS, AGREEING_FRACTION * frame["telling"])
    frame["percent"] = frame["percent"].where(enough & (_above(fits, frame) < MIN_GOALS))
    return frame


def _widen_few(fits: pd.DataFrame, frame: pd.DataFrame) -> None:
    """If few goals agree but nearly do, use their whole range, and the roundest value in it."""
    ends = fits.groupby("run").agg(low=("low", "min"), high=("high", "max")).astype(float)
    low, high = (ends[name].reindex(frame.index) for name in ("low", "high"))
    is_few = (frame["telling"] < MIN_SURE_GOALS) & (frame["agreeing"] < frame["telling"])
    wide = is_few & (high - low <= NEARLY * low)
    frame["percent"] = frame["percent"].mask(wide, roundest(low, high))
    frame["least"], frame["most"] = frame["least"].mask(wide, low), frame["most"].mask(wide, high)


def goals_allow(cycles: Cycles, fraction: float, *, is_limited: bool) -> bool:
    """Return whether most goals of a log are consistent with a GOGC (1.0 for 100).

    True if no goal is informative. If `is_limited`, lower goals are no contradiction,
    because a memory limit lowers goals.
    """
    contradicting = telling = 0
    for piece, _ in overlapping(cycles, GOAL_COLUMNS):
        allowed = allowed_percents(Goals.of(piece))
        wrong = allowed["low"] > 100 * fraction
        if not is_limited:
            wrong |= allowed["high"] < 100 * fraction
        contradicting += int(allowed["goals"][wrong].sum())
        telling += int(allowed["goals"].sum())
    return contradicting <= (1 - AGREEING_FRACTION) * telling


def goals_confirm(cycles: Cycles, fraction: float) -> bool | None:
    """Return whether most goals of a log are consistent with a GOGC found elsewhere (1.0 for 100).

    One goal suffices, because the value is given and only checked. A GC that starts late only
    raises its goal, so such goals count too. None if no goal is informative.
    """
    agreeing = telling = 0
    for piece, _ in overlapping(cycles, GOAL_COLUMNS):
        goals = Goals.of(piece)
        allowed = allowed_percents(goals, goals.is_large & ~goals.beyond_any)
        fits = (allowed["low"] <= 100 * fraction) & (allowed["high"] >= 100 * fraction)
        agreeing += int(allowed["goals"][fits].sum())
        telling += int(allowed["goals"].sum())
    return agreeing > AGREEING_FRACTION * telling if telling else None


def _above(fits: pd.DataFrame, frame: pd.DataFrame) -> pd.Series:
    """Count the goals of each run that need a higher GOGC than the one most agree on."""
    higher = fits["low"] > fits["run"].map(frame["percent"])
    return fits[higher].groupby("run")["goals"].sum().reindex(frame.index, fill_value=0)


def roundest(low: pd.Series, high: pd.Series) -> pd.Series:
    """Return the largest multiple of the largest step of `ROUND_PERCENTS` between two percentages.

    The middle if there is no multiple.
    """
    found = (low + high) // 2
    for step in reversed(ROUND_PERCENTS):
        first = np.ceil(low / step) * step
        found = found.mask(first <= high, first)
    return found
