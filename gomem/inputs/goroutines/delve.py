"""Goroutines as the debugger Delve lists them: `goroutines` at its prompt.

Printed by    go-delve/delve, pkg/terminal: formatGoroutine, and printStack with -t.
Form          * Goroutine 1 - User: ./main.go:30 main.main (0x4a1b2c) (thread 4711)
                Goroutine 18 - User: ./main.go:9 main.work (0x4a1d2c) [chan send 1234567890]
                        0  0x000000000043a5f6 in runtime.gopark
                            at /usr/local/go/src/runtime/proc.go:367
              [2 goroutines]
Quirks        The wait reason has the runtime's words. The number after it is in clock ticks, and is
              useless because the time of the listing is unknown. Without -t only one function is
              known: User is the innermost one outside the runtime, Start the outermost, Go the
              statement that started the goroutine.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field

from gomem.errors import Damage, FormatError
from gomem.inputs.goroutines.abridged import with_numbers
from gomem.inputs.goroutines.leak_tests import with_headers
from gomem.inputs.goroutines.parse import (
    Dumped,
    PlacedStack,
    Waiting,
    looks_like_goroutines,
    parse_goroutines,
)

_LISTED = re.compile(
    r"[ \t]*+\*?[ \t]*+Goroutine [0-9]{1,19} - (?P<where>User|Runtime|Start|Go): "
    r"(?P<place>.*?:[0-9]+) (?P<name>\S+)(?: \(0x[0-9a-f]+\))?(?P<thread> \(thread [0-9]+\))?"
    r"(?: \[(?P<state>[^\]]*?)(?: [0-9]+)?\])?\s*"
)
_FRAME = re.compile(r"\s+[0-9]+ +0x[0-9a-f]+ in (\S+)\s*")
_AT = re.compile(r"\s+at (.*:[0-9]+)\s*")
_COUNT = re.compile(r"\[([0-9]{1,18}) goroutines\]\s*")
HEAD_LINES = 40
HEAD_BYTES = 1 << 14
RUNNING = "running"


@dataclass
class _Listed:
    """A goroutine in the listing."""

    state: str
    functions: list[str]  # the function in its line; empty if that line names its creator
    created_by: str
    place: bytes  # the position of that function
    frames: list[str] = field(default_factory=list)  # its stack, from the lines below
    places: list[bytes] = field(default_factory=list)  # their positions

    def placed(self) -> PlacedStack:
        """Return its stack with positions."""
        if self.frames:
            return tuple(self.frames), tuple(self.places)
        return tuple(self.functions), (self.place,) * len(self.functions)

    def waiting(self) -> Waiting:
        stack = tuple(self.frames or self.functions)
        return Waiting(self.state, None, False, False, stack, -1, self.created_by)


def looks_like_dump(data: bytes) -> bool:
    """Whether a text begins with goroutines, in the format of the runtime or of Delve."""
    return looks_like_goroutines(with_numbers(with_headers(data[: 1 << 16]))) or _is_of_delve(data)


def parse_dump(data: bytes, *, source: str) -> tuple[Dumped, list[Damage]]:
    """Count the goroutines of either format; see `parse_goroutines`."""
    if _is_of_delve(data):
        return _parse_list(data, source=source)
    return parse_goroutines(with_numbers(with_headers(data)), source=source)


def _is_of_delve(data: bytes) -> bool:
    head = data[:HEAD_BYTES] if b"Goroutine " in data[:HEAD_BYTES] else b""
    lines = head.decode("utf-8", "replace").split("\n")[:HEAD_LINES]
    return any(map(_LISTED.fullmatch, lines))


def _parse_list(data: bytes, *, source: str) -> tuple[Dumped, list[Damage]]:
    """Count the goroutines of a listing; it is damage if there are fewer than it says."""
    found: list[_Listed] = []
    said = 0
    for line in data.decode("utf-8", "backslashreplace").split("\n"):
        if listed := _LISTED.fullmatch(line):
            state = listed["state"] or (RUNNING if listed["thread"] else "")
            is_start = listed["where"] == "Go"
            named = ([], listed["name"]) if is_start else ([listed["name"]], "")
            found.append(_Listed(state, *named, listed["place"].encode()))
        elif found and (frame := _FRAME.fullmatch(line)):
            found[-1].frames.append(frame[1])
        elif found and (at := _AT.fullmatch(line)):
            found[-1].places.append(at[1].encode())
        elif count := _COUNT.fullmatch(line):
            said = max(said, int(count[1]))
    if not found:
        raise FormatError(source, "", "no goroutine in it; wanted what Delve lists")
    what = f"an excerpt: it has {len(found)} goroutines, and says that there are {said}"
    damage = [Damage(source, "", what)] if said > len(found) else []
    alike = Counter(goroutine.waiting() for goroutine in found)
    return Dumped(alike, Counter(goroutine.placed() for goroutine in found)), damage
