"""A known cause: its description, and the rule that finds it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gomem.causes.commands import sentences
from gomem.causes.finding import Finding

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from gomem.causes.case import Case
    from gomem.causes.finding import Evidence, Lack, MissingCall, Severity, Site


@dataclass(frozen=True)
class Cause:
    """One known cause; the module that defines it is named after its code.

    Attributes:
        code: Its fixed name, such as `idle-heap-kept`.
        mechanism: Why it happens.
        remedy: What to do about it.
        references: Issues and documents; `gomem.views.references` has the addresses.
        rule: Looks at a case and gives every finding of this cause, at most one per moment.
        past: What its bytes were, as a noun behind their size, for when it is over; empty where
            the rule's own words are about the past already.
        lack: Says what evidence is insufficient where the rule found nothing; None for a cause
            that needs no number of samples.
        bears_on: Sections of the report that show more of it, by name.
        claims: The groups of memory that its bytes are of; empty if it is not about memory.
        needed_moments: Moments that the rule needs to see it where no log shows it: what a capture
            of fewer does not show may be there all the same.
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
        """A finding of this cause: `Finding` says what each is; without words, the cause's own.

        The next step begins with what was not called.
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
