"""What is said of a paste beside other evidence: heads, decorated lines, labels, replicas."""

import pytest

from gomem.capture.load import load
from gomem.diagnosis.diagnosis import diagnose
from gomem.errors import CaptureError

HEAD = "Showing nodes accounting for 38.29MB, 50.14% of 76.38MB total\n"
PS = (
    "USER  PID %CPU %MEM    VSZ    RSS TTY STAT START TIME COMMAND\n"
    "shop 4711  0.5  3.1 612340 256180 ?   Ssl  14:24 6:28 api -serve\n"
)
LEGEND = "      flat  flat%   sum%        cum   cum%\n"


@pytest.fixture
def paste(tmp_path):
    """A text as a file, diagnosed."""

    def written(text):
        (tmp_path / "ticket.md").write_text(text)
        return diagnose(load(tmp_path / "ticket.md"))

    return written


def said(diagnosis):
    verdict = diagnosis.verdict
    words = " ".join([str(verdict.sentence), *map(str, verdict.whose)])
    return words.replace("\u202f", " ")


# Heads of pprof


def test_a_head_alone_has_the_total_of_its_sample_type(paste):
    found = paste(f"It grows every night.\n\n```\nType: inuse_space\n(pprof) top\n{HEAD}```\n")

    assert "The pprof table shows 76 MiB in use." in said(found)


def test_a_head_beside_rss_is_compared_with_it(paste):
    found = paste(
        f"The system says 250 MB:\n\n```\n{PS}```\n\nBut pprof says that it is far less:\n\n"
        f"```\nType: inuse_space\n(pprof) top\n{HEAD}Showing top 5 nodes out of 207\n{LEGEND}```\n"
    )

    assert (
        "by the heap profile (76 MiB) is 31 % of RSS; with garbage (GOGC 100, assumed), up to "
        "about 153 MiB" in said(found)
    )


def test_a_head_of_another_sample_type_beside_a_table_has_its_total(paste):
    row = "  38.29MB 50.14% 50.14%    38.29MB 50.14%  shop.(*Cart).Add\n"
    found = paste(
        f"```\n(pprof) inuse_space\n(pprof) top\n{HEAD}{LEGEND}{row}```\n\n```\n(pprof) alloc_space"
        "\n(pprof) top\nShowing nodes accounting for 776.33GB, 61.31% of 1266.28GB total\n```\n"
    )

    assert "1.24 TiB allocated since the start" in said(found)


def test_a_head_keeps_its_sample_type_before_a_table_of_another(paste):
    row = "  38.29MB 50.14% 50.14%    38.29MB 50.14%  shop.(*Cart).Add\n"
    cut = "Showing nodes accounting for 2MB, 20.00% of 10MB total\n"
    found = paste(
        f"(pprof) inuse_space\n(pprof) top\n{cut}"
        f"(pprof) alloc_space\n(pprof) top\n{HEAD}{LEGEND}{row}"
    )

    words = said(found)
    assert "10 MiB in use" in words
    assert "Another table has 76 MiB allocated since the start" in words
    assert "shop.(*Cart).Add (50 %)" in words


def test_allocations_since_the_start_are_not_taken_for_a_leak(paste):
    row = "  38.29MB 50.14% 50.14%    38.29MB 50.14%  shop.(*Cart).Add\n"
    table = f"(pprof) top\n{HEAD}{LEGEND}{row}"

    assert "cannot show a leak" in said(paste(f"Type: alloc_space\n{table}"))
    assert "cannot show a leak" not in said(paste(f"Type: inuse_space\n{table}"))


def test_the_rest_and_the_shares_of_a_table_are_those_that_it_prints(paste):
    found = paste(
        "(pprof) top\n1.25GB of 1.25GB total (99.84%)\n"
        f"{LEGEND}    1.25GB 99.84% 99.84%     1.25GB 99.84%  shop.load\n"
        "(pprof) list shop.load\nTotal: 1.25GB\n"
        "ROUTINE ======================== shop.load in /src/shop/load.go\n"
        "    1.25GB     1.25GB (flat, cum) 99.84% of Total\n"
        "    1.25GB     1.25GB    396:	buff := make([]byte, size)\n"
    )

    (sites,) = next(iter(found.facts.profiles.untyped_sites.values()))
    assert 0.9984 == pytest.approx(sites.top["flat_fraction"].iloc[0])


# Decoration


@pytest.mark.parametrize(
    "line",
    [
        "VmRSS:     76420 kB",
        "* `VmRSS:     76420 kB`",
        "> **VmRSS:     76420 kB**",
        "/proc/12/status:VmRSS:     76420 kB",
        "* `/proc/12/status:VmRSS:     76420 kB`\n* `34313.99kB ... device.Populate`",
    ],
)
def test_a_line_between_sentences_is_read_whatever_decorates_it(paste, line):
    found = paste(f"Some memory is missing here:\n\n{line}\n\nThat is more than the heap has.\n")

    assert "RSS is 75 MiB" in said(found)


# Kubernetes


def test_a_described_kill_alone_is_a_report(paste):
    found = paste(
        "The pod restarts all the time.\n\n```\n$ kubectl describe pod api-0\n"
        "    Last State:     Terminated\n      Reason:       OOMKilled\n      Exit Code:    137\n"
        "      Started:      Mon, 31 Aug 2026 16:32:42 -0500\n"
        "      Finished:     Mon, 31 Aug 2026 16:33:08 -0500\n"
        "    Restart Count:  1\n    Limits:\n      cpu:     100m\n      memory:  90Mi\n```\n"
    )

    assert ("limit-risk", "certain") == (found.verdict.code, found.verdict.confidence)
    assert "at its limit of 90 MiB, 26 s after its start" in said(found)
    assert "--every 3s" in str(found.verdict.next_step)


def test_a_table_of_nodes_is_named(tmp_path):
    (tmp_path / "ticket.md").write_text(
        "```\n$ kubectl top nodes\n"
        "NAME       CPU(cores)   CPU%      MEMORY(bytes)   MEMORY%\n"
        "worker-1   1613m        20%       11522Mi         35%\n"
        "worker-2   171m         4%        3711Mi          23%\n```\n"
    )
    with pytest.raises(CaptureError) as refused:
        load(tmp_path / "ticket.md")

    assert "working set of 2 nodes, the most 11.3 GiB on worker-1 (35%)" in str(refused.value)


def test_replicas_that_differ_are_compared(paste):
    pods = "agent-z4kts   39m   {}Mi\nagent-48nqc   42m   192Mi\nagent-brzpb   51m   53Mi\n"
    words = "3 replicas of agent use between 53 MiB (agent-brzpb) and 208 MiB (agent-z4kts)"

    assert words in said(paste(pods.format(208)))
    assert "replicas" not in said(paste(pods.format(208).replace("53Mi", "153Mi")))
    assert "replicas" not in said(paste(pods.format(208).replace("agent-b", "other-b")))


# Other pastes


def test_address_space_of_status_is_not_taken_for_memory(paste):
    found = paste(
        "Name:\tapi\nState:\tS (sleeping)\nPid:\t7\nVmPeak:\t68384600 kB\nVmSize:\t35089012 kB\n"
        "VmHWM:\t487456 kB\nVmRSS:\t485788 kB\nThreads:\t9\n"
    )

    assert "VmSize, 33.5 GiB (VmPeak 65.2 GiB), is address space" in said(found)


def test_most_of_the_evidence_leads(paste):
    line = "BenchmarkParse-8   17886   69809 ns/op   219641 B/op   132 allocs/op\n"
    found = paste(
        "Before:\n\n```\nAlloc = 0 MiB\tTotalAlloc = 0 MiB\tSys = 11 MiB\tNumGC = 0\n"
        f"goos: linux\ngoarch: amd64\n{line * 5}```\n"
    )

    assert str(found.verdict.headline).startswith("1 benchmark, 5 results")
    assert "At most 11 MiB of RSS is Go's heap" in said(found)


def test_constant_c_memory_that_is_small_beside_gos_is_no_finding(paste):
    line = (
        "I170923 18:50:{}.961613 105 server/status/runtime.go:223  [n2] runtime stats: 1.4 GiB RSS,"
        " 139 goroutines, {} MiB/209 MiB/1.1 GiB GO alloc/idle/total, {} MiB/{} MiB CGO"
        " alloc/total, 40.41cgo/sec, 0.27/0.11 %(u/s)time, 0.00 %gc (0x)\n"
    )
    small = "".join(line.format(at, 800 + at, 127, 156) for at in (23, 33, 43))
    large = "".join(line.format(at, 800 + at, 427, 456) for at in (23, 33, 43))

    assert "native-memory" not in {finding.code for finding in paste(small).findings}
    assert "native-memory" in {finding.code for finding in paste(large).findings}


def test_a_process_of_windows_is_not_captured_by_its_pid(paste):
    found = paste(
        "runtime: VirtualAlloc of 299704320 bytes failed with errno=1455\n"
        "fatal error: out of memory\n\n"
        "goroutine 1 gp=0xc0000a0000 m=11 mp=0xc018c81808 [running]:\nmain.main()\n"
        "\tC:/hostedtoolcache/windows/go/1.22.0/x64/src/runtime/proc.go:42 +0x8 fp=0x1 sp=0x2\n"
    )

    assert "go1.22" == str(found.capture.go_version)
    assert not any("capture" in str(finding.next_step) for finding in found.findings)


# Runs with labels


@pytest.mark.parametrize(
    ("first", "last"), [("Old:", "New:"), ("**Before**:", "**After**:"), ("* GOGC=50:", "* none:")]
)
def test_two_runs_with_labels_are_compared(paste, first, last):
    usage = "```\nAlloc = {} MiB\nTotalAlloc = {} MiB\nSys = 900 MiB\nNumGC = {}\n```\n\n"
    runs = first + "\n" + usage.format(800, 3800, 32), last + "\n" + usage.format(360, 1880, 31)
    names = (name.strip("*: ") for name in (first, last))
    old, new = names

    words = said(paste("The memory of two builds is below.\n\n" + "\n".join(runs)))
    assert f"HeapAlloc is 800 MiB in the run '{old}' (line 5), and 360 MiB in the run" in words
    assert f"'{new}', 55 % less" in words


def test_a_run_without_a_label_keeps_its_place(paste):
    usage = "```\nAlloc = {} MiB\nTotalAlloc = {} MiB\nSys = 900 MiB\nNumGC = {}\n```\n\n"
    found = paste(f"Two of them.\n\n{usage.format(800, 3800, 32)}{usage.format(360, 1880, 31)}")

    assert "Line 4 is a reading of another process, with a HeapAlloc of 800 MiB" in said(found)


def test_sizes_in_gb_can_be_of_thousands(paste):
    usage = "Alloc = 8.5 {0}\nTotalAlloc = 18.8 {0}\nSys = 9.1 {0}\nNumGC = 31\n"
    words = "if they are 10⁹ bytes, these sizes are 7 % smaller"

    assert words in said(paste(usage.format("GB")))
    assert words not in said(paste(usage.format("GiB")))
    in_mib = usage.replace("8.5", "8500").format("MiB")
    assert words not in said(paste(f"{in_mib}\nIt has 32 GB of memory.\n"))


# Readings that people type, beside other evidence

TYPED = "".join(f"- 09:1{at}:20: {at * 30} MB\n" for at in range(1, 6))
STACK = (
    "goroutine {} [sync.Mutex.Lock, 3 minutes]:\nsync.(*Mutex).Lock(...)\n"
    "\tsync/mutex.go:46\nmain.(*Till).Book(0x0)\n\ttill/main.go:31 +0x69\n\n"
)


def test_typed_readings_beside_stacks_are_both_said(paste):
    stacks = "".join(map(STACK.format, (7, 8, 9)))
    more = "(...)\n\nand another one of them:\n\n" + STACK.format(12)
    found = paste(f"rss from the monitoring\n{TYPED}\nThe stacks:\n\n{stacks}{more}")

    assert "RSS grew from 29 MiB at 09:11:20 to 143 MiB" in said(found)
    assert "At least 4 goroutines; 4 wait in main.(*Till).Book" in said(found)


def test_a_table_of_rss_beside_flat_memstats_in_words_is_native_memory(paste):
    rows = "".join(f"   | 09:1{at}:20 | {at * 30_000} |\n" for at in range(1, 6))
    fields = "HeapAlloc 25175{}, HeapSys 8036352, StackInuse 327680, Sys 12604680, NumGC {}"
    found = paste(
        f"It grows. What we saw:\n\n   | time | RSS kB |\n   |---|---|\n{rows}\n"
        f"2. /debug/vars at 09:12:20: {fields.format(60, 2)}\n"
        f"   /debug/vars at 09:15:20: {fields.format(80, 8)}\n"
    )

    words = said(found)
    assert "RSS grew from 29 MiB" in words
    assert "MiB is not Go's, and no heap profile shows it" in words


PAGE = (
    "go_memstats_heap_alloc_bytes 1.5e+07\ngo_memstats_heap_idle_bytes 2.5e+07\n"
    "go_memstats_heap_inuse_bytes 1.7e+07\ngo_memstats_sys_bytes 5.5e+07\n"
    "process_resident_memory_bytes 6.1e+07\n"
)


def test_a_scrape_in_a_chat_is_read_beside_typed_readings(paste):
    rows = "".join(f"    09:1{at}:20   {at * 9}   {at}.5MB   {at * 10}MB\n" for at in range(1, 7))
    found = paste(
        "> kim: RSS only goes up today\n> kim: the columns are time, jobs, heap_alloc, rss\n\n"
        f"{rows}\n> lee: the last scrape please\n> kim: go_goroutines 334\n{PAGE}\n"
        "> lee: there were about 2000 jobs at noon\n> kim: so?\n"
    )

    assert "RSS grew from 9.5 MiB at 09:11:20 to 58 MiB" in said(found)
    assert 334 == found.facts.moments[-1].goroutine_count


def test_a_cut_rollup_says_how_much_is_in_files(paste):
    found = paste(
        "It uses 260 MB on a small box, smaps_rollup, what fit the screen:\n\n"
        "00400000-7ffc1114c000 ---p 00000000 00:00 0                              [rollup]\n"
        "Rss:              266240 kB\nPss:              265000 kB\nPss_Dirty:          6144 kB\n"
        "Pss_Anon:           6144 kB\nPss_File:         258856 kB\nPss_Shmem:             0 kB\n"
        "Private_Clean:    258000 kB\nPrivate_Dirty:      6144 kB\n"
    )

    assert "RSS is 260 MiB: 254 MiB files and program text" in said(found)
