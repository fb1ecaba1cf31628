"""Executions that coverage guides: by atheris, a process a turn, since libFuzzer ends its process.

Needs atheris: importing this module imports the readers so that it sees which of their lines run.
"""

from __future__ import annotations

import json
import os
import random
import re
import sys
import time
from typing import TYPE_CHECKING, Any

import atheris

with atheris.instrument_imports(include=["gomem.inputs", "gomem.sources"]):
    assert "gomem.inputs" not in sys.modules, "the readers were imported before atheris could look"
    from tools.fuzz.targets import TARGETS

from tools.fuzz.drive import Finds, execute
from tools.fuzz.mutations import MAX_BYTES, spliced
from tools.fuzz.state import Turn

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tools.fuzz.state import State

OURS = 0.7  # share of changes that the format's own mutator makes; the rest are libFuzzer's
TOLD_EVERY = 500  # executions, after which the count is written down again
TIMEOUT_SECONDS = 30  # after which libFuzzer ends a process that reads one input
MEMORY_MB = 3072
COVERED = re.compile(r"#\d+\s+\w+\s+cov: (\d+) ft: (\d+) corp: (\d+)/")


class Counted:
    """Counts executions and finds, and writes them down as they come: the end is libFuzzer's."""

    def __init__(self, name: str, state: State) -> None:
        self.target = TARGETS[name]
        self.finds = Finds(state.finds / name)
        self.told = state.now(name)
        self.executions, self.begin = 0, time.monotonic()

    def __call__(self, data: bytes) -> None:
        is_new = execute(self.target, data, self.finds)
        self.executions += 1
        if is_new or self.executions % TOLD_EVERY == 0 or self.executions == 1:
            seconds = round(time.monotonic() - self.begin, 1)
            turn = {"executions": self.executions, "seconds": seconds}
            self.told.write_text(json.dumps(turn | {"finds": sorted(self.finds.by_place)}))


def take_turn(name: str, seconds: int, state: State) -> Turn:
    """Fuzz one target in a process of its own, and say how far it came."""
    state.now(name).unlink(missing_ok=True)
    stderr = state.folder / "now" / f"{name}.stderr"
    begin = time.monotonic()
    child = os.fork()
    if child == 0:
        _fuzz(name, seconds, state, stderr)
    _, status = os.waitpid(child, 0)
    ended = os.waitstatus_to_exitcode(status)
    said = json.loads(state.now(name).read_text()) if state.now(name).exists() else {}
    printed = stderr.read_text(errors="replace")
    executed = re.search(r"stat::number_of_executed_units: (\d+)", printed)
    covered = COVERED.findall(printed)
    finds = said.get("finds", [])
    if ended:
        finds.append(f"libFuzzer ended with {ended}: {printed[-300:]}")
    return Turn(
        name,
        executions=int(executed[1]) if executed else said.get("executions", 0),
        seconds=time.monotonic() - begin,
        finds=finds,
        covered=int(covered[-1][0]) if covered else 0,
        corpus=int(covered[-1][2]) if covered else 0,
    )


def _fuzz(name: str, seconds: int, state: State, stderr: Path) -> None:
    """The child's part: it does not come back."""
    code = 1
    try:
        with stderr.open("wb") as file:
            os.dup2(file.fileno(), sys.stderr.fileno())
            os.dup2(file.fileno(), sys.stdout.fileno())
        corpus, seeds = state.corpus(name), list(TARGETS[name].seeds())
        for number, seed in enumerate(seeds):
            (corpus / f"seed-{number:03}").write_bytes(seed)
        options = (
            f"-max_len={MAX_BYTES}", f"-max_total_time={seconds}", f"-timeout={TIMEOUT_SECONDS}",
            f"-rss_limit_mb={MEMORY_MB}", f"-artifact_prefix={state.finds / name}/",
            "-print_final_stats=1", str(corpus),
        )  # fmt: skip
        mutator = _mutator(spliced(TARGETS[name].mutate, seeds))
        atheris.Setup([sys.argv[0], *options], Counted(name, state), custom_mutator=mutator)
        atheris.Fuzz()
        code = 0
    finally:
        os._exit(code)


def _mutator(mutate: Any) -> Callable[[bytes, int, int], bytes]:
    def changed(data: bytes, max_size: int, seed: int) -> bytes:
        rng = random.Random(seed)
        if rng.random() > OURS:
            mutated: bytes = atheris.Mutate(data, len(data))
            return mutated
        return mutate(data, rng)[:max_size]

    return changed
