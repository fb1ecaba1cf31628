"""Rows of different PIDs in one text are different processes, and make no trend."""

from types import SimpleNamespace

import pytest

import gomem
from gomem.capture.runs import OtherRun
from gomem.diagnosis.other_runs import other_runs_words
from gomem.text import Bytes, Program, Text
from gomem.units import KIB, MIB
from tests.builders import FIXTURES

KERNEL, FORMS = FIXTURES / "pasted/kernel", FIXTURES / "pasted/forms"
HEAD, *ROWS = (KERNEL / "ps-aux.txt").read_text().splitlines()
SMALL, LARGE = (next(row for row in ROWS if f" {pid} " in row[:18]) for pid in (2, 4))
TOP = next(row for row in (KERNEL / "top-b.txt").read_text().splitlines() if row[:8] == "      4 ")
COMPARED = "After two days:\n\n{}\n\nFor comparison, one that has just been started:\n\n{}\n"


def diagnosed(tmp_path, text):
    (tmp_path / "ticket.md").write_text(text)
    return gomem.diagnose(tmp_path / "ticket.md")


def said(verdict):
    return " ".join((verdict.headline, verdict.second, *verdict.whose))


@pytest.mark.parametrize("first", [LARGE, SMALL], ids=["large", "small"])
@pytest.mark.parametrize("form", ["{}", "```\n" + HEAD + "\n{}\n```"], ids=["bare", "fenced"])
def test_rows_of_two_pids_are_two_processes(tmp_path, first, form):
    second = SMALL if first is LARGE else LARGE
    found = diagnosed(tmp_path, COMPARED.format(form.format(first), form.format(second)))

    assert 1 == len(found.moments)
    assert 23448 * KIB == found.verdict.rss_bytes
    assert () == found.changes
    assert not any(word in said(found.verdict) for word in ("grew", "fell", "since"))
    (other,) = found.capture.other_runs
    assert (("held", 2), 6716 * KIB) == (other.process, other.last_bytes)
    (told,) = (words for words in found.verdict.whose if "another process" in words)
    assert "PID 2)" in told
    assert ["held"] == [part.value for part in Text(told).of(Program)]
    assert [6716 * KIB] == [part.value for part in Text(told).of(Bytes)]
    assert "gomem compare" not in found.verdict.next_step


def test_one_pid_at_two_times_is_a_series(tmp_path):
    found = diagnosed(tmp_path, COMPARED.format(LARGE, LARGE.replace("23448", "93448")))

    assert [23448 * KIB, 93448 * KIB] == [facts.rss_bytes for facts in found.moments]
    assert () == found.capture.other_runs
    assert "grew" in found.verdict.headline


def test_readings_of_a_process_are_a_series_beside_one_of_another(tmp_path):
    """
    The process with the most readings is in question, though another is larger.
    """
    text = COMPARED.format(SMALL, SMALL.replace(" 6716 ", " 8716 ")) + f"\nAnd:\n\n{LARGE}\n"
    found = diagnosed(tmp_path, text)

    assert [6716 * KIB, 8716 * KIB] == [facts.rss_bytes for facts in found.moments]
    assert [("held", 4)] == [run.process for run in found.capture.other_runs]


def test_earlier_readings_beside_another_paste_are_said(tmp_path):
    stack = "```\ngoroutine 7 [chan receive]:\nmain.wait()\n\t/app/main.go:9 +0x20\n```\n"
    text = COMPARED.format(LARGE, LARGE.replace("23448", "93448")) + stack
    found = diagnosed(tmp_path, text)

    assert 93448 * KIB == found.verdict.rss_bytes
    assert 23448 * KIB in [part.value for part in Text(said(found.verdict)).of(Bytes)] or (
        "grew" in said(found.verdict)
    )


def test_a_row_of_top_in_another_order_of_columns_is_read_between_sentences(tmp_path):
    pid, user, pr, ni, virt, res, _shr, state, cpu, mem, time, name = TOP.split()
    row = f"{pid} {user} {pr} {ni} {virt} {{}} {cpu} {mem} {time} {state} {name}"
    text = f"It is large:\n\n{row.format(res)}\n\nAbout 20h later:\n\n{row.format('1.097g')}\n"
    found = diagnosed(tmp_path, text)

    assert [23448 * KIB, int(1.097 * 2**30)] == [facts.rss_bytes for facts in found.moments]
    assert {"top"} == set(found.capture.processes["tool"])


def test_busyboxs_view_of_memory_has_rss_of_each_process():
    found = gomem.diagnose(FORMS / "busybox-top-m.txt")

    assert [23448 * KIB, 140 * MIB] == [facts.rss_bytes for facts in found.moments]
    assert {"top"} == set(found.capture.processes["tool"])
    assert 5 == len(found.capture.processes)
    assert () == found.capture.damaged


def test_a_process_that_all_listings_have_is_the_one_told_beside_a_larger_one(tmp_path):
    """
    The larger one is not in the first listing, so its size is no growth of that.
    """
    first, last = LARGE, LARGE.replace("23448", "13448")
    larger = SMALL.replace(" 6716 ", " 96716 ")
    fence = "```\n" + HEAD + "\n{}\n```\n"
    text = f"At first:\n{fence.format(first)}\nLater:\n{fence.format(last + chr(10) + larger)}"
    found = diagnosed(tmp_path, text)

    assert [23448 * KIB, 13448 * KIB] == [facts.rss_bytes for facts in found.moments]
    assert {4} == {facts.listed.pid for facts in found.moments}


def test_tables_of_two_pids_in_a_folder_are_no_trend(tmp_path):
    for name, rows in (("1-before", (SMALL,)), ("2-after", (LARGE,))):
        (tmp_path / name).mkdir()
        (tmp_path / name / "ps.txt").write_text("\n".join((HEAD, *rows)) + "\n")
    found = gomem.diagnose(tmp_path)

    assert 1 == sum(facts.rss_bytes is not None for facts in found.moments)
    assert "grew" not in found.verdict.sentence


def test_what_date_prints_stands_before_a_row(tmp_path):
    date = "Thu Nov 20 15:{}:53 UTC 2025 "
    rows = (date.format(58) + LARGE, date.format(59) + LARGE.replace("23448", "23548"))
    found = diagnosed(tmp_path, "Here is the growth rate.\n\n" + "\n".join(rows) + "\n")

    assert [23448 * KIB, 23548 * KIB] == [facts.rss_bytes for facts in found.moments]


def test_a_program_that_is_no_go_gets_no_advice_for_go(tmp_path):
    row = LARGE.replace("/app/held/held keep 20 /app/held/data", "node server.js")
    verdict = diagnosed(tmp_path, f"{row}\n").verdict

    assert "node is not a Go program" in verdict.next_step
    assert "expvar" not in verdict.next_step


def test_one_earlier_reading_beside_other_files_is_a_size_and_no_change():
    """
    "went from 255 MiB to 255 MiB" was the reading before the last, twice.
    """
    run = OtherRun("rss", ("line 2", "line 2"), 1, "RSS", 255 * MIB, 255 * MIB, True)
    files = tuple(SimpleNamespace(source=SimpleNamespace(text_name=name)) for name in ("rss", "a"))

    words = other_runs_words(SimpleNamespace(other_runs=(run,), files=files))

    assert "rss has an earlier reading, with RSS 255 MiB." == words


def test_a_table_of_other_pods_has_the_label_above_it(tmp_path):
    head = "NAME   CPU(cores)   MEMORY(bytes)\n"
    (tmp_path / "a.md").write_text(
        f"v1.7.0:\n```\n{head}web-6f-crn7   25m   26Mi\n```\n\n"
        f"v1.8.0:\n```\n{head}web-54-qqsz   14m   258Mi\n```\n"
    )

    words = " ".join(gomem.diagnose(tmp_path / "a.md").verdict.whose)

    assert "(v1.7.0) is of the pod web-6f-crn7, at 26 MiB working set" in words
