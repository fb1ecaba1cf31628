"""What a comparison's views share: words for its rows, and which rows belong where."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gomem.comparison.single_values import GC_CPU, HIGHER, LOWER, REQUEST_RATE, RSS
from gomem.inputs.schema import rows_of
from gomem.text import MomentName, Text, joined, text
from gomem.units import format_seconds, is_unknown
from gomem.views.words import how_many

if TYPE_CHECKING:
    import pandas as pd

    from gomem.comparison.builds import BuildComparison
    from gomem.comparison.samples import Comparison

# Layers of the metrics, beside the benchmarks'.
MEMORY, COLLECTOR, LOAD = "memory", "collector", "load"
LAYERS = (MEMORY, COLLECTOR, LOAD)
NO_CLAIM, TOO_FEW, SAME = "~", "?", "same"
NO_CHANGE = (NO_CLAIM, TOO_FEW, SAME)
ALLOCATED = "alloc_space"  # what the figure of sites shows
STATES = ("new", "gone", "grew", "shrank")
SAMPLE_TYPES = ("alloc_space", "inuse_space", "alloc_objects", "inuse_objects")
NO_GEOMEAN = "no geometric mean: a median is 0"
HEADLINE = (RSS, GC_CPU, REQUEST_RATE)  # what a table of changes begins with
DIRECTIONS = (LOWER, HIGHER)  # of metrics of which one is better
MOVED = 0.1  # of what it was: what one run a side shows first
SEEN = 0.02  # of what it was: a smaller change cannot be seen in a figure


@dataclass(frozen=True, slots=True)
class Pair:
    """Two moments that are compared."""

    before: str
    after: str

    @property
    def words(self) -> Text:
        """Both by name, or the one that they have."""
        names = dict.fromkeys((self.before, self.after))
        return joined(" and ", map(MomentName, names))


def metrics_of(comparison: Comparison | BuildComparison, layer: str) -> pd.DataFrame:
    """The metrics of memory or of the collector; without a layer, those that are no levels."""
    layers = comparison.metrics["layer"]
    return comparison.metrics[layers == layer if layer else ~layers.isin(LAYERS)]


def are_single(metrics: pd.DataFrame) -> bool:
    """Whether each side has at most one value, so that nothing can be told from noise."""
    return bool((metrics[["before_n", "after_n"]] <= 1).all(axis=None))


def of_runs(comparison: Comparison) -> str:
    """Which runs the parts of RSS are of, as the end of a caption; empty of one run a side."""
    has_several = not are_single(metrics_of(comparison, MEMORY))
    return ", in the middle runs (by RSS)" if has_several else ""


def changed_metrics(comparison: Comparison) -> pd.DataFrame:
    """The metrics that changed, and of too few runs to tell those that moved by a tenth.

    Without what a side has too little of to compare; none of different programs.
    """
    metrics = comparison.metrics
    if comparison.unlike:
        return metrics.iloc[:0]
    has_moved = metrics["change"].abs().fillna(0) >= MOVED
    may_have = has_moved & (metrics["verdict"] == TOO_FEW) & metrics["better"].isin(DIRECTIONS)
    changed = ~metrics["verdict"].isin(NO_CHANGE) | may_have
    return metrics[changed & ~metrics["name"].isin(comparison.too_little)]


def largest_first(metrics: pd.DataFrame) -> pd.DataFrame:
    """The headline's metrics, then what surely moved, each by how far: half is as far as twice."""
    ratios = metrics["change"].astype("Float64").fillna(np.inf).to_numpy(float) + 1
    with np.errstate(divide="ignore"):
        far = np.abs(np.log(np.maximum(ratios, 0)))
    headline = {name: place for place, name in enumerate(HEADLINE)}
    rank = metrics["name"].map(headline).fillna(len(HEADLINE)).to_numpy(float)
    rank = rank + (metrics["verdict"] == TOO_FEW).to_numpy() * (rank == len(HEADLINE))
    return metrics.iloc[np.lexsort((-far, rank))]


def of_all(caption: str, most: int, count: int) -> str:
    """A caption that says of how many the first are shown."""
    return f"{caption}, {most} of {count}" if count > most else caption


def pair_of(comparison: Comparison, question: str) -> Pair | None:
    """The moments that the metrics (`of_metrics`) or the sites (`of_sites`) are of."""
    if comparison.moments.empty:
        return None
    rows = comparison.moments[comparison.moments[question]]
    return Pair(rows["before"].iloc[0], rows["after"].iloc[0]) if len(rows) else None


def ledger_of(comparison: Comparison, pair: Pair) -> pd.DataFrame:
    """The parts of one pair of moments, without those that are 0 or unknown on both sides."""
    return _of_pair(comparison.ledger, pair, "before", "after")


def groups_of(comparison: Comparison, pair: Pair) -> pd.DataFrame:
    """Whose the memory is at one pair of moments, without what is nowhere."""
    return _of_pair(comparison.groups, pair, "before_high", "after_high")


def _of_pair(sizes: pd.DataFrame, pair: Pair, *sides: str) -> pd.DataFrame:
    of_pair = (sizes["before_moment"] == pair.before) & (sizes["after_moment"] == pair.after)
    return sizes[of_pair & (sizes[[*sides]].fillna(0) != 0).any(axis=1)]


def of_type(sites: pd.DataFrame, sample_type: str) -> pd.DataFrame:
    """The sites, or their rates, of one sample type, the largest change first."""
    return sites[sites["sample_type"] == sample_type] if len(sites) else sites


def between_moments(comparison: Comparison) -> Text:
    """`from 1-warm to 2-loaded`: between which moments counters were read."""
    ends = comparison.windows[["first_moment", "last_moment"]].drop_duplicates()
    if len(ends) != 1:
        return Text("from the first snapshot to the last")
    return text("from {} to {}", *map(MomentName, ends.iloc[0]))


def covered(comparison: Comparison, before: str, after: str) -> tuple[tuple[str, str], ...]:
    """What each side is called, and how much of it is compared, as facts of the document."""
    windows = comparison.windows
    is_known = not windows.empty and not windows["seconds"].isna().all()
    said = {row["side"]: _covers(row) for row in rows_of(windows)} if is_known else {}
    sides = {"before": before, "after": after}
    return tuple(
        (side.capitalize(), joined("; ", filter(None, [name, said.get(side, "")])))
        for side, name in sides.items()
    )


def _covers(row: dict[str, Any]) -> Text:
    """`6 runs, each about 2.79 s, 5 GCs and 800 requests from 1-start to 2-loaded`."""
    is_timed, are_several = not is_unknown(row["seconds"]), row["runs"] > 1
    last_moment = MomentName(row["last_moment"])
    if row["first_moment"]:
        where = text("from {} to {}", MomentName(row["first_moment"]), last_moment)
    else:
        at = text("at {}", last_moment) if row["last_moment"] else Text("one file")
        where = Text("in the GC log") if is_timed else at
    parts = [format_seconds(row["seconds"])] if is_timed else []
    counts = {"GC": row["collections"], "request": row["requests"]}
    parts += [how_many(round(n), noun) for noun, n in counts.items() if not is_unknown(n)]
    *first, last = parts or [""]
    counted = f"{', '.join(first)} and {last}" if first else last
    each = "each about " if are_several and counted else ""
    amount = f"{each}{counted}{' ' if is_timed or last_moment else ', '}" if counted else ""
    return text("{}, {}{}", how_many(row["runs"], "run"), amount, where)


def changed_sites(sites: pd.DataFrame) -> pd.DataFrame:
    """The sites that changed by more than sampling explains."""
    return sites[sites["state"] != NO_CLAIM]


def states_counted(sites: pd.DataFrame) -> str:
    """How many sites are in which state: `4 sites gone, 1 shrank, 8 within sampling noise`."""
    counts = sites["state"].value_counts()
    called = {**{state: state for state in STATES}, NO_CLAIM: "within sampling noise"}
    (first, *others) = (state for state in called if state in counts)
    rest = (f"{counts[state]} {called[state]}" for state in others)
    return ", ".join([f"{how_many(counts[first], 'site')} {called[first]}", *rest])
