"""Heap dumps, executables, and what `go version -m` and `go tool nm` print of them."""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Any

from gomem.inputs.buildinfo.parse import looks_like_build_info, parse_build_info
from gomem.inputs.heapdump.parse import looks_like_heapdump, parse_heapdump
from gomem.inputs.symbols.parse import looks_like_symbols, parse_symbols
from tests import go_executables as go
from tests import heap_dumps as dumps
from tools.fuzz import mutations, seeds
from tools.fuzz.second_readers import SYMBOL, found_in, is_within, objects_of
from tools.fuzz.target import SOURCE, Target, parsed, wanted

if TYPE_CHECKING:
    from random import Random

SMALL_WINDOW = 64
ELF = b"\x7fELF"
BUILDINFO = b"\xff Go buildinf:"


def check_heapdump(data: bytes) -> None:
    """Objects as a second reader finds them; through small windows the dump is the same."""
    if not looks_like_heapdump(data):
        return

    def parse(data: bytes, *, source: str) -> Any:
        return parse_heapdump([data], source=source)

    dump, damage = parsed(parse, data)
    sizes, is_whole = objects_of(data)
    mine = list(zip(dump.objects.address.tolist(), dump.objects.size.tolist(), strict=True))
    if is_whole:
        wanted(mine == sizes or bool(damage), "objects", mine[:5], sizes[:5])
    fewer = len(mine) <= len(sizes) or bool(damage)
    wanted(fewer, "objects that are not there", len(mine), len(sizes))
    wanted(dump.is_whole or bool(damage), "a dump without its end is no damage")
    pieces = [data[at : at + SMALL_WINDOW] for at in range(0, len(data), SMALL_WINDOW)]
    if len(pieces) < SMALL_WINDOW:
        again, told = parse_heapdump(pieces, source=SOURCE, window_bytes=SMALL_WINDOW)
        same = again.objects.size.tolist() == dump.objects.size.tolist()
        wanted(same and again.lists == dump.lists, "another dump through small windows")
        places = [[fault.where for fault in found] for found in (told, damage)]
        wanted(places[0] == places[1], "other damage through small windows", places)


def check_executable(data: bytes) -> None:
    """An ELF file of whatever content: read, or refused."""
    if not data.startswith(ELF):
        return
    if looks_like_build_info(data):
        parsed(parse_build_info, data)
    parsed(parse_symbols, data)


def check_buildinfo(data: bytes) -> None:
    """The release stands in the first line."""
    if looks_like_build_info(data) and not data.startswith(ELF):
        build, _ = parsed(parse_build_info, data)
        first = data.partition(b"\n")[0].decode("utf-8", "replace")
        wanted(build.go_version in first, "a release", build.go_version, first)


def check_symbols(data: bytes) -> None:
    """Each symbol of nm's form, with address and size."""
    if not looks_like_symbols(data) or data.startswith(ELF):
        return
    symbols, _ = parsed(parse_symbols, data)
    rows = [(int(line[1], 16), int(line[2])) for line in found_in(SYMBOL, data)]
    mine = zip(symbols.address.tolist(), symbols.size.tolist(), strict=True)
    wanted(is_within(rows, mine), "a symbol is lost", rows[:5])


def _dumps() -> list[bytes]:
    """Dumps of a few records each."""
    objects = [dumps.an_object(dumps.ARENA + 64 * n, (n, dumps.ARENA), at=(8,)) for n in range(9)]
    rest = [
        dumps.a_type(0x500000, 16, "main.node"),
        dumps.goroutine(1),
        dumps.frame(0xC000100000, (dumps.ARENA, 0), "main.main", at=(0,)),
        dumps.segment(12, dumps.DATA, (dumps.ARENA, 7), at=(0,)),
        dumps.finalizer(dumps.ARENA, 0),
        dumps.memstats(4096, 9),
        dumps.bucket(0x7F00, 64, "main.leaf", "main.main"),
        dumps.sample(dumps.ARENA, 0x7F00),
    ]
    alone = [dumps.dump(record) for record in (*objects[:1], *rest)]
    return [dumps.dump(*objects, *rest), dumps.dump(*rest, end=False), *alone]


def _executables() -> list[bytes]:
    """Executables with a table of functions in each of its forms, some with build information."""
    made = [go.executable(go.table(form)) for form in go.MAGIC]
    made.append(go.executable(go.table("1.18"), section=""))
    narrow = go.Machine(">", 4)
    made.append(go.executable(go.table("1.16", machine=narrow), narrow))
    symbols = ((go.TEXT, 64, 2, "main.main"), (go.TEXT + 64, 8, 1, "main.count"))
    made.append(go.executable(go.table("1.20"), symbols=symbols))
    modules = b"0" * 16 + b"path\tmain\nmod\tmain\tv1\n" + b"0" * 16
    blob = BUILDINFO + struct.pack("<BB", 8, 2) + bytes(16)
    blob += mutations.varint(8) + b"go1.24.2" + mutations.varint(len(modules)) + modules
    made.append(go.executable(blob, section=".go.buildinfo"))
    return made


def _binary(data: bytes, random: Random) -> bytes:
    """Bytes as of any file; the many zeros of an executable are left alone, mostly."""
    places = (0, 256), (go.FILE_AT, go.FILE_AT + 512), (len(data) - 512, len(data))
    begin, end = random.choice(places)
    begin, end = max(0, min(begin, len(data))), max(0, min(end, len(data)))
    return data[:begin] + mutations.data_bytes(data[begin:end], random) + data[end:]


TARGETS = (
    Target("heapdump", _dumps, check_heapdump, mutations.varints),
    Target("executable", _executables, check_executable, _binary),
    Target("buildinfo", seeds.lines("buildinfo/*.txt"), check_buildinfo, mutations.text),
    Target("symbols", seeds.lines("heapdumps/*.nm.txt.gz"), check_symbols, mutations.text),
)
