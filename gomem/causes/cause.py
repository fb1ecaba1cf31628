"""A known cause: its description, the rule that finds it, and the `Case` that rules take."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

from gomem.causes.commands import sentences
from gomem.causes.finding import Evidence, Finding, Lack, MissingCall, Severity, Site
from gomem.causes.thresholds import Thresholds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

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


@dataclass(frozen=True)
class Cause:
    """One known cause; the module that defines it is named after its code.

    Attributes:
        code: The fixed name of the cause, such as `idle-heap-kept`.
        mechanism: Why the problem happens.
        remedy: What to do about the problem.
        references: Issues and documents; `gomem.views.references` has the addresses.
        rule: A function that returns every finding of this cause in a case, at most one per
            snapshot.
        past: A noun for the bytes, which follows their size in a resolved finding; empty if the
            title of the rule is already in the past tense.
        lack: A function that says which evidence is insufficient if the rule found nothing; None if
            the cause needs no minimum of samples.
        bears_on: Names of report sections with more detail.
        claims: The groups of memory that the bytes belong to; empty if the cause is not about
            memory.
        needed_moments: The snapshots that the rule needs without a log; with fewer snapshots, the
            cause can be present without a finding.
    """

    code: str
    mechanism: str
    remedy: str
    references: tuple[str, ...]
    rule: Callable[[Case], list[Finding]]
    past: str = ""
    lack: Callable[[Case], Lack | None] | None = None
    bears_on: tuple[str, ...] = ()
    claims: frozenset[str] = frozenset()
    needed_moments: int = 1

    def finding(
        self,
        severity: Severity,
        title: str,
        *,
        moment: str | None = None,
        size: int | None = None,
        cpu_fraction: float | None = None,
        evidence: Iterable[Evidence],
        confidence: str = "certain",
        mechanism: str = "",
        next_step: str = "",
        sites: tuple[Site, ...] = (),
        now: bool = True,
        missing_call: MissingCall | None = None,
    ) -> Finding:
        """Return a finding of this cause; texts that are not given are the cause's own.

        See `Finding` for the parameters. The next step begins with the missing call.
        """
        said = "" if missing_call is None else missing_call.words
        return Finding(
            code=self.code,
            severity=severity,
            title=title,
            moment=moment,
            bytes=size,
            evidence=tuple(evidence),
            mechanism=mechanism or self.mechanism,
            next_step=sentences(said, next_step or self.remedy),
            references=self.references,
            confidence=confidence,
            cpu_fraction=cpu_fraction,
            moments=() if moment is None else (moment,),
            now=now,
            sites=sites,
            missing_call=missing_call,
        )
