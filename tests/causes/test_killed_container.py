"""A container's kill, by its description or its memory.events, beside a log."""

import pytest

from gomem.capture.load import load
from gomem.diagnosis.diagnosis import diagnose
from gomem.inputs.kubernetes import oom_killed

GC = (
    "gc {n} @{at:.3f}s 1%: 0.11+0.98+0.005 ms clock, 0.23+0.24/0.63/0.41+0.043 ms cpu, "
    "{goal}->{goal}->{live} MB, {goal} MB goal, 0 MB stacks, 0 MB globals, 8 P\n"
)
LOG = "".join(
    GC.format(n=n, at=n, live=60 + n % 2 * 55, goal=230 - n % 2 * 90) for n in range(1, 8)
)
DESCRIBED = """Containers:
  menu:
    State:          Waiting
    Last State:     Terminated
      Reason:       OOMKilled
      Exit Code:    137
      Started:      Fri, 27 Nov 2026 14:31:20 +0000
      Finished:     Fri, 27 Nov 2026 14:32:15 +0000
    Restart Count:  6
    Limits:
      memory:  256Mi
"""
INSPECTED = '[{"State": {"OOMKilled": true}, "HostConfig": {"Memory": 268435456}}]\n'
UNLIMITED = INSPECTED.replace("268435456", "0")
YAML = (
    "spec:\n  containers:\n  - resources:\n      limits:\n        memory: 256Mi\nstatus:\n"
    "  - lastState:\n      terminated:\n        exitCode: 137\n        reason: OOMKilled\n"
)


def first(tmp_path, **files):
    for name, content in files.items():
        (tmp_path / name.replace("_", ".")).write_text(content)
    return diagnose(load(tmp_path)).findings[0]


@pytest.mark.parametrize("text", [DESCRIBED, INSPECTED, YAML])
def test_a_described_kill_is_certain_and_the_log_says_which_limit_helps(text, tmp_path):
    finding = first(tmp_path, pod_txt=text, gc_log=LOG)

    assert ("limit-risk", "certain") == (finding.code, finding.confidence)
    assert "killed for want of memory at its limit of 256 MiB" in finding.title
    assert "GOMEMLIMIT=230MiB" in str(finding.next_step)


def test_how_long_it_lived_and_how_often_are_said(tmp_path):
    title = first(tmp_path, pod_txt=DESCRIBED, gc_log=LOG).title

    assert title.endswith(", 55 s after its start; 6 restarts")


@pytest.mark.parametrize(
    ("said", "limit"), [("256M", 256 * 10**6), ("256Mi", 256 << 20), ("1G", 10**9)]
)
def test_kubernetes_counts_in_tens_without_an_i(said, limit, tmp_path):
    finding = first(tmp_path, pod_txt=DESCRIBED.replace("256Mi", said))

    assert [limit] == [fact.value for fact in finding.evidence if fact.field == "limit"]


def test_docker_compose_counts_in_binary_units():
    compose = "services:\n  menu:\n    deploy:\n      resources:\n        limits:\n"
    text = f"{compose}          memory: 256M\n\nand it is killed:\n{INSPECTED.splitlines()[0]}\n"

    killed = oom_killed(text.replace("268435456", "0").encode())
    assert killed is not None
    assert 256 << 20 == killed.limit_bytes


@pytest.mark.parametrize(
    ("text", "asks"),
    [(DESCRIBED, False), (DESCRIBED.replace("256Mi", "-"), True), (UNLIMITED, False)],
)
def test_a_kill_without_a_limit_asks_for_it(text, asks, tmp_path):
    assert asks == ("grep -A3 Limits" in first(tmp_path, pod_txt=text).next_step)


def test_a_life_is_rounded_not_cut(tmp_path):
    ended = DESCRIBED.replace("14:32:15", "14:46:03")

    assert ", 15 min after its start" in first(tmp_path, pod_txt=ended).title


def test_in_one_ticket_it_is_the_same(tmp_path):
    text = f"killed again:\n\n$ kubectl describe pod menu-0\n{DESCRIBED}\n$ kubectl logs -p\n{LOG}"

    assert "limit-risk" == first(tmp_path, ticket_txt=text).code


def test_a_limit_alone_is_no_kill(tmp_path):
    text = YAML.replace("reason: OOMKilled", "reason: Completed")

    assert "limit-risk" != first(tmp_path, pod_txt=text, gc_log=LOG).code


@pytest.mark.parametrize(("kills", "is_found"), [(1, True), (0, False)])
def test_memory_events_prove_a_kill_without_the_use(kills, is_found, tmp_path):
    (tmp_path / "memory.events").write_text(f"low 0\nhigh 0\nmax 412\noom 1\noom_kill {kills}\n")
    (tmp_path / "memory.max").write_text("268435456\n")

    finding = first(tmp_path, gc_log=LOG)

    assert is_found == ("limit-risk" == finding.code)
    assert is_found == (
        finding.title == "OOM: the kernel has killed 1 process in this cgroup (limit 256 MiB)"
    )
