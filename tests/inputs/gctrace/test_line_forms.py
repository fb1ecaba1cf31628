"""Texts with their numbers marked, and what a GC log's columns make of that."""

import re

import numpy as np
import pytest

from gomem.inputs.gctrace import line_forms as number_marks
from gomem.inputs.gctrace import parse as gctrace
from gomem.inputs.gctrace.grammar import GRAMMARS
from gomem.inputs.gctrace.line_forms import MAX_NUMBER_BYTES, mark_numbers
from tests.gc_logs import parse_gctrace

CLOCK = b"gc 12 @0.345s 6%: 0.18+0.87+0.004 ms clock, 0.36+0.52/0.95/0.13+0.009 ms cpu, "
HEAP = b"19->20->10 MB, 21 MB goal, 2 P\n"
LINE = CLOCK + HEAP
FORM = next(form for form in GRAMMARS if form.pattern.fullmatch(LINE.rstrip()))


@pytest.mark.parametrize(
    ("text", "marked"),
    [
        (b"", b""),
        (b"7", b"0"),
        (b".", b"."),
        (b"gc 12 @0.345s 6%\n", b"gc 0 @0.0s 0%\n"),
        (b"0.18+0.87+4 ms", b"0+0+0 ms"),
        (b"@0.34s @10.3456s @1.345 s", b"@0s @0s @0 s"),
        (b"1..2 .5 5. 1.2.3", b"0..0 .0 0. 0"),
        (b"\xc2\xb21\xb2\n2", b"\x7f\x7f0\x7f\n0"),
    ],
)
def test_a_number_is_one_mark(text, marked):
    assert marked == mark_numbers(text)[0]


def test_windows_do_not_change_the_marks(monkeypatch):
    """
    Lines longer than a window aside, which are of no form.
    """
    log = LINE * 50 + b"2026/11/20 03:53:49.123456789012 request 17 handled\n" * 50
    marked, long_at = mark_numbers(log)
    monkeypatch.setattr(number_marks, "WINDOW_BYTES", 200)

    again, again_at = mark_numbers(log)

    assert marked == again
    assert long_at.tolist() == again_at.tolist()
    assert marked.startswith(FORM.marked + b"\n" + FORM.marked)


@pytest.mark.parametrize("digits", range(MAX_NUMBER_BYTES - 2, MAX_NUMBER_BYTES + 3))
def test_only_numbers_longer_than_the_limit_are_told(digits):
    """
    Each by its first byte past the limit.
    """
    text = b"12 " + b"1" * digits + b" 34\n"

    _, long_at = mark_numbers(text)

    assert [3 + MAX_NUMBER_BYTES] * (digits > MAX_NUMBER_BYTES) == long_at.tolist()


def test_columns_hold_exactly_the_lines_that_fit_the_regular_expression(monkeypatch):
    """
    Of lines with some bytes changed, doubled or lost: digits, points, and what is around them.
    """
    random = np.random.default_rng(7)
    lines = [_changed(LINE.rstrip(), random) + b"\n" for _ in range(3000)]
    fitting = [
        number
        for number, line in enumerate(lines, start=1)
        if any(form.pattern.fullmatch(line[:-1]) for form in GRAMMARS)
    ]
    monkeypatch.setattr(gctrace, "search", lambda _rest, before, _readings: before)

    columns, _ = parse_gctrace(b"".join(lines), source="app.stderr")

    assert fitting == columns.cycles["line"].tolist()
    assert 300 < len(fitting) < 2700


@pytest.mark.parametrize("number", [b"1.2.3", b"0.1234567890", b"1234567890123456789012", b"1."])
def test_a_line_with_a_number_that_is_none_does_not_spoil_the_others(number):
    log = LINE * 3 + LINE.replace(b"0.87", number) + LINE * 3

    columns, damage = parse_gctrace(log, source="app.stderr")

    assert [1, 2, 3, 5, 6, 7] == columns.cycles["line"].tolist()
    assert ["line 4"] == [one.where for one in damage if one.text]


def test_a_count_is_whole():
    """
    A point in it would make it another number.
    """
    columns, damage = parse_gctrace(LINE + LINE.replace(b"19->", b"1.9->"), source="log")

    assert [1] == columns.cycles["line"].tolist()
    assert ["line 2"] == [one.where for one in damage if one.text]


def test_a_goal_that_is_none_is_read_in_columns_too(monkeypatch):
    """
    It is longer than the numbers that need no look.
    """
    monkeypatch.setattr(gctrace, "search", lambda _rest, before, _readings: before)
    without_goal = LINE.replace(b"21 MB goal", b"17592186044415 MB goal")

    columns, _ = parse_gctrace(LINE + without_goal, source="app.stderr")

    assert [False, True] == columns.cycles["heap_goal_bytes"].mask.tolist()


def _changed(line: bytes, random: np.random.Generator) -> bytes:
    """A line with up to two changes beside or in its numbers."""
    places = [match.start() for match in re.finditer(rb"[0-9.]|(?<=[0-9])[^0-9]", line)]
    for _ in range(random.integers(0, 3)):
        at = int(random.choice(places[:-2]))
        new = bytes(random.choice(list(b"0123456789..s+ \xb2"), random.integers(0, 3)).tolist())
        line = line[:at] + new + line[at + random.integers(0, 2) :]
    return line
