"""Goroutines that tests list: what ends one, and what the end of a text cuts."""

import pytest

import gomem
from gomem.inputs.goroutines.table import read_goroutines

LEAKTEST = (
    "    leaktest.go:144: leaktest: leaked goroutine: goroutine 91 [chan receive]:\n"
    "        a.org/q.NewMock.func1(0xc0000fe000)\n"
    "        \t/home/me/q/mock.go:69 +0x72\n"
    "        created by a.org/q.NewMock\n"
    "        \t/home/me/q/mock.go:68 +0x12a\n"
)
GOLEAK = (
    "found unexpected goroutines:\n"
    "[Goroutine 52 in state chan send, with a.org/q.run on top of the stack:\n"
    "a.org/q.run()\n\t/home/me/q/run.go:14 +0x9f\n"
    "created by a.org/q.start in goroutine 1\n\t/home/me/q/run.go:8 +0x8d\n"
)


def test_a_goroutine_whose_creator_is_there_is_whole_whatever_follows():
    found = read_goroutines((LEAKTEST + "--- FAIL: TestOfQueue (5.01s)\n").encode())

    assert () == found.damaged
    assert [1] == list(found.goroutines["goroutines"])
    assert ["a.org/q.NewMock.func1"] == list(found.goroutines["stack"])


def test_a_header_that_is_cut_counts_and_the_cut_is_named():
    cut = "Goroutine 243 in state chan send, with a.org/q.ru"

    found = read_goroutines((GOLEAK + cut).encode())

    assert 2 == found.goroutines["goroutines"].sum()
    assert ["last goroutine is cut" in fault.what for fault in found.damaged] == [True]


@pytest.mark.parametrize(
    "cut",
    [
        "a.org/q.(*Pool).run on top",
        "a.org/q.(*Pool).run on top of the stack:",
        "a.org/q.(*Pool).run on top of the stack:\n",
        "a.org/q.(*Pool).run on top of the stack:\na.org/q.(*Po",
        "a.org/q.(*Pool).run on top of the stack:\na.org/q.(*Pool).run(0xc0000fe000, {0x2b1",
    ],
)
def test_the_header_of_a_goroutine_whose_frames_are_cut_says_where_it_is(cut):
    found = read_goroutines((GOLEAK + f" Goroutine 243 in state select, with {cut}").encode())

    assert ["a.org/q.run", "a.org/q.(*Pool).run"] == list(found.goroutines["stack"])
    assert ["last goroutine is cut" in fault.what for fault in found.damaged] == [True]


def test_a_goroutine_that_is_cut_takes_no_creator_from_the_others(tmp_path):
    cut = GOLEAK + GOLEAK.partition("\n")[2].replace("[Goroutine 52", " Goroutine 53")
    (tmp_path / "leak.txt").write_text(cut[: cut.rindex("created by")])

    (group,) = gomem.diagnose(tmp_path / "leak.txt").facts.goroutine_groups.itertuples()

    assert (2, "a.org/q.start") == (group.goroutines, group.created_by)


@pytest.mark.parametrize(
    "before", ["[AfterSuite] [FAILED] [6.4 seconds]\n\n  ", "[FAILED] Error:\n"]
)
def test_a_word_in_brackets_above_is_no_json(tmp_path, before):
    (tmp_path / "suite.log").write_text(before + GOLEAK)

    (group,) = gomem.diagnose(tmp_path / "suite.log").facts.goroutine_groups.itertuples()

    assert (1, "a.org/q.run") == (group.goroutines, group.function)


STACK = (
    "goroutine 712 [IO wait]:",
    "net.runtime_pollWait(0x2b17d0, 0x72)",
    "\t/go/src/runtime/netpoll.go:160 +0x55",
    "a.org/q.(*conn).read(0xc82010c0f0)",
    "\t/home/me/q/conn.go:72 +0x7e",
    "created by a.org/q.dial",
    "\t/home/me/q/conn.go:31 +0x12a",
)


@pytest.mark.parametrize(("first", "rest"), [("\t", "\t\t"), ("    ", "        "), ("", "\t")])
@pytest.mark.parametrize(
    "said",
    [
        "verify.go:91: Found leaked goroutine: Goroutine 712 in state IO wait:",
        "verify.go:91: left over:",
    ],
)
def test_a_stack_that_t_errorf_indents_more_than_its_first_line(first, rest, said):
    lines = ["--- FAIL: TestDial (0.02s)", first + said, *(rest + line for line in STACK)]

    found = read_goroutines("\n".join([*lines, "FAIL", ""]).encode())

    assert () == found.damaged
    assert ["net.runtime_pollWait;a.org/q.(*conn).read"] == list(found.goroutines["stack"])
    assert ["a.org/q.dial"] == list(found.goroutines["created_by"])
