"""Which process does a capture show, according to its files?"""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING, TypeAlias

from gomem.analysis.memory.listed import Listed, listed_process

if TYPE_CHECKING:
    from gomem.capture.capture import Capture

# Its PID, the names of its program, and the tool whose tables show that process.
KnownProcess: TypeAlias = tuple[int | None, frozenset[str], str]


def known_process(capture: Capture) -> KnownProcess:
    """Return the PID and the names of the program, as far as other files have them.

    If none has them, they are those of the process that most single-process tables show (of
    several, the largest), with the tool that printed these tables.
    """
    pid = capture.manifest.fact("pid")
    names = {
        PurePosixPath(path).name
        for build in capture.builds.values()
        for path in build.build["path"].dropna()
    }
    names |= set(capture.status["Name"].dropna())
    if type(pid) is int or names:
        return pid if type(pid) is int else None, frozenset(names), ""
    tables = [moment.processes for moment in capture.by_moment.values() if len(moment.processes)]
    found = [listed for rows in tables if (listed := listed_process(rows)) is not None]
    if not found:
        return None, frozenset(), ""

    def weight(listed: Listed) -> tuple[int, int]:
        if listed.pid is None:
            return 0, 0  # a container is chosen last
        size = listed.rss_bytes or listed.working_set_bytes or 0
        pids = (rows.loc[rows["reading"] == rows["reading"].max(), "pid"] for rows in tables)
        return sum(bool((of_table == listed.pid).any()) for of_table in pids), size

    meant = max(reversed(found), key=weight)
    tool = "" if meant.pid is None else meant.tool
    return meant.pid, frozenset({meant.name}), tool
