"""Quoted lines of a log: the complete groups of numbers in a line that was cut or shortened.

People paste logs cut at the width of their terminal, and leave numbers out:

    gc 12 @0.107s 7%: 0.032+2.3+0.001 ms clock, 0.064+0/0.018/4.5+0.002 ms cpu, 64->64->64 MB, 12
    gc 13 @0.110s 7%: ... ms clock, ... ms cpu, 64->64->64 MB, 128 MB goal, 2 P
    ...
    gc 40 @0.410s 7%: …

The original log was intact, so this is not damage. A group of numbers is read if it is complete,
up to the words that end it; other groups are unknown. A line that is merely cut counts as quoted,
not torn, if other lines end at the same column and its rest does not appear elsewhere.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from gomem.inputs.gctrace.grammar import NEWEST, OLDEST, Grammar

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gomem.inputs.gctrace.columns import Broken, Readings

TEMPLATE = re.compile(rb"gc # @#s #%: ")  # the form itself, as the documentation writes it
ELLIPSIS = re.compile(rb"\.\.\.|\xe2\x80\xa6")
GAP_LINE = re.compile(
    rb"^[ \t>#|]*[\[(<]?(?:\.\.\.*|(?:\xe2\x80\xa6)+|[Ss]nip(?:ped)?|[Oo]mitted)[\])>]?[ \t]*\r?$",
    re.MULTILINE,
)
MIN_CUT = 2  # lines that end at the same column

_BEGIN = "gc {number:n} @{at_seconds:s}s {gc_cpu_since_start_fraction:%}%"
_CPU = (
    ", {cpu_sweep_termination_seconds:ms}+{cpu_assist_seconds:ms}/{cpu_background_seconds:ms}"
    "/{cpu_idle_seconds:ms}+{cpu_mark_termination_seconds:ms} ms cpu"
)
_GROUPS = (
    ": {sweep_termination_seconds:ms}+{mark_seconds:ms}+{mark_termination_seconds:ms} ms clock",
    _CPU,
    ", {heap_at_start_bytes:MB}->{heap_at_mark_end_bytes:MB}->{heap_live_bytes:MB} MB",
    " {heap_goal_bytes:MB} MB goal",
    " {stacks_bytes:MB} MB stacks",
    " {globals_bytes:MB} MB globals",
    " {gomaxprocs:n} P",
)
_PARTS = tuple(Grammar("gc", text, OLDEST, NEWEST) for text in (_BEGIN, *_GROUPS))


def take_excerpts(readings: Readings, longest_line: int) -> None:
    """Parse the complete groups of lines that were cut or shortened; such lines are not damage."""
    # A line was cut by a terminal if its length is that of the longest line of the piece.
    beginnings = {broken.line: broken.length for broken in readings.broken if _is_beginning(broken)}
    ends = Counter(beginnings.values())  # a line in which two begin is one line
    left = []
    for line in readings.broken:
        cut = line.length == longest_line and ends[line.length] >= MIN_CUT and _is_beginning(line)
        if not cut and not ELLIPSIS.search(line.text):
            left.append(line)
        elif not _read(line, readings):
            readings.others["excerpt"] += 1
    readings.broken[:] = left


def _is_beginning(broken: Broken) -> bool:
    """Whether it is the beginning of a GC line without loose pieces elsewhere."""
    return not broken.has_loose_pieces and _PARTS[0].pattern.match(broken.text) is not None


def _read(broken: Broken, readings: Readings) -> bool:
    """Take the complete groups, if the line's number and time are complete."""
    if _PARTS[0].pattern.match(broken.text) is None:
        return False
    found = [(part, part.pattern.search(broken.text)) for part in _PARTS]
    whole = [(part, match) for part, match in found if match is not None]
    text = "".join(part.text for part, _ in whole)
    numbers: Sequence[bytes] = [number for _, match in whole for number in match.groups()]
    forced = broken.text.rstrip().endswith(b"(forced)")
    flags = (("forced", forced), ("leak_check", b"(checking for goroutine leaks)" in broken.text))
    readings.add_one(Grammar("gc", text, OLDEST, NEWEST, flags), broken.line, tuple(numbers))
    return True
