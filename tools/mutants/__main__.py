"""Which small changes of the code does no test notice?

`make mutants`, or:

    python -m tools.mutants gomem/causes gomem/inputs/smaps --sample 40 --seed 1

Each change is made by itself. The tests that can notice it run: those in the folder named after the
module and those that import it, if they reach the changed line; the fastest first. Surviving
changes are listed, unless `tools/mutants/known.txt` says why they change nothing. Exits with 1 if
too few changes are noticed.
"""

from __future__ import annotations

import argparse
import ast
import gc
import math
import os
import pickle
import random
import sys
import tempfile
from contextlib import suppress
from functools import partial
from hashlib import sha256
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tools.mutants.changes import ROOT, mutants_of
from tools.mutants.warm import UNLOADED, Reached, forked, mark_all, noticed_by, reached

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tools.mutants.changes import Mutant

KNOWN = ROOT / "tools/mutants/known.txt"
WANTED = 0.85
TEST_SECONDS = 0.5  # CPU time; a change that only slower tests notice survives
CHANGE_SECONDS = 4.0  # for all tests of one change
SPARE_SECONDS = 10.0
SHARING = "_recorded_captures"  # shared by tests in a process; every fork would set it up again


class Loop:
    """Replaces pytest's loop over tests with a loop over changes."""

    def __init__(self, mutants: list[Mutant], files: list[Path], traces: Path) -> None:
        self.mutants = mutants
        self.files = frozenset(map(str, files))
        self.traces = traces
        self.survived: list[Mutant] = []
        self.by: list[str | None] = []

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Test every change, each in a fork of the process with the collected tests."""
        load_all()
        gc.freeze()
        session.config._tmp_path_factory.getbasetemp()
        for item in session.items:
            item.fixturenames[:] = [name for name in item.fixturenames if name != SHARING]
        table = self._traced(session.items)
        for mutant in self.mutants:
            items = chosen(mutant, session.items, table)
            noticing = partial(noticed_by, mutant, items)
            by = forked(noticing, seconds=SPARE_SECONDS + CHANGE_SECONDS) if items else ""
            self.by.append(by)
            if by == UNLOADED:
                print(f"# {UNLOADED}: {mutant.name}", flush=True)
            if by == "":
                print(f"{mutant.name}  # line {mutant.line}, {len(items)} tests", flush=True)
            if len(self.by) % 25 == 0:
                print(f"# {self.noticed} of {len(self.by)}", flush=True)
        return True

    @property
    def noticed(self) -> int:
        """The number of changes for which a test failed or did not end."""
        return sum(by != "" for by in self.by)

    def _traced(self, items: list[pytest.Item]) -> dict[str, Reached]:
        """Return the lines that each test runs, found in a fork with instrumented modules."""
        forked(partial(self._trace, items))
        known = self._known_traces()
        return {item.nodeid: known[self._key(item)] for item in items}

    def _trace(self, items: list[pytest.Item]) -> None:
        known = self._known_traces()
        unknown = [item for item in items if self._key(item) not in known]
        if unknown:
            mark_all(self.files)
        for number, item in enumerate(unknown, start=1):
            seen = forked(partial(reached, item), seconds=TEST_SECONDS)
            known[self._key(item)] = seen or Reached(seconds=math.inf)
            if number % 200 == 0 or number == len(unknown):
                self.traces.write_bytes(pickle.dumps(known))

    def _key(self, item: pytest.Item) -> tuple[str, str, str]:
        files = sha256("".join(sorted(self.files)).encode()).hexdigest()
        return item.nodeid, sha256(item.path.read_bytes()).hexdigest(), files

    def _known_traces(self) -> dict[tuple[str, str, str], Reached]:
        return pickle.loads(self.traces.read_bytes()) if self.traces.is_file() else {}


def chosen(
    mutant: Mutant, items: list[pytest.Item], table: dict[str, Reached]
) -> list[pytest.Item]:
    """Return the tests that reach a change, own and fast ones first, within the time limit."""

    def gets_there(item: pytest.Item) -> bool:
        seen = table[item.nodeid]
        if not mutant.function:
            own = vars(item.module)
            return any(name in own or name in seen.names for name in mutant.names)
        first, last = mutant.offsets
        lines = range(first, last + 1)
        return any((str(mutant.path), mutant.function, line) in seen.lines for line in lines)

    there = [item for item in items if gets_there(item)]
    own = f"test_{mutant.path.stem}"
    there.sort(key=lambda item: (not item.path.stem.startswith(own), table[item.nodeid].seconds))
    spent, kept = 0.0, []
    for item in there:
        spent += table[item.nodeid].seconds
        if spent > CHANGE_SECONDS:
            break
        kept.append(item)
    return kept


def load_all() -> None:
    """Load modules that functions import at run time, once for all forks."""
    for path in (ROOT / "gomem").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            for name in [node.module] if isinstance(node, ast.ImportFrom) else names:
                with suppress(ImportError):
                    import_module(name)


def tests_of(paths: Iterable[Path]) -> list[Path]:
    """Return the tests in each module's folder, and those of its top folder that import it."""
    found = set()
    texts = {test: test.read_text() for test in (ROOT / "tests").rglob("test_*.py")}
    for path in paths:
        inside = path.relative_to(ROOT / "gomem").with_suffix("")
        floor = ROOT / "tests" / inside.parts[0]
        folder, module = ROOT / "tests" / inside.parent, f"gomem.{'.'.join(inside.parts)}"
        found |= {
            test
            for test, text in texts.items()
            if test.parent == folder or (test.is_relative_to(floor) and f"{module} import" in text)
        }
    return sorted(test for test in found if "benchmarks" not in test.parts)


def known_equivalents() -> set[str]:
    """Return the changes known to change nothing: one per line, with the reason after ` # `."""
    lines = KNOWN.read_text().splitlines()
    return {line.partition("  # ")[0] for line in lines if line.strip() and line[0] != "#"}


def main() -> int:
    """Make changes, run tests, list the surviving changes."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("paths", nargs="*", default=["gomem"], help="files or folders")
    parser.add_argument("--sample", type=int, help="so many changes, chosen at random")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--list", action="store_true", help="only list the changes")
    parser.add_argument("--again", type=Path, help="only the changes that this output lists")
    parser.add_argument("--traces", type=Path, help="where to keep which test gets to which line")
    parser.add_argument("--tests", nargs="*", type=Path, help="only these files of tests")
    given = parser.parse_args()
    files = [file for path in given.paths for file in _files(ROOT / path)]
    known = known_equivalents()
    made = [mutant for file in files for mutant in mutants_of(file)]
    mutants = [mutant for mutant in made if mutant.name not in known]
    paths = tuple(f"{file.relative_to(ROOT)}: " for file in files)
    for name in sorted(known - {mutant.name for mutant in made}):
        if name.startswith(paths):
            print(f"listed, and no change any more: {name}")
    if given.again is not None:
        listed = {line.partition("  # ")[0] for line in given.again.read_text().splitlines()}
        mutants = [mutant for mutant in mutants if mutant.name in listed]
    chance = random.Random(given.seed)
    mutants = chance.sample(mutants, min(len(mutants), given.sample or len(mutants)))
    if given.list:
        print(*(mutant.name for mutant in mutants), sep="\n")
        return 0
    return _run(mutants, files, given.tests or tests_of(files), given.traces)


def _run(mutants: list[Mutant], files: list[Path], tests: list[Path], traces: Path | None) -> int:
    os.chdir(ROOT)
    with tempfile.TemporaryDirectory() as folder:
        loop = Loop(mutants, files, traces or Path(folder) / "traces")
        os.environ["HYPOTHESIS_STORAGE_DIRECTORY"] = folder
        options = ["-q", "-s", "-n0", "-p", "no:cacheprovider", "-o", "addopts="]
        options += [
            "--benchmark-skip",
            "--no-summary",
            f"--basetemp={folder}/tests",
            "--hypothesis-seed=0",
        ]
        pytest.main([*options, *map(str, tests)], plugins=[loop])
    if len(loop.by) < len(mutants):
        print("the tests could not be collected")
        return 2
    endless, unloaded = loop.by.count(None), loop.by.count(UNLOADED)
    print(f"{loop.noticed} of {len(mutants)} changes noticed", end=", ")
    print(f"{endless} because a test did not end, {unloaded} because a module did not load")
    return 0 if loop.noticed >= WANTED * len(mutants) else 1


def _files(path: Path) -> list[Path]:
    return [path] if path.is_file() else sorted(path.rglob("*.py"))


if __name__ == "__main__":
    sys.exit(main())
