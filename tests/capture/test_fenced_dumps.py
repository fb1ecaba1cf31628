"""One goroutine dump in several code fences is one dump; two dumps stay two."""

import pytest

from gomem.capture.load import load

STACK = """goroutine {0} [select, 12 minutes]:
main.pump()
\t/app/pump.go:20 +0x1d
created by main.serve in goroutine 1
\t/app/serve.go:9 +0x1a
"""
CYCLE = (
    "gc {0} @0.{0}12s 2%: 0.019+0.58+0.004 ms clock, 0.15+0.1/0.5/0.3+0.03 ms cpu, 4->4->1 MB, "
    "4 MB goal, 0 MB stacks, 0 MB globals, 8 P\n"
)


def fenced(*texts):
    return "".join(f"```\n{text}```\n" for text in texts)


def counts(tmp_path, text):
    (tmp_path / "ticket.md").write_text(text)
    capture = load(tmp_path / "ticket.md")
    assert [] == list(capture.damaged)
    return [moment.goroutine_count for moment in capture.by_moment.values()]


def stacks(*numbers, between="\n"):
    return between.join(fenced(STACK.format(number)) for number in numbers)


@pytest.mark.parametrize(
    "text",
    [
        stacks(41, 77),
        "Our proxy hangs. Some of the stacks:\n\n"
        + stacks(41, 77, 78, between="\nand the one that holds the lock is\n\n"),
        "Some:\n\n<details><summary>one</summary>\n\n"
        + stacks(41, 77, between="</details>\n\n<details><summary>two</summary>\n\n"),
        "The proxy hangs:\n\n"
        + stacks(41, 77)
        + "\nThe log of it has\n\n"
        + fenced("".join(map(CYCLE.format, (1, 2, 3)))),
    ],
    ids=["fences", "prose", "folded", "log"],
)
def test_the_fences_of_one_dump_are_one_snapshot(tmp_path, text):
    assert [text.count("\ngoroutine")] == counts(tmp_path, text)


@pytest.mark.parametrize(
    "text",
    [
        stacks(41, 41),
        stacks(41, 77, between="\n2026-11-27 07:44:25\n"),
        stacks(41, 77, between="\n### After\n"),
        stacks(41, 77, between="\n**After the change:**\n"),
        stacks(41, 77, between="\n<details><summary>After</summary>\n\n"),
    ],
    ids=["number", "time", "heading", "title", "folded"],
)
def test_two_dumps_stay_two(tmp_path, text):
    assert [1, 1] == counts(tmp_path, text)


def test_a_longer_stack_in_a_fence_of_its_own_does_not_hide_the_others(tmp_path):
    longer = STACK.format(41).replace(
        "created", "main.loop()\n\t/app/loop.go:7 +0x2\n" * 9 + "created"
    )
    text = fenced(longer, STACK.format(77)).removesuffix("```\n")

    assert [2] == counts(tmp_path, text)
