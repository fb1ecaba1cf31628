"""The small changes to a file: an edge shifted, a guard or a term removed, a number doubled."""

from __future__ import annotations

import ast
import copy
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent.parent
EDGES = {ast.GtE: ast.Gt, ast.Gt: ast.GtE, ast.LtE: ast.Lt, ast.Lt: ast.LtE, ast.Eq: ast.NotEq}
EDGES |= {ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot}
EDGES |= {ast.IsNot: ast.Is}
SIGNS = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.Div: ast.Mult}
SEVERITIES = {"CRITICAL": "WARNING", "WARNING": "INFO", "INFO": "WARNING"}


@dataclass(frozen=True)
class Mutant:
    """A change to a file.

    Attributes:
        path: The file.
        line: The line's number.
        before: The line.
        after: The changed line.
        text: The whole changed file.
        function: The function that contains it; empty if it runs on import.
        offsets: First and last line of the changed statement, relative to the function.
        names: The names set by the enclosing top-level statement on import, and the names computed
            from them in this file and in files that import it.
    """

    path: Path
    line: int
    before: str
    after: str
    text: str
    function: str
    offsets: tuple[int, int]
    names: tuple[str, ...]

    @property
    def name(self) -> str:
        """The name in `known.txt`: without the line's number, which changes."""
        return f"{self.path.relative_to(ROOT)}: {self.before} -> {self.after}"


def changes_of(node: ast.AST) -> Iterator[ast.AST]:
    """Yield nodes that can replace a node."""
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
        others = sorted({node.value * 2, node.value + 1} - {node.value})
        yield from (_with(node, value=value) for value in others)
    elif isinstance(node, ast.If) and not node.orelse and _leaves(node.body[-1]):
        yield _with(node, test=ast.Constant(value=False))  # a guard removed
    elif isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add):
        yield ast.Pass()  # something not collected, usually damage
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
    """Yield all changes to a file; annotations, docstrings and type names are not changed."""
    text = path.read_text()
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line.encode()))
    data = text.encode()
    tree = ast.parse(text)
    set_by: dict[ast.stmt, tuple[str, ...]] = {}
    for node, statements in _runs(tree, ()):
        for changed in changes_of(node):
            begin = starts[node.lineno - 1] + node.col_offset
            end = starts[node.end_lineno - 1] + node.end_col_offset
            indent = "\n" + " " * node.col_offset
            source = ast.unparse(ast.fix_missing_locations(changed)).replace("\n", indent)
            if isinstance(changed, ast.expr):
                source = f"({source})"
            head, tail = starts[node.lineno - 1], starts[node.end_lineno]
            before = _shown(data[head:tail])
            after = _shown(data[head:begin] + source.encode() + data[end:tail])
            if isinstance(node, ast.If):
                before, after = f"if {_shown(ast.unparse(node.test).encode())}", "never"
            new = (data[:begin] + source.encode() + data[end:]).decode()
            function, offsets = _place(statements)
            if statements[0] not in set_by:
                set_by[statements[0]] = _set_by(path, tree, statements[0])
            names = set_by[statements[0]]
            yield Mutant(path, node.lineno, before, after, new, function, offsets, names)


def _set_by(path: Path, tree: ast.Module, outermost: ast.stmt) -> tuple[str, ...]:
    """Return the names set by a top-level statement, and all names computed from them."""
    made = [name for statement in made_of(tree, outermost) for name in names_of(statement)]
    names = (*names_of(outermost), *made)
    if isinstance(outermost, (ast.FunctionDef, ast.ClassDef)):
        return names
    elsewhere = made_elsewhere(path, set(names))
    return (*names, *(name for _, statement in elsewhere for name in names_of(statement)))


def _shown(source: bytes) -> str:
    return " ".join(source.decode().split())[:240]


def _runs(
    node: ast.AST, statements: tuple[ast.stmt, ...]
) -> Iterator[tuple[ast.AST, tuple[ast.stmt, ...]]]:
    """Yield the nodes that run, each with its enclosing statements, outermost first."""
    for name, value in ast.iter_fields(node):
        if name in {"annotation", "returns", "decorator_list", "format_spec"}:
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, (ast.JoinedStr, ast.Import, ast.ImportFrom)):
                continue
            if isinstance(child, ast.AST):
                around = (*statements, child) if isinstance(child, ast.stmt) else statements
                if hasattr(child, "lineno"):
                    yield child, around
                yield from _runs(child, around)


def _place(statements: tuple[ast.stmt, ...]) -> tuple[str, tuple[int, int]]:
    """Return the outermost function, and the lines of the innermost statement relative to it."""
    depth = next(
        (at for at, node in enumerate(statements) if isinstance(node, ast.FunctionDef)), None
    )
    if depth is None:
        return "", (0, 0)
    function, inner = ".".join(node.name for node in statements[: depth + 1]), statements[-1]
    first, last = inner.lineno, inner.end_lineno
    below = getattr(inner, "body", None)
    if below and not isinstance(inner, ast.FunctionDef):
        last = max(first, below[0].lineno - 1)
    begin = statements[depth].lineno
    return function, (first - begin, last - begin)


@cache
def places_of(path: Path) -> dict[int, tuple[str, int]]:
    """Return, for each line in a function, the outermost function and the line's offset in it."""
    found = {}
    classes: list[tuple[str, ast.AST]] = [("", ast.parse(path.read_text()))]
    for prefix, outer in classes:
        for node in outer.body:
            if isinstance(node, ast.ClassDef):
                classes.append((f"{prefix}{node.name}.", node))
            elif isinstance(node, ast.FunctionDef):
                for line in range(node.lineno, node.end_lineno + 1):
                    found[line] = (f"{prefix}{node.name}", line - node.lineno)
    return found


@cache
def names_by_function(path: Path) -> dict[str, set[str]]:
    """Return the names that each outermost function of a file uses."""
    places = places_of(path)
    found: dict[str, set[str]] = {}
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, (ast.Name, ast.Attribute)) and node.lineno in places:
            name = node.id if isinstance(node, ast.Name) else node.attr
            found.setdefault(places[node.lineno][0], set()).add(name)
    return found


def made_of(tree: ast.Module, outermost: ast.stmt) -> list[ast.stmt]:
    """Return a file's assignments that use the names a statement sets, directly or indirectly."""
    if isinstance(outermost, (ast.FunctionDef, ast.ClassDef)):
        return []
    return _assignments_with(tree, set(names_of(outermost)), after=outermost.lineno)


def made_elsewhere(path: Path, names: set[str]) -> list[tuple[str, ast.stmt]]:
    """Return other modules' assignments that use these names of a file, directly or indirectly.

    Each comes with its module, in the order in which they run.
    """
    found = []
    todo = [(_dotted(path), names)]
    for module, changed in todo:
        for other, tree in _trees().items():
            imports = [node for node in tree.body if isinstance(node, ast.ImportFrom)]
            taken = {
                alias.asname or alias.name
                for node in imports
                for alias in node.names
                if node.module == module and alias.name in changed
            }
            made = _assignments_with(tree, taken) if taken else []
            if made:
                found += [(other, node) for node in made]
                todo.append((other, {name for node in made for name in names_of(node)}))
    return found


@cache
def _trees() -> dict[str, ast.Module]:
    """Parse the package's modules."""
    files = sorted((ROOT / "gomem").rglob("*.py"))
    return {_dotted(file): ast.parse(file.read_text()) for file in files}


def _dotted(path: Path) -> str:
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


def _assignments_with(tree: ast.Module, names: set[str], after: int = 0) -> list[ast.stmt]:
    """Return a file's assignments after a line that use these names, directly or indirectly."""
    changed, found = set(names), []
    for statement in tree.body:
        used = {name.id for name in ast.walk(statement) if isinstance(name, ast.Name)}
        is_later = isinstance(statement, (ast.Assign, ast.AnnAssign)) and statement.lineno > after
        if is_later and changed & used:
            found.append(statement)
            changed |= set(names_of(statement))
    return found


def names_of(outermost: ast.stmt) -> tuple[str, ...]:
    """Return the names that a top-level statement sets."""
    if isinstance(outermost, (ast.FunctionDef, ast.ClassDef)):
        return (outermost.name,)
    return tuple(
        node.id
        for node in ast.walk(outermost)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    )
