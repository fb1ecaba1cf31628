"""What stays of runs: corpora, finds, and a log of each target, in one folder."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class Turn:
    """What one process did for a target."""

    target: str
    executions: int
    seconds: float
    finds: list[str] = field(default_factory=list)  # places of the code, one for each find
    covered: int = 0  # edges of the readers' code that its corpus reaches
    corpus: int = 0  # inputs that each reach something of their own


@dataclass(frozen=True)
class State:
    """The folder."""

    folder: Path

    @property
    def finds(self) -> Path:
        """Inputs that were read wrong, a folder a target, each with what was said."""
        return self.folder / "finds"

    def corpus(self, name: str) -> Path:
        """A target's corpus."""
        folder = self.folder / "corpus" / name
        folder.mkdir(parents=True, exist_ok=True)
        (self.finds / name).mkdir(parents=True, exist_ok=True)
        return folder

    def now(self, name: str) -> Path:
        """How far the present turn of a target is."""
        folder = self.folder / "now"
        folder.mkdir(parents=True, exist_ok=True)
        return folder / f"{name}.json"

    def note(self, turn: Turn) -> None:
        """Add a turn to its target's log."""
        folder = self.folder / "log"
        folder.mkdir(parents=True, exist_ok=True)
        with (folder / f"{turn.target}.jsonl").open("a") as file:
            file.write(json.dumps(asdict(turn)) + "\n")

    def turns(self) -> list[Turn]:
        """All turns that are in the logs."""
        logs = sorted((self.folder / "log").glob("*.jsonl"))
        lines = (line for log in logs for line in log.read_text().splitlines())
        return [Turn(**json.loads(line)) for line in lines]

    def table(self) -> str:
        """Executions, finds and coverage of each target, and of all."""
        turns = self.turns()
        told = [f"{'target':18} {'executions':>11} {'per s':>6} {'edges':>6} {'corpus':>6} finds"]
        for name, mine in groupby(turns, key=lambda turn: turn.target):
            rows = list(mine)
            done, seconds = (
                sum(getattr(row, of) for row in rows) for of in ("executions", "seconds")
            )
            covered, corpus = (
                max(getattr(row, of) for row in rows) for of in ("covered", "corpus")
            )
            finds = sorted({find for row in rows for find in row.finds})
            rate = done / max(seconds, 1)
            told.append(f"{name:18} {done:11} {rate:6.0f} {covered:6} {corpus:6} {len(finds)}")
            told += [f"    {find}" for find in finds]
        return "\n".join([*told, f"{sum(turn.executions for turn in turns)} executions"])
