"""Heap dumps that tests write record by record, and those that were recorded."""

from functools import cache

from gomem.inputs.heapdump.table import read_heapdump
from tests.builders import FIXTURES

FOLDER = FIXTURES / "heapdumps"
RELEASES = ("1.18.10", "1.22.12", "1.24.13", "1.27.3")
STARTED = ("1.18.10", "1.24.13", "1.27.3")  # releases of a stripped program, and its executable
HEADER = b"go1.7 heap dump\n"
ARENA = 0xC000000000
GOROUTINES = ARENA + (32 << 20)  # where the runtime's structures of them lie
TEXT, DATA = 0x401000, 0x600000


def path_of(release, name="dump"):
    return FOLDER / f"keepers-go{release}.{name}.gz"


def started(release, name="dump"):
    return FOLDER / f"started-go{release}.{name}.gz"


@cache
def recorded(release, name="dump"):
    return read_heapdump(path_of(release, name))


def varint(number):
    written = bytearray()
    while number >= 0x80:
        written.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*written, number])


def numbers(*values):
    return b"".join(map(varint, values))


def text(value):
    return varint(len(value)) + value.encode()


def memory(words, size=None):
    content = b"".join(word.to_bytes(8, "little") for word in words)
    content = content.ljust(len(content) if size is None else size, b"\0")
    return varint(len(content)) + content


def fields(*offsets):
    return b"".join(numbers(1, offset) for offset in offsets) + b"\0"


def params(arena=ARENA, end=ARENA + (64 << 20)):
    return numbers(6, 0, 8, arena, end) + text("amd64") + text("go1.24.13") + numbers(2)


def an_object(address, words=(), *, at=(), size=None):
    return numbers(1, address) + memory(words, size) + fields(*at)


def a_type(address, size, name):
    return numbers(3, address, size) + text(name) + b"\0"


def goroutine(number, *, reason="chan receive"):
    head = numbers(4, GOROUTINES + 512 * number, 0, number, TEXT, 4, 0, 0, 0)
    return head + text(reason) + numbers(0, 0, 0, 0)


def frame(sp, words, function, *, at=(), depth=0, entry=TEXT):
    head = numbers(5, sp, depth, 0) + memory(words)
    return head + numbers(entry, entry + 1, entry + 1) + text(function) + fields(*at)


def segment(tag, address, words, *, at=()):
    return numbers(tag, address) + memory(words) + fields(*at)


def finalizer(address, closure, *, queued=False):
    return numbers(11 if queued else 7, address, closure, TEXT, 0, 0)


def memstats(heap_alloc=0, objects=0):
    values = [0] * 24
    values[6], values[11] = heap_alloc, objects
    return numbers(10, *values, *[0] * 256, 0)


def bucket(address, size, *functions, file="main.go", allocations=1, frees=0):
    calls = b"".join(text(name) + text(file) + varint(7) for name in functions)
    return numbers(16, address, size, len(functions)) + calls + numbers(allocations, frees)


def sample(address, of):
    return numbers(17, address, of)


def dump(*records, end=True):
    return b"".join([HEADER, params(), *records, b"\0" if end else b""])


# What follows each tag of a dump: a number, memory, a text, a list of fields, a bucket's calls.
LAYOUT = {1: "nmf", 2: "nt", 3: "nntn", 4: "n" * 8 + "tnnnn", 5: "nnnmnnntf", 6: "nnnnttn",
          7: "n" * 5, 8: "nn", 9: "nnn", 10: "n" * 281, 11: "n" * 5, 12: "nmf", 13: "nmf",
          14: "n" * 7, 15: "n" * 6, 16: "nncnn", 17: "nn"}  # fmt: skip
MACHINE = 6


def in_big_endian(whole):
    """The same dump as a big-endian machine writes it: the words in memory turned, and the flag."""
    turning = _Turning(whole)
    while tag := turning.number():
        for place, part in enumerate(LAYOUT[tag]):
            turning.copy(part)
            if (tag, place) == (MACHINE, 0):
                turning.written[-1] = 1
    return bytes(turning.written)


class _Turning:
    """A dump that is written again, record by record."""

    def __init__(self, whole):
        self.whole, self.at, self.written = whole, len(HEADER), bytearray(HEADER)

    def number(self):
        value = shift = 0
        while True:
            byte = self.whole[self.at]
            value, shift, self.at = value | (byte & 0x7F) << shift, shift + 7, self.at + 1
            if byte < 0x80:
                self.written += varint(value)
                return value

    def copy(self, part):
        if part == "n":
            self.number()
        elif part in "mt":
            self.content(turned=part == "m")
        elif part == "f":
            while self.number():
                self.number()
        else:
            for _ in range(self.number()):
                self.content()
                self.content()
                self.number()

    def content(self, *, turned=False):
        size = self.number()
        held = self.whole[self.at : self.at + size]
        self.at += size
        words = (held[place : place + 8] for place in range(0, size, 8))
        self.written += b"".join(word[::-1] for word in words) if turned else held
