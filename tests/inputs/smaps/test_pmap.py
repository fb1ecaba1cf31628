"""What pmap prints: a smaps of fewer columns, beside the smaps of the same moment."""

import pytest

import gomem
from gomem.inputs.kinds import BY_NAME, kind_of
from gomem.inputs.smaps.table import read_smaps
from tests.builders import FIXTURES

KERNEL = FIXTURES / "pasted/kernel"
MALFORMED = FIXTURES / "malformed/pmap"
SMAPS = KERNEL / "held.smaps"
KIB = 1 << 10


def mappings(name):
    return read_smaps(KERNEL / name).mappings


@pytest.mark.parametrize("name", ["pmap.txt", "pmap-x.txt", "pmap-X.txt"])
def test_each_form_has_the_mappings_of_smaps(name):
    printed, smaps = mappings(name), read_smaps(SMAPS).mappings

    assert kind_of((KERNEL / name).read_bytes()) is BY_NAME["pmap"]
    for column in ("start", "end", "perms", "Size"):
        assert smaps[column].tolist() == printed[column].tolist()


@pytest.mark.parametrize("name", ["pmap-x.txt", "pmap-X.txt"])
def test_what_is_resident_is_as_in_smaps(name):
    assert read_smaps(SMAPS).mappings["Rss"].tolist() == mappings(name)["Rss"].tolist()


def test_dirty_is_the_sum_of_the_two_that_smaps_has():
    smaps = read_smaps(SMAPS).mappings

    assert (smaps["Shared_Dirty"] + smaps["Private_Dirty"]).tolist() == mappings("pmap-x.txt")[
        "Dirty"
    ].tolist()


def test_the_long_form_has_the_fields_of_the_kernel():
    smaps, printed = read_smaps(SMAPS).mappings, mappings("pmap-X.txt")

    for name in ("Pss", "Anonymous", "LazyFree", "Swap", "inode", "offset", "THPeligible"):
        assert smaps[name].tolist() == printed[name].tolist(), name


def test_what_is_not_printed_is_missing_and_not_0():
    plain, long = mappings("pmap.txt"), mappings("pmap-x.txt")

    assert plain["Rss"].isna().all()
    assert long["LazyFree"].isna().all()
    assert long["Anonymous"].isna().all()


def test_names_are_as_the_kernel_has_them_as_far_as_pmap_says():
    text = b"""77:   api
Address           Kbytes     RSS   Dirty Mode  Mapping
0000000000400000       4       4       0 r-x-- api (deleted)
00007f0000000000       4       4       4 rw-s- memfd:ring (deleted)
00007f0000001000       4       4       4 rw-s- zero (deleted)
00007f0000002000       4       4       4 rw---   [ anon ]
00007ffe4cd7a000       4       4       4 rw---   [ stack ]
total kB              20      20      16
"""
    rows = read_smaps(text).mappings

    paths = ["api (deleted)", "/memfd:ring (deleted)", "/dev/zero (deleted)", "", "[stack]"]
    assert paths == rows["path"].tolist()
    assert ["r-xp", "rw-s", "rw-s", "rw-p", "rw-p"] == rows["perms"].tolist()


def test_a_row_that_is_printed_again_with_zeros_counts_once():
    """
    As procps 3.3 does on newer kernels.
    """
    text = b"""Address           Kbytes     RSS   Dirty Mode  Mapping
000000c000000000    4096    4000     150 rw---   [ anon ]
000000c000000000       0       0       0 rw---   [ anon ]
total kB            4096    4000     150
"""
    read = read_smaps(text)

    assert [4000 * KIB] == read.mappings["Rss"].tolist()
    assert not read.damaged


def test_a_column_that_is_a_dash_is_missing():
    text = b"""Address   Kbytes     RSS    Anon  Locked Mode   Mapping
00400000    2048       -       -       - r-x--  api
08048000    1024       8       -       - rw---  [ anon ]
total kB    3072       -       -       -
"""
    rows = read_smaps(text).mappings

    assert rows["Rss"].isna().tolist() == [True, False]
    assert [2048 * KIB, 1024 * KIB] == rows["Size"].tolist()


@pytest.mark.parametrize(
    ("name", "count", "said"),
    [
        ("cut-between-rows.txt", 7, "totals is not there"),
        ("cut-in-a-row.txt", 4, "not a line of pmap"),
        ("a-row-is-missing.txt", 29, "less than pmap's total"),
    ],
)
def test_a_cut_table_has_what_is_whole_and_says_so(name, count, said):
    read = read_smaps(MALFORMED / name)

    assert count == len(read.mappings)
    assert any(said in damage.what for damage in read.damaged)


def test_rows_alone_are_recognised():
    rows = (KERNEL / "pmap-x.txt").read_bytes().split(b"\n")[2:9]

    assert kind_of(b"\n".join(rows)) is BY_NAME["pmap"]


def test_the_ledger_is_as_far_as_the_columns_go():
    found = gomem.diagnose(gomem.load(str(KERNEL / "pmap-x.txt")))
    smaps = gomem.diagnose(gomem.load(str(SMAPS)))
    ((_, ledger),), ((_, whole),) = found.facts.ledgers.items(), smaps.facts.ledgers.items()

    assert whole.rss_bytes == ledger.rss_bytes == ledger.parts["bytes"].sum()
    assert "pmap RSS" == ledger.rss_source
    assert not ledger.has("heap_released_resident")
    for part in ("heap_unexplained", "binary", "thread_stacks"):
        assert whole.part(part) == ledger.part(part), part


def test_a_last_row_that_lacks_columns_keeps_what_is_resident():
    lines = (KERNEL / "pmap-X.txt").read_text().splitlines()
    place = next(number for number, line in enumerate(lines) if " 20924 20924 " in line)
    cut = " ".join(lines[place].split()[:18])

    read = read_smaps("\n".join([*lines[:place], cut]).encode())

    whole = read_smaps(KERNEL / "pmap-X.txt").mappings.set_index("start")
    last = read.mappings.iloc[-1]
    assert whole.loc[last["start"], "Rss"] == last["Rss"]
    assert "the last row is cut; what it still says is read" in [one.what for one in read.damaged]
