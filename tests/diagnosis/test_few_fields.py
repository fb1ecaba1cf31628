"""What is said of pages, head lines and log lines that have only some of Go's numbers."""

import pytest

import gomem
from gomem.diagnosis.further import NOTHING
from gomem.diagnosis.without_rss import without_rss
from gomem.text import Bytes, Count, Text
from gomem.units import MIB
from tests.builders import as_text


def diagnosed(folder, text):
    path = folder / "pasted.txt"
    path.write_text(text)
    return gomem.diagnose(path)


def values(diagnosis, kind=Bytes):
    return [part.value for part in Text(diagnosis.verdict.sentence).of(kind)]


@pytest.mark.parametrize(
    ("page", "sizes", "counts"),
    [
        pytest.param("go_memstats_alloc_bytes 9.43718400e+08\n", [900 * MIB], [], id="alloc"),
        pytest.param(
            "go_memstats_heap_inuse_bytes 4.194304e+07\ngo_memstats_heap_sys_bytes 5.24288e+07\n"
            "go_memstats_heap_released_bytes 2.097152e+06\n",
            [40 * MIB, 10 * MIB, 8 * MIB, 50 * MIB],
            [],
            id="heap in use",
        ),
        pytest.param("go_memstats_sys_bytes 5.24288e+07\n", [50 * MIB], [], id="sys"),
        pytest.param(
            "# TYPE go_gc_heap_allocs_bytes counter\ngo_gc_heap_allocs_bytes 10485760\n"
            "go_goroutines 17\n",
            [10 * MIB],
            [17],
            id="allocated since the start, without _total",
        ),
        pytest.param("go_gc_heap_live_bytes 10485760\n", [10 * MIB], [], id="the live heap"),
        pytest.param(
            "go_memstats_heap_released_bytes 2.097152e+06\n"
            "go_memstats_heap_sys_bytes 5.24288e+07\n",
            [50 * MIB, 2 * MIB, 48 * MIB],
            [],
            id="heap of the system, less what is returned",
        ),
        pytest.param(
            "go_memstats_mspan_inuse_bytes 131072\ngo_memstats_next_gc_bytes 8.388608e+06\n"
            "go_memstats_stack_inuse_bytes 1.048576e+06\n",
            [8 * MIB, 1 * MIB, 131072],
            [],
            id="the goal and what is beside the heap",
        ),
        pytest.param(
            "go_memstats_heap_idle_bytes 1.048576e+07\n"
            "go_memstats_heap_released_bytes 2.097152e+06\n",
            [2 * MIB, 10 * MIB, 8 * MIB],
            [],
            id="idle heap alone",
        ),
        pytest.param('go_info{version="go1.24"} 1\ngo_goroutines 17\n', [], [17], id="goroutines"),
    ],
)  # fmt: skip
def test_a_page_says_what_it_has(tmp_path, page, sizes, counts):
    found = diagnosed(tmp_path, page)

    assert NOTHING != found.verdict.sentence
    assert sizes == values(found)
    assert counts == values(found, Count)
    assert not any("EOF" in fault.what for fault in found.capture.damaged)


def test_the_head_line_of_a_goroutine_profile_counts_them(tmp_path):
    found = diagnosed(
        tmp_path, "$ curl -s HOST/goroutine?debug=1 | head -1\ngoroutine profile: total 31007\n"
    )

    assert [31007] == values(found, Count)
    assert "goroutine" in found.verdict.next_step


SERIES = [
    "Time: 0s {rss}: 6.5MB MemStats.Sys: 8.0MB MemStats.Alloc: 2.5MB MemStats.TotalAlloc: 3MB",
    "Time: 9s {rss}: 60.5MB MemStats.Sys: 9.0MB MemStats.Alloc: 2.5MB MemStats.TotalAlloc: 30MB",
]


@pytest.mark.parametrize("word", ["Resident size", "rss", "RSS", "VmRSS", "resident", "Resident"])
def test_rss_beside_memstats_in_words_is_rss(tmp_path, word):
    found = diagnosed(tmp_path, "\n".join(SERIES).format(rss=word) + "\n")

    assert [6.5 * MIB, 60.5 * MIB] == [facts.rss_bytes for facts in found.moments]
    assert [8 * MIB, 9 * MIB] == found.capture.memstats["Sys"].tolist()


@pytest.mark.parametrize(
    "line",
    [
        pytest.param("max rss: 60MB HeapAlloc: 2MB HeapSys: 9MB NumGC: 3", id="a peak"),
        pytest.param("rss: 60MB HeapAlloc: 2MB rss: 61MB HeapSys: 9MB NumGC: 3", id="several"),
        pytest.param("rss: 61 HeapAlloc: 2MB HeapSys: 9MB NumGC: 3", id="in no unit"),
        pytest.param("rss: 61MB\nof C\nHeapAlloc: 2MB HeapSys: 9MB NumGC: 3", id="on another line"),
    ],
)
def test_what_may_not_be_its_rss_is_not(tmp_path, line):
    found = diagnosed(tmp_path, f"{line}\n")

    assert [None] == [facts.rss_bytes for facts in found.moments]
    assert [2 * MIB] == found.capture.memstats["HeapAlloc"].tolist()


def test_a_heap_that_swings_below_its_peak_has_not_grown(tmp_path):
    peak, low = "sys: 700 MB alloc: {} MB idle: {} MB", (600, 400)
    series = (100, 300, 600, *low[::-1], *low[::-1])
    said = diagnosed(tmp_path, "\n".join(peak.format(size, 690 - size) for size in series))

    words = f"{said.verdict.sentence}"
    assert "has moved between 400 MiB and 600 MiB" in words
    assert "no verdict" in as_text(said)

    rising = diagnosed(tmp_path, "\n".join(peak.format(s, 690 - s) for s in (100, 300, 600)))
    assert "has moved between" not in f"{rising.verdict.sentence}"


@pytest.mark.parametrize(
    ("fields", "asked"),
    [
        pytest.param("Alloc = 12 MiB Sys = 2311 MiB NumGC = 91", "HeapIdle", id="idle unknown"),
        pytest.param(
            "HeapAlloc=12582912 HeapIdle=2298478592 HeapReleased=0 Sys=2411724800",
            "FreeOSMemory",
            id="idle known",
        ),
        pytest.param("Alloc = 1200 MiB Sys = 2311 MiB NumGC = 91", "what holds", id="half live"),
        pytest.param("Alloc = 1 MiB Sys = 12 MiB NumGC = 3", "what holds", id="small"),
    ],
)
def test_where_little_is_live_the_next_step_asks_what_the_runtime_keeps(tmp_path, fields, asked):
    assert asked in diagnosed(tmp_path, f"{fields}\n").verdict.next_step


def test_tinygo_has_no_profiles_to_fetch(tmp_path):
    line = "Alloc: 83968, TotalAlloc: 1891204, Sys: 131072, HeapIdle: 4096, HeapInuse: 126976\n"
    step = diagnosed(tmp_path, f"Built with TinyGo 0.34:\n\n```\n{line}```\n").verdict.next_step

    assert "TinyGo" in step
    assert "/debug/pprof" not in step


def test_released_memory_can_be_in_rss_under_any_release_and_no_live_heap_asks_for_no_profile(
    tmp_path,
):
    fields = f"HeapAlloc=4096 HeapReleased={280 * MIB} Sys={296 * MIB} HeapIdle={283 * MIB}"

    verdict = diagnosed(tmp_path, f"{fields}\n").verdict

    assert "GODEBUG=madvdontneed=0" in str(verdict.headline) + str(verdict.where)
    assert "smaps" in verdict.next_step
    assert "pprof/heap" not in verdict.next_step


SWINGING = "sys: 60 MB alloc: {} MB idle: {} MB"


def test_swings_are_counted_from_the_first_peak(tmp_path):
    sizes = (20, 10, 30, 16, 36, 19, 40, 20, 41, 21, 42)
    said = diagnosed(tmp_path, "\n".join(SWINGING.format(size, 50 - size) for size in sizes))

    words = f"{said.verdict.sentence}"
    assert "has moved between 10 MiB and 42 MiB" in words
    assert "What it falls to rises, from 10 MiB to 21 MiB." in words


def test_lows_that_do_not_rise_are_not_said_to(tmp_path):
    sizes = (20, 10, 30, 16, 40, 9, 40, 20, 41, 21, 42)
    said = diagnosed(tmp_path, "\n".join(SWINGING.format(size, 50 - size) for size in sizes))

    assert "has moved between 9 MiB and 42 MiB" in f"{said.verdict.sentence}"
    assert "What it falls to" not in f"{said.verdict.sentence}"


@pytest.mark.parametrize(
    ("sizes", "low", "is_growth"),
    [
        pytest.param((6, 20, 40, 7, 21, 44, 5, 30), 5, False, id="back to the first"),
        pytest.param((6, 20, 40, 15, 21, 44, 18, 30), None, True, id="not so low"),
        pytest.param((6, 20, 44, 7, 21, 30), None, True, id="one peak"),
    ],
)
def test_a_wave_that_falls_to_what_it_was_at_first_is_no_growth(tmp_path, sizes, low, is_growth):
    said = diagnosed(tmp_path, "\n".join(SWINGING.format(size, 50 - size) for size in sizes))

    words = f"{said.verdict.sentence}"
    assert (low is not None) == (f"has moved between {low} MiB and 44 MiB" in words)
    assert is_growth == (said.verdict.severity is not None)
    assert is_growth == ("no steady growth" not in as_text(said))


def test_a_count_that_stays_is_of_all_readings(tmp_path):
    text = "".join(f"10:5{minute}:04 go routines: 26\n" for minute in range(4))

    assert (
        "The process has 26 goroutines in all 4 readings."
        in diagnosed(tmp_path, text).verdict.sentence
    )


def test_a_count_that_returns_is_not_of_all_readings(tmp_path):
    text = "".join(f"go routines: {count}\n" for count in (26, 25, 26))
    sentence = diagnosed(tmp_path, text).verdict.sentence

    assert "The process has 26 goroutines." in sentence
    assert "readings" not in sentence


@pytest.mark.parametrize(("last", "grew"), [(210, False), (410, True)])
def test_a_profile_does_not_hide_the_series_of_a_log(last, grew, tmp_path):
    lines = (
        f"time=2026-11-27T11:06:{at}Z HeapAlloc={size * MIB} Sys={500 * MIB} NumGC={gc}\n"
        for at, size, gc in ((10, 205, 8), (13, 207, 10), (16, last, 12))
    )
    (tmp_path / "app.log").write_text("".join(lines))
    rows = "heap profile: 1: 64 [1: 64] @ heap/1048576\n1: 64 [1: 64] @ 0x1 0x2\n"
    (tmp_path / "heap.txt").write_text(rows)

    diagnosis = gomem.diagnose(tmp_path)

    said, has_grown, _ = without_rss(diagnosis, None)
    assert said.startswith("The heap profile has")
    assert f"HeapAlloc went from 205 MiB at 11:06:10 to {last} MiB" in diagnosis.verdict.sentence
    assert grew == has_grown


def test_what_of_the_idle_heap_was_returned_is_of_the_last_dump_that_has_it(tmp_path):
    row = (
        "2026/11/27 12:52:{at:02} HeapAlloc = {heap} MiB HeapInuse = 60 MiB HeapIdle = 40 MiB"
        "{more}\n"
    )
    log = (
        row.format(at=at, heap=50 + at % 2, more=" HeapReleased = 30 MiB" * (at < 4))
        for at in range(6)
    )
    said = diagnosed(tmp_path, "".join(log)).verdict.sentence

    assert "40 MiB of the heap is idle at " in said
    assert "10 MiB of that is not returned to the OS" in said
    assert "no field" not in said


def test_heap_in_use_beside_rss_bounds_gos_part_of_it(tmp_path):
    page = "process_resident_memory_bytes 1.2582912e+08\ngo_memstats_heap_inuse_bytes {}\n"

    said = diagnosed(tmp_path, page.format(94 * MIB)).verdict.sentence

    assert "at most 94 MiB of it is Go's heap in use (HeapInuse)" in said
    assert "no file breaks it down" not in said


SCVG = "scvg59: inuse: 16, idle: 1018, sys: 1035, released: 0, consumed: 1035 (MB)\n"
GCS = "".join(
    f"gc 2046{n} @8457.{n}50s 0%: 0.2+0+0+2.4+0.6 ms clock, 1.6+0+0+0.7/8.0/0+4.5 ms cpu, "
    "4->4->0 MB, 5 MB goal, 16 P\n"
    for n in range(3)
)


@pytest.mark.parametrize("above", ["", GCS], ids=["alone", "below collections"])
def test_what_the_scavenger_prints_is_the_heap(tmp_path, above):
    verdict = diagnosed(tmp_path, f"It keeps growing.\n\n```\n{above}{SCVG}```\n").verdict

    assert verdict.headline.startswith("HeapInuse is 16 MiB")
    assert "1018 MiB of the heap is idle; 1018 MiB of that is not returned" in verdict.sentence
    assert "FreeOSMemory" in verdict.next_step


def test_heap_in_use_is_what_the_scavenger_prints_and_no_difference_of_rounded_sizes(tmp_path):
    assert 16 * MIB == diagnosed(tmp_path, f"The log:\n\n{SCVG}").scavenger.in_use_bytes


def test_what_the_scavenger_prints_is_told_beside_rss(tmp_path):
    top = (
        "  PID USER PR NI VIRT RES SHR S %CPU %MEM TIME+ COMMAND\n"
        "13953 api 20 0 1917180 1045292 1776 S 0.0 6.1 6:31.81 api\n"
    )
    log = f"The log:\n\n```\n{SCVG}```\n\nTop:\n\n```\n{top}```\n"
    said = diagnosed(tmp_path, log).verdict

    assert "1018 MiB of the heap is idle; 1018 MiB of that is not returned" in " ".join(said.whose)


def test_logged_heap_in_use_is_no_idle_heap(tmp_path):
    used = SCVG.replace("inuse: 16, idle: 1018", "inuse: 1000, idle: 34")
    verdict = diagnosed(tmp_path, f"The log:\n\n```\n{used}```\n").verdict

    assert "FreeOSMemory" not in verdict.next_step
