"""JSON as programs dump it: every value with its line, and what is none with its line too."""

import json
import time

import pytest

from gomem.inputs.json_text import (
    INTEGER_DIGITS,
    describe_json,
    first_value,
    is_json,
    is_json_alone,
    json_values,
    what_json_holds,
    whole_number,
)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("7", 7),
        ("9" * INTEGER_DIGITS, int("9" * INTEGER_DIGITS)),
        ("-" + "1" * INTEGER_DIGITS, float("-" + "1" * INTEGER_DIGITS)),
        ("9" * 400, float("inf")),
    ],
)
def test_an_integer_longer_than_300_digits_is_a_float(text, value):
    found = whole_number(text)

    assert (300, type(value), value) == (INTEGER_DIGITS, type(found), found)


@pytest.mark.parametrize(
    ("data", "is_one"), [(b' \n{"a"', True), (b"[1", True), (b"7", False), (b'"a"', False)]
)
def test_json_begins_with_an_object_or_an_array(data, is_one):
    assert is_one == is_json(data)


@pytest.mark.parametrize(
    ("data", "first"),
    [
        (b'{"a": 1} rest', (True, {"a": 1})),
        (b'[{"a": 1}, 2]', (True, {"a": 1})),
        (b"[]", (True, [])),
        (b'\xef\xbb\xbf {"a": 1}', (True, {"a": 1})),
        (b"\n[2, 3", (False, None)),
        (b"[" * 100_000, (False, None)),
        (b"plain", (True, None)),
    ],
)
def test_the_first_value_is_the_first_item_of_an_array(data, first):
    if data.startswith(b"\xef"):
        assert (True, None) == first_value(data)  # no JSON by its first byte: whoever asks strips
    else:
        assert first == first_value(data)


@pytest.mark.parametrize(
    ("text", "values", "damage"),
    [
        ("", [], []),
        (' {"a": 1},\n\t[2]\r\n\0 3 ', [("line 1", {"a": 1}), ("line 2", [2]), ("line 3", 3)], []),
        ('{"a":\n1}\n{"b": 2}', [("line 1", {"a": 1}), ("line 3", {"b": 2})], []),
        ("\ufeff[1]", [("line 1", [1])], []),
        ("1\nnot\n2\nno", [("line 1", 1), ("line 3", 2)], [("line 2", "not"), ("line 4", "no")]),
        ('[1]\n{"cut', [("line 1", [1])], [("line 2", '{"cut')]),
        ("x" * 300, [], [("line 1", "x" * 200)]),
    ],
)
def test_every_value_has_its_line_and_what_is_none_is_damage(text, values, damage):
    found, told = json_values(text.encode(), "a.json")

    assert values == found
    assert [where for where, _ in damage] == [one.where for one in told]
    assert all(one.text[:50] == text[:50] for one, (_, text) in zip(told, damage, strict=True))
    assert all("the text may be cut" in one.what for one in told)


def test_what_is_nested_too_deeply_is_damage_and_the_next_line_is_read():
    values, damage = json_values(b"[" * 100_000 + b"\n7", "a.json")

    assert [("line 2", 7)] == values
    assert ["cannot be read as JSON: nested too deeply; the text may be cut"] == [
        one.what for one in damage
    ]


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([1, {"a": 1, "b": 2, "c": 3, "d": 4, "e": 5}], "found the keys a, b, c, d; wanted x, y"),
        ([{"k" * 50: 1}], f"found the keys {'k' * 40}; wanted x, y"),
        ([{}], "found the keys (none); wanted x, y"),
        ([[1], 2], "found list; wanted an object with x, y"),
        ([], "found nothing; wanted an object with x, y"),
    ],
)
def test_a_message_names_the_keys_of_the_first_object(values, said):
    assert said == describe_json([("line 1", value) for value in values], {"y", "x"})


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b'{"a": 1, "b": 2, "c": 3, "d": 4, "e": 5}', "JSON with the keys a, b, c, d"),
        (b"{}", "JSON with the keys (none)"),
        (f'{{"{"k" * 50}": 1}}'.encode(), f"JSON with the keys {'k' * 40}"),
        (b"[1]", "JSON holding a list"),
        (b"{1}", "text that begins like JSON and is not: Expecting property name enclosed"),
        (b"[" * 100_000, "text that begins like JSON and is not: nested too deeply"),
    ],
)
def test_what_json_holds_in_words(data, said):
    assert what_json_holds(data).startswith(said)


def test_broken_lines_cost_what_they_are_long():
    """
    Python counts the lines before an error each time: 16 times the lines cost 256 times as much.
    """

    def seconds(lines):
        before = time.process_time()
        json_values(b'{"a": 1}\n' + b"{x\n" * lines, "dumps.json")
        return time.process_time() - before

    assert seconds(32_000) < 40 * max(seconds(2_000), 0.02)


def test_of_many_broken_places_the_first_are_told_each_and_the_rest_as_one():
    values, damage = json_values(b'{"a": 1}\n' + b"{x\n" * 5_000 + b'{"b": 2}', "dumps.json")

    assert [{"a": 1}, {"b": 2}] == [value for _, value in values]
    assert 1_001 == len(damage)
    assert "4000 more places cannot be read as JSON" == damage[-1].what


@pytest.mark.parametrize("indent", [None, 1])
def test_a_value_longer_than_the_first_piece_is_read_whole(indent):
    values = [{"sizes": [{"text": "x" * 700, "size": at} for at in range(100)]}, "y" * 40_000, 7]
    text = "\n".join(json.dumps(value, indent=indent) for value in values)

    read, damage = json_values(text.encode(), "dumps.json")

    assert (values, []) == ([value for _, value in read], damage)


def test_a_key_that_stands_twice_is_damage_and_the_last_counts():
    data = b'{"a": 1}\n{"a": 1, "b": {"c": 2, "c": 3, "c": 4}, "a": 5}\n{"a": 7}'

    values, damage = json_values(data, "m.json")

    assert [{"a": 1}, {"a": 5, "b": {"c": 4}}, {"a": 7}] == [value for _, value in values]
    assert [("line 2", "c"), ("line 2", "a")] == [(one.where, one.what.parts[0]) for one in damage]


def test_a_key_that_stands_twice_in_a_long_value_is_told_once():
    data = json.dumps({"a": 1, "long": "x" * 100_000}).encode().replace(b"{", b'{"a": 0, ')

    values, damage = json_values(data, "m.json")

    assert 1 == len(values)
    assert ["a stands more than once"] == [str(one.what).partition(":")[0] for one in damage]


@pytest.mark.parametrize(
    ("text", "alone"),
    [
        ('{"a": 1}', True),
        ('{"a": 1}\n{"b": 2}\n', True),
        ('{"a": 1}\n{"b": ', True),  # cut
        ('{"a": 1}\n\nAlloc = 5 MiB\n', False),
        ('{"a": 1}\n[12.345678] oom-kill: it\n', False),
        ("Alloc = 5 MiB\n", False),
    ],
)
def test_json_that_goes_on_with_other_text_is_not_alone(text, alone):
    assert alone == is_json_alone(text.encode())
