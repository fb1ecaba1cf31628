"""Runs tests against many changes in one process, by patching loaded modules.

pytest imports and collects once. Then each change is made in a fork: it replaces the changed
statement's code, and runs the tests that reach it, the fastest first. No file is written, so a
program started by a test does not see the change.
"""

from __future__ import annotations

import ast
import os
import resource
import signal
import sys
import time
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, Pipe
from pathlib import Path
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from _pytest.runner import runtestprotocol

from tools.mutants.changes import (
    ROOT,
    made_elsewhere,
    made_of,
    names_by_function,
    names_of,
    places_of,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import pytest

    from tools.mutants.changes import Mutant

SPARE_BYTES = 4 << 30
UNLOADED = "its module does not load"
CONSTANT = (int, float, str, bytes, bool, tuple, frozenset, type(None))


@dataclass
class Reached:
    """The lines that a test runs.

    Attributes:
        seconds: Its CPU time; infinite if it exceeded the limit.
        lines: The lines run in the files of interest: file, function, offset in the function.
        names: The names that the functions it enters use.
    """

    seconds: float = 0.0
    lines: set[tuple[str, str, int]] = field(default_factory=set)
    names: set[str] = field(default_factory=set)


def forked(work: Callable[[], Any], *, seconds: float | None = None) -> Any:
    """Return a function's result in a fork; None if the fork dies or exceeds its time."""
    here, there = Pipe(duplex=False)
    child = os.fork()
    if child == 0:
        _work_and_leave(work, there, seconds)
    there.close()
    try:
        return here.recv()
    except EOFError:
        return None
    finally:
        here.close()
        os.waitpid(child, 0)


def _work_and_leave(work: Callable[[], Any], answer: Connection, seconds: float | None) -> None:
    try:  # an exception means no result
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in range(3):
            os.dup2(nothing, stream)
        if seconds is not None:
            signal.setitimer(signal.ITIMER_PROF, seconds)  # kills the process
            pages = int(Path("/proc/self/statm").read_text().split()[0])
            most = pages * resource.getpagesize() + SPARE_BYTES
            resource.setrlimit(resource.RLIMIT_AS, (most, most))
        answer.send(work())
    finally:
        os._exit(0)


def reached(item: pytest.Item) -> Reached:
    """Return the instrumented lines that a test runs, without results cached by other tests."""
    _RUN.clear()
    begin = time.process_time()
    has_passed = not any(report.failed for report in runtestprotocol(item, log=False))
    assert has_passed, item
    seen = Reached(time.process_time() - begin)
    for file in {file for file, _ in _RUN}:
        places = places_of(Path(file))
        lines = {places[line] for name, line in _RUN if name == file and line in places}
        seen.lines |= {(file, *place) for place in lines}
        names = names_by_function(Path(file))
        seen.names.update(*(names.get(function, ()) for function, _ in lines))
    return seen


_RUN: set[tuple[str, int]] = set()  # file and line of each statement run by a test


class _Marked(ast.NodeTransformer):
    """Instruments every statement in a file's functions."""

    def __init__(self, file: str) -> None:
        self.file = file

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        for inner in ast.walk(node):
            for name in ("body", "orelse", "finalbody"):
                statements = getattr(inner, name, None)
                if isinstance(statements, list) and not isinstance(inner, ast.ClassDef):
                    marked = [
                        part
                        for statement in statements
                        for part in (self._mark(statement), statement)
                    ]
                    setattr(inner, name, marked)
        return ast.fix_missing_locations(node)

    def _mark(self, before: ast.stmt) -> ast.stmt:
        mark = ast.parse(f"_RUN.add(({self.file!r}, {before.lineno}))").body[0]
        return ast.copy_location(mark, before)


def mark_all(files: Iterable[str]) -> None:
    """Instrument loaded modules; this costs hardly any time when tests run."""
    for file in files:
        names_by_function(Path(file))  # cached here, once, instead of in each test's fork
        space = vars(_module_of(Path(file)))
        space["_RUN"] = _RUN
        for top in ast.parse(Path(file).read_text()).body:
            if isinstance(top, (ast.FunctionDef, ast.ClassDef)):
                marked = ast.Module([_Marked(file).visit(top)], [])
                fresh = dict(space)
                exec(compile(marked, file, "exec"), fresh)
                _graft(space[top.name], fresh[top.name], set())


def _module_of(path: Path) -> ModuleType:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return sys.modules[".".join(part for part in parts if part != "__init__")]


def noticed_by(mutant: Mutant, items: list[pytest.Item]) -> str:
    """Return the first test that fails with a change, or `UNLOADED`; empty if none fails."""
    try:
        put_in_place(mutant)
    except Exception:  # noqa: BLE001 - whatever a changed table raises
        return UNLOADED
    followers: Iterable[pytest.Item | None] = [*items[1:], None]
    for item, follower in zip(items, followers, strict=True):
        if any(report.failed for report in runtestprotocol(item, log=False, nextitem=follower)):
            return item.nodeid
    return ""


def put_in_place(mutant: Mutant) -> None:
    """Apply a change to a loaded module."""
    module = _module_of(mutant.path)
    tree = ast.parse(mutant.text)
    top = next(node for node in tree.body if (node.end_lineno or 0) >= mutant.line)
    space = vars(module)
    if isinstance(top, (ast.FunctionDef, ast.ClassDef)):
        _define_again(space, top)
        return
    statements = [top, *made_of(tree, top)]
    for statement in statements:
        _run_again(space, statement)
    changed = {name for statement in statements for name in names_of(statement)}
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and changed & _names_of_defaults(node):
            _define_again(space, node)
    for other, node in made_elsewhere(mutant.path, changed):
        if other in sys.modules:
            _run_again(vars(sys.modules[other]), node)


def _define_again(space: dict[str, Any], definition: ast.FunctionDef | ast.ClassDef) -> None:
    """Replace the behaviour of a module's definition with the new definition's."""
    fresh = dict(space)
    exec(compile(ast.Module([definition], []), str(space["__file__"]), "exec"), fresh)
    _graft(space[definition.name], fresh[definition.name], set())


def _names_of_defaults(function: ast.FunctionDef) -> set[str]:
    defaults = [*function.args.defaults, *filter(None, function.args.kw_defaults)]
    return {node.id for part in defaults for node in ast.walk(part) if isinstance(node, ast.Name)}


def _run_again(space: dict[str, Any], statement: ast.stmt) -> None:
    """Run a module's statement again, and update all modules that imported the names it sets."""
    olds = {name: space.get(name) for name in names_of(statement)}
    exec(compile(ast.Module([statement], []), str(space["__file__"]), "exec"), space)
    for name, old in olds.items():
        for path, other in list(sys.modules.items()):
            if path.partition(".")[0] in {"gomem", "tests"} and other is not None:
                held = vars(other)
                if held.get(name, other) is old:
                    held[name] = space[name]


def _graft(old: Any, new: Any, done: set[int]) -> None:  # noqa: PLR0912
    """Give an old object the behaviour of a new one, for all references to it."""
    if old is new or id(old) in done:
        return
    done.add(id(old))
    if isinstance(old, FunctionType) and isinstance(new, FunctionType):
        old.__code__ = new.__code__
        old.__defaults__, old.__kwdefaults__ = new.__defaults__, new.__kwdefaults__
        for was, now in zip(old.__closure__ or (), new.__closure__ or (), strict=True):
            _graft(was.cell_contents, now.cell_contents, done)
    elif isinstance(old, type) and isinstance(new, type):
        for name, now in vars(new).items():
            was = vars(old).get(name)
            if isinstance(was, CONSTANT) and isinstance(now, CONSTANT):
                if was != now and not name.startswith("__"):
                    setattr(old, name, now)
            else:
                _graft(was, now, done)
    elif isinstance(old, property):
        for name in ("fget", "fset", "fdel"):
            _graft(getattr(old, name), getattr(new, name), done)
    else:
        for name in ("__wrapped__", "__func__", "func"):
            if hasattr(old, name) and hasattr(new, name):
                _graft(getattr(old, name), getattr(new, name), done)
