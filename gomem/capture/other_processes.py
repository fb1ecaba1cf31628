"""Which readings of pasted tables belong to processes other than the main one?

A PID is one process: rows with two PIDs, even of one command, are two processes, on two hosts or
before and after a restart. Two processes are reported separately, and never joined into one trend.
If /proc/PID/status in the same text has the RSS of a process, that is the main process. Otherwise
it is the process with the most readings, and among equals the largest. Containers have no PID:
different names are different containers. In a table without PIDs, command lines with different PIDs
(`-notifypid=22622`) are different processes.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from gomem.capture.runs import MAX_BYTES, OtherRun, label_above
from gomem.errors import Damage
from gomem.inputs.processes.containers import KUBECTL_TOP
from gomem.inputs.processes.parse import is_head_of_table
from gomem.inputs.processes.row import TOOLS, program_of
from gomem.inputs.schema import rows_of
from gomem.units import is_digits

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gomem.capture.moment import Artefact

PROCESSES = "processes"
_PID = re.compile(r"\b\w{0,20}pid[= ][0-9]{1,10}\b", re.IGNORECASE)
RSS, WORKING_SET = "RSS", "working set"


class _Who(NamedTuple):
    """A process by its PID, or a container by its name."""

    pid: int | None
    name: str


class _Reading(NamedTuple):
    """One listing: all processes in it, and the one that it is about."""

    file: Artefact  # with only this listing
    sizes: dict[_Who, tuple[int, str, int]]  # bytes, quantity and line
    about: _Who


def of_listed_process(artefacts: list[Artefact]) -> tuple[list[Artefact], tuple[OtherRun, ...]]:
    """Separate the artefacts of one text from listings of other processes.

    Returns the remaining artefacts, and the other processes as runs. If there are other files, only
    the last listing of the main process in each file remains.
    """
    readings = [
        reading for file in artefacts if file.kind.name == PROCESSES for reading in _of_file(file)
    ]
    if len(readings) < 2:
        return artefacts, ()
    meant = _in_question(readings, _by_status(artefacts))
    own = [reading for reading in readings if meant in reading.sizes]
    others = [reading for reading in readings if meant not in reading.sizes]
    last = {reading.file.source.name: reading.file for reading in own}
    seen = {reading.file.source.name for reading in readings}
    is_alone = {id(reading.file) for reading in readings}
    left = []
    for file in artefacts:
        if id(file) in is_alone or file.source.name not in seen or file.kind.name != PROCESSES:
            is_other = any(reading.file is file for reading in others)
            left += [] if is_other else [file]
        elif file.source.name in last:
            left.append(last[file.source.name])
    earlier = [reading for reading in own if not any(reading.file is file for file in left)]
    runs = [_told(who, group) for who, group in _by_process(others)]
    if own[-1].sizes[meant][1] == WORKING_SET:
        runs = [replace(run, beside_a_container=run.level == RSS) for run in runs]
    if earlier:
        runs.append(replace(_told(meant, earlier), is_same_process=True))
    return left, tuple(runs)


def _of_file(file: Artefact) -> list[_Reading]:
    """The listings of a file that have a size, each separately; a single one is the file itself."""
    dumps = list(file.parsed.dumps)
    files = [file] if len(dumps) == 1 else [replace(file, parsed=dump) for dump in dumps]
    return [reading for alone in files if (reading := _reading(alone)) is not None]


def _reading(file: Artefact) -> _Reading | None:
    sizes: dict[_Who, tuple[int, str, int]] = {}
    killed: list[_Who] = []
    for row in rows_of(file.parsed.processes):
        what = RSS if row["rss_bytes"] else WORKING_SET
        size = row["rss_bytes"] or row["working_set_bytes"]
        if not size:
            continue
        who = _who(row)
        sizes[who] = int(size), what, int(row["line"])
        killed += [who] * bool(row["killed_in"])
    names = _names(file)
    own = [who for who in sizes if names[who] not in TOOLS] or list(sizes)
    if not own:
        return None
    return _Reading(file, sizes, max(killed or own, key=lambda who: sizes[who][0]))


def _names(file: Artefact) -> dict[_Who, str]:
    """The program of each process."""
    return {_who(row): program_of(row["name"]) for row in rows_of(file.parsed.processes)}


def _who(row: Mapping[str, Any]) -> _Who:
    """A row's process; without a PID, its program with the PIDs in its command line."""
    if row["pid"] is not None:
        return _Who(row["pid"], "")
    program = program_of(row["name"])
    return _Who(None, " ".join((program, *_PID.findall(row["name"]))))


def _by_status(artefacts: Sequence[Artefact]) -> set[int]:
    """RSS in bytes from /proc/PID/status in the same text."""
    found = (file.parsed.status for file in artefacts if file.kind.name == "status")
    known = (frame["VmRSS"].dropna() for frame in found if "VmRSS" in frame)
    return {int(size) for sizes in known for size in sizes}


def _in_question(readings: Sequence[_Reading], by_status: set[int]) -> _Who:
    """The process whose size is in status; else the one in most listings, or the largest."""
    about = {reading.about for reading in readings}
    of_status = {who for r in readings for who in about if r.sizes.get(who, (0,))[0] in by_status}
    about = of_status if len(of_status) == 1 else about
    counts = Counter(who for reading in readings for who in reading.sizes if who in about)

    def weight(who: _Who) -> tuple[int, int]:
        return counts[who], max(r.sizes[who][0] for r in readings if who in r.sizes)

    return max(sorted(about, key=str), key=weight)


def _by_process(others: Sequence[_Reading]) -> list[tuple[_Who, list[_Reading]]]:
    """Readings by the process they are about, in the text's order."""
    groups: dict[_Who, list[_Reading]] = {}
    for reading in others:
        groups.setdefault(reading.about, []).append(reading)
    return list(groups.items())


def _told(who: _Who, readings: Sequence[_Reading]) -> OtherRun:
    first, last = readings[0], readings[-1]
    places = tuple(_place(reading.file, reading.sizes[who][2]) for reading in (first, last))
    level = last.sizes[who][1]
    sizes = first.sizes[who][0], last.sizes[who][0]
    name = _names(last.file)[who]
    labels = set(map(_label, readings))
    return OtherRun(
        first.file.source.name, places, len(readings), level, *sizes, process=(name, who.pid),
        is_pod=_is_of_pods(last.file) and "/" not in name,
        said=labels.pop() if len(labels) == 1 else "",
    )  # fmt: skip


def _label(reading: _Reading) -> str:
    """The label above a listing, and above its header; empty without one."""
    first = min(line for _, _, line in reading.sizes.values())
    number = _place(reading.file, first).removeprefix("line ")
    text = reading.file.source.whole_text
    if len(text) > MAX_BYTES or not is_digits(number):
        return ""
    above = text.split(b"\n")[: int(number) - 1]
    while above and above[-1].strip() and is_head_of_table(above[-1]):
        above.pop()
    return label_above(above)


def _is_of_pods(file: Artefact) -> bool:
    return set(file.parsed.processes["tool"]) == {KUBECTL_TOP}


def _place(file: Artefact, line: int) -> str:
    return file.source.placed(Damage(file.source.name, f"line {line}", "")).where
