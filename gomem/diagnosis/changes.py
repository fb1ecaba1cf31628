"""What changed between two snapshots, of one capture or of two, according to the accounts?"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from gomem.analysis.mappings.changes import match_mappings
from gomem.analysis.memory.account import Account, Part, Snapshot, moved
from gomem.analysis.memory.ledger import PART_OF_KIND
from gomem.analysis.memory.ledger_change import (
    MIN_BYTES,
    MIN_SHARE,
    LedgerChange,
    change_ledger,
)
from gomem.analysis.memory.readings import ALL, GO_HEAP
from gomem.diagnosis.part_words import interval_words, part_name
from gomem.inputs.answer import Answer
from gomem.text import Bytes, BytesChange, MomentName, Text, joined, text

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from gomem.facts.moment import MomentFacts

NAMED_SHARE = 0.1  # of the total change: smaller parts are not named
SHIFTED_SHARE = 0.2  # of the total: a shift between parts of an unchanged total
MIN_MAIN_SHARE = 0.5
UNKNOWN = Text("RSS is missing on one side, so the change of RSS is unknown.")
TWO_PROCESSES = Text("These are two processes, so the change of RSS is of neither.")
UNDIVIDED = Text("; these files do not break down the change")
IN_BASELINE = Text("in the baseline")
QUANTITY_NAMES = {
    "rss": "RSS",
    "reserved": "memory retained by Go",
    "in_use": "the heap in use",
    "live": "the live heap",
}


@dataclass(frozen=True, eq=False, repr=False)
class Change(Answer):
    """The change from one snapshot to another, of one capture or of two; both have a ledger."""

    earlier: MomentFacts  # the earlier moment, or the baseline's
    later: MomentFacts  # the later moment
    # The accounts of the captures of both moments.
    accounts: tuple[Account | None, Account | None] = (None, None)
    # Whether the earlier moment is of another process, the baseline. None if unknown: then the
    # mappings show whether addresses mean the same on both sides.
    of_baseline: bool | None = None

    def __repr__(self) -> str:
        return f"<Change from {self.before} to {self.after}>"

    @property
    def before(self) -> str:
        """The earlier snapshot's name."""
        return self.earlier.name

    @property
    def after(self) -> str:
        """The later snapshot's name."""
        return self.later.name

    @cached_property
    def ledger(self) -> LedgerChange:
        """The change of each part, with the verdict."""
        old, new = self.earlier.ledger, self.later.ledger
        assert old is not None
        assert new is not None
        have_both = self.earlier.mappings is not None and self.later.mappings is not None
        absent = frozenset(PART_OF_KIND.values()) if have_both else frozenset()
        sizes = self.earlier.rss_bytes, self.later.rss_bytes
        return change_ledger(old.parts, new.parts, *sizes, zero_where_absent=absent)

    @cached_property
    def mappings(self) -> pd.DataFrame | None:
        """The matched mappings; None if one side has no smaps."""
        same_process = None if self.of_baseline is None else not self.of_baseline
        return mappings_between(self.earlier, self.later, same_process=same_process)

    @property
    def ends(self) -> tuple[Snapshot, Snapshot] | None:
        """The snapshots of both moments; None if the accounts measure different quantities."""
        old, new = self.accounts
        if old is None or new is None or old.quantity != new.quantity:
            return None
        before, after = old.of(self.before), new.of(self.after)
        return None if before is None or after is None else (before, after)

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """The change of each part, as finely as both accounts divide it; see `moved`."""
        return () if self.ends is None else moved(*self.ends)

    @cached_property
    def sentence(self) -> Text:
        """How the total changed, and which parts explain the change."""
        if self.ends is None or self.accounts[1] is None:
            return self._unknown
        where = IN_BASELINE if self.of_baseline else text("at {}", MomentName(self.before))
        return self._said(where)

    @property
    def between(self) -> Text:
        """The sentence without the names of the snapshots, for use beside the names."""
        return self._said("") if self.ends is not None else self._unknown

    @property
    def _unknown(self) -> Text:
        """Why the change of RSS is unknown: it is missing, or the account is of one process."""
        sizes, accounts = (self.earlier.rss_bytes, self.later.rss_bytes), self.accounts
        is_of_two = None not in sizes and accounts[0] is accounts[1] is not None
        return TWO_PROCESSES if is_of_two else UNKNOWN

    def _said(self, where: str) -> Text:
        assert self.ends is not None
        assert self.accounts[1] is not None
        moments, quantity = (self.earlier, self.later), self.accounts[1].quantity
        return change_words(quantity, *self.ends, self.parts, moments, before=where)

    @property
    def reason(self) -> Text:
        """The explanation of the change, as the end of a sentence; empty if uncertain."""
        if self.ends is None:
            return Text()
        words = _reason(*self.ends, self.parts, (self.earlier, self.later))
        is_whole = len(self.parts) == 1 and self.parts[0].groups == ALL
        return UNDIVIDED if is_whole and not words else words


def change_between(
    before: MomentFacts | None,
    after: MomentFacts | None,
    accounts: tuple[Account | None, Account | None] = (None, None),
    *,
    of_baseline: bool | None = None,
) -> Change | None:
    """Compare two moments; None if one has no ledger. For the other arguments see `Change`."""
    if before is None or after is None or before.ledger is None or after.ledger is None:
        return None
    return Change(before, after, accounts, of_baseline)


def mappings_between(
    before: MomentFacts | None, after: MomentFacts | None, *, same_process: bool | None = True
) -> pd.DataFrame | None:
    """Compare the mappings, by default of one process; None if a moment has no smaps."""
    old, new = (None if moment is None else moment.mappings for moment in (before, after))
    if old is None or new is None:
        return None
    return match_mappings(old, new, same_process=same_process)


# In words


def change_words(
    quantity: str,
    first: Snapshot,
    last: Snapshot,
    parts: Sequence[Part],
    moments: Sequence[MomentFacts],
    *,
    before: str,
    meanwhile: str = "",
    peak: str = "",
) -> Text:
    """Describe how the total changed between two snapshots, and which parts explain the change.

    For the parts see `account.moved`. `moments` names the content of native memory. `before` says
    where the first snapshot was taken, `meanwhile` how long the change took and whether it
    continues, `peak` the maximum in between.
    """
    change = last.total_bytes - first.total_bytes
    if is_stable(first, last):
        within = _within(first, last, parts, moments)
        name, now = QUANTITY_NAMES[quantity], Bytes(last.total_bytes)
        if before == IN_BASELINE:
            same = "{} is about the same as in the baseline: {} in the baseline, {} now{}{}"
            then = Bytes(first.total_bytes)
            return text(same, name, then, now, peak, within).sentence()
        if not before:  # beside the numbers
            return text("stable{}", within).capitalised()
        by = text(" ({})", BytesChange(change)) if change else Text()
        return text("{} was stable at {}{}{}{}", name, now, by, peak, within).sentence()
    sizes = Bytes(first.total_bytes), Bytes(last.total_bytes)
    verb = "grew" if change > 0 else "fell"
    from_to = text(
        "{} {} from {}{} to {}",
        QUANTITY_NAMES[quantity],
        verb,
        sizes[0],
        text(" {}", before) if before else Text(),
        sizes[1],
    )
    return text(
        "{}{}{}{}", from_to, meanwhile, peak, _reason(first, last, parts, moments)
    ).sentence()


def is_stable(first: Snapshot, last: Snapshot) -> bool:
    """Whether the total changed too little to be called growth or a fall."""
    level = max(first.total_bytes, last.total_bytes)
    return abs(last.total_bytes - first.total_bytes) < max(MIN_BYTES, MIN_SHARE * level)


def _reason(
    first: Snapshot, last: Snapshot, parts: Sequence[Part], moments: Sequence[MomentFacts]
) -> Text:
    """The explanation of a change: heap residency, or parts that certainly changed.

    The named parts make at least a tenth of the change; the largest comes first.
    """
    change = last.total_bytes - first.total_bytes
    if len(parts) == 1 and parts[0].groups == ALL:
        return _of_reserved(first, last, change)
    if residency := _of_residency(first, last, parts, change):
        return residency
    least = max(NAMED_SHARE * abs(change), MIN_BYTES)
    return _listed(": ", parts, least, moments, about=bool(first.assumption or last.assumption))


def _of_reserved(first: Snapshot, last: Snapshot, change: int) -> Text:
    """The change of the retained Go heap, if it explains most of an RSS change."""
    before, after = first.reserved_heap_bytes, last.reserved_heap_bytes
    if before is None or after is None or (after - before) * change <= 0:
        return Text()
    if abs(after - before) <= MIN_MAIN_SHARE * abs(change):
        return Text()
    return text("; heap and stacks retained by Go, free heap included, {}", _went(before, after))


def _went(before: int, after: int, how: str = "") -> Text:
    """How a size changed: `rose from 13 MiB to 81 MiB`."""
    verb = "rose" if after > before else "fell"
    return text("{}{} from {} to {}", verb, how, Bytes(before), Bytes(after))


def _of_residency(first: Snapshot, last: Snapshot, parts: Sequence[Part], change: int) -> Text:
    """Say that heap residency changed although the retained Go heap changed by less than half.

    Either the memory had been reserved but untouched, or Go released it and the kernel still counts
    it, as with MADV_FREE.
    """
    before, after = first.reserved_heap_bytes, last.reserved_heap_bytes
    heap = round(sum(part.change.middle for part in parts if part.groups <= GO_HEAP))
    if before is None or after is None or heap * change <= 0:
        return Text()
    counted = _released(last) - _released(first)
    if counted * change > 0 and abs(counted) > MIN_MAIN_SHARE * abs(change):
        return _of_counted(counted, change, before, after)
    is_residency = abs(after - before) <= MIN_MAIN_SHARE * abs(heap) and abs(heap) <= max(
        before, after
    )
    if not is_residency or abs(heap) <= MIN_MAIN_SHARE * abs(change):
        return Text()
    more = "more" if change > 0 else "less"
    words = ": {} {} of the Go heap is resident, although the heap itself {}"
    return text(words, Bytes(abs(heap)), more, _retained_words(before, after, heap))


def _retained_words(before: int, after: int, heap: int) -> Text:
    """How the retained Go heap changed beside a larger change of the resident heap."""
    if abs(after - before) <= NAMED_SHARE * abs(heap):
        return text("is the same ({})", Bytes(after))
    return _went(before, after, " only" if (after > before) == (heap > 0) else "")


def _of_counted(counted: int, change: int, before: int, after: int) -> Text:
    """How much of a change is released heap that the kernel still counts.

    `before` and `after` are the retained Go heap: it moved against a larger change.
    """
    if abs(counted) > abs(change):
        words = ": heap that Go has released but the kernel still counts {} by {}"
        said = text(words, "rose" if change > 0 else "fell", Bytes(abs(counted)))
        if (after - before) * counted >= 0 or abs(after - before) < NAMED_SHARE * abs(counted):
            return said
        return said + text("; the retained Go heap {}", _went(before, after))
    words = "; {} of that is heap that Go {} released but the kernel still {}"
    verbs = ("has", "counts") if change > 0 else ("had", "counted")
    return text(words, Bytes(abs(counted)), *verbs)


def _released(snapshot: Snapshot) -> int:
    """Resident bytes of the heap beyond what Go retains: released, but still counted."""
    assert snapshot.reserved_heap_bytes is not None
    resident = snapshot.likely.together(GO_HEAP).low
    return max(0, round(resident) - snapshot.reserved_heap_bytes)


def _within(
    first: Snapshot, last: Snapshot, parts: Sequence[Part], moments: Sequence[MomentFacts]
) -> Text:
    """Which parts changed while the total was stable."""
    least = SHIFTED_SHARE * max(first.total_bytes, last.total_bytes)
    found = _listed(", but its parts changed: ", parts, least, moments, about=False)
    if found or first.reserved_heap_bytes is None or last.reserved_heap_bytes is None:
        return found
    counted = _released(last) - _released(first)
    if abs(counted) < max(least, MIN_BYTES):
        return Text()
    return text(
        ", with {} {} heap that Go has released but the kernel still counts",
        Bytes(abs(counted)),
        "more" if counted > 0 else "less",
    )


def _listed(
    before: str, parts: Sequence[Part], least: float, moments: Sequence[MomentFacts], *, about: bool
) -> Text:
    """Parts that certainly changed by at least `least`, with their changes, largest first."""
    named = [
        part for part in parts if part.change.surely_moves and abs(part.change.middle) >= least
    ]
    named.sort(key=lambda part: -abs(part.change.middle))
    words = (
        text("{} {}", part_name(part.groups, moments), interval_words(part.change, about=about))
        for part in named
    )
    return text("{}{}", before, joined(", ", words)) if named else Text()
