"""Filters frame by frame, with inlined calls: each expected stack is what `go tool pprof` prints.

A letter is a frame, the innermost first: leaf and mid, which inlined it, are one location; helper,
which mid inlined, and mid, which root inlined, are another, of a file of its own; `.` is a place
of the binary that has no name.
"""

import pytest

from gomem.inputs.pprof.calls.filters import matches
from gomem.inputs.pprof.read import read_pprof
from tests.pprof_messages import field, function, message, packed, strings

TEXTS = ("", "space", "bytes", "leaf", "mid", "helper", "root", "/app/a.go", "/lib/b.go")
TEXTS += ("/bin/app", "/bin/other")
STACKS = {1: (1, 2, 3), 2: (2, 3), 4: (4, 3), 8: (5,), 16: (2, 1, 2, 3), 32: (3,), 64: (4,)}
ALL = {1: "lmhr", 2: "hr", 4: ".r", 8: "hmr", 16: "hlmhr", 32: "r", 64: "."}


def place(identity, *functions, mapping=1):
    lines = (message(4, field(1, one), field(2, 10 * one)) for one in functions)
    head = (field(1, identity), field(2, mapping), field(3, 0x1000 * identity))
    return message(4, *head, *lines)


def binary(identity, start, file):
    flags = (field(tag, 1) for tag in range(7, 11))
    return message(
        3, field(1, identity), field(2, start), field(3, start + 0x3FFF), field(5, file), *flags
    )


def made(drop="", keep=""):
    """The profile: a sample of 1, of 2, of 4 and so on, which tells them apart; each labelled."""
    raw = message(1, field(1, 1), field(2, 2))
    for value, stack in STACKS.items():
        label = message(3, field(1, 1), field(3, value))
        raw += message(2, packed(1, *stack), packed(2, value), label)
    raw += binary(1, 0x1000, 9) + binary(2, 0x5000, 10)
    raw += place(1, 1, 2) + place(2, 3) + place(3, 4) + place(4) + place(5, 3, 2, 4, mapping=2)
    for identity, name, file in ((1, 3, 7), (2, 4, 7), (3, 5, 8), (4, 6, 7)):
        raw += function(identity, name, file=file)
    raw += strings(*TEXTS, drop, keep) + field(7, len(TEXTS)) + field(8, len(TEXTS) + 1)
    return read_pprof(raw)


def stacks_of(read):
    assert list(read.values()) == list(read.labels["number"])
    found = read.traces().groupby("sample")
    return {
        one["value"].iloc[0]: "".join("." if "app" in name else name[0] for name in one["function"])
        for _, one in found
    }


@pytest.mark.parametrize(
    ("option", "pattern", "expected"),
    [
        ("focus", "leaf", {1: "lmhr", 16: "hlmhr"}),
        ("focus", "helper", {1: "lmhr", 2: "hr", 8: "hmr", 16: "hlmhr"}),
        ("focus", r"b\.go", {1: "lmhr", 2: "hr", 8: "hmr", 16: "hlmhr"}),
        ("focus", "bin/app", {n: stack for n, stack in ALL.items() if n != 8}),
        ("focus", "nobody", {}),
        ("ignore", "leaf", {2: "hr", 4: ".r", 8: "hmr", 32: "r", 64: "."}),
        ("ignore", "helper", {4: ".r", 32: "r", 64: "."}),
        ("ignore", "bin/app", {8: "hmr"}),
        ("ignore", "nobody", ALL),
        ("hide", "leaf", ALL | {1: "mhr", 16: "hmhr"}),
        ("hide", "mid", ALL | {1: "lhr", 8: "hr", 16: "hlhr"}),
        ("hide", "helper", {1: "lmr", 2: "r", 4: ".r", 8: "mr", 16: "lmr", 32: "r", 64: "."}),
        ("hide", "root", {1: "lmh", 2: "h", 4: ".", 8: "hm", 16: "hlmh", 64: "."}),
        ("hide", r"a\.go", {1: "h", 2: "h", 4: ".", 8: "h", 16: "hh", 64: "."}),
        ("hide", "other", {n: stack for n, stack in ALL.items() if n != 8}),
        ("hide", "bin/app", {8: "hmr"}),
        ("show", "leaf", {1: "l", 16: "l"}),
        ("show", "mid", {1: "m", 8: "m", 16: "m"}),
        ("show", "helper", {1: "h", 2: "h", 8: "h", 16: "hh"}),
        ("show", "leaf|root", {1: "lr", 2: "r", 4: "r", 8: "r", 16: "lr", 32: "r"}),
        ("show", "other", {8: "hmr"}),
        ("show", "bin/app", {1: "lmhr", 2: "hr", 4: "r", 16: "hlmhr", 32: "r"}),
        ("show", "nobody", {}),
        ("show_from", "leaf", {1: "l", 16: "hl"}),
        ("show_from", "mid", {1: "lm", 8: "hm", 16: "hlm"}),
        ("show_from", "helper", {1: "lmh", 2: "h", 8: "h", 16: "hlmh"}),
        ("show_from", "root", {n: stack for n, stack in ALL.items() if n != 64}),
        ("show_from", "other", {8: "hmr"}),
        ("show_from", "nobody", {}),
        ("prune_from", "leaf", ALL | {16: "lmhr"}),
        ("prune_from", "mid", ALL | {1: "mhr", 8: "mr", 16: "mhr"}),
        ("prune_from", "helper", ALL | {1: "hr"}),
        ("prune_from", "root", {1: "r", 2: "r", 4: "r", 8: "r", 16: "r", 32: "r", 64: "."}),
        ("prune_from", "nobody", ALL),
    ],
)
def test_what_an_option_keeps(option, pattern, expected):
    """
    Each sample that is left has its own label.
    """
    assert expected == stacks_of(made().filtered(**{option: pattern}))


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"focus": "helper", "ignore": "leaf"}, {2: "hr", 8: "hmr"}),
        ({"focus": "mid", "hide": "mid"}, {1: "lhr", 8: "hr", 16: "hlhr"}),
        ({"show": "leaf|mid", "hide": "leaf"}, {1: "m", 8: "m", 16: "m"}),
        ({"noinlines": True}, ALL | {1: "mhr", 8: "r", 16: "hmhr"}),
    ],
)
def test_options_together(options, expected):
    assert expected == stacks_of(made().filtered(**options))


@pytest.mark.parametrize(
    ("drop", "keep", "expected"),
    [
        ("", "", ALL),
        ("leaf|mid", "", ALL | {1: "hr", 8: "r", 16: "hr"}),
        ("h.*", "", {1: "r", 2: "r", 4: ".r", 8: "mr", 16: "r", 32: "r", 64: "."}),
        ("root", "", ALL),
        ("leaf|mid|helper|root", "", ALL),
        ("leaf|mid", "mid", ALL | {1: "mhr", 16: "mhr"}),
        ("leaf|mid|helper|root", "mid", ALL | {1: "mhr", 16: "hmhr"}),
        ("h.*", "h.*", ALL),
        ("ea", "", ALL),
    ],
)
def test_frames_that_a_profile_asks_to_drop(drop, keep, expected):
    """
    Its patterns are of whole names; none of a stack's frames go where all would.
    """
    assert expected == stacks_of(made(drop, keep))


@pytest.mark.parametrize(
    ("name", "pattern", "found"),
    [
        ("malloc(unsigned long)", "malloc", True),
        ("(anonymous namespace)::f(int)", r"\(anonymous namespace\)::f", True),
        ("T::operator()(int) const", r"T::operator\(\)", True),
        (".malloc", "malloc", True),
        ("malloc_usable", "malloc", False),
    ],
)
def test_a_name_to_drop_ends_at_its_arguments(name, pattern, found):
    texts = ("", "space", "bytes", name, "main.f", pattern)
    raw = message(1, field(1, 1), field(2, 2)) + message(2, packed(1, 1, 2), packed(2, 5))
    raw += message(4, field(1, 1), message(4, field(1, 1)))
    raw += message(4, field(1, 2), message(4, field(1, 2)))
    raw += message(5, field(1, 1), field(2, 3), field(3, 4)) + function(2, 4, file=0)
    raw += strings(*texts) + field(7, 5)

    assert found == (1 == len(read_pprof(raw).traces()))


def test_a_pattern_that_is_none_is_refused_also_of_no_texts():
    for texts in ([], ["a"]):
        with pytest.raises(ValueError, match=r"pattern '\('"):
            matches(texts, "(")
    assert [True, False] == matches(["ab", "c"], "b").tolist()
