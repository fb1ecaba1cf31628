"""Test every transformation of every capture, and continue where the last run stopped.

`make stranger`, or:

    python -m tools.stranger --only hubd        captures whose name begins with this
    python -m tools.stranger --part 1/2         every second capture, for two runs side by side

Passed cases are stored in a file, and are not repeated until gomem or the gate changes. Cases run
in rounds over all captures, starting with transformations that remove evidence, so even an
interrupted run has seen all captures. Exits with 1 if an answer differs.
"""

from __future__ import annotations

import argparse
import gc
import json
import random
import sys
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from gomem.errors import CaptureError
from tools.stranger.gate import CAPTURES, unlike, ways_of
from tools.stranger.remembered import remembering
from tools.stranger.transformations import Loss

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tools.stranger.gate import Case

ROOT = Path(__file__).parents[2]
PIECES = (12, 12, 12, None)  # transformations of each capture per round


class Progress:
    """The cases passed by the present code: a file of JSON lines, the code's digest first."""

    def __init__(self, path: Path, code: str) -> None:
        lines = path.read_text().splitlines() if path.exists() else []
        known = lines[1:] if lines[:1] == [json.dumps(code)] else []
        self._passed = set()
        for line in known:
            with suppress(ValueError):  # a line cut off because the run was killed
                case, said = json.loads(line)
                if not said:
                    self._passed.add(case)
        self._file = path.open("w")
        self._write(code)
        for case in sorted(self._passed):
            self.told(case, [])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def passed(self, case: str) -> bool:
        return case in self._passed

    def told(self, case: str, said: list[str]) -> None:
        self._write([case, said])

    def _write(self, line: Any) -> None:
        self._file.write(json.dumps(line) + "\n")
        self._file.flush()


def name_of(case: Case) -> str:
    """Return the case's name in the tests."""
    capture, transformation, choice = case
    return "-".join(filter(None, (capture.name, transformation.name, choice)))


def code_now() -> str:
    """Return a digest of everything that an answer depends on."""
    paths = [*(ROOT / "gomem").rglob("*.py"), *(ROOT / "tools/stranger").glob("*.py")]
    return sha256(b"\0".join(path.read_bytes() for path in sorted(paths))).hexdigest()


def rounds(captures: Iterable[Path]) -> Iterable[list[Case]]:
    """Yield the cases in rounds: the first part of each capture's, then the second, and so on."""
    left = {capture: ways_of(capture) for capture in captures}
    for capture, ways in left.items():
        random.Random(capture.name).shuffle(ways)
        ways.sort(key=lambda case: case[1].lost is not Loss.EVIDENCE)
    for piece in PIECES:
        for capture, ways in left.items():
            yield ways[:piece]
            left[capture] = ways[len(ways) if piece is None else piece :]


def main() -> None:
    """Run the cases that have not passed, and print those that differ."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--only", default="", help="captures whose name begins with this")
    parser.add_argument("--part", default="1/1", help="which of how many runs side by side")
    parser.add_argument("--progress", type=Path, help="by default .stranger-PART-OF in the tree")
    options = parser.parse_args()
    part, of = map(int, options.part.split("/"))
    captures = [capture for capture in CAPTURES if capture.name.startswith(options.only)]
    random.Random(0).shuffle(captures)
    path = options.progress or ROOT / f".stranger-{part}-{of}"
    # frames have no cycles worth a tenth of the time; other cycles are collected below
    gc.disable()
    ran = red = before = 0
    with Progress(path, code_now()) as progress:
        for piece in rounds(captures[part - 1 :: of]):
            cases = [case for case in piece if not progress.passed(name_of(case))]
            before += len(piece) - len(cases)
            gc.collect()
            with remembering() as memory:
                for case in cases:
                    try:
                        said = unlike(*case, memory)
                    except CaptureError as error:
                        said = [str(error)]
                    progress.told(name_of(case), said)
                    ran, red = ran + 1, red + bool(said)
                    for line in said:
                        print(f"{name_of(case)}: {line}", flush=True)
            if cases and sys.stderr.isatty():
                print(f"\r{before + ran} told, {red} otherwise ", end="", file=sys.stderr)
    print(f"{before + ran} combinations, {ran} of them now: {red} tell otherwise")
    raise SystemExit(bool(red))


if __name__ == "__main__":
    main()
