"""Heap dumps: all objects of a Go heap, the pointers between them, and what keeps them alive.

Printed by    runtime/debug.WriteHeapDump, in the runtime's heapdump.go; Go 1.7 to 1.27 alike.
Order         parameters, types and itabs, objects, goroutines with their frames, threads, the
              segments data and bss, finalizers, MemStats, the memory profile's buckets, and the
              objects that it samples. The roots follow the objects, so a truncated dump has none.
Numbers       varints, seven bits per byte, the lowest first. Strings and byte contents begin with
              their length. A field list is a sequence of pairs (kind, offset) that ends with a 0.
Quirks        Since Go 1.5 objects have no type. The types in the dump belong to the itabs.
              Since Go 1.22 the loop over a span also dumps the free slots after its last object,
              as if they were objects. They are unreachable and make up to 1.4 % of the bytes, or
              more if many objects have 512 bytes.
              A struct on the stack can be passed by address. The pointer list of its frame then
              omits its fields. So the reader also keeps every other word of a frame that points
              into the heap, apart from the listed ones.
              Samples are there only if the program links runtime/pprof.
Contents      The bytes of objects, frames and segments are dropped; their pointers are kept. If the
              first word of an object is the address of code, it is kept, too: it names a closure.
"""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, Any

import numpy as np

from gomem.errors import Damage, FormatError, excerpt
from gomem.inputs.heapdump.columns import HeapDumpColumns, Machine, Objects, Pieces, Slots
from gomem.inputs.heapdump.objects import OBJECT, read_run
from gomem.inputs.heapdump.pointers import Contents, all_words, pointers_in, words_at
from gomem.inputs.heapdump.records import (
    CONTENT,
    FIELDS,
    PLAIN,
    RECORDS,
    WORDS,
    Corrupt,
    Cut,
    number_at,
    plain_records,
    read_record,
)
from gomem.inputs.heapdump.window import WINDOW_BYTES, Window
from gomem.units import GIB

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gomem.inputs.heapdump.objects import Run
    from gomem.inputs.heapdump.records import Record

HEADER = b"go1.7 heap dump\n"
END = 0
MAX_BYTES = 1024 * GIB  # of one object or text; a larger size means corruption
POINTER_BYTES = (4, 8)
MIN_AT_ONCE, MAX_AT_ONCE = (
    16,
    1 << 16,
)  # numeric records read at once: initially, and at most
SLOTTED = ("frames", "segments")  # tables whose records have contents, besides objects
MAX_DAMAGED = 100  # above this number, unreadable objects are not reported one by one


def looks_like_heapdump(data: bytes) -> bool:
    """Whether the bytes begin like a heap dump."""
    return data.startswith(HEADER)


def parse_heapdump(
    pieces: Iterable[bytes], *, source: str, window_bytes: int = WINDOW_BYTES
) -> tuple[HeapDumpColumns, list[Damage]]:
    """Parse a heap dump that comes in pieces; FormatError if it does not begin like one.

    If it is truncated or corrupt, everything before that position is kept, and the position is
    damage.
    """
    reader = _Reader(Window(iter(pieces), window_bytes), source)
    reader.read()
    return reader.columns(), reader.damage


class _Reader:
    """Fills the columns while reading."""

    def __init__(self, window: Window, source: str) -> None:
        if not looks_like_heapdump(window.buffer):
            found = excerpt(window.buffer[: min(len(HEADER), window.size)])
            what = "not a heap dump; wanted what runtime/debug.WriteHeapDump writes"
            raise FormatError(source, "byte 0", what, found)
        window.at = len(HEADER)
        self.window, self.source = window, source
        self.machine = Machine()
        self._damage: list[tuple[int, Damage]] = []  # each with its byte
        self.is_whole = False
        names = {record.name: [name for name, _ in record.fields] for record in RECORDS.values()}
        self.lists: dict[str, dict[str, list[Any]]] = {
            table: {name: [] for name in columns} for table, columns in names.items()
        }
        self.lists["frames"]["goroutine"] = []
        self.objects = Pieces(np.uint64, np.int64, np.uint64)
        self.pointers = Pieces(np.int64, np.int64, np.uint64)
        self.object_count = 0
        self.slots = {name: Pieces(np.int64, np.int64, np.uint64, np.bool_) for name in SLOTTED}
        # Contents in the window whose pointers are not read yet, by table.
        self.waiting: dict[str, list[tuple[int, ...]]] = {name: [] for name in SLOTTED}
        self.segments = 0
        self.most = MIN_AT_ONCE  # numeric records to read at once

    def read(self) -> None:
        """Read records to the end of the dump, or to the first unreadable one."""
        while not self.is_whole:
            try:
                self._read_next()
            except Cut as cut:
                self._read_waiting()
                if not self.window.grow(cut.wanted):
                    self._say_cut()
                    break
            except Corrupt as error:
                self._say(f"{error}; what follows is not read")
                break
        self._read_waiting()

    def _read_next(self) -> None:
        window = self.window
        tag, after = number_at(window, window.at)
        if tag == OBJECT:
            self._read_objects()
        elif tag == END:
            window.at, self.is_whole = after, True
        elif tag in PLAIN:
            rows, end = plain_records(window, tag, self.most)
            self.most = min(2 * self.most, MAX_AT_ONCE) if len(rows) >= self.most else MIN_AT_ONCE
            if len(rows):
                self._take_plain(RECORDS[tag], rows)
                window.at = end
            else:
                self._take(RECORDS[tag], *read_record(window, RECORDS[tag], MAX_BYTES))
        elif tag in RECORDS:
            self._take(RECORDS[tag], *read_record(window, RECORDS[tag], MAX_BYTES))
        else:
            raise Corrupt(f"a record of unknown type {tag}, wanted 0 to {max(RECORDS)}")

    def _take_plain(self, record: Record, rows: Any) -> None:
        columns = self.lists[record.name]
        for (name, _), values in zip(record.fields, rows.view(np.uint64).T, strict=True):
            columns[name].extend(values.tolist())

    def _take(self, record: Record, values: list[Any], end: int) -> None:
        columns = self.lists[record.name]
        content = (0, 0)
        for (name, form), value in zip(record.fields, values, strict=True):
            if form == CONTENT:
                content = value
                columns[name].append(value[1] - value[0])
            elif form == FIELDS:
                self._await(record.name, content, value)
            else:
                columns[name].append(value)
        self.window.at = end
        if record.name == "machine":
            self._take_machine()
        elif record.name == "frames":  # frames follow their goroutine
            columns["goroutine"].append(len(self.lists["goroutines"]["id"]) - 1)

    def _take_machine(self) -> None:
        said = {name: values[-1] for name, values in self.lists["machine"].items()}
        if said["pointer_bytes"] not in POINTER_BYTES:
            raise Corrupt(f"pointers of {said['pointer_bytes']} bytes, wanted 4 or 8")
        self.machine = Machine(**said | {"big_endian": bool(said["big_endian"])})

    def _await(self, name: str, content: tuple[int, int], listed: tuple[int, int]) -> None:
        """Note where the content and pointer list of a frame or segment are in the window."""
        table = "frames" if name == "frames" else "segments"
        if table == "segments":
            row, self.segments = self.segments, self.segments + 1
        else:
            row = len(self.lists[name]["sp"]) - 1
        self.waiting[table].append((row, content[0], content[1] - content[0], *listed))

    def _read_waiting(self) -> None:
        """Read the pointers of the window's frames and segments before the window moves on."""
        for table, waiting in self.waiting.items():
            if waiting:
                owner, content, size, start, stop = np.array(waiting, np.int64).T
                self._read_slots(table, owner, Contents(content, size, start, stop))
                waiting.clear()

    def _read_slots(self, table: str, owner: Any, contents: Contents) -> None:
        found = pointers_in(self.window, contents, self.machine)
        for row in found.wrong.tolist():
            place = self.window.base + int(contents.fields[row])
            self._say("a list of fields that names no pointers; they are not read", place)
        is_there = found.target != 0
        row, offset, target = (
            column[is_there] for column in (found.row, found.offset, found.target)
        )
        self.slots[table].add(owner[row], offset, target, np.ones(len(row), np.bool_))
        if table != "frames":
            return
        row, offset = all_words(contents, self.machine)
        target = words_at(self.window, contents.content[row] + offset, self.machine)
        inside = (target >= self._arena[0]) & (target < self._arena[1])
        row, offset, target = row[inside], offset[inside], target[inside]
        width = int(contents.size.max(initial=0)) + 1
        declared = np.isin(row * width + offset, found.row * width + found.offset)
        row, offset, target = row[~declared], offset[~declared], target[~declared]
        self.slots[table].add(owner[row], offset, target, np.zeros(len(row), np.bool_))

    def _read_objects(self) -> None:
        window = self.window
        run, end = read_run(window, (self.machine.arena_start, self.machine.arena_end))
        if not len(run):
            raise self._of_object()
        self._take_objects(run)
        window.at = end

    def _of_object(self) -> Cut | Corrupt:
        """Return why the object at this position could not be read."""
        window = self.window
        _, at = number_at(window, window.at + 1)
        size, at = number_at(window, at)
        if size > MAX_BYTES:
            return Corrupt(f"an object of {size} bytes")
        wanted = at + size + 1 - window.at
        if at + size >= window.size:
            return Cut(wanted)
        # Its field list continues beyond the window; its length is not stored.
        return Cut(max(wanted, 2 * (window.size - window.at)))

    def _take_objects(self, run: Run) -> None:
        window, machine = self.window, self.machine
        first_word = words_at(window, run.content, machine)
        first_word[run.size < machine.pointer_bytes] = 0
        self.objects.add(run.address, run.size, first_word)
        filled = np.flatnonzero(run.stop > run.fields)
        listed = run.take(filled)
        contents = Contents(listed.content, listed.size, listed.fields, listed.stop)
        found = pointers_in(window, contents, machine)
        for row in found.wrong[:MAX_DAMAGED].tolist():
            place = window.base + int(listed.fields[row])
            self._say("an object's list of fields names no pointers; they are not read", place)
        if len(found.wrong) > MAX_DAMAGED:
            self._say(f"{len(found.wrong) - MAX_DAMAGED} more objects whose pointers are not read")
        is_there = found.target != 0
        row = filled[found.row[is_there]] + self.object_count
        self.pointers.add(row, found.offset[is_there], found.target[is_there])
        self.object_count += len(run)

    @property
    def damage(self) -> list[Damage]:
        """The damage in the order of the file, however it was cut into windows."""
        return [damage for _, damage in sorted(self._damage, key=itemgetter(0))]

    @property
    def _arena(self) -> tuple[np.uint64, np.uint64]:
        return np.uint64(self.machine.arena_start), np.uint64(self.machine.arena_end)

    def _say(self, what: str, place: int | None = None) -> None:
        at = self.window.place if place is None else place
        self._damage.append((at, Damage(self.source, f"byte {at}", what)))

    def _say_cut(self) -> None:
        window = self.window
        inside = "without its end record"
        if window.at < window.size:
            tag = window.buffer[window.at]
            inside = f"inside a record of type {WORDS.get(tag, tag)}"
        self._say(f"the dump ends early, {inside}; copy the file again, or take another dump")

    def columns(self) -> HeapDumpColumns:
        """Return the columns read so far."""
        objects = Objects(*self.objects.joined(), *self.pointers.joined())
        _keep_code(objects, self.lists)
        slots = {name: Slots(*pieces.joined()) for name, pieces in self.slots.items()}
        lists = {name: table for name, table in self.lists.items() if name != "machine"}
        return HeapDumpColumns(
            self.machine, objects, slots["frames"], slots["segments"], lists, self.is_whole
        )


def _keep_code(objects: Objects, lists: dict[str, dict[str, list[Any]]]) -> None:
    """Drop first words that are not code addresses, because they are contents."""
    # Code extends from the lowest function of a frame to the types and the segments.
    entries = lists["frames"]["entry"]
    above = [*lists["types"]["address"], *lists["data"]["address"], *lists["bss"]["address"]]
    above = [address for address in above if address > max(entries, default=0)]
    word = objects.first_word
    if not entries or not above:
        word[:] = 0
    else:
        word[(word < np.uint64(min(entries))) | (word >= np.uint64(min(above)))] = 0
