"""What the kernel refused with ENOMEM, as logs have it."""

import pytest

from gomem.inputs.looks_like import looks_like

MMAP = b"[ERR] web: cannot open wallet: Mmap value log file. Path=/data/0.vlog. Error=%b\n"
FORK = b"2026/11/24 build: fork/exec /usr/bin/git: cannot allocate memory\n"


@pytest.mark.parametrize("error", [b"cannot allocate memory", b"ENOMEM"])
def test_a_mapping_that_failed_is_no_rss(error):
    seen = looks_like(2 * (MMAP % error), "paste.txt")

    assert "(ENOMEM): mmap failed 2 times" in f"{seen.what}"
    assert "no RSS" in f"{seen.way_out}"


def test_a_fork_that_failed_is_about_what_the_machine_committed():
    seen = looks_like(FORK, "paste.txt")

    assert "fork/exec failed 1 time" in f"{seen.what}"
    assert "/proc/meminfo" in f"{seen.way_out}"


@pytest.mark.parametrize("error", [b"permission denied", b"no such device"])
def test_other_errors_are_none_of_memory(error):
    assert "ENOMEM" not in f"{looks_like(MMAP % error, 'paste.txt').what}"


def test_a_call_that_strace_shows_is_read_too():
    seen = looks_like(b"mmap2(NULL, 4096, PROT_NONE) = -1 ENOMEM (Cannot allocate memory)\n", "a")

    assert "mmap failed 1 time" in f"{seen.what}"
