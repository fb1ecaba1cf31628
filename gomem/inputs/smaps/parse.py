"""/proc/PID/smaps, smaps_rollup and maps: one header line for each mapping, then its fields.

Printed by    show_map_vma and show_smap, in the kernel's fs/proc/task_mmu.c.
Described in  the kernel's Documentation/filesystems/proc.rst.
Quirks        `kB` is KiB. Most sizes are whole pages; Pss and SwapPss are shares, rounded down.
              The set of fields depends on the kernel; a new field keeps its own name.
              THPeligible and ProtectionKey are plain numbers, VmFlags is a list of words. Linux 5.3
              to 5.9 print two tabs after THPeligible's colon; any white space is a separator here.
              Old Android kernels print the name of an anonymous mapping as a field, `Name:`.
              smaps_rollup has one header, named [rollup], that spans all mappings.
              maps has only the headers.
              The last header, [vsyscall], is above 2^63.
              If the file does not fit into one read(), the kernel produces it page by page, while
              the process keeps running. The kernel continues at the mapping that contains the end
              of the last one printed, else at the next (m_start, find_vma). If the last
              mapping has grown upwards meanwhile, as a heap does, the kernel resumes at the same
              mapping and prints it again, in full. Only the later entry counts.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field, replace
from dataclasses import fields as dataclass_fields
from typing import TYPE_CHECKING, Any

import numpy as np

from gomem.errors import Damage, excerpt
from gomem.inputs.smaps.fixed_width import uniform_entries
from gomem.units import ADDRESS_SPACE_BYTES, KIB

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

CARRIAGES = re.compile(rb"\r+\n")
# Many headers have the same text after the addresses.
BEHIND = re.compile(
    rb"([r-][w-][x-][ps]) ([0-9a-f]{1,16}) ([0-9a-f]+:[0-9a-f]+) (\d{1,19})(?: +(.*))?"
)
ADDRESS_PAIRS = re.compile(rb"(?:[0-9a-f]{1,16}-[0-9a-f]{1,16}(?: |$))+")
HEADER = re.compile(rb"([0-9a-f]{1,16})-([0-9a-f]{1,16}) " + BEHIND.pattern)
FIELD = re.compile(rb"(\w+):\s+(\d+)(\s+kB)?")
WORDS = re.compile(rb"(\w+):\s+([^\d\s].*)")
NAME = b"Name"  # field of old Android kernels; newer ones print it in the header, as [anon:...]
# The kernel's sizes, in its order (6.18). If a kernel prints fewer, the others are missing.
SIZES = (
    ("Size", "Address space."),
    ("KernelPageSize", "Page size of the mapping."),
    ("MMUPageSize", "Page size the hardware uses."),
    ("Rss", "Resident, whole pages."),
    ("Pss", "Resident, shared pages divided by their users."),
    ("Pss_Dirty", "The dirty part of Pss."),
    ("Pss_Anon", "The anonymous part of Pss; smaps_rollup only."),
    ("Pss_File", "The file part of Pss; smaps_rollup only."),
    ("Pss_Shmem", "The shared-memory part of Pss; smaps_rollup only."),
    ("Shared_Clean", "Resident, mapped elsewhere too, not modified."),
    ("Shared_Dirty", "Resident, mapped elsewhere too, modified."),
    ("Private_Clean", "Resident here only, not modified; MADV_FREE leaves pages here."),
    ("Private_Dirty", "Resident here only, modified."),
    ("Referenced", "Resident and marked accessed since the mark was last cleared."),
    ("Anonymous", "Resident and not of a file."),
    ("KSM", "Merged by kernel samepage merging."),
    ("LazyFree", "Released with MADV_FREE: in RSS until the kernel needs the page."),
    ("AnonHugePages", "In transparent huge pages."),
    ("ShmemPmdMapped", "Shared memory in huge pages."),
    ("FilePmdMapped", "File pages in huge pages."),
    ("Shared_Hugetlb", "hugetlbfs pages, shared; not in Rss."),
    ("Private_Hugetlb", "hugetlbfs pages, private; not in Rss."),
    ("Swap", "Swapped out."),
    ("SwapPss", "Swapped out, shared pages divided by their users."),
    ("Locked", "Locked in memory."),
)
# Always numeric: without a number, such a field is damage, not a word.
SIZE_FIELDS = frozenset(name.encode() for name, _ in SIZES)
PLAIN_FIELDS = frozenset({b"THPeligible", b"ProtectionKey"})
# A header and the first field below it, without the line end between them.
JOINED = re.compile(rb"(.*?)((?:" + b"|".join(sorted(SIZE_FIELDS)) + rb"):\s+\d+ kB)\s*")
MIN_LINES = 3  # of a mapping whose header is lost; the first line is torn
ROLLUP_PATH = "[rollup]"
LOST_LINE_END = "a header and its first field in one line: both count, and the file is corrupt"
LOST_HEADER = (
    "wanted a mapping's header first; what follows counts, but as a mapping that is nowhere"
)


# Fields whose header is lost still count: they form a mapping without an address.
NO_HEADER = next(HEADER.finditer(b"0-0 ---p 00000000 00:00 0 [header lost]"))


@dataclass(frozen=True, slots=True)
class Mappings:
    """Mappings in the file's order, one array per field, all of equal length."""

    start: NDArray[np.uint64]  # first address
    end: NDArray[np.uint64]  # end address (exclusive)
    perms: list[str]  # four letters, such as `rw-p`
    offset: NDArray[np.uint64]  # offset in the file, in bytes
    device: list[str]  # device of the file, `major:minor`
    inode: NDArray[np.uint64]  # 0 for anonymous memory
    # File, `[heap]`, `[anon: Go: heap]` and so on; empty for plain anonymous memory.
    path: list[str]
    # By the kernel's name; in bytes if the unit is kB. Masked if an entry lacks the field.
    fields: dict[str, np.ma.MaskedArray]
    flags: list[str]  # VmFlags, as words; empty if there are none
    line: NDArray[np.int64]  # line of the header, from 1
    # Other non-numeric fields by the kernel's name; empty if there is none.
    words: dict[str, list[str]] = field(default_factory=dict)
    printed_again: int = 0  # entries left out, because the kernel printed the mapping again


def kind_of_mappings(data: bytes) -> str | None:
    """Return `smaps`, `smaps_rollup` or `maps`; None if the content is none of them."""
    lines = CARRIAGES.sub(b"\n", data[:4096]).split(b"\n")
    header = HEADER.fullmatch(lines[0])
    if header is None:
        return "smaps" if _first_header_lost(lines) else None
    first, *joined = _unjoined(lines[0].rstrip())
    if first.endswith(b" " + ROLLUP_PATH.encode()):
        return "smaps_rollup"
    return "smaps" if any(map(FIELD.match, [*joined, *lines[1:3]])) else "maps"


def _unjoined(header: bytes) -> tuple[bytes, ...]:
    """A header, and behind it the field whose line it has run into."""
    joined = JOINED.fullmatch(header) if header.endswith(b" kB") else None
    if joined is None or not HEADER.fullmatch(joined[1]):
        return (header,)
    return joined[1], joined[2]


def _first_header_lost(lines: Sequence[bytes]) -> bool:
    """Whether it begins with fields and a header follows them; the first line can be torn."""
    first = next((n for n in range(1, len(lines)) if HEADER.match(lines[n])), len(lines))
    torn = 0 if _is_field(lines[0]) or first < MIN_LINES else 1
    return 0 < first < len(lines) and all(map(_is_field, lines[torn:first]))


def _is_field(line: bytes) -> bool:
    return bool(FIELD.fullmatch(line.rstrip())) or line.startswith(b"VmFlags:")


def parse_smaps(data: bytes, *, source: str) -> tuple[Mappings, list[Damage]]:
    """Parse smaps, smaps_rollup or maps; return the mappings and the damage."""
    # Damage: lines of neither form, incomplete fields, and entries with fewer fields than the
    # first, as in a cut file.
    if b"\r" in data:
        data = CARRIAGES.sub(b"\n", data)
    damage: list[Damage] = []
    entries = _uniform(data)
    if entries is None:
        lines = data.split(b"\n")
        if lines and not lines[-1]:
            lines.pop()
        entries, damage = _entries_one_by_one(lines, source)
    misfit = _is_misfit(entries)
    damage += (_of_misfit(entries, row, source) for row in np.flatnonzero(misfit).tolist())
    return _each_once(entries, misfit), damage


def _is_misfit(mappings: Mappings) -> NDArray[np.bool_]:
    """Which mappings have another Size than their addresses, from which the kernel works it out."""
    size, spans = mappings.fields.get("Size"), mappings.end - mappings.start
    if size is None:
        return np.zeros(len(spans), np.bool_)
    has_both = ~np.ma.getmaskarray(size) & (spans != 0)
    return has_both & (size.filled(0).astype(np.uint64) != spans)


def _of_misfit(mappings: Mappings, row: int, source: str) -> Damage:
    span = int(mappings.end[row]) - int(mappings.start[row])
    said = f"{span // KIB} kB, and Size says {int(mappings.fields['Size'][row]) // KIB} kB"
    what = f"the addresses span {said}: a digit of one of them is wrong"
    return Damage(source, f"line {mappings.line[row]}", what)


def _each_once(mappings: Mappings, misfit: NDArray[np.bool_]) -> Mappings:
    """Leave out entries that the kernel printed again as part of a mapping that has grown."""
    # Such a mapping begins where the one before it does, or lower where it has joined others too,
    # and ends above it. Files of two processes in one begin again below, and so keep all of theirs.
    start, end = mappings.start, mappings.end
    again = (start[1:] <= start[:-1]) & (end[:-1] < end[1:]) & (start[:-1] < end[:-1])
    again &= ~misfit[1:]  # of a broken header the addresses say nothing
    if not again.any():
        return mappings
    kept: list[int] = []
    places = zip(start.tolist(), end.tolist(), [False, *again.tolist()], strict=True)
    for row, (first, behind, grown) in enumerate(places):
        while grown and kept and first <= start[kept[-1]] and end[kept[-1]] < behind:
            kept.pop()
        kept.append(row)
    rows = np.array(kept, dtype=np.int64)
    names = [column.name for column in dataclass_fields(mappings) if column.name != "printed_again"]
    columns = {name: _at(getattr(mappings, name), rows) for name in names}
    return Mappings(**columns, printed_again=len(start) - len(rows))


def _at(values: Any, rows: NDArray[np.int64]) -> Any:
    """Select rows of a column: an array, texts, or several arrays by name."""
    if isinstance(values, dict):
        return {name: _at(of, rows) for name, of in values.items()}
    return [values[row] for row in rows] if isinstance(values, list) else values[rows]


def _uniform(data: bytes) -> Mappings | None:
    """Parse the usual file: all entries have the same fields. None for any other file."""
    entries = uniform_entries(data)
    if entries is None or entries.in_kib != frozenset(entries.fields) - PLAIN_FIELDS:
        return None
    halves = [header.partition(b" ") for header in entries.headers]
    behind = [after for _, _, after in halves]
    addresses = _address_pairs([before for before, _, _ in halves])
    # A header that ends in kB is JOINED.
    if addresses is None or not all(BEHIND.fullmatch(x) and x[-3:] != b" kB" for x in set(behind)):
        return None
    units = {name: KIB if name in entries.in_kib else 1 for name in entries.fields}
    fields = {
        name.decode("ascii", "replace"): np.ma.MaskedArray(values * units[name])
        for name, values in entries.fields.items()
    }
    words = {line: _flags_of(line) for line in set(entries.flags)}
    if not all(map(_whole_flags, words.values())):
        return None
    flags = [words[line] for line in entries.flags] or [""] * len(behind)
    numbers = np.arange(len(behind), dtype=np.int64) * entries.stride + 1
    return _mappings(addresses, behind, fields, flags, numbers)


def _address_pairs(texts: Sequence[bytes]) -> NDArray[np.uint64] | None:
    """Return start and end as two columns; None if a text is not two addresses."""
    joined = b" ".join(texts)
    if not ADDRESS_PAIRS.fullmatch(joined):
        return None
    halves = joined.replace(b"-", b" ").split()
    whole = bytes.fromhex(b"".join([half.rjust(16, b"0") for half in halves]).decode("ascii"))
    return np.frombuffer(whole, dtype=">u8").astype(np.uint64).reshape(-1, 2)


def _flags_of(line: bytes) -> str:
    return line[8:].strip().decode("ascii", "replace")


@dataclass(slots=True)
class _Entry:
    """A mapping during parsing: header, line, numeric fields, flags, and fields with words."""

    header: re.Match[bytes]
    line: int
    fields: dict[bytes, int] = field(default_factory=dict)
    flags: str | None = None
    words: dict[bytes, bytes] = field(default_factory=dict)


def _entries_one_by_one(lines: list[bytes], source: str) -> tuple[Mappings, list[Damage]]:
    """Parse any file: with different fields per entry, unknown lines, or a missing end."""
    entries: list[_Entry] = []
    damage: list[Damage] = []
    measured = {match[1] for line in lines if (match := FIELD.fullmatch(line.rstrip()))}
    measured |= SIZE_FIELDS | PLAIN_FIELDS
    for number, line in _split_joined(lines, source, damage):
        if header := HEADER.fullmatch(line):
            entries.append(_Entry(header, number))
        elif (size := _size(line)) is not None:
            if not entries or size[0] in entries[-1].fields:
                entries.append(_Entry(NO_HEADER, number))
                damage.append(_line_damage(source, number, line, LOST_HEADER))
            entries[-1].fields[size[0]] = size[1]
        elif not entries:
            damage.append(_line_damage(source, number, line, "wanted a mapping's header first"))
        elif line.startswith(b"VmFlags:"):
            entries[-1].flags = _flags_of(line)
        elif (said := WORDS.fullmatch(line.rstrip())) and said[1] not in measured:
            entries[-1].words[said[1]] = said[2]
        elif line.strip():
            damage.append(_line_damage(source, number, line, "wanted `Name: number kB`"))
    damage += _cut_entries(entries, source)
    pairs = [(int(entry.header[1], 16), int(entry.header[2], 16)) for entry in entries]
    addresses = np.array(pairs, dtype=np.uint64).reshape(-1, 2)
    behind = [entry.header[0].partition(b" ")[2] for entry in entries]
    places = np.array([entry.line for entry in entries], dtype=np.int64)
    fields = masked_fields([entry.fields for entry in entries])
    mappings = _mappings(
        addresses, behind, fields, [entry.flags or "" for entry in entries], places
    )
    return _with_words(mappings, [entry.words for entry in entries]), damage


def _split_joined(
    lines: Iterable[bytes], source: str, damage: list[Damage]
) -> Iterator[tuple[int, bytes]]:
    """Yield the lines with their numbers; a header and a field in one line are two."""
    for number, line in enumerate(lines, start=1):
        parts = _unjoined(line)
        if len(parts) > 1:
            damage.append(Damage(source, f"line {number}", LOST_LINE_END, excerpt(line)))
        for part in parts:
            yield number, part


def _with_words(mappings: Mappings, words: Sequence[dict[bytes, bytes]]) -> Mappings:
    """Add fields with words under their own names; `Name` becomes the path if there is none."""
    names = dict.fromkeys(name for entry in words for name in entry)
    found = {
        name.decode("ascii", "replace"): [
            entry.get(name, b"").decode("utf-8", "backslashreplace") for entry in words
        ]
        for name in names
    }
    named = found.pop(NAME.decode(), [""] * len(words))
    path = [path or name for path, name in zip(mappings.path, named, strict=True)]
    return replace(mappings, path=path, words=found)


def _size(line: bytes) -> tuple[bytes, int] | None:
    match = FIELD.fullmatch(line.rstrip())
    is_plain = match is not None and match[1] in PLAIN_FIELDS
    if match is None or len(match[2]) > 18 or bool(match[3]) == is_plain:
        return None
    value = int(match[2]) * (1 if is_plain else KIB)
    return (match[1], value) if value <= ADDRESS_SPACE_BYTES else None


def masked_fields(entries: Sequence[dict[bytes, int]]) -> dict[str, np.ma.MaskedArray]:
    """Return a column for each field of any entry, masked where an entry lacks it."""
    names = list(dict.fromkeys(name for entry in entries for name in entry))
    return {
        name.decode("ascii", "replace"): np.ma.MaskedArray(
            np.array([entry.get(name, 0) for entry in entries], dtype=np.int64),
            mask=[name not in entry for entry in entries],
        )
        for name in names
    }


def _cut_entries(entries: Sequence[_Entry], source: str) -> Iterator[Damage]:
    """Yield damage for entries that lack fields of other entries: their sums would be too small."""
    # Also for entries without VmFlags if others have them, or with half a flag.
    fullest = max((len(entry.fields) for entry in entries), default=0)
    printed = Counter(name for entry in entries for name in entry.fields)
    usual = {name for name, count in printed.items() if 2 * count >= len(entries)}
    again = "copy the file again in one read"
    for entry in entries:
        what = ""
        if (count := len(entry.fields)) < fullest:
            what = f"mapping has {count} fields, others have {fullest}"
        elif missing := usual - entry.fields.keys():
            what = f"mapping has no {_named(missing)}, others have"
            if odd := entry.fields.keys() - usual:
                what = f"{what}; it has {_named(odd)}, others have not"
        if what:
            what = f"{what}; sums are too small by its missing fields; {again}"
            yield Damage(source, f"line {entry.line}", what, excerpt(entry.header[0]))
    for entry in entries if any(entry.flags is not None for entry in entries) else ():
        if len(entry.fields) == fullest and (entry.flags is None or not _whole_flags(entry.flags)):
            what = "the mapping's VmFlags are cut, others have them whole: mappings may be missing"
            what = f"{what} behind it; {again}"
            yield Damage(source, f"line {entry.line}", what, excerpt(entry.header[0]))


def _named(fields: Iterable[bytes]) -> str:
    return ", ".join(sorted(name.decode("ascii", "replace") for name in fields))


def _whole_flags(flags: str) -> bool:
    """Whether each flag has two letters, as all flags of the kernel."""
    return all(len(flag) == 2 for flag in flags.split())


def _line_damage(source: str, number: int, line: bytes, wanted: str) -> Damage:
    return Damage(source, f"line {number}", f"not a line of smaps; {wanted}", excerpt(line))


def _mappings(
    addresses: NDArray[np.uint64],
    behind: Sequence[bytes],
    fields: dict[str, np.ma.MaskedArray],
    flags: list[str],
    line: NDArray[np.int64],
) -> Mappings:
    """Build columns from headers; each distinct text after the addresses is decoded once."""
    known = {text: place for place, text in enumerate(dict.fromkeys(behind))}
    decoded: list[Any] = list(zip(*map(_decoded, known), strict=True)) if behind else [()] * 5
    which = np.fromiter(map(known.__getitem__, behind), np.int64, len(behind))
    kinds: tuple[Any, ...] = (object, np.uint64, object, np.uint64, object)
    columns = (np.array(values, kind)[which] for values, kind in zip(decoded, kinds, strict=True))
    perms, offset, device, inode, path = columns
    places = (perms.tolist(), offset, device.tolist(), inode, path.tolist())
    return Mappings(addresses[:, 0], addresses[:, 1], *places, fields, flags, line)


def _decoded(behind: bytes) -> tuple[str, int, str, int, str]:
    """Return permissions, offset, device, inode and path."""
    match = BEHIND.fullmatch(behind)
    assert match is not None
    perms, offset, device, inode, path = match.groups(default=b"")
    where = path.decode("utf-8", "backslashreplace")
    return perms.decode("ascii"), int(offset, 16), device.decode("ascii"), int(inode), where
