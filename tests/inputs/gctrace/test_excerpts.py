"""Logs as people quote them: what is whole is read, what is not is said, and nothing is damage."""

import pytest

from gomem.inputs.gctrace.table import read_gctrace
from gomem.inputs.looks_like import looks_like
from gomem.units import MIB

LINE = (
    "gc {n} @{n}.000s 7%: 0.032+2.3+0.001 ms clock, 0.064+0/0.018/4.5+0.002 ms cpu, "
    "64->66->60 MB, 128 MB goal, 0 MB stacks, 0 MB globals, 2 P"
)
TEMPLATE = (
    "gc # @#s #%: #+#+# ms clock, #+#/#/#+# ms cpu, #->#-># MB, # MB goal, # MB stacks, "
    "#MB globals, # P"
)
TEMPLATE_1_5 = "gc # @#s #%: #+...+# ms clock, #+...+# ms cpu, #->#-># MB, # MB goal, # P"
OF_GO_1_4 = "gc1(1): 1+0+33+0 us, 0 -> 0 MB, 21 (21-0) objects, 2 goroutines\n"
CUT = (
    "{} collections' lines are cut, or have numbers left out: what is whole of them is counted, "
    "the rest is unknown"
)


def lines(*numbers):
    return [LINE.format(n=number) for number in numbers]


def read(*text):
    return read_gctrace("\n".join(text).encode())


def known(log):
    """Of each collection the groups of numbers that are whole."""
    groups = {
        "clock": "mark_seconds",
        "cpu": "cpu_background_seconds",
        "heap": "heap_live_bytes",
        "goal": "heap_goal_bytes",
        "P": "gomaxprocs",
    }
    return [
        " ".join(name for name, column in groups.items() if filled[column])
        for filled in log.cycles.notna().to_dict("records")
    ]


@pytest.mark.parametrize("template", [TEMPLATE, TEMPLATE_1_5, "\t" + TEMPLATE, "> " + TEMPLATE])
def test_the_form_as_the_documentation_writes_it_is_no_damage(template):
    log = read(template, *lines(1, 2))

    assert () == log.damaged
    assert [1, 2] == list(log.cycles["number"])
    assert [("template", 1)] == list(log.other.itertuples(index=False))
    assert ["the form of the line"] == [note[:20] for note in log.notes]


@pytest.mark.parametrize(
    ("last", "whole"),
    [
        ("0.032+2.", ""),
        (" ms cloc", ""),
        (" ms clock", "clock"),
        (" ms cp", "clock"),
        (" ms cpu", "clock cpu"),
        ("->60 M", "clock cpu"),
        ("->60 MB", "clock cpu heap"),
        ("128 MB goa", "clock cpu heap"),
        ("128 MB goal", "clock cpu heap goal"),
    ],
)
def test_of_lines_cut_at_a_column_each_group_that_is_whole_is_read(last, whole):
    """
    The column is where the text ends, in all three alike.
    """
    column = lines(12)[0].index(last) + len(last)
    log = read(*(line[:column] for line in lines(12, 13, 14)))

    assert () == log.damaged
    assert [12, 13, 14] == list(log.cycles["number"])
    assert [12.0, 13.0, 14.0] == list(log.cycles["at_seconds"])
    assert [whole] * 3 == known(log)
    assert (CUT.format(3),) == log.notes


def test_a_line_that_alone_is_cut_is_damage():
    """
    So ends a log that was copied while it was written, or that lost its end.
    """
    log = read(*lines(1), lines(2)[0][:100])

    assert 1 == len(log.damaged)
    assert [1] == list(log.cycles["number"])


def test_lines_that_end_anywhere_are_damage():
    """
    Two of one length, but a longer one stands between them: that is no edge of a terminal.
    """
    log = read(lines(1)[0][:90], lines(2)[0][:100], lines(3)[0][:90])

    assert 3 == len(log.damaged)


def test_a_torn_line_is_damage_though_another_ends_there_too():
    """
    Its pieces stand further down.
    """
    first, second = lines(1, 2)
    log = read(first[:100], "x" + first[100:], second[:100], "x" + second[100:])

    assert 2 == len(log.damaged)


@pytest.mark.parametrize("dots", ["...", "…"])
def test_numbers_that_are_left_out_are_unknown(dots):
    log = read(
        *lines(1),
        f"gc 2 @2.000s 7%: {dots} ms clock, {dots} ms cpu, 64->66->60 MB, 128 MB goal, 2 P",
        f"gc 3 @3.000s 7%: 0.032+{dots}+0.001 ms clock, {dots}, 2 P (forced)",
        f"gc 4 @4.000s {dots}",
    )

    assert () == log.damaged
    assert [1, 2, 3] == list(log.cycles["number"])
    assert ["clock cpu heap goal P", "heap goal P", "P"] == known(log)
    assert [False, False, True] == list(log.cycles["forced"])
    assert 60 * MIB == log.cycles["heap_live_bytes"].iloc[1]
    assert (CUT.format(2), "1 lines are too short to say which they are") == log.notes


def test_a_leak_check_that_is_quoted_is_one():
    log = read(
        *lines(1),
        "gc 2 @2.000s 0% (checking for goroutine leaks): ... ms clock, ..., 2 P (forced)",
        "gc 3 @3.000s 7%: ... ms clock, ..., 2 P",
    )

    assert () == log.damaged
    assert [False, True, False] == list(log.cycles["leak_check"])


@pytest.mark.parametrize("gap", ["...", "…", "[...]", "> ...", "<snip>", "  ....  "])
def test_lines_that_are_left_out_are_not_missing(gap):
    log = read(*lines(1, 2), gap, *lines(40))

    assert () == log.damaged
    assert [1, 2, 40] == list(log.cycles["number"])


def test_lines_that_nobody_left_out_are_missing():
    """
    Another program's dots are no ellipsis, and one accounts for its own gap alone.
    """
    log = read(*lines(1), "loading...", *lines(4), "...", *lines(9), *lines(12))

    assert [
        "collections 2 to 3 of run 1 not found before this line",
        "collections 10 to 11 of run 1 not found before this line",
    ] == [one.what for one in log.damaged]


def test_an_arrow_may_be_escaped_as_in_html():
    log = read(*(line.replace("->", "-&gt;") for line in lines(1, 2)))

    assert () == log.damaged
    assert ["clock cpu heap goal P"] * 2 == known(log)


def test_go_1_4_is_named_as_what_it_is():
    log = read_gctrace((OF_GO_1_4 * 3).encode() + lines(1)[0].encode())

    assert () == log.damaged
    assert ("3 lines are of Go 1.4 or older",) == tuple(note[:30] for note in log.notes)
    assert "a gctrace log of Go 1.4 or older" == looks_like(OF_GO_1_4.encode(), "old.log").what


def test_a_whole_log_has_no_notes():
    assert () == read(*lines(1, 2, 3)).notes
