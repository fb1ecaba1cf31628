"""Build information: as `go version -m` prints it, and out of executables."""

import struct
import time

import pytest

import gomem
from gomem.errors import FormatError
from gomem.inputs.buildinfo.parse import (
    MAGIC,
    BuildInfo,
    build_info_of_elf,
    looks_like_build_info,
    settings_of,
)
from gomem.inputs.kinds import BY_NAME, kind_of
from tests.builders import FIXTURES

PRINTED = (FIXTURES / "buildinfo/go1.27.3.txt").read_bytes()
MODULES = (
    "path\texample.com/api/cmd/api\nmod\texample.com/api\tv1.2.3\t\n"
    "dep\tgithub.com/a/b\tv0.1.0\th1:xyz=\n=>\t../b\t(devel)\t\n"
    'build\t-tags=netgo\nbuild\tCGO_ENABLED=1\nbuild\tGOARCH=arm64\nbuild\t-ldflags="-s -w"\n'
)


def elf_with(section, *, wide=True, order="<", kind=2, memory=b"", at=0x1000, unused=0):
    """A made-up ELF: one section of build information, one segment with what it points to.

    Before that one stand so many that are not used.
    """
    pointer = "Q" if wide else "I"
    head_bytes, segment_bytes, section_bytes = (64, 56, 64) if wide else (52, 32, 40)
    names = b"\0.go.buildinfo\0.shstrtab\0"
    segment_at = head_bytes
    memory_at = segment_at + (unused + 1) * segment_bytes
    section_at = memory_at + len(memory)
    names_at = section_at + len(section)
    table_at = names_at + len(names)
    head = b"\x7fELF" + bytes([2 if wide else 1, 1 if order == "<" else 2, 1]) + bytes(9)
    head += struct.pack(f"{order}HHI3{pointer}", kind, 62, 1, 0, segment_at, table_at)
    head += struct.pack(
        f"{order}IHHHHHH", 0, head_bytes, segment_bytes, unused + 1, section_bytes, 3, 2
    )
    if wide:
        segment = struct.pack(
            f"{order}IIQQQQQQ", 1, 6, memory_at, at, at, len(memory), len(memory), 1
        )
    else:
        segment = struct.pack(
            f"{order}IIIIIIII", 1, memory_at, at, at, len(memory), len(memory), 6, 1
        )

    def entry(name, offset, size):
        return struct.pack(
            f"{order}II4{pointer}II2{pointer}", name, 1, 0, 0, offset, size, 0, 0, 1, 0
        )

    table = entry(0, 0, 0) + entry(1, section_at, len(section))
    table += entry(15, names_at, len(names))
    return head + bytes(unused * segment_bytes) + segment + memory + section + names + table


def inline_section(version, modules):
    """As Go 1.18 and later write it: two strings with their lengths before them."""
    marked = b"m" * 16 + modules.encode() + b"m" * 16
    texts = b""
    for text in (version.encode(), marked):
        length, size = b"", len(text)
        while size >= 0x80:
            length, size = length + bytes([size & 0x7F | 0x80]), size >> 7
        texts += length + bytes([size]) + text
    return MAGIC + bytes([8, 2]) + bytes(16) + texts


def pointed(version, modules, *, wide, order, at):
    """As Go 1.13 to 1.17 write it: pointers to string headers, which lie in memory."""
    pointer, width = ("Q", 8) if wide else ("I", 4)
    marked = b"m" * 16 + modules.encode() + b"m" * 16
    texts_at = at + 4 * width
    memory = struct.pack(
        f"{order}4{pointer}",
        texts_at, len(version), texts_at + len(version), len(marked),
    )  # fmt: skip
    memory += version.encode() + marked
    section = MAGIC + bytes([width, 1 if order == ">" else 0])
    section += struct.pack(f"{order}2{pointer}", at, at + 2 * width)
    return section, memory


def test_what_go_prints_is_read():
    read = gomem.read_buildinfo(PRINTED)

    (row,) = read.build.to_dict("records")
    assert () == read.damaged
    assert ("go1.27.3", "healthy", "healthy") == (row["go_version"], row["path"], row["module"])
    assert (False, "linux", "amd64") == (row["cgo"], row["goos"], row["goarch"])
    assert BY_NAME["buildinfo"] is kind_of(PRINTED)


def test_before_go_1_18_there_are_no_settings():
    read = gomem.read_buildinfo(FIXTURES / "buildinfo/go1.16.15.txt")

    assert "go1.16.15" == read.go_version
    assert read.settings.empty
    assert read.build["cgo"].isna().all()


def test_an_executable_says_the_same_as_what_is_printed_of_it():
    """
    The strings stand in it as they are printed, but for the marks around the modules.
    """
    elf = elf_with(inline_section("go1.24.2", MODULES))
    printed = "api: go1.24.2\n" + "".join(f"\t{line}\n" for line in MODULES.splitlines())

    mine, theirs = gomem.read_buildinfo(elf), gomem.read_buildinfo(printed.encode())

    assert mine.build.equals(theirs.build)
    assert mine.modules.equals(theirs.modules)
    assert mine.settings.equals(theirs.settings)
    settings = dict(mine.settings.to_numpy().tolist())
    assert ("netgo", "1") == (settings["-tags"], settings["CGO_ENABLED"])
    assert "-s -w" == settings["-ldflags"]
    assert ["main", "dependency", "replacement"] == mine.modules["kind"].to_list()
    assert BY_NAME["buildinfo"] is kind_of(elf)


@pytest.mark.parametrize("wide", [True, False], ids=["64", "32"])
@pytest.mark.parametrize("order", ["<", ">"], ids=["little", "big"])
def test_an_executable_of_go_1_13_to_1_17_points_to_its_strings(wide, order):
    section, memory = pointed("go1.16.15", MODULES, wide=wide, order=order, at=0x1000)

    build = build_info_of_elf(reader(elf_with(section, wide=wide, order=order, memory=memory)))

    assert ("go1.16.15", MODULES) == (build.go_version, build.modules)


@pytest.mark.parametrize("wide", [True, False], ids=["64", "32"])
def test_its_strings_are_found_in_whichever_segment_has_them(wide):
    section, memory = pointed("go1.16.15", MODULES, wide=wide, order="<", at=0x1000)
    elf = elf_with(section, wide=wide, memory=memory, unused=2)

    assert "go1.16.15" == build_info_of_elf(reader(elf)).go_version


def reader(data):
    return lambda offset, length: data[offset : offset + length]


def test_a_cut_executable_has_none_and_never_raises():
    elf = elf_with(inline_section("go1.24.2", MODULES))

    needed = len(elf) - 24  # of the last entry, what follows its size is not asked for

    assert {None} == {build_info_of_elf(reader(elf[:length])) for length in range(needed)}
    with pytest.raises(FormatError, match="build information cannot be read; the file may be cut"):
        gomem.read_buildinfo(elf[:-30])


def test_a_string_longer_than_its_section_is_none():
    section = MAGIC + bytes([8, 2]) + bytes(16) + b"\xff\xff\xff\xff\x7fgo1.24.2"

    assert build_info_of_elf(reader(elf_with(section))) is None


def test_a_core_dump_is_none():
    assert kind_of(elf_with(inline_section("go1.24.2", MODULES), kind=4)) is None


@pytest.mark.parametrize(("goarch", "assumed"), [("amd64", False), ("386", False), ("arm64", True)])
def test_the_processor_says_how_large_a_page_is_where_there_is_one_size(goarch, assumed, tmp_path):
    """
    statm counts pages: of 4 KiB on amd64, of 4, 16 or 64 KiB on arm64.
    """
    (tmp_path / "buildinfo.txt").write_bytes(
        f"/app/api: go1.24.2\n\tpath\tapi\n\tbuild\tGOARCH={goarch}\n".encode()
    )
    (tmp_path / "statm").write_bytes(b"1000 500 100 10 0 300 0\n")

    (ledger,) = gomem.diagnose(tmp_path).ledgers.values()

    assert 500 * 4096 == ledger.rss_bytes
    assert assumed == any("is assumed" in note for note in ledger.notes)


@pytest.mark.parametrize("length", [0, 1, 19, 127, 128, 129, 16_383, 16_384, 16_385])
def test_a_string_of_any_length_is_read_whole(length):
    """
    Seven bits of the length a byte; without modules there are the two marks alone.
    """
    modules = "m" * length

    build = build_info_of_elf(reader(elf_with(inline_section("go1.24.2", modules))))

    assert BuildInfo("go1.24.2", modules) == build


def test_modules_without_their_marks_are_as_they_are():
    section = MAGIC + bytes([8, 2]) + bytes(16) + b"\x08go1.24.2" + b"\x1f" + b"m" * 31

    assert BuildInfo("go1.24.2", "m" * 31) == build_info_of_elf(reader(elf_with(section)))


@pytest.mark.parametrize("at", [0, 0x1000])
@pytest.mark.parametrize("off", [-1, 1 << 20])
def test_a_pointer_to_nowhere_is_no_string(at, off):
    """
    Below what is loaded, or above; a program that may lie anywhere is loaded from 0 on.
    """
    section, memory = pointed("go1.16.15", MODULES, wide=True, order="<", at=at)
    pointers = struct.pack("<2Q", (at + off) % (1 << 64), at + 16)
    elf = elf_with(section[:16] + pointers, memory=memory, at=at)

    assert build_info_of_elf(reader(elf)) is None


def test_what_is_asked_of_a_hostile_executable_is_bounded():
    """
    Of 4096 headers each is read, of more none; of a section 4 MiB.
    """
    elf = elf_with(inline_section("go1.24.2", MODULES))
    asked = []

    def counting(data):
        asked.clear()

        def read(offset, length):
            asked.append(length)
            return (data[offset : offset + length] + bytes(length))[:length]

        return read

    build_info_of_elf(counting(elf[:60] + struct.pack("<H", 4096) + elf[62:]))
    assert 4096 == sum(length == 40 for length in asked)
    build_info_of_elf(counting(elf[:60] + struct.pack("<H", 4097) + elf[62:]))
    assert 3 == len(asked)
    at = len(elf) - 128 + 32
    build_info_of_elf(counting(elf[:at] + struct.pack("<Q", (4 << 20) + 1) + elf[at + 8 :]))
    assert 4 << 20 == max(asked)


@pytest.mark.parametrize(
    ("at", "byte", "is_one"),
    [(4, 1, False), (4, 3, False), (5, 0, False), (5, 3, False), (16, 1, False), (16, 3, True),
     (16, 4, False), (0, 0, False)],
)  # fmt: skip
def test_an_executables_head(at, byte, is_one):
    """
    Its magic, its width, its order of bytes, its type: a program, at a fixed address or anywhere.
    """
    elf = bytearray(elf_with(inline_section("go1.24.2", MODULES)))
    elf[at] = byte

    assert is_one == (build_info_of_elf(reader(bytes(elf))) is not None)


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize(("kind", "is_one"), [(1, False), (2, True), (3, True), (4, False)])
def test_programs_look_like_it_in_either_byte_order(order, kind, is_one):
    elf = elf_with(inline_section("go1.24.2", MODULES), order=order, kind=kind)

    assert is_one == looks_like_build_info(elf)
    assert not looks_like_build_info(elf.replace(MAGIC, b"x" * len(MAGIC)))


@pytest.mark.parametrize(
    ("text", "looks"),
    [
        (b"api: go1.24.2", True),
        (b"api: go1.24.2\n", True),
        (b"api: go1.24.2\n\tpath\tapi\n", True),
        (b"api: go1.24.2\n  \nmore", True),
        (b"api: go1.24.2\nmore", False),
        (b"\napi: go1.24.2", False),
        (b"api: v1.24.2\n", False),
    ],
)
def test_what_go_prints_begins_with_a_file_and_its_release(text, looks):
    assert looks == looks_like_build_info(text)


def test_what_is_printed_of_it_is_read_as_the_same():
    build = BuildInfo("go1.24.2", MODULES.rstrip())
    read = gomem.read_buildinfo(build.text("/app/api").encode())

    assert build.text("/app/api").startswith("/app/api: go1.24.2\n\tpath\t")
    assert ["example.com/api/cmd/api", "example.com/api", "v1.2.3"] == list(
        read.build[["path", "module", "version"]].iloc[0]
    )
    assert "h1:xyz=" == read.modules["sum"].iloc[1]
    assert () == read.damaged


@pytest.mark.parametrize(
    ("modules", "main"),
    [
        ("mod\ta\tv1\th1:x\npath\tb", "a v1"),
        ("path\tb\tx\ndep\ta\tv1", "b x"),
        ("path\tb", "b"),
        ("dep\ta", ""),
    ],
)
def test_the_main_module_or_the_packages_path_names_a_build(modules, main):
    assert main == BuildInfo("go1.24.2", modules).main


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ('"a b"', "a b"), ("`a b`", "a b"), ('"a b', '"a b'), ('a b"', 'a b"'), ('"', '"'),
        ('""', ""), ("xax", "xax"), ("", ""), ("a=b", "a=b"), ("a\tb", "a\tb"),
    ],
)  # fmt: skip
def test_a_setting_is_what_follows_its_name_without_quotes(written, value):
    build = BuildInfo("go1.24.2", f"build\t-X={written}\nbuild\npath\tY=1")

    assert {"-X": value} == settings_of(build)


def test_a_line_that_go_does_not_print_is_damage_with_its_place():
    read = gomem.read_buildinfo(b"/app/a: go1.24.2\n\tpath\ta\n\tnonsense\n\n\tmod\tb\tv1\n")

    assert [("line 3", "\tnonsense")] == [(one.where, one.text) for one in read.damaged]
    assert ["b"] == read.modules["path"].to_list()


def test_a_second_executables_lines_are_said_to_be_left_out():
    printed = b"/app/a: go1.24.2\n\tpath\ta\n/app/b: go1.23.4\n\tpath\tb\n"

    read = gomem.read_buildinfo(printed)

    assert "go1.24.2" == read.go_version
    assert [("line 3", "/app/b: go1.23.4")] == [(one.where, one.text) for one in read.damaged]


def test_a_capture_knows_its_release_from_it(tmp_path):
    """
    It belongs to the whole capture, and is the surest witness of the release.
    """
    (tmp_path / "buildinfo.txt").write_bytes(b"/app/api: go1.24.2\n\tpath\tapi\n")
    page = b"go_memstats_sys_bytes 7\n" + b'go_info{version="go1.23.4"} 1\n'
    (tmp_path / "metrics").write_bytes(page)

    capture = gomem.load(tmp_path)

    assert "go1.24.2" == str(capture.go_version)
    assert "build information in buildinfo.txt" == capture.go_version.evidence
    assert ["buildinfo.txt"] == list(capture.builds)


def test_a_length_without_an_end_costs_no_time():
    """
    A varint has ten bytes at most.
    """
    blob = MAGIC + bytes([8, 2]) + bytes(16) + b"\xff" * 1_000_000

    before = time.process_time()
    assert build_info_of_elf(reader(elf_with(blob))) is None
    assert time.process_time() - before < 1
