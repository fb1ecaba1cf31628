"""The input of every rule: the facts of a capture, the thresholds and the baseline."""

from __future__ import annotations

from dataclasses import dataclass, field
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
        counterparts: By snapshot, the baseline's snapshot that it is compared with.
        lacks: Rules with insufficient evidence; only data-thin uses them.
    """

    facts: CaptureFacts
    thresholds: Thresholds = field(default_factory=Thresholds)
    baseline: CaptureFacts | None = None
    counterparts: Mapping[str, MomentFacts] = field(default_factory=dict)
    lacks: tuple[Lack, ...] = ()

    def at_moments(self, rule: Callable[[MomentFacts, Case], Finding | None]) -> list[Finding]:
        """Return a rule's findings over all snapshots, at most one per snapshot."""
        found = (rule(moment, self) for moment in self.facts.moments)
        return [finding for finding in found if finding is not None]
