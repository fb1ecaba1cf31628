"""One side of a comparison: its captures, and the moments between which they are compared."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from statistics import median
from typing import TYPE_CHECKING, Any

from gomem.comparison.load_values import REQUESTS, load_values
from gomem.comparison.span import Span

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from gomem.analysis.memory.account import Snapshot
    from gomem.diagnosis.diagnosis import Diagnosis
    from gomem.facts.moment import MomentFacts

BEFORE, AFTER = "before", "after"
SIDES = (BEFORE, AFTER)


@dataclass(frozen=True)
class Side:
    """The runs of one side."""

    word: str  # `before` or `after`
    captures: Sequence[Diagnosis]  # a run each
    first: str  # the first moment that has a counterpart on the other side; empty without one
    last: str  # the last, which levels are of
    # How many requests each run answered, where no load test says so.
    asked_requests: int | None = None

    @cached_property
    def spans(self) -> list[Span]:
        """What lies between the two moments, of each run."""
        return [_span(one, self.first, self.last) for one in self.captures]

    @cached_property
    def requests(self) -> list[float | None]:
        """How many requests each run answered between them; None where nobody says."""
        return [load_of(one).get(REQUESTS, self.asked_requests) for one in self.captures]

    @property
    def middle(self) -> tuple[Diagnosis, MomentFacts] | None:
        """The run whose RSS is in the middle, and its moment; of two such runs, the smaller one."""
        found = [(one, facts_at(one, self.last)) for one in self.captures]
        runs = [(one, facts) for one, facts in found if facts is not None]
        known = sorted(
            (run for run in runs if run[1].rss_bytes), key=lambda run: run[1].rss_bytes or 0
        )
        return known[(len(known) - 1) // 2] if known else next(iter(runs), None)

    def snapshots_at(self, moment: str) -> list[Snapshot]:
        """What the accounts of the runs say of RSS at a moment; of runs that know it."""
        runs = ((one.facts.account, facts_at(one, moment)) for one in self.captures)
        found = (
            account.of(facts.name)
            for account, facts in runs
            if account is not None and account.quantity == "rss" and facts is not None
        )
        return [snapshot for snapshot in found if snapshot is not None]

    def facts_at(self, moment: str) -> list[MomentFacts]:
        """What is known of a moment, of each run that has a ledger; of its last without that."""
        found = (facts_at(one, moment) for one in self.captures)
        return [facts for facts in found if facts is not None]


def facts_at(diagnosis: Diagnosis, moment: str) -> MomentFacts | None:
    """What is known of a moment; of the last one if there is none of this name."""
    known = [facts for facts in diagnosis.moments if facts.ledger is not None]
    named = [facts for facts in known if facts.name == moment]
    chosen = named or known[-1:]
    return chosen[0] if chosen else None


def load_of(diagnosis: Diagnosis) -> dict[str, float]:
    """What the load test says; of several nothing, as none of them is the whole load."""
    tests = list(diagnosis.capture.loads.values())
    if len(tests) != 1 or len(tests[0].runs) != 1:
        return {}
    return load_values(tests[0].runs, tests[0].latencies)


def median_bytes(values: Iterable[int | None]) -> int | None:
    """The median of those that are known; None where none is."""
    known = [value for value in values if value is not None]
    return round(median(known)) if known else None


def listed(values: Iterable[Any]) -> str:
    """Values in words, in order."""
    return ", ".join(sorted(map(str, values)))


def _span(diagnosis: Diagnosis, first: str, last: str) -> Span:
    """What lies between two moments; between its own first and last if it has none so called."""
    known = [facts for facts in diagnosis.moments if facts.ledger is not None]
    if known and last not in [facts.name for facts in known]:
        return Span(known[0], known[-1])
    return Span(facts_at(diagnosis, first), facts_at(diagnosis, last))
