"""Patterns of lines in which programs log their memory: built-in ones, and a user's own."""

from __future__ import annotations

import re
import tomllib
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from gomem.errors import CaptureError
from gomem.sources.packaged import text_beside
from gomem.text import Quoted, text
from gomem.units import GIB, KIB, MIB

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

SIZES = (
    "rss", "go_alloc", "go_idle", "go_released", "go_slack", "go_total", "go_sys", "go_stacks",
    "cgo", "cgo_total", "go_heap_inuse", "go_heap_idle", "go_heap_sys", "go_next_gc",
)  # fmt: skip
COUNTS = ("goroutines", "gcs", "objects", "threads")
GROUPS = ("time", *SIZES, *COUNTS)
UNITS = {"kib": KIB, "mib": MIB, "gib": GIB, "kb": 10**3, "mb": 10**6, "gb": 10**9}
USER = "--pattern"


@dataclass(frozen=True)
class Pattern:
    """The form of a line.

    Attributes:
        name: The program that logs it, or `--pattern`.
        regex: The expression, for bytes.
        contains: Text that each such line has; empty if unknown.
        units: The group of each quantity, and the factor for a number without a unit after it.
        is_by_1024: Whether `MB` after a number is MiB, as in what Go programs print of MemStats.
    """

    name: str
    regex: re.Pattern[bytes]
    contains: bytes
    units: dict[str, tuple[str, int]]
    is_by_1024: bool = False


_added: ContextVar[tuple[Pattern, ...]] = ContextVar("_added", default=())


def patterns() -> tuple[Pattern, ...]:
    """Return the active patterns, a user's first."""
    return (*_added.get(), *_built_in())


@contextmanager
def patterns_added(expressions: Sequence[str]) -> Iterator[None]:
    """Activate a user's patterns; raises CaptureError if one is invalid."""
    token = _added.set((*map(pattern_of, expressions), *_added.get()))
    try:
        yield
    finally:
        _added.reset(token)


@cache
def _built_in() -> tuple[Pattern, ...]:
    table = tomllib.loads(text_beside("gomem.inputs", "runtime_lines/patterns.toml"))
    return tuple(pattern_of(row["regex"], row["name"], row["contains"]) for row in table["pattern"])


def pattern_of(expression: str, name: str = USER, contains: str = "") -> Pattern:
    """Create a pattern from a regular expression with named groups; CaptureError if invalid."""
    try:
        regex = re.compile(expression.encode())
    except re.error as error:
        raise CaptureError(text("{}: not a regular expression: {}", name, Quoted(error))) from error
    units = {group: _quantity(group) for group in regex.groupindex}
    known = {quantity: (group, unit) for group, (quantity, unit) in units.items()}
    wrong = [group for group, (quantity, _) in units.items() if quantity not in GROUPS]
    if wrong:
        what = "{}: no group is called {}; wanted {}"
        raise CaptureError(text(what, name, Quoted(wrong[0]), ", ".join(GROUPS)))
    if known.keys() <= {"time"}:
        raise CaptureError(f"{name}: no group has a size; wanted (?P<rss>…), (?P<go_alloc>…) …")
    return Pattern(name, regex, contains.encode(), known)


def _quantity(group: str) -> tuple[str, int]:
    """Return the quantity and the unit of a group: `go_alloc_mib` is go_alloc in MiB."""
    quantity, _, unit = group.rpartition("_")
    return (quantity, UNITS[unit]) if unit in UNITS and quantity in SIZES else (group, 1)
