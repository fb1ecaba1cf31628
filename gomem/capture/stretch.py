"""A stretch of a text: the lines of one paste, and which stretches belong together."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from gomem.inputs.processes.parse import is_head_of_table

if TYPE_CHECKING:
    from collections.abc import Sequence

UNREAD = ""  # kind of evidence without a parser
LOG, TABLE, CGROUP = "gctrace", "processes", "cgroup"
IN_LINES = frozenset({LOG, "memstats"})  # kinds whose lines occur between other lines


@dataclass(frozen=True, slots=True)
class Stretch:
    """Lines of a text, from `start` to before `stop`, and their kind."""

    start: int
    stop: int
    is_marked: bool = False  # whether it is inside a fence, or after a command
    kind: str = UNREAD
    lines: frozenset[int] = frozenset()  # the lines that count, if not all
    at: bytes = b""  # the time above it

    @property
    def is_table(self) -> bool:
        """Whether it is a table that is named, not read."""
        return self.kind == UNREAD


def joined(lines: Sequence[bytes], parts: Sequence[Stretch]) -> list[Stretch]:
    """Join stretches of one log, as the program wrote the prose between; and a cgroup's files.

    What is pasted between the lines of a log is no part of it. The head of a table, which one
    command printed, belongs to the rows that the next one did.
    """
    found: list[Stretch] = []
    for part in parts:
        last = found[-1] if found else None
        head = None if last is None or part.kind != TABLE else _head_alone(lines, last)
        logs = [place for place, other in enumerate(found) if _is_log(other)]
        if logs and _is_log(part) and (found[logs[-1]] is not last or found[logs[-1]].lines):
            found[logs[-1]] = _with_rest(found[logs[-1]], part)
        elif last is not None and last.kind == part.kind and _is_next(last, part):
            found[-1] = replace(last, stop=part.stop)
        elif last is not None and head is not None:
            kept = frozenset({head, *range(part.start, part.stop)})
            found[-1] = replace(part, start=last.start, lines=kept)
        else:
            found.append(part)
    return found


def _is_log(part: Stretch) -> bool:
    return part.kind == LOG and not part.is_marked


def _with_rest(log: Stretch, rest: Stretch) -> Stretch:
    """A log with lines that stand below another paste."""
    own = log.lines or frozenset(range(log.start, log.stop))
    return replace(log, stop=rest.stop, lines=own.union(range(rest.start, rest.stop)))


def _head_alone(lines: Sequence[bytes], part: Stretch) -> int | None:
    """The line of a stretch that is only the head of a table; None if it is anything else."""
    filled = [place for place in range(part.start, part.stop) if lines[place].strip()]
    is_head = len(filled) == 1 and is_head_of_table(lines[filled[0]])
    return filled[0] if is_head else None


def _is_next(last: Stretch, part: Stretch) -> bool:
    if part.kind == CGROUP:
        return last.stop == part.start
    return part.kind in IN_LINES and not (part.is_marked or last.is_marked)
