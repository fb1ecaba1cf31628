"""What a text says in its own words, beside what a file of it shows."""

import pytest

import gomem
from gomem.errors import CaptureError

STATUS = "VmRSS:  3913900 kB\n"
KILLED = "14:25:27 api.service: Main process exited, code=killed, status=9/KILL\n"
OOM = (
    "Out of memory: Kill process 2523920 (api) score 444 or sacrifice child\n"
    "Killed process 2523920 (api) total-vm:15826948kB, anon-rss:14931252kB, file-rss:0kB, "
    "shmem-rss:0kB\n\n"
)
ONE = "goroutine 62912 [chan send, 1 minutes]:\nmain.relay.func1(0x1)\n\t/src/main.go:9 +0x8f\n"


def diagnosed(folder, text):
    path = folder / "ticket.txt"
    path.write_text(text)
    return gomem.diagnose(path)


@pytest.mark.parametrize("limit", ["MemoryMax=4G\n", "\n[Service]\nMemoryMax=4G\nRestart=always\n"])
@pytest.mark.parametrize("is_first", [True, False])
def test_the_limit_of_a_unit_stands_beside_rss(tmp_path, limit, is_first):
    found = diagnosed(tmp_path, limit + STATUS if is_first else STATUS + limit)

    assert "RSS is 93 % of MemoryMax=4G, the limit of the unit." in " ".join(found.verdict.whose)
    assert not found.capture.damaged


def test_a_size_above_the_limit_was_read_without_it(tmp_path):
    said = diagnosed(tmp_path, STATUS + "MemoryMax=2G\n").verdict.whose

    assert "RSS is more than MemoryMax=2G" in " ".join(said)


def test_kills_of_a_unit_are_counted(tmp_path):
    found = diagnosed(tmp_path, STATUS + "MemoryMax=4G\n" + 3 * KILLED)
    said = " ".join(found.verdict.whose)

    assert "api.service was ended by SIGKILL (3 times)" in said
    assert "at that limit" in said
    assert not found.capture.damaged


def test_a_log_of_kills_alone_is_known(tmp_path):
    with pytest.raises(CaptureError, match=r"api\.service was ended by SIGKILL \(2 times\)"):
        diagnosed(tmp_path, 2 * KILLED)


@pytest.mark.parametrize(
    "said",
    [
        "goroutines (2.7 millions)",
        "2.7 million goroutines",
        "goroutines count went from 6 up to 12585",
    ],
)
def test_goroutines_that_only_the_text_counts_are_told_as_its_words(tmp_path, said):
    verdict = diagnosed(
        tmp_path, f"{OOM}We can see that there are lots of {said}, all waiting.\n"
    ).verdict

    assert f"The text says: {said}." in verdict.whose
    assert "not used" not in verdict.further


def test_goroutines_of_an_excerpt_do_not_hide_the_number_in_the_text(tmp_path):
    found = diagnosed(tmp_path, f"It has 12585 goroutines now, and each one shows:\n\n{ONE}")

    assert "The text says: 12585 goroutines." in found.verdict.whose


def test_goroutines_that_a_file_counts_are_not_told_again(tmp_path):
    profile = "goroutine profile: total 3\n3 @ 0x43 0x44\n#\t0x43\tmain.f+0x1\t/src/a.go:3\n"
    words = f"It had 12585 goroutines yesterday, and now it shows:\n\n```\n{profile}```\n"
    verdict = diagnosed(tmp_path, words).verdict

    assert not any("12585" in words for words in verdict.whose)
    assert "12585 goroutines" in verdict.further


@pytest.mark.parametrize(
    ("now", "said"),
    [
        ("3913900 kB", "Before, it was 3903900 kB, says the text: a change of +9.8 MiB."),
        ("9 kB", ""),
    ],
)
def test_what_a_sentence_says_that_rss_was_is_another_reading(tmp_path, now, said):
    said_of_rss = f"It was 3903900 kB a minute after start and is {now} now. A leak of memory?"
    status = f"cat /proc/1/status\nVmHWM:\t3913900 kB\n{STATUS}Threads:\t5\n"
    sizes = "HeapAlloc=0.2 MB HeapInuse=0.7 MB HeapIdle=2.9 MB Sys=7.4 MB NumGC=0\n"
    found = diagnosed(tmp_path, f"{said_of_rss}\n\n{status}\n{sizes}")
    words = " ".join(found.verdict.whose)

    assert said in words
    assert bool(said) == ("says the text" in words)
    assert bool(said) == ("3903900 kB" not in found.verdict.further)


DUMP = (
    "```\nAlloc = 9 MiB\nHeapAlloc = 9 MiB\nHeapIdle = 270 MiB\nHeapInuse = 12 MiB\n"
    "HeapReleased = {released} MiB\nHeapSys = 282 MiB\nSys = 300 MiB\nNumGC = 40\n```\n"
)
PROFILE = (
    "```\nType: inuse_space\nShowing nodes accounting for 15MB, 100% of 15MB total\n"
    "      flat  flat%   sum%        cum   cum%\n"
    "      15MB   100%   100%       15MB   100%  main.fill\n```\n"
)


@pytest.mark.parametrize(
    ("sentence", "evidence", "said"),
    [
        ("RSS keeps ~310M all day.", DUMP.format(released=260), "about Sys (300 MiB)"),
        ("RSS keeps ~310M all day.", DUMP.format(released=260), "madvdontneed=1"),
        ("RSS keeps ~900M all day.", DUMP.format(released=260), "at most 40 MiB of it is Go's"),
        ("The RSS of my job went up to 1GB.", PROFILE, "as 1GB, 64 times the 15 MiB"),
    ],
)
def test_rss_in_a_sentence_is_compared_with_what_was_read(sentence, evidence, said, tmp_path):
    path = tmp_path / "ticket.md"
    path.write_text(f"Built with go1.14.2.\n\n{sentence}\n\n{evidence}")
    verdict = gomem.diagnose(path).verdict

    assert said in " ".join(map(str, verdict.whose))
    assert "not used" not in verdict.further


def test_rss_in_a_sentence_is_not_compared_with_a_profile_that_is_most_of_it(tmp_path):
    path = tmp_path / "ticket.md"
    path.write_text(f"The RSS of my job went up to 20MB.\n\n{PROFILE}")

    assert "The text gives RSS" not in " ".join(map(str, gomem.diagnose(path).verdict.whose))


def test_an_early_line_of_cockroach_stands_beside_what_malloc_has_in_use(tmp_path):
    found = diagnosed(
        tmp_path,
        "I160501 10:00:00.100000 server/status/runtime.go:144  runtime stats: 90 goroutines, "
        "14.50MiB active, 120.00cgo/sec, 0.10/0.02 %(u/s)time, 0.00 %gc (3x)\n"
        "I160501 10:00:00.200000 server/status/linuxstats.go:56  mallinfo stats: ordblks=2.0 KiB, "
        "hblkhd=0 B, uordblks=640 MiB, fordblks=70 MiB\n",
    )

    assert "HeapAlloc is 14 MiB" in found.verdict.headline
    assert "malloc has 640 MiB in use by mallinfo" in " ".join(map(str, found.verdict.whose))


def test_a_cgroup_whose_peak_is_its_limit_has_been_full(tmp_path):
    found = diagnosed(
        tmp_path,
        "$ cat memory.usage_in_bytes\n99614720\n$ cat memory.max_usage_in_bytes\n104861696\n"
        "$ cat memory.limit_in_bytes\n104857600\n",
    )

    assert "The cgroup has been full, by its peak: it uses 95 %" in found.verdict.headline


def test_rss_of_a_table_is_a_share_of_the_machine(tmp_path):
    found = diagnosed(
        tmp_path,
        "```\n$ free -h\n        total   used   free  shared  buff/cache  available\n"
        "Mem:     60Gi   48Gi  1.0Gi    26Mi        11Gi       11Gi\n"
        "```\n\n```\nUSER PID %CPU %MEM VSZ RSS TTY STAT START TIME COMMAND\n"
        "root 96 7.6 63.1 50808908 31457280 ? Ssl Mar05 16:51 /usr/local/bin/agentd\n```\n",
    )

    assert "RSS is 50 % of the machine's 60 GiB." in " ".join(map(str, found.verdict.whose))


def test_a_size_in_a_sentence_that_a_finding_tells_is_used(tmp_path):
    described = "    Reason: OOMKilled\n    Restart Count: 4\n    Limits:\n      memory: 96Mi\n"
    text = (
        f"The pod was killed:\n\n```\n{described}```\n\nWe raise its memory from 96Mi to 300Mi.\n"
    )
    (tmp_path / "issue.md").write_text(text)

    verdict = gomem.diagnose(tmp_path / "issue.md").verdict

    assert "300Mi" in verdict.further
    assert "96Mi, " not in verdict.further.partition("not used")[2]


BENCHMARKED = (
    "The number misleads:\n\n```\nBenchmarkOpen-8   5   270151736 ns/op   141552542 B/op   24019 "
    "allocs/op\n```\n\nWhat a load costs:\n\n| | 8.2 MB file | 99.1 MB |\n|---|---|---|\n"
    "| Go heap | 23.6 MB | 23.7 MB |\n| RSS | 60.2 MB | 290.6 MB |\n\n"
    "The heap is 24 MB for a file of 8 MB of memory, and RSS went from 60 MB to 291 MB.\n"
)


def test_a_table_of_sizes_beside_a_report_is_told_with_its_columns(tmp_path):
    (tmp_path / "a.md").write_text(BENCHMARKED)

    verdict = gomem.diagnose(tmp_path / "a.md").verdict

    words = " ".join(verdict.whose)
    assert (
        "The text has a table of sizes: Go heap 23.6 MB (8.2 MB file), 23.7 MB (99.1 MB)" in words
    )
    assert "RSS 60.2 MB (8.2 MB file), 290.6 MB (99.1 MB)." in words
    assert "not used" not in verdict.further  # 24 MB is 23.6 MB


def test_a_size_written_again_with_fewer_digits_is_one(tmp_path):
    (tmp_path / "a.md").write_text(
        "It has 419.39 MiB of memory, ~420 MiB, and 88 MB of memory; 88 MB is odd.\n\n"
        "```\nHeapAlloc: 5 MiB\nHeapSys: 9 MiB\n```\n"
    )

    assert ("419.39 MiB", "88 MB") == gomem.diagnose(tmp_path / "a.md").capture.unused_sizes


LOG_OF_GO = "% GODEBUG='gctrace=1' go test\n" + "".join(
    f"{above}gc {n} @{at}s 2%: 0.01+0.6+0.01+0.8+0.2 ms clock, 0.01+0.6+0+0/0.7/0+0.2 ms cpu, "
    "4->4->1 MB, 4 MB goal, 1 P\n"
    for above, n, at in (("", 1, 0.211), ("", 2, 0.752), ("# sort\n", 1, 0.121), ("", 2, 0.303))
)


def test_gcs_below_the_name_of_a_package_are_of_the_compiler(tmp_path):
    (tmp_path / "a.log").write_text(LOG_OF_GO)
    (tmp_path / "b.log").write_text(LOG_OF_GO.replace("# sort\n", ""))

    said = [gomem.diagnose(tmp_path / name).verdict.sentence for name in ("a.log", "b.log")]

    assert ["The GCs below # sort are of Go's compiler" in words for words in said] == [True, False]


@pytest.mark.parametrize("system", ["Plan 9", "Windows"])
def test_no_step_asks_for_linux_files_where_the_text_names_another_system(tmp_path, system):
    (tmp_path / "a.md").write_text(f"The {system} builder fails:\n\n```\n{LOG_OF_GO}```\n")

    assert "smaps" not in gomem.diagnose(tmp_path / "a.md").verdict.next_step
