"""How much CPU does the program keep in the worst window of each length?

The measure is the minimum mutator utilisation (Cheng and Blelloch, 2001): the program's share of
the CPU in the window of a given length in which GC took most. A pause of 1 ms makes the share 0 in
windows of 1 ms. Pauses in quick succession show in windows of 10 ms. For long windows, the curve
flattens at the overall cost of GC.

During STW, the program has no CPU. During concurrent marking, the program has the part of
GOMAXPROCS that assists and background workers leave. That part is spread evenly over the marking,
because the log has only the sum. Idle marking is not counted, because it uses CPU that the program
did not need.

A pause counts from the request to stop, as the log prints it. Other processors (Ps) still run until
the last P has stopped. So the values are lower bounds: on a busy machine, the program keeps more.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import pandas as pd

from gomem.analysis.collector.steps import (
    CONCURRENT,
    MARKING,
    NANOSECOND_DIGITS,
    STOPS,
    Cycles,
    overlapping,
    row_sums,
)
from gomem.inputs.schema import Column, build_rows

FloatArray = npt.NDArray[np.float64]

# A 1-2-5 series, from the log's clock resolution to the longest window relevant to a request.
WINDOWS_SECONDS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)

COLUMNS = ("run", "number", "at_seconds", "gomaxprocs", *STOPS, *CONCURRENT, *MARKING)
PHASES_OF_A_CYCLE = 4  # its start, the ends of its two pauses, and the end of marking
RISES, FALLS = [0, 2], [1, 3]  # phases at which a pause begins, and at which it ends

MMU = (
    Column("window_seconds", "float64", "s", "Length of the window."),
    Column(
        "minimum_fraction",
        "float64",
        "fraction",
        "Share of CPU that the program had in the worst window.",
    ),
    Column("run", "Int64", "", "Run of the worst window; missing if all runs are shorter."),
    Column("at_seconds", "float64", "s", "Where it begins, on that run's clock."),
)


@dataclass(frozen=True)
class MutatorUtilization:
    """The share of CPU that the program kept, by window length."""

    curve: pd.DataFrame  # a row per window length; see `MMU`
    mean_fraction: float | None  # over the whole log; None without a collection
    notes: tuple[str, ...] = ()  # caveats


@dataclass(frozen=True)
class LostTime:
    """Time that the collector took from the program in a run, as a piecewise linear function."""

    begin: float  # start of the run's record, in seconds of its clock
    knots: FloatArray  # times at which the rate of loss changes, ascending
    lost: FloatArray  # seconds of the whole program lost up to each knot

    @property
    def end(self) -> float:
        """The end of the last collection."""
        return float(self.knots[-1])

    def before(self, moments: FloatArray) -> FloatArray:
        """Return the seconds lost before each of several times."""
        return np.interp(moments, self.knots, self.lost)

    def worst_window(self, seconds: float) -> tuple[float, float] | None:
        """Return the largest fraction lost in any window of this length, and the window's start.

        The rate of loss is constant between knots. So a worst window begins where the rate rises
        (at the start of a pause), or ends where the rate falls (at the end of a pause). Only these
        windows are checked. None if the run is shorter than the window.
        """
        latest = self.end - seconds
        if latest < self.begin - 10.0**-NANOSECOND_DIGITS:
            return None
        ends = np.array([self.begin, max(latest, self.begin)])
        (rises, lost_before), (falls, lost_after) = self._rises, self._falls
        after = slice(int(np.searchsorted(rises, latest, side="right")))
        before = slice(int(np.searchsorted(falls, self.begin + seconds)), None)
        begins, closes = rises[after], falls[before] - seconds
        starts = np.concatenate([ends, begins, closes])
        lost = np.concatenate(
            [
                self.before(ends + seconds) - self.before(ends),
                self.before(begins + seconds) - lost_before[after],
                lost_after[before] - self.before(closes),
            ]
        )
        worst = int(lost.argmax())
        return min(1.0, float(lost[worst]) / seconds), float(starts[worst])

    @cached_property
    def _rises(self) -> tuple[FloatArray, FloatArray]:
        """Starts of pauses, and the time lost up to each."""
        return self._of_cycles(RISES)

    @cached_property
    def _falls(self) -> tuple[FloatArray, FloatArray]:
        """Ends of pauses, and the time lost up to each."""
        return self._of_cycles(FALLS)

    def _of_cycles(self, kinds: list[int]) -> tuple[FloatArray, FloatArray]:
        knots, lost = (all_.reshape(-1, PHASES_OF_A_CYCLE) for all_ in (self.knots, self.lost))
        return knots[:, kinds].ravel(), lost[:, kinds].ravel()


def mutator_utilization(
    cycles: Cycles, windows: tuple[float, ...] = WINDOWS_SECONDS
) -> MutatorUtilization:
    """Find the worst window of each length in seconds.

    The runtime truncates durations to two digits, so the true loss can be larger by up to a tenth;
    the start of a collection is known to 1 ms.
    """
    so_far = _SoFar(windows)
    for piece, before in overlapping(cycles, COLUMNS):
        so_far.add(piece, before)
    rows = (
        (seconds, *((None, None, None) if worst is None else (1 - worst[0], *worst[1:])))
        for seconds, worst in so_far.worst.items()
    )
    mean = 1 - so_far.lost / so_far.watched if so_far.watched > 0 else None
    gap = f"{so_far.missing} GCs are missing from the log"
    notes = (f"{gap}; their time counts as the program's",) if so_far.missing else ()
    return MutatorUtilization(build_rows(rows, MMU), mean, notes)


class _SoFar:
    """The worst windows of a log that is read piece by piece.

    For the run that continues, the last collections are kept, as far back as the longest window can
    reach from the next piece.
    """

    def __init__(self, windows: tuple[float, ...]) -> None:
        # By window length: the fraction lost, its run, and the start of the window.
        self.worst: dict[float, tuple[float, int, float] | None] = dict.fromkeys(windows)
        self.watched = self.lost = 0.0
        self.missing = 0
        self._tail: pd.DataFrame | None = None
        self._run: int | None = None
        self._end = 0.0

    def add(self, piece: pd.DataFrame, before: int) -> None:
        self.missing += missing_cycles(piece)
        for run, rows in piece.iloc[before:].groupby("run", sort=False):
            self._add_run(int(run), rows)

    def _add_run(self, run: int, rows: pd.DataFrame) -> None:
        tail = self._tail if run == self._run else None
        kept = 0 if tail is None else len(tail)
        all_rows = rows if tail is None else pd.concat([tail, rows])
        record = lost_time(all_rows)
        begin = self._end if kept else record.begin
        taken = float(record.lost[PHASES_OF_A_CYCLE * kept - 1]) if kept else 0.0
        self.watched += record.end - begin
        self.lost += float(record.lost[-1]) - taken
        for seconds, worst in self.worst.items():
            found = record.worst_window(seconds)
            if found is not None and (worst is None or found[0] > worst[0]):
                self.worst[seconds] = found[0], run, found[1]
        starts = record.knots[::PHASES_OF_A_CYCLE]
        reaching = starts >= record.end - 2 * max(self.worst, default=0.0)
        # At their adjusted starts, so that they are not adjusted again.
        self._tail = all_rows.assign(at_seconds=starts)[reaching]
        self._run, self._end = run, record.end


def lost_time(cycles: pd.DataFrame) -> LostTime:
    """Compute the time that the collections of one run took, on the clock of the run.

    The record begins with the run if the first collection is present, else with the first present
    collection. Starts are truncated to 1 ms, so a collection can seem to begin before the previous
    one ended. Such a collection is taken to begin when the previous one ended.
    """
    first, last = (np.nan_to_num(cycles[name].to_numpy(float)) for name in STOPS)
    beside = np.nan_to_num(row_sums(cycles, CONCURRENT))
    ps = cycles["gomaxprocs"].clip(lower=1)  # a damaged log can have less
    taken = np.nan_to_num(row_sums(cycles, MARKING) / ps.to_numpy(float, na_value=np.nan))
    lasting = first + beside + last
    starts = _one_after_another(cycles["at_seconds"].to_numpy(float), lasting)
    phases = np.stack([np.zeros_like(first), first, beside, last], axis=1)
    losses = np.stack([np.zeros_like(first), first, np.minimum(taken, beside), last], axis=1)
    knots = (starts[:, None] + phases.cumsum(axis=1)).round(NANOSECOND_DIGITS)
    from_start = int(cycles["number"].iloc[0]) == 1
    return LostTime(
        begin=0.0 if from_start else float(knots[0, 0]),
        knots=knots.ravel(),
        lost=losses.ravel().cumsum(),
    )


def _one_after_another(starts: FloatArray, lasting: FloatArray) -> FloatArray:
    """Move starts that are inside the previous collection to its end."""
    before = lasting.cumsum() - lasting
    return np.maximum.accumulate(starts - before) + before


def missing_cycles(cycles: pd.DataFrame) -> int:
    """Count collections whose lines are missing in the middle of a run."""
    steps = cycles.groupby("run", sort=False)["number"].diff().dropna()
    return int((steps - 1).clip(lower=0).sum())
