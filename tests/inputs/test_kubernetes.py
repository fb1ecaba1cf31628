"""Kills that Kubernetes lists have the container's limit; a sentence says one in any case."""

import pytest

import gomem
from gomem.errors import CaptureError
from gomem.inputs.looks_like import looks_like

OOMD = (
    "POD              CONTAINER   REQUEST   LIMIT    TERMINATION TIME\n"
    "api-84bb-spgvs   api         64Mi      256Mi    2026-03-05 08:08:33 +0100 CET\n"
)


@pytest.mark.parametrize("before", ["", "$ kubectl oomd -n shop", "$ kubectl oomd\n"])
def test_kills_that_a_plug_in_lists_have_their_limit(before):
    what = looks_like((before + OOMD).encode(), "").what

    assert "1 container killed for want of memory (OOMKilled)" in what
    assert "api at a limit of 256Mi (request 64Mi)" in what


def test_kills_of_one_container_are_counted():
    what = looks_like((OOMD + OOMD.splitlines()[1].replace("08:08", "09:17")).encode(), "").what

    assert "2 containers killed" in what
    assert 1 == what.count("256Mi")


@pytest.mark.parametrize("word", ["OOMKilled", "oomkilled", "OOM killed", "oom-killed"])
def test_a_kill_is_said_in_any_case(word):
    assert "OOMKilled" in looks_like(f"It is {word} with a limit of 68Mi.\n".encode(), "a.md").what


@pytest.mark.parametrize("said", ["It is not oomkilled: 68Mi.\n", "oomkilled: false, 68Mi\n"])
def test_a_kill_that_is_denied_is_none(said):
    assert "killed for want" not in looks_like(said.encode(), "a.md").what


LIMITED = "resources:\n  limits:\n    cpu: 200m\n    memory: 40Mi\n"


@pytest.mark.parametrize(
    ("sentence", "said"),
    [
        ("The memory usage averages on 64Mi here.", "64Mi is used, more than the limit"),
        ("Memory used: 10Mi", "10Mi is used, 25"),
        ("It uses about 64Mi of memory.", "64Mi is used, more than the limit"),
        ("Memory usage is 64Mi, and was: memory usage 12Mi.", ""),
        ("Memory usage is below the limit of 40Mi.", ""),
    ],
)
@pytest.mark.parametrize("fence", ["", "```\n"])
def test_a_limit_is_compared_with_the_use_that_a_sentence_says(tmp_path, sentence, said, fence):
    (tmp_path / "a.md").write_text(f"We see this:\n\n{fence}{LIMITED}{fence}\n{sentence}\n")

    with pytest.raises(CaptureError) as refused:
        gomem.diagnose(tmp_path / "a.md")

    words = f"{refused.value}"
    assert "a limit of 40Mi" in words
    assert said in words
    assert bool(said) == ("a sentence says" in words)
    assert "does not say what the container used" not in words
