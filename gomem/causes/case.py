"""The input of every rule: the facts of a capture, the thresholds and the baseline."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from gomem.causes.thresholds import Thresholds

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gomem.causes.finding import Finding, Lack
    from gomem.facts.capture import CaptureFacts
    from gomem.facts.moment import MomentFacts


@dataclass(frozen=True)
class Case:
    """A capture to be judged by the rules.

    Attributes:
        facts: The facts of the capture.
        thresholds: The thresholds from which findings are reported.
        baseline: The facts of the baseline; None without one.
        counterparts: By snapshot of the capture, the snapshot of the baseline to compare with.
        lacks: The rules with insufficient evidence; only data-thin uses this list.
    """

    facts: CaptureFacts
    thresholds: Thresholds = field(default_factory=Thresholds)
    baseline: CaptureFacts | None = None
    counterparts: Mapping[str, MomentFacts] = field(default_factory=dict)
    lacks: tuple[Lack, ...] = ()

    def at_moments(self, rule: Callable[[MomentFacts, Case], Finding | None]) -> list[Finding]:
        """Return a rule's findings over all snapshots, at most one per snapshot.

        After a snapshot with a finding, the next needs a smaller share of RSS: memory that stays
        while RSS grows is not resolved.
        """
        found: list[Finding] = []
        case = self
        for moment in self.facts.moments:
            finding = rule(moment, case)
            case = self if finding is None else self._holding
            if finding is not None:
                found.append(finding)
        return found

    @cached_property
    def _holding(self) -> Case:
        return replace(self, thresholds=self.thresholds.while_holding())
