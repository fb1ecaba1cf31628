"""What is said of forms that people paste: old releases, rounded numbers, runs, excerpts."""

import re

import pytest

from gomem.capture.load import load
from gomem.diagnosis.diagnosis import diagnose
from gomem.errors import CaptureError
from gomem.inputs.environ.parse import settings_in_commands
from gomem.inputs.kinds import kind_of
from tests.builders import FIXTURES, as_text

FORMS = FIXTURES / "pasted" / "forms"
LOG = (
    "gc 12 @10.345s 6%: 0.18+0.87+0.004 ms clock, 1.4+0.3/0.7/0.1+0.03 ms cpu, "
    "120->121->60 MB, 300 MB goal, 8 P\n"
    "gc 13 @11.345s 6%: 0.18+0.87+0.004 ms clock, 1.4+0.3/0.7/0.1+0.03 ms cpu, "
    "290->291->70 MB, 300 MB goal, 8 P\n"
)
TABLE = (
    "Showing nodes accounting for 120.50MB, 60.25% of 200MB total\n"
    "      flat  flat%   sum%        cum   cum%\n"
    "  120.50MB 60.25% 60.25%   120.50MB 60.25%  kv.(*Store).Put\n"
)
USAGE = "Alloc = {} MiB\tTotalAlloc = {} MiB\tSys = 700 MiB\tNumGC = {}\n"


@pytest.fixture
def paste(tmp_path):
    """A text as a file, loaded."""

    def written(text, name="ticket.md"):
        (tmp_path / name).write_text(text)
        return load(tmp_path / name)

    return written


def said(capture):
    verdict = diagnose(capture).verdict
    words = " ".join([str(verdict.sentence), *map(str, verdict.whose)])
    return words.replace("\u202f", " ")


def runs_of(bench):
    return set(bench.config.loc[bench.config["key"] == "run", "value"])


def refusal(paste, text):
    with pytest.raises(CaptureError) as refused:
        paste(text)
    return str(refused.value)


# Go before 1.5


def test_a_gc_trace_of_an_old_release_is_named_where_a_scavenger_line_is_read():
    capture = load(FORMS / "gctrace-go1.3.txt")

    assert "3 lines of the log are a GC trace of Go 1.4 or older" in said(capture)
    assert 3 == capture.gc.old_lines
    assert 1 == len(capture.gc.scavenges)


@pytest.mark.parametrize("prefix", ["", "\t", "2014/08/20 10:00:01 "])
def test_a_gc_trace_of_an_old_release_alone_is_named(prefix, paste):
    lines = (FORMS / "gctrace-go1.0.txt").read_text().splitlines()

    assert "a gctrace log of Go 1.4 or older" in refusal(
        paste, "".join(f"{prefix}{line}\n" for line in lines)
    )


def test_a_list_of_an_old_release_has_one_unit_for_all():
    profile = load(FORMS / "list-go1.3.txt").files[0].parsed

    assert 512 == profile.total("space") >> 20
    put = profile.top_rows("space")
    assert ["kv.(*Store).Put"] == list(put.function)
    assert 120 == put.flat[0] >> 20
    assert 300 == put.cum[0] >> 20


# Runs


@pytest.mark.parametrize(
    ("name", "runs"),
    [
        ("benchmarks-in-fences.md", {"Before", "After"}),
        ("benchmarks-in-bold.md", {"master", "this PR"}),
    ],
)
def test_two_runs_of_benchmarks_are_two_and_have_their_headings(name, runs):
    capture = load(FORMS / name)
    (bench,) = capture.bench.values()

    assert runs == runs_of(bench)
    assert "several runs" in said(capture)


def test_a_heading_of_words_alone_below_a_blank_line_tells_runs_apart(paste):
    row = "BenchmarkAdd  1000000  {} ns/op\n"
    capture = paste(f"old allocs\n\n{row.format(3002)}\nnew allocs\n\n{row.format(2551)}")
    (bench,) = capture.bench.values()

    assert {"old allocs", "new allocs"} == runs_of(bench)


def test_a_log_line_between_repeated_results_is_no_heading(paste):
    row = "BenchmarkAdd  1000000  {} ns/op\n"
    capture = paste(f"{row.format(3002)}now connected\n{row.format(2551)}", "bench.txt")
    (bench,) = capture.bench.values()

    assert "run" not in bench.told_apart


# Numbers


def test_nothing_in_a_rounded_unit_is_less_than_that_unit(paste):
    capture = paste(USAGE.format(0, 0, 0) + USAGE.format(0, 3, 1))

    assert "under 1 MiB" in said(capture)
    assert "0 B" not in said(capture)


def test_one_reading_of_memstats_is_no_verdict_and_says_so(paste):
    assert "One reading does not show whether memory grows." in said(paste(USAGE.format(5, 6, 3)))


def test_two_readings_say_no_such_thing(paste):
    capture = paste(USAGE.format(5, 6, 3) + USAGE.format(6, 9, 4))

    assert "One reading" not in said(capture)


@pytest.mark.parametrize(
    "text", ["HeapAlloc=536870912\n", "10:01:02 HeapAlloc=536870912 HeapObjects=123456\n"]
)
def test_a_size_of_the_heap_alone_is_enough(text, paste):
    assert "HeapAlloc is 512 MiB" in said(paste(text))


def test_a_size_in_a_sentence_is_not(paste):
    refusal(paste, "We once saw that the value of HeapAlloc=536870912 was far too high for us.\n")


def test_earlier_readings_beside_another_paste_are_said(paste):
    readings = "".join(
        USAGE.format(*row) for row in ((100, 900, 30), (200, 1900, 33), (300, 2900, 36))
    )
    capture = paste(f"```\n{TABLE}```\nand the readings\n```\n{readings}```\n")

    assert "HeapAlloc is 300 MiB" in said(capture)
    assert "2 earlier readings: HeapAlloc went from 100 MiB to 200 MiB" in said(capture)


def test_what_is_pasted_below_readings_is_of_their_end(paste):
    readings = "".join(
        USAGE.format(*row) for row in ((100, 900, 30), (200, 1900, 33), (300, 2900, 36))
    )
    capture = paste(f"```\n{readings}```\nand the profile\n```\n{TABLE}```\n")

    assert "HeapAlloc went from 100 MiB" in said(capture)
    kinds = {file.kind.name for file in [*capture.values()][-1].artefacts}
    assert {"memstats", "pprof_text"} == kinds


def test_a_record_with_petabytes_allocated_keeps_what_is_in_use():
    capture = load(FORMS / "heap-record.txt")

    assert "456 MiB" in said(capture)
    assert "main.buffer" in said(capture)


# Processes


def test_tasks_below_headings_of_the_kernels_are_of_one_kill():
    capture = load(FORMS / "oom-split.txt")

    assert [1201, 1300] == list(capture.processes["pid"])
    assert [] == list(capture.damaged)


@pytest.mark.parametrize("head", ["", "[ pid ]   uid  tgid total_vm      rss nr_ptes swap\n"])
def test_tasks_without_their_head_or_with_a_cut_one_are_known_by_shape(head, paste):
    rows = (
        "[ 1201]  0  1201  3512  412  12  0  0 bash\n[ 1300] 1000 1300 99 12345 9 0 -998 server\n"
    )
    capture = paste(f"{head}{rows}", "dmesg.txt")

    assert ["bash", "server"] == list(capture.processes["name"])
    assert [412 * 4096, 12345 * 4096] == list(capture.processes["rss_bytes"])


def test_an_oom_head_alone_is_named(paste):
    text = "server invoked oom-killer: gfp_mask=0xd0, order=0, oom_score_adj=0\n"

    assert "without a process or its size" in refusal(paste, text)


def test_threads_below_a_process_are_no_damage():
    capture = load(FORMS / "ps-auxm.txt")

    assert [2123456 << 10] == list(capture.processes["rss_bytes"])
    assert [] == list(capture.damaged)


@pytest.mark.parametrize("limit", ["***", "xxxGiB", "<redacted>"])
def test_a_limit_that_is_masked_is_unknown(limit, paste):
    capture = paste(
        "CONTAINER ID   NAME   CPU %   MEM USAGE / LIMIT   MEM %   PIDS\n"
        f"8f1f1a2b3c4d   shop   1.40%   1.62GiB / {limit}   81.00%  21\n"
    )

    assert "The working set is 1.62 GiB" in said(capture)
    assert capture.processes["limit_bytes"].isna().all()


def test_a_container_beside_a_table_of_pprof_is_said(paste):
    pods = "NAME     CPU(cores)   MEMORY(bytes)\nserver   120m         1843Mi\n"
    capture = paste(f"kubectl top says\n```\n{pods}```\nand\n```\n{TABLE}```\n")

    assert "kv.(*Store).Put (60 %)" in said(capture)
    assert "The working set is 1.8 GiB" in said(capture)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        (" 1300 2123456 /app/server --flag\n", "rows of processes without the line that names"),
        ("LazyFree:     512000 kB\nLazyFree:   0 kB\n", "LazyFree lines of smaps without the rest"),
    ],
)
def test_what_lacks_its_head_is_named(text, named, paste):
    assert named in refusal(paste, text)


@pytest.mark.parametrize(
    "text",
    [
        "It has total_rss 2123456512 and total_cache 3123456512 with a limit of 8GiB.\n",
        "memory.stat shows:\ntotal_cache 3123456512\ntotal_rss 2123456512\n",
    ],
)
def test_sums_of_memory_stat_are_read_in_prose(text, paste):
    assert "The cgroup's processes use 1.98 GiB of anonymous memory" in said(paste(text))


# Goroutines


def test_what_delve_lists_are_goroutines():
    capture = load(FORMS / "delve.txt")

    # One of the five waits in `force gc (idle)`, as only one of the runtime's own does.
    assert "4 goroutines; 3 wait in main.send" in said(capture)
    assert [] == list(capture.damaged)


def test_delve_with_stacks_has_them_and_says_what_is_missing():
    capture = load(FORMS / "delve-stacks.txt")

    (stack,) = capture.goroutine_stacks["stack"]
    assert "runtime.gopark;runtime.chansend;main.send" == stack
    assert ["main.send", 12] in capture.goroutine_positions[
        ["function", "line"]
    ].to_numpy().tolist()
    assert ["an excerpt: it has 1 goroutines, and says that there are 2"] == [
        str(fault.what) for fault in capture.damaged
    ]


@pytest.mark.parametrize("name", ["index.txt", "index.html"])
def test_the_page_of_all_profiles_says_how_many_goroutines_there_are(name):
    assert "The process has 5 321 goroutines." in said(load(FORMS / name))


def test_a_table_that_ends_in_gopark_counts_goroutines(paste):
    capture = paste(
        "      flat  flat%   sum%        cum   cum%\n"
        "      5300 99.60% 99.60%       5300 99.60%  runtime.gopark\n"
        "         1 0.019% 99.62%       5200 97.72%  main.(*worker).run\n"
    )

    assert "5 301 goroutines. main.(*worker).run and its callees have 98 %." in said(capture)


def test_stacks_that_end_where_the_runtime_parks_say_no_place(paste):
    record = "{} @ 0x43a5f6 0x46a0c1\n#\t0x43a5f5\truntime.gopark+0xd5\t/go/proc.go:398\n\n"
    capture = paste(f"goroutine profile: total 3\n{record.format(2)}{record.format(1)}")

    assert "no stack says where a goroutine waits" in said(capture)


# A log's command


def test_the_command_above_a_log_says_its_settings(paste):
    capture = paste(f"$ GOGC=400 GODEBUG=gctrace=1 ./server\n{LOG}")

    (environ,) = capture.environs.values()
    assert {"GOGC": "400", "GODEBUG": "gctrace=1"} == environ.variables
    gogc = diagnose(capture).facts.settings.gogc
    assert ("environment", 4.0) == (gogc.known_by, gogc.value)


@pytest.mark.parametrize(
    ("command", "settings"),
    [
        ("$ GOGC=400 ./a", {"GOGC": "400"}),
        ("root@host:~# env GOMEMLIMIT=1GiB GOGC=off ./a", {"GOMEMLIMIT": "1GiB", "GOGC": "off"}),
        ("$ GOGC=400 ./a\n$ GOGC=50 ./b", {}),
        ("level=info GOGC=400", {}),
        ("GOMEMLIMIT=100MiB GOMAXPROCS=2\n", {"GOMEMLIMIT": "100MiB", "GOMAXPROCS": "2"}),
        ("export GOGC=50", {"GOGC": "50"}),
        ("  Environment=GOGC=50 GOMAXPROCS=2", {"GOGC": "50", "GOMAXPROCS": "2"}),
        ('Environment="GOGC=50"', {"GOGC": "50"}),
        ("we set GOGC=50", {}),
    ],
)
def test_settings_are_those_before_a_program_or_alone(command, settings):
    assert settings == settings_in_commands(command.encode())


# Lists of names


def test_lists_of_names_are_readings_without_a_time(paste):
    capture = paste(
        "After a restart:\n\ngo_goroutines: 12000\n- RSS: 500 MB\n\n"
        "After roughly 2 days:\n\n* **go_goroutines:** 230000\n* RSS: `3 GB`\n"
    )

    assert [12000, 230000] == [facts.goroutine_count for facts in diagnose(capture).facts.moments]
    assert [5 * 10**8, 3 * 10**9] == [facts.rss_bytes for facts in diagnose(capture).facts.moments]


@pytest.mark.parametrize(
    "text",
    [
        "RSS: 500 MB\n",  # a sentence says no less
        "Goroutines: 12\nThreads: 4\n",
        "Time: 12\nRSS: 500 MB\n",
        "RSS: 500 MB\nRSS: 600 MB\n",
    ],
)
def test_what_may_be_of_anything_is_no_list(text):
    assert kind_of(text.encode()) is None


@pytest.mark.parametrize("text", ["RSS: 1.75 GiB\n{}", "{}RSS: 1.75 GiB\n", "{}- RSS = 1.75GiB\n"])
def test_rss_in_a_line_next_to_memstats_is_of_the_same_reading(text, paste):
    capture = paste(text.format("HeapAlloc: 1.25 GiB\n"))

    (facts,) = diagnose(capture).facts.moments
    assert (7 << 28, 5 << 28) == (facts.rss_bytes, int(capture.memstats["HeapAlloc"].iloc[0]))


# What is seen and not used


def test_sizes_in_sentences_are_named_as_not_used(paste):
    usage = USAGE.format(5, 6, 3)
    capture = paste(
        f"The RSS of the pod is 1.2 GB and its limit 2Gi.\n\n```\n{usage}```\n"
        "We download 3 MB/s of files of 500 MB.\n"
    )

    assert ("1.2 GB", "2Gi") == capture.unused_sizes
    assert "2 sizes in the text not used (1.2 GB, 2Gi)" in diagnose(capture).verdict.further


@pytest.mark.parametrize(
    ("sentence", "sizes"),
    [
        ("The profile shows that Go keeps only 1480MB of memory, and 4-5GB are elsewhere.", 2),
        ("Its usage before was about 90 mb:", 1),
        ("It is killed by the OOM killer long before it gets to 320Mb, I think.", 1),
        ("Our disk usage is 900 GB of 2000 GB, as it has been since the start.", 0),
    ],
)
def test_sentences_with_long_numbers_and_other_words_are_read_for_sizes(sentence, sizes, paste):
    capture = paste(f"{sentence}\n\n```\n{USAGE.format(5, 6, 3)}```\n")

    assert sizes == len(capture.unused_sizes)


@pytest.mark.parametrize(
    "statement",
    [
        "RSS 3.9GB",
        "RSS is 3.9GB",
        "**Current memory usage:** 3.9GB",
        "The working set is 3.9GB",
        "container_memory_working_set_bytes 3.9GB",
        "The pod uses 3.9GB now",
    ],
)
def test_a_size_of_the_process_is_named_in_whatever_words(statement, paste):
    assert ("3.9GB",) == paste(f"{statement}\n```\n{USAGE.format(5, 6, 3)}```\n").unused_sizes


@pytest.mark.parametrize(
    "statement", ["Its memory usage is 5.0 MiB", "RSS by ps is 69 MB", "It says 5 MiB of heap."]
)
def test_a_size_that_was_read_is_not_named_as_not_used(statement, paste):
    text = f"{statement}\n```\n{USAGE.format(5, 6, 3)}```\n\n```\nVmRSS:   71000 kB\n```\n"

    assert () == paste(text).unused_sizes


@pytest.mark.parametrize(
    ("sentence", "named"),
    [
        ("There are 2.7 million goroutines in it.", "2.7 million goroutines"),
        ("It went from 6 up to 12585 goroutines.", "from 6 up to 12585 goroutines"),
        ("We see lots of goroutines (2.7 millions) in it.", "goroutines (2.7 millions)"),
        (
            "The goroutines count went from 6 up to 12585 in a day.",
            "goroutines count went from 6 up to 12585",
        ),
        ("The number of goroutines is 12,585 at the end.", "number of goroutines is 12,585"),
        ("There are 12k blocked goroutines in it.", "12k blocked goroutines"),
        ("The goroutines went from 3 to 5 minutes of waiting.", None),
    ],
)
def test_a_count_of_goroutines_is_named_in_whatever_words(sentence, named, paste):
    said = paste(f"{sentence}\n\n```\n{TABLE}```\n").unused_counts

    assert (() if named is None else (named,)) == said


def test_a_count_of_goroutines_that_was_read_is_not_named_as_not_used(paste):
    profile = (
        "goroutine profile: total 4103\n4103 @ 0x43c7f6\n#\t0x43c7f5\tmain.wait+0x1\t/a.go:1\n"
    )
    sentence = "The service has 4,103 goroutines, and 12 workers are 12 goroutines."
    text = f"{sentence}\n\n```\n{profile}```\n"

    assert ("12 goroutines",) == paste(text).unused_counts


def test_goroutines_counted_in_a_sentence_are_said_where_no_file_counts_them(paste):
    capture = paste(
        f"And after an hour the server has 1200345 coroutines, so it is slow.\n\n```\n{TABLE}```\n"
    )

    assert "The text says: 1200345 coroutines." in diagnose(capture).verdict.whose


KILL = (
    "[310.1] Memory cgroup out of memory: Killed process 31 (shop) total-vm:900000kB, "
    "anon-rss:850000kB, file-rss:4kB, shmem-rss:0kB, UID:0 pgtables:80kB oom_score_adj:1000\n"
)


@pytest.mark.parametrize("text", [LOG, USAGE.format(5, 6, 3), TABLE, KILL])
def test_evidence_itself_has_no_sentences(text, paste):
    assert () == paste(text).unused_sizes


@pytest.mark.parametrize("lead", ["", "Here is what it allocates now, by our benchmark.\n\n"])
def test_a_comparison_beside_results_is_named_with_what_it_says(paste, lead):
    table = (FIXTURES / "pasted" / "benchstat" / "benchstat-v1.txt").read_text()
    row = "BenchmarkLoad-8   460840   63.0 ns/op   72 B/op   1 allocs/op\n"

    capture = paste(
        f"{lead}{row}\nThey can be compared, and this is how it was before that.\n\n{table}"
    )

    assert 1 == len(next(iter(capture.bench.values())).results["name"].unique())
    assert "not read (a table of benchstat, which says: " in diagnose(capture).verdict.further


def test_one_result_of_a_benchmark_asks_where_it_allocates(paste):
    capture = paste("BenchmarkLoad-8   460840   63.0 ns/op   72 B/op   1 allocs/op\n")

    assert "-memprofile mem.pb.gz" in diagnose(capture).verdict.next_step


def test_a_page_of_metrics_says_how_many_goroutines_and_collections(paste):
    page = (
        'go_gc_duration_seconds{quantile="0"} 1.6e-05\ngo_gc_duration_seconds_sum 0.04\n'
        "go_gc_duration_seconds_count 261\ngo_goroutines 345\n"
        "go_memstats_alloc_bytes 5.47048312e+08\n"
    )

    assert "has 345 goroutines and has run 261 GCs." in said(paste(page, "page.prom"))


def test_a_sentence_between_results_names_no_run(paste):
    row = "BenchmarkLoad-8   46   63.0 ns/op   {} B/op   10 allocs/op\n"
    prose = "Parsing is still slow\n\nI rewrote the reader and measured it again.\n"

    capture = paste(f"# Slow\n```\n{row.format(1000)}```\n\n{prose}```\n{row.format(400)}```\n")

    (bench,) = capture.bench.values()
    assert {"1", "2"} == runs_of(bench)
    words = "From the first run to the second, of one result each: Load B/op \u221260 %."
    assert words in said(capture)


@pytest.mark.parametrize("bars", [False, True], ids=["aligned", "with outer bars"])
def test_a_markdown_table_of_benchcmp_says_what_changed(paste, bars):
    rows = (
        "benchmark | old bytes | new bytes | delta", "--- | --- | --- | ---",
        "BenchmarkLoad | 90 | 45 | -50.00%", "BenchmarkSave | 10 | 10 | +0.00%",
    )  # fmt: skip
    table = "".join(f"| {row} |\n" if bars else f"{row}\n" for row in rows)

    refused = refusal(paste, f"Old against new:\n\n{table}")

    assert "a table of benchcmp, which says: BenchmarkLoad bytes -50.00 % (90 to 45);" in refused


def test_two_runs_in_one_text_say_what_changed_most_by_medians(paste):
    row = "BenchmarkLoad-8   46   63.0 ns/op   {} B/op   10 allocs/op\n"
    before = row.format(1000) + row.format(1010) + row.format(4000)
    after = row.format(505) * 3

    capture = paste(f"## Before\n```\n{before}```\n## After\n```\n{after}```\n")

    words = "From Before to After, by medians: Load B/op \u221250 %."
    assert words in said(capture)


# Containers

PODS = (
    "{}NAME     CPU(cores)   MEMORY(bytes)\nkv-0     3m           {}Mi\n"
    "kv-1     2m           90Mi\n"
)


@pytest.mark.parametrize("prompt", ["$ kubectl top pods\n", "\u276f kubectl top pods\n", "\n"])
def test_a_command_that_is_repeated_is_a_series(prompt, paste):
    capture = paste("".join(PODS.format(prompt, size) for size in (120, 260, 210)))

    told, diagnosis = said(capture), diagnose(capture)
    shown = as_text(diagnosis)
    sizes = diagnosis.facts.container_sizes.set_index("name")["highest_bytes"]
    assert {"kv-0": 260 << 20, "kv-1": 90 << 20} == sizes.to_dict()
    assert "The working set is 210 MiB" in told
    assert "120 MiB in the first of 3 readings, highest 260 MiB" in told
    assert re.search(r"kv-0 +120 MiB +210 MiB +260 MiB +3\n", shown)
    assert re.search(r"kv-1 +90.0 MiB +90.0 MiB +90.0 MiB +3\n", shown)
    assert not capture.damaged


def test_containers_of_one_name_and_other_ids_are_of_two_hosts(paste):
    head = "CONTAINER ID   NAME   CPU %   MEM USAGE / LIMIT   MEM %\n"
    row = "{}   {}   0.01%   {}MiB / 900MiB   5.00%\n"
    here = row.format("1f2e3d4c5b6a", "kv-1", 40) + row.format("2f2e3d4c5b6a", "web-1", 300)
    there = row.format("3f2e3d4c5b6a", "kv-1", 500) + row.format("4f2e3d4c5b6a", "web-1", 301)

    told = said(paste(f"{head}{here}\n{head}{there}"))

    assert "500 MiB" in told
    assert "the largest of 4 containers" in told
    assert "reading" not in told


# Tables that are named, not read


def test_a_table_of_benchstat_at_once_below_the_results_is_named(paste):
    capture = paste(
        "goos: linux\npkg: kv/store\nBenchmarkPut-4  200  5100000 ns/op  64 B/op  2 allocs/op\n"
        "PASS\nok  kv/store  2.5s\ngoos: linux\npkg: kv/store\n"
        "      │  old.txt  │            new.txt            │\n"
        "      │  sec/op   │   sec/op     vs base          │\n"
        "Put-4   7.1m ± 2%   5.1m ± 1%   -28.17% (p=0.002 n=6)\n"
    )

    assert "a table of benchstat, which says: Put-4 sec/op -28.17 %" in str(
        diagnose(capture).verdict.further
    )
