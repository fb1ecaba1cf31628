"""Build information: the output of `go version -m FILE`, or the section in the executable itself.

Described in  Go's debug/buildinfo. The section `.go.buildinfo` begins with a magic text. Since Go
              1.18 two strings follow at byte 32, each preceded by its length. From 1.13 to 1.17 two
              pointers to Go's string headers follow, of the size in byte 14.
Quirks        The module list is enclosed in two markers of 16 bytes. Go 1.12 and older write no
              build information. A program built without modules has only a release. Settings
              (`build` lines) came with Go 1.18. The only executable format read is ELF.
              `go version -m` prints `FILE: go1.24.2` and then the list, each line after a tab.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gomem.errors import Damage, FormatError
from gomem.inputs.elf import ELF, EXECUTABLES, MAX_STRING_BYTES, Elf

if TYPE_CHECKING:
    from gomem.inputs.elf import ReadAt

MAGIC = b"\xff Go buildinf:"
SECTION = b".go.buildinfo"
INLINE, BIG_ENDIAN = 2, 1  # flags of the header
INLINE_AT = 32
MARK_BYTES = 16
_RELEASE = rb"(?:go1\.\d[\w.+-]*|devel (?:go1\.\d|\+)[^\n]*)(?: X:[^\n]*)?"
_FIRST_LINE = re.compile(rb"(?P<file>[^\n]{1,4096}): (?P<release>" + _RELEASE + rb")[ \t]*\r?")
VARINT_BITS = 70  # a varint has at most ten bytes
_LINE = re.compile(r"\t(path|mod|dep|=>|build)\t(.*)")


@dataclass(frozen=True, slots=True)
class BuildInfo:
    """The build information of an executable."""

    go_version: str  # such as `go1.24.2`
    # Lines as printed by `go version -m`: `path`, `mod`, `dep` and `build`.
    modules: str = ""

    @property
    def main(self) -> str:
        """The main module with its version, or else the package path; empty if neither is known."""
        lines = [line.split("\t") for line in self.modules.splitlines()]
        found = (line[1:3] for word in ("mod", "path") for line in lines if line[0] == word)
        return " ".join(next(found, "")).strip()

    def text(self, name: str) -> str:
        """Return the build information as `go version -m` prints it."""
        lines = [f"{name}: {self.go_version}", *(f"\t{line}" for line in self.modules.splitlines())]
        return "\n".join(lines) + "\n"


def build_info_of_elf(read: ReadAt) -> BuildInfo | None:
    """Read the build information of an executable; only a few parts of the file are read."""
    # None if it is not an ELF executable, or has no build information in a known format.
    try:
        elf = Elf.of(read)
        return None if elf is None else _of_elf(elf)
    except (OSError, struct.error, IndexError, ValueError, OverflowError):
        return None


def _of_elf(elf: Elf) -> BuildInfo | None:
    place = elf.section(SECTION)
    blob = b"" if place is None else elf.read(place.offset, min(place.size, MAX_STRING_BYTES))
    if not blob.startswith(MAGIC):
        return None
    if blob[15] & INLINE:
        version, end = _inline(blob, INLINE_AT)
        modules, _ = _inline(blob, end)
    else:
        version, modules = _by_pointers(elf, blob)
    if len(modules) >= 2 * MARK_BYTES:
        modules = modules[MARK_BYTES:-MARK_BYTES]
    release = version.decode("ascii", "replace")
    return BuildInfo(release, modules.decode("utf-8", "replace")) if release else None


def _inline(blob: bytes, at: int) -> tuple[bytes, int]:
    """Decode a string after its varint length; return it and its end offset."""
    length = shift = 0
    while True:
        byte = blob[at]
        length |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            break
        if shift >= VARINT_BITS:
            raise ValueError
    if length > len(blob) - at:
        raise ValueError
    return blob[at : at + length], at + length


def _by_pointers(elf: Elf, blob: bytes) -> tuple[bytes, bytes]:
    """Follow the two string pointers (Go before 1.18): to a header of data pointer and length."""
    order = ">" if blob[15] & BIG_ENDIAN else "<"
    width = blob[14]
    form = f"{order}{'QQ' if width == 8 else 'II'}"

    def string(pointer: int) -> bytes:
        header = elf.memory(pointer, 2 * width)
        address, length = struct.unpack(form, header) if len(header) == 2 * width else (0, 0)
        return elf.memory(address, min(length, MAX_STRING_BYTES))

    version, modules = map(string, struct.unpack_from(form, blob, 16))
    return version, modules


def looks_like_build_info(data: bytes) -> bool:
    """Whether it is an ELF executable with build information, or the output of `go version -m`."""
    if data.startswith(ELF):
        return MAGIC in data and int.from_bytes(data[16:18], "little") in {*EXECUTABLES, 512, 768}
    lines = data[: 1 << 16].split(b"\n", 2)
    if _FIRST_LINE.fullmatch(lines[0]) is None:
        return False
    return len(lines) < 2 or not lines[1].strip() or lines[1].startswith(b"\t")


def parse_build_info(data: bytes, *, source: str) -> tuple[BuildInfo, list[Damage]]:
    """Parse an executable or the output of `go version -m`; FormatError if it has no build info."""
    if data.startswith(ELF):
        build = build_info_of_elf(lambda offset, length: data[offset : offset + length])
        if build is None:
            what = "an executable whose build information cannot be read; the file may be cut"
            raise FormatError(source, "", what)
        return build, []
    lines = data.split(b"\n")
    first = _FIRST_LINE.fullmatch(lines[0])
    if first is None:
        raise FormatError(source, "line 1", "not what go version prints; wanted `FILE: go1.24.2`")
    damage: list[Damage] = []
    modules: list[str] = []
    for number, line in enumerate(lines[1:], start=2):
        text = line.decode("utf-8", "replace").rstrip("\r\n")
        if _LINE.fullmatch(text):
            modules.append(text[1:])
        elif _FIRST_LINE.fullmatch(line):
            what = "build information of another executable is not read; give it a file of its own"
            damage.append(Damage(source, f"line {number}", what, text))
            break
        elif text.strip():
            what = "not a line of go version -m; wanted path, mod, dep, => or build"
            damage.append(Damage(source, f"line {number}", what, text))
    release = first["release"].decode("ascii", "replace").strip()
    return BuildInfo(release, "\n".join(modules)), damage


def settings_of(build: BuildInfo) -> dict[str, str]:
    """Return the build settings by name: `CGO_ENABLED`, `GOARCH`, `-tags`, `vcs.revision`."""
    lines = (line.split("\t", 1) for line in build.modules.splitlines())
    texts = (line[1].partition("=") for line in lines if line[0] == "build" and len(line) > 1)
    # Values with spaces or quotes are quoted, as Go string literals.
    return {name: re.sub(r'^(["`])(.*)\1$', r"\2", value) for name, _, value in texts}


def modules_of(build: BuildInfo) -> list[tuple[str, str, str, str]]:
    """Return the modules: `main`, `dependency` or `replacement`; then path, version, checksum."""
    words = {"mod": "main", "dep": "dependency", "=>": "replacement"}
    lines = ([*line.split("\t"), "", "", ""] for line in build.modules.splitlines())
    return [(words[line[0]], line[1], line[2], line[3]) for line in lines if line[0] in words]
