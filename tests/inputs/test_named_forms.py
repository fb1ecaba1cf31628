"""Forms that gomem names and does not read: what they say, and what to collect."""

import re

import pytest

import gomem
from gomem.errors import CaptureError
from gomem.inputs.kinds import kind_of
from gomem.inputs.looks_like import looks_like
from gomem.inputs.mentions import mentioned
from gomem.inputs.sched_trace import schedule_words
from tests.builders import FIXTURES

PASTED = FIXTURES / "pasted"
FORMS = PASTED / "forms"
MAPPINGS = FIXTURES / "captures" / "cache-shrink-go1.9.7" / "1-filled" / "smaps"


def named(data, name="ticket.md"):
    """What a text looks like, which no reader takes."""
    assert kind_of(data, name) is None
    seen = looks_like(data, name)
    return f"{seen.what}".replace("\u202f", " "), f"{seen.way_out}", seen.is_evidence


@pytest.mark.parametrize(
    ("form", "said", "command"),
    [
        ("freebsd-killed.txt", "killed api, worker (3 processes): out of swap", "procstat -v PID"),
        ("freebsd-killed.txt", "out of swap space and failed to reclaim memory", "heap.pb.gz"),
        ("systemctl-status.txt", "of api: its cgroup uses 1.4G (high: 2.0G max", "capture 812 -o"),
        ("systemctl-status.txt", "swap: 20.5M), 2min 4s after its start", "no RSS"),
        ("windbg-summary.txt", "(<unknown> 499.625 MB, Image 42.316 MB, Stack 4.000 MB", "VMMap"),
        ("windbg-summary.txt", "MB, Heap 1.098 MB); Go's heap is among <unknown>", "heap.pb.gz"),
        ("folded.txt", "do not say what their numbers count", "the profile that they were made"),
        ("jeprof.txt", "not Go's, 640.5 MB in all: store::BlockReader::Read 60 %", "malloc_stats"),
        ("jeprof.txt", "it takes a sample every 1 GiB allocated", "gomem reads Go programs"),
    ],
)  # fmt: skip
def test_a_form_is_named_with_what_it_says_and_what_to_collect(form, said, command):
    what, way_out, is_evidence = named((FORMS / form).read_bytes())

    assert said in what
    assert command in way_out
    assert is_evidence


def test_a_native_profile_gets_no_advice_of_go():
    what, way_out, _ = named((FORMS / "jeprof.txt").read_bytes())

    assert "go tool pprof" not in what
    assert "debug/pprof" not in way_out


def test_names_of_c_plus_plus_tell_a_table_of_perls_pprof_from_gos():
    rows = (FORMS / "jeprof.txt").read_text().partition("Total: ")[2]
    gos = re.sub(r"\S+::\S+.*|__libc.*", "main.work", rows)

    assert "gperftools or jemalloc" in named(f"Total: {rows}".encode())[0]
    assert kind_of(f"Total: {gos}".encode()) is not None


def test_a_table_of_a_narrow_busybox_says_address_space():
    what, way_out, _ = named((FORMS / "busybox-top-narrow.txt").read_bytes())

    assert "VSZ alone, which is address space and no RSS (/opt/api has 702m, " in what
    assert "gomem capture 1182 -o DIR" in way_out


BUSYBOX_PS = "PID   USER     VSZ   STAT COMMAND\n    1 {}      912m S    /opt/shop\n"
BUSYBOX_TOP = (
    "{}  PID  PPID USER     STAT   VSZ %VSZ CPU %CPU COMMAND\n"
    "    1     0 {}     S     912m  11%   0   1% /opt/shop\n"
    "   44     0 {}     R     1600   0%   0   0% top\n"
)


@pytest.mark.parametrize("user", ["root", "1001", "65532", "nonroot"])
@pytest.mark.parametrize("above", ["", "Mem: 996M used, 120M free\n", "In the container:\n\n"])
def test_a_user_without_a_name_changes_no_table_of_busybox(user, above):
    tables = (BUSYBOX_TOP.format(above, user, user), above + BUSYBOX_PS.format(user))
    for what, way_out, _ in map(named, (table.encode() for table in tables)):
        assert "VSZ alone, which is address space and no RSS (/opt/shop has 912m)" in what
        assert "gomem capture 1 -o DIR" in way_out


def test_maps_in_another_layout_are_address_space_with_the_go_heaps_part():
    head = r"^([0-9a-f]+)-([0-9a-f]+) ([-r][-w][-x][ps]) .*$"
    heads = re.findall(head, MAPPINGS.read_text(), re.MULTILINE)
    rows = (
        f"{start:>14} - {stop:>14}  size= 1 {perms} 00000000 00:00 0\n"
        for start, stop, perms in heads
    )
    whole = sum(int(stop, 16) - int(start, 16) for start, stop, _ in heads)

    what, way_out, is_evidence = named("".join(rows).encode())

    assert f"{len(heads)} mappings of {gomem.units.format_bytes(whole)} of address space" in what
    assert "where Go has its heap" in what
    assert "/proc/PID/smaps" in way_out
    assert is_evidence


def test_the_end_of_printed_memstats_is_named_as_a_cut():
    whole = (FIXTURES / "doors" / "go1.22.12" / "memstats-plus-v.txt").read_bytes()
    cut = whole[whole.index(b"{Size:512") :]
    rows = [
        tuple(map(int, re.findall(rb"\d+", row))) for row in re.findall(rb"\{Size:[^}]+\}", cut)
    ]
    objects = sum(mallocs - frees for _, mallocs, frees in rows)

    what, way_out, _ = named(cut)

    assert f"{len(rows)} size classes of objects" in what
    assert f"{objects} objects of at most" in what
    assert "HeapInuse and Sys" in way_out


def test_cgroup_fields_in_a_sentence_name_the_page_cache():
    what, way_out, _ = named(
        b"The process had 51 MB RSS. memory.current was 2048000000, active_file was 1843200000, "
        b"and inactive_file was 0.\n"
    )

    assert "a cgroup uses 1.91 GiB (memory.current)" in what
    assert "1.72 GiB of it (90 %) is page cache (active_file and inactive_file)" in what
    assert "it names RSS, too (51 MB)" in what
    assert "memory.stat" in way_out


@pytest.mark.parametrize(
    "sentence", ["The api had 51 MB RSS.", "the RSS is 51 MB", "resident size of 51 MB, all day"]
)
def test_rss_in_a_sentence_is_called_rss(sentence):
    assert "it names RSS in a sentence (51 MB)" in f"{mentioned(sentence.encode()).what}"


def test_no_refusal_denies_what_a_sentence_says():
    assert "none in a form that gomem reads" in f"{mentioned(b'It takes 51 MB of heap.').what}"


def test_metrics_in_words_are_named_as_words():
    said = f"{mentioned(b'- `go_memstats_heap_idle_bytes` (grows all day)').what}"

    assert "how Go's metrics move (go_memstats_heap_idle_bytes: grows all day)" in said


def test_benchmarks_in_a_list_say_what_changed():
    text = (
        b"Before this change:\n- Parse: 306,275 ns/op, 54,000 B/op, 93 allocs/op\n\n"
        b"After this change:\n- Parse: 296,105 ns/op, 5,400 B/op, 27 allocs/op\n"
    )

    said = f"{mentioned(text).what}"

    assert "2 results" in said
    assert "Parse 54,000 to 5,400 B/op (-90 %), Parse 93 to 27 allocs/op (-71 %)" in said


def test_benchmarks_in_a_list_without_two_sides_are_counted():
    said = f"{mentioned(b'* Parse: 306 ns/op, 54 B/op').what}"

    assert "1 result of benchmarks in words of its own, which say: Parse 54 B/op" in said


LINE = "SCHED {}ms: gomaxprocs=48 idleprocs={} threads=141 idlethreads=88 runqueue={} [0 0 84]\n"


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([(0, 0, 521), (100, 0, 911)], "from 521 to 911 goroutines, never with an idle one"),
        ([(0, 3, 12), (100, 0, 7)], "from 12 to 7 goroutines, with up to 3 idle of 48 Ps"),
        ([(0, 48, 0), (100, 47, 0)], ""),
        ([(0, 0, 12)], ""),
    ],
)  # fmt: skip
def test_a_trace_of_the_scheduler_says_how_the_run_queue_moves(rows, said):
    text = "".join(LINE.format(*row) for row in rows).encode()

    assert said in f"{schedule_words(text)}"
    assert bool(said) == bool(schedule_words(text))
    assert said in named(text)[0]
    assert "gctrace=1" in named(text)[1]


def test_a_stack_overflow_without_the_goroutine_is_no_leak():
    whole = (PASTED / "goroutines" / "go1.27.3-overflow.txt").read_bytes()

    what, way_out, is_evidence = named(whole.partition(b"\ngoroutine 1")[0])

    assert "reached its limit of 954 MiB (stack overflow)" in what
    assert "goroutine N [running]" in way_out
    assert is_evidence


def test_a_refusal_of_several_pastes_says_the_sizes_in_sentences(tmp_path):
    jeprof = (FORMS / "jeprof.txt").read_text()
    ticket = tmp_path / "ticket.md"
    ticket.write_text(f"The RSS of it is 3.7G by top.\n\n```\n{jeprof}```\n")

    with pytest.raises(CaptureError, match=r"sizes in the text are not used \(3\.7G\)"):
        gomem.load(ticket)


@pytest.mark.parametrize(
    "text",
    [
        "| name | old | new |\n|---|---|---|\n| Parse | 1402 ns, 60 allocs | 659 ns, 9 allocs |\n",
        "Parse  60.0 allocs -> 9.00 allocs -85.00% (p=0.000 n=20)\n",
    ],
)
def test_benchmarks_in_a_table_or_with_an_arrow_say_what_changed(text):
    said = f"{mentioned(text.encode()).what}"

    assert "1 result of benchmarks" in said
    assert "Parse 60 to 9 allocs/op (-85 %)" in said


def test_a_footprint_of_macos_is_no_rss():
    text = (
        b"Physical footprint:         369.0M\nPhysical footprint (peak):  511.7M\n----\n\n"
        b"ReadOnly portion of Libraries: Total=1.8G resident=638.1M(35%)\n"
    )

    what, way_out, is_evidence = named(text)

    assert "a physical footprint of 369.0M, at most 511.7M" in what
    assert "RSS" not in what
    assert "no RSS" in way_out
    assert is_evidence
    assert "RSS" not in f"{mentioned(text) or ''}"


def test_a_stack_overflow_in_a_few_lines_names_the_function_that_it_shows():
    text = (
        b"fatal error: stack overflow\nruntime stack:\nruntime.throw(0x94e0ec, 0xe)\n"
        b"example.com/tick/pkg.(*Ticker).Stop(0xc0a7fffd98)\npkg/host.go:107 +0x41\n..\n"
    )

    assert "(it shows example.com/tick/pkg.(*Ticker).Stop)" in named(text)[0]


MEMLEAK = b"""[11:02:03] Top 2 stacks with outstanding allocations:
\t4096 bytes in 2 allocations from stack
\t\t[unknown] [libz.so.1]
\t3145728 bytes in 3 allocations from stack
\t\toperator new(unsigned long)+0x18 [libstdc++.so.6.0.25]
\t\tstore::Cache::Insert(store::Key const&)+0x9b0 [api]
"""
MEMCHECK = b"""==77== 96 bytes in 2 blocks are possibly lost in loss record 7 of 9
==77==    at 0x483: malloc (vg_replace_malloc.c:309)
==77==    by 0x471: runtime.asmcgocall (/usr/local/go/src/runtime/asm_amd64.s:655)
==77==
==77== 2,048 (1,024 direct, 1,024 indirect) bytes in 16 blocks are definitely lost in loss record 8
"""
SUMMARY = b"""==77== LEAK SUMMARY:
==77==    definitely lost: 2,048 bytes in 16 blocks
==77==    indirectly lost: 0 bytes in 0 blocks
==77==    still reachable: 1,048,576 bytes in 1 blocks
"""
MASSIF = b"""desc: (none)
cmd: ./api
time_unit: i
#-----------
snapshot=0
mem_heap_B=0
mem_heap_extra_B=0
snapshot=1
mem_heap_B=5242880
mem_heap_extra_B=96
"""
HEAPTRACK = b"""total runtime: 9.10s.
calls to allocation functions: 2211 (242/s)
peak heap memory consumption: 12.34MB after 4.1s
peak RSS (including heaptrack overhead): 40.01MB
total memory leaked: 3.21MB
"""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            MEMLEAK,
            "3 MiB in 3 allocations by store::Cache::Insert(store::Key const&), and 1 stack with",
        ),
        (MEMCHECK, "memcheck, 2 of them here, the largest: 2 KiB definitely lost in 16 blocks"),
        (SUMMARY, "2 KiB definitely lost, 0 B indirectly lost, 1 MiB still reachable"),
        (MASSIF, "a file of Valgrind's massif: at most 5 MiB from malloc in 2 snapshots"),
        (HEAPTRACK, "peak heap memory consumption 12.34MB, peak RSS (including heaptrack"),
        (HEAPTRACK, "total memory leaked 3.21MB"),
    ],
)
def test_memory_outside_go_by_tools_for_c_is_named(text, said):
    what, way_out, is_evidence = named(text)

    assert said in what
    assert is_evidence
    assert "no Go profile has" in way_out


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            b"systemctl show api -p MemoryCurrent\nMemoryCurrent=209715200\n",
            "says of api: its cgroup uses 200 MiB (MemoryCurrent)",
        ),
        (
            b"MemoryCurrent=209715200\nMemoryPeak=[not set]\nMemoryMax=infinity\n",
            "its cgroup uses 200 MiB (MemoryCurrent); MemoryMax is infinity: no limit",
        ),
        (
            b"MemoryCurrent=209715200\nMemoryPeak=419430400\nMemoryMax=18446744073709551615\n",
            "uses 200 MiB (MemoryCurrent); MemoryPeak is 400 MiB",
        ),
    ],
)
def test_what_systemctl_show_says_of_a_unit_is_named(text, said):
    what, way_out, is_evidence = named(text)

    assert what.endswith(said)
    assert is_evidence
    assert "page cache, no RSS" in way_out


@pytest.mark.parametrize("value", [b"[not set]", b"18446744073709551615", b"infinity"])
def test_a_unit_without_a_number_is_not_said_to_use_none(value):
    assert "its cgroup uses" not in looks_like(b"MemoryCurrent=" + value + b"\n", "").what


TREE = """* api.service - api
     Loaded: loaded (/etc/systemd/system/api.service; enabled)
   Main PID: 812 (api)
     Memory: 300.5M (max: 800.0M)
     CGroup: /system.slice/api.service
             ├─812 /usr/local/bin/api
             └─840 /usr/local/bin/worker -n 3
""".encode()


def test_a_service_of_several_processes_asks_which_is_large():
    _, way_out, _ = named(TREE)

    assert "ps -o pid,rss,args -p 812,840" in way_out
    assert "capture" not in way_out


def test_a_command_that_ends_has_no_http_to_ask():
    _, way_out, _ = named(b"\tMaximum resident set size (kbytes): 361792\n")

    assert "GODEBUG=gctrace=1" in way_out
    assert "http" not in way_out


@pytest.mark.parametrize(
    "said",
    [
        "- `phys_footprint` = 3.5GB, **PEAK 8.2GB**\n- RESIDENT = **76MB**, SWAPPED OUT = 3.4GB\n",
        "* phys_footprint: 3.5GB (peak: 8.2GB)\n* resident: 76MB\n* swapped_out: 3.4GB\n",
        "The physical footprint is at 3.5GB (peak 8.2GB).\nResident = 76MB, swapped out = 3.4GB\n",
    ],
)
def test_a_footprint_of_macos_in_a_list(said):
    seen = looks_like(said.encode(), "issue.md")

    assert "a physical footprint of 3.5GB, at most 8.2GB" in seen.what
    assert "(76MB resident, 3.4GB compressed or swapped out)" in seen.what
    assert "FreeOSMemory" in str(seen.way_out)
    assert "gomem capture" not in str(seen.way_out)


ENDED = (
    "Mar 11 09:20:01 shop systemd[{pid}]: api.service: Consumed 3min 1.2s CPU time{wall}, "
    "{peak} memory peak{swap}."
)


@pytest.mark.parametrize("around", ["{}", "> {}", "**{}**", "    {}", "```\n{}\n```"])
@pytest.mark.parametrize("wall", ["", " over 2h 4min 7.1s wall clock time"])
@pytest.mark.parametrize("swap", ["", ", 0B memory swap peak", ", 310.5M memory swap peak"])
def test_what_systemd_logs_of_a_unit_that_ended_is_named(around, wall, swap):
    line = ENDED.format(pid=1, wall=wall, peak="1.7G", swap=swap)

    seen = looks_like(around.format(line).encode(), "")

    assert seen.is_evidence
    assert "api.service had a memory peak of 1.7G" in seen.what
    assert ("310.5M" in swap) == ("a swap peak of 310.5M" in seen.what)
    assert bool(wall) == ("in 2h 4min 7.1s" in seen.what)
    assert "page cache" in seen.way_out


def test_several_runs_of_a_unit_have_their_peaks_in_order():
    lines = (ENDED.format(pid=1, wall="", peak=peak, swap="") for peak in ("410M", "1.2G"))

    assert "a memory peak of 410M, then 1.2G" in looks_like("\n".join(lines).encode(), "").what


@pytest.mark.parametrize(
    ("limit", "said"),
    [
        ("MemoryMax=2G", "the peak is 85"),
        ("MemoryMax=1536M", "the peak is more than MemoryMax=1536M"),
        ("MemoryHigh=1536M", "the peak is more than MemoryHigh=1536M"),
        ("MemoryMax=infinity", ""),
    ],
)
def test_the_peak_of_a_unit_is_compared_with_the_limit_that_the_text_sets(tmp_path, limit, said):
    line = ENDED.format(pid=1, wall="", peak="1.7G", swap="")
    path = tmp_path / "ticket.md"
    path.write_text(f"It ended with\n\n```\n{line}\n```\n\nand the unit has `{limit}` in it.\n")

    with pytest.raises(CaptureError) as refused:
        gomem.diagnose(path)

    assert "a memory peak of 1.7G" in f"{refused.value}"
    assert said in f"{refused.value}"
    assert bool(said) == ("the peak is" in f"{refused.value}")


def test_memory_of_systemctl_is_named_without_its_head_and_as_a_series():
    row = (
        "     Active: active (running) since Tue 2025-04-01 10:00:00 UTC; {}min ago\n"
        "     Memory: {}M (max: 200.0M available: 150.0M)\n"
    )
    data = "".join(row.format(*each) for each in ((1, 12.5), (6, 48.0), (11, 31.5)))

    seen = looks_like(data.encode(), "log.txt")

    assert "its cgroup uses 31.5M (max: 200.0M available: 150.0M), 11min" in f"{seen.what}"
    assert "of 3 readings, 12.5M to 48.0M" in f"{seen.what}"
    assert seen.is_evidence


def test_memory_alone_is_no_line_of_systemctl():
    seen = looks_like(b"Memory: 12.5M\nDisk: 90G\n", "log.txt")

    assert "systemctl" not in f"{seen.what}"
