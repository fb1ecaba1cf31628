"""The kernel's report on all memory: what filled the machine, and zones below their minimum."""

import re

import pytest

import gomem
from gomem.inputs.looks_like import looks_like
from gomem.inputs.mem_info import mem_info, of_the_kernel
from gomem.units import KIB
from tests.builders import FIXTURES

REPORT = FIXTURES / "pasted" / "forms" / "oom-mem-info.txt"
TEXT = REPORT.read_text()
MEM_INFO = TEXT[TEXT.index("[ 5210.884160]") : TEXT.index("[ 5210.884232]")]
ZONES = "".join(line for line in MEM_INFO.splitlines(keepends=True) if " free:" in line)
PAGES = MEM_INFO[: MEM_INFO.index("[ 5210.884170]")]


def said_of(report):
    """What the report is called, and the next step."""
    seen = looks_like(report.encode(), "ticket.md")
    assert seen.is_evidence
    return f"{seen.what}".replace("\u202f", " "), f"{seen.way_out}"


@pytest.mark.parametrize(
    "prefix",
    [
        "",
        "Oct 14 22:05:27 host kernel: ",
        "2026-10-14T22:05:27.130Z In(05) vcpu-5 - Guest: <6>[39291577.009360] ",
        "<4>",
    ],
)
def test_a_report_says_what_filled_the_machine_and_which_zone_was_below_its_min(prefix):
    report = re.sub(r"(?m)^(?:\[ *[\d.]+\] )?", prefix, MEM_INFO)

    what, way_out = said_of(report)

    # (301120 + 1540832 - 51200 of shmem) pages of 4 KiB, of (2051998 - 82078)
    assert "6.83 GiB anonymous (91 % of 7.51 GiB), 200 MiB shared memory and tmpfs" in what
    assert "zone Normal has 58368 kB free, below its min of 61440 kB" in what
    assert "no swap" in what
    assert "tasks state" in way_out


def test_zones_alone_cannot_tell_shared_memory_from_anonymous():
    what, _ = said_of(ZONES)

    assert "7.03 GiB anonymous or shared (94 % of 7.51 GiB)" in what
    assert "zone Normal has 58368 kB free, below" in what


def test_a_zone_of_a_machine_without_numa_has_no_node():
    what, _ = said_of(ZONES.replace("Node 0 ", ""))

    assert "zone Normal has 58368 kB free, below its min of 61440 kB" in what


def test_counts_alone_are_pages_of_4_kib():
    what, _ = said_of(PAGES)

    assert "6.83 GiB anonymous, 200 MiB shared memory and tmpfs, 160 MiB unreclaimable slab" in what
    assert "zone" not in what


def test_pages_are_as_large_as_a_nodes_line_shows():
    larger = re.sub(r"\b(\d+)kB", lambda size: f"{16 * int(size[1])}kB", MEM_INFO)

    info = mem_info(larger.encode())

    assert info.counts["slab_unreclaimable"] == 40960 * 64 * KIB


def test_slab_that_fills_the_machine_asks_for_the_kernels_caches():
    full = MEM_INFO.replace("slab_unreclaimable:40960", "slab_unreclaimable:1640960")
    full = full.replace("inactive_anon:1540832 ", "inactive_anon:540832 ")

    what, way_out = said_of(full.replace("Node 0 active_anon", "Node 0 left_out"))

    assert "6.26 GiB unreclaimable slab" in what
    assert "slabtop" in way_out


def test_memory_in_no_list_is_said_to_be_in_none():
    hidden = MEM_INFO.replace("inactive_anon:1540832 ", "inactive_anon:540832 ")

    what, way_out = said_of(hidden.replace("Node 0 active_anon", "Node 0 left_out"))

    # 1969920 pages without 301120 + 540832 + 352 + 3072 + 12288 + 40960 + 8192 + 28160
    assert "3.95 GiB in none of its lists" in what
    assert "Huge" in way_out


def test_a_failed_allocation_has_no_table_of_tasks():
    failed = f"[ 5210.884100] worker: page allocation failure: order:4, mode:0x40dc0\n{MEM_INFO}"

    what, way_out = said_of(failed)

    assert "after a failed allocation of order 4: 6.83 GiB anonymous" in what
    assert "ps aux --sort=-rss" in way_out


def test_no_zone_below_its_min_is_said():
    what, _ = said_of(MEM_INFO.replace("free:58368kB", "free:958368kB"))

    assert "no zone is below its min: Normal has 958368 kB free, with a min of 61440 kB" in what


def test_the_last_of_several_reports_counts():
    info = mem_info((MEM_INFO.replace("shmem:51200", "shmem:1") + MEM_INFO).encode())

    assert info.counts["shmem"] == 51200 * 4 * KIB


def test_beside_the_kill_it_is_told_as_a_part_of_the_text():
    capture = gomem.load(REPORT)

    (facts,) = capture.by_moment.values()
    assert facts.processes["rss_bytes"].iloc[-1] == (6561792 + 4096) * KIB
    assert ["oom-mem-info.txt:5"] == list(capture.unread_evidence)


def test_a_report_without_its_lists_does_not_say_that_nothing_is_used():
    head = b"Mem-Info:\nNode 0 Normal free:3000kB min:4000kB low:5000kB managed:900000kB\n"
    what = f"{of_the_kernel(head, '').what}"

    assert "without the lists of what uses it" in what
    assert "0 B" not in what
    assert "zone Normal has 3000 kB free, below its min of 4000 kB" in what


def test_what_is_in_no_list_is_unknown_if_a_list_is_missing():
    head = (
        b"Mem-Info:\nactive_anon:10 inactive_anon:10 isolated_anon:0\n"
        b" slab_reclaimable:5 slab_unreclaimable:5\n free:10 free_pcp:0\n99999 pages RAM\n"
    )
    assert "in none of its lists" not in f"{of_the_kernel(head, '').what}"


END = """{0}Node 0 DMA: 1*4kB (U) 0*8kB 3*4096kB (M) = 12292kB
{0}Node 0 Normal: 200*4kB (UME) 100*8kB (UE) 0*4096kB = 1600kB
{0}Node 0 hugepages_total=0 hugepages_free=0 hugepages_surp=0 hugepages_size=2048kB
{0}52000 total pagecache pages
{0}50720 pages in swap cache
{0}Free swap  = 0kB
"""


@pytest.mark.parametrize("prefix", ["", "[ 7211.100213] ", "Mar 3 09:11:02 host kernel: [ 72.12] "])
@pytest.mark.parametrize("quote", ["", "> "])
def test_the_end_of_a_report_is_named_with_the_swap(prefix, quote):
    what, way_out = said_of(END.format(quote + prefix))

    assert "14 MiB free in the zones that it shows; 5 MiB page cache" in what
    assert "no swap free" in what
    assert "killed process" in way_out


def test_swap_without_a_report_is_no_end_of_one():
    assert of_the_kernel(b"Free swap  = 0kB\n", "") is None
