"""Names of the account's parts, and of their bounds, for sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.analysis.memory.groups import (
    COARSER,
    FILES_SUM,
    GARBAGE,
    GO_HEAP_GROUPS,
    HEAP,
    LIVE,
    NAMES,
    NATIVE,
    OBJECTS,
    RUNTIME,
    UNDIVIDED,
)
from gomem.analysis.memory.mapped import MAPPED
from gomem.analysis.memory.readings import ALL, FILE_GROUPS, GO, GO_HEAP, GROUPS, NOT_GO
from gomem.facts.moment import SHARED_ANONYMOUS, MomentFacts
from gomem.text import Bytes, BytesChange, File, Text, joined, text
from gomem.units import is_unknown

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gomem.analysis.memory.bounds import Interval

MOSTLY = 0.5
NEARLY_ALL = 0.9  # of native memory: such a part gives the whole its name
PART_NAMES = {frozenset({group}): NAMES[group] for group in GROUPS} | {
    frozenset({LIVE, GARBAGE}): NAMES[OBJECTS],
    GO_HEAP: NAMES[HEAP],
    GO: "Go memory",
    FILE_GROUPS: FILES_SUM,
    NOT_GO: "memory outside Go",
    ALL: NAMES[UNDIVIDED],
}


# Unions of groups that have a single name.
_GROUP_OF = {frozenset({LIVE, GARBAGE}): OBJECTS, GO_HEAP: HEAP, ALL: UNDIVIDED}


def part_key(groups: frozenset[str]) -> str:
    """The key of a part: its group, or its groups joined by `+`."""
    return _GROUP_OF.get(groups) or "+".join(sorted(groups))


def groups_of(key: str, name: str) -> frozenset[str]:
    """The groups of the account in one of a ledger; empty for what is not broken down."""
    several = {HEAP: GO_HEAP, OBJECTS: frozenset({LIVE, GARBAGE}), UNDIVIDED: frozenset[str]()}
    return FILE_GROUPS if name == FILES_SUM else several.get(key, frozenset({key}))


def part_name(groups: frozenset[str], moments: Sequence[MomentFacts]) -> str:
    """The name of a part; for native memory, its main content in the last smaps."""
    with_smaps = [moment for moment in moments if moment.mappings is not None]
    if groups != frozenset({NATIVE}) or not with_smaps:
        return PART_NAMES[groups]
    heap, blocks, threads, mapped = native_sizes(with_smaps[-1])
    sizes = {"malloc": heap + blocks, "thread stacks": threads, MAPPED: mapped}
    largest = max(sizes, key=lambda name: sizes[name])
    whole = sum(sizes.values())
    is_clear = whole and sizes[largest] >= NEARLY_ALL * whole
    return f"{PART_NAMES[groups]} ({largest})" if is_clear else PART_NAMES[groups]


def native_sizes(moment: MomentFacts) -> tuple[int, int, int, int]:
    """Resident bytes of malloc's heaps, its large blocks, thread stacks, and other mappings.

    Without smaps, malloc's blocks cannot be separated from other mappings.
    """
    assert moment.ledger is not None
    blocks = (
        0 if moment.mappings is None else int(moment.mappings.loc[moment.is_malloced, "Rss"].sum())
    )
    other = moment.ledger.part("anonymous_other") - blocks
    return moment.ledger.part("native_heap"), blocks, moment.ledger.part("thread_stacks"), other


def interval_words(change: Interval, *, about: bool) -> Text:
    """Format a change, `+12 MiB`: a number, or the least change, or both ends if far apart."""
    if not change.is_wide:
        middle = BytesChange(round(change.middle))
        return text("{}{}", "about " if about and change.width else "", middle)
    least, most = sorted((change.low, change.high), key=abs)
    if least * most > 0 and abs(least) >= MOSTLY * abs(most):
        less = text("at least {} less", Bytes(round(-least)))
        return less if least < 0 else text("{} or more", BytesChange(round(least)))
    return text("between {} and {}", BytesChange(round(least)), BytesChange(round(most)))


def is_at_most(facts: MomentFacts, group: str) -> bool:
    """Whether the size of a group is an upper bound: without mappings, what Go retains."""
    return facts.mappings is None and group in {HEAP, *GO_HEAP_GROUPS, RUNTIME}


def bound_of(facts: MomentFacts, group: str) -> str:
    """The sign of a size that is a bound: beside upper bounds, what is left over is a lower one."""
    if is_at_most(facts, group):
        return "≤ "
    sizes = {} if facts.groups is None else facts.groups.sizes
    is_least = group == UNDIVIDED and any(is_at_most(facts, other) for other in sizes)
    return "≥ " if is_least else ""


def most_of(facts: MomentFacts, group: str) -> int:
    """The size of a group in RSS, or its upper bound: no more than Go retains."""
    groups, rss = facts.groups, facts.rss_bytes or 0
    assert groups is not None
    size = groups.bytes_within(group) or 0
    if not is_at_most(facts, group):
        return size
    within = [groups.claimed[part] for part in (group, *COARSER.get(group, ()))
              if part in groups.claimed]  # fmt: skip
    return max(size, min(sum(within) if within else size, rss - (groups.files_bytes or 0)))


def brief_level(level: Interval) -> Text:
    """Format a level for a table: a number, about a number, an upper bound, or both ends."""
    is_rough = not level.is_wide and text("{}", Bytes(round(level.low))) != text(
        "{}", Bytes(round(level.high))
    )
    return text("{}{}", "≈ " * is_rough, _level(level, "≤ {}", "{} to {}"))


def level_words(level: Interval) -> Text:
    """Format a level for a sentence: a number, an upper bound, or both ends."""
    return _level(level, "at most {}", "between {} and {}")


def _level(level: Interval, at_most: str, between: str) -> Text:
    low, high = Bytes(round(level.low)), Bytes(round(level.high))
    if not level.is_wide:
        return Text(Bytes(round(level.middle)))
    return text(at_most, high) if level.low <= 0 else text(between, low, high)


RUNTIME_FIELDS = {
    "MSpanSys": "span structures (MSpanSys)",
    "MCacheSys": "caches (MCacheSys)",
    "GCSys": "GC metadata (GCSys)",
    "BuckHashSys": "profiling buckets (BuckHashSys)",
    "OtherSys": "OtherSys, which is a few MiB in most programs and in no heap profile",
}


def runtime_words(facts: MomentFacts, share: float) -> Text:
    """The largest field of the runtime's own memory, if this is most of a process's; else empty."""
    stats = facts.memstats
    if stats is None or share <= MOSTLY:
        return Text()
    sizes = {name: stats[name] for name in RUNTIME_FIELDS if not is_unknown(stats[name])}
    largest = max(sizes, key=lambda name: sizes[name], default="")
    is_most = bool(sizes) and sizes[largest] > MOSTLY * sum(sizes.values())
    return text(", mostly {}", RUNTIME_FIELDS[largest]) if is_most else Text()


BY_PROGRAM, BY_EITHER = "the program", "the program or a library"


def native_words(facts: MomentFacts) -> Text:
    """The contents of native memory: malloc's heaps, its large blocks, and other mappings."""
    assert facts.ledger is not None
    with_c = facts.ledger.has("native_heap") or facts.ledger.has("libraries")
    heap, blocks, threads, mapped = native_sizes(facts)
    if facts.mappings is None and with_c:  # all unnamed memory beside C's
        blocks, mapped = mapped, 0
    sizes = {
        "in malloc's heaps": heap,
        "in large blocks, most likely malloc's": blocks,
        f"mapped by {BY_EITHER if with_c else BY_PROGRAM}": mapped,
        "in thread stacks": threads,
    }
    total = sum(sizes.values())
    worth = [(name, size) for name, size in sizes.items() if size >= 0.1 * total and size > 0]
    if len(worth) == 1:
        return text(", {}", worth[0][0])
    each = [text("{} {}", Bytes(size), name) for name, size in worth]
    return text(": {}", joined(", ", each)) if each else Text()


def file_words(facts: MomentFacts) -> Text:
    """The file with most of the memory, without folders, because reports are shared."""
    if facts.mappings is None:
        return Text()
    mine = facts.mappings[facts.mappings["kind"].isin(["mapped-file", "shared-memory"])]
    by_path = mine.groupby("path")["Rss"].sum()
    if by_path.empty or by_path.max() < 0.5 * by_path.sum():
        return Text()
    path = str(by_path.idxmax())
    name = "" if path.startswith(SHARED_ANONYMOUS) else path.rpartition("/")[2]
    return text(", mostly {}", File(name) if name else "shared anonymous memory")
