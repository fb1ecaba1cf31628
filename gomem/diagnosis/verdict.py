"""What a capture comes down to, in a sentence or two: always an answer, known cause or not.

It is made of the ledger and of the ledger's change, which need no cause to be right: where the
memory is now, what moved it there, whose it is, what to do next. The causes annotate it. It speaks
of the last moment in the present, and of earlier ones in the past. Where no file says how much is
resident, it says what the files that are there can tell.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gomem.analysis.memory.groups import FILES, HEAP, NAMES, NATIVE, OF_GO_HEAP, UNDIVIDED
from gomem.analysis.memory.ledger_change import LEAST_BYTES, LEAST_SHARE
from gomem.causes.finding import Severity
from gomem.diagnosis.findings import OF_DATA
from gomem.diagnosis.observations import whole_words
from gomem.diagnosis.part_words import native_sizes
from gomem.diagnosis.without_rss import at_moment, who_holds, without_rss
from gomem.facts.moment import SHARED_ANONYMOUS
from gomem.inputs.answer import Answer
from gomem.text import Text, joined
from gomem.units import format_bytes, format_fraction

if TYPE_CHECKING:
    from gomem.analysis.memory.account import Snapshot
    from gomem.causes.finding import Finding
    from gomem.causes.thresholds import Thresholds
    from gomem.diagnosis.diagnosis import Diagnosis
    from gomem.facts.moment import MomentFacts

MISSING, DAMAGED = "data-missing", "data-damaged"
LARGEST_GROUPS = 3  # named
WORTH_NAMING = 0.05  # of RSS
OBSERVED_BESIDE = frozenset({"in_use", "goroutines"})
OF_C = "native-memory"  # says itself what memory outside Go is
TAKE_ANOTHER = (
    "If it should not have grown, take two more moments some minutes apart, each with smaps, "
    "MemStats and a heap profile."
)
NOTHING_TO_DO = "Nothing to do: nothing here is out of the ordinary."


@dataclass(frozen=True, repr=False)
class Verdict(Answer):
    """What a capture comes down to.

    Attributes:
        headline: What to know first.
        second: What goes with it; empty if the headline says it all.
        code: The finding that it names; None if it names none.
        severity: How much it matters; None where nothing is out of the ordinary.
        moment: The moment that it is about; None without moments that say anything of memory.
        rss_bytes: Resident bytes at that moment; None where no file says.
        whose: Who holds the Go heap, and what bounds it, as far as that is known.
        next_step: What to do next.
        further: What else there is: further warnings, notes, places that could not be read.
    """

    headline: str
    second: str
    code: str | None
    severity: Severity | None
    moment: str | None
    rss_bytes: int | None
    whose: tuple[str, ...] = ()
    next_step: str = ""
    further: str = ""

    @property
    def sentence(self) -> str:
        """Headline and what goes with it."""
        return joined(" ", filter(None, (self.headline, self.second)))


def verdict_of(diagnosis: Diagnosis) -> Verdict:
    """The verdict of a capture."""
    facts = telling_moment(diagnosis)
    named = _named(diagnosis, facts)
    if facts is None or facts.rss_bytes is None:
        where, grew, next_step = without_rss(diagnosis, facts)
        account = diagnosis.facts.account
        moved = ""
        if account is not None and account.quantity == "reserved" and account.snapshots[1:]:
            moved = whole_words(account, diagnosis.case)
    else:
        where, next_step = "", ""
        moved, grew = _moved(diagnosis, facts)
    severity = _severity(diagnosis, named, grew=grew)
    found = "" if named is None else _sentence(named.title)
    first = found if severity is not None and severity >= Severity.WARNING else ""
    if facts is not None and facts.rss_bytes is not None:
        where = _where(diagnosis, facts, named, first)
    headline, *others = (first, where, moved) if first else (where, moved, found)
    return Verdict(
        headline=headline,
        second=joined(" ", filter(None, others)),
        code=None if named is None else named.code,
        severity=severity,
        moment=None if facts is None else facts.name,
        rss_bytes=None if facts is None else facts.rss_bytes,
        whose=tuple(filter(None, (*_beside(diagnosis), _holder(diagnosis, facts)))),
        next_step=_next_step(diagnosis, named, next_step, grew=grew),
        further=_further(diagnosis, named),
    )


def telling_moment(diagnosis: Diagnosis) -> MomentFacts | None:
    """The moment that the verdict is about: the last that says how much is resident.

    Without any such, the last that says anything about memory; None if none does.
    """
    known = [one for one in diagnosis.moments if one.rss_bytes is not None]
    known = known or [one for one in diagnosis.moments if one.ledger is not None]
    return known[-1] if known else None


def _sentence(title: str) -> Text:
    return Text(title.rstrip(".") if type(title) is str else title).sentence()


# Which finding is named, and how much it matters


def _named(diagnosis: Diagnosis, facts: MomentFacts | None) -> Finding | None:
    """The finding to name: the first that costs anything now, else the first of all."""
    found = [one for one in diagnosis.findings if not one.code.startswith(OF_DATA)]
    present = [one for one in found if one.now and one.severity >= Severity.WARNING]
    # A note of the whole log can be of more than there is left at the last moment.
    whole = facts.rss_bytes if facts is not None and facts.rss_bytes is not None else math.inf
    notes = [
        one
        for one in found
        if one.severity >= Severity.WARNING or one.moment is not None or (one.bytes or 0) <= whole
    ]
    return next(iter([*present, *notes]), None)


def _severity(diagnosis: Diagnosis, named: Finding | None, *, grew: bool) -> Severity | None:
    """How much it matters now: what is over and given back is a note, and so is growth."""
    if named is not None:
        return Severity.INFO if diagnosis.scale.is_past(named) else named.severity
    unsound = any(one.severity >= Severity.WARNING for one in diagnosis.findings)
    return Severity.INFO if grew or unsound else None


# Where the memory is, and what moved it there


def _where(diagnosis: Diagnosis, facts: MomentFacts, named: Finding | None, before: str) -> str:
    """RSS and its largest groups, after a sentence that may have said its size."""
    rss = f"RSS is {format_bytes(facts.rss_bytes)}"
    size = "RSS" if rss in before else rss
    return f"{size}{at_moment(diagnosis, facts)}: {_groups_words(facts, named)}."


def _groups_words(facts: MomentFacts, named: Finding | None) -> str:
    assert facts.groups is not None
    sizes, rss = facts.groups.sizes, facts.rss_bytes or 0
    largest = sorted(sizes, key=lambda group: -sizes[group])[:LARGEST_GROUPS]
    worth = [group for group in largest if sizes[group] >= WORTH_NAMING * rss]
    if worth == [UNDIVIDED]:
        anonymous = f"{format_bytes(sizes[UNDIVIDED])} is anonymous memory, and " * (FILES in sizes)
        return f"{anonymous}no file here says what it holds"
    return ", ".join(
        _group_words(facts, group, sizes[group] / rss if rss else 0, named) for group in worth
    )


def _group_words(facts: MomentFacts, group: str, share: float, named: Finding | None) -> str:
    assert facts.groups is not None
    size = format_bytes(facts.groups.sizes[group])
    inside = {HEAP: _of_claims, NATIVE: _of_native, FILES: _of_files}.get(group)
    told = group == NATIVE and named is not None and named.now and named.code == OF_C
    more = "" if inside is None or told else inside(facts)
    return f"{size} {NAMES[group]} ({format_fraction(share)}{more})"


def _of_claims(facts: MomentFacts) -> str:
    """How much Go claims of its heap, and for what, where that is not told part by part."""
    groups = facts.groups
    assert groups is not None
    if not groups.heap_is_one:
        return ""
    claims = {group: size for group, size in groups.claimed.items() if group in OF_GO_HEAP}
    whole = sum(claims.values())
    largest = sorted(claims, key=lambda group: -claims[group])
    worth = [group for group in largest if claims[group] >= WORTH_NAMING * whole]
    division = " + ".join(f"{format_bytes(claims[group])} {NAMES[group]}" for group in worth)
    return f"; Go claims {format_bytes(whole)} for it: {division}"


def _of_native(facts: MomentFacts) -> str:
    """What memory outside Go is: malloc's heaps, its large blocks, and what else is mapped."""
    assert facts.ledger is not None
    with_c = facts.ledger.has("native_heap") or facts.ledger.has("libraries")
    heap, blocks, threads, mapped = native_sizes(facts)
    if facts.mappings is None and with_c:  # all that is unnamed beside C's
        blocks, mapped = mapped, 0
    sizes = {
        "malloc's heaps": heap,
        "large blocks, most likely malloc's": blocks,
        f"mappings of {OF_EITHER if with_c else OF_PROGRAM} own": mapped,
        "threads' stacks": threads,
    }
    total = sum(sizes.values())
    worth = ((name, size) for name, size in sizes.items() if size >= 0.1 * total and size > 0)
    said = ", ".join(f"{format_bytes(size)} in {name}" for name, size in worth)
    return f": {said}" if said else ""


OF_PROGRAM, OF_EITHER = "the program's", "the program's or a library's"


def _of_files(facts: MomentFacts) -> str:
    """The file that most of it is of; without its folders, since reports get shared."""
    if facts.mappings is None:
        return ""
    mine = facts.mappings[facts.mappings["kind"].isin(["mapped-file", "shared-memory"])]
    by_path = mine.groupby("path")["Rss"].sum()
    if by_path.empty or by_path.max() < 0.5 * by_path.sum():
        return ""
    path = str(by_path.idxmax())
    name = "" if path.startswith(SHARED_ANONYMOUS) else path.rpartition("/")[2]
    return f", most of it {name or 'shared anonymous memory'}"


def _moved(diagnosis: Diagnosis, facts: MomentFacts) -> tuple[str, bool]:
    """What moved RSS since the baseline, or since the first moment."""
    name = diagnosis.baseline_moment(facts.name)
    change = None if name is None else diagnosis.change_from_baseline(name, facts.name)
    if change is not None and change.ends is not None:
        return change.sentence, _rose(*change.ends, diagnosis.thresholds)
    account = diagnosis.facts.account
    last = None if account is None else account.of(facts.name)
    if account is None or last is None or len(account.snapshots) < 2:
        return "", False
    return whole_words(account, diagnosis.case), _rose(account.first, last, diagnosis.thresholds)


def _rose(before: Snapshot, after: Snapshot, thresholds: Thresholds) -> bool:
    change = after.total_bytes - before.total_bytes
    large = change >= max(LEAST_BYTES, LEAST_SHARE * before.total_bytes)
    return large and after.total_bytes >= thresholds.rise_ratio * before.total_bytes


# Whose it is, and what to do


def _beside(diagnosis: Diagnosis) -> tuple[str, ...]:
    """What moved beside RSS: what is in use, goroutines."""
    beside = (one for one in diagnosis.observations if one.group in OBSERVED_BESIDE)
    return tuple(observation.sentence for observation in beside)


def _holder(diagnosis: Diagnosis, facts: MomentFacts | None) -> str:
    """Who holds the Go heap, by the heap profile of the moment or of the last that has one."""
    profiles = diagnosis.capture.heap_profiles
    if facts is None or facts.rss_bytes is None or not profiles:
        return ""
    return who_holds(diagnosis, facts.name if facts.name in profiles else list(profiles)[-1])


def _next_step(diagnosis: Diagnosis, named: Finding | None, otherwise: str, *, grew: bool) -> str:
    """What the finding advises, else what the files lack, else what growth asks for."""
    if named is not None:
        return named.next_step
    lacking = next((one for one in diagnosis.findings if one.code == MISSING), None)
    if otherwise or lacking is not None:
        return otherwise or (lacking.next_step if lacking is not None else "")
    if grew:
        return TAKE_ANOTHER
    unsound = (one for one in diagnosis.findings if one.severity >= Severity.WARNING)
    return next((one.next_step for one in unsound), NOTHING_TO_DO)


def _further(diagnosis: Diagnosis, named: Finding | None) -> str:
    """Findings besides the one named, and what could not be read; empty if there is neither."""
    others = [one for one in diagnosis.findings if one is not named and one.code != DAMAGED]
    warnings = sum(one.severity >= Severity.WARNING for one in others)
    counts = (
        (warnings, "further warning{}"),
        (len(others) - warnings, "note{}"),
        (len(diagnosis.capture.damaged), "place{} that could not be read"),
    )
    words = [f"{size} {noun.format('s' * (size > 1))}" for size, noun in counts if size]
    return f"Also: {'; '.join(words)}." if words else ""
