"""Which kind is each mapping: Go heap, runtime structures, the program, C, a file, the kernel?

Every mapping gets exactly one kind, and the rule that assigned the kind. Names that the kernel
prints are trusted. A Go heap without a name is recognised by shape, never by address alone, because
Go 1.26 and later place the heap at random. If the shape is not conclusive, the amount of memory
that the runtime counts decides. A mapping with two kinds becomes two rows.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from gomem.analysis.mappings.arenas import (
    LEGACY_METADATA,
    NAMED,
    arena_bytes,
    find_arenas,
    legacy_cut,
    work_buffer_bytes,
)
from gomem.analysis.mappings.native import find_native_memory, stack_cuts
from gomem.analysis.mappings.rows import MappingRows, below_each, cut, which
from gomem.analysis.mappings.runtime import CUT_BEYOND, CUT_COUNTED, divide_the_rest
from gomem.capture.moment import MOMENT
from gomem.inputs.schema import Column, build
from gomem.text import Bytes, Words, text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

KINDS = (
    "go-heap", "go-runtime", "binary", "library", "native-heap", "thread-stack", "mapped-file",
    "shared-memory", "kernel", "anonymous-other",
)  # fmt: skip
BY_KIND = (
    Column("kind", "str", "", "Kind of the mappings, one of `KINDS`.", Words),
    Column("vmas", "int64", "count", "Mappings of the kind."),
    Column("size_bytes", "int64", "B", "Address space that they take."),
    Column("rss_bytes", "int64", "B", "Bytes in RSS."),
    Column("pss_bytes", "Int64", "B", "Resident, shared pages divided by their users."),
    Column("shared_bytes", "Int64", "B", "Pages that another process maps, too."),
    Column("swap_bytes", "Int64", "B", "Swapped out; in no Rss."),
)
_KERNEL = frozenset({"[vdso]", "[vvar]", "[vvar_vclock]", "[vsyscall]", "[uprobes]", "[vectors]"})
_ARENAS = frozenset({"[anon: Go: heap]", "[anon: Go: heap reservation]"})
_SHARED = re.compile(
    r"/dev/shm/|/memfd:|/SYSV[0-9a-f]{8}|/dev/zero|/anon_hugepage|\[anon_shmem:"  # noqa: S108
)
_LIBRARY = re.compile(r"\.so(?:\.[\w.]+)?$")
_FILE = re.compile(r"/|[^/\[(:][^\[:]*$")  # pmap prints files without folders
_DELETED = " (deleted)"
_SUMMED = {name: f"{name.lower()}_bytes" for name in ("Size", "Rss", "Pss", "Swap")} | {
    name: name for name in ("Shared_Clean", "Shared_Dirty")
}
REGIONS = (
    Column("kind", "str", "", "Kind of all mappings of the region.", Words),
    Column("start", "uint64", "address", "First address."),
    Column("end", "uint64", "address", "First address after the last byte."),
    Column("vmas", "int64", "count", "Mappings in it; reserved ones are not counted."),
    Column("size_bytes", "int64", "B", "Mapped for use."),
    Column("rss_bytes", "int64", "B", "Resident."),
)
_RESERVED = "---p"


@dataclass(frozen=True)
class ClassifiedMappings:
    """Mappings with a kind for each."""

    # The smaps rows with `kind` and `rule`. A mapping with two kinds, where the kernel merged
    # neighbours, is split into two rows whose sizes add up.
    mappings: pd.DataFrame
    notes: tuple[str, ...]  # assumptions and contradictions

    def kinds(self) -> pd.DataFrame:
        """Return a row per kind; see `BY_KIND`."""
        kinds = kinds_by_moment(self.mappings.assign(moment=""))
        return kinds.drop(columns=MOMENT.name)


def kinds_by_moment(mappings: pd.DataFrame) -> pd.DataFrame:
    """Return a row per snapshot and kind: `moment`, then the columns of `BY_KIND`.

    Shared and swapped memory is `<NA>` if the kernel does not print it.
    """
    grouped = mappings.groupby([MOMENT.name, "kind"], sort=False)
    sums = grouped[[*_SUMMED]].sum(min_count=1).assign(vmas=grouped.size())
    sums["shared_bytes"] = sums.pop("Shared_Clean") + sums.pop("Shared_Dirty")
    table = sums.rename(columns=_SUMMED).fillna({"size_bytes": 0, "rss_bytes": 0}).reset_index()
    moment, _ = pd.factorize(table[MOMENT.name])
    order = np.lexsort(([KINDS.index(kind) for kind in table["kind"]], moment))
    columns = {name: column.take(order).array for name, column in table.items()}
    return build(columns, (MOMENT, *BY_KIND))


def classify_mappings(
    mappings: pd.DataFrame, memstats: pd.Series | None = None
) -> ClassifiedMappings:
    """Assign to each mapping of a process a `kind`, and the `rule` that gave the kind.

    MemStats of the same snapshot limits the memory assigned to the runtime, and checks the arenas.
    """
    whole = mappings.sort_values("start", ignore_index=True)
    rows = MappingRows.of(whole)
    for split in legacy_cut(rows):
        rows, whole = rows.cut(split), cut(whole, split)
    _by_name(rows)
    _by_neighbour(rows)
    find_arenas(rows, memstats)
    for split in stack_cuts(rows):
        rows, whole = rows.cut(split), cut(whole, split)
    find_native_memory(rows)
    shared = divide_the_rest(rows, memstats)
    if shared is not None:
        rows, whole = rows.cut(shared), cut(whole, shared)
        parts = slice(shared.position, shared.position + 2)
        rows.kind[parts] = ["anonymous-other", "go-runtime"]
        rows.rule[parts] = [CUT_BEYOND, CUT_COUNTED]
    told = {name: pd.Series(getattr(rows, name), dtype="str") for name in ("kind", "rule")}
    return ClassifiedMappings(whole.assign(**told), tuple(_notes(rows, memstats)))


def _by_name(rows: MappingRows) -> None:
    path = rows.path
    rows.assign(which(path, _ARENAS.__contains__), "go-heap", NAMED)
    rows.assign(which(path, _starts("[anon: Go: ")), "go-runtime", NAMED)
    rows.assign(which(path, _KERNEL.__contains__), "kernel", "named by the kernel")
    rows.assign(path == "[heap]", "native-heap", "brk heap: never Go's")
    rows.assign(which(path, _starts("[anon: glibc")), "native-heap", "named by glibc")
    rows.assign(which(path, _starts("[stack")), "thread-stack", "named by the kernel")
    shared = which(path, _SHARED.match) | (
        (path == "") & which(rows.perms, lambda perms: perms.endswith("s"))
    )
    rows.assign(shared, "shared-memory", "shared memory by its name or permission")
    of_file = which(path, _FILE.match)
    with_code = of_file & which(rows.perms, lambda perms: "x" in perms)
    by_name = which(path, lambda name: _LIBRARY.search(name.removesuffix(_DELETED)))
    programs = path[with_code & ~by_name]
    if len(programs):
        rows.assign(path == programs[0], "binary", "the lowest executable file")
    library = by_name | which(path, set(path[with_code]).__contains__)
    rows.assign(of_file & library, "library", "a file with code, or named .so")
    rows.assign(of_file, "mapped-file", "a file without code")
    rows.assign(which(path, _starts("[")), "anonymous-other", "a name gomem does not know")


def _by_neighbour(rows: MappingRows) -> None:
    """Classify zeroed data of a program or library: anonymous, right after a writable part."""
    behind = np.zeros(len(rows), dtype=bool)
    behind[1:] = (
        (rows.path[1:] == "")
        & (rows.start[1:] == rows.end[:-1])
        & which(rows.path[:-1], _FILE.match)
        & which(rows.perms[1:], _starts("rw"))
    )
    before = below_each(rows.kind, first="")
    for kind in ("binary", "library"):
        rows.assign(behind & (before == kind), kind, "zeroed data behind a file's")


def _starts(text: str) -> Callable[[str], bool]:
    return lambda path: path.startswith(text)


def _notes(rows: MappingRows, memstats: pd.Series | None) -> Iterator[str]:
    if not which(rows.path, _starts("[stack")).any():
        yield "there is no [stack] among the mappings: smaps may be cut, and its sums too small"
    legacy = (rows.rule == LEGACY_METADATA).any()
    if legacy:
        yield (
            "before Go 1.11, bitmap and arena can share a mapping; the bitmap is taken as resident"
        )
    if (rows.rule == CUT_BEYOND).any():
        yield (
            "one mapping holds both Go runtime memory and other memory: MemStats gives the size of "
            "each, and the other memory is assumed to be all resident"
        )
    if memstats is None or not (rows.kind == "go-heap").any():
        return
    if memstats[["HeapSys", "StackInuse"]].isna().any():
        return
    if not legacy and work_buffer_bytes(rows, memstats) is None:
        claimed = int(memstats["HeapSys"]) + int(memstats["StackInuse"])
        yield text(
            "the arenas in smaps hold {}, HeapSys + StackInuse say {}: the two files are of "
            "different moments, or a mapping was mistaken for an arena",
            Bytes(arena_bytes(rows)),
            Bytes(claimed),
        )


def address_regions(mappings: pd.DataFrame) -> pd.DataFrame:
    """Merge consecutive mappings of one kind, even with gaps, in address order; see `REGIONS`.

    Sizes add up to the address space in use, resident bytes to RSS. Reserved address space (no
    permissions, nothing resident) is left out: Go reserves hundreds of megabytes at no cost.
    """
    resident = mappings["Rss"].to_numpy(np.int64, na_value=0)
    used = np.flatnonzero((mappings["perms"].to_numpy(object) != _RESERVED) | (resident > 0))
    start, end = (mappings[name].to_numpy(np.uint64) for name in ("start", "end"))
    rows = used[np.argsort(start[used], kind="stable")]
    kind, first = mappings["kind"].to_numpy(object)[rows], np.ones(len(rows), dtype=bool)
    first[1:] = kind[1:] != kind[:-1]
    region, count = np.cumsum(first) - 1, int(first.sum())
    last = np.zeros(count, dtype=np.uint64)
    np.maximum.at(last, region, end[rows])
    sizes, of_region = np.zeros((2, count), dtype=np.int64)
    np.add.at(sizes, region, (end - start)[rows].astype(np.int64))
    np.add.at(of_region, region, resident[rows])
    columns = {
        "kind": kind[first].tolist(),
        "start": start[rows][first],
        "end": last,
        "vmas": np.bincount(region, minlength=count).astype(np.int64),
        "size_bytes": sizes,
        "rss_bytes": of_region,
    }
    return build(columns, REGIONS)
