"""Rows of tables of containers and pods: `docker stats`, `crictl stats`, `kubectl top`."""

from __future__ import annotations

import re
from dataclasses import replace

from gomem.inputs.processes.row import ProcessRow, Rounded, rounded_size

DOCKER_STATS, CRICTL_STATS, KUBECTL_TOP = "docker stats", "crictl stats", "kubectl top"
OLD_DOCKER = "docker stats before 1.13"  # its usage is the whole charge, in units of 1000
NAMELESS = b"container"  # a pasted table of which only the memory columns are left
USAGE = re.compile(
    rb"(?P<before>.*?)(?<![\d.])(?P<usage>\d[\d.]*+ ?[KMGTkmgt]?i?B) */ *"
    rb"(?P<limit>\d[\d.]* ?[KMGTkmgt]?i?B\b.*|[^\s\w]\S{0,15}(?: .*)?|[xX]+\S{0,15}(?: .*)?)"
)
LIMIT = re.compile(rb"(?<![\d.])\d[\d.]*+ ?[KMGTkmgt]?i?B\b")
# MEM is the working set, in units of 1000.
CRICTL_ROW = re.compile(
    rb"(?P<id>[0-9a-f]{8,64})(?: +(?P<name>\S+))? +\d[\d.]* +(?P<size>\d[\d.]*[kMGT]?B)"
    rb" +\d[\d.]*[kMGT]?B +\d+.*"
)
POD = re.compile(rb"(?:(\S+) +)?(\S+) +\d+m? +(\d+(?:[KMGT]i)?) *")
NO_NAME = '""'  # of a container without a name


def of_container(line: bytes, tool: str, *, named: bool, is_sure: bool) -> ProcessRow | None:
    """Return a row of `docker stats`; None if the line is none."""
    found = USAGE.fullmatch(line)
    if found is None or (usage := rounded_size(found["usage"])) is None:
        return None
    before = found["before"].split()
    name = before[1] if named and len(before) > 1 else b"".join(before[:1]) or NAMELESS
    limit = _limit(found["limit"])
    most = None if limit is None or not limit.bytes else limit.bytes
    is_sure = is_sure or re.search(rb"\d ?[kMGT]B", found["usage"]) is not None
    printed_by = tool if tool != OLD_DOCKER or is_sure else DOCKER_STATS
    row = ProcessRow(printed_by, name.decode("utf-8", "backslashreplace"), working_set=usage)
    return replace(row, limit_bytes=most, container_id=before[0] if named and before else b"")


def of_crictl(line: bytes) -> ProcessRow | None:
    """Return a row of `crictl stats`; None if the line is none."""
    found = CRICTL_ROW.fullmatch(line)
    if found is None or (size := rounded_size(found["size"])) is None:
        return None
    name = (found["name"] or found["id"]).decode("utf-8", "backslashreplace")
    return ProcessRow(CRICTL_STATS, name, working_set=size)


def _limit(text: bytes) -> Rounded | None:
    """Return the limit that a text begins with; None if it is masked."""
    return rounded_size(size[0]) if (size := LIMIT.match(text)) else None


def of_pod(line: bytes, *, above: bool) -> ProcessRow | None:
    """Return a row of `kubectl top`, `above` with a namespace or pod; None if the line is none."""
    found = POD.fullmatch(line)
    if found is None or (found[1] is not None and not above):
        return None
    size = rounded_size(found[3])
    name = b"/".join(filter(None, (found[1], found[2]))).decode("utf-8", "backslashreplace")
    name = f"{name}/{NO_NAME}" if above and found[1] is None else name
    return None if size is None else ProcessRow(KUBECTL_TOP, name, working_set=size)
