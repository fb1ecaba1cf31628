"""The kernel's smaps, read whole, cut, and with fields that nobody knows yet."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gomem.inputs.smaps.parse import (
    SIZE_FIELDS,
    _entries_one_by_one,
    _uniform,
    kind_of_mappings,
    parse_smaps,
)
from gomem.inputs.smaps.table import SIZES, mappings_table, read_smaps
from tests.builders import FIXTURES, MOMENTS, moment_id, smaps_entry, smaps_text

MALFORMED = FIXTURES / "malformed" / "smaps"


def test_an_entry_is_a_row_in_bytes():
    entry = smaps_entry(0xC000000000, 0xC000400000, rss_kib=3100, lazy_free_kib=8)

    mappings, damage = parse_smaps(entry.encode(), source="smaps")

    assert [] == damage
    assert [0xC000000000] == list(mappings.start)
    assert [0xC000400000] == list(mappings.end)
    assert ["rw-p"] == mappings.perms
    assert [""] == mappings.path
    assert [3100 * 1024] == list(mappings.fields["Rss"])
    assert [8 * 1024] == list(mappings.fields["LazyFree"])
    assert ["rd wr mr mw me ac"] == mappings.flags


@pytest.mark.parametrize("odd", [False, True], ids=["uniform", "one-by-one"])
def test_what_stands_behind_the_addresses_of_a_header(odd):
    entry = smaps_entry(0x1ABC000, 0x2DEF000, "r-xp", "/app/api")
    entry = entry.replace("00000000 00:00 7", "0001a000 fd:1f 1234")

    mappings, _ = parse_smaps((entry + "hello\n" * odd).encode(), source="s")

    assert ([0x1ABC000], [0x2DEF000]) == (list(mappings.start), list(mappings.end))
    assert ([0x1A000], ["fd:1f"]) == (list(mappings.offset), mappings.device)
    assert ([1234], ["/app/api"]) == (list(mappings.inode), mappings.path)


@pytest.mark.parametrize("address", ["300g-4000", "3000", "3000-4000-5000", "3000 4000", "-4000"])
def test_an_address_that_is_none_is_damage_and_its_fields_count(address):
    """
    The other entries have one shape: it is not read as if it were theirs.
    """
    text = smaps_entry(0x1000, 0x2000, rss_kib=4) + smaps_entry(0x3000, 0x4000, rss_kib=8)

    mappings, damage = parse_smaps(text.replace("3000-4000", address).encode(), source="s")

    assert "s: line 10" == damage[0].place
    assert 12 * 1024 == int(mappings.fields["Rss"].sum())
    assert ["", "[header lost]"] == mappings.path


def test_the_ten_largest_are_shown():
    entries = (
        smaps_entry(size << 20, size + 1 << 20, path=f"/data/{size}.db", rss_kib=size)
        for size in range(101, 113)
    )

    shown = read_smaps(smaps_text(*entries))._repr_html_()

    assert [f"/data/{size}.db" in shown for size in range(101, 113)] == [False] * 2 + [True] * 10
    assert "12 mappings" in shown


def test_a_path_keeps_its_spaces():
    entry = smaps_entry(0x1000, 0x2000, "r-xp", "/srv/my app/api (deleted)")

    assert ["/srv/my app/api (deleted)"] == parse_smaps(entry.encode(), source="s")[0].path


def test_addresses_of_the_kernel_half_fit():
    entry = "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0     [vsyscall]\n"

    assert [0xFFFFFFFFFF600000] == list(parse_smaps(entry.encode(), source="s")[0].start)


def test_a_field_of_a_newer_kernel_is_kept_under_its_own_name():
    entry = smaps_entry(0x1000, 0x2000).replace("Swap:", "Zram:               12 kB\nSwap:")

    table = mappings_table(parse_smaps(entry.encode(), source="s")[0])

    assert [12 * 1024] == list(table["Zram"])


def test_a_field_that_one_entry_lacks_is_unknown_and_damage():
    first = smaps_entry(0x1000, 0x2000, rss_kib=4)
    second = smaps_entry(0x3000, 0x4000, rss_kib=4).replace("LazyFree:              0 kB\n", "")

    mappings, damage = parse_smaps(smaps_text(first, second), source="s")

    assert [False, True] == list(np.ma.getmaskarray(mappings.fields["LazyFree"]))
    assert ["s: line 10"] == [one.place for one in damage]


@pytest.mark.parametrize("moment", MOMENTS, ids=moment_id)
def test_the_sums_are_those_of_smaps_rollup(moment):
    """
    Two sources, one number: the kernel's own sums beside ours, for every field both have.
    """
    mappings, damage = parse_smaps((moment / "smaps").read_bytes(), source="smaps")
    rollup, _ = parse_smaps((moment / "smaps_rollup").read_bytes(), source="rollup")

    shared = [name for name in rollup.fields if name in mappings.fields]

    assert [] == damage
    assert {"Rss", "Pss", "Anonymous", "LazyFree", "Private_Dirty", "Swap"} <= set(shared)
    assert [int(rollup.fields[name][0]) for name in shared] == [
        int(mappings.fields[name].sum()) for name in shared
    ]


@pytest.mark.parametrize("moment", MOMENTS, ids=moment_id)
def test_the_quick_way_and_the_careful_way_agree(moment):
    data = (moment / "smaps").read_bytes()

    quick = _uniform(data)
    careful, damage = _entries_one_by_one(data.split(b"\n")[:-1], "smaps")

    assert [] == damage
    assert quick is not None
    assert mappings_table(careful).equals(mappings_table(quick))


@given(st.lists(st.integers(0, 2**40), min_size=1, max_size=8))
def test_any_sizes_come_back(sizes):
    text = smaps_text(*(smaps_entry(0x1000, 0x2000, rss_kib=size) for size in sizes))

    mappings, damage = parse_smaps(text, source="s")

    assert [] == damage
    assert [size * 1024 for size in sizes] == list(mappings.fields["Rss"])


def test_line_endings_of_another_system_do_not_matter():
    text = smaps_text(smaps_entry(0x1000, 0x2000, rss_kib=4))

    crlf, damage = parse_smaps(text.replace(b"\n", b"\r\n"), source="s")

    assert [] == damage
    assert [4096] == list(crlf.fields["Rss"])


@pytest.mark.parametrize(
    ("name", "whats"),
    [
        ("cut-in-a-number.smaps", ["not a line of smaps", "mapping has 3 fields"]),
        ("cut-between-fields.smaps", ["mapping has 14 fields"]),
        ("number-that-is-none.smaps", ["not a line of smaps", "mapping has 22 fields"]),
    ],
)
def test_what_cannot_be_read_is_damage_and_no_smaller_number(name, whats):
    """
    A cut number is not a number, and an entry with fewer fields than the others is told.
    """
    _, damage = parse_smaps((MALFORMED / name).read_bytes(), source=name)

    assert whats == [one.what[: len(what)] for one, what in zip(damage, whats, strict=True)]


def test_the_cut_number_stands_in_no_sum():
    whole = (FIXTURES / "captures/zeroing-go1.24.2/2-loaded/smaps").read_bytes()
    cut = (MALFORMED / "cut-in-a-number.smaps").read_bytes()

    mappings, damage = parse_smaps(cut, source="cut")
    complete, _ = parse_smaps(whole, source="whole")
    last = len(mappings.start) - 1

    assert bool(np.ma.getmaskarray(mappings.fields["Rss"])[last])
    assert list(complete.fields["Rss"][:last]) == list(mappings.fields["Rss"][:last])
    assert 2 == len(damage)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("smaps", smaps_entry(0x1000, 0x2000).encode()),
        ("maps", b"00001000-00002000 rw-p 00000000 00:00 0\n"),
        ("smaps_rollup", b"00400000-7fff0000 ---p 00000000 00:00 0    [rollup]\nRss: 4 kB\n"),
        (None, b"gc 1 @0.004s 14%: 0.12+0.054+0.001 ms clock\n"),
        (None, b""),
    ],
)
def test_the_kind_is_found_from_the_first_lines(kind, text):
    assert kind == kind_of_mappings(text)


@pytest.mark.parametrize("lost", [0, 1, 2])
def test_fields_without_their_header_count_and_are_damage(lost):
    """
    They belong to no known address, but RSS does not become smaller for a lost line.
    """
    entries = [smaps_entry(0x1000 * n, 0x1000 * n + 0x1000, rss_kib=4) for n in (1, 3, 5)]
    entries[lost] = entries[lost].split("\n", 1)[1]

    mappings, damage = parse_smaps(smaps_text(*entries), source="s")

    assert "smaps" == kind_of_mappings(smaps_text(*entries))
    assert 3 * 4096 == int(mappings.fields["Rss"].sum())
    assert "[header lost]" == mappings.path[lost]
    assert ["wanted a mapping's header first"] == [one.what.split("; ")[1] for one in damage]


def test_any_white_space_separates():
    """
    Linux 5.3 to 5.9 print `THPeligible:` with two tabs; 5.4 is a kernel that many clusters run.
    """
    entry = smaps_entry(0x1000, 0x2000, rss_kib=4).replace("Swap:", "THPeligible:\t\t0\nSwap:")

    mappings, damage = parse_smaps(smaps_text(entry, entry), source="s")

    assert [] == damage
    assert [0, 0] == list(mappings.fields["THPeligible"])
    assert [4 * 1024] * 2 == list(mappings.fields["Rss"])


def test_a_mapping_that_says_its_name_in_a_field_has_it_as_its_path():
    """
    Old Android: `Name:` below the header, where newer kernels print it in the header.
    """
    named = smaps_entry(0x1000, 0x2000, rss_kib=4)
    head, _, rest = named.partition("\n")
    named = f"{head}\nName:           [anon:dalvik-main space]\n{rest}"
    plain = smaps_entry(0x3000, 0x4000, rss_kib=8)

    mappings, damage = parse_smaps(smaps_text(named, plain), source="s")

    assert "smaps" == kind_of_mappings(named.encode())
    assert [] == damage
    assert ["[anon:dalvik-main space]", ""] == mappings.path
    assert [4 * 1024, 8 * 1024] == list(mappings.fields["Rss"])


def test_a_field_of_words_is_kept_and_takes_nothing_away():
    entry = smaps_entry(0x1000, 0x2000, rss_kib=4).replace("Swap:", "NumaPolicy: interleave\nSwap:")

    mappings, damage = parse_smaps(entry.encode(), source="s")

    assert [] == damage
    assert ["interleave"] == list(mappings_table(mappings)["NumaPolicy"])
    assert [4 * 1024] == list(mappings.fields["Rss"])


def test_words_where_other_mappings_have_a_number_are_damage():
    first = smaps_entry(0x1000, 0x2000, rss_kib=4)
    second = smaps_entry(0x3000, 0x4000, rss_kib=4).replace("Rss:", "Rss: many kB or", 1)

    damage = parse_smaps(smaps_text(first, second), source="s")[1]

    assert any("wanted `Name: number kB`" in one.what for one in damage)


def entries_of(*shapes, odd=False):
    """The first addresses, ends and Rss that are read of `(start, end, rss_kib)`."""
    text = "".join(smaps_entry(start, end, rss_kib=rss) for start, end, rss in shapes)
    text += "Rsz: 1 kB\n" if odd else ""
    read, damage = parse_smaps(text.encode(), source="smaps")
    assert bool(damage) == odd
    rss = (read.fields["Rss"] // 1024).tolist()
    assert len(read.line) == len(read.perms) == len(read.flags) == len(rss)
    return list(zip(read.start.tolist(), read.end.tolist(), rss, strict=True))


@pytest.mark.parametrize("odd", [False, True], ids=["uniform", "one-by-one"])
def test_a_mapping_that_grew_while_it_was_read_counts_once(odd):
    """
    The kernel prints a heap of 3 pages, and then, of 4 pages, once more: 16 KiB, not 28.
    """
    low, grown, high = (0x4000, 0x5000, 4), (0xC000, 0x10000, 16), (0x20000, 0x21000, 4)

    found = entries_of(low, (0xC000, 0xF000, 12), grown, high, odd=odd)

    assert [low, grown, high] == found


def test_entries_that_are_left_out_are_counted():
    first = smaps_entry(0xC000, 0xF000, rss_kib=12)
    again = smaps_entry(0xC000, 0x10000, rss_kib=16)

    assert 1 == parse_smaps(f"{first}{again}".encode(), source="smaps")[0].printed_again
    assert 0 == parse_smaps(again.encode(), source="smaps")[0].printed_again


def test_a_mapping_that_grew_twice_counts_once():
    grown = (0xC000, 0x14000, 32)

    assert [grown] == entries_of((0xC000, 0xF000, 12), (0xC000, 0x10000, 16), grown)


def test_one_that_joined_the_mappings_below_it_stands_for_all_of_them():
    below, joined = (0x4000, 0x5000, 4), (0x8000, 0x10000, 20)

    assert [below, joined] == entries_of(
        below, (0x8000, 0xA000, 8), (0xA000, 0xC000, 8), joined
    )  # fmt: skip


@pytest.mark.parametrize(
    "shapes",
    [
        pytest.param([(0x4000, 0x5000, 4), (0x5000, 0x6000, 4)], id="neighbours"),
        pytest.param([(0x4000, 0x6000, 4), (0x4000, 0x6000, 4)], id="the-same-again"),
        pytest.param([(0x4000, 0x6000, 4), (0x5000, 0x7000, 4)], id="begins-inside"),
        pytest.param([(0x4000, 0x5000, 4), (0x9000, 0xA000, 4), (0x4000, 0x6000, 8)], id="twice"),
    ],
)
def test_what_no_grown_mapping_explains_is_left_as_it_is(shapes):
    assert shapes == entries_of(*shapes)


@pytest.mark.parametrize("said", ["x kB", "?", "many"])
def test_a_size_without_a_number_is_damage_where_no_other_line_has_one(said):
    """
    As words it stood in the place of the sizes, and the sums broke on it.
    """
    text = f"00400000-00401000 r-xp 00000000 08:01 7 /app\nRss: {said}\n".encode()

    smaps = read_smaps(text)

    assert "Int64" == str(smaps.mappings["Rss"].dtype)
    assert ["line 2"] == [one.where for one in smaps.damaged if said in one.text]


def test_the_fields_that_hold_numbers_are_those_of_the_table():
    assert {name.encode() for name, _ in SIZES} == SIZE_FIELDS


@pytest.mark.parametrize(
    ("kept", "cut"),
    [
        pytest.param("rd wr mr mw me nr sd ", False, id="whole"),
        pytest.param("rd wr m", True, id="within-a-flag"),
        pytest.param(None, True, id="before-the-line"),
    ],
)
def test_a_file_that_ends_in_the_flags_of_a_mapping_is_cut(kept, cut):
    entry = smaps_entry(0x7F0000000000, 0x7F0000001000).rstrip("\n").partition("VmFlags")[0]
    whole = f"{entry}VmFlags: rd wr mr mw me nr sd \n"
    last = entry if kept is None else f"{entry}VmFlags: {kept}"

    _, damage = parse_smaps((whole * 3 + last).encode(), source="smaps")

    assert ["VmFlags are cut" in one.what for one in damage] == ([True] if cut else [])
    assert [entry.partition("\n")[0]] * cut == [one.text for one in damage]


def extents(*pairs):
    """What is read of mappings at these pages."""
    text = smaps_text(*(smaps_entry(first << 12, behind << 12) for first, behind in pairs))
    mappings, _ = parse_smaps(text, source="smaps")
    return [(int(one) >> 12, int(two) >> 12)
            for one, two in zip(mappings.start, mappings.end, strict=True)]  # fmt: skip


@pytest.mark.parametrize(
    ("printed", "read"),
    [
        pytest.param([(1, 2), (1, 3)], [(1, 3)], id="it has grown"),
        pytest.param([(4, 5), (2, 6)], [(2, 6)], id="it has joined one below"),
        pytest.param([(1, 2), (4, 5), (6, 7), (4, 8)], [(1, 2), (4, 8)], id="it has joined two"),
        pytest.param([(1, 2), (4, 5), (3, 6)], [(1, 2), (3, 6)], id="not what lies below"),
        pytest.param([(1, 2), (4, 5), (1, 6)], [(1, 6)], id="all of them"),
        pytest.param([(1, 3), (1, 3)], [(1, 3), (1, 3)], id="as large as before"),
        pytest.param([(1, 3), (2, 4)], [(1, 3), (2, 4)], id="it begins above"),
        pytest.param([(4, 5), (1, 2), (4, 5)], [(4, 5), (1, 2), (4, 5)], id="two processes"),
        pytest.param([(4, 6), (1, 6)], [(4, 6), (1, 6)], id="it ends where it ended"),
    ],
)
def test_what_is_printed_once_more_as_part_of_what_grew(printed, read):
    assert read == extents(*printed)


def sizes(line):
    text = smaps_entry(0x1000, 0x2000).replace("LazyFree:              0 kB", line)
    mappings, damage = parse_smaps(text.encode(), source="smaps")
    return {name: int(of[0]) for name, of in mappings.fields.items() if of[0] is not None}, damage


@pytest.mark.parametrize(("kib", "fits"), [(1 << 47, True), ((1 << 47) + 1, False)])
def test_a_size_fits_into_an_address_space(kib, fits):
    found, damage = sizes(f"Zram: {kib} kB")

    assert fits == (found.get("Zram") == kib * 1024)
    assert fits == (damage == [])


@pytest.mark.parametrize(
    ("line", "known"),
    [("Zram: 12 kB", True), ("Zram:\t\t12 kB", True), ("Zram: 12", False), ("THPeligible: 1", True),
     ("THPeligible:\t\t1", True), ("THPeligible: 1 kB", False)],
)  # fmt: skip
def test_a_size_has_its_unit_and_a_flag_has_none(line, known):
    found, _ = sizes(line)

    assert known == (line.partition(":")[0] in found)


HEADER = "00400000-00500000 r-xp 00000000 00:00 7 /app/api\n"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        (HEADER + "Size: 4 kB\n", "smaps"),
        (HEADER + "Name: x\nSize: 4 kB\n", "smaps"),
        (HEADER + HEADER, "maps"),
        (HEADER, "maps"),
        ("00400000-7fff000 ---p 00000000 00:00 0 [rollup]\nRss: 4 kB\n", "smaps_rollup"),
        ("Size: 4 kB\nVmFlags: rd\n" + HEADER, "smaps"),
        ("Size: 4 kB\nhello\n" + HEADER, None),
        ("Size: 4 kB\n", None),
        ("hello\n", None),
    ],
)
def test_what_kind_of_mappings_a_text_is(text, kind):
    """
    Where the first header is lost, fields alone stand before the next.
    """
    assert kind == kind_of_mappings(text.encode())
    assert kind == kind_of_mappings(text.replace("\n", "\r\n").encode())


# A field's name that lost a byte


@pytest.mark.parametrize("torn", ["Rs:", "s:", "Rss_:"])
def test_a_mapping_that_has_no_field_that_the_others_have_is_damage(torn):
    """
    Its name is none of the kernel's: a size by another name is no reason for a smaller sum.
    """
    entries = [smaps_entry(at << 20, (at + 1) << 20, rss_kib=8) for at in range(1, 6)]
    entries[2] = entries[2].replace("Rss:", torn)

    read = read_smaps(smaps_text(*entries))

    (damage,) = read.damaged
    assert "line 19" == damage.where
    assert damage.what.startswith("mapping has no Rss, others have; it has ")
    assert [False, False, True, False, False] == list(read.mappings["Rss"].isna())


@pytest.mark.parametrize("name", ["Rss", "Swap"])
def test_a_size_without_its_unit_is_damage_though_all_mappings_have_it_so(name):
    entry = smaps_entry(0x1000, 0x5000, rss_kib=8)
    (line,) = (line for line in entry.split("\n") if line.startswith(f"{name}:"))

    read = read_smaps(entry.replace(line, line.removesuffix(" kB")).encode())

    assert ["not a line of smaps; wanted `Name: number kB`"] == [
        damage.what for damage in read.damaged
    ]
    assert name not in read.mappings or read.mappings[name].isna().all()
