"""Nothing is called healthy against what a text tells: kills, a limit that RSS is near, a jump."""

import pytest

import gomem
from gomem.diagnosis.healthy import can_be_healthy, ends_at_a_jump, is_told_otherwise
from gomem.inputs.kubernetes import tells_of_kills

ROW = """\
  PID USER     %CPU %MEM    VSZ   RSS COMMAND
 2537 api       3.2  2.4 2163376 608484 /srv/api
"""
LEVEL = "".join(
    f"gc {n} @{4 * n}.847s 0%: 0.56+10+0.035 ms clock, 1.1+0.07/5.3/1.8+0.07 ms cpu, "
    "300->310->150 MB, 301 MB goal, 0 MB stacks, 0 MB globals, 2 P\n"
    for n in range(1, 12)
)
CYCLE = (
    "gc {} @{}s 0%: 0.56+10+0.035 ms clock, 1.1+0.07/5.3/1.8+0.07 ms cpu, "
    "{}->{}->{} MB, {} MB goal, 0 MB stacks, 0 MB globals, 2 P\n"
)
USUAL = "The pod's memory is steady.\n\n"


def diagnosed(folder, text, log=LEVEL):
    path = folder / "ticket.md"
    path.write_text(f"{text}\n\n```\n{ROW}```\n\nIts log:\n\n```\n{log}```\n")
    return gomem.diagnose(path)


def words(diagnosis):
    return " ".join(map(str, diagnosis.verdict.whose)).replace("\u202f", " ")


def test_a_level_log_is_healthy(tmp_path):
    assert can_be_healthy(diagnosed(tmp_path, USUAL))


@pytest.mark.parametrize(
    "told",
    ["It OOM-kills on big days.", "The pod OOMs each night.", "It exited with 137.",
     "Then it runs out of memory.", "Limit is 640Mi.", "It has a memory limit of 640Mi."],
)  # fmt: skip
def test_kills_and_a_limit_that_is_near_bar_it(tmp_path, told):
    found = diagnosed(tmp_path, USUAL + told)

    assert is_told_otherwise(found)
    assert not can_be_healthy(found)


@pytest.mark.parametrize(
    "told", ["It was never OOMKilled.", "No OOM kill so far.", "Limit is 4Gi.", "OOM: none"]
)
def test_what_a_text_denies_bars_nothing(tmp_path, told):
    assert can_be_healthy(diagnosed(tmp_path, USUAL + told))


def test_a_limit_that_a_sentence_gives_stands_beside_rss(tmp_path):
    found = diagnosed(tmp_path, "We run api in a pod. Limit is 640Mi, and it grows.")

    assert "RSS is 93 % of 640Mi, which the text gives as a limit." in words(found)
    assert "not used" not in str(found.verdict.further)


def test_rss_above_a_limit_at_which_it_is_killed_is_compared(tmp_path):
    path = tmp_path / "ticket.md"
    path.write_text(
        "The memory limit is 160Mi and the pod is OOMKilled. Its status:\n\n```\nName:\tapi\n"
        "VmPeak:\t551500 kB\nVmSize:\t551500 kB\nVmHWM:\t409600 kB\nVmRSS:\t307200 kB\n```\n"
    )
    found = gomem.diagnose(path)

    assert "An RSS of 400 MiB is more than 160Mi" in words(found)
    assert "not used" not in str(found.verdict.further)


@pytest.mark.parametrize(
    "told",
    ["The upload limit is 640Mi.", "Limits were raised: limit is 640Mi now.",
     "Its limit is 640Mi, that of the other pod has a limit of 2Gi.", "The limit is 20Mi."],
)  # fmt: skip
def test_a_limit_of_something_else_stands_beside_nothing(tmp_path, told):
    assert "gives as a limit" not in words(diagnosed(tmp_path, f"We run api in a pod. {told}"))


@pytest.mark.parametrize("before", [[], [14, 15, 14, 16, 15]])
def test_a_live_heap_that_ends_far_above_what_it_was_is_open(tmp_path, before):
    sizes = [*before, 14, 24, 42, 69, 119, 201, 129, 206, 350]
    log = "".join(
        CYCLE.format(n, f"{20 + 5 * n}.500", size + 20, size + 30, size, size + 25)
        for n, size in enumerate(sizes, start=1)
    )
    found = diagnosed(tmp_path, USUAL, log)

    assert ends_at_a_jump(found)
    assert not can_be_healthy(found)
    assert not ends_at_a_jump(diagnosed(tmp_path, USUAL))


@pytest.mark.parametrize(
    ("line", "tells"),
    [(b"we see OOM kills", True), (b"OOMKilled: false", False), (b"rooms and blooms", False),
     (b"it is not OOMKilled", False), (b"killed by the OOM killer", True)],
)  # fmt: skip
def test_kills_are_told_in_several_words(line, tells):
    assert tells == tells_of_kills(line)
