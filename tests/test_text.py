"""Sentences of typed parts."""

import json
import pickle

import pytest

from gomem.text import (
    Bytes,
    BytesBy,
    BytesChange,
    Command,
    Count,
    File,
    Function,
    MomentName,
    Part,
    Quoted,
    Rate,
    Seconds,
    Share,
    Text,
    Words,
    joined,
    number,
    text,
)

GROWS = text("{} grows by {}", Function("main.fill"), Rate(1.24 * 2**20))


def test_a_text_is_a_string():
    assert "main.fill grows by 1.2 MiB/s" == GROWS
    assert {"main.fill grows by 1.2 MiB/s": 1}[GROWS]
    assert '["main.fill grows by 1.2 MiB/s"]' == json.dumps([GROWS])


def test_a_text_knows_its_parts():
    assert (Function, Words, Rate) == tuple(map(type, GROWS.parts))
    assert ("main.fill",) == GROWS.of(Function)
    assert [1.24 * 2**20] == [rate.value for rate in GROWS.of(Rate)]


def test_a_plain_string_is_words_and_a_part_a_text_of_itself():
    assert (Words("idle"),) == Text("idle").parts
    name = MomentName("3-later")
    assert (name,) == name.parts
    assert (name,) == Text(name).parts == text("{}", name).parts


def test_texts_are_put_together_with_their_parts():
    whole = "Memory: " + GROWS + " at " + MomentName("3-later") + "."

    assert "Memory: main.fill grows by 1.2 MiB/s at 3-later." == whole
    assert (Words, Function, Words, Rate, Words, MomentName, Words) == kinds(whole)
    assert kinds(whole) == kinds(
        text("{a}{b} at {c}.", a="Memory: ", b=GROWS, c=MomentName("3-later"))
    )


def test_texts_are_joined_with_their_parts():
    names = joined(", ", [MomentName("a"), MomentName("b")])

    assert "a, b" == names
    assert (MomentName, Words, MomentName) == kinds(names)
    assert "" == joined(", ", [])


def test_what_is_cut_off_leaves_the_other_parts_as_they_are():
    said = text("at {}: {}.", MomentName("3-later"), Function("main.fill"))

    assert (MomentName, Words, Function, Words) == kinds(said.removeprefix("at "))
    assert (Function, Words) == kinds(said.removeprefix("at 3-later").removeprefix(": "))
    assert (Words, MomentName, Words, Function) == kinds(said.removesuffix("."))
    assert said.parts == said.removeprefix("in ").parts == said.removesuffix("!").parts


def test_a_name_is_never_cut():
    name = text("{} grew", Function("main.fill"))

    assert name.parts == name.removeprefix("main.").parts
    assert name.parts == name.removesuffix("fill grew").parts


def test_nothing_has_no_parts():
    assert () == Text("").parts == text("").parts == Quoted("").parts
    assert ("at", "3") == tuple(map(str, text("{}at{}{}", "", Quoted(""), File("3")).parts))


def test_sentences_begin_large_and_end_in_a_full_stop_and_names_keep_their_letters():
    assert "Heap of main.fill." == text("heap of {}", Function("main.fill")).sentence()
    assert "main.fill grows by 1.2 MiB/s." == GROWS.sentence()
    assert (Function, Words, Rate, Words) == kinds(GROWS.sentence())
    assert "Is it?" == Text("is it?").sentence()
    assert "" == Text("").sentence()


def test_a_flag_says_whether_there_is_a_text():
    assert "" == GROWS * False
    assert GROWS == GROWS * True


def test_values_are_all_in_the_sentence():
    with pytest.raises(AssertionError, match="more values than places"):
        text("{}", "one", "two")


def test_a_moment_with_a_number_for_a_name_is_called_a_moment_in_a_sentence():
    said = text("at {} and {}", MomentName("7"), MomentName("7-later"))

    assert "at snapshot 7 and 7-later" == said
    assert ["7", "7-later"] == [name.value for name in said.of(MomentName)]
    assert "7" == MomentName("7")


def test_parts_are_shown_as_something_else_by_what_they_are():
    said = text("before {}", MomentName("before"))

    def show(part: Part) -> Text:
        return MomentName("moment-1") if isinstance(part, MomentName) else part

    assert "before moment-1" == said.shown(show)
    assert GROWS is GROWS.shown(show)


@pytest.mark.parametrize(
    "whole",
    [
        GROWS,
        text("at {}", MomentName("7")),
        Count(3, "place"),
        Count(2, "index", "indices"),
        Text(""),
    ],
)
def test_texts_can_be_pickled(whole):
    copy = pickle.loads(pickle.dumps(whole))  # noqa: S301

    assert whole == copy
    assert kinds(whole) == kinds(copy)
    assert [part.value for part in whole.parts] == [part.value for part in copy.parts]


@pytest.mark.parametrize(
    ("reads", "part"),
    [
        ("41 MiB", Bytes(41.2 * 2**20)),
        ("134 MiB", Bytes(134.3 * 2**20)),
        ("1007 MiB", Bytes(1007 * 2**20)),
        ("1 MiB", Bytes(2**20 - 1)),
        ("1.24 GiB", Bytes(1.24 * 2**30)),
        ("17 B", Bytes(17)),
        ("unknown", Bytes(None)),
        ("\u22123 MiB", BytesChange(-3 << 20)),
        ("+3 MiB", BytesChange(3 << 20)),
        ("0 B", BytesChange(0)),
        ("3 MiB", BytesBy(-3 << 20)),
        ("1.2 MiB/s", Rate(1.24 * 2**20)),
        ("unknown", Rate(None)),
        ("1 s", Seconds(0.9999)),
        ("4 ms", Seconds(0.004)),
        ("5.3 s", Seconds(5.3)),
        ("0 s", Seconds(0)),
        ("22 %", Share(0.2199)),
        ("<1 %", Share(0.003)),
        (">99 %", Share(0.999)),
        ("100 %", Share(1)),
        ("0 %", Share(0)),
        ("12\u202f345", Count(12345)),
        ("1 place", Count(1, "place")),
        ("3 places", Count(3, "place")),
        ("2 indices", Count(2, "index", "indices")),
    ],
)
def test_numbers_read_with_as_few_digits_as_tell_them(reads, part):
    assert reads == part


def test_a_number_is_a_part_by_its_unit():
    units = {
        "B": Bytes,
        "B/s": Rate,
        "s": Seconds,
        "fraction": Share,
        "count": Count,
        "ratio": Words,
    }

    assert units == {unit: type(number(2, unit)) for unit in units}
    assert "1.5" == number(1.5, "ratio")


def test_a_command_stays_whole_in_a_sentence():
    command = Command(text("gomem top {} --cum", File("1/heap")))
    step = pickle.loads(pickle.dumps(text("{} names it.", command)))  # noqa: S301 - our own

    assert "gomem top 1/heap --cum names it." == step.capitalised()
    assert ("1/heap",) == step.of(Command)[0].value.of(File)
    assert Text("ls") == Command("ls").value


def kinds(whole: Text) -> tuple[type, ...]:
    return tuple(map(type, whole.parts))
