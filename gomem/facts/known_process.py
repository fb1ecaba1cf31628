"""Which process does a capture show, according to its files?"""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING, TypeAlias

from gomem.analysis.memory.listed import Listed, listed_process
from gomem.inputs.processes.row import program_of

if TYPE_CHECKING:
    from gomem.capture.capture import Capture

# Its PID, the names of its program, and the tool whose tables show that process.
KnownProcess: TypeAlias = tuple[int | None, frozenset[str], str]
COMM = 15  # bytes of a program's name that the kernel keeps


def known_process(capture: Capture) -> KnownProcess:
    """Return the PID and the names of the program, as far as other files have them.

    If none has them, the name is that of the profiles' executable, if a table lists it. Else they
    are those of the process that most single-process tables show (of several, the largest). Both
    come with the tool that printed these tables.
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
    if (tool := _tool_that_lists(capture, profiled := _profiled(capture))) is not None:
        return None, profiled, tool
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


def _profiled(capture: Capture) -> frozenset[str]:
    """Return the names of the executable in heap profiles, as the kernel prints them."""
    names = (PurePosixPath(path).name for path in profiled_executables(capture))
    return frozenset(name[:COMM] for name in names if name)


def profiled_executables(capture: Capture) -> set[str]:
    """Return the paths of the executable in the heap profiles: their first mapping."""
    first = (profile.mappings["file"].head(1) for profile in capture.heap_profiles.values())
    return {str(path) for paths in first for path in paths.dropna()}


def _tool_that_lists(capture: Capture, names: frozenset[str]) -> str | None:
    """Return the tool whose tables list a program; None if no table does."""
    rows = capture.processes
    listed = rows[[program_of(str(name)) in names for name in rows["name"]]]
    return None if listed.empty else str(listed["tool"].iloc[-1])
