"""A stack that a person abridged stands for the goroutines that the text counts in its state."""

import pytest

import gomem
from gomem.inputs.goroutines.parse import HEADLESS
from gomem.text import Count, Text

HEAD = "goroutine {} [chan send, 12 minutes]:\n"
FRAMES = "runtime.chansend1(...) runtime/chan.go:161\nmain.(*queue).push(...) queue.go:40\n"
SAME = (
    "main.(*queue).push(...)\n\tsrc/queue.go:40 +0xd2\ncreated by main.serve\n\tsrc/main.go:7\n\n"
)
COUNTS = "\n```\n 250 chan send        <- all in push\n  12 GC worker (idle)\n```\n"
PLACEHOLDERS = ("NNNNN", "N", "XX", "xxx", "#", "???", "...", "…", "<id>")


@pytest.mark.parametrize("number", [*PLACEHOLDERS, "26"])
def test_a_call_and_its_position_can_share_a_line(number):
    read = gomem.read_goroutines((HEAD.format(number) + FRAMES).encode())
    (stack,) = read.goroutines["stack"]
    at = read.positions.set_index("function")["line"]

    assert "runtime.chansend1;main.(*queue).push" == stack
    assert 40 == at["main.(*queue).push"]
    assert () == read.damaged


@pytest.mark.parametrize(
    "line",
    [
        "main.run(0x1, 0x2) /src/run.go:66 +0xd2",
        "main.run(...) (run.go:66)",
        "main.run(...) at run.go:66",
        "main.run(...) → run.go:66",
        "main.run.func1() run.go:66",
    ],
)
def test_how_a_position_follows(line):
    read = gomem.read_goroutines(f"{HEAD.format(7)}{line}\n".encode())

    assert [66] == [*read.positions["line"]]


def test_a_creator_and_its_position_can_share_a_line():
    text = HEAD.format(7) + FRAMES + "created by main.serve in goroutine 1 main.go:7\n"
    read = gomem.read_goroutines(text.encode())

    assert ["main.serve"] == [*read.goroutines["created_by"]]


def test_the_stack_above_has_the_creator():
    read = gomem.read_goroutines((SAME + HEAD.format("NNNN") + FRAMES).encode())

    assert ["main.serve"] == [*read.goroutines["created_by"]]
    assert () == read.damaged
    assert () == read.headless


def test_a_stack_above_with_a_number_below_is_another_goroutine():
    read = gomem.read_goroutines((SAME + HEAD.format(7) + FRAMES).encode())

    assert [""] == [*read.goroutines["created_by"]]
    assert [HEADLESS] == [fault.what for fault in read.damaged]
    assert read.headless


def test_another_stack_above_is_not_its_own():
    other = SAME.replace("(*queue).push", "(*cache).load")
    read = gomem.read_goroutines((other + HEAD.format("NNNN") + FRAMES).encode())

    assert [""] == [*read.goroutines["created_by"]]
    assert [HEADLESS] == [fault.what for fault in read.damaged]
    assert read.headless


def test_it_stands_for_those_counted_in_its_state(tmp_path):
    (tmp_path / "issue.md").write_text(
        f"It leaks:\n\n```\n{HEAD.format('NNNN')}{FRAMES}```\n\nAll of them:\n{COUNTS}"
    )
    sentence = Text(gomem.diagnose(tmp_path / "issue.md").verdict.sentence)

    assert [250, 250] == [count.value for count in sentence.of(Count)][:2]


def test_one_with_a_number_stands_for_itself(tmp_path):
    (tmp_path / "issue.md").write_text(
        f"It leaks:\n\n```\n{HEAD.format(7)}{FRAMES}```\n\nAll of them:\n{COUNTS}"
    )
    verdict = gomem.diagnose(tmp_path / "issue.md").verdict

    assert "At least 1 goroutine" in verdict.sentence
    assert "262 goroutines by their state: 250 in chan send" in f"{verdict.further}"


def test_two_stacks_of_a_state_share_its_count_in_an_unknown_way():
    other = FRAMES.replace("push", "pop")
    text = HEAD.format("N") + FRAMES + "\n" + HEAD.format("N") + other + COUNTS
    read = gomem.read_goroutines(text.encode())

    assert [1, 1] == [*read.goroutines["goroutines"]]
