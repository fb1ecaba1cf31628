"""Fuzz the readers: inputs that are changed at random, and what must hold for every input.

`make fuzz`, or:

    python -m tools.fuzz                        60 s over all targets
    python -m tools.fuzz --hours 1              an hour over all targets
    python -m tools.fuzz --only smaps           one target
    python -m tools.fuzz --only smaps FILE      one input again
    python -m tools.fuzz --plain                without coverage, and without atheris
    python -m tools.fuzz --status               how far the last runs have come

The state stays in a folder: corpora, finds, and a log of each target. Exit 1 where there is a find.
A find becomes a file of `fixtures/malformed/`, and a test that reads it.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

ROOT = Path(__file__).parents[2]
NEEDED = "fuzzing by coverage needs atheris, for CPython 3.11 or 3.12: pip install -e '.[fuzz]'; "
NEEDED += "without it: python -m tools.fuzz --plain"
SECONDS = 60
SLICE_SECONDS = 120  # of a target, of a long run: all targets take turns
LEAST_SECONDS = 1
TIMEOUT_SECONDS = 30  # after which libFuzzer ends a process that reads one input
MEMORY_MB = 3072
COVERED = re.compile(r"#\d+\s+\w+\s+cov: (\d+) ft: (\d+) corp: (\d+)/(\S+)")


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
    if options.status:
        print(status_of(options.state))
        return
    names = _names(options.only, parser)
    seconds = SECONDS if options.hours is None else options.hours * 3600
    if options.files:
        raise SystemExit(_again(names, options.files))
    if options.plain:
        raise SystemExit(_plainly(names, seconds))
    if find_spec("atheris") is None:
        raise SystemExit(NEEDED)
    run = Guided(options.state, options.executions)
    raise SystemExit(run.all_of(names, seconds))


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


class Guided:
    """Runs targets by coverage, a process each, and keeps a log of each."""

    def __init__(self, state: Path, executions: float | None) -> None:
        self.state, self.executions = state, executions
        self.log = state / "log"
        self.log.mkdir(parents=True, exist_ok=True)

    def all_of(self, names: Sequence[str], seconds: float) -> int:
        """Give targets turns until the time is over, or all is executed that was asked for."""
        end = time.monotonic() + seconds
        turn = min(SLICE_SECONDS, max(LEAST_SECONDS, seconds / len(names)))
        while (left := end - time.monotonic()) > 0:
            for name in names:
                done = sum(row["executions"] for row in rows_of(self.log))
                if end - time.monotonic() <= 0 or done >= (self.executions or float("inf")):
                    return self._told()
                self._turn(name, round(max(LEAST_SECONDS, min(turn, left))))
        return self._told()

    def _told(self) -> int:
        print(status_of(self.state))
        return int(any(row["finds"] for row in rows_of(self.log)))

    def _turn(self, name: str, seconds: int) -> None:
        artefacts = self.state / "finds" / name
        artefacts.mkdir(parents=True, exist_ok=True)
        options = (
            f"-max_total_time={seconds}", f"-timeout={TIMEOUT_SECONDS}",
            f"-rss_limit_mb={MEMORY_MB}", f"-artifact_prefix={artefacts}/", "-print_final_stats=1",
        )  # fmt: skip
        command = [sys.executable, "-m", "tools.fuzz.guided", name, str(self.state), *options]
        (self.state / "now").mkdir(exist_ok=True)
        now = self.state / "now" / f"{name}.json"
        now.unlink(missing_ok=True)
        ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False,
                               errors="replace")  # fmt: skip
        said = json.loads(now.read_text()) if now.exists() else {"executions": 0, "finds": []}
        stat = re.search(r"stat::number_of_executed_units: (\d+)", ended.stderr)
        row = said | {"target": name, "ended": ended.returncode}
        if stat:
            row["executions"] = int(stat[1])
        covered = COVERED.findall(ended.stderr)
        if covered:
            row |= dict(zip(("covered", "features", "corpus", "corpus_bytes"), covered[-1],
                            strict=True))  # fmt: skip
        if ended.returncode:
            row["finds"] = [*row["finds"], f"ended with {ended.returncode}"]
            (artefacts / "ended.txt").write_text(ended.stderr[-20000:])
        with (self.log / f"{name}.jsonl").open("a") as file:
            file.write(json.dumps(row) + "\n")


def rows_of(log: Path) -> Iterator[dict[str, object]]:
    """The turns that are in the logs."""
    for path in sorted(log.glob("*.jsonl")):
        yield from map(json.loads, path.read_text().splitlines())


def status_of(state: Path) -> str:
    """Executions, finds and coverage of each target, and of all."""
    by_target: dict[str, list[dict[str, object]]] = {}
    for row in rows_of(state / "log"):
        by_target.setdefault(str(row["target"]), []).append(row)
    told = [f"{'target':18} {'executions':>11} {'per s':>6} {'covered':>8} {'corpus':>7} finds"]
    total = 0
    for name, rows in by_target.items():
        done = sum(int(str(row["executions"])) for row in rows)
        seconds = sum(float(str(row.get("seconds", 0))) for row in rows) or 1
        covered = max(int(str(row.get("covered", 0))) for row in rows)
        corpus = max(int(str(row.get("corpus", 0))) for row in rows)
        finds = {find for row in rows for find in row["finds"]}  # type: ignore[attr-defined]
        total += done
        told.append(f"{name:18} {done:11} {done / seconds:6.0f} {covered:8} {corpus:7} {len(finds)}")
        told += [f"    {find}" for find in sorted(map(str, finds))]
    return "\n".join([*told, f"{total} executions"])


if __name__ == "__main__":
    main()
