"""Which kind is each mapping: the Go heap, the runtime's own, the program, C, a file, the kernel?

Every mapping gets exactly one kind, and the rule that gave it. Names that the kernel shows are
trusted; a Go heap without a name is known by its shape, never by its address alone, because
Go 1.26 and later put it at a random place. Facts from the runtime's malloc.go and mheap.go.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from gomem.units import KIB, MIB, format_bytes

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

ARENA = 64 * MIB
CHUNK = 4 * MIB  # what the heap grows by since Go 1.17
GO_PAGE = 8 * KIB  # the step of what lies in the arenas and counts as GCSys
LEGACY_BASE = 0xC000000000
LEGACY_ARENAS = (0xC420000000, 0xC820000000)  # Go 1.7 to 1.10, and 1.5 to 1.6
LOWEST_ARENA = 1 << 32
MMAP_AREA_AMD64 = 1 << 46  # arenas lie below, position-independent programs and mmap above
MMAP_AREA_ARM64 = 1 << 47
KERNEL_HALF = 1 << 63
LARGEST_GUARD = 64 * KIB
SMALLEST_THREAD_STACK = 64 * KIB
LARGEST_THREAD_STACK = 64 * MIB

METADATA = ("MSpanSys", "MCacheSys", "GCSys", "BuckHashSys", "OtherSys")
# What the runtime maps and counts nowhere: a few pages of its 32 MiB heap index, page rounding.
UNCOUNTED_METADATA = MIB
# Without MemStats: span structures and bitmaps take up to 8 % of the arenas (Go 1.11), and a
# small program has some 4 MiB of them.
METADATA_AT_MOST = 8 * MIB
METADATA_SHARE = 0.08

_KERNEL = frozenset({"[vdso]", "[vvar]", "[vvar_vclock]", "[vsyscall]", "[uprobes]", "[vectors]"})
_SHARED = r"/dev/shm/|/memfd:|/SYSV[0-9a-f]{8}|/dev/zero|/anon_hugepage|\[anon_shmem:"  # noqa: S108
_LIBRARY = r"\.so(?:\.[\w.]+)?$"
_DELETED = " (deleted)"


@dataclass(frozen=True)
class ClassifiedMappings:
    """Mappings with their kinds.

    Attributes:
        mappings: The smaps rows with `kind` and `rule`; a mapping that holds two kinds, as before
            Go 1.11, is split into two rows whose sizes add up.
        notes: Assumptions made, and contradictions met.
    """

    mappings: pd.DataFrame
    notes: tuple[str, ...]

    def kinds(self) -> pd.DataFrame:
        """A row per kind met: `kind`, `vmas`, `size_bytes`, `rss_bytes`."""
        grouped = self.mappings.groupby("kind", sort=False)
        table = pd.DataFrame(
            {
                "vmas": grouped.size(),
                "size_bytes": grouped["Size"].sum(),
                "rss_bytes": grouped["Rss"].sum(),
            }
        )
        order = [kind for kind in KINDS if kind in table.index]
        return table.loc[order].astype("int64").rename_axis("kind").reset_index()


def classify_mappings(
    mappings: pd.DataFrame, memstats: pd.Series | None = None
) -> ClassifiedMappings:
    """Give every mapping of one moment its kind.

    Args:
        mappings: Rows of the smaps table, of one process at one time.
        memstats: A row of the MemStats table of the same moment; it bounds what can be the
            runtime's own and is held against the arenas found.

    Returns:
        The mappings with `kind` and `rule`, and notes.
    """
    frame = _split_legacy_arena(mappings.sort_values("start", ignore_index=True))
    frame = frame.assign(kind=pd.Series("", index=frame.index, dtype="str"), rule="")
    _by_name(frame)
    _by_neighbour(frame)
    _arenas(frame)
    _native(frame)
    _runtime_or_other(frame, memstats)
    return ClassifiedMappings(frame, tuple(_notes(frame, memstats)))


def arena_bytes(frame: pd.DataFrame) -> int:
    """Bytes of the arenas that are mapped for use: the read-write part of `go-heap`."""
    arenas = frame[(frame["kind"] == "go-heap") & (frame["perms"] != "---p")]
    return int((arenas["end"] - arenas["start"]).sum())


def work_buffer_bytes(frame: pd.DataFrame, memstats: pd.Series) -> int | None:
    """GC work buffers in the arenas: what is left of them behind HeapSys and stacks.

    The runtime's identity: arenas = HeapSys + StackInuse + W, where W is work buffers of 32 KiB
    and, with Go 1.23 seen here, unrolled pointer bitmaps in pages of 8 KiB: both part of GCSys.
    None if what is left cannot be that, as when smaps and MemStats are of different moments.
    """
    rest = arena_bytes(frame) - int(memstats["HeapSys"]) - int(memstats["StackInuse"])
    gc_bytes = memstats["GCSys"]
    at_most = arena_bytes(frame) if pd.isna(gc_bytes) else int(gc_bytes)
    return rest if 0 <= rest <= at_most and rest % GO_PAGE == 0 else None


def _assign(frame: pd.DataFrame, where: pd.Series, kind: str, rule: str) -> None:
    """Kind and rule for the rows of a mask that have none yet."""
    rows = where & (frame["kind"] == "")
    frame.loc[rows, "kind"] = kind
    frame.loc[rows, "rule"] = rule


def _by_name(frame: pd.DataFrame) -> None:
    path = frame["path"]
    _assign(frame, path.str.startswith("[anon: Go: heap"), "go-heap", "named by the runtime")
    _assign(frame, path.str.startswith("[anon: Go: "), "go-runtime", "named by the runtime")
    _assign(frame, path.isin(_KERNEL), "kernel", "named by the kernel")
    _assign(frame, path == "[heap]", "native-heap", "brk heap: never Go's")
    _assign(frame, path.str.startswith("[anon: glibc"), "native-heap", "named by glibc")
    _assign(frame, path.str.startswith("[stack"), "thread-stack", "named by the kernel")
    shared = path.str.match(_SHARED) | (frame["perms"].str.endswith("s") & (path == ""))
    _assign(frame, shared, "shared-memory", "shared memory by its name or permission")
    of_file = path.str.startswith("/")
    program = _program(frame[of_file])
    _assign(frame, of_file & (path == program), "binary", "the lowest executable file")
    with_code = set(path[of_file & frame["perms"].str.contains("x")])
    library = path.isin(with_code) | path.str.removesuffix(_DELETED).str.contains(_LIBRARY)
    _assign(frame, of_file & library, "library", "a file with code, or named .so")
    _assign(frame, of_file, "mapped-file", "a file without code")
    _assign(frame, path.str.startswith("["), "anonymous-other", "a name gomem does not know")


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
        _assign(frame, behind & (before["kind"] == kind), kind, "zeroed data behind a file's")


def _anonymous(frame: pd.DataFrame) -> pd.Series:
    return (
        (frame["path"] == "")
        & (frame["inode"] == 0)
        & frame["perms"].isin(["rw-p", "---p", "rwxp"])
        & (frame["kind"] == "")
    )


def _mmap_area(frame: pd.DataFrame) -> int:
    """Where a process's mmap area cannot be below; arm64 has one address bit more."""
    user = frame.loc[frame["end"] < KERNEL_HALF, "end"]
    return MMAP_AREA_ARM64 if len(user) and int(user.max()) > 1 << 47 else MMAP_AREA_AMD64


def _runs(frame: pd.DataFrame, where: pd.Series) -> Iterator[pd.DataFrame]:
    """Mappings that touch one another, as groups, lowest first."""
    rows = frame[where]
    breaks = rows["start"] != rows["end"].shift(1)
    for _, run in rows.groupby(breaks.cumsum()):
        yield run


def _arenas(frame: pd.DataFrame) -> None:
    if (frame["rule"] == "named by the runtime").any():
        return
    below = _anonymous(frame) & (frame["end"] <= _mmap_area(frame))
    for run in _runs(frame, below & (frame["start"] >= LOWEST_ARENA)):
        first, last = int(run["start"].iloc[0]), int(run["end"].iloc[-1])
        rows = pd.Series(frame.index.isin(run.index), index=frame.index)
        legacy = _legacy_arena(frame)
        if legacy is not None and LEGACY_BASE <= first < legacy + (1 << 39):
            _assign(frame, rows & (frame["start"] >= legacy), "go-heap", "arena before Go 1.11")
            _assign(frame, rows, "go-runtime", "spans and bitmap below the arena, before Go 1.11")
        elif first % ARENA == 0 and last % ARENA == 0 and _grown_like_a_heap(run):
            _assign(frame, rows, "go-heap", "anonymous, in whole 64 MiB arenas")


def _grown_like_a_heap(run: pd.DataFrame) -> bool:
    """The part in use grows by 4 MiB (1.17 and later) or by whole arenas (1.11 to 1.16).

    Where advice splits it into several mappings, each touches the next, so that the edges that
    matter are those against reserved address space.
    """
    in_use = run["perms"] != "---p"
    edges = run["start"][in_use & ~in_use.shift(1, fill_value=False)]
    return bool(in_use.any()) and bool((edges % CHUNK == 0).all())


def _legacy_arena(frame: pd.DataFrame) -> int | None:
    """Where the arena begins if this is Go 1.5 to 1.10: below it stand spans and bitmap."""
    anonymous = frame[(frame["path"] == "") & (frame["inode"] == 0)]
    spans = anonymous[anonymous["start"] == LEGACY_BASE]
    if spans.empty or int(spans["end"].iloc[0]) % ARENA == 0:
        return None
    for arena in LEGACY_ARENAS:
        if ((anonymous["start"] <= arena) & (anonymous["end"] > arena)).any():
            return arena
    return None


def _split_legacy_arena(frame: pd.DataFrame) -> pd.DataFrame:
    """Before Go 1.11 bitmap and arena can be one mapping: cut it where the arena begins.

    The bitmap, which every collection writes, is taken to be resident first.
    """
    arena = _legacy_arena(frame)
    if arena is None:
        return frame
    across = (frame["start"] < arena) & (frame["end"] > arena) & (frame["path"] == "")
    if not across.any():
        return frame
    row = frame[across].iloc[0]
    below_bytes = arena - int(row["start"])
    below, above = row.copy(), row.copy()
    below["end"] = above["start"] = np.uint64(arena)
    sizes = [name for name in frame.columns if frame[name].dtype == "Int64" and name != "line"]
    for name in sizes:
        if name.endswith("PageSize") or pd.isna(row[name]) or row[name] < 4 * KIB:
            continue
        below[name] = min(below_bytes, int(row[name]))
        above[name] = int(row[name]) - int(below[name])
    halves = pd.DataFrame([below, above]).astype(frame.dtypes.to_dict())
    split = pd.concat([frame[~across], halves], ignore_index=True)
    return split.sort_values("start", ignore_index=True)


def _native(frame: pd.DataFrame) -> None:
    """C's arenas and thread stacks, by the shapes that glibc gives them."""
    area = _anonymous(frame) & (frame["start"] >= _mmap_area(frame))
    nearby = frame.shift(-1)
    size = frame["end"] - frame["start"]
    reserved_to = nearby["end"].fillna(0).astype("uint64")
    malloc_arena = (
        area
        & (frame["perms"] == "rw-p")
        & (frame["start"] % ARENA == 0)
        & (size % CHUNK != 0)
        & (nearby["perms"] == "---p")
        & (nearby["start"] == frame["end"])
        & (reserved_to - frame["start"] == ARENA)
    )
    tail = malloc_arena.shift(1, fill_value=False)
    _assign(frame, malloc_arena | tail, "native-heap", "a malloc arena of glibc's")
    before = frame.shift(1)
    guard_size = before["end"].fillna(0).astype("uint64") - before["start"].fillna(0).astype(
        "uint64"
    )
    stack = (
        area
        & (frame["perms"] == "rw-p")
        & (before["perms"] == "---p")
        & (before["end"] == frame["start"])
        & (guard_size <= LARGEST_GUARD)
        & size.between(SMALLEST_THREAD_STACK, LARGEST_THREAD_STACK)
    )
    guard = stack.shift(-1, fill_value=False)
    _assign(frame, stack | guard, "thread-stack", "a guard page and a stack above it")


def _runtime_or_other(frame: pd.DataFrame, memstats: pd.Series | None) -> None:
    """What is left: the runtime's as far as its own count goes, smallest first; then nobody's."""
    left = frame[frame["kind"] == ""]
    _assign(
        frame,
        frame.index.isin(left.index) & (frame["perms"] == "---p"),
        "go-runtime",
        "reserved address space, nothing in it",
    )
    left = frame[(frame["kind"] == "") & _anonymous(frame)]
    if not (frame["kind"] == "go-heap").any():
        _assign(frame, frame["kind"] == "", "anonymous-other", "no Go heap beside it")
        return
    budget = metadata_budget(frame, memstats)
    resident = left["Rss"].fillna(0).sort_values(kind="stable").cumsum()
    within = frame.index.isin(resident.index[resident <= budget])
    rule = (
        "within what MemStats counts for the runtime"
        if memstats is not None
        else ("small enough to be the runtime's own")
    )
    _assign(frame, pd.Series(within, index=frame.index), "go-runtime", rule)
    _assign(frame, frame["kind"] == "", "anonymous-other", "more than the runtime counts")


def metadata_claim(memstats: pd.Series) -> int:
    """What the runtime counts for its own structures, in bytes; unknown fields count nothing."""
    return int(memstats[list(METADATA)].fillna(0).sum())


def metadata_budget(frame: pd.DataFrame, memstats: pd.Series | None) -> int:
    """The most that can be resident of the runtime's own mappings."""
    if memstats is None:
        return METADATA_AT_MOST + int(METADATA_SHARE * arena_bytes(frame))
    work_buffers = work_buffer_bytes(frame, memstats) or 0
    return metadata_claim(memstats) - work_buffers + UNCOUNTED_METADATA


def _notes(frame: pd.DataFrame, memstats: pd.Series | None) -> Iterator[str]:
    if not frame["path"].str.startswith("[stack").any():
        yield "there is no [stack] among the mappings: smaps may be cut, and its sums too small"
    legacy = frame["rule"] == "spans and bitmap below the arena, before Go 1.11"
    if legacy.any():
        yield (
            "before Go 1.11 bitmap and arena can share a mapping; the bitmap is taken as resident"
        )
    if memstats is None or not (frame["kind"] == "go-heap").any():
        return
    if not legacy.any() and work_buffer_bytes(frame, memstats) is None:
        claimed = int(memstats["HeapSys"]) + int(memstats["StackInuse"])
        yield (
            f"the arenas in smaps hold {format_bytes(arena_bytes(frame))}, HeapSys + StackInuse "
            f"say {format_bytes(claimed)}: the two files are of different moments, or a mapping "
            "is taken for an arena that is none"
        )
