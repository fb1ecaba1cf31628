"""What a refusal says of a text that names sizes or processes, and the next command."""

import pytest

import gomem
from gomem.inputs.looks_like import looks_like
from gomem.inputs.mentions import mentioned


@pytest.mark.parametrize(
    ("text", "said", "command"),
    [
        pytest.param(
            b"  371 app       812m S    /opt/api -v\n   12 root      1040 S    init\n",
            "(/opt/api has 812m)", "grep VmRSS /proc/371/status", id="busybox ps",
        ),
        pytest.param(
            b"  PID  PPID USER     STAT   VSZ %VSZ %CPU COMMAND\n"
            b"  371     1 app      S     812m  81%   0% /opt/api -v\n",
            "(/opt/api has 812m)", "gomem capture 371 -o DIR", id="busybox top",
        ),
        pytest.param(
            b"  PID  PPID USER     STAT   VSZ %VSZ CPU %CPU COMMAND\n"
            b"  371     1 app      S    17.7g  81%   3   0% /opt/api -v\n"
            b"   12     1 app      S     1640   0%   3   0% sh\n",
            "(/opt/api has 17.7g)", "gomem capture 371 -o DIR", id="busybox top, a fraction",
        ),
        pytest.param(b"threads=4\nVSZ=650m\n", "VSZ 650m", "VmRSS", id="a setting"),
        pytest.param(
            b'level=info msg="Memory: 9 samples, avg is 32.6MB, max is 136.2MB"\n',
            "(32.6MB, 136.2MB)", "gomem capture PID", id="a log",
        ),
        pytest.param(b"| 8MB cache | 33.1 MB | 4 |\n", "(8MB, 33.1 MB)", "capture", id="cells"),
        pytest.param(
            b"evict. Allocated MB: 10310\nfatal error: runtime: out of memory\n",
            "ran out of memory, and names MB: 10310", "--every 10s", id="a crash",
        ),
        pytest.param(
            b"```\n$ grep -i vm /proc/3/status\nVmPeak:\t 18676 kB\nVmSize:\t 18676 kB\n```\n",
            "VmPeak 18676 kB, VmSize 18676 kB, which is address space", "VmRSS",
            id="status without RSS",
        ),
        pytest.param(
            b'$ curl -s a:9 | jq\n{\n "up": 9,\n "usedMemory": 2.5,\n "totalAlloc": 93.6\n}\n',
            "(usedMemory 2.5, totalAlloc 93.6), whose unit is unknown; a total like totalAlloc",
            "/debug/vars", id="a program's own JSON",
        ),
        pytest.param(
            b'$ curl -s a:9 | jq\n{\n "up": 9,\n "usedMemory_kilobytes": 4500\n}\n',
            "own sizes (usedMemory_kilobytes 4500)", "gomem capture PID", id="with its unit",
        ),
        pytest.param(
            b"Before:\n\n1000 5000 ns/op 200 B/op 8 allocs/op\n\n"
            b"After:\n\n2000 4000 ns/op 100 B/op 6 allocs/op\n",
            "from the first to the second: ns/op -20.0 %, B/op -50.0 %, allocs/op -25.0 %",
            "gomem compare", id="results without names",
        ),
        pytest.param(
            b"4000 ns/op 100 B/op 6 allocs/op\n" * 3,
            "3 results of benchmarks without their names", "gomem compare", id="three results",
        ),
        pytest.param(
            b"goroutine NNN [chan send, 49 minutes]:\n 305 chan send  <- all\n  48 select\n",
            "305 in chan send, 48 in select", "goroutine?debug=2", id="goroutines by state",
        ),
    ],
)  # fmt: skip
def test_a_document_says_what_it_names_and_the_next_command(text, said, command):
    seen = looks_like(b"My program uses too much.\n\n" + text, "issue.md")

    assert "a document in Markdown" in seen.what
    assert said in seen.what
    assert command in seen.way_out
    assert "My program uses too much." == seen.text


def test_a_text_that_names_nothing_has_no_mention():
    assert mentioned(b"It is slow, 4 times a day, since version 1.2.3.\n") is None


@pytest.mark.parametrize("fence", [b"```\n", b"~~~\n", b"```go\n\n"])
def test_the_line_that_is_quoted_has_content(fence):
    assert "how it began" == looks_like(fence + b"how it began\n```\n", "issue.md").text


def test_a_goroutine_profile_in_bold_over_several_lines_is_read(tmp_path):
    text = (
        "I see these when I ask for goroutines -\n**goroutine profile: total 4\n"
        "4 @ 0x1032760 0x105fc71\n#\t0x105fc70\tmain.poll+0x99\t/home/b/poll.go:32**\n\nWhy so?\n"
    )
    (tmp_path / "issue.md").write_text(text)

    said = gomem.diagnose(gomem.load(tmp_path / "issue.md")).verdict.sentence

    assert "4 wait in main.poll" in f"{said}"


def test_a_cgroups_numbers_are_known_in_a_table_of_any_language():
    table = (
        "Die Einheit hat `MemoryHigh=1400M`.\n\n| Größe | Wert |\n|---|---|\n"
        "| `memory.current` | 1525 MiB (`MemoryMax` 1600M) |\n"
    )

    said = f"{mentioned(table.encode()).what}"

    assert "a cgroup uses 1.49 GiB (memory.current)" in said
    assert "MemoryHigh is 1.37 GiB, where the kernel throttles it" in said
    assert "MemoryMax is 1.56 GiB" in said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("about 28 leaked goroutines a second, 12 651 goroutines in `net/http.dial.func4` alone",
         "12 651 goroutines in net/http.dial.func4"),
        ("top shows 800MB of virtual memory for it", "virtual memory (800MB), which is address"),
        ("in the end the pod is OOMKilled", "killed for want of memory (OOMKilled)"),
        ("the pod is OOMKilled, 60Mi and the heap is 20Mi", "20Mi), none in a form"),
        ("its limit is 70Mi and it uses 20Mi", "20Mi of a limit of 70Mi"),
        ("memory is 20Mi. There is a limit of 70Mi, and 90Mi is free", "a limit of 70Mi"),
    ],
)  # fmt: skip
def test_what_a_sentence_says_of_goroutines_and_memory_is_named(words, said):
    assert said in f"{mentioned(words.encode()).what}"


def test_results_without_a_count_of_iterations_are_listed():
    lines = (
        b"BenchmarkParse/Slow-16    850 ns/op   160 B/op   2 allocs/op\n"
        b"BenchmarkParse/Fast-16    286 ns/op   0 B/op   0 allocs/op\n"
    )

    said = f"{mentioned(lines).what}"

    assert "2 results of benchmarks" in said
    assert "Parse/Slow-16 160 B/op, Parse/Fast-16 0 B/op" in said


@pytest.mark.parametrize(
    ("words", "is_said"),
    [
        ("The mount container is not OOMKilled when it is at its limit.", False),
        ("The pod isn't getting **OOMKilled** at 90Mi.", False),
        ("No container was OOMKilled in the last week.", False),
        ("It was never OOMKilled; its neighbour was.", False),
        ("There is no limit, and the pod is OOMKilled.", True),
        ("It is not clear why the pod was OOMKilled.", True),
        ("Its memory creeps up for hours, until it is killed by Kubernetes.", True),
        ("At any use of memory it is not killed by Kubernetes.", False),
        ("It was not OOMKilled on Monday, but on Tuesday the pod was OOMKilled.", True),
    ],
)
def test_a_kill_that_a_sentence_denies_is_none(words, is_said):
    seen = mentioned(words.encode())

    assert is_said == (seen is not None and "killed for want of memory" in seen.what)


def test_counts_of_memory_events_are_known_in_a_table():
    text = (
        b"| | value |\n|---|---|\n| `oom` in the pod's `memory.events` | 93,211 |\n"
        b"| `oom_kill` | 0 |\n| growth of a log | 2.5 GiB |\n"
    )
    seen = mentioned(text)

    assert "reached its limit 93\u202f211 times" in seen.what
    assert "none of its processes was killed (oom_kill)" in seen.what
    assert "oom_score_adj" in seen.what
    killed = mentioned(b"memory.events shows max 40, oom_kill 3\n")
    assert "reached its limit 40 times (max)" in killed.what
    assert "3 of its processes were killed (oom_kill)" in killed.what
    assert "oom_score_adj" not in killed.what


V1 = (
    "memory.usage_in_bytes was 2048086016, memory.limit_in_bytes was 2147483648, "
    "memory.max_usage_in_bytes is 2147483648 and memory.failcnt was 1,234; total_cache 1942446080."
)


@pytest.mark.parametrize("form", ["{}", "**{}**", "In the pod: {}"])
def test_numbers_of_version_1_are_known_in_a_sentence(form):
    seen = mentioned(form.format(V1).encode())

    assert "a cgroup uses 1.91 GiB (memory.usage_in_bytes)" in seen.what
    assert "is page cache (total_cache)" in seen.what
    assert "memory.limit_in_bytes is 2 GiB" in seen.what
    assert "memory.max_usage_in_bytes is 2 GiB" in seen.what
    assert "reached its limit 1\u202f234 times (failcnt)" in seen.what
    assert "version 1: total_rss" in seen.way_out


def test_no_limit_of_version_1_is_no_size():
    seen = mentioned(
        b"memory.usage_in_bytes: 2048086016\nmemory.limit_in_bytes: 9223372036854771712\n"
    )

    assert "memory.limit_in_bytes" not in seen.what


def test_kills_of_version_1_are_in_its_oom_control():
    seen = mentioned(b"memory.failcnt is 40 and memory.oom_control says oom_kill 3\n")

    assert "(failcnt), and 3 of its processes were killed (oom_kill)" in seen.what
    assert "memory.events" not in seen.what


def test_kills_alone_are_of_a_cgroups_processes():
    seen = mentioned(b"| memory.events oom_kill | 12 |\n")

    assert "it says by memory.events that 12 of a cgroup's processes were killed" in seen.what


def test_the_use_and_how_often_it_was_full_are_told_together():
    seen = mentioned(b"memory.current is 400 MiB, memory.max was 512 MiB, memory.events: max 40\n")

    assert "uses 400 MiB (memory.current); memory.max is 512 MiB" in seen.what
    assert "reached its limit 40 times (max)" in seen.what


@pytest.mark.parametrize(("tool", "is_macos"), [("/usr/bin/footprint -p 7", True), ("top", False)])
def test_macos_has_no_smaps(tool, is_macos):
    seen = mentioned(f"By {tool}:\n\nFootprint: 3 GB\nRSS: 426 MB\nVSZ: 97 GB\n".encode())

    assert is_macos == ("vmmap --summary" in seen.way_out)
    assert is_macos != ("gomem capture PID" in seen.way_out)


@pytest.mark.parametrize(
    "picture", ["![heap](https://example.org/heap.png)", '<img src="heap.png">']
)
def test_pictures_are_named_with_what_to_collect(picture):
    said = mentioned(f"{picture}\n\nThe heap of our job only grows.\n".encode())

    assert "1 picture, which gomem cannot read" in f"{said.what}"
    assert "gomem capture PID --every 10m" in f"{said.way_out}"


def test_a_badge_and_a_picture_of_something_else_are_not_named():
    assert (
        mentioned(b"[![Build](https://example.org/b.svg)](https://example.org)\nA heap.\n") is None
    )
    assert mentioned(b"![logo](https://example.org/logo.png)\nA web server.\n") is None


@pytest.mark.parametrize(
    ("platform", "is_asked"), [("freebsd/amd64", True), ("linux/amd64", False)]
)
def test_the_platform_that_a_build_names_decides_what_to_collect(platform, is_asked):
    text = f"platform: {platform}\nAre you running it in Docker? no\n\nIts memory is 720 MB.\n"

    said = f"{mentioned(text.encode()).way_out}"

    assert is_asked == ("procstat -v PID" in said)
    assert is_asked != ("gomem capture PID" in said)


@pytest.mark.parametrize(
    ("sentences", "named"),
    [
        ("The tool says 512 MB resident and 6 GB virtual. Another says 300 MB.",
         ("virtual memory (6 GB)", "RSS 512 MB", "300 MB")),
        ("Set GOMEMLIMIT=3GiB, as the worker was given 4GiB memory.", ("4GiB", "GOMEMLIMIT=3GiB")),
        ("VmPeak: 21000 kB\n\nan hour later\n\nVmPeak: 23000 kB", ("21000 kB", "23000 kB")),
        ("RSS is 2.5GB, and pprof has 410MB in use.",
         ("(2.5GB)", "410MB", "live at the last GC")),
        ("| run | Mem |\n|---|---|\n| a | 2.5 GiB |\n\nThe machine has 32 GB of memory in all.",
         ("Mem 2.5 GiB (a)", "32 GB")),
        ("411 api   /opt/api serve  81200 930400 5512\n412 db   /opt/db run  9120 77000 5512",
         ("2 rows of processes without their head line (411 api", )),
    ],
)  # fmt: skip
def test_no_form_of_a_size_hides_another(sentences, named):
    what = str(mentioned(f"{sentences}\n".encode()).what)

    assert [each for each in named if each not in what] == []


def test_busybox_says_what_the_machine_uses_of_the_address_space():
    top = b"Mem: 204800K used, 9K free\n  371     1 app      S     812m  81%   0% /opt/api\n"

    assert "812m, and the whole machine uses 200 MiB" in str(mentioned(top).what)


@pytest.mark.parametrize("unit", ["kb", "kilobytes", "bytes"])
def test_sizes_in_json_with_labels_are_each_told_with_the_unit_of_their_key(unit):
    lines = f'- Before: "rss_peak_{unit}": 198004\n- After: "rss_peak_{unit}": 51002\n'

    said = mentioned(lines.encode())

    assert f"sizes (rss_peak_{unit} 198004 (Before), 51002 (After))" in f"{said.what}"
    assert "unit" not in f"{said.what}"
    assert "MemStats" not in f"{said.way_out}"


def test_a_limit_growth_up_to_it_and_a_kill_are_told_together():
    seen = mentioned(
        b"The worker has a memory limit of 70Mi. Its memory creeps up from 30Mi to 70Mi within a "
        b"day, then it is killed by Kubernetes.\n"
    )

    assert "memory grew from 30Mi to 70Mi; it says that a container was killed" in f"{seen.what}"
    assert "--every" in f"{seen.way_out}"
