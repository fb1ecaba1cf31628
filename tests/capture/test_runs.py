"""Readings of two processes in one text are two runs: the last is told, and the other by itself."""

import json

import pytest

from gomem.capture.load import load
from gomem.capture.runs import GOROUTINES
from gomem.diagnosis.diagnosis import diagnose
from gomem.diagnosis.other_runs import other_runs_words
from gomem.units import MIB
from tests.builders import FIXTURES

PASTED = FIXTURES / "pasted" / "memstats-in-words"
EXACT = [json.loads(line) for line in (PASTED / "exact.jsonl").read_text().splitlines()]
USAGE = (PASTED / "print-mem-usage.log").read_text()
COMPARE = "gomem compare FIRST LAST"
PROFILE = """Type: inuse_space
Showing nodes accounting for 87.12MB, 100% of 87.12MB total
      flat  flat%   sum%        cum   cum%
   87.12MB   100%   100%    87.12MB   100%  harbour.example/quay.(*Table).Moor
         0     0%   100%    87.12MB   100%  main.main
"""


def loaded(tmp_path, text, name="ticket.txt"):
    (tmp_path / name).write_text(text)
    return load(tmp_path / name)


def test_what_counts_on_and_falls_begins_another_run(tmp_path):
    text = f"Before my change:\n\n{USAGE}\nand after it, on the same machine:\n\n{USAGE}"

    capture = loaded(tmp_path, text)

    assert 3 == len(capture)
    assert [16 * MIB, 32 * MIB, 48 * MIB] == capture.levels["HeapAlloc"].to_list()
    (other,) = capture.other_runs
    assert (3, "HeapAlloc", 16 * MIB, 48 * MIB) == (
        other.readings, other.level, other.first_bytes, other.last_bytes
    )  # fmt: skip
    assert ("line 3", "line 5") == other.places


def test_the_verdict_tells_the_other_run_apart_and_how_to_compare_them(tmp_path):
    (tmp_path / "ticket.txt").write_text(f"{USAGE}\nand on the newer release:\n\n{USAGE}")

    verdict = diagnose(tmp_path / "ticket.txt").verdict

    assert "HeapAlloc went from 16 MiB" in verdict.sentence
    said = "Lines 1 to 3 are of another process: its HeapAlloc went from 16 MiB to 48 MiB"
    assert any(sentence.startswith(said) for sentence in verdict.whose)
    assert COMPARE in verdict.next_step


def test_one_run_is_not_divided_and_says_nothing_of_others(tmp_path):
    capture = loaded(tmp_path, USAGE)

    assert () == capture.other_runs
    assert COMPARE not in diagnose(tmp_path / "ticket.txt").verdict.next_step


def test_a_log_whose_newest_line_is_first_is_one_run(tmp_path):
    capture = loaded(tmp_path, "\n".join(reversed(USAGE.splitlines())) + "\n")

    assert () == capture.other_runs
    assert 3 == len(capture)


def test_without_counts_a_fall_of_what_go_took_from_the_system_tells_it(tmp_path):
    rows = [{name: dump[name] for name in ("HeapAlloc", "HeapInuse", "Sys")} for dump in EXACT]
    words = [" ".join(f"{name}={size}" for name, size in row.items()) for row in rows]

    capture = loaded(tmp_path, "\n".join([*words, words[0]]) + "\n")

    assert [EXACT[0]["HeapAlloc"]] == capture.levels["HeapAlloc"].to_list()
    assert [3] == [run.readings for run in capture.other_runs]


def test_rows_of_a_table_are_of_a_process_each_unless_their_first_column_is_a_time(tmp_path):
    def table(heading, *labels):
        names = ("Sys", "HeapInuse", "HeapIdle", "HeapAlloc")
        head = "|".join(("", heading, *(f"`{name}`" for name in names), ""))
        rows = [
            "|".join(("", label, *(f" {dump[name] / MIB:.1f} MiB " for name in names), ""))
            for label, dump in zip(labels, EXACT, strict=True)
        ]
        return "\n".join([head, "|---|---:|---:|---:|---:|", *rows]) + "\n"

    nodes = loaded(tmp_path, table(" Node ", "a", "b", "c"))
    times = loaded(tmp_path, table(" time ", "1m", "2m", "3m"))

    assert (1, 2) == (len(nodes), len(nodes.other_runs))
    assert (3, 0) == (len(times), len(times.other_runs))
    assert EXACT[2]["HeapInuse"] == pytest.approx(nodes.levels["HeapInuse"].iloc[-1], abs=MIB / 10)


def test_a_run_whose_size_swings_has_a_range_and_no_trend(tmp_path):
    swings = "".join(
        f"Alloc = {size} MiB TotalAlloc = {90 + 60 * at} MiB Sys = 200 MiB NumGC = {at + 2}\n"
        for at, size in enumerate((20, 80, 30, 80))
    )
    (tmp_path / "ticket.txt").write_text(f"{swings}\nand on the newer release:\n\n{USAGE}")

    verdict = diagnose(tmp_path / "ticket.txt").verdict

    said = "Lines 1 to 4 are of another process: its HeapAlloc moved between 20 MiB and 80 MiB in"
    assert any(sentence.startswith(said) for sentence in verdict.whose), verdict.whose


@pytest.mark.parametrize(("above", "below"), [("Without the fix", "With the fix"), ("Old", "new:")])
def test_a_sentence_on_another_build_between_two_series_sets_them_apart(above, below, tmp_path):
    def series(*counts):
        return "\n".join(["```", *(f"num goroutines: {count}" for count in counts), "```\n"])

    text = f"{above}:\n\n{series(6, 8, 10)}\n{below}\n\n{series(8, 8, 6)}"
    capture = loaded(tmp_path, text)
    short = loaded(tmp_path, text.replace("num goroutines: 8\nnum goroutines: 6\n", ""))
    later = loaded(tmp_path, text.replace(below, "An hour later:"))
    log = loaded(tmp_path, text.replace("```", "").replace(below, "Connected with a peer"))

    (run,) = capture.other_runs
    assert (above, GOROUTINES, 6, 10, 3) == (
        run.said, run.level, run.first_bytes, run.last_bytes, run.readings
    )  # fmt: skip
    assert [8, 8, 6] == [count.goroutines for count in diagnose(capture).facts.goroutine_counts]
    assert () == short.other_runs == later.other_runs == log.other_runs


LISTED = """
  PID USER     %CPU %MEM    VSZ   RSS     ELAPSED COMMAND
  812 root      2.0  0.7 1799836 185892     00:14 bin/harbour
  812 root      2.0  0.7 1799836 187176     01:39 bin/harbour
"""
FULL = "".join(f"# {name} = {size}\n" for name, size in EXACT[1].items() if type(size) is int)


def logged(*counts):
    """A log, a reading in ten seconds, whose heap is high in the middle."""
    sizes = [40, 150, *(40 for _ in counts[2:])]
    return "".join(
        f"2026/11/28 10:12:{at}0 HeapAlloc={size}MB HeapIdle=45MB HeapReleased=7MB NumGC={count}\n"
        for at, (size, count) in enumerate(zip(sizes, counts, strict=True))
    )


def test_a_log_is_told_beside_a_fuller_reading_and_two_listings(tmp_path):
    last = EXACT[1]["NumGC"]
    text = "The pods of the harbour keep their memory.\n\n{}\nFrom heap?debug=1:\n\n{}{}"

    (tmp_path / "ticket.txt").write_text(text.format(logged(0, last, last), FULL, LISTED))

    said = "Before that, lines 3 to 5 have 3 earlier readings: HeapAlloc moved between 40 MiB and 1"
    assert any(words.startswith(said) for words in diagnose(tmp_path / "ticket.txt").verdict.whose)


def test_a_full_reading_below_a_log_can_be_older_than_its_end(tmp_path):
    last = EXACT[1]["NumGC"]
    log = logged(0, last, last, last + 1)
    table = "Time: 2026-11-28 10:12:25 UTC\n" + PROFILE
    text = f"The pods of the harbour keep their memory.\n\n{log}\nFrom heap?debug=1:\n\n{FULL}"

    capture = loaded(tmp_path, f"{text}\n{table}{LISTED}")
    run, _ = capture.other_runs
    unknown, _ = loaded(tmp_path, f"{text}{LISTED}", "other.txt").other_runs

    assert (True, False, 4) == (run.is_same_process, run.is_earlier, run.readings)
    assert not unknown.is_same_process
    assert "Lines 3 to 6 have 4 other readings" in str(other_runs_words(capture))
