"""/proc/PID/smaps, smaps_rollup and maps: one header line for each mapping, then its fields.

Printed by    show_map_vma and show_smap, in the kernel's fs/proc/task_mmu.c.
Described in  the kernel's Documentation/filesystems/proc.rst.
Quirks        `kB` is KiB, rounded down, though every size but swap's is whole pages.
              Which fields there are depends on the kernel; a new one is kept under its own name.
              THPeligible and ProtectionKey are plain numbers, VmFlags is words.
              smaps_rollup has one header, named [rollup], that spans all mappings.
              maps is the headers alone.
              The last header, [vsyscall], lies above 2^63.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gomem.errors import Damage, excerpt
from gomem.units import KIB

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

HEADER = re.compile(
    rb"([0-9a-f]{1,16})-([0-9a-f]{1,16}) ([r-][w-][x-][ps])"
    rb" ([0-9a-f]{1,16}) ([0-9a-f]+:[0-9a-f]+) (\d{1,19})(?: +(.*))?"
)
FIELD = re.compile(rb"(\w+): +(\d+)( kB)?")
FLAGS_FIELD = b"VmFlags"
PLAIN_FIELDS = frozenset({b"THPeligible", b"ProtectionKey"})
ROLLUP_PATH = "[rollup]"
LOST_HEADER = (
    "wanted a mapping's header first; what follows counts, but as a mapping that is nowhere"
)


# Fields whose header is lost still count: they are a mapping of their own, at no address.
NO_HEADER = next(HEADER.finditer(b"0-0 ---p 00000000 00:00 0 [header lost]"))


@dataclass(frozen=True, slots=True)
class Mappings:
    """Mappings in the file's order, one array a field, all of one length.

    Attributes:
        start: First address.
        end: Address behind the last byte.
        perms: Four letters, such as `rw-p`.
        offset: Place in the file in bytes.
        device: Device of the file, `major:minor`.
        inode: 0 for anonymous memory.
        path: File, `[heap]`, `[anon: Go: heap]` and so on; empty for plain anonymous memory.
        fields: By the kernel's name; bytes where it says kB. Masked where an entry lacks it.
        flags: VmFlags, as words; empty where there are none.
        line: Line of the header, from 1.
    """

    start: NDArray[np.uint64]
    end: NDArray[np.uint64]
    perms: list[str]
    offset: NDArray[np.uint64]
    device: list[str]
    inode: NDArray[np.uint64]
    path: list[str]
    fields: dict[str, np.ma.MaskedArray]
    flags: list[str]
    line: NDArray[np.int64]


def kind_of_mappings(data: bytes) -> str | None:
    """`smaps`, `smaps_rollup` or `maps` if the content is one of them."""
    lines = data[:4096].replace(b"\r\n", b"\n").split(b"\n")
    header = HEADER.fullmatch(lines[0])
    if header is None:
        return "smaps" if _first_header_lost(lines) else None
    if (header[7] or b"").strip() == ROLLUP_PATH.encode():
        return "smaps_rollup"
    return "smaps" if len(lines) > 1 and FIELD.match(lines[1]) else "maps"


def _first_header_lost(lines: Sequence[bytes]) -> bool:
    """Whether fields of a mapping come first, and a header behind them."""
    first = _next_header(list(lines))
    fields = lines[:first]
    return 0 < first < len(lines) and all(
        FIELD.fullmatch(line.rstrip()) or line.startswith(b"VmFlags:") for line in fields
    )


def parse_smaps(data: bytes, *, source: str) -> tuple[Mappings, list[Damage]]:
    """Parse smaps, smaps_rollup or maps.

    Args:
        data: The whole file.
        source: What damage calls the file.

    Returns:
        The mappings, and what could not be read: lines of neither shape, fields that do not end
        as the kernel ends them, and entries with fewer fields than the first, as a cut file has.
    """
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n")
    lines = data.split(b"\n")
    if lines and not lines[-1]:
        lines.pop()
    entries = _uniform_entries(lines)
    if entries is not None:
        return entries, []
    return _entries_one_by_one(lines, source)


def _uniform_entries(lines: list[bytes]) -> Mappings | None:
    """The usual file: every entry has the same fields in the same order, so columns are strides."""
    keys = [line.partition(b":")[0] for line in lines[1 : _next_header(lines)]]
    stride = len(keys) + 1
    if not lines or len(lines) % stride:
        return None
    headers = [HEADER.fullmatch(line) for line in lines[::stride]]
    if not all(headers):
        return None
    fields: dict[str, np.ma.MaskedArray] = {}
    flags = [""] * len(headers)
    for place, key in enumerate(keys, start=1):
        column = lines[place::stride]
        if key == FLAGS_FIELD:
            if not all(line.startswith(b"VmFlags:") for line in column):
                return None
            flags = [line[8:].strip().decode("ascii", "replace") for line in column]
            continue
        values = _column_values(column, key)
        if values is None:
            return None
        fields[key.decode("ascii", "replace")] = np.ma.MaskedArray(values)
    numbers = np.arange(len(headers), dtype=np.int64) * stride + 1
    return _mappings([header for header in headers if header], fields, flags, numbers)


def _next_header(lines: list[bytes]) -> int:
    """Place of the second header, or the number of lines."""
    for place in range(1, len(lines)):
        if HEADER.match(lines[place]):
            return place
    return len(lines)


def _column_values(column: list[bytes], key: bytes) -> NDArray[np.int64] | None:
    """One field of all entries, in bytes; None if a line is not of its shape."""
    head = key + b":"
    tail = b"" if key in PLAIN_FIELDS else b" kB"
    values = _column_of_one_width(column, head, tail)
    if values is None:
        values = _decimal_texts(column, head, tail)
    return values * KIB if tail and values is not None else values


def _column_of_one_width(column: list[bytes], head: bytes, tail: bytes) -> NDArray[np.int64] | None:
    """The kernel pads its numbers, so that lines are of one width: a table of characters.

    That every row of the table begins and ends as a line does shows that they really are.
    """
    joined = b"".join(column)
    width = len(column[0])
    if len(joined) != width * len(column) or width <= len(head) + len(tail):
        return None
    text = np.frombuffer(joined, dtype=np.uint8).reshape(len(column), width)
    end = width - len(tail)
    if (text[:, : len(head)] != np.frombuffer(head, np.uint8)).any():
        return None
    if tail and (text[:, end:] != np.frombuffer(tail, np.uint8)).any():
        return None
    return _decimal(text[:, len(head) : end])


def _decimal(text: NDArray[np.uint8]) -> NDArray[np.int64] | None:
    """Numbers padded with spaces at the left, down the columns; None if anything else is there."""
    text = text[:, (text != ord(" ")).any(axis=0)]
    if not 0 < text.shape[1] <= 15:
        return None
    values = np.zeros(len(text), dtype=np.int64)
    begun = np.zeros(len(text), dtype=bool)
    for characters in text.T:
        digits = characters - np.uint8(ord("0"))  # below 0 wraps round
        is_digit = digits <= 9
        if not (is_digit | ((characters == ord(" ")) & ~begun)).all():
            return None
        begun |= is_digit
        values = values * 10 + np.where(is_digit, digits, 0)
    return values if begun.all() else None


def _decimal_texts(column: list[bytes], head: bytes, tail: bytes) -> NDArray[np.int64] | None:
    texts = [line[len(head) : len(line) - len(tail)] for line in column]
    if not all(line.startswith(head) and line.endswith(tail) for line in column):
        return None
    if not all(text.lstrip(b" ").isdigit() and len(text) < 40 for text in texts):
        return None
    values = [int(text) for text in texts]
    return np.array(values, dtype=np.int64) if max(values) < 2**52 else None


def _entries_one_by_one(lines: list[bytes], source: str) -> tuple[Mappings, list[Damage]]:
    """Any file: entries whose fields differ, unknown lines between, an end that is missing."""
    headers: list[re.Match[bytes]] = []
    numbers: list[int] = []
    entries: list[dict[bytes, int]] = []
    flags: list[str] = []
    damage: list[Damage] = []
    for number, line in enumerate(lines, start=1):
        header = HEADER.fullmatch(line)
        if header:
            headers.append(header)
            numbers.append(number)
            entries.append({})
            flags.append("")
        elif (field := _field(line)) is not None:
            if not headers or field[0] in entries[-1]:
                headers.append(NO_HEADER)
                numbers.append(number)
                entries.append({})
                flags.append("")
                damage.append(_line_damage(source, number, line, LOST_HEADER))
            entries[-1][field[0]] = field[1]
        elif not headers:
            damage.append(_line_damage(source, number, line, "wanted a mapping's header first"))
        elif line.startswith(b"VmFlags:"):
            flags[-1] = line[8:].strip().decode("ascii", "replace")
        elif line.strip():
            damage.append(_line_damage(source, number, line, "wanted `Name: number kB`"))
    damage += _short_entries(headers, entries, numbers, source)
    return _mappings(headers, _fields(entries), flags, np.array(numbers, dtype=np.int64)), damage


def _field(line: bytes) -> tuple[bytes, int] | None:
    match = FIELD.fullmatch(line.rstrip())
    if match is None or len(match[2]) > 18:
        return None
    plain = match[1] in PLAIN_FIELDS
    if bool(match[3]) == plain:
        return None
    return match[1], int(match[2]) * (1 if plain else KIB)


def _fields(entries: Sequence[dict[bytes, int]]) -> dict[str, np.ma.MaskedArray]:
    names = list(dict.fromkeys(name for entry in entries for name in entry))
    return {
        name.decode("ascii", "replace"): np.ma.MaskedArray(
            np.array([entry.get(name, 0) for entry in entries], dtype=np.int64),
            mask=[name not in entry for entry in entries],
        )
        for name in names
    }


def _short_entries(
    headers: Sequence[re.Match[bytes]],
    entries: Sequence[dict[bytes, int]],
    numbers: Sequence[int],
    source: str,
) -> list[Damage]:
    """Entries with fewer fields than the fullest: their missing bytes would be a smaller number."""
    fullest = max((len(entry) for entry in entries), default=0)
    return [
        Damage(
            source,
            f"line {number}",
            f"mapping has {len(entry)} fields, others have {fullest}; sums are too small by its "
            "missing fields; copy the file again in one read",
            excerpt(header[0]),
        )
        for header, entry, number in zip(headers, entries, numbers, strict=True)
        if len(entry) < fullest
    ]


def _line_damage(source: str, number: int, line: bytes, wanted: str) -> Damage:
    return Damage(source, f"line {number}", f"not a line of smaps; {wanted}", excerpt(line))


def _mappings(
    headers: Sequence[re.Match[bytes]],
    fields: dict[str, np.ma.MaskedArray],
    flags: list[str],
    line: NDArray[np.int64],
) -> Mappings:
    return Mappings(
        start=_unsigned(headers, 1, 16),
        end=_unsigned(headers, 2, 16),
        perms=[header[3].decode("ascii") for header in headers],
        offset=_unsigned(headers, 4, 16),
        device=[header[5].decode("ascii") for header in headers],
        inode=_unsigned(headers, 6, 10),
        path=[(header[7] or b"").decode("utf-8", "backslashreplace") for header in headers],
        fields=fields,
        flags=flags,
        line=line,
    )


def _unsigned(headers: Sequence[re.Match[bytes]], group: int, base: int) -> NDArray[np.uint64]:
    return np.array([int(header[group], base) for header in headers], dtype=np.uint64)
