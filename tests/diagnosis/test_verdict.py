"""The verdict is always an answer: where the memory is, what moved it, whose it is, what to do."""

import json
import re
import shutil

import pytest

import gomem
from gomem.causes.finding import Severity
from gomem.diagnosis.next_step import NOTHING_TO_DO, TAKE_ANOTHER
from gomem.text import Bytes, Command, File, Function, MomentName, Text
from gomem.units import MIB
from gomem.views.json.report import report_json
from tests.builders import CAPTURES, FIXTURES, diagnosed, memstats_json, smaps_entry, smaps_text
from tests.views.ledgers import diagnosis_of

HEALTHY = FIXTURES / "captures/healthy-go1.27.3"
STEADY = HEALTHY / "2-steady"
PROFILES = FIXTURES / "profiles/go1.27.3"
STACK = smaps_entry(0x7FFC00000000, 0x7FFC00021000, path="[stack]", rss_kib=12)
BINARY = smaps_entry(0x400000, 0x500000, "r-xp", "/srv/app", rss_kib=1024)


def verdict(*paths, **more):
    capture = gomem.load(*paths)
    return gomem.diagnose(capture, **more).verdict


def sizes_of(sentence):
    """The amounts of memory in a sentence, in MiB."""
    return [round(part.value / MIB, 1) for part in sentence.of(Bytes)]


def values_of(sentence, kind):
    """What its parts of a kind stand for."""
    return [part.value for part in sentence.of(kind)]


@pytest.mark.parametrize("path", CAPTURES, ids=lambda path: path.name)
def test_nobody_meets_a_negative_number_or_more_than_the_whole(path):
    """
    But for what fell, in the sentence that says how far everything moved.
    """
    diagnosis = diagnosed(path)
    said = diagnosis.verdict
    moved = diagnosis.observations[0].sentence

    assert moved == said.moved or said.headline.startswith(moved)
    for text in (said.sentence.replace(moved, ""), *said.whose):
        assert not re.search(r"(?<!\w)[-\u2212]\d", text)
        shares = [float(share) for share in re.findall(r"([\d.]+) %", text)]
        assert all(share <= 100 for share in shares), text


def test_it_says_where_the_memory_is_and_what_moved_it_there():
    said = diagnosed(HEALTHY).verdict

    assert said.headline == (
        "RSS is 60 MiB at 3-later: 26 MiB live heap, 21 MiB allocated since the last GC."
    )
    assert [60.3, 26.3, 21.0, 6.5] == sizes_of(said.where)
    assert said.moved.startswith("RSS grew from 32 MiB at 1-start to 60 MiB in 14 s: ")
    assert [31.8, 60.3, 20.6, 6.5] == sizes_of(said.moved)
    assert "allocated since the last GC +21 MiB" in said.moved
    assert ("3-later", 63205376) == (said.moment, said.rss_bytes)
    holder, level = said.whose  # profiles that lag behind a level heap show no growth
    assert level.startswith("The live heap is level: 26 MiB to 27 MiB after the last 51 GCs ")
    assert "main.newSession" in values_of(holder, Function)


def test_rss_that_rose_and_has_stopped_is_healthy(tmp_path):
    """
    Three snapshots show that it stopped; two of them only that it rose.
    """
    for name in ("1-start", "3-later"):
        shutil.copytree(HEALTHY / name, tmp_path / name)

    stopped, rising = diagnosed(HEALTHY).verdict, verdict(tmp_path)

    assert (None, NOTHING_TO_DO) == (stopped.severity, stopped.next_step)
    assert (Severity.INFO, TAKE_ANOTHER) == (rising.severity, rising.next_step)
    assert stopped.code is rising.code is None
    assert rising.headline.startswith("RSS grew from 32 MiB at ")
    assert rising.where.startswith("RSS is 60 MiB at ")


@pytest.mark.parametrize(
    ("last_kib", "severity"),
    [
        pytest.param(12 * 1024 - 4, None, id="by-less-than-a-fifth"),
        pytest.param(12 * 1024, Severity.INFO, id="by-a-fifth"),
    ],
)
def test_a_fifth_is_where_growth_is_told(tmp_path, last_kib, severity):
    for moment, kib in (("1", 10 * 1024), ("2", last_kib)):
        (tmp_path / moment).mkdir()
        status = f"Name:\tapp\nState:\tS (sleeping)\nPid:\t1\nVmRSS:\t{kib} kB\n"
        (tmp_path / moment / "status").write_text(status)

    assert severity == gomem.diagnose(tmp_path).verdict.severity


STATUS = (
    "Name:\tapp\nPid:\t7\nVmRSS:\t   41370 kB\n"
    "RssAnon:\t   35218 kB\nRssFile:\t    6152 kB\nRssShmem:\t       0 kB\n"
)


def grown_from_status(folder, native_kib):
    """A status of 40 MiB, then mappings of which so much is not Go's."""
    for name in ("1", "2"):
        (folder / name).mkdir()
    (folder / "1/status").write_text(STATUS)
    (folder / "2/smaps").write_bytes(
        smaps_text(
            smaps_entry(0xC000000000, 0xC004000000, rss_kib=660),
            smaps_entry(0x7F0000000000, 0x7F0010000000, rss_kib=native_kib),
            STACK,
        )
    )
    return verdict(folder).sentence


def test_where_one_side_cannot_be_divided_nothing_small_is_named(tmp_path):
    """
    Status alone does not say how much is Go's heap, so how that changed nobody knows.
    """
    moved = grown_from_status(tmp_path, 60_000).partition("RSS grew from 40 MiB")[2]

    assert "to 59 MiB" in moved
    assert not any(
        word in moved.replace("outside Go", "") for word in ("Go", "heap", "GC", "stack")
    )


def test_what_was_not_there_in_a_small_rss_has_grown(tmp_path):
    """
    Of 40 MiB, 34 were anonymous: 104 of the 139 MiB that are not Go's now came since, at least.
    """
    moved = grown_from_status(tmp_path, 142_000).partition("RSS grew from 40 MiB")[2]

    assert "anonymous memory outside Go" in moved


def test_what_is_over_and_released_is_a_note_in_the_past():
    said = diagnosed(FIXTURES / "captures/cache-shrink-go1.27.3").verdict

    assert said.headline.startswith("RSS fell from 180 MiB at 1-filled to 17 MiB: ")
    assert all(words in said.found for words in ("151 MiB", "3-collected", "4-freed"))
    assert (Severity.INFO, "idle-heap-kept") == (said.severity, said.code)
    assert said.next_step.startswith("Nothing ")


def test_a_warning_is_the_headline_and_the_account_follows():
    diagnosis = diagnosed(FIXTURES / "captures/cache-shrink-go1.12.17")
    said = diagnosis.verdict

    assert Text(diagnosis.findings[0].title).sentence() == said.headline
    assert "161 MiB" in said.headline
    assert said.second.startswith("RSS is 184 MiB at 4-freed: 162 MiB free Go heap (88 %)")
    assert ("released-but-resident", "certain") == (said.code, said.confidence)
    assert Severity.WARNING == said.severity
    assert not said.found


def test_what_go_retains_beyond_rss_is_said_behind_it():
    said = diagnosed(FIXTURES / "captures/zeroing-go1.24.6").verdict

    assert "5.4 MiB Go heap (58 %)" in said.where
    beyond = (
        "Go retains 167 MiB of heap and stacks, including 164 MiB live heap. 162 MiB of the "
        "167 MiB is not in RSS."
    )
    assert said.where.endswith(beyond)


def test_against_a_baseline_it_says_what_moved_and_what_did_not():
    said = verdict(
        FIXTURES / "captures/zeroing-go1.24.2", baseline=FIXTURES / "captures/zeroing-go1.23.4"
    )

    assert ("untouched-now-resident", Severity.WARNING) == (said.code, said.severity)
    assert "161 MiB" in said.headline
    assert "167 MiB" in said.headline
    assert said.where.startswith("RSS is 170 MiB at 2-loaded: 164 MiB live heap (96 %)")
    assert said.moved.startswith("RSS grew from 9.2 MiB in the baseline to 170 MiB: ")
    assert "161 MiB more of the Go heap is resident" in said.moved
    assert "live heap +" not in said.moved


def test_the_file_that_most_is_mapped_of_is_named_without_its_folders(tmp_path):
    data = smaps_entry(0x7F0000000000, 0x7F0006000000, "r--s", "/srv/acme/users.db", rss_kib=60000)
    smaps = smaps_text(BINARY, data, STACK)

    said = diagnosis_of(tmp_path, smaps=smaps).verdict

    assert "59 MiB mapped files and shared memory (98 %, mostly users.db)" in said.where
    assert "acme" not in said.sentence


def test_large_blocks_beside_cs_heap_are_most_likely_mallocs(tmp_path):
    """
    malloc maps each piece of 128 KiB and more on its own: 111 MiB + 51 MiB are C's together.
    """
    heap = smaps_entry(0x1000000, 0x9000000, "rw-p", "[heap]", rss_kib=111 * 1024)
    block = smaps_entry(0x7F0000000000, 0x7F0004001000, rss_kib=51 * 1024)
    memstats = memstats_json(HeapSys=0, Sys=1)

    said = diagnosis_of(
        tmp_path, smaps=smaps_text(BINARY, heap, block, STACK), memstats_json=memstats
    ).verdict

    assert "162 MiB C and other native memory (99 %)." in said.where
    assert "51 MiB" in said.headline
    assert 1 == said.sentence.count("large blocks")


def test_blocks_that_have_not_mallocs_shape_are_no_blocks_of_mallocs(tmp_path):
    """
    A C library maps 51 MiB by itself, and C's heap is hardly in use.
    """
    heap = smaps_entry(0x1000000, 0x1021000, "rw-p", "[heap]", rss_kib=16)
    block = smaps_entry(0x7F0000000000, 0x7F0004000000, rss_kib=51 * 1024)
    memstats = memstats_json(HeapSys=0, Sys=1)

    said = diagnosis_of(
        tmp_path, smaps=smaps_text(BINARY, heap, block, STACK), memstats_json=memstats
    ).verdict

    assert "(98 %, mapped by the program or a library)" in said.sentence
    assert "malloc" not in said.sentence


SMAPS, MEMSTATS, HEAP = "cat /proc/PID/smaps", "memstats", "/debug/pprof/heap"
ALONE = [
    pytest.param(
        STEADY / "heap.pb.gz",
        r"The heap profile has 25 MiB of live objects \(95 % interval: 18 MiB to 32 MiB\)\. "
        r"Nearly all live bytes are from main\.newSession \(94 %\)",
        SMAPS,
        id="heap-profile",
    ),
    pytest.param(
        STEADY / "memstats.json",
        "Go retains 60 MiB: 40 MiB Go objects and garbage, 14 MiB free",
        SMAPS,
        id="memstats",
    ),
    pytest.param(
        STEADY / "metrics.json",
        "Go retains 60 MiB: 26 MiB live heap, 14 MiB free Go heap",
        SMAPS,
        id="metrics",
    ),
    pytest.param(
        STEADY / "smaps",
        r"RSS is 59 MiB: 53 MiB Go heap \(90 %\), 3\.4 MiB program text and data",
        MEMSTATS,
        id="smaps",
    ),
    pytest.param(
        STEADY / "status",
        r"RSS is 59 MiB: 57 MiB is anonymous memory, which no file breaks down\.",
        SMAPS,
        id="status",
    ),
    pytest.param(
        HEALTHY / "gctrace.log",
        r"54 GCs in 14 s: under 1 % of the CPU, longest pause 342 µs\. "
        r"The live heap is 26 MiB after the last GC and does not grow significantly\.",
        SMAPS,
        id="gctrace",
    ),
    pytest.param(
        PROFILES / "goroutine-a.pb.gz",
        r"6 goroutines; 4 wait in main\.wait\.",
        HEAP,
        id="goroutine-profile",
    ),
    pytest.param(
        PROFILES / "cpu-a.pb.gz",
        r"The CPU profile has 700 ms of CPU time: main\.mix 390 ms \(56 %\), main\.newNode",
        HEAP,
        id="cpu-profile",
    ),
    pytest.param(
        PROFILES / "block-a.pb.gz",
        r"The block profile has 320 ms of delay: main\.contend\.func1 236 ms",
        HEAP,
        id="block-profile",
    ),
    pytest.param(
        FIXTURES / "escapes/alloc-pressure-before-go1.27.3.m.txt",
        r"45 values escape to the heap at 40 places\.",
        "Add an allocs profile",
        id="escapes",
    ),
    pytest.param(
        FIXTURES / "maps/go1.26.8.txt",
        r"No file says how much memory is in use, or what uses the memory\.",
        "gomem capture PID",
        id="nothing-of-memory",
    ),
]


@pytest.mark.parametrize(("path", "headline", "next_step"), ALONE)
def test_a_file_alone_is_answered_with_what_it_can_tell(path, headline, next_step):
    """
    And with what to collect for the rest.
    """
    said = verdict(path)

    assert re.match(headline, said.sentence)
    assert next_step in said.next_step
    assert said.severity is None


def test_benchmarks_alone_are_counted(tmp_path):
    lines = [f"BenchmarkA-2\t100\t{ns} ns/op\n" for ns in (10, 11, 12)]
    (tmp_path / "bench.txt").write_text("goos: linux\n" + "".join(lines) + "PASS\n")

    said = verdict(tmp_path / "bench.txt")

    assert "1 benchmark, 3 results." == said.headline
    assert ["gomem compare BEFORE AFTER"] == values_of(said.next_step, Command)


def test_heap_profiles_alone_say_how_they_differ(tmp_path):
    for number, name in enumerate(("scrape-00", "scrape-16"), start=1):
        profile = FIXTURES / "captures/spiky-go1.27.3" / name / "heap.pb.gz"
        (tmp_path / str(number)).mkdir()
        shutil.copy(profile, tmp_path / str(number) / "heap.pb.gz")

    said = verdict(tmp_path)

    assert re.search(
        r"profile has .* of live objects \(.*\) at .*2, and .* at .*1\.", said.sentence
    )
    assert ["2", "1"] == values_of(said.where or said.headline, MomentName)


def test_nothing_is_said_to_move_from_one_process_to_another(tmp_path):
    """
    Before a restart and behind it, by the PID of /proc/PID/status.
    """
    for moment, pid, rss_kib in (("1", 7, 900_000), ("2", 8, 20_000), ("3", 8, 90_000)):
        (tmp_path / moment).mkdir()
        status = f"Name:\tx\nPid:\t{pid}\nVmRSS:\t{rss_kib} kB\nThreads:\t{pid}\n"
        (tmp_path / moment / "status").write_text(status)

    said = gomem.diagnose(tmp_path).verdict

    assert "RSS grew from 20 MiB at snapshot 2 to 88 MiB." == said.headline
    assert any("1 is of another process (PID 7, now 8)" in words for words in said.whose)
    assert "879 MiB" not in said.sentence


def test_a_finding_about_the_data_is_never_the_headline(tmp_path):
    shutil.copytree(HEALTHY, tmp_path / "c")
    (tmp_path / "c/1-start/memstats.json").write_bytes(b'{"HeapAlloc": 12, "HeapSys"')

    said = gomem.diagnose(tmp_path / "c").verdict

    assert said.headline.startswith("RSS grew from 32 MiB at 1-start to 60 MiB")
    assert said.where.startswith("RSS is 60 MiB at 3-later: ")
    assert (None, Severity.INFO) == (said.code, said.severity)
    assert "1 place could not be read" in said.further


def test_redacted_it_names_no_moment():
    said = report_json(diagnosed(HEALTHY), redact=True)["verdict"]

    assert "RSS is 60 MiB at moment-3: " in said["sentence"]
    assert "moment-1" in said["sentence"]
    assert not any(name in json.dumps(said) for name in ("3-later", "1-start"))


def test_a_file_that_looks_like_evidence_and_is_not_read_is_said(tmp_path):
    """
    A table beside the files that are read is what somebody wanted to know about.
    """
    shutil.copytree(STEADY, tmp_path / "capture")
    for name in ("a.txt", "b.txt", "c.txt"):
        (tmp_path / "capture" / name).write_text("-----------+------\n     bytes:  16B\n")
    (tmp_path / "capture" / "README.md").write_text("what this is\n")

    further = verdict(tmp_path / "capture").further

    assert "a.txt not read (what go tool pprof -traces printed of a profile)" in further
    assert "2 more files not read" in further
    assert "c.txt" not in further
    assert "README" not in further
    assert ["a.txt", "b.txt"] == values_of(further, File)


def test_without_a_size_of_the_process_a_note_that_holds_is_the_headline(tmp_path):
    """
    The pill says how sure the finding is; a profile's total below it is of something else.
    """
    stack = (
        "main.(*hub).stream(0xc000010000)\n\t/src/hub.go:7 +0x8f\n"
        "created by main.open\n\t/src/hub.go:3 +0x91\n\n"
    )
    dump = "".join(f"goroutine {n} [chan receive]:\n{stack}" for n in range(1, 4504, 3))
    (tmp_path / "goroutines.txt").write_text(dump)
    shutil.copy(PROFILES / "heap-a.pb.gz", tmp_path)

    verdict = gomem.diagnose(tmp_path).verdict

    assert ("goroutine-leak", "possible") == (verdict.code, verdict.confidence)
    assert verdict.headline.startswith("Goroutine leak: ")
    assert ["main.(*hub).stream", "main.open"] == values_of(verdict.headline, Function)
    assert verdict.where.startswith("The heap profile has ")


def test_a_note_that_holds_comes_before_a_total_that_was_stable():
    found = diagnosed(FIXTURES / "laboratory/captures/trailsd-g.tar.gz").verdict
    assert (found.code, found.severity) == ("long-pauses", Severity.INFO)
    assert found.headline.startswith("Long GC pauses: 19 ms on average")
    assert found.moved.startswith("RSS was stable at 161 MiB")


@pytest.mark.parametrize(("heap_alloc", "is_older"), [(1, True), (512 * MIB, False)])
def test_a_profile_that_has_more_than_the_heap_is_of_an_earlier_gc(heap_alloc, is_older, tmp_path):
    shutil.copy(PROFILES / "heap-a.pb.gz", tmp_path)
    stats = memstats_json(HeapAlloc=heap_alloc, HeapInuse=heap_alloc, HeapSys=heap_alloc, Sys=1)
    (tmp_path / "memstats-a.json").write_bytes(stats)

    found = verdict(tmp_path)
    told = (found.headline, found.where, *found.whose)
    said = [sentence for sentence in told if "of an earlier GC" in sentence]

    assert is_older == bool(said)
    assert not is_older or heap_alloc == said[0].of(Bytes)[-1].value
