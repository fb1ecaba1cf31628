"""Executions that coverage guides: one target in this process, by atheris, for so many seconds.

Run by `python -m tools.fuzz`, a process a target, since libFuzzer ends its process.
"""

from __future__ import annotations

import json
import random
import sys
import time
from pathlib import Path
from typing import Any

import atheris

with atheris.instrument_imports(include=["gomem.inputs", "gomem.sources"]):
    from tools.fuzz.targets import TARGETS

from tools.fuzz.drive import Finds, execute
from tools.fuzz.mutations import MAX_BYTES, spliced

OURS = 0.7  # share of changes that the format's own mutator makes; the rest are libFuzzer's
TOLD_EVERY = 1000  # executions, for which the count is written again


class Counted:
    """Counts executions and finds, and writes them down as they come: the end is libFuzzer's."""

    def __init__(self, name: str, state: Path) -> None:
        self.target = TARGETS[name]
        self.finds = Finds(state / "finds" / name)
        self.told = state / "now" / f"{name}.json"
        self.told.parent.mkdir(parents=True, exist_ok=True)
        self.executions, self.begin = 0, time.monotonic()

    def __call__(self, data: bytes) -> None:
        execute(self.target, data, self.finds)
        self.executions += 1
        if self.executions % TOLD_EVERY == 0 or time.monotonic() - self.begin < 1:
            self.tell()

    def tell(self) -> None:
        """Write down how far it is."""
        seconds = round(time.monotonic() - self.begin, 1)
        now = {"executions": self.executions, "seconds": seconds}
        self.told.write_text(json.dumps(now | {"finds": sorted(self.finds.by_place)}))


def main() -> None:
    """Fuzz one target: its name, the folder of the state, and libFuzzer's own arguments."""
    name, state, *options = sys.argv[1:]
    counted = Counted(name, Path(state))
    corpus = Path(state) / "corpus" / name
    if not corpus.is_dir():
        corpus.mkdir(parents=True)
        for number, seed in enumerate(counted.target.seeds()):
            (corpus / f"seed-{number:03}").write_bytes(seed)
    mutate = spliced(counted.target.mutate, list(counted.target.seeds()))

    def changed(data: bytes, max_size: int, seed: int) -> bytes:
        rng = random.Random(seed)
        if rng.random() > OURS:
            mutated: bytes = atheris.Mutate(data, len(data))
            return mutated
        return mutate(data, rng)[:max_size]

    arguments: list[Any] = [sys.argv[0], f"-max_len={MAX_BYTES}", *options, str(corpus)]
    atheris.Setup(arguments, counted, custom_mutator=changed)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
