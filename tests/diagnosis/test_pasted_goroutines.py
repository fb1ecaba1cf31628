"""Goroutines as people paste them: headers alone, one alone, stacks that are cut."""

import pytest

import gomem
from gomem.analysis.series.goroutine_growth import waiting_in
from gomem.text import Count, Function, Seconds, Text
from gomem.views.report.goroutines import goroutine_bars
from tests.builders import FIXTURES, as_text

HEADERS = (
    "api[311]: goroutine 7 [select, 12 minutes]:\n"
    "api[311]: goroutine 8 [select]:\n"
    "api[311]: goroutine 9 [IO wait, 3 minutes]:\n"
)
LONE = (
    "goroutine 77 [chan receive, 190 minutes]:\nmain.(*pool).next(0xc0000b2000)\n\t/src/pool.go:7"
    " +0x8f\ncreated by main.start\n\t/src/pool.go:3 +0x91\n"
)
POLLED = (
    "internal/poll.runtime_pollWait;internal/poll.(*FD).Read;net.(*netFD).Read;net.(*conn).Read"
)


def diagnosed(folder, text):
    path = folder / "pasted.txt"
    path.write_text(text)
    return gomem.diagnose(path)


def values(found, kind):
    return [part.value for part in Text(found.verdict.sentence).of(kind)]


def test_headers_behind_a_name_are_counted_by_state(tmp_path):
    found = diagnosed(tmp_path, HEADERS)

    assert [3, 2, 1] == values(found, Count)
    assert [720.0] == values(found, Seconds)
    assert [] == values(found, Function)
    assert goroutine_bars(found, "heap") is None


def test_how_long_a_lone_goroutine_waits_is_in_the_headline(tmp_path):
    found = diagnosed(tmp_path, LONE)

    assert [190 * 60.0] == values(found, Seconds)
    assert ["main.(*pool).next", "main.start"] == values(found, Function)


@pytest.mark.parametrize(
    ("stack", "function"),
    [
        (
            f"{POLLED};net/http.(*connReader).Read;bufio.(*Reader).fill",
            "net/http.(*connReader).Read",
        ),
        (
            f"{POLLED};crypto/tls.(*Conn).Read;net/http.(*persistConn).Read;bufio.(*Reader).Peek",
            "net/http.(*persistConn).Read",
        ),
        (f"{POLLED};crypto/tls.(*Conn).Read;io.ReadAtLeast;main.fetch", "main.fetch"),
        (f"{POLLED};net/http.(*connReader).Read;net/http.(*conn).serve", "net/http.(*conn).serve"),
        (f"{POLLED};crypto/tls.(*Conn).readRecord", "crypto/tls.(*Conn).readRecord"),
    ],
)
def test_what_any_connection_waits_in_is_passed_over(stack, function):
    assert function == waiting_in(stack)


@pytest.mark.parametrize(
    ("function", "said"),
    [("net/http.(*connReader).Read", "server"), ("net/http.(*persistConn).readLoop", "client")],
)
def test_whose_connection_it_is_is_said(tmp_path, function, said):
    dump = f"goroutine 7 [IO wait]:\nnet.(*conn).Read(0x1)\n\t/go/net.go:7 +0x1\n{function}(0x1)\n"

    assert said in diagnosed(tmp_path, f"{dump}\t/go/http.go:7 +0x1\n").verdict.sentence


HEADS = FIXTURES / "pasted" / "forms" / "goroutine-heads.txt"


def test_ages_in_even_steps_are_a_leak_of_what_runs_then():
    found = gomem.diagnose(HEADS)

    (leak,) = [finding for finding in found.findings if finding.code == "goroutine-leak"]
    assert "24 of 29 were started, 2 every 5 minutes" in leak.title
    assert "possible" == leak.confidence


@pytest.mark.parametrize(
    ("old", "new"), [("[select", "[IO wait"), (", 5 minutes", ", 9 minutes"), ("minutes", "weeks")]
)
def test_ages_that_are_in_no_even_steps_are_none(tmp_path, old, new):
    (tmp_path / "heads.txt").write_text(HEADS.read_text().replace(old, new))

    found = gomem.diagnose(tmp_path / "heads.txt")

    assert "goroutine-leak" not in {finding.code for finding in found.findings}


def test_an_age_is_rounded_down_and_states_of_a_group_are_all_named(tmp_path):
    (tmp_path / "heads.txt").write_text(HEADS.read_text().replace("61 minutes", "5692 minutes"))

    found = gomem.diagnose(tmp_path / "heads.txt")

    assert "3.9 d" in found.verdict.sentence
    shown = as_text(found)
    assert "26 select, 1 IO wait" in shown


# Folded dumps, and stacks that overflow


def test_a_record_that_stands_for_many_counts_them():
    capture = gomem.load(FIXTURES / "pasted" / "forms" / "goroutines-folded.txt")
    verdict = gomem.diagnose(capture).verdict

    assert "615 goroutines; 601 wait in main.(*queue).next" in f"{verdict.sentence}"
    assert not capture.damaged


def test_counts_by_state_beside_stacks_are_told_as_not_read(tmp_path):
    folded = (FIXTURES / "pasted" / "forms" / "goroutines-folded.txt").read_text()
    counts, _, stacks = folded.partition("\n\n")

    ticket = "\n".join(("```", counts, "```", "```", stacks + "```\n"))

    said = f"{diagnosed(tmp_path, ticket).verdict.further}"
    assert "counts of 617 goroutines by their state: 601 in chan receive, 14 in select" in said


@pytest.mark.parametrize("release", ["go1.19.13", "go1.27.3"])
def test_a_stack_overflow_names_the_cycle(release):
    path = FIXTURES / "pasted" / "goroutines" / f"{release}-overflow.txt"
    verdict = gomem.diagnose(path).verdict

    assert "reached its limit of 954 MiB" in f"{verdict.sentence}"
    assert "main.writeAll" in f"{verdict.sentence}"
    assert "call each other without end" in f"{verdict.sentence}"
    assert "debug/pprof" not in f"{verdict.next_step}"
