"""Rules that name the missing call by the frames that accumulate; `signatures.toml` lists them.

A stack is read from its innermost function up to the program's own. The frames before that are the
library in which a goroutine waits, or which allocates. A goroutine started by a library has no
function of the program, so its whole stack is read.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from gomem.inputs.pprof.calls.names import can_be_mended, package_of
from gomem.releases import ANY, GoRelease, GoVersion, parse_release
from gomem.sources.packaged import text_beside

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence


SIGNATURES = "signatures.toml"
GOROUTINES, FINALIZERS, THREADS = "goroutines", "finalizers", "threads"
RETAINED, ALLOCATED, NATIVE = "retained", "allocated", "native"
LOCKS = frozenset({"mutex", "rwmutex"})  # rows of goroutines that wait for a lock
ANYWHERE = "*."  # before a name: in any package
_RUNTIME_PREFIXES = ("runtime.", "internal/runtime/")
LEAST_SHARE = 0.05  # of a profile's total: a smaller site is not mentioned
_CLOSURE = re.compile(r"(?:[.-](?:func|gowrap|deferwrap|range)?[0-9]+)+$|-fm$")
_ARGUMENTS = r"(?:\[.*\])?"  # type arguments
# Functions in which the program's own code can wait directly.
_BLOCKING = ("runtime.", "internal/runtime/", "sync.", "internal/sync.", "time.")


@dataclass(frozen=True, slots=True)
class Signature:
    """A row of the table, where its columns are explained.

    Attributes:
        since, before: The first Go release to which the row applies, and the first later release to
            which it does not; None if unbounded.
    """

    name: str
    of: tuple[str, ...]
    frames: tuple[str, ...]
    call: str
    why: str
    reference: str
    in_use: str = ""
    is_innermost: bool = False
    is_general: bool = False
    is_open: bool = False
    is_for_a_pool: bool = False
    is_elsewhere: bool = False
    states: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    opened: tuple[str, ...] = ()
    of_another: tuple[str, ...] = ()
    since: GoRelease = ANY
    before: GoRelease | None = None
    each: tuple[int, ...] = ()
    counted: str = ""
    module: str = ""

    @property
    def releases(self) -> str:
        """The Go releases to which the row applies, in words; empty for all releases."""
        first = "" if self.since == ANY else f"since {_shown(self.since)}"
        last = "" if self.before is None else f"before {_shown(self.before)}"
        return " and ".join(filter(None, (first, last)))

    def fits(self, inside: Sequence[str], state: str = "") -> bool:
        """Return whether the row fits the library's part of a stack, in the form of `bare`."""
        if self.is_general and not all(name.startswith(_BLOCKING) for name in inside):
            return False
        if state in self.states:
            return True
        if self.is_innermost:
            inside = [name for name in inside if not name.startswith("runtime.")][:1]
        return any(_is_called(frame, inside) for frame in self.frames)

    def is_for_another(self, inside: Sequence[str]) -> bool:
        """Whether a stack that fits allocated for what another function made."""
        innermost = [name for name in inside if not name.startswith(_RUNTIME_PREFIXES)][:1]
        return any(_is_called(frame, innermost) for frame in self.of_another)


def _shown(release: GoRelease) -> str:
    return f"Go {str(release).removeprefix('go')}"


def _is_called(frame: str, names: Sequence[str]) -> bool:
    if frame.startswith(ANYWHERE):
        return any(name.endswith(frame[1:]) for name in names)
    return frame in names


@cache
def signatures() -> tuple[Signature, ...]:
    """Return all rows, in the table's order."""
    table = tomllib.loads(text_beside("gomem.causes", SIGNATURES))
    return tuple(Signature(**dict(_columns(row))) for row in table["signature"])


def _columns(row: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Return a row's columns, under the names of the class."""
    for name, value in row.items():
        if name in ("since", "before"):
            yield name, parse_release(value)
        else:
            yield name, tuple(value) if isinstance(value, list) else value


@lru_cache(maxsize=1 << 16)
def bare(function: str) -> str:
    """Return a function as in the table: without type arguments, a closure as its outer."""
    plain = re.sub(r"\[.*?\](?=\)|\.|$)", "", function.rpartition("/vendor/")[2])
    return _CLOSURE.sub("", plain.replace("%2e", "."))


def inside_of_own(stack: Sequence[str], others: Collection[str] = ()) -> tuple[list[str], str]:
    """Return the library's part of a stack, in the form of `bare`, and the own function.

    The innermost frame is first. The own function is empty if the whole stack is the library's.
    """
    inside: list[str] = []
    for function in stack:
        if can_be_mended(function) and function not in others and not _is_of_table(function):
            return inside, function
        inside.append(bare(function))
    return inside, ""


def signature_of(
    inside: Sequence[str], kind: str, version: GoVersion | None = None, state: str = ""
) -> Signature | None:
    """Return the first row that fits the library's part of a stack; None without a fitting row."""
    return next(
        (
            row
            for row in signatures()
            if kind in row.of
            and (version is None or version.possibly(row))
            and row.fits(inside, state)
        ),
        None,
    )


def pattern_of(frames: Sequence[str], *, with_closures: bool = True) -> str:
    """Return a regular expression for functions, in any linker's spelling, and their closures."""
    closures = r"(?:[.-](?:func|gowrap|deferwrap)?[0-9]+)*" if with_closures else ""
    return rf"^(?:{'|'.join(map(_spelled, frames))}){closures}$"


def _spelled(name: str) -> str:
    package, whole = ("[^;]*", name[1:]) if name.startswith(ANYWHERE) else ("", name)
    dotted = re.escape(whole).replace(r"\.", r"(?:\.|%2e)")
    return package + dotted.replace(r"\)", rf"{_ARGUMENTS}\)") + _ARGUMENTS


def known_sites(in_use: Mapping[str, int], total: int) -> list[tuple[str, Signature]]:
    """Return the functions of a heap profile that the table knows, with their in-use memory.

    Memory allocated by callees counts too. At most one function per row, the largest first.
    """
    found: dict[str, tuple[str, Signature]] = {}
    for name, value in sorted(in_use.items(), key=lambda pair: -pair[1]):
        if value < LEAST_SHARE * total:
            break
        for kind in (RETAINED, ALLOCATED):
            row = signature_of([bare(name)], kind)
            if row is not None:
                found.setdefault(row.name, (name, row))
                break
    return list(found.values())


def _is_of_table(function: str) -> bool:
    """Return whether a function belongs to a module in the table."""
    package = package_of(function)
    return any(package == path or package.startswith(f"{path}/") for path in _modules())


@cache
def _modules() -> frozenset[str]:
    return frozenset(row.module.partition("@")[0] for row in signatures() if row.module)
