"""ELF executables that tests write: Go's table of functions in every form, and nothing else."""

import struct
from dataclasses import dataclass

TEXT, TABLE, NAMES_AT = 0x401000, 0x500000, 128
FILE_AT = 0x1000  # where the table is in the file
MAGIC = {"1.2": 0xFFFFFFFB, "1.16": 0xFFFFFFFA, "1.18": 0xFFFFFFF0, "1.20": 0xFFFFFFF1}
FUNCTIONS = ((TEXT, "main.main"), (TEXT + 64, "main.work"), (TEXT + 160, "type:.eq.main.pair"))


@dataclass(frozen=True)
class Machine:
    """Byte order and width of a pointer."""

    order: str = "<"
    width: int = 8

    def pointers(self, *values):
        return struct.pack(f"{self.order}{len(values)}{'Q' if 8 == self.width else 'I'}", *values)

    def words(self, *values):
        return struct.pack(f"{self.order}{len(values)}I", *values)


def table(form, functions=FUNCTIONS, machine=Machine(), *, count=None):
    """The table of a form; `count` is how many functions it claims to have."""
    is_relative = form in {"1.18", "1.20"}
    claimed = len(functions) if count is None else count
    head = machine.words(MAGIC[form]) + bytes([0, 0, 1, machine.width])
    names, offsets = b"", []
    for _, name in functions:
        offsets.append(len(names))
        names += name.encode() + b"\0"
    if "1.2" == form:
        return head + _old(functions, names, offsets, machine, claimed)
    names += bytes(-len(names) % 8)
    list_at = NAMES_AT + len(names)
    tail = [NAMES_AT, list_at, list_at, list_at, list_at]
    head += machine.pointers(claimed, 1, *([TEXT] if is_relative else []), *tail)
    pack = machine.words if is_relative else machine.pointers
    base = TEXT if is_relative else 0
    record_at = (2 * len(functions) + 1) * len(pack(0))
    listed, records = b"", b""
    for (entry, _), offset in zip(functions, offsets, strict=True):
        listed += pack(entry - base, record_at + len(records))
        records += pack(entry - base) + machine.words(offset) + bytes(40)
    return (
        head.ljust(NAMES_AT, b"\0") + names + listed + pack(functions[-1][0] + 8 - base) + records
    )


def _old(functions, names, offsets, machine, claimed):
    """What follows the head up to Go 1.15: the list, records, and names, counted from the head."""
    records_at = 8 + machine.width + (2 * len(functions) + 1) * machine.width
    record_bytes = machine.width + 32
    names_at = records_at + record_bytes * len(functions)
    listed, records = b"", b""
    for (entry, _), offset in zip(functions, offsets, strict=True):
        listed += machine.pointers(entry, records_at + len(records))
        record = machine.pointers(entry) + machine.words(names_at + offset)
        records += record.ljust(record_bytes, b"\0")
    return (
        machine.pointers(claimed) + listed + machine.pointers(functions[-1][0] + 8)
        + records + names
    )  # fmt: skip


def executable(content, machine=Machine(), *, section=".gopclntab", symbols=()):
    """An executable with one loaded segment, which is the content, in a section if it is named.

    Of symbols each has an address, a size, a type as ELF numbers them, and a name.
    """
    rows, names = _symbol_table(symbols, machine)
    names_of_sections = ["", ".shstrtab", *([section] if section else [])]
    parts = [("", 0, 0, b""), (".shstrtab", 3, 0, b"")]
    if section:
        parts.append((section, 1, TABLE, content))
    if symbols:
        parts += [(".symtab", 2, 0, rows), (".strtab", 3, 0, names)]
        names_of_sections += [".symtab", ".strtab"]
    texts = b"".join(name.encode() + b"\0" for name in names_of_sections)
    parts[1] = (".shstrtab", 3, 0, texts)
    file, headers = b"", b""
    for name, kind, address, stored in parts:
        offset = FILE_AT if stored is content else FILE_AT + len(content) + len(file)
        file += b"" if stored is content else stored
        headers += machine.words(texts.index(name.encode() + b"\0") if name else 0, kind)
        headers += machine.pointers(2, address, offset, len(stored))
        headers += machine.words(0, 0) + machine.pointers(1, 0)
    has_sections = bool(section or symbols)
    headers_at = FILE_AT + len(content) + len(file)
    head = (
        _head(machine, len(content), headers_at, len(parts))
        if has_sections
        else (_head(machine, len(content), 0, 0))
    )
    return head.ljust(FILE_AT, b"\0") + content + file + headers * has_sections


def _head(machine, size, headers_at, sections):
    is_wide = 8 == machine.width
    begin = 64 if is_wide else 52
    kind = bytes([2 if is_wide else 1, 1 if "<" == machine.order else 2, 1])
    head = b"\x7fELF" + kind.ljust(12, b"\0") + struct.pack(f"{machine.order}HHI", 2, 62, 1)
    head += machine.pointers(TEXT, begin, headers_at) + machine.words(0)
    sizes = (begin, 56 if is_wide else 32, 1, 64 if is_wide else 40, sections, 1)
    head += struct.pack(f"{machine.order}6H", *sizes)
    if is_wide:
        return head + machine.words(1, 4) + machine.pointers(FILE_AT, TABLE, TABLE, size, size, 8)
    return head + machine.words(1, FILE_AT, TABLE, TABLE, size, size, 4, 8)


def _symbol_table(symbols, machine):
    """Rows and names."""
    names, rows = b"\0", b""
    for address, size, kind, name in symbols:
        place = machine.words(len(names))
        about = bytes([kind, 0]) + struct.pack(f"{machine.order}H", 1)
        extent = machine.pointers(address, size)
        rows += place + about + extent if 8 == machine.width else place + extent + about
        names += name.encode() + b"\0"
    return rows, names
