"""How far the pieces of a torn line may lie, and what one piece of a log must know of another."""

import numpy as np
import pytest

from gomem.inputs.gctrace import parse as gctrace
from gomem.inputs.gctrace.columns import Readings
from gomem.inputs.gctrace.grammar import GRAMMARS, NEWEST, OLDEST, releases
from gomem.inputs.gctrace.mixed_lines import MixedLines, _Search
from gomem.inputs.gctrace.parse import parse_pieces
from gomem.inputs.gctrace.torn_lines import shape
from tests.gc_logs import parse_gctrace
from tests.gctrace_pieces import join_events, join_pieces

BEGIN, END = (
    b"gc %d @%d.010s 4%%: 0.027+4.2",
    b"+0.058 ms clock, 0.054+0.26/0.063/4.1+0.11 ms cpu, 14->20->19 MB, 16 MB goal, 2 P\n",
)


def line(number):
    return BEGIN % (number, number) + END


def torn(between, number=2):
    return line(1) + BEGIN % (number, number) + between + END + line(3)


def read(log):
    columns, damage = parse_gctrace(log, source="app.stderr")
    return list(columns.cycles["number"]), len(damage)


@pytest.mark.parametrize(("lines", "whole"), [(63, True), (64, False)])
def test_the_pieces_of_a_line_lie_within_64_lines(lines, whole):
    """
    Its first and its last piece among them; the program's first line goes on behind the first. What
    lies further is told by itself.
    """
    between = b"request 12 handled\n" * lines

    assert (([1, 2, 3], 0) if whole else ([1, 3], 2)) == read(torn(between))


def test_a_line_is_put_together_of_as_many_lines_wherever_it_is_torn():
    """
    Torn twice, with thirty lines each time: what lies between is counted once.
    """
    between = b"request 12 handled\n" * 30
    middle = END.index(b" ms cpu")
    torn_twice = BEGIN % (2, 2) + between + END[:middle] + between + END[middle:]

    assert ([1, 2, 3], 0) == read(line(1) + torn_twice + line(3))


@pytest.mark.parametrize(("more", "whole"), [(0, True), (1, False)])
def test_the_pieces_of_a_line_lie_within_16_kib(more, whole):
    room = 16384 - len(BEGIN % (2, 2)) - len(END)
    between = b"request " + b"x" * (room - 9 + more) + b"\n"

    assert (([1, 2, 3], 0) if whole else ([1, 3], 1)) == read(b"request xx\n" * 3 + torn(between))


def test_a_shape_is_ten_characters_with_their_digits_alike():
    assert b"00:00:00 r" == shape(b"12:34:56 request 7")
    assert b"short" == shape(b"short")


@pytest.mark.parametrize(("others", "familiar"), [(18, True), (19, False)])
def test_a_shape_is_familiar_if_one_line_in_twenty_has_it(others, familiar):
    """
    The empty text behind the last newline is one; pieces of torn lines are none.
    """
    text = b"rare line\n" + b"request 12 handled\n" * others + b"1.2 ms clock, 3\n" * 9
    lines = gctrace._lines(text)
    mixed = MixedLines.of(lines, np.zeros(len(lines), bool))

    assert familiar == (shape(b"rare line") in _Search(mixed, Readings()).shapes)


def missing(*pieces):
    """What is said to be missing of a log in pieces."""
    _, damage = join_pieces(parse_pieces(pieces, source="app.stderr"))
    said = [one.what for one in damage]
    return [what.partition(" of run")[0] for what in said if "not found before" in what]


CUT = (BEGIN % (9, 9))[:24] + b"\n"


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        ([line(1), line(3)], ["collection 2"]),
        ([line(1) + CUT, line(3)], []),
        ([line(1), CUT, line(3)], []),
        ([line(1), CUT, b"hello\n", line(4)], ["collections 2 to 3"]),
        ([line(1), CUT, CUT, line(4)], []),
        ([line(1) + CUT + line(3), line(5)], ["collection 4"]),
        ([line(1) + CUT + line(3) + CUT, line(5)], []),
        ([line(1) + b"...\n", line(40)], []),
        ([line(1), b"...\n", b"hello\n", line(40)], []),
        ([line(1) + b"...\n" + line(30), line(40)], ["collections 31 to 39"]),
        ([CUT, line(7)], []),
        ([b"hello\n", line(7), line(9)], ["collection 8"]),
    ],
)
def test_what_accounts_for_a_gap_reaches_over_pieces_to_the_next_collection(
    pieces, expected, monkeypatch
):
    """
    A broken line for one collection, a person's dots for any number; and neither for a later gap.
    """
    monkeypatch.setattr(gctrace, "WINDOW_LINES", 0)  # nothing is held back for the next piece

    assert expected == missing(*pieces)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ([], (OLDEST, NEWEST)),
        (["scvg: "], ((1, 13), (1, 13))),
        (["scvg{generation:n}: {released"], (OLDEST, (1, 12))),
        (["scvg{generation:n}: {released", "scvg: "], None),
        (["scan: total {_:n}+"], ((1, 26), NEWEST)),
    ],
)
def test_releases_are_those_that_print_all_forms(text, expected):
    forms = [next(one for one in GRAMMARS if one.text.startswith(begin)) for begin in text]

    assert expected == releases(forms)


def test_what_a_piece_does_not_tell_is_unknown_there():
    """
    Numbers are not a number, flags are not set, and texts are none.
    """
    line = {"line": np.array([1])}
    more = {"seconds": np.array([0.5]), "forced": np.array([True]), "unit": np.array(["s"], object)}

    joined = join_events([line | more, line])

    np.testing.assert_array_equal([0.5, np.nan], joined["seconds"])
    assert [True, False] == joined["forced"].tolist()
    assert ["s", None] == joined["unit"].tolist()
