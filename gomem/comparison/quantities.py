"""The headline numbers of a comparison, each as a gain or a cost: RSS, load, GC CPU.

Each number has two forms: a clause ("GC CPU fell from 31.8 % to 10.5 %") that a sentence joins with
others, and a separate sentence with the reason, if known.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from gomem.causes.thresholds import Thresholds
from gomem.comparison.direction import direction
from gomem.comparison.samples import BENCHMARK, BETTER, NO_CLAIM, SAME, TOO_FEW, WORSE, Comparison
from gomem.comparison.single_values import GC_CPU, GOROUTINES, HEAP, MIN_CPU, REQUEST_RATE, RSS
from gomem.comparison.unclaimed import NO_CHANGE
from gomem.inputs.schema import rows_of
from gomem.text import Bytes, BytesChange, Share, text
from gomem.units import (
    format_count,
    format_relative,
    is_unknown,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from gomem.diagnosis.changes import Change
    from gomem.diagnosis.diagnosis import Diagnosis

USUAL = Thresholds()
IN_USE = "inuse_space"
MAX_UNSAID_RISE = 0.1  # of RSS: a larger rise is always in the first sentence
MIN_COST = 0.2  # as a fraction: such a cost makes a gain a trade, even with one run per side
_NO_CHANGE = {TOO_FEW: "too few runs to rule out noise", SAME: "too small a change to matter"}


@dataclass(frozen=True)
class Quantity:
    """A metric of both sides with its verdict."""

    name: str  # display name
    verdict: str  # better, worse, same, or `?` if there are too few values
    clause: str  # the change: `GC CPU fell from 31.8 % to 10.5 %`
    sentence: str  # the change as a sentence, with the reason if known
    worse_by: float  # relative worsening; negative if better
    # The cost as the end of a sentence about a gain: ` for 245 MiB more RSS`; empty if the clause
    # already says it.
    price: str = ""

    @property
    def is_memory(self) -> bool:
        """Whether it is RSS, or the heap in place of RSS."""
        return self.name in {RSS, HEAP}

    @property
    def has_risen(self) -> bool:
        """Whether it is memory that rose by more than `MAX_UNSAID_RISE`."""
        return self.is_memory and self.worse_by > MAX_UNSAID_RISE

    def as_cost(self) -> Quantity:
        """Return a copy that counts as worse, for a gain that comes with an undecided rise."""
        is_cost = self.verdict == TOO_FEW and self.worse_by >= MIN_COST
        return replace(self, verdict=WORSE) if is_cost else self


def quantities(
    comparison: Comparison, before: Sequence[Diagnosis], after: Sequence[Diagnosis]
) -> list[Quantity]:
    """Return the quantities that both sides have, in order of presentation."""
    found = (
        _memory(comparison, before, after),
        _load(comparison),
        _collector(comparison),
        _goroutines(comparison),
    )
    return [quantity for quantity in found if quantity is not None]


def _memory(
    comparison: Comparison, before: Sequence[Diagnosis], after: Sequence[Diagnosis]
) -> Quantity | None:
    """RSS and the reason for its change; heap objects if a side has no RSS."""
    row = _metric(comparison, RSS)
    if row is None:
        row = _metric(comparison, HEAP)
        return _in_use(comparison) if row is None else _heap(row)
    series = {
        f"{word}_series": [
            moment.rss_bytes for moment in side[0].moments if moment.rss_bytes is not None
        ]
        for word, side in (("before", before), ("after", after))
    }
    verdict = _verdict(row, **series)
    are_medians = row["before_n"] + row["after_n"] > 2
    clause = _moved("RSS", row, _sizes(row), are_medians=are_medians, is_noisy=verdict == NO_CLAIM)
    sentence = text("{}{}.", clause, _reason(comparison.change, are_medians=are_medians))
    if verdict in {SAME, NO_CLAIM} and _rise(row) <= MAX_UNSAID_RISE:
        sizes, of = _sizes(row), " (medians)" if are_medians else ""
        sentence = text("RSS is about the same: {} before, {} after{}.", *sizes, of)
    return Quantity(RSS, _of_metric(verdict), clause, sentence, _rise(row), _price(row, "RSS"))


def _reason(change: Change | None, *, are_medians: bool) -> str:
    """The reason for the RSS change, as the end of a sentence; from the median runs."""
    if change is None or not change.reason:
        return ""
    if not are_medians:
        return change.reason
    return text("; in the median run of each side{}", change.reason.removeprefix(";"))


def _heap(row: dict[str, Any]) -> Quantity:
    verdict = _verdict(row)
    clause = _moved("HeapAlloc", row, _sizes(row), is_noisy=verdict == NO_CLAIM)
    sentence = f"{capital(clause)}; not both sides have RSS."
    price = _price(row, "HeapAlloc")
    return Quantity(HEAP, _of_metric(verdict), clause, sentence, _rise(row), price)


def _in_use(comparison: Comparison) -> Quantity | None:
    """In-use bytes of the heap profiles, if the sides have no other common memory size."""
    sites = comparison.sites
    if sites.empty or (in_use := sites[sites["sample_type"] == IN_USE]).empty:
        return None
    before, after = (float(in_use[side].sum()) for side in ("before", "after"))
    change = after / before - 1 if before else None
    row = {"before_median": before, "after_median": after, "difference": after - before}
    verdict = direction(before, after)
    clause = _moved("memory in use in the heap profiles", row | {"change": change}, _sizes(row))
    if verdict == SAME:
        sizes = _sizes(row)
        sentence = f"Memory in use is about the same: {sizes[0]} before, {sizes[1]} after."
    else:
        sentence = f"{capital(clause)}{_largest_site(in_use, after - before)}."
    return Quantity(HEAP, verdict, clause, sentence, _rise(row), _price(row, "memory in use"))


def _largest_site(sites: pd.DataFrame, change: float) -> str:
    """The site with the largest certain change in the same direction, and its share."""
    same_way = sites[(sites["change"] * change > 0) & (sites["state"] != NO_CHANGE)]
    if same_way.empty:
        return ""
    row = rows_of(same_way.loc[[same_way["change"].abs().astype(float).idxmax()]])[0]
    sizes = BytesChange(row["change"]), BytesChange(change)
    return f"; the largest change is {row['function']} ({sizes[0]}, net {sizes[1]})"


def _load(comparison: Comparison) -> Quantity | None:
    """Requests per second, if both sides have a load test."""
    row = _metric(comparison, REQUEST_RATE)
    if row is None:
        return None
    verdict = row["verdict"]
    if verdict == TOO_FEW:
        verdict = direction(row["after_median"], row["before_median"], least=0.0)
    rates = [f"{row[f'{side}_median']:.3g}" for side in ("before", "after")]
    clause = _moved("requests per second", row, rates)
    sentence = _sentence("Requests per second", clause, rates, verdict)
    return Quantity(REQUEST_RATE, _of_metric(verdict), clause, sentence, -(row["change"] or 0.0))


def _collector(comparison: Comparison) -> Quantity | None:
    """GC CPU, if the data suffice."""
    row = _metric(comparison, GC_CPU)
    if row is None or GC_CPU in comparison.too_little:
        return None
    verdict = _verdict(row, least=MIN_CPU)
    shares = [Share(row[f"{side}_median"]) for side in ("before", "after")]
    clause = _moved("GC CPU", row | {"change": None}, shares)
    before, rise = row["before_median"], row["after_median"] - row["before_median"]
    worse_by = rise / before if before and abs(rise) >= MIN_CPU else 0.0
    sentence = _sentence("GC CPU", clause, shares, verdict)
    return Quantity(GC_CPU, _of_metric(verdict), clause, sentence, worse_by)


def _goroutines(comparison: Comparison) -> Quantity | None:
    """The number of goroutines if it multiplied; unlike a heap, it does not swing."""
    row = _metric(comparison, GOROUTINES)
    if row is None:
        return None
    counts = [row[f"{side}_median"] for side in ("before", "after")]
    least, most = sorted(counts)
    if most - least < USUAL.goroutine_growth or most < USUAL.goroutine_change_ratio * least:
        return None
    verdict = row["verdict"]
    if verdict == TOO_FEW:
        verdict = WORSE if row["difference"] > 0 else BETTER
    clause = _moved("goroutines", row | {"change": None}, [*map(format_count, counts)])
    return Quantity(GOROUTINES, _of_metric(verdict), clause, f"{clause.capitalize()}.", _rise(row))


def _verdict(row: dict[str, Any], **asked: Any) -> str:
    """The metric's verdict; with too few values, `direction` for a lower-is-better metric."""
    if row["verdict"] != TOO_FEW:
        return str(row["verdict"])
    return direction(row["before_median"], row["after_median"], **asked)


def _sentence(name: str, clause: str, values: Sequence[str], verdict: str) -> str:
    """The change in a sentence; if it is uncertain, with both values."""
    if verdict in {BETTER, WORSE}:
        return f"{capital(clause)}."
    why = _NO_CHANGE.get(verdict, "no change beyond noise")
    return f"{name}: {values[0]} before, {values[1]} after; {why}."


def _moved(
    name: str,
    row: dict[str, Any],
    values: Sequence[str],
    *,
    are_medians: bool = False,
    is_noisy: bool = False,
) -> str:
    """Format as `RSS rose from 61.1 MiB to 306 MiB (×5)`."""
    verb = "rose" if row["difference"] > 0 else "fell"
    known = [] if is_unknown(row["change"]) else [format_relative(row["change"], brief=True)]
    beside = ", ".join(known + ["medians"] * are_medians + ["not significant"] * is_noisy)
    return f"{name} {verb} from {values[0]} to {values[1]}{f' ({beside})' if beside else ''}"


def capital(clause: str) -> str:
    """Capitalise a clause to begin a sentence."""
    return clause[:1].upper() + clause[1:]


def _sizes(row: dict[str, Any]) -> list[str]:
    return [Bytes(row[f"{side}_median"]) for side in ("before", "after")]


def _price(row: dict[str, Any], of: str) -> str:
    more = "more" if row["difference"] > 0 else "less"
    return f" for {Bytes(abs(row['difference']))} {more} {of}"


def _rise(row: dict[str, Any]) -> float:
    """The relative rise; infinite from zero."""
    if row["before_median"]:
        return float(row["difference"] / row["before_median"])
    return float("inf") if row["difference"] > 0 else 0.0


def _of_metric(verdict: str) -> str:
    """Convert a metric's verdict to a comparison's: an insignificant change is no change."""
    return SAME if verdict == NO_CLAIM else verdict


def _metric(comparison: Comparison, name: str) -> dict[str, Any] | None:
    """Return the row of a level if both sides have it."""
    metrics = comparison.metrics
    rows = rows_of(metrics[(metrics["name"] == name) & (metrics["layer"] != BENCHMARK)])
    return next((row for row in rows if not is_unknown(row["difference"])), None)
