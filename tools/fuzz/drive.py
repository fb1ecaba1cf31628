"""Executions without coverage: seeds changed at random, and what is found by it."""

from __future__ import annotations

import hashlib
import random
import time
import traceback
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from gomem.errors import FormatError
from tools.fuzz.mutations import spliced
from tools.fuzz.target import Find

if TYPE_CHECKING:
    from tools.fuzz.target import Target

PACKAGE, TOOLS = "gomem", "tools"
MAX_CHANGES = 5
KEPT = 200  # changed inputs that are changed further


@dataclass
class Finds:
    """Inputs that were read wrong, one for each place of the code that says so."""

    folder: Path | None = None
    by_place: dict[str, tuple[bytes, str]] = field(default_factory=dict)

    def take(self, data: bytes, error: BaseException) -> bool:
        """Keep an input if no shorter one was found at its place; whether its place is new."""
        place = place_of(error)
        known = self.by_place.get(place)
        if known is not None and len(known[0]) <= len(data):
            return False
        said = "".join(traceback.format_exception(error))
        self.by_place[place] = (data, said)
        if self.folder is not None:
            self.folder.mkdir(parents=True, exist_ok=True)
            name = hashlib.sha256(place.encode()).hexdigest()[:12]
            (self.folder / f"{name}.input").write_bytes(data)
            (self.folder / f"{name}.txt").write_text(f"{place}\n\n{said}", errors="replace")
        return known is None


def place_of(error: BaseException) -> str:
    """Where an error was raised: its type and the last lines of ours, and what a check said."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [
        f"{Path(frame.filename).stem}:{frame.lineno}"
        for frame in frames
        if f"/{PACKAGE}/" in frame.filename or f"/{TOOLS}/fuzz/targets" in frame.filename
    ]
    said = str(error).partition(":")[0] if isinstance(error, Find) else ""
    return " ".join([type(error).__name__, *ours[-3:], said]).strip()


def run(
    target: Target, executions: int, *, seed: int = 0, seconds: float = 1e9
) -> tuple[int, Finds]:
    """Read the seeds, then seeds changed one to five times: how many were read, and the finds."""
    rng = random.Random(seed)
    inputs = list(target.seeds())
    mutate = spliced(target.mutate, inputs)
    finds = Finds()
    end = time.monotonic() + seconds
    done = 0
    while done < executions and time.monotonic() < end:
        if done < len(inputs) and done < executions // 2:
            data = inputs[done]
        else:
            data = rng.choice(inputs)
            for _ in range(rng.randint(1, MAX_CHANGES)):
                data = mutate(data, rng)
        done += 1
        execute(target, data, finds)
    return done, finds


def execute(target: Target, data: bytes, finds: Finds) -> bool:
    """Read one input; whether it is a find at a new place."""
    try:
        target.execute(data)
    except FormatError:
        raise
    except Exception as error:  # noqa: BLE001 - any is a find
        return finds.take(data, error)
    return False
