"""A heap dump as frames: objects, the pointers between them, and the sampled allocations."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd

from gomem.errors import FormatError, printable
from gomem.inputs.heapdump.columns import MEMSTATS
from gomem.inputs.heapdump.parse import parse_heapdump
from gomem.inputs.memstats.table import STATS
from gomem.inputs.pprof.calls.names import package_of
from gomem.inputs.schema import Column, WithDamage, build
from gomem.inputs.wrong_file import name_another
from gomem.sources.artefact import open_source
from gomem.sources.long import open_stream
from gomem.text import File, Function, Words
from gomem.units import format_bytes

if TYPE_CHECKING:
    from gomem.errors import Damage
    from gomem.inputs.heapdump.columns import AddressArray, HeapDumpColumns, IntArray
    from gomem.sources.artefact import Readable
    from gomem.sources.long import Progress

_TARGET = (
    Column("address", "uint64", "address", "What it points at."),
    Column("target", "Int64", "", "Row of the object that it points into; missing outside them."),
    Column("inside", "Int64", "B", "From that object's beginning to what it points at."),
)
OBJECTS = (
    Column("address", "uint64", "address", "First address."),
    Column("size", "int64", "B", "Size of its size class, or of its span if it is large."),
    Column("pointers", "int64", "count", "Pointers in it that are not nil."),
    Column("code", "UInt64", "address", "The first word where it is code: it can be a closure's."),
)
POINTERS = (
    Column("object", "int64", "", "Row of the object that it lies in."),
    Column("offset", "int64", "B", "From that object's beginning to the pointer."),
    *_TARGET,
)
ROOTS = (
    Column("kind", "str", "", "data, bss, frame, (queued) finalizer, defer, panic, other.", Words),
    Column("owner", "int64", "", "Row of its frame, or of its table."),
    Column("offset", "int64", "B", "From its frame's or segment's beginning; else 0."),
    Column("declared", "bool", "", "Whether the dump names it as a pointer; else a frame's word."),
    *_TARGET,
)
FRAMES = (
    Column("goroutine", "int64", "", "Row of its goroutine."),
    Column("depth", "int64", "count", "Calls below it; 0 is where the goroutine stands."),
    Column("function", "str", "", "Its function.", Function),
    Column("sp", "uint64", "address", "Lowest address."),
    Column("size", "int64", "B", "Size on the stack."),
    Column("entry", "uint64", "address", "Where the function begins."),
    Column("pc", "uint64", "address", "Where the function stands."),
)
GOROUTINES = (
    Column("id", "uint64", "", "Its number."),
    Column("function", "str", "", "What it began with; empty without a frame.", Function),
    Column("status", "str", "", "runnable, running, syscall, waiting, or its number.", Words),
    Column("wait_reason", "str", "", "What it waits for, or last did; in Go's words.", Words),
    Column("is_system", "bool", "", "Whether it is the runtime's own."),
    Column("frames", "int64", "count", "Frames of its stack."),
    Column("creation_pc", "uint64", "address", "Where it was begun."),
    Column("address", "uint64", "address", "The runtime's structure of it."),
)
FINALIZERS = (
    Column("queued", "bool", "", "Whether it waits to be run: its object was found unreachable."),
    Column("target", "Int64", "", "Row of the object that it is set for."),
    Column("address", "uint64", "address", "Address of that object."),
    Column("closure", "uint64", "address", "The function value that will be called."),
    Column("code", "uint64", "address", "That function's code."),
)
SEGMENTS = (
    Column("name", "str", "", "data or bss.", Words),
    Column("address", "uint64", "address", "First address."),
    Column("size", "int64", "B", "Size."),
)
BUCKETS = (
    Column("bucket", "uint64", "address", "Its address, by which samples name it."),
    Column("size", "int64", "B", "Size of its objects."),
    Column("allocations", "int64", "count", "Sampled allocations since the start, not scaled."),
    Column("frees", "int64", "count", "Those of them that were freed."),
    Column("function", "str", "", "The allocating function below the runtime's own.", Function),
)
CALLS = (
    Column("bucket", "int64", "", "Row of its bucket."),
    Column("depth", "int64", "count", "0 allocates, 1 called it, and so on; inlining not undone."),
    Column("function", "str", "", "Function.", Function),
    Column("file", "str", "", "Source file.", File),
    Column("line", "int64", "", "Line of the file."),
)
SAMPLES = (
    Column("address", "uint64", "address", "An object whose allocation was sampled."),
    Column("target", "Int64", "", "Its row; missing where the dump has no such object."),
    Column("bucket", "Int64", "", "Row of its bucket."),
)
TYPES = (
    Column("address", "uint64", "address", "The runtime's structure of it."),
    Column("size", "uint64", "B", "Size of a value."),
    Column("name", "str", "", "Its name; only types that an interface's table names.", Function),
)
NO_GOAL = (1 << 63) - 1  # a NextGC from here on means no goal: GOGC is off
STATUS = {1: "runnable", 2: "running", 3: "syscall", 4: "waiting"}
# the runtime's frames below a goroutine's first function
BEGIN = frozenset({"runtime.goexit", "runtime.main"})
# wrappers that the compiler generates for `go` with arguments
WRAPPER = re.compile(r"\.gowrap[0-9]+$|·dwrap·[0-9]+$")
TYPE_ARGUMENTS = re.compile(r"\[.*\]")
RUNTIME = ("runtime.", "internal/runtime/")


@dataclass(frozen=True)
class HeapDump(WithDamage):
    """A heap dump: the objects on the heap, their pointers, and the roots that keep them alive.

    Frames, created on first use: `objects`, `pointers` (in objects), `roots` (pointers from
    outside), `frames`, `goroutines`, `finalizers`, `segments`, `stats`, `buckets` and `calls` of
    the memory profile, `samples`, `types`. Contents are not kept, except pointers.

    Attributes:
        source: Name of the artefact, usually a path.
        columns: Its records as arrays.
        damaged: What could not be read.
    """

    source: str
    columns: HeapDumpColumns
    damaged: tuple[Damage, ...] = ()
    release_evidence: ClassVar[str] = "heap dump"  # the source of the release

    @property
    def go_version(self) -> str:
        """The Go release that wrote the dump."""
        return printable(self.columns.machine.go_version)

    @property
    def is_whole(self) -> bool:
        """Whether the end record was reached; otherwise roots are missing."""
        return self.columns.is_whole

    @cached_property
    def objects(self) -> pd.DataFrame:
        """A row per object, in the dump's order; see `OBJECTS`."""
        found = self.columns.objects
        code = np.ma.masked_equal(found.first_word, 0)
        pointers = np.bincount(found.source, minlength=len(found.address))
        columns = {"address": found.address, "size": found.size, "pointers": pointers}
        return build(columns | {"code": code}, OBJECTS)

    @cached_property
    def pointers(self) -> pd.DataFrame:
        """A row per pointer in an object, in the dump's order; see `POINTERS`."""
        found = self.columns.objects
        columns = {"object": found.source, "offset": found.offset}
        return build(columns | self._pointing(found.target), POINTERS)

    @cached_property
    def roots(self) -> pd.DataFrame:
        """A row per pointer from outside the heap objects; see `ROOTS`."""
        columns, lists = self.columns, self.columns.lists
        segments, frames = columns.segment_slots, columns.frame_slots
        names = ["data"] * len(lists["data"]["address"]) + ["bss"] * len(lists["bss"]["address"])
        kinds = np.array(names, dtype=object)
        parts: list[tuple[Any, Any, Any, Any, Any]] = [
            (kinds[segments.owner], segments.owner, segments.offset, segments.declared,
             segments.target),
            (["frame"] * len(frames.owner), frames.owner, frames.offset, frames.declared,
             frames.target),
            *(_listed(*named) for named in (
                ("finalizer", lists["finalizers"]["object"]),
                ("queued finalizer", lists["queued_finalizers"]["object"]),
                ("defer", lists["defers"]["closure"]), ("panic", lists["panics"]["value"]),
                ("other", lists["other_roots"]["target"]),
            )),
        ]  # fmt: skip
        kind, owner, offset, declared, target = (
            np.concatenate([np.asarray(part[place]) for part in parts]) for place in range(5)
        )
        found = {"kind": kind, "owner": owner.astype(np.int64), "offset": offset.astype(np.int64)}
        found["declared"] = declared.astype(np.bool_)
        return build(found | self._pointing(target.astype(np.uint64)), ROOTS)

    @cached_property
    def frames(self) -> pd.DataFrame:
        """A row per frame of a goroutine's stack, the deepest call first; see `FRAMES`."""
        listed = self.columns.lists["frames"]
        names = ("goroutine", "depth", "sp", "entry", "pc")
        columns = {name: _array(listed[name]) for name in names}
        for name in ("goroutine", "depth"):
            columns[name] = columns[name].view(np.int64)
        function = [printable(name) for name in listed["function"]]
        return build(columns | {"function": function, "size": _sizes(listed)}, FRAMES)

    @cached_property
    def goroutines(self) -> pd.DataFrame:
        """A row per goroutine; see `GOROUTINES`."""
        listed, frames = self.columns.lists["goroutines"], self.columns.lists["frames"]
        count = len(listed["id"])
        function = [""] * count
        # It began with its outermost function, apart from functions of the runtime and the
        # compiler.
        for goroutine, name in zip(frames["goroutine"], frames["function"], strict=True):
            if not function[goroutine] or _may_begin(name, function[goroutine]):
                function[goroutine] = printable(name)
        columns: dict[str, Any] = {
            name: _array(listed[name]) for name in ("id", "creation_pc", "address")
        }
        columns["function"] = function
        columns["status"] = [STATUS.get(status, str(status)) for status in listed["status"]]
        columns["wait_reason"] = [printable(reason) for reason in listed["wait_reason"]]
        columns["is_system"] = _array(listed["is_system"]) != 0
        columns["frames"] = np.bincount(_array(frames["goroutine"]).view(np.int64), minlength=count)
        return build(columns, GOROUTINES)

    @cached_property
    def finalizers(self) -> pd.DataFrame:
        """A row per finalizer, queued ones last; see `FINALIZERS`."""
        tables = [self.columns.lists[name] for name in ("finalizers", "queued_finalizers")]
        queued = [number == 1 for number, table in enumerate(tables) for _ in table["object"]]
        columns = {
            name: _array([value for table in tables for value in table[name]])
            for name in ("object", "closure", "code")
        }
        address = columns.pop("object")
        target, _ = self.find(address)
        said = {"queued": queued, "target": np.ma.masked_less(target, 0), "address": address}
        return build(said | columns, FINALIZERS)

    @cached_property
    def segments(self) -> pd.DataFrame:
        """The segments data and bss, which contain the global variables; see `SEGMENTS`."""
        tables = {name: self.columns.lists[name] for name in ("data", "bss")}
        names = [name for name, table in tables.items() for _ in table["address"]]
        address = [value for table in tables.values() for value in table["address"]]
        size = np.concatenate([_sizes(table) for table in tables.values()])
        return build({"name": names, "address": _array(address), "size": size}, SEGMENTS)

    @cached_property
    def stats(self) -> pd.DataFrame:
        """MemStats at the time of the dump, one row; see `STATS`."""
        listed = self.columns.lists["memstats"]
        columns: dict[str, Any] = {
            name: np.minimum(_array(listed[name]), np.uint64(NO_GOAL)).view(np.int64)
            for name in (*MEMSTATS, "NumGC")
        }
        columns["NextGC"] = np.ma.masked_equal(columns["NextGC"], NO_GOAL)
        last = columns["LastGC"].astype("datetime64[ns]")
        last[columns["LastGC"] == 0] = np.datetime64("NaT", "ns")
        columns["LastGC"] = pd.Series(last).dt.tz_localize("UTC")
        return build(columns | {"place": [""] * len(last)}, STATS)

    @cached_property
    def buckets(self) -> pd.DataFrame:
        """A row per bucket of the memory profile; see `BUCKETS`."""
        listed = self.columns.lists["buckets"]
        columns: dict[str, Any] = {"bucket": _array(listed["bucket"])}
        for name in ("size", "allocations", "frees"):
            columns[name] = _array(listed[name]).view(np.int64)
        columns["function"] = [printable(_allocating(calls)) for calls in listed["calls"]]
        return build(columns, BUCKETS)

    @cached_property
    def calls(self) -> pd.DataFrame:
        """A row per call of each bucket's stack; see `CALLS`."""
        listed = self.columns.lists["buckets"]["calls"]
        rows = [
            (bucket, depth, printable(function), printable(file), line)
            for bucket, calls in enumerate(listed)
            for depth, (function, file, line) in enumerate(calls)
        ]
        names = [column.name for column in CALLS]
        columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)) if rows else {}
        return build(columns, CALLS)

    @cached_property
    def samples(self) -> pd.DataFrame:
        """A row per object whose allocation was sampled; see `SAMPLES`."""
        listed = self.columns.lists["samples"]
        address, named = _array(listed["address"]), _array(listed["bucket"])
        target, _ = self.find(address)
        buckets = _array(self.columns.lists["buckets"]["bucket"])
        row = _rows_of(buckets, named)
        said = {"address": address, "target": np.ma.masked_less(target, 0)}
        return build(said | {"bucket": np.ma.masked_less(row, 0)}, SAMPLES)

    @cached_property
    def types(self) -> pd.DataFrame:
        """The types named in itabs; see `TYPES`."""
        listed = self.columns.lists["types"]
        columns: dict[str, Any] = {name: _array(listed[name]) for name in ("address", "size")}
        columns["name"] = [printable(name) for name in listed["name"]]
        return build(columns, TYPES)

    def find(self, address: AddressArray) -> tuple[IntArray, IntArray]:
        """Return the object row that each address points into (-1 if none), and the offset."""
        objects = self.columns.objects
        if not len(objects.address) or not len(address):
            return np.full(len(address), -1), np.zeros(len(address), np.int64)
        order = self._by_address
        place = np.searchsorted(objects.address[order], address, side="right") - 1
        row = order[np.maximum(place, 0)]
        inside = (address - objects.address[row]).view(np.int64)
        outside = (place < 0) | (inside < 0) | (inside >= objects.size[row])
        return np.where(outside, -1, row), inside

    @cached_property
    def _by_address(self) -> IntArray:
        return np.argsort(self.columns.objects.address, kind="stable")

    def _pointing(self, address: AddressArray) -> dict[str, Any]:
        """Return the columns of `_TARGET`."""
        target, inside = self.find(address)
        mask = target < 0
        hidden = {
            "target": np.ma.array(target, mask=mask),
            "inside": np.ma.array(inside, mask=mask),
        }
        return {"address": address, **hidden}

    def __repr__(self) -> str:
        return f"<HeapDump {self.source}: {self._said}>"

    def _repr_html_(self) -> str:
        largest = self.objects.nlargest(10, "size")
        return f"<p>{self._said}; the ten largest:</p>{largest.to_html(escape=True)}"

    @property
    def _said(self) -> str:
        objects, size = self.columns.objects, int(self.columns.objects.size.sum())
        goroutines = len(self.columns.lists["goroutines"]["id"])
        return f"{len(objects.size)} objects, {format_bytes(size)}, {goroutines} goroutines"


def read_heapdump(readable: Readable, *, progress: Progress | None = None) -> HeapDump:
    """Read the output of `runtime/debug.WriteHeapDump`, compressed or not, piece by piece.

    Only the pointers are kept in memory, never the contents. `progress` is called with the number
    of bytes read and their total. Raises FormatError if it is not a heap dump.
    """
    stream = open_stream(readable)
    try:
        columns, damage = parse_heapdump(stream.pieces(progress), source=stream.name)
    except FormatError:
        if not hasattr(readable, "read"):
            name_another(open_source(readable), "a heap dump", ("heapdump",), refused=True)
        raise
    return HeapDump(stream.name, columns, (*stream.damage, *damage))


def _array(values: list[Any]) -> AddressArray:
    return np.array(values, np.uint64)


def _sizes(table: dict[str, list[Any]]) -> IntArray:
    return np.array(table["content"], np.int64)


def _listed(kind: str, targets: list[int]) -> tuple[Any, Any, Any, Any, Any]:
    """Return roots that have records of their own."""
    count = len(targets)
    nothing = np.zeros(count, np.int64)
    return [kind] * count, np.arange(count), nothing, nothing == 0, _array(targets)


def _rows_of(known: AddressArray, named: AddressArray) -> IntArray:
    """Return the row of each named address among the known ones; -1 if it is not there."""
    if not len(known):
        return np.full(len(named), -1)
    order = np.argsort(known)
    place = np.minimum(np.searchsorted(known[order], named), len(known) - 1)
    row = order[place]
    return np.where(known[row] == named, row, -1)


def _may_begin(function: str, called: str) -> bool:
    """Whether a goroutine can have begun with a function, rather than with its callee.

    If the function is a wrapper of the compiler, the goroutine began with its callee. But a `go`
    statement cannot name an unexported function of another package. Then the function in the
    statement was inlined into the wrapper.
    """
    if not WRAPPER.search(function):
        return function not in BEGIN
    is_exported = TYPE_ARGUMENTS.sub("", called).rpartition(".")[2][:1].isupper()
    return not is_exported and package_of(function) != package_of(called)


def _allocating(calls: list[tuple[str, str, int]]) -> str:
    """Return the first function of a stack outside the runtime; if there is none, the first."""
    names = [name for name, _, _ in calls]
    own = (name for name in names if not name.startswith(RUNTIME))
    return next(own, names[0] if names else "")
