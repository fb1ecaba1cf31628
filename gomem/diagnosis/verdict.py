"""The verdict on a capture in a sentence or two, whether or not a cause is known.

The verdict says where the memory is, what changed, and what to do next, even without a finding. If
there is a warning, its title is the headline. The verdict describes the last snapshot in the
present tense, and earlier ones in the past tense. If no file has RSS, it says what the available
files show.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gomem.analysis.memory.groups import FILES, UNDIVIDED
from gomem.causes.finding import Finding, Severity
from gomem.diagnosis.beside import whose_words
from gomem.diagnosis.cgroup_growth import beyond_rss, cgroup_growth
from gomem.diagnosis.few_fields import later_words, one_reading
from gomem.diagnosis.findings import DATA_PREFIX
from gomem.diagnosis.first_sentence import first_and_rest
from gomem.diagnosis.further import further_words, series_words
from gomem.diagnosis.healthy import unread_series_words
from gomem.diagnosis.listed_memory import cache_words, charge_words, limit_words, report_words
from gomem.diagnosis.live_by_fields import risen_without_gc
from gomem.diagnosis.live_level import live_level_words
from gomem.diagnosis.log_words import pace_words
from gomem.diagnosis.near_names import with_near_names
from gomem.diagnosis.next_step import next_step_of
from gomem.diagnosis.observations import (
    goal_reached_words,
    is_total_stable,
    moved_words,
    reserved_words,
)
from gomem.diagnosis.other_runs import (
    COMPARE_RUNS,
    earlier_processes_words,
    has_other_runs,
    kept_words,
    other_runs_words,
)
from gomem.diagnosis.other_systems import released_words, step_on
from gomem.diagnosis.replicas import replica_words
from gomem.diagnosis.said_in_text import words_of_the_text
from gomem.diagnosis.same_work import since_baseline
from gomem.diagnosis.where_words import short_words, where_words
from gomem.diagnosis.without_rss import without_rss
from gomem.facts.goroutines import has_crashed
from gomem.inputs.answer import Answer
from gomem.text import Text, joined

if TYPE_CHECKING:
    from gomem.diagnosis.cgroup_growth import CgroupGrowth
    from gomem.diagnosis.diagnosis import Diagnosis
    from gomem.facts.moment import MomentFacts

SIZE_FIRST = ("RSS is", "The cgroup uses", "The cgroup's processes use")  # of a headline


@dataclass(frozen=True, repr=False)
class Verdict(Answer):
    """The overall result of a capture.

    Attributes:
        headline: The main statement.
        where: Where the memory is now; empty if unknown.
        moved: How the total changed, and which parts explain it; empty if unknown.
        found: The title of the named finding if it is not the headline; else empty.
        code: The code of the named finding; None without one.
        severity: The severity; None if nothing is wrong.
        confidence: The confidence of the named finding; None without one.
        moment: The snapshot that the verdict describes; None if no snapshot has memory data.
        rss_bytes: Resident bytes at that moment; None if unknown.
        whose: Sentences on changes outside RSS, and on what retains the memory, if known.
        next_step: What to do next.
        further: Number of further warnings and notes, and of places and files that were not read.
    """

    headline: str
    where: str
    moved: str
    found: str
    code: str | None
    severity: Severity | None
    confidence: str | None
    moment: str | None
    rss_bytes: int | None
    whose: tuple[str, ...] = ()
    next_step: str = ""
    further: str = ""

    @property
    def is_in_short(self) -> bool:
        """Whether the headline is the short form of where the memory is."""
        return bool(self.where) and self.headline.startswith(SIZE_FIRST)

    @property
    def second(self) -> str:
        """The text after the headline; empty if there is none."""
        where = "" if self.is_in_short else self.where
        return joined(" ", filter(None, (where, self.moved, self.found)))

    @property
    def sentence(self) -> str:
        """The headline and the sentence that supports it."""
        first = self.where if self.is_in_short else self.headline
        return joined(" ", filter(None, (first, self.second)))


def verdict_of(diagnosis: Diagnosis) -> Verdict:
    """Return the verdict of a capture."""
    known = _known(diagnosis)
    lead = _lead(diagnosis, known)
    facts, named, growth = known.facts, known.named, known.cgroup_growth
    is_open = known.severity is None and not lead.step
    pace, rarer = Text(), Text()
    if is_open:
        pace, rarer = pace_words(diagnosis, is_told=not known.has_rss)
    verdict = Verdict(
        lead.headline,
        where=lead.where,
        moved=lead.moved,
        found=lead.found,
        code=None if named is None else named.code,
        severity=known.severity,
        confidence=None if named is None else named.confidence,
        moment=None if facts is None else facts.name,
        rss_bytes=None if facts is None else facts.rss_bytes,
        whose=tuple(
            words
            for words in (
                *whose_words(diagnosis, facts, named, lead.cached),
                pace,
                *_beside_words(diagnosis, known),
            )
            if words and words != lead.level
        ),
        next_step=_step(diagnosis, known, rarer or lead.step),
        further=further_words(diagnosis, named, "" if growth is None else growth.seen_in),
    )
    return with_near_names(verdict)


@dataclass(frozen=True)
class _Known:
    """What there is to say, before it is put in order."""

    facts: MomentFacts | None  # of the snapshot that the verdict describes
    named: Finding | None
    where: Text
    moved: Text
    cgroup_growth: CgroupGrowth | None
    severity: Severity | None
    step: str  # what the sentences on sizes advise; empty if they advise nothing

    @property
    def has_rss(self) -> bool:
        return self.facts is not None and self.facts.rss_bytes is not None

    @property
    def said(self) -> dict[str, Text]:
        """The sentences of which one is the headline."""
        found = Text() if self.named is None else Text(self.named.title).sentence()
        return {"where": self.where, "moved": self.moved, "found": found}


def _known(diagnosis: Diagnosis) -> _Known:
    facts = telling_moment(diagnosis)
    named = _named(diagnosis, facts)
    if facts is None or facts.rss_bytes is None:
        where, grew, step = without_rss(diagnosis, facts)
        moved, reserved_grew = reserved_words(diagnosis)
        grew = grew or reserved_grew
    else:
        where, step = where_words(diagnosis, facts, named), ""
        moved, grew = moved_words(diagnosis, facts)
    growth = cgroup_growth(diagnosis)
    if growth is not None and (growth.is_outside or _is_of_cgroup(facts)):
        rest = Text() if _is_of_cgroup(facts) else moved
        moved = joined(" ", filter(None, (growth.sentence, rest)))
        grew = grew or growth.is_held
    severity = _severity(diagnosis, named, grew=grew)
    return _Known(facts, named, Text(where), Text(moved), growth, severity, step)


@dataclass(frozen=True)
class _Lead:
    """The headline, what follows it, and what it says already."""

    headline: Text
    where: Text
    moved: Text
    found: Text
    cached: Text  # on page cache, unless the headline says it
    level: Text  # of the live heap, if the headline says it
    step: Text  # that memory beyond RSS asks for


def _lead(diagnosis: Diagnosis, known: _Known) -> _Lead:
    facts, where, said = known.facts, known.where, known.said
    first = _first(diagnosis, known.named, known.severity, said)
    is_size = first == "where" or (first == "moved" and known.cgroup_growth is None)
    beyond, step = beyond_rss(facts) if is_size else (Text(), Text())
    first = "where" if beyond else first
    headline = said.pop(first)
    if first == "where" and (facts is None or not known.has_rss):
        headline, said["where"] = first_and_rest(headline)
    elif first == "where" and facts is not None:
        headline, said["where"] = short_words(diagnosis, facts), where
    if beyond:
        headline, said["where"] = (joined(" ", (beyond, words)) for words in (headline, where))
    cached = Text() if beyond else cache_words(facts)
    if cached == where or (where.startswith("The cgroup uses") and _is_of_cgroup(facts)):
        cached = Text()
    elif cached and first == "where" and facts is not None and facts.is_mostly_page_cache:
        headline, cached = joined(" ", (headline, cached)), Text()
    level = live_level_words(diagnosis, facts) if first == "moved" else Text()
    return _Lead(
        joined(" ", filter(None, (headline, level))),
        **{"where": Text(), "moved": Text(), "found": Text()} | said,
        cached=cached,
        level=level,
        step=step,
    )


def _beside_words(diagnosis: Diagnosis, known: _Known) -> tuple[Text, ...]:
    """What else the files tell, in the order in which it is said."""
    facts, capture = known.facts, diagnosis.capture
    return (
        goal_reached_words(diagnosis),
        risen_without_gc(diagnosis),
        unread_series_words(capture),
        kept_words(capture),
        series_words(diagnosis),
        *words_of_the_text(diagnosis, facts),
        earlier_processes_words(diagnosis.case.facts),
        since_baseline(diagnosis),
        report_words(facts),
        replica_words(diagnosis, facts),
        charge_words(facts),
        limit_words(facts),
        later_words(diagnosis, facts),
        released_words(capture, facts),
        other_runs_words(capture),
        one_reading(diagnosis) if known.severity is None and known.has_rss else Text(),
    )


def _step(diagnosis: Diagnosis, known: _Known, beyond: str) -> Text:
    """What to do next, on the system that the text names."""
    facts, named, growth, capture = known.facts, known.named, known.cgroup_growth, diagnosis.capture
    step = next_step_of(diagnosis, facts, named, beyond or known.step, severity=known.severity)
    if growth is not None and named is None and growth.is_outside:
        step = growth.next_step or step
    step = step_on(capture.system, step, has_ended=has_crashed(capture))
    return joined(" ", (step, COMPARE_RUNS)) if has_other_runs(capture) else Text(step)


def _first(
    diagnosis: Diagnosis, named: Finding | None, severity: Severity | None, said: dict[str, Text]
) -> str:
    """Choose the headline: a warning, a large current note, the change, or the contents.

    If no file gives the size of the process, a note comes first; and a current note, if the size
    was stable. Without any, that it was stable comes first, if nothing says what it consists of.
    """
    is_warned = severity is not None and severity >= Severity.WARNING
    scale, least = diagnosis.scale, diagnosis.thresholds.large_rss_fraction
    has_size = scale.whole_bytes is not None and not _is_of_profiles(diagnosis)
    if named is not None and named.bytes and not has_size:
        return "found"
    if named is not None and (is_warned or (named.now and scale.share(named) >= least)):
        return "found"
    is_stable = bool(said["moved"]) and is_total_stable(diagnosis)
    if severity is None or not said["moved"]:
        return "moved" if severity is None and is_stable and not _is_divided(diagnosis) else "where"
    return "found" if named is not None and named.now and is_stable else "moved"


def _is_divided(diagnosis: Diagnosis) -> bool:
    """Whether files say what the memory of a snapshot consists of, beside its files."""
    facts = telling_moment(diagnosis)
    if facts is None or facts.groups is None or _is_of_cgroup(facts):
        return True
    return not set(facts.groups.sizes) <= {UNDIVIDED, FILES}


def _is_of_cgroup(facts: MomentFacts | None) -> bool:
    """Whether only a cgroup's files say how large the memory is."""
    return facts is not None and facts.rss_is_of_cgroup


def _is_of_profiles(diagnosis: Diagnosis) -> bool:
    """Whether only heap profiles or a log say how large the memory is."""
    account = diagnosis.facts.account
    return account is not None and account.quantity in {"in_use", "live"}


def telling_moment(diagnosis: Diagnosis) -> MomentFacts | None:
    """The snapshot that the verdict describes: the last with RSS.

    Without RSS, the last with any memory data; None if there is none.
    """
    known = [moment for moment in diagnosis.moments if moment.rss_bytes is not None]
    known = known or [
        moment
        for moment in diagnosis.moments
        if moment.ledger is not None or moment.listed is not None or moment.logged is not None
    ]
    return known[-1] if known else None


def _named(diagnosis: Diagnosis, facts: MomentFacts | None) -> Finding | None:
    """The finding to name: the first current warning, else the first other finding."""
    found = [finding for finding in diagnosis.findings if not finding.code.startswith(DATA_PREFIX)]
    present = [finding for finding in found if finding.now and finding.severity >= Severity.WARNING]
    # A note about the whole log can be about more memory than the last moment has left.
    whole = facts.rss_bytes if facts is not None and facts.rss_bytes is not None else math.inf
    notes = [
        finding
        for finding in found
        if finding.severity >= Severity.WARNING
        or (finding.moment is not None and not _is_tiny(diagnosis, finding))
        or (finding.moment is None and (finding.bytes or 0) <= whole)
    ]
    return next(iter([*present, *notes]), None)


def _is_tiny(diagnosis: Diagnosis, finding: Finding) -> bool:
    """Whether a note's memory is too small a share for a headline."""
    share = diagnosis.scale.share(finding)
    return bool(finding.bytes) and 0 < share < diagnosis.thresholds.heading_share


def _severity(diagnosis: Diagnosis, named: Finding | None, *, grew: bool) -> Severity | None:
    """The current severity; growth without a known cause is a note."""
    if named is not None:
        return named.severity
    is_unsound = any(finding.severity >= Severity.WARNING for finding in diagnosis.findings)
    return Severity.INFO if grew or is_unsound else None
