"""The settings of a capture: what says them, which word counts, and what goals infer."""

import json
import math
from itertools import pairwise

import pytest

import gomem
from gomem.facts.capture import CaptureFacts
from gomem.facts.settings import environment_of
from gomem.units import MIB
from tests.builders import FIXTURES, memstats_json
from tools.laboratory.captures import path_of

ENVIRON = FIXTURES / "environ/environ"
STEADY = FIXTURES / "what-if"


@pytest.fixture
def settings(tmp_path):
    """The settings of a capture of these files."""

    def of(**files):
        (tmp_path / "memstats.json").write_bytes(memstats_json())
        for name, content in files.items():
            path = tmp_path / name.replace("_", ".")
            path.write_bytes(
                content if isinstance(content, bytes) else json.dumps(content).encode()
            )
        return CaptureFacts(gomem.load(tmp_path)).settings

    return of


def manifest(**environment):
    return {"schema": "gomem.capture/1", "moments": [], "environment": environment,
            "go_version": "go1.24.2"}  # fmt: skip


def metrics(**percent):
    return {"/memory/classes/total:bytes": 9 << 20, "/gc/gogc:percent": percent["gogc"]}


def told(setting):
    return setting.text, setting.known_by, setting.source, [*setting.others]


def test_runtime_metrics_stand_first_and_the_environment_beside_them(settings):
    found = settings(metrics_json=metrics(gogc=60), environ=ENVIRON.read_bytes())

    assert ("60", "metrics", "metrics.json", [("40", "environ")]) == told(found.gogc)
    assert ("1GiB", "environment", "environ", []) == told(found.memory_limit)
    assert "gctrace=1,madvdontneed=1" == found.godebug.text
    assert found.gomaxprocs is None


def test_an_environment_is_a_file_of_it_or_the_manifest(settings, tmp_path):
    by_manifest = settings(gomem_json=manifest(GOGC="50", TOKEN="hunter2"))  # noqa: S106
    both = settings(environ=b"GOGC=off\0GOMAXPROCS=3\0")

    assert ("50", "environment", "gomem.json", []) == told(by_manifest.gogc)
    assert ("off", "environment", "environ", []) == told(both.gogc)
    assert 3 == both.gomaxprocs.value
    (tmp_path / "environ").unlink()
    assert {"GOGC": "50"} == environment_of(gomem.load(tmp_path)).variables


WITHOUT_GOAL = {"NumGC": 1, "PauseTotalNs": 9, "NextGC": 2**63 - 10**13}


def test_whole_memstats_without_a_goal_say_that_gogc_is_off(settings):
    """
    NextGC is then near 2^64. In a dump that is cut before NumGC, it may only be missing.
    """
    dump = memstats_json(**WITHOUT_GOAL)
    off = settings(memstats_json=dump)
    beside = settings(memstats_json=dump, gomem_json=manifest(GOGC="50"))
    cut = {**json.loads(memstats_json()), "HeapInuse": 7}
    del cut["NextGC"], cut["NumGC"]

    assert ("off", "goals", "memstats.json", []) == told(off.gogc)
    assert ("off", "goals", "memstats.json", [("50", "gomem.json")]) == told(beside.gogc)
    assert "off" != settings(memstats_json=cut).gogc.text


def test_what_an_environment_does_not_set_is_the_default(settings):
    found = settings(gomem_json=manifest())

    assert ("100", "none", False) == (
        found.gogc.text, found.memory_limit.text, found.gogc.is_set,
    )  # fmt: skip
    assert [found.gogc, found.memory_limit] == [*found.known]


def test_without_a_word_of_any_file_100_is_assumed(settings):
    found = settings()

    assert (1.0, "assumed", "") == (found.gogc.value, found.gogc.known_by, found.gogc.source)
    assert (found.gogc,) == found.known


@pytest.mark.parametrize("environment", [b"GOGC=100\0", None])
def test_goals_of_a_log_contradict_the_environment(tmp_path, environment):
    name = "steady-go1.22.12-gogc-400.log.gz"
    (tmp_path / name).write_bytes((STEADY / name).read_bytes())
    if environment is not None:
        (tmp_path / "environ").write_bytes(environment)
    facts = CaptureFacts(gomem.load(tmp_path))
    gogc = facts.settings.gogc

    assert ("400", "log", name) == (gogc.text, gogc.known_by, gogc.source)
    assert gogc.low <= 4 <= gogc.high < 4.3
    assert facts.collector.gogc_fraction is None
    assert ([] if environment is None else [("100", "environ")]) == [*gogc.others]


def test_goals_of_a_log_agree_with_the_environment(tmp_path):
    name = "steady-go1.22.12-gogc-400.log.gz"
    (tmp_path / name).write_bytes((STEADY / name).read_bytes())
    (tmp_path / "environ").write_bytes(b"GOGC=400\0")
    facts = CaptureFacts(gomem.load(tmp_path))

    assert ("400", "environment", "environ", []) == told(facts.settings.gogc)
    assert (4, "environment") == (facts.collector.gogc_fraction, facts.collector.gogc_source)
    assert {"environment"} == {*facts.collector.triggers.gogc["known_from"]}


@pytest.mark.parametrize(
    ("name", "knob", "known_by"),
    [("studyd-a", 0.4, "goals"), ("tariffd-e", 4, "goals"), ("clinicd-f", 0.2, "goals"),
     ("kinsd-b", 0.4, "log"), ("avalanched-a", 1, "assumed"), ("blazond-c", 4, "environment"),
     ("voterolld-a", math.inf, "environment"), ("tolld-d", 1.5, "metrics")],
)  # fmt: skip
def test_of_recorded_processes_gogc_is_known_or_bounded(name, knob, known_by):
    """
    Each was started with that GOGC; of the one that is assumed no file has a heap goal.
    """
    gogc = CaptureFacts(gomem.load(path_of(name))).settings.gogc

    assert known_by == gogc.known_by
    assert gogc.low / 1.1 <= knob <= gogc.high * 1.1
    assert known_by in ("goals", "log") or knob == gogc.value


def test_a_limit_of_the_environment_is_every_moments(tmp_path):
    (tmp_path / "memstats.json").write_bytes(memstats_json())
    (tmp_path / "environ").write_bytes(ENVIRON.read_bytes())
    facts = CaptureFacts(gomem.load(tmp_path))

    assert [1 << 30] == [moment.gomemlimit_bytes for moment in facts.moments]
    assert not facts.limit_is_possible


DEPLOYMENT = (
    "kind: Deployment\nspec:\n  containers:\n  - name: api\n    image: shop/api:3.1\n    env:\n"
    '    - name: GOGC\n      value: "20"\n    resources:\n      limits:\n        memory: 512Mi\n'
)


def test_a_description_of_the_container_states_what_it_names(settings):
    """
    A variable that it does not name can still be set by the image.
    """
    found = settings(deploy_yaml=DEPLOYMENT.encode())

    assert ("20", "environment", "deploy.yaml", []) == told(found.gogc)
    assert found.memory_limit is None
    other = settings(deploy_yaml=DEPLOYMENT.replace("GOGC", "GOMAXPROCS").encode())
    assert ("assumed", "20") == (other.gogc.known_by, other.gomaxprocs.text)


def test_a_description_pasted_beside_a_log_counts(tmp_path):
    text = tmp_path / "ticket.txt"
    log = "".join(
        f"gc {n} @{n}.000s 1%: 0.1+10+0.1 ms clock, 0.2+1/8/1+0.2 ms cpu, 12->12->10 MB, "
        "12 MB goal, 0 MB stacks, 0 MB globals, 2 P\n"
        for n in range(1, 9)
    )
    text.write_text(f"The log:\n\n{log}\nThe deployment:\n\n{DEPLOYMENT}")
    capture = gomem.load(text)
    found = CaptureFacts(capture).settings

    assert ("20", "environment", "ticket.txt") == told(found.gogc)[:3]
    assert not capture.unused_settings


def mentioned(folder, sentence, lines, begin=1):
    """A text with that sentence and a log, from that collection on."""
    log = "".join(
        f"gc {number} @{number}.000s 0%: 0.1+4+0.1 ms clock, 0.2+0/4/1+0.2 ms cpu, "
        f"{start}->{start}->{live} MB, {goal} MB goal, 0 MB stacks, 0 MB globals, 2 P\n"
        for number, (start, live, goal) in enumerate(lines, begin)
    )
    (folder / "mail.txt").write_text(
        f"Our importer is too big. {sentence}\n\n{log}\nIs it normal?\n"
    )
    return gomem.diagnose(folder / "mail.txt")


UNDER_A_LIMIT = [(188, 20, 190), *[(186, 20, 188)] * 8]
UNDER_THE_LIVE_HEAP = [(4, 2, 4), *((167, 164 + n % 3, 165 + n % 3) for n in range(12))]
AT_300 = [(10, 8, 12), (30, 25, 32), *[(95, 25, 100)] * 8]
LATE_AT_10 = [(25, 23, 25), (25, 23, 26), (26, 25, 26), (27, 23, 28)]
ONE_GOAL = [(501, 63, 505), (502, 62, 506)]
SMALL = [(4, 2, 4)] * 6
DOUBLING = [(4, 4, 4), (8, 7, 8), (15, 13, 15), (29, 25, 29), (57, 49, 57), (113, 97, 113)]


@pytest.mark.parametrize(
    ("sentence", "lines", "used"),
    [
        pytest.param("env has GOGC=off and GOMEMLIMIT=200MiB.", UNDER_A_LIMIT,
                     {"GOGC": "off", "GOMEMLIMIT": "200MiB"}, id="goals just below a limit"),
        pytest.param("Ops set GOMEMLIMIT=135MiB.", UNDER_THE_LIVE_HEAP,
                     {"GOMEMLIMIT": "135MiB"}, id="goals at a live heap above the limit"),
        pytest.param("Ops set GOMEMLIMIT=300MiB.", UNDER_THE_LIVE_HEAP, {},
                     id="a limit far above such goals"),
        pytest.param("We run it with GOGC=300.", AT_300, {"GOGC": "300"}, id="goals of a GOGC"),
        pytest.param("Should I set GOGC=50?", AT_300, {}, id="another GOGC"),
        pytest.param("Should I set GOMEMLIMIT=120MiB?", AT_300, {}, id="a limit, and GOGC's goals"),
        pytest.param("Does GOMEMLIMIT=120MiB help?", DOUBLING, {}, id="goals that grow"),
        pytest.param("Someone set GOGC=10.", LATE_AT_10, {"GOGC": "10"}, id="late starts"),
        pytest.param("Is GOGC=700 too much?", ONE_GOAL, {"GOGC": "700"}, id="a goal, exactly"),
        pytest.param("We set GOGC=100.", ONE_GOAL, {}, id="a goal says otherwise"),
        pytest.param("We run with GOGC=400.", SMALL, {"GOGC": "400"}, id="said, not measured"),
        pytest.param("We run with GOMEMLIMIT=1GiB.", AT_300, {"GOMEMLIMIT": "1GiB"},
                     id="a limit out of reach"),
        pytest.param("Would we run better with GOGC=400?", SMALL, {}, id="asked, not measured"),
        pytest.param("We tried to run with GOGC=400.", SMALL, {}, id="tried, not measured"),
        pytest.param("GOMEMLIMIT=200MiB here, GOMEMLIMIT=210MiB there.", UNDER_A_LIMIT, {},
                     id="two that fit"),
    ],
)  # fmt: skip
def test_a_sentence_counts_where_the_goals_of_a_log_confirm_it(tmp_path, sentence, lines, used):
    diagnosis = mentioned(tmp_path, sentence, lines)
    found = diagnosis.facts.settings
    stated = {each.name: each.text for each in found.known if each.is_stated}

    assert used == {name: value for name, value in stated.items() if name in ("GOGC", "GOMEMLIMIT")}
    assert bool(used) == ("not used" not in f"{diagnosis.verdict.further}")


PROFILE = (
    "```\nFile: api\nType: inuse_space\nShowing nodes accounting for 100MB, 100% of 100MB total\n"
    "      flat  flat%   sum%        cum   cum%\n"
    "   100MB   100%   100%    100MB   100%  main.load\n```\n"
)


@pytest.mark.parametrize(
    ("words", "gogc"),
    [
        pytest.param("The image:\n\n```\nFROM base\nENV GOGC=50\n```\n", "50", id="Dockerfile"),
        pytest.param("We start it so:\n\n```\nexport GOGC=400\n```\n", "400", id="shell"),
        pytest.param("Ops set GOGC=400 years ago.\n", "400", id="sentence"),
        pytest.param("The api (v2), deployed with GOGC=400, is slow.\n", "400", id="participle"),
        pytest.param("If it is slow, use GOGC=400.\n", "100", id="advice"),
        pytest.param("It is slow, use GOGC=400.\n", "100", id="imperative"),
        pytest.param("Is GOGC=400 better?\n", "100", id="question"),
        pytest.param("Here it is set to GOGC=400, there we run with GOGC=50.\n", "100", id="two"),
    ],
)
def test_without_a_log_what_a_text_says_is_set_counts(tmp_path, words, gogc):
    (tmp_path / "mail.md").write_text(f"RSS of api is high.\n\n{words}\nIts heap:\n\n{PROFILE}")

    found = gomem.diagnose(tmp_path / "mail.md").facts.settings.gogc

    assert (gogc, gogc != "100") == (found.text, found.is_stated)


def test_a_stated_gogc_gives_its_headroom_by_one_goal(tmp_path):
    (finding, *_) = mentioned(tmp_path, "We set GOGC=700.", ONE_GOAL).findings
    without = mentioned(tmp_path, "We set it.", ONE_GOAL).findings

    assert ("heap-headroom", 443 * MIB) == (finding.code, finding.bytes)
    assert "GOGC=700" in finding.title
    assert "heap-headroom" not in [each.code for each in without]


@pytest.mark.parametrize(
    ("sentence", "said"),
    [
        ("The limit is going to be cut to 400Mi.", "The heap reached 502 MiB, more than 400Mi"),
        ("A limit of 600Mi is planned.", "The heap reached 84 % of 600Mi, which the text plans"),
        ("It has a limit of 600Mi.", "The heap reached 84 % of 600Mi, which the text gives"),
    ],
)  # fmt: skip
def test_a_limit_that_a_text_plans_is_compared_with_the_peak(tmp_path, sentence, said):
    verdict = mentioned(tmp_path, f"{sentence} Should we worry?", ONE_GOAL).verdict

    assert said in " ".join(verdict.whose)
    assert "not used" not in verdict.further


def test_goals_of_a_limit_are_no_room_that_gogc_can_halve(tmp_path):
    for sentence in ("env has GOGC=off and GOMEMLIMIT=200MiB.", "Nobody knows how it is set."):
        diagnosis = mentioned(tmp_path, sentence, UNDER_A_LIMIT)

        assert "heap-headroom" not in [finding.code for finding in diagnosis.findings]
        assert "GOGC=" not in f"{diagnosis.verdict.next_step}"


@pytest.mark.parametrize(
    ("lines", "begin", "is_open"),
    [
        pytest.param([(186, 20, 188)] * 8, 30, True, id="the end of a log"),
        pytest.param([(30, 20, 37), *[(186, 20, 188)] * 8], 1, False, id="its first goal"),
        pytest.param([(40 * n, 5 * then, 46 * n) for n, then in pairwise((4, 5, 6, 5, 4, 6, 5, 4))],
                     30, False, id="goals follow the live heap"),
    ],
)  # fmt: skip
def test_a_goal_that_stays_over_a_live_heap_that_stays_can_be_a_limits(
    tmp_path, lines, begin, is_open
):
    diagnosis = mentioned(tmp_path, "RSS is ten times the data.", lines, begin)
    step = f"{diagnosis.verdict.next_step}"

    assert "heap-headroom" == diagnosis.verdict.code
    assert is_open == ("If GOGC sets the heap goal (GOGC would be about" in step)
    assert is_open == ("If GOMEMLIMIT sets it, lower GOMEMLIMIT instead." in step)
    assert is_open == ("Halve GOGC (now about" not in step)
