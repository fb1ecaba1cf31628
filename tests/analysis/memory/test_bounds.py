"""What follows for parts of a sum from what is known of the sum and of some of them together."""

from hypothesis import given
from hypothesis import strategies as st

from gomem.analysis.memory.bounds import Bounds, Interval, difference

A, B, C = frozenset("a"), frozenset("b"), frozenset("c")
ALL = frozenset("abc")


def interval(low: float, high: float) -> Interval:
    return Interval(low, high)


def test_a_part_is_at_most_what_the_others_leave_at_their_least():
    bounds = Bounds(
        {"a": interval(0, 100), "b": interval(30, 40), "c": interval(20, 20)},
        ((ALL, Interval.exactly(100)),),
    )

    closed = bounds.closed()

    assert interval(40, 50) == closed.parts["a"]


def test_a_small_whole_proves_that_a_part_was_small():
    """
    RSS of 16 MiB means no more than 16 MiB of C, whatever else is unknown.
    """
    bounds = Bounds(
        {"a": interval(0, 1000), "b": interval(0, 1000), "c": interval(5, 5)},
        ((ALL, Interval.exactly(16)),),
    )

    assert interval(0, 11) == bounds.closed().parts["a"]


def test_what_is_known_of_two_together_bounds_the_third():
    bounds = Bounds(
        {"a": interval(0, 50), "b": interval(0, 50), "c": interval(0, 100)},
        ((ALL, Interval.exactly(100)), (frozenset("ab"), interval(10, 20))),
    )

    closed = bounds.closed()

    assert interval(80, 90) == closed.parts["c"]
    assert interval(10, 20) == closed.together("ab")


def test_a_change_is_unknown_within_bounds_where_one_side_cannot_divide():
    before = Bounds(
        {"a": interval(0, 16), "b": interval(0, 16), "c": interval(0, 0)},
        ((ALL, Interval.exactly(16)),),
    ).closed()
    after = Bounds(
        {"a": Interval.exactly(120), "b": Interval.exactly(60), "c": interval(0, 0)},
        ((ALL, Interval.exactly(180)),),
    ).closed()

    changes = difference(before, after, (A, B, C))

    assert interval(104, 120) == changes[A]
    assert interval(44, 60) == changes[B]


sizes = st.lists(st.integers(0, 1000), min_size=3, max_size=3)


@given(sizes, sizes, sizes, sizes)
def test_bounds_that_hold_still_hold_when_closed_and_so_do_changes(first, second, less, more):
    """
    Closing narrows, and never loses the truth.
    """

    def around(truth: list[int]) -> Bounds:
        parts = {
            part: interval(max(0, size - down), size + up)
            for part, size, down, up in zip("abc", truth, less, more, strict=True)
        }
        return Bounds(parts, ((ALL, Interval.exactly(sum(truth))),))

    before, after = around(first).closed(), around(second).closed()
    changes = difference(before, after, (A, B, C))

    for place, part in enumerate("abc"):
        assert before.parts[part].holds(first[place], 1e-6)
        assert changes[frozenset(part)].holds(second[place] - first[place], 1e-6)
    low = sum(change.low for change in changes.values())
    high = sum(change.high for change in changes.values())
    assert low - 1e-6 <= sum(second) - sum(first) <= high + 1e-6
