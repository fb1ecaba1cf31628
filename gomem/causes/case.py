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
    """A capture before its judges.

    Attributes:
        facts: What is known of it.
        thresholds: Where a finding begins.
        baseline: What is known of the capture it is compared with, if there is one.
        counterparts: The baseline's moment that each moment is compared with, by name.
        lacks: Where evidence was insufficient, for data-thin alone.
    """

    facts: CaptureFacts
    thresholds: Thresholds = field(default_factory=Thresholds)
    baseline: CaptureFacts | None = None
    counterparts: Mapping[str, MomentFacts] = field(default_factory=dict)
    lacks: tuple[Lack, ...] = ()

    def at_moments(self, rule: Callable[[MomentFacts, Case], Finding | None]) -> list[Finding]:
        """What a rule finds at each moment: one finding, or none."""
        found = (rule(moment, self) for moment in self.facts.moments)
        return [finding for finding in found if finding is not None]
