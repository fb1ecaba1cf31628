"""The action's script: what it posts, where, and what the job's exit code becomes."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.builders import FIXTURES

ROOT = FIXTURES.parent
SCRIPT = ROOT / "tools/action/compare.sh"
BENCHMARKS = [
    FIXTURES / f"captures/alloc-pressure-{side}-go1.27.3/bench.txt" for side in ("before", "after")
]
MARKER = "<!-- gomem compare -->"
# Answers as GitHub does: comments by page, each through the filter. It keeps what it was asked.
GH = """#!/usr/bin/env bash
printf '%s\\n' "$*" >> asked
if [[ -n ${FAILS:-} ]]; then echo 'HTTP 403: Resource not accessible' >&2; exit 1; fi
filter=
for argument; do
  case $argument in body=@*) cat "${argument#body=@}" > posted;; esac
  [[ $previous != --jq ]] || filter=$argument
  previous=$argument
done
[[ -z $filter ]] || jq -r "$filter" comments
"""
# In place of gomem, where only the script is tried.
GOMEM = """#!/bin/sh
while [ "$1" != -o ]; do shift; done
printf '<!-- gomem compare -->\\n\\n**before → after**\\n' > "$2"
"""
REAL = f'#!/bin/sh\nexec {sys.executable} -m gomem "$@"\n'

pytestmark = pytest.mark.skipif(
    shutil.which("jq") is None or shutil.which("bash") is None,
    reason="the stand-in for gh filters with jq",
)


@pytest.fixture
def act(tmp_path, monkeypatch):
    """Run the script in a job of its own; `comments` are there before."""
    tools = tmp_path / "bin"
    tools.mkdir()
    (tools / "gh").write_text(GH)
    (tools / "gh").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}:{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))

    def run(before="a.txt", after="b.txt", *, comments=(), gomem=GOMEM, **settings):
        (tools / "gomem").write_text(gomem)
        (tools / "gomem").chmod(0o755)
        (tmp_path / "comments").write_text(json.dumps(list(comments)))
        env = {
            **os.environ,
            "RUNNER_TEMP": str(tmp_path),
            "GITHUB_REPOSITORY": "acme/api",
            "GITHUB_STEP_SUMMARY": str(tmp_path / "summary"),
            "GITHUB_OUTPUT": str(tmp_path / "output"),
            "GOMEM_BEFORE": str(before),
            "GOMEM_AFTER": str(after),
            "GOMEM_PULL_REQUEST": "17",
            **settings,
        }
        done = subprocess.run(
            [SCRIPT], cwd=tmp_path, env=env, capture_output=True, text=True, check=False
        )
        files = {
            name: (tmp_path / name).read_text() if (tmp_path / name).exists() else ""
            for name in ("asked", "posted", "summary", "output")
        }
        asked = files.pop("asked").splitlines()
        return SimpleNamespace(code=done.returncode, said=done.stdout, asked=asked, **files)

    return run


def comment(number, body, kind="Bot"):
    return {"id": number, "body": body, "user": {"type": kind}}


def test_the_first_run_comments_on_the_pull_request(act):
    job = act(*BENCHMARKS, gomem=REAL, GOMEM_FAIL_ON="allocs/op=+0")

    assert 0 == job.code
    assert "api --silent -X POST repos/acme/api/issues/17/comments -F" in job.asked[-1]
    assert job.posted.startswith(f"{MARKER}\n\n**alloc-pressure-before-go1.27.3/bench.txt →")
    assert job.posted == job.summary
    assert job.posted == Path(job.output.strip().removeprefix("comment=")).read_text()


def test_a_later_run_edits_its_own_comment_and_nobody_else_s(act):
    others = [
        comment(1, f"{MARKER}\n\nnot a bot's", "User"),
        comment(2, f"{MARKER}\n\nan older one"),
        comment(3, "coverage"),
        comment(4, f"I quote:\n{MARKER}"),
    ]

    job = act(comments=others)

    assert "-X PATCH repos/acme/api/issues/comments/2 -F" in job.asked[-1]
    assert 2 == len(job.asked)


def test_of_several_comparisons_each_has_its_comment(act):
    there = [comment(1, f"{MARKER}\n"), comment(2, "<!-- gomem compare: load test -->\n")]

    job = act(comments=there, GOMEM_NAME="load test")

    assert "-X PATCH repos/acme/api/issues/comments/2 -F" in job.asked[-1]
    assert job.posted.startswith(f"<!-- gomem compare: load test -->\n{MARKER}\n\n**before")
    assert "-X POST" in act(comments=there, GOMEM_NAME="x --> y").asked[-1]


def test_a_broken_budget_of_a_file_fails_the_job_and_is_posted(act, tmp_path):
    """
    Redacted, the comment names no folder.
    """
    budgets = tmp_path / "memory.toml"
    budgets.write_text('[budgets]\n"B/op" = "+5%"\n')

    job = act(*reversed(BENCHMARKS), gomem=REAL, GOMEM_CONFIG=str(budgets), GOMEM_REDACT="true")

    assert 1 == job.code
    assert "`B/op=+5%` | broken" in job.posted
    assert "before → after" in job.posted
    assert "alloc-pressure" not in job.posted


def test_a_comment_that_is_refused_is_a_warning(act):
    """
    As in a pull request from a fork, whose token may not write.
    """
    job = act(FAILS="1")

    assert 0 == job.code
    assert "" == job.posted
    assert "::warning title=gomem::No comment was written" in job.said
    assert job.summary.startswith(MARKER)


def test_outside_a_pull_request_there_is_only_the_summary(act):
    job = act(GOMEM_PULL_REQUEST="")

    assert 0 == job.code
    assert [] == job.asked
    assert job.summary.startswith(MARKER)


def test_what_cannot_be_read_fails_the_job_without_a_comment(act):
    job = act("not-there.txt", gomem=REAL)

    assert 2 == job.code
    assert ([], "", "") == (job.asked, job.posted, job.summary)


def test_the_action_hands_on_each_input_and_its_shell_none():
    """
    A value of an input within a script's text could be code; in the environment it is a value.
    """
    yaml = pytest.importorskip("yaml")
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    *_, step = action["runs"]["steps"]

    handed_on = set(re.findall(r"inputs\.([\w-]+)", " ".join(step["env"].values())))
    read = set(re.findall(r"\bGOMEM_[A-Z_]+", SCRIPT.read_text()))
    assert set(action["inputs"]) == handed_on
    assert read == {name for name in step["env"] if name.startswith("GOMEM_")}
    assert step["run"].endswith(f'/{SCRIPT.relative_to(ROOT)}"')
    assert [] == [step["run"] for step in action["runs"]["steps"] if "${{" in step["run"]]
