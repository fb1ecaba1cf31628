"""The text form of a heap profile: `/debug/pprof/heap?debug=1`.

Written by    Go's runtime/pprof; until Go 1.7 also without `debug=1`. tcmalloc writes it as well.
Described in  the runtime's runtime/pprof/pprof.go, in writeHeap and printStackRecord.
Quirks        The values are raw samples: each stands for 1 / (1 - exp(-size / rate)) objects.
              The header prints twice the rate.
              Addresses are return addresses. The comment lines below a record name its functions.
              They print the address minus one (in Go 1.5, the address itself). Inlined calls repeat
              the address of their caller.
              The runtime's own innermost frames have an address but no line.
              The order of the records has changed between releases, and the header's sums differ
              from the sums of the records. If a paste has only the header, its sums become a sample
              without a stack. If an excerpt has only some records, so does the rest of the sums;
              it is scaled by the mean size of its objects, which is a lower bound: the scaled
              size is a convex function of the size.
              MemStats follow; they were read before the profile. Since Go 1.15 the peak RSS
              follows, too.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from gomem.errors import Damage, FormatError, excerpt
from gomem.inputs.pprof.columns import (
    NO_TYPE,
    Functions,
    Labels,
    Locations,
    Mappings,
    PprofColumns,
    ValueType,
    offsets_of,
)
from gomem.inputs.pprof.heap_tail import (
    LAST_OF_ALL,
    MEMSTATS,
    memstats_json,
    stats_of,
    torn_lines,
)
from gomem.inputs.pprof.memory_map import SENTINELS, mapped_in, mappings_of, placed
from gomem.inputs.pprof.text_lines import (
    CUT_FRAME,
    SHORTENED,
    cut_frame_of,
    frame_of,
    shortened_record,
)
from gomem.inputs.unwrap import plain_texts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gomem.inputs.pprof.columns import Location
    from gomem.inputs.pprof.memory_map import Mapped
    from gomem.inputs.pprof.text_lines import Frame

_HEADER = re.compile(
    rb"\s*heap profile: *\d+: *-?\d+ *\[ *\d+: *-?\d+ *\] *@ *(heap\w*)(?:/(\d{1,18}))?"
)
_HEADER_SUMS = re.compile(
    rb"\s*heap profile: *(\d{1,18}): *(\d{1,18}) *\[ *(\d{1,18}): *(\d{1,18}) *\]"
)
_RECORD = re.compile(
    rb"(-?\d{1,18}): *(-?\d{1,18}) *\[ *(-?\d{1,18}): *(-?\d{1,18}) *\] @((?: +0x[0-9a-f]{1,16})*)"
)

# Records pasted without the header; the default rate is assumed.
_BARE = rb"-?\d{1,18}: *-?\d{1,18} *\[ *-?\d{1,18}: *-?\d{1,18} *\] @(?: *0x[0-9a-f]{1,16})+ *\r?\n"
_RECORDS = re.compile(
    rb"\s*" + _BARE + rb"(?:#[\t ]+0x[0-9a-f]{1,16}[\t ]+\S+\+0x[0-9a-f]|" + _BARE + rb")"
)
ALLOC, IN_USE = slice(0, 2), slice(2, 4)  # objects and bytes, in a sample
NO_HEADER = "begins without its header: the default rate is assumed, and records may be missing"
ASSUMED_HEADER = b"heap profile: 0: 0 [0: 0] @ heap/1048576 "

STRINGS = ("", "alloc_objects", "count", "alloc_space", "bytes", "inuse_objects", "inuse_space")
SAMPLE_TYPES = tuple(
    ValueType(f"{word}_{what}", unit)
    for word in ("alloc", "inuse")
    for what, unit in (("objects", "count"), ("space", "bytes"))
)
MAX_COUNT = 2**63  # counts must be below it


@dataclass(frozen=True)
class HeapText:
    """A heap profile in text form."""

    columns: PprofColumns  # the profile, with scaled values (estimates, not raw samples)
    memstats: bytes | None  # the MemStats at its end, as JSON; None if there are none
    max_rss_bytes: int | None  # the peak RSS at its end; None if there is none
    header_total: int | None = None  # live bytes by the header, not scaled; None if not an excerpt


def looks_like_heap_text(data: bytes) -> bool:
    """Whether a text begins with the header of a heap profile, or with one of its records."""
    return _HEADER.match(data) is not None or _RECORDS.match(data) is not None


def heap_text_in(data: bytes) -> bytes | None:
    """Return the heap profile in text form that a file consists of or contains; None if none."""
    if looks_like_heap_text(data):
        return data
    texts = (text.data for text in plain_texts(data))
    return next(filter(looks_like_heap_text, texts), None)


def parse_heap_text(data: bytes, *, source: str) -> tuple[HeapText, list[Damage]]:
    """Parse a heap profile in text form, with the MemStats at its end; returns it and the damage.

    The result is like the protobuf profile: four sample types, values scaled up and truncated as by
    the runtime, without the runtime's own innermost frames. A text without its end counts as
    damage. Raises FormatError if it does not begin with the header or a record of a heap profile.
    """
    if _RECORDS.match(data) is None:
        reader = _HeapReader(data, source)
        return reader.read(), reader.damage
    reader = _HeapReader(ASSUMED_HEADER + data.lstrip(), source)
    text = reader.read()
    # That the text is cut is reported at a byte offset, which would include the assumed header.
    others = (place for place in reader.damage if not place.where.startswith("byte"))
    return text, [Damage(source, "line 1", NO_HEADER), *others]


@dataclass
class TextReader:
    """The state of a text parser; equal stacks, locations, functions and strings are kept once."""

    data: bytes
    source: str
    damage: list[Damage] = field(default_factory=list)
    values: list[tuple[int, ...]] = field(default_factory=list)
    stacks: list[list[int]] = field(default_factory=list)
    addresses: list[int] = field(default_factory=list)  # of the current record
    frames: list[tuple[int, Frame | None]] = field(default_factory=list)  # of the current record
    locations: dict[tuple[int, tuple[Frame, ...]], int] = field(default_factory=dict)
    functions: dict[tuple[bytes, bytes], int] = field(default_factory=dict)
    strings: dict[str, int] = field(
        default_factory=lambda: {text: row for row, text in enumerate(STRINGS)}
    )

    def whole(self, line: bytes, number: int) -> bytes:
        """Return a line without the dots that a person put for the rest of a record's addresses."""
        record = shortened_record(line)
        if record is None:
            return line
        self.damage.append(Damage(self.source, f"line {number}", SHORTENED, excerpt(line)))
        return record

    def begin(self, addresses: bytes, values: tuple[int, ...]) -> None:
        """Begin a record with its addresses; the lines below it are its frames."""
        self.close()
        self.addresses, self.frames = [int(address, 16) for address in addresses.split()], []
        self.values.append(values)

    def close(self) -> None:
        """Finish the current record: make a stack of its addresses and frames."""
        if len(self.stacks) == len(self.values):
            return
        located: list[tuple[int, tuple[Frame, ...]]] = [(pc - 1, ()) for pc in self.addresses]
        if self.frames:
            located = _located(self.addresses, self.frames)
        self.stacks.append([self.location(*place) for place in located])

    def location(self, address: int, frames: tuple[Frame, ...]) -> int:
        """Return the index of a location, given its address and its frames, innermost first."""
        for name, file, _ in frames:
            self.functions.setdefault((name, file), len(self.functions))
        return self.locations.setdefault((max(address, 0), frames), len(self.locations))

    def string(self, text: str) -> int:
        """Return the index of a string in the profile's string table."""
        return self.strings.setdefault(text, len(self.strings))

    def columns(
        self,
        sample_types: tuple[ValueType, ...],
        value: np.ndarray,
        labels: Labels,
        period_type: ValueType = NO_TYPE,
        period: int = 0,
    ) -> PprofColumns:
        """Return everything that was parsed, as a profile."""
        return PprofColumns(
            sample_types=sample_types,
            value=value,
            stack_offsets=offsets_of([len(stack) for stack in self.stacks]),
            stack=np.array([row for stack in self.stacks for row in stack], np.int32),
            labels=labels,
            functions=Functions.of(self._function_rows()),
            locations=Locations.of(self._location_rows()),
            mappings=Mappings.of(),
            strings=list(self.strings),
            period_type=period_type,
            period=period,
        )

    def _function_rows(self) -> list[tuple[int, int, int, int]]:
        named = [(self._decoded(name), self._decoded(file)) for name, file in self.functions]
        return [(name, name, file, 0) for name, file in named]

    def _decoded(self, text: bytes) -> int:
        return self.string(text.decode("utf-8", "backslashreplace"))

    def _location_rows(self) -> list[Location]:
        return [
            (
                -1,
                address,
                False,
                [(self.functions[name, file], line, 0) for name, file, line in frames],
            )
            for address, frames in self.locations
        ]


class _HeapReader(TextReader):
    _is_cut = False  # whether the text ends before the end of its MemStats
    _is_excerpt = False  # whether the last value is the rest of the header's sums

    def read(self) -> HeapText:
        records, _, tail = self.data.partition(MEMSTATS)
        stats = stats_of(tail)
        self.damage += torn_lines(tail, self.source, first=records.count(b"\n") + 1)
        self._is_cut = self._header[1] == b"heap" and LAST_OF_ALL not in stats
        if self._is_cut:
            missing = "without its MemStats: it is cut, and records"
            within = "within its MemStats: it is cut, and fields"
            what = f"ends {within if stats else missing} may be missing"
            self.damage.append(Damage(self.source, f"byte {len(self.data)}", what))
        for record in self._records(records):
            inuse_objects, inuse_space, alloc_objects, alloc_space = map(int, record.groups()[:4])
            self.begin(record[5], (alloc_objects, alloc_space, inuse_objects, inuse_space))
        self.close()
        if (unsaid := self._only_in_header()) is not None:
            self.begin(b"", unsaid)
            self.close()
        max_rss = stats.get("MaxRSS")
        peak = max_rss if isinstance(max_rss, int) else None
        sums = _HEADER_SUMS.match(self.data) if self._is_excerpt else None
        in_use = None if sums is None else int(sums[2])
        return HeapText(self._columns(), memstats_json(stats), peak, in_use)

    @cached_property
    def _header(self) -> re.Match[bytes]:
        header = _HEADER.match(self.data)
        if header is None:
            raise FormatError(self.source, "byte 0", "not a heap profile in text")
        return header

    def _only_in_header(self) -> tuple[int, ...] | None:
        """Return the sums in the header that no record accounts for; None if there are none.

        If the text is cut, these are the header's sums minus those of the records. In a whole text
        the two differ anyway, so only sums for which all records are 0 are returned.
        """
        sums = _HEADER_SUMS.match(self.data)
        if sums is None:
            return None
        inuse_objects, inuse_space, alloc_objects, alloc_space = map(int, sums.groups())
        header = (alloc_objects, alloc_space, inuse_objects, inuse_space)
        read = np.array(self.values, np.int64).reshape(-1, 4)
        is_read = [bool(read[:, pair].any()) for pair in (ALLOC, IN_USE)]
        unsaid = tuple(0 if is_read[at // 2] else value for at, value in enumerate(header))
        if self._is_cut and any(is_read):
            rest = [value - int(of) for value, of in zip(header, read.sum(axis=0), strict=True)]
            pairs = (rest[:2], rest[2:])
            unsaid = tuple(n for pair in pairs for n in (pair if min(pair) > 0 else (0, 0)))
            self._is_excerpt = any(unsaid)
            if self._is_excerpt:
                live = f"{int(read[:, 2].sum())} of {inuse_objects} live objects"
                of_all = f"{int(read[:, 0].sum())} of {alloc_objects} allocated ones"
                what = f"an excerpt: its records have {live} and {of_all}, by its header"
                self.damage.append(Damage(self.source, "line 1", what))
        fits = all(_bound(unsaid[at], unsaid[at + 1], self._rate) < MAX_COUNT for at in (0, 2))
        self._is_excerpt &= fits
        return unsaid if any(unsaid) and fits else None

    @property
    def _rate(self) -> int:
        """MemProfileRate; 1 if the values are not sampled."""
        if self._header[1] == b"heapprofile":
            return 1
        return int(self._header[2] or 0) // (2 if self._header[1] == b"heap" else 1)

    def _records(self, records: bytes) -> Iterator[re.Match[bytes]]:
        """Yield the records, and collect the frames below each."""
        below = records[self._header.end() :]
        first = records[: self._header.end()].count(b"\n") + 1
        for number, line in enumerate(below.split(b"\n"), start=first):
            if self.values and (frame := frame_of(line)) is not None:
                self.frames.append(frame)
            elif line.startswith(SENTINELS):
                return
            elif record := _RECORD.fullmatch(self.whole(line.strip(), number)):
                live, in_use, objects, size = (abs(int(word)) for word in record.groups()[:4])
                pairs = ((live, in_use), (objects, size))
                if max(_bound(*pair, self._rate) for pair in pairs) >= MAX_COUNT:
                    what = "stands for more than 64 bits hold"
                    self.damage.append(Damage(self.source, f"line {number}", what, excerpt(line)))
                else:
                    yield record
            elif self.values and (cut := cut_frame_of(line)) is not None:
                self.frames.append(cut)
                self.damage.append(Damage(self.source, f"line {number}", CUT_FRAME, excerpt(line)))
            elif line.strip() not in (b"", b"#"):
                what = "not a line of a heap profile in text; wanted `n: bytes [n: bytes] @ 0x…`"
                self.damage.append(Damage(self.source, f"line {number}", what, excerpt(line)))

    def _columns(self) -> PprofColumns:
        raw = np.array(self.values, np.int64).reshape(-1, 4)
        value = np.hstack([_scaled(raw[:, pair], self._rate) for pair in (ALLOC, IN_USE)])
        mapped = self._mapped()
        mappings = mappings_of(mapped, self.string)
        period_type = ValueType("space", "bytes")
        labels = _size_labels(raw)
        columns = self.columns(SAMPLE_TYPES, value, labels, period_type, self._rate)
        locations = replace(columns.locations, mapping=placed(columns.locations.address, mapped))
        return replace(columns, locations=locations, mappings=mappings)

    def _mapped(self) -> list[Mapped]:
        """The memory map after the records, as C++ programs write it."""
        places = (self.data.find(b"\n" + sentinel) for sentinel in SENTINELS)
        begin = max(places)
        return mapped_in(self.data[begin:]) if begin >= 0 else []


def _located(
    addresses: list[int], frames: list[tuple[int, Frame | None]]
) -> list[tuple[int, tuple[Frame, ...]]]:
    """Assign frames to addresses; frames of an address are innermost first."""
    # Frames are in the order of the addresses, but those that the runtime hides at either end are
    # missing. If an address is repeated k times in a row (recursion), its frames are divided
    # evenly.
    located: list[tuple[int, tuple[Frame, ...]]] = []
    place = frame = 0
    while frame < len(frames):
        while place < len(addresses) and addresses[place] - frames[frame][0] not in (0, 1):
            if located:
                located.append((addresses[place] - 1, ()))
            place += 1
        run = place
        while run < len(addresses) and addresses[run] == addresses[place]:
            run += 1
        last = frame
        while last < len(frames) and frames[last][0] == frames[frame][0]:
            last += 1
        times = max(run - place, 1)
        lines = [line for _, line in frames[frame:last] if line is not None]
        each = len(lines) // times if len(lines) % times == 0 else len(lines)
        located += [
            (frames[frame][0], tuple(lines[start : start + each]))
            for start in range(0, max(len(lines), 1), max(each, 1))
        ]
        place, frame = run, last
    return located


def _bound(count: int, size: int, rate: int) -> int:
    """Return an upper bound for a record's scaled values: the scale is at most 1 + rate / mean."""
    if not count or not size:
        return max(count, size)
    return max(size + rate * count, count + rate * count * count // size)


def _scaled(raw: np.ndarray, rate: int) -> np.ndarray:
    """Scale sampled objects and bytes to estimates, truncated to integers as in the runtime."""
    if rate <= 1:
        return raw
    count, size = raw.astype(np.float64).T
    there = (count != 0) & (size != 0)
    mean = np.divide(size, count, out=np.ones(len(raw)), where=there)
    scale = np.divide(1, -np.expm1(-mean / rate), out=np.zeros(len(raw)), where=there)
    return np.column_stack([count * scale, size * scale]).astype(np.int64)


def _size_labels(raw: np.ndarray) -> Labels:
    """Return the object size of each record, as the label `bytes` of the protobuf form."""
    count = np.where(raw[:, 0] != 0, raw[:, 0], raw[:, 2])
    size = np.where(raw[:, 0] != 0, raw[:, 1], raw[:, 3])
    sample = np.flatnonzero(count)
    none = np.zeros(len(sample), np.int32)
    key = np.full(len(sample), STRINGS.index("bytes"), np.int32)
    return Labels(sample.astype(np.int32), key, none, size[sample] // count[sample], none)
