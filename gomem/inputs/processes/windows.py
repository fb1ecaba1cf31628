"""Tables of processes on Windows: Get-Process of PowerShell, and tasklist.

Get-Process   Handles  NPM(K)  PM(K)  WS(K)  CPU(s)  Id  SI  ProcessName
              PM is what the process committed, WS what of it and of files is resident
tasklist      Image Name  PID  Session Name  Session#  Mem Usage      the working set
"""

from __future__ import annotations

import re

from gomem.inputs.resemblance import TAKE_HEAP_PROFILE, Resemblance
from gomem.text import Bytes, Program, Text, joined, text
from gomem.units import KIB

NAMED = 3  # processes
_GET_PROCESS = re.compile(
    rb"^[ \t>]*Handles +NPM\(K\) +PM\(K\) +WS\(K\) +(?:VM\(M\) +)?CPU\(s\) +Id +"
    rb"(?:SI +)?ProcessName",
    re.MULTILINE,
)
_ROW = re.compile(
    rb"^[ \t>]*\d{1,9} +\d{1,9} +(?P<committed>\d{1,12}) +(?P<resident>\d{1,12}) +(?:\d{1,9} +)??"
    rb"(?:[\d.,]{1,16} +)?\d{1,9} +(?:\d{1,3} +)?(?P<name>[^\s\d]\S{0,100})[ \t]*\r?$",
    re.MULTILINE,
)
_TASK = re.compile(
    rb"^[ \t>]*(?P<name>\S[^\n]{0,60}?) +\d{1,9} +(?:Console|Services|RDP-\S{1,20}) +\d{1,5} +"
    rb"(?P<size>\d{1,3}(?:[,.'\xa0 ]\d{3}){0,4}) (?:K|KB|Ko)[ \t]*\r?$",
    re.MULTILINE,
)
_ASK = (
    f"a heap profile says what a Go program retains: {TAKE_HEAP_PROFILE}; VMMap says what is in "
    "the working set of any"
)


def processes_of_windows(head: bytes, _: str) -> Resemblance | None:
    """Describe the largest processes of a table: working set, and committed memory if known."""
    begun = _GET_PROCESS.search(head)
    rows = [] if begun is None else list(_ROW.finditer(head, begun.end()))
    sized = [(int(row["resident"]), int(row["committed"]), row["name"]) for row in rows]
    if not sized:
        tasks = _TASK.finditer(head)
        sized = [(int(re.sub(rb"\D", b"", row["size"])), 0, row["name"]) for row in tasks]
    if not sized:
        return None
    largest = sorted(sized, key=lambda row: -row[0])[:NAMED]
    what = text("a table of processes on Windows: {}", joined(", ", map(_said, largest)))
    return Resemblance(what, _ASK, is_evidence=True)


def _said(row: tuple[int, int, bytes]) -> Text:
    resident, committed, name = row
    more = text(", {} committed", Bytes(committed * KIB)) * bool(committed)
    program = Program(name.decode("utf-8", "replace"))
    return text("{} has a working set of {}{}", program, Bytes(resident * KIB), more)
