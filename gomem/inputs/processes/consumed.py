"""A unit in its unit file and systemd's log: its limit, how it ended, its cgroup's peak.

Ended         api.service: Main process exited, code=killed, status=9/KILL
Peak          since 254, as it ended:
              api.service: Consumed 3min 1.2s CPU time over 2h 4min wall clock time, 1.6G memory
              peak, 358.2M memory swap peak, 1.2M read from disk.
Limits        MemoryMax=4G, MemoryHigh=3G of the unit file (MemoryLimit= before version 231)
Quirks        Sizes are in units of 1024 (format_bytes). The peak counts page cache, and each peak
              is of its own time: they have no sum (unit_log_resources, memory.peak,
              memory.swap.peak).
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

from gomem.inputs.processes.row import rounded_size
from gomem.inputs.resemblance import Resemblance, quoted
from gomem.inputs.text_lines import decoded
from gomem.text import Quoted, Share, Text, joined, text

NAMED = 3  # units, or runs of one
_SIZE = rb"\d[\d.]{0,8}[BKMGT]?"
CONSUMED = re.compile(
    rb"\b(?P<unit>[\w.@\\-]{1,200}\.(?:service|scope|slice|socket|mount|swap)): "
    rb"Consumed [^\n,]{1,120}?(?: over (?P<wall>[\w. ]{1,60}) wall clock time)?,? "
    rb"(?P<peak>" + _SIZE + rb") memory peak(?:, (?P<swap>" + _SIZE + rb") memory swap peak)?"
)
_LIMIT = re.compile(
    rb"(?<![\w.])(?P<name>Memory(?:Max|High|Limit))=(?P<size>\d{1,15}(?:\.\d{1,3})?[KMGT]?)(?![\w.%])"
)
_ENDED = re.compile(
    rb"\b(?P<unit>[\w.@\\-]{1,200}\.(?:service|scope)): Main process exited, code=killed, "
    rb"status=9/KILL"
)
# Lines of a unit file, and of systemd's log, as people paste them below a size.
_UNIT_LINE = re.compile(
    rb"^[ \t]*(?:\[(?:Unit|Service|Install|Slice|Scope)\]|(?!Vm|Rss)[A-Z][A-Za-z]{2,40}=\S[^\n]*"
    rb"|[^\n]{0,120}?\b[\w.@\\-]{1,200}\.(?:service|scope|slice): [^\n]*)[ \t]*$",
    re.MULTILINE,
)
_ASK = (
    "that counts page cache, and is no RSS; gomem capture PID --every 30s -o DIR records the next "
    "run, and what its memory is used for"
)


@dataclass(frozen=True, slots=True)
class UnitLimit:
    """What a text says of a unit: the limit of its cgroup, and how often it was killed."""

    written: str = ""  # `MemoryMax=4G`, as it stands in the text; empty without a limit
    bytes: int = 0
    unit: str = ""  # the only one that was killed
    kills: int = 0  # by SIGKILL
    is_said: bool = False  # whether a sentence gives the limit, which need not be a unit's
    is_planned: bool = False  # whether that sentence speaks of the future
    described: frozenset[int] = frozenset()  # bytes of all limits that container files set


def limit_of_unit(head: bytes) -> UnitLimit | None:
    """Return the limit in a text's unit file, and the kills of its only unit; None without both."""
    found = _strongest_limit(head)
    size = None if found is None else rounded_size(found["size"])
    killed = killed_units(head)
    unit, kills = next(iter(killed.items())) if len(killed) == 1 else (b"", 0)
    if found is None or size is None:
        return UnitLimit(unit=decoded(unit), kills=kills) if kills else None
    return UnitLimit(decoded(found[0]), size.bytes, decoded(unit), kills)


def without_units(data: bytes) -> bytes:
    """Leave the lines of unit files and of systemd's log empty."""
    return _UNIT_LINE.sub(b"", data)


def killed_units(head: bytes) -> dict[bytes, int]:
    """Return how often systemd logged that a unit was ended by SIGKILL."""
    return Counter(line["unit"] for line in _ENDED.finditer(head))


def _strongest_limit(head: bytes) -> re.Match[bytes] | None:
    limits = {found["name"]: found for found in _LIMIT.finditer(head)}
    return next((limits[name] for name in _BY_STRENGTH if name in limits), None)


def peaks_of_units(head: bytes) -> dict[bytes, list[re.Match[bytes]]]:
    """Return what systemd logged of each unit that ended, in the order of the text."""
    found: dict[bytes, list[re.Match[bytes]]] = {}
    for line in CONSUMED.finditer(head):
        found.setdefault(line["unit"], []).append(line)
    return found


def consumed_by_a_unit(head: bytes, _: str) -> Resemblance | None:
    """Describe the peaks that systemd logged of units as they ended, the largest first."""
    units = peaks_of_units(head)
    if not units:
        return None
    largest = sorted(units.values(), key=lambda runs: max(map(_bytes, runs)), reverse=True)
    said = joined("; ", map(_unit_words, largest[:NAMED]))
    more = text("; and {} more", str(len(largest) - NAMED)) if largest[NAMED:] else Text()
    what = text("what systemd logged of a unit that ended: {}{}", said, more)
    return Resemblance(what, _ASK, is_evidence=True)


def peak_beside_limit(head: bytes) -> Text:
    """Compare the peak of a text's only unit with the limit that the text sets; else empty."""
    units = peaks_of_units(head)
    found = _strongest_limit(head)
    limit = None if found is None else rounded_size(found["size"])
    if len(units) != 1 or found is None or limit is None:
        return Text()
    peak = max(map(_bytes, next(iter(units.values()))))
    name = decoded(found["name"])
    if peak > limit.bytes:
        return text("the peak is more than {}={}", name, quoted(found["size"]))
    share = Share(peak / max(limit.bytes, 1))
    return text("the peak is {} of {}={}", share, name, quoted(found["size"]))


_BY_STRENGTH = (b"MemoryMax", b"MemoryLimit", b"MemoryHigh")


def _bytes(run: re.Match[bytes]) -> int:
    size = rounded_size(run["peak"])
    return 0 if size is None else size.bytes


def _unit_words(runs: list[re.Match[bytes]]) -> Text:
    """The peak of a unit's cgroup, of several runs one after the other."""
    sizes = Quoted(", then ".join(decoded(run["peak"]) for run in runs[-NAMED:]))
    last = runs[-1]
    swap = last["swap"] if last["swap"] and not last["swap"].startswith(b"0") else b""
    of_swap = text(" and a swap peak of {}", quoted(swap)) if swap else Text()
    took = text(", in {}", decoded(last["wall"])) if last["wall"] and len(runs) == 1 else Text()
    unit = quoted(last["unit"])
    return text("the cgroup of {} had a memory peak of {}{}{}", unit, sizes, of_swap, took)
