"""The ELF format of Linux and other systems: finds sections and segments in the file."""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    # Reads up to a number of bytes at a file offset; fewer at the end of the file.
    ReadAt = Callable[[int, int], bytes]

ELF = b"\x7fELF"
EXECUTABLES = (2, 3)  # ELF types of programs: fixed address, position-independent
MAX_STRING_BYTES = 1 << 22
MAX_HEADERS = 4096
LOADED = 1  # PT_LOAD, a segment that is loaded into memory


@dataclass(frozen=True, slots=True)
class Section:
    """Address, offset and size of a section."""

    address: int  # in memory
    offset: int  # in the file
    size: int  # from the header, so it can be wrong


@dataclass(frozen=True, slots=True)
class Elf:
    """The parts of an ELF file that gomem needs; 32 or 64 bits, either byte order."""

    read: ReadAt
    order: str  # byte order, `<` or `>`
    wide: bool

    @classmethod
    def of(cls, read: ReadAt) -> Elf | None:
        """Parse the ELF header; None if it is not an ELF file of a known form."""
        head = read(0, 20)
        if len(head) < 20 or head[:4] != ELF or head[4] not in {1, 2} or head[5] not in {1, 2}:
            return None
        order = "<" if head[5] == 1 else ">"
        (kind,) = struct.unpack_from(f"{order}H", head, 16)
        return cls(read, order, head[4] == 2) if kind in EXECUTABLES else None

    def numbers(self, form: str, offset: int) -> tuple[int, ...]:
        """Unpack numbers of a struct format at an offset; `P` is a number of address width."""
        form = self.order + form.replace("P", "Q" if self.wide else "I")
        return struct.unpack(form, self.read(offset, struct.calcsize(form)))

    def section(self, wanted: bytes) -> Section | None:
        """Return the section with this name; None if there is none."""
        (table,) = self.numbers("P", 40 if self.wide else 32)
        size, count, names = self.numbers("HHH", 58 if self.wide else 46)
        if count > MAX_HEADERS:
            return None
        sections = [self.numbers("IIPPPP", table + size * number) for number in range(count)]
        _, _, _, _, texts_at, length = sections[names]
        texts = self.read(texts_at, min(length, MAX_STRING_BYTES))
        for name, _, _, address, offset, length in sections:
            if texts[name:].startswith(wanted + b"\0"):
                return Section(address, offset, length)
        return None

    def segments(self) -> list[tuple[int, int, int]]:
        """Return the loaded segments: address, file offset and size in the file."""
        (table,) = self.numbers("P", 32 if self.wide else 28)
        size, count = self.numbers("HH", 54 if self.wide else 42)
        found = []
        for number in range(min(count, MAX_HEADERS)):
            at = table + size * number
            if self.wide:
                kind, _, offset, address, _, stored = self.numbers("IIPPPP", at)
            else:
                kind, offset, address, _, stored = self.numbers("IPPPP", at)
            if kind == LOADED:
                found.append((address, offset, stored))
        return found

    def memory(self, address: int, length: int) -> bytes:
        """Read memory at an address; empty if the file does not contain all of it."""
        for start, offset, stored in self.segments():
            if start <= address and address + length <= start + stored:
                return self.read(offset + address - start, length)
        return b""
