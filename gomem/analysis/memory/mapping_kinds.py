"""Which kind is each mapping: the Go heap, the runtime's own, the program, C, a file, the kernel?

Every mapping gets exactly one kind, and the rule that gave it. Names that the kernel shows are
trusted; a Go heap without a name is known by its shape, never by its address alone, because Go 1.26
and later put it at a random place. What the shapes leave open is divided by how much address space
the runtime counts as its own. A mapping that holds two kinds becomes two rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from gomem.analysis.memory.arenas import (
    LEGACY_METADATA,
    NAMED,
    arena_bytes,
    find_arenas,
    legacy_cut,
    work_buffer_bytes,
)
from gomem.analysis.memory.mapping_rows import assign, cut
from gomem.analysis.memory.native_memory import find_native_memory, stack_cuts
from gomem.analysis.memory.runtime_metadata import (
    CUT_BEYOND,
    CUT_COUNTED,
    divide_the_rest,
    metadata_claim,
)
from gomem.inputs.schema import Column, build
from gomem.units import format_bytes

if TYPE_CHECKING:
    from collections.abc import Iterator

KINDS = (
    "go-heap",
    "go-runtime",
    "binary",
    "library",
    "native-heap",
    "thread-stack",
    "mapped-file",
    "shared-memory",
    "kernel",
    "anonymous-other",
)
BY_KIND = (
    Column("kind", "str", "", "What the mappings are; one of `KINDS`."),
    Column("vmas", "int64", "count", "Mappings of the kind."),
    Column("size_bytes", "int64", "B", "Address space that they take."),
    Column("rss_bytes", "int64", "B", "Of it resident."),
    Column("pss_bytes", "Int64", "B", "Resident, shared pages divided by their users."),
    Column("shared_bytes", "Int64", "B", "Pages that another process maps, too."),
    Column("swap_bytes", "Int64", "B", "Swapped out; in no Rss."),
)

_KERNEL = frozenset({"[vdso]", "[vvar]", "[vvar_vclock]", "[vsyscall]", "[uprobes]", "[vectors]"})
_ARENAS = frozenset({"[anon: Go: heap]", "[anon: Go: heap reservation]"})
_SHARED = r"/dev/shm/|/memfd:|/SYSV[0-9a-f]{8}|/dev/zero|/anon_hugepage|\[anon_shmem:"  # noqa: S108
_LIBRARY = r"\.so(?:\.[\w.]+)?$"
_DELETED = " (deleted)"

_OF_KINDS = {
    "pss_bytes": ("Pss",),
    "shared_bytes": ("Shared_Clean", "Shared_Dirty"),
    "swap_bytes": ("Swap",),
}


@dataclass(frozen=True)
class ClassifiedMappings:
    """Mappings with their kinds.

    Attributes:
        mappings: The smaps rows with `kind` and `rule`; a mapping that holds two kinds, as where
            the kernel joined neighbours, is split into two rows whose sizes add up.
        notes: Assumptions made, and contradictions found.
    """

    mappings: pd.DataFrame
    notes: tuple[str, ...]

    def kinds(self) -> pd.DataFrame:
        """A row per kind met; see `BY_KIND`.

        What is shared and what is swapped out is `<NA>` where the kernel does not print it.
        """
        grouped = self.mappings.groupby("kind", sort=False)
        table = pd.DataFrame(
            {
                "vmas": grouped.size(),
                "size_bytes": grouped["Size"].sum(),
                "rss_bytes": grouped["Rss"].sum(),
            }
        )
        table = table.astype("int64")
        for name, fields in _OF_KINDS.items():
            sums = [grouped[field].sum(min_count=1) for field in fields]
            table[name] = sum(sums[1:], start=sums[0]).astype("Int64")
        order = [kind for kind in KINDS if kind in table.index]
        return build(dict(table.loc[order].rename_axis("kind").reset_index()), BY_KIND)


def classify_mappings(
    mappings: pd.DataFrame, memstats: pd.Series | None = None
) -> ClassifiedMappings:
    """Give every mapping of one moment its kind.

    Args:
        mappings: Rows of the smaps table, of one process at one time.
        memstats: A row of the MemStats table of the same moment; it bounds what can be the
            runtime's own, and the arenas found are checked against it.

    Returns:
        The mappings with `kind` and `rule`, and notes.
    """
    whole = mappings.sort_values("start", ignore_index=True)
    for one in legacy_cut(whole):
        whole = cut(whole, one)
    frame = _asked_for(whole)
    _by_name(frame)
    _by_neighbour(frame)
    find_arenas(frame, memstats)
    for one in stack_cuts(frame):
        frame, whole = cut(frame, one), cut(whole, one)
    find_native_memory(frame)
    shared = divide_the_rest(frame, memstats)
    whole = whole.assign(kind=frame["kind"].astype("str"), rule=frame["rule"].astype("str"))
    if shared is not None:
        whole = cut(whole, shared)
        whole.loc[shared.position, ["kind", "rule"]] = ["anonymous-other", CUT_BEYOND]
        whole.loc[shared.position + 1, ["kind", "rule"]] = ["go-runtime", CUT_COUNTED]
    return ClassifiedMappings(whole, tuple(_notes(whole, memstats)))


def _asked_for(mappings: pd.DataFrame) -> pd.DataFrame:
    """What the rules look at, with room for their answers: few columns, each quick to compare."""
    frame = mappings[["start", "end", "perms", "inode", "path", "Rss", "VmFlags"]]
    frame = frame.astype(dict.fromkeys(("perms", "path", "VmFlags"), object))
    empty = pd.Series("", index=frame.index, dtype=object)
    return frame.assign(kind=empty, rule=empty)


def _by_name(frame: pd.DataFrame) -> None:
    path = frame["path"]
    assign(frame, path.isin(_ARENAS), "go-heap", NAMED)
    assign(frame, path.str.startswith("[anon: Go: "), "go-runtime", NAMED)
    assign(frame, path.isin(_KERNEL), "kernel", "named by the kernel")
    assign(frame, path == "[heap]", "native-heap", "brk heap: never Go's")
    assign(frame, path.str.startswith("[anon: glibc"), "native-heap", "named by glibc")
    assign(frame, path.str.startswith("[stack"), "thread-stack", "named by the kernel")
    shared = path.str.match(_SHARED) | (frame["perms"].str.endswith("s") & (path == ""))
    assign(frame, shared, "shared-memory", "shared memory by its name or permission")
    of_file = path.str.startswith("/")
    program = _program(frame[of_file])
    assign(frame, of_file & (path == program), "binary", "the lowest executable file")
    with_code = set(path[of_file & frame["perms"].str.contains("x")])
    library = path.isin(with_code) | path.str.removesuffix(_DELETED).str.contains(_LIBRARY)
    assign(frame, of_file & library, "library", "a file with code, or named .so")
    assign(frame, of_file, "mapped-file", "a file without code")
    assign(frame, path.str.startswith("["), "anonymous-other", "a name gomem does not know")


def _program(files: pd.DataFrame) -> str | None:
    """The executable: the lowest file with code in it that is not a library."""
    code = files[files["perms"].str.contains("x")]
    code = code[~code["path"].str.removesuffix(_DELETED).str.contains(_LIBRARY)]
    return None if code.empty else str(code["path"].iloc[0])


def _by_neighbour(frame: pd.DataFrame) -> None:
    """The zeroed data of a program or library: anonymous, right behind its writable file part."""
    before = frame.shift(1)
    behind = (
        (frame["path"] == "")
        & (frame["start"] == before["end"])
        & before["path"].fillna("").str.startswith("/")
        & before["kind"].isin(["binary", "library"])
        & frame["perms"].str.startswith("rw")
    )
    for kind in ("binary", "library"):
        assign(frame, behind & (before["kind"] == kind), kind, "zeroed data behind a file's")


def _notes(frame: pd.DataFrame, memstats: pd.Series | None) -> Iterator[str]:
    if not frame["path"].str.startswith("[stack").any():
        yield "there is no [stack] among the mappings: smaps may be cut, and its sums too small"
    legacy = frame["rule"] == LEGACY_METADATA
    if legacy.any():
        yield (
            "before Go 1.11, bitmap and arena can share a mapping; the bitmap is taken as resident"
        )
    shared = frame["rule"] == CUT_BEYOND
    if shared.any():
        yield (
            "one mapping holds memory of the runtime's and somebody else's: how large each part "
            "is follows from MemStats; that the foreign part is the resident one is assumed"
        )
    if memstats is None or not (frame["kind"] == "go-heap").any():
        return
    if memstats[["HeapSys", "StackInuse"]].isna().any():
        return
    if not legacy.any() and work_buffer_bytes(frame, memstats) is None:
        claimed = int(memstats["HeapSys"]) + int(memstats["StackInuse"])
        yield (
            f"the arenas in smaps hold {format_bytes(arena_bytes(frame))}, HeapSys + StackInuse "
            f"say {format_bytes(claimed)}: the two files are of different moments, or a mapping "
            "was mistaken for an arena"
        )


__all__ = [
    "KINDS", "ClassifiedMappings", "arena_bytes", "classify_mappings", "metadata_claim",
    "work_buffer_bytes",
]  # fmt: skip
