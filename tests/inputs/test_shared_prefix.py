"""What most lines begin with in one shape is no part of them, whoever writes it."""

import pytest

from gomem.inputs.wrappers import PREFIXES, shared_prefix


def stripped(*lines):
    prefix = shared_prefix([line.encode() for line in lines])
    return None if prefix is None else [prefix.sub(b"", line.encode()).decode() for line in lines]


@pytest.mark.parametrize(
    "prefix",
    [
        "[node-{n}] app INFO 7f3a: ",
        "2026.11.20 03:53:4{n} <worker {n}> ",
        "pod-7d9f-{n} | ",
        "app{n}\t",
    ],
)
def test_numbers_may_differ_and_words_may_not(prefix):
    lines = ["one line", "another", "and a third"]

    found = stripped(*(prefix.format(n=n) + line for n, line in enumerate(lines)))

    assert lines == found


def test_lines_without_it_stay_as_they_are():
    assert ["a: b", "x", "y", "z"] == stripped("a: b", "app 1: x", "app 2: y", "app 3: z")


@pytest.mark.parametrize(
    "lines",
    [
        ("app 1: x", "app 2: y"),
        ("> x", "> y", "> z"),
        ("one: x", "two: y", "three: z"),
        ("x", "y", "z"),
        (),
    ],
)
def test_few_lines_quotes_and_different_words_are_no_prefix(lines):
    assert stripped(*lines) is None


@pytest.mark.parametrize(
    ("name", "line", "rest"),
    [
        ("compose", "shop_api.1.q8zk2l9xv0a3@node-7    | gc 1", "gc 1"),
        ("compose", "api-1  |", ""),
        ("talos", "10.5.0.2: kern:    info: [2026-11-20T03:53:49.470512345Z]: gc 1", "gc 1"),
    ],
)
def test_names_of_tasks_and_talos_are_prefixes(name, line, rest):
    assert rest == PREFIXES[name].sub(b"", line.encode()).decode()
