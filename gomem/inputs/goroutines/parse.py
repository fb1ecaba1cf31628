"""Goroutines with their stacks: `/debug/pprof/goroutine?debug=2`, a panic's dump, SIGQUIT's.

Printed by    the runtime's traceback.go, in goroutineheader and traceback; runtime.Stack.
Form          goroutine 35 [chan receive, 5 minutes, locked to thread]:
              main.(*client).deliver(0xc000112000, {0x1, 0x2})
                      /app/main.go:26 +0x85             (behind a tabulator)
              created by main.serve in goroutine 1
                      /app/main.go:91 +0xa5
Quirks        Minutes stand there from the first full one on; a goroutine that just began to wait
              has none. They are cut off, not rounded.
              ` in goroutine 1` is there since Go 1.21. Of a stack of more than 100 frames, older
              releases print the innermost 100, some with `...additional frames elided...` behind
              them and most without; 1.21 and later print the 50 at either end and say how many
              they left out between.
              A mutex waits in `semacquire` up to 1.17, then in `sync.Mutex.Lock`; a WaitGroup in
              `semacquire` up to 1.22.
              With GOTRACEBACK=system, and always with SIGQUIT, the runtime's own goroutines are
              there with all of their frames, runtime.gopark first; SIGQUIT's have `gp=… m=…`.
              `(scan)` and `(durable)` are marks, not states; so are `(leaked)`, which Go 1.26 and
              later set in a dump that looks for leaks, and `synctest bubble 1`.
              net/http/pprof stops at 64 MB, in the middle of a line.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gomem.errors import Damage, FormatError, excerpt

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_BYTES = 64 << 20  # where net/http/pprof stops
SECONDS = 60
OLD_DEPTH = 98  # frames that older releases print of a deeper stack, without the runtime's own
_HEADER = re.compile(
    rb"goroutine (\d{1,19}) (?:gp=\S+ m=\S+ (?:mp=\S+ )?)?\[([^\]\n]{1,200})\][^\n]{0,1000}:\s*"
)
_BEGINNING = re.compile(rb"(?:[^\n]*\n){0,60}?goroutine \d+ [^\n\[]{0,200}\[[^\]\n]+\][^\n]*:\r?\n")
_CREATED = re.compile(rb"created by (\S.*?)( in goroutine \d+)?\s*")
_PLACE = re.compile(rb"\t.*:\d+(?: .*)?\s*")
_ELIDED = re.compile(rb"\.\.\.(?:(\d+|additional) frames elided)\.\.\.\s*")
_CALL = re.compile(rb"\S.*\(.*\)\s*")
_MARK = re.compile(r" \((scan|durable|leaked)\)")
_MINUTES = re.compile(r"(\d{1,9}) minutes")
LOCKED = "locked to thread"
LEAKED = "leaked"
EXIT = "runtime.goexit"
MAIN = frozenset({"runtime.main", "runtime.handleAsyncEvent"})  # of the runtime, and the program's
# What runs finalizers, until Go 1.24 and since; and cleanups, since 1.25. A count of goroutines has
# them while they call the program.
FINALIZING = frozenset({"runtime.runfinq", "runtime.runFinalizers", "runtime.runCleanups"})
SYSTEM_STACK = b"0"  # goroutine 0 is a thread's own stack


@dataclass(frozen=True, slots=True)
class Waiting:
    """What goroutines have in common that are counted together."""

    state: str  # what they wait for, as the runtime says it: `chan receive`
    minutes: int | None  # for how many full minutes; None if for less than one, or nothing says
    locked: bool  # whether they are locked to a thread
    leaked: bool  # whether the runtime found that nothing can ever wake them
    stack: tuple[str, ...]  # functions, innermost first
    elided: int  # frames that the dump left out; -1 if it does not say how many
    created_by: str  # the function that started them; empty if nothing did

    @property
    def of_the_runtime(self) -> bool:
        """Whether it is one of the runtime's own, which no count of goroutines has."""
        if not self.stack or self.elided < 0:
            return self.created_by.startswith("runtime.")
        begun = self.stack[-1]
        if begun in FINALIZING and finalizer_of(self.stack):
            return False
        return begun.startswith("runtime.") and begun not in MAIN


def finalizer_of(stack: Sequence[str]) -> str:
    """The finalizer or cleanup that a goroutine of a stack, innermost first, runs; else empty."""
    begin = next((place for place, name in enumerate(stack) if name in FINALIZING), 0)
    called = [name for name in stack[:begin] if not name.startswith(("runtime.", "reflect."))]
    return called[-1] if called else ""


@dataclass
class _Goroutine:
    """One goroutine being read."""

    number: bytes
    state: str
    line: int
    stack: list[str] = field(default_factory=list)
    elided: int = 0
    created_by: str = ""
    complete: bool = True  # whether each function has its place below it
    old: bool = False  # whether it is of a release before Go 1.21

    def waiting(self) -> Waiting:
        parts = [part.strip() for part in self.state.split(",")]
        marks = _MARK.findall(parts[0])
        minutes = next((found for part in parts if (found := _MINUTES.fullmatch(part))), None)
        stack = self.stack[:-1] if self.stack[-1:] == [EXIT] else self.stack
        state, since = _MARK.sub("", parts[0]), None if minutes is None else int(minutes[1])
        said = (LOCKED in parts, LEAKED in marks or LEAKED in parts)
        elided = -1 if self.old and len(stack) >= OLD_DEPTH else self.elided
        return Waiting(state, since, *said, tuple(stack), elided, self.created_by)


def looks_like_goroutines(data: bytes) -> bool:
    """Whether a goroutine with its stack stands at its beginning, or behind a crash's message."""
    return _BEGINNING.match(data[: 1 << 16]) is not None


def parse_goroutines(data: bytes, *, source: str) -> tuple[Counter[Waiting], list[Damage]]:
    """Count the goroutines of a dump, in its order, those together that differ in nothing it says.

    What is around them, such as a crash's message and the registers behind it, is passed over; a
    dump's cut end is damage. FormatError where there is no goroutine in it.
    """
    found: Counter[Waiting] = Counter()
    names: dict[bytes, str] = {}
    current: _Goroutine | None = None
    last: _Goroutine | None = None
    damage: list[Damage] = []
    for number, line in enumerate(data.split(b"\n"), start=1):
        if header := _HEADER.fullmatch(line):
            _count(current, found)
            state = header[2].decode("utf-8", "backslashreplace")
            current = last = _Goroutine(header[1], state, number)
        elif current is None:
            continue
        elif not line.strip():
            _count(current, found)
            current = None
        elif not _take(line, current, names):
            if current.stack:
                _count(current, found)
                current = None
            else:
                what = "not a line of a goroutine's stack; wanted `function(arguments)`"
                damage.append(Damage(source, f"line {number}", what, excerpt(line)))
    _count(current, found)
    if last is None:
        raise FormatError(source, "", "no goroutine in it; wanted `goroutine 1 [running]:`")
    if not last.complete or not last.stack or len(data) == MAX_BYTES:
        damage = [each for each in damage if each.where != f"line {number}"]
        what = "ends within a goroutine: it is cut, and goroutines may be missing"
        damage.append(Damage(source, f"line {last.line}", what))
    return found, damage


def _take(line: bytes, goroutine: _Goroutine, names: dict[bytes, str]) -> bool:
    """Add a line to its goroutine; False if it does not belong to one."""
    if _PLACE.fullmatch(line):
        goroutine.complete = True
    elif created := _CREATED.fullmatch(line):
        goroutine.created_by = created[1].decode("utf-8", "backslashreplace")
        goroutine.old = created[2] is None
        goroutine.complete = False
    elif elided := _ELIDED.fullmatch(line):
        goroutine.elided = int(elided[1]) if elided[1].isdigit() else -1
    elif line.startswith(b"goroutine running on other thread"):
        goroutine.complete = True
    elif _CALL.fullmatch(line):
        name = line.rpartition(b"(")[0]
        goroutine.stack.append(names.setdefault(name, name.decode("utf-8", "backslashreplace")))
        goroutine.complete = False
    else:
        goroutine.complete = False
        return False
    return True


def _count(goroutine: _Goroutine | None, found: Counter[Waiting]) -> None:
    if goroutine is not None and goroutine.number != SYSTEM_STACK:
        found[goroutine.waiting()] += 1
