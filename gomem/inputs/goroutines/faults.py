"""Crashes of a Go program that are no lack of memory, though their text looks like one.

Printed by    the runtime's maps, through throw up to Go 1.17 and fatal since: `fatal error:
              concurrent map writes`, followed by the stack that found the other writer.
              makeslice, growslice and makechan, as a panic: `panic: runtime error: makeslice: len
              out of range`; net/http's server has `http: panic serving 10.0.0.7:5123: ` before it.
              bytes.Buffer, whose ErrTooLarge is a makeslice that panicked.
Quirks        Map functions are runtime.mapassign_faststr, internal/runtime/maps.(*Map).… since Go
              1.24, and may be missing. Frames above panic are those of a deferred function.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gomem.inputs.pprof.calls.names import in_standard_library, of_the_runtime
from gomem.inputs.resemblance import Resemblance
from gomem.text import Command, Function, Text, text

if TYPE_CHECKING:
    from collections.abc import Sequence

MAP_RACE, BAD_LENGTH = "map race", "bad length"
FAULTS = frozenset({MAP_RACE, BAD_LENGTH})
_MAP_RACE = re.compile(
    rb"^[\s`$#>]{0,8}fatal error: (concurrent map (?:writes|read and map write"
    rb"|iteration and map write|clone and map write))", re.MULTILINE,
)  # fmt: skip
_BAD_LENGTH = re.compile(
    rb"^[^\n]{0,200}?\bpanic(?:: | serving [^\n]{1,100}?: )(?:runtime error: )?"
    rb"((?:makeslice|growslice|makechan|makemap|makeslicecopy): (?:len|cap|size) out of range"
    rb"|bytes\.Buffer: too large)", re.MULTILINE,
)  # fmt: skip
# The runtime's set-up on the thread's own stack; nothing of the program has run.
_BEFORE_MAIN = re.compile(
    rb"^runtime\.(?:throw|fatal|fatalthrow)\([^\n]*\)\n(?:[^\n]*\n){1,60}?"
    rb"runtime\.(schedinit|rt0_go|check|osinit|mallocinit)\b", re.MULTILINE,
)  # fmt: skip
_GOROUTINE = re.compile(rb"^[ \t]{0,8}goroutine \d", re.MULTILINE)
_RUNNING = re.compile(rb"^[ \t]{0,8}goroutine \d+ [^\n]*\[running[^\n]*\]:[ \t]*\n", re.MULTILINE)
_END = re.compile(rb"^(?:\s*\n|[ \t]*created by |[ \t]*goroutine \d)", re.MULTILINE)
_FRAME = re.compile(rb"^[ \t]*([^\s(][^\n]*?)\([^()\n]*\)[ \t]*$", re.MULTILINE)
_TEST_FOR_RACES = text(
    "guard the map with a sync.Mutex; find the other goroutine: {}", Command("go test -race ./...")
)
_LINES_ABOVE = (
    "the lines above `runtime stack:` say why; the program's own use of memory is not the cause"
)
_CHECK_LENGTH = Text("check that length before the allocation, and refuse what is too large")


def fault_of(text: bytes) -> tuple[str, str, tuple[str, ...]] | None:
    """Return what kind of fault a crash is, its message, and the functions at fault.

    Those are the frames of the running goroutine below the runtime's, innermost first.
    """
    patterns = ((MAP_RACE, _MAP_RACE), (BAD_LENGTH, _BAD_LENGTH))
    found = ((why, pattern.search(text)) for why, pattern in patterns)
    why, message = next(((why, found) for why, found in found if found), ("", None))
    if message is None:
        return None
    callers = frames_below_runtime(text[message.end() :])
    return why, message[1].decode(), callers or frames_below_runtime(_reversed(text))


def named_fault(head: bytes, _: str) -> Resemblance | None:
    """Describe a fault whose stack is missing, or a crash before main of unknown cause."""
    if (fault := fault_of(head)) is not None:
        what = text("what a Go program printed as it crashed. {}", fault_words(*fault))
        return Resemblance(what, step_after(fault[0]), is_evidence=True)
    above = _GOROUTINE.split(head, maxsplit=1)[0]
    if (begun := _BEFORE_MAIN.search(above)) is None:
        return None
    words = "what a Go program printed as it crashed before main, in the runtime's set-up ({})"
    what = text(words, Function(f"runtime.{begun[1].decode()}"))
    return Resemblance(what, _LINES_ABOVE, is_evidence=True)


def _reversed(text: bytes) -> bytes:
    """Return lines in the order in which they were printed; viewers of logs put the newest first.

    Empty if the last line of the text is not the one that the runtime prints first.
    """
    lines = text.rstrip().split(b"\n")
    is_first = _MAP_RACE.match(lines[-1]) or _BAD_LENGTH.match(lines[-1])
    return b"\n".join(reversed(lines)) if is_first else b""


def frames_below_runtime(text: bytes) -> tuple[str, ...]:
    """Return the first running goroutine's functions, from the innermost outside the runtime on."""
    running = _RUNNING.search(text)
    if running is None:
        return ()
    stack = text[running.end() :]
    end = _END.search(stack)
    found = _FRAME.finditer(stack[: end.start()] if end else stack)
    names = [name[1].decode("utf-8", "replace") for name in found]
    if "panic" in names:  # above it are deferred functions
        names = names[len(names) - names[::-1].index("panic") :]
    first = next((place for place, name in enumerate(names) if not of_the_runtime(name)), None)
    return () if first is None else tuple(names[first:])


def fault_words(why: str, message: str, callers: Sequence[str]) -> Text:
    """Say what is wrong, and where."""
    at = text(", in {}", place_words(callers)) if callers else Text()
    if why == MAP_RACE:
        words = "Two goroutines used one map without a lock{} ({}): this is not a memory problem."
        return text(words, at, message)
    words = (
        "The program panicked{} ({}): a length was read from input or computed wrongly. This is no "
        "lack of memory."
    )
    return text(words, at, message)


def step_after(why: str) -> Text:
    """Return what to do about a fault."""
    return _TEST_FOR_RACES if why == MAP_RACE else _CHECK_LENGTH


def place_words(callers: Sequence[str]) -> Text:
    """Name the innermost function; if it is the standard library's, also the one it is for."""
    own = next((name for name in callers if not in_standard_library(name)), callers[0])
    if own == callers[0]:
        return text("{}", Function(own))
    return text("{} for {}", Function(callers[0]), Function(own))
