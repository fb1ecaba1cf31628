"""Find the memory files of a process's cgroup, in version 2 or version 1.

/proc/PID/cgroup has the group relative to the root of the reader's cgroup namespace; mountinfo has
the mount point of each root. A group outside that root, as in another container, has no path here.
"""

from __future__ import annotations

import os
import posixpath
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from gomem.live.process import PROC, NotRead, read_whole

if TYPE_CHECKING:
    from collections.abc import Iterator

MOUNTS = PROC / "self/mountinfo"
FILES_V2 = (
    *("memory.current", "memory.max", "memory.high", "memory.low", "memory.peak"),
    *("memory.stat", "memory.events", "memory.swap.current", "memory.swap.max"),
    "memory.pressure",
)
FILES_V1 = (
    *("memory.usage_in_bytes", "memory.limit_in_bytes", "memory.max_usage_in_bytes"),
    *("memory.soft_limit_in_bytes", "memory.failcnt", "memory.stat", "memory.oom_control"),
    *("memory.memsw.usage_in_bytes", "memory.memsw.limit_in_bytes"),
)
_OCTAL = re.compile(r"\\([0-7]{3})")


@dataclass(frozen=True)
class Mount:
    """A mounted cgroup hierarchy: the group at its root, and the mount point."""

    root: str
    at: str
    version: int


def cgroup_files(own: bytes, mounts: Path = MOUNTS) -> list[Path]:
    """Return the existing memory files of a process's cgroup; `own` is its /proc/PID/cgroup.

    Raises NotRead if no memory controller is mounted here, or if the group is outside the mounts.
    """
    groups = dict(_groups(own.decode("utf-8", "surrogateescape")))
    found = [mount for mount in _mounts(mounts) if mount.version in groups]
    # A v1 hierarchy for memory means that v2 has no memory files.
    for mount in sorted(found, key=lambda mount: mount.version):
        folder = _folder(mount, groups[mount.version])
        names = FILES_V1 if mount.version == 1 else FILES_V2
        if folder is not None:
            there = [folder / name for name in names if (folder / name).exists()]
            if there:
                return there
    raise NotRead("the memory files of its cgroup are not visible from here")


def read_file(path: Path) -> bytes:
    """Read a cgroup file whole; raises NotRead if it is unreadable."""
    try:
        return read_whole(os.open(path, os.O_RDONLY))
    except OSError as error:
        raise NotRead(error.strerror or "cannot be read") from error


def _groups(text: str) -> Iterator[tuple[int, str]]:
    """The group in each version: `0::/a` is version 2, `4:memory:/a` is version 1."""
    for line in text.splitlines():
        number, _, rest = line.partition(":")
        controllers, _, group = rest.partition(":")
        if number == "0" and not controllers:
            yield 2, group
        elif "memory" in controllers.split(","):
            yield 1, group


def _mounts(mounts: Path) -> Iterator[Mount]:
    for line in mounts.read_text(errors="surrogateescape").splitlines():
        before, _, after = line.partition(" - ")
        fields, (kind, _, options) = before.split(" "), after.split(" ", 2)
        root, at = (_OCTAL.sub(lambda code: chr(int(code[1], 8)), field) for field in fields[3:5])
        if kind == "cgroup2":
            yield Mount(root, at, 2)
        elif kind == "cgroup" and "memory" in options.split(","):
            yield Mount(root, at, 1)


def _folder(mount: Mount, group: str) -> Path | None:
    """The folder of a group; None if it is outside the mount."""
    inside = posixpath.relpath(group, mount.root)
    if ".." in (*group.split("/"), *inside.split("/")):
        return None
    return Path(mount.at) / inside
