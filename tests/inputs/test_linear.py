"""A run of one character, wherever it stands in a text, costs what it takes to read it.

A pattern of two repeats side by side reads a run again from each of its characters: 32 KB of
blanks took minutes.
"""

import time
import zlib

import pytest

from gomem.errors import FormatError
from gomem.inputs.kinds import kind_of
from gomem.inputs.memstats.in_words import lines_in_words
from gomem.inputs.read import read_artefact
from gomem.inputs.runtime_lines.quantities import quantity_of, unit_of_memory
from gomem.sources.artefact import open_source
from tests.builders import FIXTURES

CHARACTERS = (b" ", b"\t", b"\n", b"-", b"(", b"9", b"a", b".", b"|", b"`", b">", b"[", b"=")
SHORT, LONG = 4_000, 16_000  # of a character
TIMES_AS_LONG, NOISE_SECONDS = 8, 0.4  # a run read again from each character takes 16 times
LOOKED_AT = 4_000  # bytes of a text
PASTED = FIXTURES / "pasted"
TEXTS = sorted(path for path in PASTED.rglob("*") if path.is_file() and path.name != "README.md")


def seconds_of(data, name):
    """The CPU time that it takes to know what a text is, and to read it."""
    begin = time.process_time()
    kind = kind_of(data, name)
    if kind is not None:
        try:
            read = read_artefact(kind, open_source(data, name=name))
        except FormatError:
            pass
        else:
            assert all(getattr(read, frame) is not None for frame in kind.frames)
    return time.process_time() - begin


@pytest.mark.at_most(5)
@pytest.mark.parametrize("path", TEXTS, ids=lambda path: str(path.relative_to(PASTED)))
def test_a_run_of_a_character_is_read_once(path):
    """
    Each character in a place of its own, which is the same in every run of this test.
    """
    whole = open_source(path).data[:LOOKED_AT]
    seconds_of(whole, path.name)  # patterns are compiled when they are first used

    for character in CHARACTERS:
        place = zlib.crc32(path.name.encode() + character) % (len(whole) + 1)
        short, long = (
            seconds_of(whole[:place] + character * length + whole[place:], path.name)
            for length in (SHORT, LONG)
        )
        assert long <= TIMES_AS_LONG * short + NOISE_SECONDS, (character, place, short, long)


@pytest.mark.parametrize("character", [" ", "_", "a"])
def test_a_name_of_a_column_is_read_once(character):
    each = []
    for length in (SHORT, LONG):
        begin = time.process_time()
        assert ("", None) == quantity_of(f"rss{character * length}rss")
        assert (False, None) == unit_of_memory(f"rss{character * length}rss")
        each.append(time.process_time() - begin)

    assert each[1] <= TIMES_AS_LONG * each[0] + NOISE_SECONDS


BY_DOCKER = b'{"Container":"c%d","MemUsage":"1.838GiB / 2GiB","Name":"api-%d","PIDs":"1"}\n'
BY_MONIT = (
    b"Process 'api%d'\n  pid   %d\n  memory kilobytes   9420\n"
    + 4 * b"  port response time   0.001s to localhost:80 type TCP/IP\n"
    + b"\n"
)
IN_WORDS = b"09:00 Alloc = %d MiB Sys = 20 MiB NumGC = %d\n"
BY_API = b'{"metadata":{"name":"api-%d"},"containers":[{"name":"c%d","usage":{"memory":"99Ki"}}]},'


def test_the_lines_of_dumps_in_words_are_counted_once():
    """
    Those of a ticket: what else stands in it is looked at.
    """
    each = []
    for dumps in (SHORT, LONG):
        text = b"".join(IN_WORDS % (number % 90, number) for number in range(dumps))
        begin = time.process_time()
        assert set(range(1, dumps + 1)) == lines_in_words(text)
        each.append(time.process_time() - begin)

    assert each[1] <= TIMES_AS_LONG * each[0] + NOISE_SECONDS


@pytest.mark.parametrize(
    ("head", "row"),
    [
        pytest.param(b"", BY_DOCKER, id="docker stats"),
        pytest.param(b"", BY_MONIT, id="monit"),
        pytest.param(b'{"kind":"PodMetricsList","items":[', BY_API, id="the metrics API"),
    ],
)
def test_the_lines_above_a_row_are_counted_once(head, row):
    short, long = (
        head + b"".join(row % (number, number) for number in range(rows)) for rows in (SHORT, LONG)
    )
    assert kind_of(short, "rows.txt").name == kind_of(long, "rows.txt").name == "processes"

    seconds_of(short, "rows.txt")
    assert seconds_of(long, "rows.txt") <= (
        TIMES_AS_LONG * seconds_of(short, "rows.txt") + NOISE_SECONDS
    )
