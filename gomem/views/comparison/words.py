"""Helpers of the comparison's views: words for rows, and which rows go into which table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gomem.comparison.single_values import GC_CPU, HIGHER, LOWER, REQUEST_RATE, RSS
from gomem.inputs.schema import rows_of
from gomem.text import MomentName, Text, joined, text
from gomem.units import format_seconds, is_digits, is_unknown
from gomem.views.words import how_many

if TYPE_CHECKING:
    import pandas as pd

    from gomem.comparison.builds import BuildComparison
    from gomem.comparison.samples import Comparison

# Layers of metrics other than benchmarks.
MEMORY, COLLECTOR, LOAD = "memory", "collector", "load"
LAYERS = (MEMORY, COLLECTOR, LOAD)
NO_CLAIM, TOO_FEW, SAME = "~", "?", "same"
NO_CHANGE = (NO_CLAIM, TOO_FEW, SAME)
UNCLAIMED = "not compared"  # sites whose change has a note
ALLOCATED = "alloc_space"  # the sample type in the figure of sites
STATES = ("new", "gone", "grew", "shrank")
SAMPLE_TYPES = ("alloc_space", "inuse_space", "alloc_objects", "inuse_objects")
NO_GEOMEAN = "no geometric mean: a median is 0"
HEADLINE = (RSS, GC_CPU, REQUEST_RATE)  # the first rows of the table of changes
DIRECTIONS = (LOWER, HIGHER)  # of metrics with a better direction
MOVED = 0.1  # relative change that is shown first, with one run per side
SEEN = 0.02  # relative change; smaller ones are invisible in a figure


@dataclass(frozen=True, slots=True)
class Pair:
    """Two compared moments."""

    before: str
    after: str

    @property
    def words(self) -> Text:
        """Both names with their sides, or one name if they are equal."""
        before, after = MomentName(self.before), MomentName(self.after)
        same = before == after
        return Text(before) if same else text("{} (before) and {} (after)", before, after)


def metrics_of(comparison: Comparison | BuildComparison, layer: str) -> pd.DataFrame:
    """The metrics of a layer; for an empty layer, those of benchmarks."""
    layers = comparison.metrics["layer"]
    return comparison.metrics[layers == layer if layer else ~layers.isin(LAYERS)]


def are_single(metrics: pd.DataFrame) -> bool:
    """Whether each side has at most one value, so that noise is unknown."""
    return bool((metrics[["before_n", "after_n"]] <= 1).all(axis=None))


def of_runs(comparison: Comparison) -> str:
    """End of a caption that says which runs are shown; empty with one run per side."""
    has_several = not are_single(metrics_of(comparison, MEMORY))
    return ", in the middle runs (by RSS)" if has_several else ""


def changed_metrics(comparison: Comparison) -> pd.DataFrame:
    """The metrics that changed, or moved by a tenth with too few runs to judge.

    Metrics with too few data are left out; empty if the sides are different programs.
    """
    metrics = comparison.metrics
    if comparison.unlike:
        return metrics.iloc[:0]
    has_moved = metrics["change"].abs().fillna(0) >= MOVED
    may_have = has_moved & (metrics["verdict"] == TOO_FEW) & metrics["better"].isin(DIRECTIONS)
    changed = ~metrics["verdict"].isin(NO_CHANGE) | may_have
    return metrics[changed & ~metrics["name"].isin(comparison.too_little)]


def largest_first(metrics: pd.DataFrame) -> pd.DataFrame:
    """Headline metrics first, then certain changes, by size of the ratio: half counts as double."""
    ratios = metrics["change"].astype("Float64").fillna(np.inf).to_numpy(float) + 1
    with np.errstate(divide="ignore"):
        far = np.abs(np.log(np.maximum(ratios, 0)))
    headline = {name: place for place, name in enumerate(HEADLINE)}
    rank = metrics["name"].map(headline).fillna(len(HEADLINE)).to_numpy(float)
    rank = rank + (metrics["verdict"] == TOO_FEW).to_numpy() * (rank == len(HEADLINE))
    return metrics.iloc[np.lexsort((-far, rank))]


def of_all(caption: str, most: int, count: int) -> str:
    """A caption that says how many of how many rows are shown."""
    return f"{caption}, {most} of {count}" if count > most else caption


def pair_of(comparison: Comparison, question: str) -> Pair | None:
    """The moments of the metrics (`of_metrics`) or the sites (`of_sites`)."""
    if comparison.moments.empty:
        return None
    rows = comparison.moments[comparison.moments[question]]
    return Pair(rows["before"].iloc[0], rows["after"].iloc[0]) if len(rows) else None


def ledger_of(comparison: Comparison, pair: Pair) -> pd.DataFrame:
    """The parts at one pair of moments, except those that are 0 or unknown on both sides."""
    return _of_pair(comparison.ledger, pair, "before", "after")


def groups_of(comparison: Comparison, pair: Pair) -> pd.DataFrame:
    """RSS by owner at one pair of moments, without owners that have none."""
    return _of_pair(comparison.groups, pair, "before_high", "after_high")


def _of_pair(sizes: pd.DataFrame, pair: Pair, *sides: str) -> pd.DataFrame:
    of_pair = (sizes["before_moment"] == pair.before) & (sizes["after_moment"] == pair.after)
    return sizes[of_pair & (sizes[[*sides]].fillna(0) != 0).any(axis=1)]


def of_type(sites: pd.DataFrame, sample_type: str) -> pd.DataFrame:
    """The sites, or their rates, of one sample type, largest change first."""
    return sites[sites["sample_type"] == sample_type] if len(sites) else sites


def between_moments(comparison: Comparison) -> Text:
    """The moments between which counters were read: `from 1-warm to 2-loaded`."""
    ends = comparison.windows[["first_moment", "last_moment"]].drop_duplicates()
    if len(ends) != 1:
        return Text("from the first snapshot to the last")
    return text("from {} to {}", *map(MomentName, ends.iloc[0]))


def covered(comparison: Comparison, before: str, after: str) -> tuple[tuple[str, str], ...]:
    """Each side's name and the period compared, as facts of the document."""
    windows = comparison.windows
    is_known = not windows.empty and not windows["seconds"].isna().all()
    said = {row["side"]: _covers(row) for row in rows_of(windows)} if is_known else {}
    sides = {  # a bare number would read as a count
        side: f"capture {name}" if is_digits(name) else name
        for side, name in (("before", before), ("after", after))
    }
    return tuple(
        (side.capitalize(), joined("; ", filter(None, [name, said.get(side, "")])))
        for side, name in sides.items()
    )


def _covers(row: dict[str, Any]) -> Text:
    """Format `6 runs, per run about 2.79 s, 5 GCs and 800 requests from 1-start to 2-loaded`."""
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
    each = "per run about " if are_several and counted else ""
    amount = f"{each}{counted}{' ' if is_timed or last_moment else ', '}" if counted else ""
    return text("{}, {}{}", how_many(row["runs"], "run"), amount, where)


def changed_sites(sites: pd.DataFrame) -> pd.DataFrame:
    """The sites that changed beyond sampling noise."""
    return sites[sites["state"] != NO_CLAIM]


def states_counted(sites: pd.DataFrame) -> str:
    """The number of sites per state: `4 sites gone, 1 shrank, 8 within sampling noise`."""
    unclaimed = (sites["state"] == NO_CLAIM) & (sites["note"] != "")
    counts = sites["state"].mask(unclaimed, UNCLAIMED).value_counts()
    called = {state: state for state in (*STATES, UNCLAIMED)}
    called[NO_CLAIM] = "within sampling noise"
    (first, *others) = (state for state in called if state in counts)
    rest = (f"{counts[state]} {called[state]}" for state in others)
    return ", ".join([f"{how_many(counts[first], 'site')} {called[first]}", *rest])
