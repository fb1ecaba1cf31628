"""Fuzz the readers: inputs that are changed at random, and what must hold for every input.

`make fuzz`, or:

    python -m tools.fuzz                        60 s over all targets
    python -m tools.fuzz --hours 1              an hour over all targets
    python -m tools.fuzz --only smaps           one target
    python -m tools.fuzz FILE --only smaps      one input again
    python -m tools.fuzz --plain                without coverage, and without atheris
    python -m tools.fuzz --status               how far the last runs have come

The state stays in a folder: corpora, finds, and a log of each target. Exit 1 where there is a find.
A find becomes a file of `fixtures/malformed/`, and a test that reads it.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from importlib import import_module
from importlib.util import find_spec
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING

from tools.fuzz.state import State

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).parents[2]
NEEDED = "fuzzing by coverage needs atheris, for CPython 3.11 or 3.12: pip install -e '.[fuzz]'; "
NEEDED += "without it: python -m tools.fuzz --plain"
SECONDS = 60
TURN_SECONDS = 30  # of a target, of a long run: all targets take turns
LEAST_SECONDS = 1


def main() -> None:
    """Fuzz, and print what is found."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="*", type=Path, help="inputs to read again, of one target")
    parser.add_argument("--only", nargs="+", default=[], metavar="TARGET", help="targets by name")
    parser.add_argument("--hours", type=float, help="for how long, in place of 60 s")
    parser.add_argument("--executions", type=float, help="after how many to end")
    parser.add_argument("--plain", action="store_true", help="without coverage")
    parser.add_argument("--status", action="store_true", help="print the logs' sums")
    parser.add_argument("--state", type=Path, default=ROOT / ".fuzz", help="by default .fuzz")
    options = parser.parse_args()
    state = State(options.state)
    if options.status:
        print(state.table())
        return
    seconds = SECONDS if options.hours is None else options.hours * 3600
    is_guided = not (options.plain or options.files)
    if is_guided and not _has_atheris():
        raise SystemExit(NEEDED)
    if is_guided:
        import_module("tools.fuzz.guided")  # before anything else imports the readers
    names = _names(options.only, parser)
    if options.files:
        raise SystemExit(_again(names, options.files))
    if options.plain:
        raise SystemExit(_plainly(names, seconds))
    raise SystemExit(_guided(names, seconds, state, options.executions or math.inf))


def _has_atheris() -> bool:
    try:
        return find_spec("atheris") is not None
    except ValueError:  # of what stands in its place
        return False


def _names(only: Sequence[str], parser: argparse.ArgumentParser) -> list[str]:
    from tools.fuzz.targets import TARGETS

    for name in only:
        if name not in TARGETS:
            parser.error(f"no target {name!r}; there are {', '.join(TARGETS)}")
    return list(only or TARGETS)


def _again(names: list[str], files: Sequence[Path]) -> int:
    """Read inputs again: what is wrong with one is raised."""
    from gomem.errors import FormatError
    from tools.fuzz.targets import TARGETS

    for name in names[:1]:
        for file in files:
            try:
                TARGETS[name].execute(file.read_bytes())
            except FormatError as refused:
                print(f"{file}: refused: {refused}")
            else:
                print(f"{file}: as it should be")
    return 0


def _plainly(names: Sequence[str], seconds: float) -> int:
    """Fuzz without coverage, each target for its share of the time."""
    from tools.fuzz.drive import run
    from tools.fuzz.targets import TARGETS

    count = 0
    for name in names:
        share = max(LEAST_SECONDS, seconds / len(names))
        done, finds = run(TARGETS[name], sys.maxsize, seed=int(time.time()), seconds=share)
        count += len(finds.by_place)
        print(f"{name}: {done} executions, {len(finds.by_place)} finds", flush=True)
        for place, (data, said) in finds.by_place.items():
            print(f"{place}: {data[:200]!r}\n{said}")
    return int(count > 0)


def _guided(names: Sequence[str], seconds: float, state: State, executions: float) -> int:
    """Fuzz by coverage: targets take turns until the time is over, or all is executed."""
    from tools.fuzz.guided import take_turn

    end = time.monotonic() + seconds
    share = min(TURN_SECONDS, max(LEAST_SECONDS, seconds / len(names)))
    turns = []
    done = sum(turn.executions for turn in state.turns())
    for name in cycle(names):
        left = end - time.monotonic()
        if left <= 0 or done >= executions:
            break
        turn = take_turn(name, math.ceil(min(share, left)), state)
        state.note(turn)
        turns.append(turn)
        done += turn.executions
    print(state.table())
    return int(any(turn.finds for turn in turns))


if __name__ == "__main__":
    main()
