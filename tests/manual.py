"""What a reader can type from the README and the manual: blocks, and how they are run here.

`sh` is run. Whatever is not has `<!-- not run: WHY -->` above it, and must be valid shell. A
`{gomem}` block and a `{code-cell}` run while the manual is built.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from gomem.cli.main import run
from tests.live.services import GOOD, fake_service

ROOT = Path(__file__).parent.parent
README = ROOT / "README.md"
EXTENSION = ROOT / "docs" / "_ext"
MADE = ("causes", "reference")  # folders of pages that the build makes
PAGES = (
    README,
    *sorted(
        page
        for page in (ROOT / "docs").rglob("*.md")
        if page.relative_to(ROOT / "docs").parts[0] not in MADE
    ),
)
_BLOCK = re.compile(
    r"(?:^<!-- (?P<mark>[^\n]*) -->\n)?^```(?P<language>[^\n]*)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
_SHELL = re.compile(r"[|<>&;]")
BUILT = ("{gomem}", "{code-cell}", "{toctree}", "{include}")
RUN_BY_CI = "python3 -m venv"

sys.path.append(str(EXTENSION))
from gomem_causes import words  # noqa: E402 - stands beside the manual
from gomem_run import answer_of, lay_out  # noqa: E402

__all__ = ["answer_of", "lay_out", "words"]


@dataclass(frozen=True)
class Block:
    """A fenced block of a page.

    Attributes:
        page: Where it stands.
        mark: The comment above it; empty without one.
        language: What stands behind the fence.
        text: What is in it.
    """

    page: Path
    mark: str
    language: str
    text: str

    @property
    def name(self) -> str:
        return f"{self.page.relative_to(ROOT)}: {self.text.splitlines()[0] if self.text else ''}"


def blocks() -> list[Block]:
    """Every fenced block of every page that is written by hand."""
    return [
        Block(page, found["mark"] or "", found["language"].strip(), found["text"])
        for page in PAGES
        for found in _BLOCK.finditer(page.read_text(encoding="utf-8"))
    ]


def cause_commands() -> list[str]:
    """What pages of causes say to type."""
    listed = [line for cause in words().values() for line in (*cause["do"], *cause["check_do"])]
    return list(dict.fromkeys(listed))


def typed(text: str) -> list[str]:
    """The commands of a block, without comments and what CI runs by itself."""
    lines = [line.partition("  #")[0].strip() for line in text.splitlines()]
    return [line for line in lines if line and not line.startswith(("#", RUN_BY_CI))]


def exit_code(command: str) -> int:
    """Run a command in the working folder; `$PID` is a process that serves what Go's do."""
    if "$PID" in command:
        with fake_service(GOOD) as service:
            return exit_code(command.replace("$PID", service.pid))
    words = shlex.split(command)
    if words[0] == "gomem" and not _SHELL.search(re.sub(r"'[^']*'", "", command)):
        return run(words[1:])
    shim = Path("bin/gomem")
    shim.parent.mkdir(exist_ok=True)
    shim.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m gomem "$@"\n')
    shim.chmod(0o755)
    paths = {"PATH": f"{shim.parent.absolute()}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        ["sh", "-c", command], env={**os.environ, **paths}, check=False
    ).returncode


def is_valid_shell(text: str) -> bool:
    """Whether a shell can parse it; words in capitals stand for names, as `POD…` does."""
    plain = text.replace("…", "")
    return subprocess.run(["bash", "-n"], input=plain, text=True, check=False).returncode == 0
