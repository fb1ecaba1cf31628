"""Lines between and below the rows of a table of processes that are no damage to it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from operator import eq
from typing import TYPE_CHECKING

from gomem.inputs.separators import is_rule, is_separator

if TYPE_CHECKING:
    from gomem.inputs.processes.row import ProcessRow

# of sentences, including Chinese ones
STOPS = (".", ":", "!", "?", "\u3002", "\uff1a", "\uff01", "\uff1f")
MIN_WORDS = 4
MIN_NUMBERS = 3  # in a row whose columns are others than above
_WORD = re.compile(r"\b[A-Za-z][a-z']*\b")
_IN_NAMES = re.compile(rb"[\d/_-]")  # in names of pods, seldom in a word of prose
# A thread below its process, of ps m: it has neither a number nor memory of its own.
THREAD = re.compile(rb"[\w.+-]{1,32} +- +(?:[\d.]+ +)?(?:- +)+.*")
# The line below a table, and smem's sums below that: numbers of processes and users, and sizes.
SUMS = re.compile(rb"[-=]{5,}|\d+ +\d+(?: +\d[\d.]*[KMGT]?){2,4}")
# What df, free, uptime, ls, du, wc and curl print.
_FOREIGN = re.compile(
    rb"Filesystem +\S.*| *total +used +free\b.*|(?:Mem|Swap): +\d.*"
    rb"|\d\d:\d\d:\d\d up .*\bload average: .*|total \d[\d.]*[KMGT]?"
    rb"|[-dlcbps][-rwxsStT]{9}[.+@]? .*"
    rb"|\d[\d.]*[KMGT]?\t\S.*|\d{1,12}|(?:\d+ +){1,3}(?:total|\S*/\S+)|% Total +% Received.*"
)


@dataclass
class Beside:
    """Whether the lines that a table's reader meets are of what another command printed."""

    is_between: bool = False  # after a separator, or a line of another command
    pids: set[int] = field(default_factory=set)
    row: bytes = b""  # the last one

    def begin(self, row: ProcessRow | None = None, line: bytes = b"") -> None:
        """Note a header or a row."""
        self.is_between, self.row = False, line
        if row is not None and row.pid is not None:
            self.pids.add(row.pid)

    def has(self, line: bytes, *, is_last: bool = False) -> bool:
        """Whether a line that is no row is no damage: it is not what is left of a row."""
        if is_separator(line) or is_rule(line) or _FOREIGN.fullmatch(line):
            self.is_between = True
            return True
        if is_prose(line):
            return True
        first = line.split(None, 1)[0]
        if first.isdigit() and int(first[:19]) in self.pids:
            return False
        if self.row and not is_left_of_row(line, self.row, is_last=is_last):
            self.is_between = True  # prose: the table ends
        return self.is_between


def is_left_of_row(line: bytes, row: bytes, *, is_last: bool) -> bool:
    """Whether a line has numbers where a row has them, or as many.

    Only at the end of a text can the name be all that is left.
    """
    numbers, wanted = ([word[:1].isdigit() for word in text.split()] for text in (line, row))
    if sum(numbers) >= max(MIN_NUMBERS, sum(wanted) / 2):
        return True
    is_alike = all(map(eq, numbers, wanted))
    return is_alike and (any(numbers) or (is_last and _IN_NAMES.search(line) is not None))


def is_beside(line: bytes) -> bool:
    """Whether the line is part of a table, but no process: a thread, a rule or a sum."""
    return THREAD.fullmatch(line) is not None or SUMS.fullmatch(line) is not None


def is_prose(line: bytes) -> bool:
    """Whether a line below a table is prose: a sentence with a full stop, not columns."""
    words = line.decode("utf-8", "replace")
    is_long = len(_WORD.findall(words)) >= MIN_WORDS or not words.isascii()
    return is_long and words.endswith(STOPS) and not words.endswith("...") and "  " not in words
