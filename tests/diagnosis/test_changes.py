"""What moved between two moments, as the account says it: no more than both sides can show."""

import pytest

from gomem.analysis.memory.account import account_of
from gomem.analysis.memory.groups import FILES, FREE, NATIVE, PROGRAM, RUNTIME, STACKS
from gomem.analysis.memory.readings import OBJECTS, Reading
from gomem.diagnosis.changes import UNDIVIDED, UNKNOWN, change_between
from gomem.text import Bytes, BytesChange
from gomem.units import MIB
from tests.diagnosis.made import moment


def reading(name, objects, free=0, heap=None, native=0, lazy=0):
    """Smaps and MemStats of one moment, in MiB; of the heap all is resident if not said."""
    resident = {"heap": objects + free + lazy if heap is None else heap, NATIVE: native}
    resident |= dict.fromkeys((RUNTIME, FILES, PROGRAM), 1)
    return Reading(
        name,
        rss_bytes=sum(resident.values()) * MIB,
        resident={group: size * MIB for group, size in resident.items()},
        reserved={OBJECTS: objects * MIB, FREE: free * MIB, STACKS: 0},
        live_bytes=objects * MIB,
        lazy_free_bytes=lazy * MIB,
    )


def change(before, after, **about):
    """From one reading to another, of a capture each."""
    accounts = account_of([before]), account_of([after])
    ends = (moment(one.moment, heap_objects=one.rss_bytes / MIB) for one in (before, after))
    return change_between(*ends, accounts, **about)


def test_memory_that_was_reserved_and_is_now_touched_is_residency():
    found = change(reading("1", 200, heap=40), reading("1", 200), of_baseline=True)

    assert 160 * MIB == found.reason.of(Bytes)[0].value
    assert "more of the Go heap is resident" in found.reason
    assert "in the baseline" in found.sentence


def test_memory_that_is_no_longer_touched_is_residency_too():
    found = change(reading("1", 200), reading("1", 200, heap=40))

    assert 160 * MIB == found.reason.of(Bytes)[0].value
    assert "less of the Go heap is resident" in found.reason


@pytest.mark.parametrize(("before", "after"), [(0, 160), (160, 0)])
def test_what_is_released_and_still_counted_is_not_called_kept(before, after):
    found = change(reading("1", 9, lazy=before), reading("1", 9, lazy=after))

    assert [160 * MIB] == [part.value for part in found.reason.of(Bytes)]
    verbs = ("has", "counts") if after > before else ("had", "counted")
    said = "; 160 MiB of that is heap that Go {} released but the kernel still {}"
    assert said.format(*verbs) == found.reason


def test_what_was_kept_and_is_released_but_still_counted_is_said_within_a_whole_that_stands():
    found = change(reading("1", 9, free=160), reading("2", 9, lazy=160))

    assert "RSS was stable" in found.sentence
    assert 160 * MIB in [part.value for part in found.sentence.of(Bytes)]
    assert "more heap that Go has released but the kernel" in found.sentence


def test_parts_are_named_that_make_a_tenth_of_it_the_largest_first():
    found = change(reading("1", 9), reading("2", 39, free=61, native=9))

    assert "free Go heap +61 MiB, live heap +30 MiB" in found.reason
    assert [61 * MIB, 30 * MIB] == [part.value for part in found.reason.of(BytesChange)]


def test_what_one_side_cannot_divide_is_neither_new_nor_unchanged():
    """
    RSS alone before; its 12 MiB bound what C can have held.
    """
    before = Reading("1", rss_bytes=12 * MIB)
    found = change(before, reading("2", 9, native=60))

    by_group = {frozenset(part.groups): part.change for part in found.parts}
    native = by_group[frozenset({NATIVE})]
    assert (48 * MIB, 60 * MIB) == (native.low, native.high)
    assert native.width > 0


def test_what_nothing_divides_is_said_to_be_that_unless_gos_own_count_says_most_of_it():
    rss = [Reading("1", rss_bytes=size * MIB) for size in (300, 90)]
    counted = [
        Reading("1", rss_bytes=size * MIB, reserved={OBJECTS: 9 * MIB, FREE: free * MIB})
        for size, free in ((300, 331), (90, 91))
    ]

    assert UNDIVIDED == change(*rss).reason
    assert [340 * MIB, 100 * MIB] == [part.value for part in change(*counted).reason.of(Bytes)]


def test_accounts_of_different_quantities_are_not_subtracted():
    claims = Reading("1", reserved={OBJECTS: 9 * MIB})

    assert UNKNOWN == change(reading("1", 9), claims).sentence if claims.rss_bytes else True
    assert change_between(None, moment("1", heap_objects=9)) is None
