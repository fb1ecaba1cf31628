"""Which small changes of the code does no test notice? `make mutants`, or:

    python -m tests.mutants gomem/sources gomem/inputs/smaps --sample 40 --seed 1

Each change is made in a copy of the tree, one at a time, and the tests that may notice it run
there: those in the folder of the module's name, and those that import it. What survives is listed,
unless `tests/mutants_known.txt` says why it changes nothing. Exit 1 where fewer than the wanted
share is noticed.
"""

from __future__ import annotations

import argparse
import ast
import copy
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent
KNOWN = ROOT / "tests/mutants_known.txt"
SECONDS = 120  # of CPU: a busy machine must not pass for a test that does not end
WANTED = 0.85
COPIED = ("gomem", "tests", "fixtures", "docs", "notebooks", "pyproject.toml", "README.md")
EDGES = {ast.GtE: ast.Gt, ast.Gt: ast.GtE, ast.LtE: ast.Lt, ast.Lt: ast.LtE, ast.Eq: ast.NotEq}
EDGES |= {ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot}
EDGES |= {ast.IsNot: ast.Is}
SIGNS = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.Div: ast.Mult}
SEVERITIES = {"CRITICAL": "WARNING", "WARNING": "INFO", "INFO": "WARNING"}


@dataclass(frozen=True)
class Mutant:
    """One change: the file, the line, the line before and after it, and the whole new text."""

    path: Path
    line: int
    before: str
    after: str
    text: str

    @property
    def name(self) -> str:
        """How `mutants_known.txt` calls it: without the line's number, which moves."""
        return f"{self.path.relative_to(ROOT)}: {self.before} -> {self.after}"


def changes_of(node: ast.AST) -> Iterator[ast.AST]:
    """Nodes that could stand in a node's place."""
    if isinstance(node, ast.Compare) and type(node.ops[0]) in EDGES:
        yield _with(node, ops=[EDGES[type(node.ops[0])](), *node.ops[1:]])
    elif isinstance(node, ast.BoolOp):
        other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        yield _with(node, op=other)
        for dropped in range(len(node.values)):
            rest = [value for place, value in enumerate(node.values) if place != dropped]
            yield rest[0] if len(rest) == 1 else _with(node, values=rest)
    elif isinstance(node, ast.BinOp) and type(node.op) in SIGNS:
        yield _with(node, op=SIGNS[type(node.op)]())
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        yield node.operand
    elif isinstance(node, ast.Constant) and type(node.value) in (int, float):
        yield from (_with(node, value=value) for value in {node.value * 2, node.value + 1})
    elif isinstance(node, ast.If) and not node.orelse and _leaves(node.body[-1]):
        yield _with(node, test=ast.Constant(value=False))  # a guard removed
    elif isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add):
        yield ast.Pass()  # what is gathered, damage as a rule
    elif isinstance(node, ast.Expr) and _appends(node.value):
        yield ast.Pass()
    elif isinstance(node, ast.Attribute) and node.attr in SEVERITIES:
        yield _with(node, attr=SEVERITIES[node.attr])


def _with(node: ast.AST, **fields: object) -> ast.AST:
    changed = copy.copy(node)
    for name, value in fields.items():
        setattr(changed, name, value)
    return changed


def _leaves(statement: ast.stmt) -> bool:
    return isinstance(statement, (ast.Return, ast.Continue, ast.Break, ast.Raise))


def _appends(call: ast.expr) -> bool:
    return isinstance(call, ast.Call) and getattr(call.func, "attr", "") in {"append", "extend"}


def mutants_of(path: Path) -> Iterator[Mutant]:
    """Every change of a file: annotations, docstrings and names of types stay as they are."""
    text = path.read_text()
    lines = text.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line.encode()))
    data = text.encode()
    for node in _runs(ast.parse(text)):
        for changed in changes_of(node):
            begin = starts[node.lineno - 1] + node.col_offset
            end = starts[node.end_lineno - 1] + node.end_col_offset
            indent = "\n" + " " * node.col_offset
            source = ast.unparse(ast.fix_missing_locations(changed)).replace("\n", indent)
            if isinstance(changed, ast.expr):
                source = f"({source})"
            new = data[:begin] + source.encode() + data[end:]
            before, after = _shown(data[begin:end].decode()), _shown(source)
            if isinstance(node, ast.If):
                before, after = f"if {_shown(ast.unparse(node.test))}", "never"
            yield Mutant(path, node.lineno, before, after, new.decode())


def _shown(source: str) -> str:
    return " ".join(source.split())[:160]


def _runs(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes below one that run, but for imports under TYPE_CHECKING and f-strings' insides."""
    for name, value in ast.iter_fields(node):
        if name in {"annotation", "returns", "decorator_list", "format_spec"}:
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, (ast.JoinedStr, ast.Import, ast.ImportFrom)):
                continue
            if isinstance(child, ast.AST):
                if hasattr(child, "lineno"):
                    yield child
                yield from _runs(child)


def tests_of(path: Path) -> tuple[list[str], list[str]]:
    """The tests in the folder of a module's name, its own first; then those that import it."""
    inside = path.relative_to(ROOT / "gomem").with_suffix("")
    module = f"gomem.{'.'.join(inside.parts)}"
    folder = ROOT / "tests" / inside.parent
    own = folder / f"test_{inside.name}.py"
    near = sorted(folder.glob("test_*.py"), key=lambda test: test != own)
    others = [
        test
        for test in sorted((ROOT / "tests").rglob("test_*.py"))
        if test not in near and f"{module} import" in test.read_text()
    ]
    near_names, other_names = (
        [str(test.relative_to(ROOT)) for test in tests if "benchmarks" not in test.parts]
        for tests in (near, others)
    )
    return near_names, other_names


def is_noticed(mutant: Mutant, tree: Path) -> bool:
    """Whether a test fails in a tree with the change, or one near the module does not end."""
    target = tree / mutant.path.relative_to(ROOT)
    whole = target.read_text()
    target.write_text(mutant.text)
    near, others = tests_of(mutant.path)
    try:
        return _fails(near, tree, or_does_not_end=True) or _fails(
            others, tree, or_does_not_end=False
        )
    finally:
        target.write_text(whole)


def _fails(tests: list[str], tree: Path, *, or_does_not_end: bool) -> bool:
    if not tests:
        return False
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-n0", "-p", "no:cacheprovider", *tests]
    here = os.environ | {"PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        done = subprocess.run(
            command,
            cwd=tree,
            env=here,
            capture_output=True,
            check=False,
            timeout=10 * SECONDS,
            preexec_fn=_bounded,
        )
    except subprocess.TimeoutExpired:
        return or_does_not_end
    if done.returncode in {-signal.SIGXCPU, -signal.SIGKILL}:
        return or_does_not_end
    return done.returncode != 0


def _bounded() -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 5))


def known_equivalents() -> set[str]:
    """Changes that change nothing; each line is one, with its reason behind ` # `."""
    lines = KNOWN.read_text().splitlines()
    return {line.partition("  # ")[0] for line in lines if line.strip() and line[0] != "#"}


def main() -> int:
    """Make changes, run tests, list what nobody noticed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("paths", nargs="*", default=["gomem"], help="files or folders")
    parser.add_argument("--sample", type=int, help="so many changes, chosen at random")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--list", action="store_true", help="only list the changes")
    given = parser.parse_args()
    files = [file for path in given.paths for file in _files(ROOT / path)]
    known = known_equivalents()
    mutants = [one for file in files for one in mutants_of(file) if one.name not in known]
    if given.sample is not None and given.sample < len(mutants):
        mutants = random.Random(given.seed).sample(mutants, given.sample)
    if given.list:
        print(*(one.name for one in mutants), sep="\n")
        return 0
    noticed = 0
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder)
        for name in COPIED:
            source = ROOT / name
            (shutil.copytree if source.is_dir() else shutil.copy)(source, tree / name)
        for one in mutants:
            if is_noticed(one, tree):
                noticed += 1
            else:
                print(f"{one.name}  # line {one.line}", flush=True)
    print(f"{noticed} of {len(mutants)} changes noticed")
    return 0 if noticed >= WANTED * len(mutants) else 1


def _files(path: Path) -> list[Path]:
    return [path] if path.is_file() else sorted(path.rglob("*.py"))


if __name__ == "__main__":
    sys.exit(main())
