"""Sums and differences of profiles: whole numbers, what is shared, and what is kept of each."""

from dataclasses import replace

import numpy as np
import pytest

from gomem.inputs.pprof.calls.merge import merged, normalizing, scaled
from gomem.inputs.pprof.parse import parse_pprof
from tests.pprof_messages import TWO_LOCATIONS, field, message, packed, profile, sample


def columns_of(*samples, **parts):
    return parse_pprof(profile(*samples, **parts), source="made.pb")[0]


def labelled(value, *labels):
    return message(2, packed(1, 1), packed(2, value), *labels)


def label(key, text=0, number=0, unit=0):
    return message(3, field(1, key), field(2, text), field(3, number), field(4, unit))


@pytest.mark.parametrize(
    ("factor", "values"),
    [
        (1, [3, -3, 1]),
        (-1, [-3, 3, -1]),
        (-2, [-6, 6, -2]),
        (0.5, [2, -2, 1]),
        (0.4, [1, -1, 0]),
        (-0.5, [-2, 2, -1]),
        (2, [6, -6, 2]),
        (0, [0, 0, 0]),
    ],
)
def test_values_are_rounded_and_halves_away_from_zero(factor, values):
    read = columns_of(*(sample(1, value=value) for value in (3, -3, 1)))

    assert values == scaled(read, [factor]).value[:, 0].tolist()


def test_what_is_subtracted_stays_exact():
    """
    Also a number that no float holds.
    """
    read = columns_of(sample(1, value=(1 << 62) + 1))

    assert [-(1 << 62) - 1] == scaled(read, [-1]).value[:, 0].tolist()


def test_what_does_not_fit_64_bits_is_refused():
    read = columns_of(sample(1, value=1 << 62))

    assert [-(1 << 62)] == scaled(read, [-1.0]).value[:, 0].tolist()
    assert [1 << 61] == scaled(read, [0.5]).value[:, 0].tolist()
    with pytest.raises(ValueError, match="do not fit in 64 bits"):
        scaled(read, [2])


def test_a_side_without_a_sum_is_not_normalized():
    some, none = columns_of(sample(1, value=4)), columns_of(sample(1, value=0))

    assert [2.0] == normalizing(some, columns_of(sample(1, value=8)))
    assert [0.0] == normalizing(none, some)


def test_no_profiles_have_no_sum():
    with pytest.raises(ValueError, match="no profiles to merge"):
        merged([])


def test_samples_with_the_same_labels_are_added_and_those_that_cancel_go():
    """
    The order of labels of different keys does not count; one that says nothing is none.
    """
    size, text = label(2, number=512), label(6, text=3)
    both = merged(
        [
            columns_of(labelled(1, size, text), labelled(10), labelled(5, size)),
            columns_of(labelled(2, text, size), labelled(20, label(1)), labelled(-5, size)),
        ]
    )

    assert [3, 30] == both.value[:, 0].tolist()
    assert [0, 0] == both.labels.sample.tolist()
    assert [(0, 512), (3, 0)] == sorted(
        (3 if both.strings[text] == "main.leaf" else 0, number)
        for text, number in zip(both.labels.text.tolist(), both.labels.number.tolist(), strict=True)
    )


def test_what_a_sum_keeps_of_each():
    """
    The earliest time that is known, all of the duration, the largest period, comments once.
    """
    one = columns_of(sample(1, value=1))
    parts = [
        replace(one, time_nanos=0, duration_nanos=3, period=5, comments=("a",), doc_url=""),
        replace(one, time_nanos=9, duration_nanos=4, period=7, comments=("b", "a"), doc_url="x"),
        replace(one, time_nanos=8, duration_nanos=0, period=6, comments=(), doc_url="y"),
    ]

    both = merged(parts)

    assert (8, 7, 7, ("a", "b"), "x") == (
        both.time_nanos, both.duration_nanos, both.period, both.comments, both.doc_url,
    )  # fmt: skip
    assert 0 == merged(parts[:1]).time_nanos


@pytest.mark.parametrize(
    ("other", "places"),
    [
        ({}, 1),
        ({"limit": 0x401001}, 2),
        ({"start": 0x900000, "limit": 0x901000}, 1),
        ({"offset": 0x1000}, 2),
        ({"file": 3}, 2),
        ({"build": 6}, 2),
        ({"build": 6, "file": 3}, 2),
        ({"inside": 65}, 2),
    ],
)
def test_a_place_is_the_same_in_the_same_part_of_the_same_file(other, places):
    """
    By its size in pages, its offset, and its build or else its path.
    """

    def loaded(start=0x400000, limit=0x401000, offset=0, file=5, build=0, inside=64):
        binary = message(
            3, field(1, 1), field(2, start), field(3, limit), field(4, offset), field(5, file),
            field(6, build),
        )  # fmt: skip
        lines = message(4, field(1, 1), field(2, 10))
        place = message(4, field(1, 1), field(2, 1), field(3, start + inside), lines)
        return columns_of(sample(1, value=5), locations=place + binary)

    both = merged([loaded(), loaded(**other)])

    assert places == len(both.value)
    assert 10 == both.value.sum()
    assert [0x400040] == np.unique(both.locations.address).tolist()[:1]


def test_builds_tell_files_apart_whatever_their_path():
    def loaded(file, build):
        binary = message(
            3, field(1, 1), field(2, 0x400000), field(3, 0x401000), field(5, file), field(6, build)
        )
        place = message(4, field(1, 1), field(2, 1), field(3, 0x400040), message(4, field(1, 1)))
        return columns_of(sample(1, value=5), locations=place + binary)

    assert 1 == len(merged([loaded(5, 6), loaded(3, 6)]).value)
    assert 2 == len(merged([loaded(5, 6), loaded(5, 4)]).value)


def test_an_inlined_call_is_not_the_call_without_it():
    inlined = message(4, field(1, 1), message(4, field(1, 1)), message(4, field(1, 2)))

    assert 2 == len(
        merged(
            [columns_of(sample(1, value=1)), columns_of(sample(1, value=1), locations=inlined)]
        ).value
    )
    assert 1 == len(merged([columns_of(sample(1, value=1), locations=TWO_LOCATIONS)] * 2).value)
