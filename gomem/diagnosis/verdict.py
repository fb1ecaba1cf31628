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

from gomem.analysis.memory.groups import (
    FILES,
    GO_HEAP_GROUPS,
    HEAP,
    NAMES,
    NATIVE,
    RUNTIME,
    UNDIVIDED,
)
from gomem.causes.finding import Finding, Severity
from gomem.diagnosis.beside import whose_words
from gomem.diagnosis.cgroup_growth import beyond_rss, cgroup_growth, usage_words
from gomem.diagnosis.few_fields import later_words, most_of_go, one_reading
from gomem.diagnosis.findings import DATA_PREFIX
from gomem.diagnosis.first_sentence import first_and_rest
from gomem.diagnosis.further import further_words, series_words
from gomem.diagnosis.healthy import unread_series_words
from gomem.diagnosis.listed_memory import (
    at_moment,
    cache_words,
    charge_words,
    limit_words,
    listed_words,
    report_words,
    shared_words,
)
from gomem.diagnosis.live_by_fields import risen_without_gc
from gomem.diagnosis.live_level import live_level_words
from gomem.diagnosis.near_names import with_near_names
from gomem.diagnosis.next_step import next_step_of
from gomem.diagnosis.observations import (
    goal_reached_words,
    grew,
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
from gomem.diagnosis.part_words import file_words, is_at_most, most_of, native_words, runtime_words
from gomem.diagnosis.replicas import replica_words
from gomem.diagnosis.said_in_text import words_of_the_text
from gomem.diagnosis.without_rss import without_rss, worth_naming
from gomem.facts.goroutines import has_crashed
from gomem.inputs.answer import Answer
from gomem.text import Bytes, Count, File, Share, Text, joined, text

if TYPE_CHECKING:
    from gomem.diagnosis.diagnosis import Diagnosis
    from gomem.facts.moment import MomentFacts

LARGEST_GROUPS = 3  # named
MOSTLY = 0.75  # of RSS: a group this large is named alone in a headline
NATIVE_MEMORY = "native-memory"  # its title already names the contents of native memory
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
    facts = telling_moment(diagnosis)
    named = _named(diagnosis, facts)
    if facts is None or facts.rss_bytes is None:
        where, grew, next_step = without_rss(diagnosis, facts)
        moved, reserved_grew = reserved_words(diagnosis)
        grew = grew or reserved_grew
    else:
        where, next_step = _where(diagnosis, facts, named), ""
        moved, grew = moved_words(diagnosis, facts)
    of_cgroup = cgroup_growth(diagnosis)
    if of_cgroup is not None and (of_cgroup.is_outside or _is_of_cgroup(facts)):
        rest = Text() if _is_of_cgroup(facts) else moved
        moved = joined(" ", filter(None, (of_cgroup.sentence, rest)))
        grew = grew or of_cgroup.is_held
    severity = _severity(diagnosis, named, grew=grew)
    said = {
        "where": where,
        "moved": moved,
        "found": "" if named is None else Text(named.title).sentence(),
    }
    first = _first(diagnosis, named, severity, said)
    is_first = first == "where" or (first == "moved" and of_cgroup is None)
    beyond, beyond_step = beyond_rss(facts) if is_first else (Text(), Text())
    first = "where" if beyond else first
    headline = said.pop(first)
    if first == "where" and (facts is None or facts.rss_bytes is None):
        headline, said["where"] = first_and_rest(headline)
    elif first == "where" and facts is not None:
        headline, said["where"] = _where_in_short(diagnosis, facts), where
    if beyond:
        headline, said["where"] = (joined(" ", (beyond, words)) for words in (headline, where))
        next_step = beyond_step
    cached = Text() if beyond else cache_words(facts)
    if cached == where or (where.startswith("The cgroup uses") and _is_of_cgroup(facts)):
        cached = Text()
    elif cached and first == "where" and facts is not None and facts.is_mostly_page_cache:
        headline, cached = joined(" ", (headline, cached)), Text()
    level = live_level_words(diagnosis, facts) if first == "moved" else Text()
    headline = joined(" ", filter(None, (headline, level)))
    runs = other_runs_words(diagnosis.capture)
    alone = one_reading(diagnosis) if severity is None and facts and facts.rss_bytes else Text()
    further = (
        goal_reached_words(diagnosis),
        risen_without_gc(diagnosis),
        unread_series_words(diagnosis.capture),
        kept_words(diagnosis.capture),
        series_words(diagnosis),
        *words_of_the_text(diagnosis, facts),
        earlier_processes_words(diagnosis.case.facts),
        report_words(facts),
        replica_words(diagnosis, facts),
        charge_words(facts),
        limit_words(facts),
        later_words(diagnosis, facts),
        released_words(diagnosis.capture, facts),
    )
    step = next_step_of(diagnosis, facts, named, next_step, severity=severity)
    if of_cgroup is not None and named is None and of_cgroup.is_outside:
        step = of_cgroup.next_step or step
    step = step_on(diagnosis.capture.system, step, has_ended=has_crashed(diagnosis.capture))
    verdict = Verdict(
        headline,
        **{"where": "", "moved": "", "found": ""} | said,
        code=None if named is None else named.code,
        severity=severity,
        confidence=None if named is None else named.confidence,
        moment=None if facts is None else facts.name,
        rss_bytes=None if facts is None else facts.rss_bytes,
        whose=tuple(
            words
            for words in (*whose_words(diagnosis, facts, named, cached), *further, runs, alone)
            if words and words != level
        ),
        next_step=joined(" ", (step, COMPARE_RUNS)) if has_other_runs(diagnosis.capture) else step,
        further=further_words(diagnosis, named, "" if of_cgroup is None else of_cgroup.seen_in),
    )
    return with_near_names(verdict)


def _first(
    diagnosis: Diagnosis, named: Finding | None, severity: Severity | None, said: dict[str, str]
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


def _where(diagnosis: Diagnosis, facts: MomentFacts, named: Finding | None) -> Text:
    """RSS and its largest groups."""
    size, at = _rss_words(facts), at_moment(diagnosis, facts)
    if facts.rss_is_of_cgroup and (used := usage_words(facts, at)):
        return used
    lives = facts.listed is None or not facts.listed.killed_in
    is_or_was = "is" if lives else "was"
    parts = _groups_words(diagnosis, facts, named)
    return text("RSS {} {}{}: {}.{}", is_or_was, size, at, parts, _retained(diagnosis, facts))


def _rss_words(facts: MomentFacts) -> Text:
    """RSS; a lower bound if the file of mappings is cut off."""
    size = text("{}", Bytes(facts.rss_bytes))
    if facts.listed is not None and facts.rss_is_listed:
        return text("{} ({})", size, listed_words(facts.listed))
    if facts.ledger is None or not facts.ledger.is_least:
        return size
    if facts.mappings is None:
        return text("at least {}", size)
    count = Count(int(facts.mappings["Rss"].notna().sum()), "mapping")
    return text("at least {} in the {} of {}", size, count, File(facts.path("smaps")))


def _where_in_short(diagnosis: Diagnosis, facts: MomentFacts) -> Text:
    """RSS and its one or two largest groups, as a headline."""
    assert facts.groups is not None
    sizes = facts.groups.sizes
    if facts.rss_is_listed or facts.rss_is_of_cgroup or set(sizes) <= {UNDIVIDED}:
        return _where(diagnosis, facts, None)
    largest = sorted(sizes, key=lambda group: -sizes[group])
    is_alone = any(size > MOSTLY * (facts.rss_bytes or 0) for size in sizes.values())
    named = largest[: 1 if is_alone else 2]
    each = (text("{} {}", _size_in_rss(facts, group), _group_name(facts, group)) for group in named)
    size, at = _rss_words(facts), at_moment(diagnosis, facts)
    return text("RSS is {}{}: {}.", size, at, joined(", ", each))


def _groups_words(diagnosis: Diagnosis, facts: MomentFacts, named: Finding | None) -> Text:
    assert facts.groups is not None
    sizes, rss = facts.groups.sizes, facts.rss_bytes or 0
    worth = _worth(facts)
    if worth == [UNDIVIDED]:
        said = filter(None, (shared_words(facts), most_of_go(diagnosis, facts)))
        is_part, words = FILES in sizes, "{} is anonymous memory, which no file breaks down"
        rest = text(words, Bytes(sizes[UNDIVIDED])) if is_part else text("no file breaks it down")
        return joined("; ", said) or rest
    return joined(
        ", ",
        (
            _group_words(facts, group, most_of(facts, group) / rss if rss else 0, named)
            for group in worth
        ),
    )


def _worth(facts: MomentFacts) -> list[str]:
    """The groups large enough to name in a sentence."""
    assert facts.groups is not None
    sizes = {group: most_of(facts, group) for group in facts.groups.sizes}
    return worth_naming(sizes, facts.rss_bytes or 0)[:LARGEST_GROUPS]


def _group_words(facts: MomentFacts, group: str, share: float, named: Finding | None) -> Text:
    assert facts.groups is not None
    size = _size_in_rss(facts, group)
    inside = {NATIVE: native_words, FILES: file_words}.get(group)
    is_said = group == NATIVE and named is not None and named.now and named.code == NATIVE_MEMORY
    more = "" if inside is None or is_said else inside(facts)
    more = runtime_words(facts, share) if group == RUNTIME else more
    return text("{} {} ({}{})", size, _group_name(facts, group), Share(share), more)


def _size_in_rss(facts: MomentFacts, group: str) -> Text:
    """The size of a group; what Go retains by MemStats alone is at most resident."""
    return text("{}{}", "at most " * is_at_most(facts, group), Bytes(most_of(facts, group)))


def _group_name(facts: MomentFacts, group: str) -> str:
    """The name of a group; memory that is not broken down, beside files alone, is anonymous."""
    assert facts.groups is not None
    is_anonymous = group == UNDIVIDED and set(facts.groups.sizes) == {UNDIVIDED, FILES}
    return "anonymous memory, not broken down" if is_anonymous else facts.groups.names[group]


def _retained(diagnosis: Diagnosis, facts: MomentFacts) -> Text:
    """How much heap Go retains, with its largest part, if the Go heap in RSS is not broken down."""
    groups = facts.groups
    assert groups is not None
    if not groups.heap_is_one or HEAP not in _worth(facts):
        return Text()
    retained = {group: size for group, size in groups.claimed.items() if group in GO_HEAP_GROUPS}
    whole = sum(retained.values())
    largest = max(retained, key=lambda group: retained[group])
    beyond = whole - groups.sizes[HEAP]
    rest = text(" {} of the {} is not in RSS.", Bytes(beyond), Bytes(whole)) if beyond > 0 else ""
    if beyond > 0 and not facts.skew.is_within(diagnosis.thresholds.skew_seconds):
        rest = _READ_APART if grew(diagnosis) else rest
    return text(
        " Go retains {} of heap and stacks, including {} {}.{}",
        Bytes(whole),
        Bytes(retained[largest]),
        NAMES[largest],
        rest,
    )


_READ_APART = " Nothing shows that RSS was read at the same time, and it grows."
