"""Kills that Kubernetes lists have the container's limit; a sentence says one in any case."""

import pytest

import gomem
from gomem.errors import CaptureError
from gomem.inputs.kubernetes import described, oom_killed, said_of_a_kill
from gomem.inputs.looks_like import looks_like
from gomem.inputs.used_of_limit import limits_in_words

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


PODS = (
    "NAME                   READY   STATUS             RESTARTS        AGE\n"
    "api-5d9c7f8b6d-x2x7p   0/1     CrashLoopBackOff   7 (2m10s ago)   19h\n"
    "api-5d9c7f8b6d-r81nb   1/1     Running            0               19h\n"
    "job-6f7d4b8c9d-aa1zz   1/1     Running            2               5d\n"
)
TOP = (
    "NAME                   CPU(cores)   MEMORY(bytes)\n"
    "api-5d9c7f8b6d-x2x7p   81m          334Mi\napi-5d9c7f8b6d-r81nb   79m          173Mi\n"
)


@pytest.mark.parametrize("before", ["", "$ kubectl get pods\n", "kubectl -n shop get po\n"])
@pytest.mark.parametrize("quote", ["", "> ", "    "])
def test_a_list_of_pods_says_which_restarted(before, quote):
    text = "".join(quote + line for line in (before + PODS).splitlines(keepends=True))

    what = looks_like(text.encode(), "a.md").what

    assert "2 of 3 pods restarted" in what
    assert "api-5d9c7f8b6d-x2x7p 7 times, now CrashLoopBackOff" in what


def test_pods_that_never_restarted_say_nothing():
    assert "restarted" not in looks_like("\n".join(PODS.split("\n")[:1:2]).encode(), "a.md").what


@pytest.mark.parametrize("between", ["\n", "\nkubectl get pods\n", "```\n\n```\n"])
def test_a_list_of_pods_below_their_use_is_named_beside_it(tmp_path, between):
    fence = "```\n" if "`" in between else ""
    (tmp_path / "a.md").write_text(f"{fence}{TOP}{between}{PODS}{fence}")

    found = gomem.diagnose(tmp_path / "a.md")

    assert "334 MiB" in found.verdict.sentence
    (path,) = found.capture.unread_evidence
    assert "2 of 3 pods restarted" in found.capture.looks[path]


QUERY = 'Query: max(container_memory_usage_bytes{{name=~"a.*"}} {}) by (name)\n'
ROWS = 'Element          Value\n{name="api"}     212.5\n{name="admin"}   18.25\n'


@pytest.mark.parametrize(
    ("divided", "said"),
    [
        ("/ 1024 / 1024", "212 MiB"),
        ("/1048576", "212 MiB"),
        ("/ (1024 * 1024)", "212 MiB"),
        ("/ 1024", "212 KiB"),
        ("/ 1000", "212.5"),
    ],
)
def test_a_table_of_a_query_is_named_with_its_largest_row(divided, said):
    seen = looks_like((QUERY.format(divided) + ROWS).encode(), "a.md")

    assert seen.is_evidence
    assert "container_memory_usage_bytes, 2 rows" in seen.what
    assert said in seen.what


DESCRIBED = (
    "    Last State:     Terminated\n      Reason:       OOMKilled\n      Exit Code:    137\n"
    "      Started:      Tue, 04 Mar 2025 10:12:{}\n"
    "      Finished:     Tue, 04 Mar 2025 10:12:{}\n    Restart Count:  3\n"
)


@pytest.mark.parametrize(
    ("begun", "ended", "said"),
    [
        ("05 +0100", "46 +0100", "41 s after its start"),
        ("05 +0100", "01 +0100", ""),
        ("05 +0100", "66 +0100", ""),
    ],
)
def test_a_kill_says_how_long_the_container_ran(begun, ended, said):
    what = f"{looks_like(DESCRIBED.format(begun, ended).encode(), 'a.md').what}"
    what = what.replace("\u202f", " ").replace("\xa0", " ")

    assert ", restarts: 3" in what
    assert bool(said) == ("after its start" in what)
    assert said in what


STATUS = (
    "    terminated:\n      exitCode: 137\n      finishedAt: '2026-11-27T07:44:{}Z'\n"
    "      reason: OOMKilled\n      startedAt: '2026-11-27T07:44:05Z'\n    name: api\n"
    "    restartCount: 4\n"
)


def test_a_containers_status_says_how_long_it_ran():
    seen = looks_like(STATUS.format(46).encode(), "pod.yaml")

    assert seen.is_evidence
    assert ", restarts: 4, 41" in f"{seen.what}"
    assert "s after its start" in f"{seen.what}"
    assert "it reached its limit, or the node was full" in f"{seen.way_out}"
    other = STATUS.format(46).replace("      startedAt", "  state:\n    startedAt")
    for text in (STATUS.format("04"), STATUS.format(99), other):
        assert "after its start" not in f"{looks_like(text.encode(), 'pod.yaml').what}"


@pytest.mark.parametrize(
    ("sentence", "said"),
    [
        ("The memory limit I set is 170Mi.", "a sentence names a limit of 170Mi"),
        ("It has a 170Mi memory limit.", "a sentence names a limit of 170Mi"),
        ("It is limited to 170Mi.", "a sentence names a limit of 170Mi"),
        ("I raised the limit from 170Mi.", ""),
        ("The limit is 170Mi here and a limit of 300Mi there.", ""),
    ],
)
def test_a_limit_in_a_sentence_is_said_beside_a_kill(tmp_path, sentence, said):
    ticket = tmp_path / "ticket.md"
    ticket.write_text(f"Our pods restart. {sentence}\n\n```\n{DESCRIBED.format(1, 2)}```\n")
    prose = tmp_path / "prose.md"
    prose.write_text(f"Our pods are OOMKilled. {sentence}\n")

    with pytest.raises(CaptureError) as refused:
        gomem.load(prose)
    for words in (f"{refused.value}", f"{gomem.diagnose(ticket).verdict.sentence}"):
        assert bool(said) == ("a sentence names" in words)
        assert said in words


def test_rows_of_pods_beside_a_kill_need_no_head(tmp_path):
    rows = "".join(PODS.splitlines(keepends=True)[1:])
    path = tmp_path / "ticket.md"
    path.write_text(
        f"The pods restart again and again:\n\n```\n{rows}```\n\nThe reason of that is\n\n"
        f"```\n{DESCRIBED.format(1, 2)}```\n"
    )

    words = f"{gomem.diagnose(path).verdict.sentence}"

    assert "pods restarted: api-5d9c7f8b6d-x2x7p 7 times" in words


def test_the_answer_of_jq_for_a_reason_is_a_kill():
    text = b"> kubectl get pod api-0 -o json | jq '.status.reason'\n\"OOMKilled\"\n"

    assert oom_killed(text) is not None
    assert oom_killed(b'It printed "OOMKilled" there.\n') is None


def test_a_limit_that_a_path_names_in_a_sentence_is_one():
    assert ["100 MiB"] == limits_in_words(b"`resource.limits.memory` is set to 100 MiB.")


@pytest.mark.parametrize(("restarts", "is_asked"), [("    Restart Count: 5\n", True), ("", False)])
def test_restarts_without_a_reason_ask_for_the_last_state(restarts, is_asked):
    head = f"    Limits:\n      memory: 60Mi\n    State: Running\n{restarts}".encode()

    assert is_asked == ("lastState" in described(head, "").way_out)


@pytest.mark.parametrize(
    ("sentence", "is_enough"),
    [
        ("After raising `limits.memory` to `300Mi` it works, with no restarts.", True),
        ("We set the memory limit to 300Mi, which solved it.", True),
        ("We set the memory limit to 300Mi, but that didn't help.", False),
        ("The memory limit should be raised to 300Mi.", False),
    ],
)
def test_a_limit_with_which_it_ran_is_said_beside_a_kill(sentence, is_enough):
    head = f"    Last State: Terminated\n      Reason:       OOMKilled\n\n{sentence}\n".encode()

    assert is_enough == ("it ran with 300Mi" in f"{said_of_a_kill(head)}")
