"""Which mappings have resident non-Go memory, in the terms of a Go programmer?"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from gomem.analysis.memory.groups import FILES, GROUP_OF_PART, NATIVE, PROGRAM
from gomem.analysis.memory.ledger import PART_OF_KIND
from gomem.inputs.pprof.calls.rooted import Frame, Path
from gomem.inputs.schema import rows_of

if TYPE_CHECKING:
    import pandas as pd


C_HEAP, BLOCKS = "malloc", "malloc, large blocks"
THREADS, MAPPED = "thread stacks", "anonymous memory outside Go"
SHARED, SHARED_ANONYMOUS, KERNEL = "shared memory", "shared anonymous memory", "kernel"
TEXT, READ_ONLY, DATA = "program text", "read-only data", "data and bss"
PROGRAMS = frozenset({"binary", "library"})
OUTSIDE_GO = frozenset({NATIVE, FILES, PROGRAM})
_FRAME_OF_KIND = {"native-heap": C_HEAP, "thread-stack": THREADS, "anonymous-other": MAPPED}


def mapped_parts(
    mappings: pd.DataFrame, is_malloced: pd.Series, is_shared_anonymous: pd.Series
) -> dict[str, list[tuple[Path, int]]]:
    """Return the resident bytes of non-Go mappings, by group and name.

    `mappings` are classified. The two masks say which mappings are most likely large blocks of
    malloc, and which are shared memory without a file.
    """
    sizes: dict[str, dict[Path, int]] = defaultdict(lambda: defaultdict(int))
    resident = mappings["Rss"].fillna(0).astype("int64").tolist()
    marks = zip(is_malloced.tolist(), is_shared_anonymous.tolist(), resident, strict=True)
    rows = rows_of(mappings[["kind", "path", "perms"]])
    of_kind: dict[str, str] = {}  # the file before zeroed data, which has no name
    for row, (malloced, unnamed, size) in zip(rows, marks, strict=True):
        if row["kind"] in PROGRAMS:
            row["path"] = of_kind[row["kind"]] = row["path"] or of_kind.get(row["kind"], "")
        group = GROUP_OF_PART.get(PART_OF_KIND.get(row["kind"], ""), "")
        if size and group in OUTSIDE_GO:
            path = _path(row, is_malloced=bool(malloced), is_unnamed=bool(unnamed))
            sizes[group][path] += size
    return {group: list(by_path.items()) for group, by_path in sizes.items()}


def _path(row: dict[str, str], *, is_malloced: bool, is_unnamed: bool) -> Path:
    """Return the names of one mapping, from group to part."""
    kind, name = row["kind"], _named(row["path"])
    if kind in _FRAME_OF_KIND:
        return (Frame(BLOCKS if is_malloced else _FRAME_OF_KIND[kind]), *name)
    if kind == "shared-memory":
        return (Frame(SHARED), *((Frame(SHARED_ANONYMOUS),) if is_unnamed else name))
    if kind == "kernel":
        return (Frame(KERNEL), *name)
    return name if kind == "mapped-file" else (*name, Frame(_section(row["perms"])))


def _named(path: str) -> Path:
    """Return a mapping's own frame: the file's base name, with its folder in the frame."""
    if not path:
        return ()
    is_file = not path.startswith("[")
    return (Frame(path.rpartition("/")[2] or path, path if is_file else ""),)


def _section(perms: str) -> str:
    """Name the part of a program that a mapping has, by its permissions."""
    if "x" in perms:
        return TEXT
    return DATA if "w" in perms else READ_ONLY
