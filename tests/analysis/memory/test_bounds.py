"""What follows for parts of a sum from what is known of the sum and of some of them together."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gomem.analysis.memory.bounds import ZERO, Bounds, Interval, difference, total

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


@pytest.mark.parametrize(
    ("change", "moves"),
    [
        ((1, 2), True),
        ((-2, -1), True),
        ((0, 2), False),
        ((-2, 0), False),
        ((-1, 2), False),
        ((0, 0), False),
        ((0.5, 0.5), True),
    ],
)
def test_a_change_is_sure_where_its_bounds_exclude_zero(change, moves):
    assert moves is interval(*change).surely_moves


def test_an_interval_has_a_width_and_a_middle():
    assert (6, 5) == (interval(2, 8).width, interval(2, 8).middle)
    assert (0, 7) == (Interval.exactly(7).width, Interval.exactly(7).middle)
    assert interval(-1, 11) == interval(2, 8).around(3)


def test_sums_add_ends_and_differences_cross_them():
    assert interval(12, 28) == interval(2, 8) + interval(10, 20)
    assert interval(2, 18) == interval(10, 20) - interval(2, 8)
    assert interval(13, 29) == total([interval(2, 8), interval(10, 20), Interval.exactly(1)])
    assert Interval.exactly(0) == total([]) == ZERO


@pytest.mark.parametrize(
    ("inner", "outer", "both"),
    [
        pytest.param((2, 8), (0, 10), (2, 8), id="inside"),
        pytest.param((2, 8), (4, 6), (4, 6), id="around"),
        pytest.param((2, 8), (5, 10), (5, 8), id="across the lower end"),
        pytest.param((2, 8), (8, 10), (8, 8), id="at the lower end"),
        pytest.param((2, 8), (9, 10), (9, 9), id="below"),
        pytest.param((2, 8), (0, 2), (2, 2), id="at the upper end"),
        pytest.param((2, 8), (0, 1), (1, 1), id="above"),
    ],
)
def test_an_interval_within_another_is_what_both_have_or_the_nearest_end(inner, outer, both):
    assert interval(*both) == interval(*inner).within(interval(*outer))


@pytest.mark.parametrize(
    ("size", "tolerance", "is_in"),
    [(2, 0, True), (8, 0, True), (1, 0, False), (9, 0, False), (1, 1, True), (9, 1, True),
     (0, 1, False), (10, 1, False)],
)  # fmt: skip
def test_both_ends_are_in_an_interval(size, tolerance, is_in):
    assert is_in is interval(2, 8).holds(size, tolerance)


def test_parts_without_a_sum_are_not_narrowed():
    bounds = Bounds({"a": interval(0, 10), "b": interval(3, 5)})

    assert bounds.parts == bounds.closed().parts
    assert interval(3, 15) == bounds.together("ab")
    assert ZERO == bounds.together("")


def test_members_that_are_no_parts_do_not_count():
    assert interval(3, 5) == Bounds({"b": interval(3, 5)}).together("bz")


def test_a_sum_of_two_bounds_them_and_what_contains_them():
    """
    a and b have 10 to 20 together; with c, which has 1 to 2, 11 to 22. Of 21 in all, c leaves 19 or
    20 to both.
    """
    parts = {"a": interval(0, 50), "b": interval(0, 50), "c": interval(1, 2)}
    both = (frozenset("ab"), interval(10, 20))

    assert interval(11, 22) == Bounds(parts, (both,)).together("abc")
    assert interval(19, 20) == Bounds(parts, (both, (ALL, interval(21, 21)))).together("ab")


def test_closing_goes_on_until_nothing_narrows():
    """
    a is 4, so b of 10 is 6, so c of 10 is 4 as well.
    """
    parts = {"a": Interval.exactly(4), "b": interval(0, 10), "c": interval(0, 10)}
    sums = tuple((frozenset(pair), Interval.exactly(10)) for pair in ("bc", "ab"))

    closed = Bounds(parts, sums).closed().parts

    assert (Interval.exactly(6), Interval.exactly(4)) == (closed["b"], closed["c"])


def test_changes_are_narrowed_by_the_change_of_the_whole():
    """
    The whole grew by 10; b and c stayed within 1 of what they were, so a has 8 to 12 of it.
    """
    parts = {"b": interval(5, 6), "c": interval(5, 6)}
    before = Bounds({"a": interval(0, 90), **parts}, ((ALL, Interval.exactly(20)),)).closed()
    after = Bounds({"a": interval(0, 90), **parts}, ((ALL, Interval.exactly(30)),)).closed()

    changes = difference(before, after, (A, B | C))

    assert interval(8, 12) == changes[A]
    assert interval(-2, 2) == changes[B | C]
