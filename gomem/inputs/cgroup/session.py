"""A cgroup's files as a shell shows them: a number says only in its command what it is.

Forms         $ cat /sys/fs/cgroup/memory.current           and the number below it
              $ grep shmem /sys/fs/cgroup/memory.stat       and its fields
              $ cat memory.current memory.max               and both, in this order
              $ cat memory.{stat,usage_in_bytes}            the same, as a shell spells it out
              ==> /sys/fs/cgroup/memory.max <==             of head and tail
              /sys/fs/cgroup/memory.events:oom_kill 3       of grep over several files
"""

from __future__ import annotations

import re

from gomem.inputs.cgroup.parse import (
    NUMBER,
    SINGLE_FILE,
    CgroupFile,
    fields_of,
    named_as,
    number_of,
)
from gomem.inputs.markdown import FENCE
from gomem.inputs.unwrap import NAMED, PROMPT

HEAD_BYTES = 1 << 16
_FILE = re.compile(rb"(?<![\w.-])memory\.((?:[a-z_]+\.)*[a-z_]+)(?![\w*.{])")
_BRACES = re.compile(rb"(?<![\w.-])memory\.\{([a-z_.,]{1,200})\}")
_READS = re.compile(rb"\b(?:cat|head|tail|less|more|grep|kubectl|docker|podman|oc|crictl)\b")
_BY_GREP = re.compile(rb"[ \t]*(?:[^\s:]*/)?memory\.((?:[a-z_]+\.)*[a-z_]+):(\S[^\n]*?)[ \t\r]*")
_NAMED = re.compile(NAMED)


def asks_for_cgroup(line: bytes) -> bool:
    """Whether a line is a command that prints files of a cgroup, or the name of one."""
    return bool(_asked(line))


def has_session(data: bytes) -> bool:
    """Whether a text has a number of a cgroup's file below or behind the name of the file."""
    return b"memory." in data and in_session(data) is not None


def in_session(data: bytes) -> CgroupFile | None:
    """Return the numbers of all files; None if there are none."""
    values: dict[str, int | None] = {}
    singles: list[str] = []
    asked: list[bytes] = []
    for line in data[:HEAD_BYTES].split(b"\n"):
        if names := _asked(line):
            asked = names
        elif FENCE.fullmatch(line) or (PROMPT.fullmatch(line) and not NUMBER.fullmatch(line)):
            asked = []
        elif (found := _BY_GREP.fullmatch(line)) or (asked and line.strip()):
            if not found and NUMBER.fullmatch(line.strip()):  # above it are lines of tables
                asked = asked[next((n for n, each in enumerate(asked) if _is_single(each)), 0) :]
            name, said = found.groups() if found else (asked[0], line.strip())
            is_single = _is_single(name)
            fields = _of_file(name, said)
            values |= fields
            singles += [name.decode("ascii")] * bool(fields and is_single)
            if is_single and not found:
                asked = asked[1:]
    return CgroupFile(f"memory.{[*singles, 'stat'][0]}", values) if values else None


def _asked(line: bytes) -> list[bytes]:
    """Return the names, without `memory.`, of the files that a command prints; else none."""
    said = line.strip()
    is_command = PROMPT.fullmatch(said) is not None or said.startswith(b"cat ")
    is_asked = is_command and _READS.search(said) is not None
    if not is_asked and not _NAMED.fullmatch(said):
        return []
    spelt = _BRACES.sub(lambda found: b" memory.".join([b"", *found[1].split(b",")]), said)
    return _FILE.findall(spelt)


def _is_single(name: bytes) -> bool:
    return SINGLE_FILE.fullmatch(name) is not None


def _of_file(name: bytes, line: bytes) -> dict[str, int | None]:
    if _is_single(name):
        file = f"memory.{name.decode('ascii')}"
        return {file: number_of(line.strip())} if NUMBER.fullmatch(line) else {}
    return named_as(name.decode("ascii"), fields_of(line))
