"""/proc/PID/status and statm."""

import pytest

from gomem.inputs.smaps.parse import parse_smaps
from gomem.inputs.status.parse import looks_like_statm, parse_statm, parse_status
from tests.builders import FIXTURES, MOMENTS, moment_id

TEXT = b"Name:\tapi server\nUid:\t1000\t1000\nPid:\t42\nVmRSS:\t    9392 kB\nThreads:\t7\n"


def test_sizes_are_bytes_and_counts_are_numbers():
    status, damage = parse_status(TEXT, source="status")

    assert [] == damage
    assert {"VmRSS": 9392 * 1024} == status.sizes
    assert {"Pid": 42, "Threads": 7} == status.counts
    assert "api server" == status.name


def test_a_size_that_is_cut_off_is_damage_and_not_zero():
    cut = (FIXTURES / "malformed/status/cut-short.status").read_bytes()

    status, damage = parse_status(cut, source="status")

    assert "VmData" not in status.sizes
    assert ["VmData has no size; wanted `number kB`; the file may be cut"] == [
        one.what for one in damage
    ]


def test_statm_is_pages():
    assert looks_like_statm(b"1234 567 89 1 0 200 0\n")
    assert 567 == parse_statm(b"1234 567 89 1 0 200 0\n", source="statm")["resident"]


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
