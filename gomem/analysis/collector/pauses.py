"""How long are STW pauses, how long does marking take, and how far apart are collections?

Each quantile has an interval, which depends on the number of collections. A p99 of forty
collections has no upper end. The interval is a rank interval, so it assumes nothing about the
distribution: in 95 % of cases, the true quantile is between the two values. But collections are
assumed to be independent. In a burst they are not, and then the interval is too narrow.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pandas as pd

from gomem.analysis.collector.steps import (
    CONCURRENT,
    STEP_COLUMNS,
    STOPS,
    Cycles,
    gc_steps,
    overlapping,
    row_sums,
    stopped_seconds,
)
from gomem.inputs.schema import Column, build_rows
from gomem.statistics.quantiles import FloatArray, Tally, carries
from gomem.text import Words

QUANTILES = (0.5, 0.9, 0.99)
BELIEVABLE = 20.0  # standard deviations: the probability beyond is below 1e-80
CONFIDENCE = 0.95
BINS_PER_DECADE = 5
EXACTLY = 1e-9  # of a bin width: a logarithm so near to a bound is on it
# Times with a histogram, and the smallest value that the runtime prints for each.
COUNTED = {"stopped": 1e-6, "interval": 1e-3}
TIMES = ("stopped", "first_stop", "last_stop", "marking", "interval")
PAUSE_QUANTILES = (
    Column("what", "str", "", "The time measured, one of `TIMES`.", Words),
    Column("quantile", "float64", "fraction", "Which quantile; 1 is the longest."),
    Column("n", "int64", "count", "Times that it is of."),
    Column("is_carried", "bool", "", "Whether there are enough values for this quantile."),
    Column("seconds", "float64", "s", "The quantile; missing without values."),
    Column("low_seconds", "float64", "s", "Lower end of its 95 % interval; missing if open."),
    Column("high_seconds", "float64", "s", "Upper end of its 95 % interval; missing if open."),
)


@dataclass(frozen=True)
class GcPauses:
    """Distributions of pauses, marking times and intervals between collections."""

    quantiles: pd.DataFrame  # a row per kind of time and quantile; see `PAUSE_QUANTILES`
    # A row per kind of time in `COUNTED` and bin: `what`, `low_seconds`, `high_seconds`, `cycles`;
    # five bins per decade, the first from 0.
    histogram: pd.DataFrame
    stopped: Tally  # STW times, counted


def gc_pauses(cycles: Cycles) -> GcPauses:
    """Compute quantiles and histograms of the times of collections."""
    times = _times(cycles)
    rows = [row for what, sample in times.items() for row in _quantile_rows(what, sample)]
    bins = [_histogram(what, times[what]) for what in COUNTED]
    quantiles = build_rows(rows, PAUSE_QUANTILES)
    return GcPauses(quantiles, pd.concat(bins, ignore_index=True), times["stopped"])


def quantile_interval(
    ordered: FloatArray | Tally, quantile: float, confidence: float = CONFIDENCE
) -> tuple[float | None, float | None]:
    """Return the two values of a sorted sample between which the true quantile lies.

    `confidence` is the probability that it does. The number of values below the true quantile is
    binomial, whatever the distribution, so two quantiles of that binomial distribution are the
    ranks of the ends. An end is None if the sample has no value far enough out.
    """
    n = len(ordered)
    if n == 0:
        return None, None
    tail = (1 - confidence) / 2
    low = _binomial_quantile(tail, n, quantile)
    high = _binomial_quantile(1 - tail, n, quantile) + 1
    least = float(ordered[low - 1]) if low >= 1 else None
    return least, float(ordered[high - 1]) if high <= n else None


def _binomial_quantile(probability: float, n: int, share: float) -> int:
    """Return the smallest count whose cumulative probability reaches a probability.

    SciPy has it too, but importing it takes a third of a small report's time. Probabilities are
    computed count by count, each from the previous one, over all plausible counts.
    """
    spread = BELIEVABLE * math.sqrt(n * share * (1 - share)) + BELIEVABLE
    first, last = max(0, int(n * share - spread)), min(n, int(n * share + spread))
    counts = np.arange(first, last)
    steps = np.log((n - counts) / (counts + 1)) + math.log(share / (1 - share))
    chance = np.concatenate(([0.0], np.cumsum(steps)))
    chance = np.exp(chance - chance.max())
    up_to = np.cumsum(chance / chance.sum())
    return first + int(np.searchsorted(up_to, probability))


def _times(cycles: Cycles) -> dict[str, Tally]:
    times = {what: Tally() for what in TIMES}
    for piece, before in overlapping(cycles, (*STEP_COLUMNS, *STOPS, *CONCURRENT)):
        steps, own = gc_steps(piece), piece.iloc[before:]
        times["stopped"].add(stopped_seconds(own).to_numpy(float))
        times["first_stop"].add(own[STOPS[0]].to_numpy(float))
        times["last_stop"].add(own[STOPS[1]].to_numpy(float))
        times["marking"].add(row_sums(own, CONCURRENT))
        times["interval"].add(steps.loc[steps["follows"], "seconds"].to_numpy(float))
    return times


def _quantile_rows(what: str, times: Tally) -> list[tuple[object, ...]]:
    """Return the quantiles of one kind of time, with the longest as the quantile of 1."""
    n, rows = len(times), list[tuple[object, ...]]()
    for quantile in (*QUANTILES, 1.0):
        ends = (None, None) if quantile == 1 else quantile_interval(times, quantile)
        rows.append((what, quantile, n, carries(n, quantile), times.quantile(quantile), *ends))
    return rows


def _histogram(what: str, times: Tally) -> pd.DataFrame:
    """Count in bins of a fifth of a decade, from the shortest to the longest that occurs."""
    edges = _edges(times.values, COUNTED[what])
    bins = np.concatenate([[0.0], edges])
    counts = np.histogram(times.values, bins, weights=times.counts)[0]
    return pd.DataFrame(
        {
            "what": pd.Series([what] * len(counts), dtype="str"),
            "low_seconds": bins[:-1],
            "high_seconds": edges,
            "cycles": counts.astype(np.int64),
        }
    )


def _edges(ordered: FloatArray, least: float) -> FloatArray:
    """Return the bounds of the bins: the first at or below the shortest, the last above all."""
    if not len(ordered):
        return np.empty(0)
    shortest, longest = max(least, float(ordered[0])), max(least, float(ordered[-1]))
    first = int(np.floor(np.log10(shortest) * BINS_PER_DECADE + EXACTLY))
    last = int(np.floor(np.log10(longest) * BINS_PER_DECADE + EXACTLY)) + 1
    return 10.0 ** (np.arange(first, last + 1) / BINS_PER_DECADE)


@dataclass(frozen=True)
class RememberedPauses:
    """STW pauses from the ring PauseNs in MemStats."""

    stopped: Tally  # STW time per collection in seconds, both pauses together
    longest_number: int  # the collection with the longest
    seconds: float | None  # the time that they cover; None since the start, or if some are lost


def remembered_pauses(
    pauses: pd.DataFrame, last: int, cycles: int, seconds: float | None
) -> RememberedPauses | None:
    """Return the pauses of the last `cycles` collections, from MemStats; None without any.

    PauseNs is a ring of the last 256 collections, so all pauses are known from dumps that are at
    most 256 collections apart. If a restart made a number occur twice in `PAUSES`, the later pause
    counts.
    """
    own = pauses.sort_values("end", kind="stable").drop_duplicates("number", keep="last")
    own = own[own["number"].between(last - cycles + 1, last)]
    if own.empty:
        return None
    stopped = Tally()
    stopped.add(own["pause_seconds"].to_numpy(float))
    longest = int(own.loc[own["pause_seconds"].idxmax(), "number"])
    return RememberedPauses(stopped, longest, seconds if len(own) == cycles else None)
