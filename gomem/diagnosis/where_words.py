"""Where is the memory, in a sentence: RSS at one snapshot, and its largest groups."""

from __future__ import annotations

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
from gomem.diagnosis.cgroup_growth import usage_words
from gomem.diagnosis.few_fields import most_of_go
from gomem.diagnosis.listed_memory import at_moment, listed_words, shared_words
from gomem.diagnosis.observations import grew
from gomem.diagnosis.part_words import file_words, is_at_most, most_of, native_words, runtime_words
from gomem.diagnosis.without_rss import worth_naming
from gomem.text import Bytes, Count, File, Share, Text, joined, text

if TYPE_CHECKING:
    from gomem.causes.finding import Finding
    from gomem.diagnosis.diagnosis import Diagnosis
    from gomem.facts.moment import MomentFacts

LARGEST_GROUPS = 3  # named
MOSTLY = 0.75  # of RSS: a group this large is named alone in a headline
NATIVE_MEMORY = "native-memory"  # its title already names the contents of native memory


def where_words(diagnosis: Diagnosis, facts: MomentFacts, named: Finding | None) -> Text:
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


def short_words(diagnosis: Diagnosis, facts: MomentFacts) -> Text:
    """RSS and its one or two largest groups, as a headline."""
    assert facts.groups is not None
    sizes = facts.groups.sizes
    is_known = any(is_at_most(facts, group) for group in sizes) or not facts.rss_is_listed
    if not is_known or facts.rss_is_of_cgroup or set(sizes) <= {UNDIVIDED}:
        return where_words(diagnosis, facts, None)
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
