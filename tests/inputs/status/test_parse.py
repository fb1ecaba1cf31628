"""/proc/PID/status and statm."""

import json

import pandas as pd
import pytest

import gomem
from gomem.errors import FormatError
from gomem.inputs.smaps.parse import parse_smaps
from gomem.inputs.status.parse import looks_like_statm, looks_like_status, parse_statm, parse_status
from gomem.inputs.status.table import read_status
from tests.builders import FIXTURES, MOMENTS, moment_id

TEXT = b"Name:\tapi server\nUid:\t1000\t1000\nPid:\t42\nVmRSS:\t    9392 kB\nThreads:\t7\n"


def test_sizes_are_bytes_and_counts_are_numbers():
    status, damage = parse_status(TEXT, source="status")

    assert [] == damage
    assert {"VmRSS": 9392 * 1024} == status.sizes
    assert {"Pid": 42, "Threads": 7} == status.counts
    assert "api server" == status.name


@pytest.mark.parametrize(
    ("line", "letter"),
    [
        (b"State:\tT (stopped)\n", "T"),
        (b"State:\tt (tracing stop)\n", "t"),
        (b"State:\tS (sleeping)\n", "S"),
        (b"State:\t\n", None),
        (b"", None),
    ],
)
def test_the_state_is_its_letter(line, letter):
    """
    A stopped process gives nothing back: T says so.
    """
    status, damage = parse_status(TEXT + line, source="status")

    assert [] == damage
    assert letter == status.state
    read = read_status(TEXT + line).status["State"].iloc[0]
    assert letter == (None if pd.isna(read) else read)


def test_a_size_that_is_cut_off_is_damage_and_not_zero():
    cut = (FIXTURES / "malformed/status/cut-short.status").read_bytes()

    status, damage = parse_status(cut, source="status")

    assert "VmData" not in status.sizes
    assert ["VmData has no size; wanted `number kB`; the file may be cut"] == [
        one.what for one in damage
    ]


def test_statm_is_pages():
    assert looks_like_statm(b"1234 567 89 1 0 200 0\n")
    assert 567 == parse_statm(b"1234 567 89 1 0 200 0\n", source="statm")[0][1]


@pytest.mark.parametrize("moment", MOMENTS, ids=moment_id)
def test_vmrss_is_the_sum_of_smaps(moment):
    """
    The programs stand still while they are recorded, so the kernel's two counts are equal.
    """
    status, damage = parse_status((moment / "status").read_bytes(), source="status")
    mappings, _ = parse_smaps((moment / "smaps").read_bytes(), source="smaps")

    assert [] == damage
    assert status.sizes["VmRSS"] == int(mappings.fields["Rss"].sum())
    parts = ("RssAnon", "RssFile", "RssShmem")
    assert status.sizes["VmRSS"] == sum(status.sizes[name] for name in parts)


ADDRESS_SPACE_KIB = 1 << 47  # five levels of page tables: 57 bits


@pytest.mark.parametrize(
    ("kib", "fits"), [(ADDRESS_SPACE_KIB, True), (ADDRESS_SPACE_KIB + 1, False)]
)
def test_a_size_fits_into_an_address_space(kib, fits):
    status, damage = parse_status(b"Name:\ta\nVmSize:\t%d kB\n" % kib, source="status")

    assert fits == (status.sizes == {"VmSize": kib * 1024})
    assert ([] if fits else ["line 2"]) == [one.where for one in damage]


@pytest.mark.parametrize("field", [b"VmData", b"RssAnon", b"HugetlbPages"])
def test_what_must_be_a_size_and_is_none_is_damage(field):
    for value in (b"12", b"12 k", b""):
        status, damage = parse_status(field + b":\t" + value, source="status")

        assert ({}, {}) == (status.sizes, status.counts)
        assert [f"{field.decode()} has no size"] == [one.what.partition(";")[0] for one in damage]


def test_what_is_nobodys_business_is_left_out():
    """
    Who runs it, and fields that are no number; a count of 18 digits is one, of 19 none.
    """
    text = b"Uid:\t1000\nGroups:\t7\nState:\tS (sleeping)\nThreads:\t%d\nNSpid:\t%d\n"

    status, damage = parse_status(text % (10**18 - 1, 10**18), source="status")

    assert ({"Threads": 10**18 - 1}, [], None) == (status.counts, damage, status.name)


def test_a_line_that_is_no_field_is_damage_and_the_rest_is_read():
    status, damage = parse_status(b"Name:\ta\nVmRSS 12 kB\nThreads:\t7\n", source="status")

    assert ["line 2"] == [one.where for one in damage]
    assert {"Threads": 7} == status.counts


MOST_PAGES = 1 << 45


@pytest.mark.parametrize(("pages", "fits"), [(MOST_PAGES, True), (MOST_PAGES + 1, False)])
def test_pages_fit_into_an_address_space(pages, fits):
    data = b"%d 567 89 1 0 200 0\n" % pages

    if fits:
        assert pages == parse_statm(data, source="statm")[0][0]
    else:
        with pytest.raises(FormatError, match="more pages than any address space has"):
            parse_statm(data, source="statm")


@pytest.mark.parametrize(
    ("data", "is_one"),
    [
        (b"1 2 3 4 5 6 7\n", True),
        (b"1 2 3 4 5 6 7" + b" " * 186, True),
        (b"1 2 3 4 5 6 7" + b" " * 187, False),
        (b"1 2 3 4 5 6\n", False),
        (b"1 2 3 4 5 6 7 8\n", False),
    ],
)
def test_statm_is_seven_numbers(data, is_one):
    assert is_one == looks_like_statm(data)


def test_a_count_alone_is_a_status_and_a_name_alone_is_none():
    """
    A thread of the kernel has no memory of its own.
    """
    kernel = read_status(b"Name:\tkswapd0\nPid:\t42\nThreads:\t1\n").status.iloc[0]

    assert ("kswapd0", 1) == (kernel["Name"], kernel["Threads"])
    with pytest.raises(FormatError, match="wanted /proc/PID/status"):
        read_status(b"Name:\tkswapd0\nPid:\tnone\n")


def test_statm_counts_in_the_pages_that_the_manifest_says(tmp_path):
    """
    On arm64 a page may be 16 KiB; the collector noted it.
    """
    manifest = {"schema": "gomem.capture/1", "page_size": 16384, "moments": []}
    (tmp_path / "gomem.json").write_text(json.dumps(manifest))
    (tmp_path / "statm").write_bytes(b"1000 500 100 10 0 300 0\n")

    (ledger,) = gomem.diagnose(tmp_path).ledgers.values()

    assert 500 * 16384 == ledger.rss_bytes
    assert not any("is assumed" in note for note in ledger.notes)


def test_a_field_that_stands_twice_is_damage_and_the_first_counts():
    read = read_status(b"Name:\tapi\nVmRSS:\t8 kB\nVmRSS:\t5 kB\nThreads:\t3\n")

    assert [8192] == list(read.status["VmRSS"])
    assert ["line 3"] == [damage.where for damage in read.damaged]


@pytest.mark.parametrize(
    "excerpt",
    [
        b"Name:\tapi\nVmRSS:\t   24000 kB\n",
        b"Name:\tapi\nVmPeak:\t  90000 kB\nVmHWM:\t  25000 kB\nVmRSS:\t   24000 kB\n",
    ],
)
def test_an_excerpt_that_begins_with_the_name_is_read(excerpt):
    assert looks_like_status(excerpt)
    status, damage = parse_status(excerpt, source="status")

    assert ("api", 24_000 * 1024, []) == (status.name, status.sizes["VmRSS"], damage)


@pytest.mark.parametrize(
    ("pasted", "sizes", "step"),
    [
        pytest.param(
            b"VmRSS  = 61.5 MiB  (after an hour, 12 threads)\nVmData = 120 MiB\n",
            {"VmRSS": 61.5, "VmData": 120}, 1 << 20, id="name = value unit",
        ),
        pytest.param(
            b"VmPeak:  4096 kB (~4 MB)\nVmRSS:\t2048 kB  (~2 MB)\nRssAnon: 1024 kB (heap)\n",
            {"VmPeak": 4, "VmRSS": 2, "RssAnon": 1}, 1 << 10, id="with remarks",
        ),
        pytest.param(
            b"RssAnon:  3072 kB\nVmRSS: 4096 kB\n", {"RssAnon": 3, "VmRSS": 4}, 1 << 10, id="turned"
        ),
    ],
)  # fmt: skip
def test_size_fields_that_people_copied_or_wrote_down(pasted, sizes, step):
    assert looks_like_status(pasted)
    status, damage = parse_status(pasted, source="status")

    assert ([], {name: size * (1 << 20) for name, size in sizes.items()}) == (damage, status.sizes)
    assert step == status.step == read_status(pasted).status["step_bytes"].iloc[0]


@pytest.mark.parametrize(
    "text", [b"Rss: 4 kB\nPss: 2 kB\n", b"VmHWM = 4 MiB\nVmData = 8 MiB\n", b"VmRSS = 4 apples\n"]
)
def test_other_names_and_fields_without_rss_are_no_status(text):
    assert not looks_like_status(text)


def test_a_count_that_is_new_to_gomem_is_kept_without_a_tab_too():
    data = b"VmHWM: 9 kB\nVmRSS: 9 kB\nNew_count: 7\n"

    status, damage = parse_status(data, source="status")

    assert [] == damage
    assert {"New_count": 7} == status.counts
