"""The MemStats at the end of a heap profile in text form: `# Name = number`, one per line.

Printed by    writeHeap, in runtime/pprof/pprof.go.
Quirks        `Stack = a / b` is StackInuse / StackSys. PauseNs and PauseEnd are ring buffers in
              brackets. MaxRSS, since Go 1.15, is not a field of MemStats.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from gomem.errors import Damage, FormatError, excerpt
from gomem.inputs.json_text import whole_number
from gomem.inputs.memstats.parse import REQUIRED

if TYPE_CHECKING:
    from collections.abc import Iterator

_STAT = re.compile(rb"# (\w+) = (.+)")
_PAIR = re.compile(rb"(\d+) / (\d+)")
_RING = re.compile(rb"\[[\d ]*\]")
_NUMBER = re.compile(rb"-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
_STATED = re.compile(
    rb"# (?:\w+ = (?:" + _PAIR.pattern + rb"|" + _RING.pattern + rb"|" + _NUMBER.pattern + rb"|true"
    rb"|false)|runtime\.MemStats)"
)
MEMSTATS = b"# runtime.MemStats"
LAST_OF_ALL = "NumGC"  # near the end of the MemStats, in every release


def memstats_of(data: bytes, *, source: str) -> bytes:
    """Return a text's MemStats as JSON for `parse_memstats`; raises FormatError without any."""
    memstats = memstats_json(stats_of(data.partition(MEMSTATS)[2]))
    if memstats is None:
        what = "a heap profile in text without MemStats at its end: it is cut"
        raise FormatError(source, f"byte {len(data)}", what)
    return memstats


def torn_lines(tail: bytes, source: str, *, first: int) -> Iterator[Damage]:
    """Yield damage for malformed lines; `first` is the first line's number."""
    *lines, _ = tail.split(b"\n")
    for number, line in enumerate(lines, start=first):
        said = line.strip()
        if said.startswith(b"# ") and not _STATED.fullmatch(said):
            what = "not a line of MemStats; wanted `# Name = number`"
            yield Damage(source, f"line {number}", what, excerpt(line))


def stats_of(tail: bytes) -> dict[str, Any]:
    """Return the numbers by name; `Stack = a / b` is StackInuse / StackSys."""
    stats = _stats_of(tail.splitlines())
    is_cut = LAST_OF_ALL not in stats and not tail.endswith(b"\n")
    # the last number is incomplete, too
    return _stats_of(tail.splitlines()[:-1]) if is_cut else stats


def _stats_of(lines: list[bytes]) -> dict[str, Any]:
    stats: dict[str, Any] = {}
    for line in lines:
        stat = _STAT.fullmatch(line.strip())
        if stat is None:
            continue
        name, value = stat[1].decode(), stat[2]
        if pair := _PAIR.fullmatch(value):
            stats[f"{name}Inuse"], stats[f"{name}Sys"] = map(whole_number, pair.groups())
        elif _RING.fullmatch(value):
            stats[name] = [whole_number(number) for number in value[1:-1].split()]
        elif _NUMBER.fullmatch(value):
            is_whole = value.lstrip(b"-").isdigit()
            stats[name] = whole_number(value) if is_whole else float(value)
    return stats


def memstats_json(stats: dict[str, Any]) -> bytes | None:
    known = {name: value for name, value in stats.items() if name != "MaxRSS"}
    return json.dumps(dict.fromkeys(sorted(REQUIRED)) | known).encode() if known else None
