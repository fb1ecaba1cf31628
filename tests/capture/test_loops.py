"""Several files in one text end where the next one begins, and are never added up."""

import pytest

import gomem
from gomem.capture.loops import loop_parts
from gomem.capture.parts import part_named
from gomem.sources.artefact import open_source
from tests.builders import FIXTURES

HEAP = (
    "heap profile: 1: {0} [1: {0}] @ heap/1048576\n1: {0} [1: {0}] @ 0x69b76c 0x474941\n"
    "#\t0x69b76b\tacme.io/api.keep+0x10b\t/app/keep.go:8\n\n"
    "# runtime.MemStats\n# Alloc = {0}\n# NumGC = 3\n"
)
STACKS = (
    "goroutine profile: total {0}\n{0} @ 0x43bbce 0x46d941\n"
    "#\t0x43bbcd\tacme.io/api.wait+0x4d\t/app/wait.go:6\n\n"
)
THREADS = "threadcreate profile: total 9\n9 @\n#\t0x0\n\n"
DUMP = "goroutine 7 [select]:\nacme.io/api.wait()\n\t/app/wait.go:6 +0x4d\n\n"
STATUS = "Name:\tapi\nPid:\t7\nVmRSS:\t{} kB\nThreads:\t{}\n"
TABLE = "  PID   RSS COMMAND\n    7 {} api\n"
SEVERAL = FIXTURES / "pasted" / "several"


def written(folder, text, name="x.log"):
    path = folder / name
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    "between",
    [
        "Fri Nov 27 07:5{}:27 UTC 2026", "=== Fri Nov 27 07:5{}:27 UTC 2026 ===",
        "Fri 27 Nov 2026 07:5{}:27 AM UTC", "Fri, 27 Nov 2026 07:5{}:27 +0000",
        "--- heap 2026-11-27T07:5{}:27+00:00", "### 2026-11-27 07:5{}:27+00:00",
        "$ date\nFri Nov 27 07:5{}:27 UTC 2026\n$ curl -s localhost:6060/debug/pprof/heap?debug=1",
    ],
)  # fmt: skip
@pytest.mark.parametrize("dump", [HEAP, STACKS], ids=["heap", "goroutine"])
def test_each_dump_of_a_loop_is_a_reading_with_its_time(between, dump, tmp_path):
    text = "".join(f"{between.format(n)}\n{dump.format(1000 * n)}" for n in (1, 2, 3))

    capture = gomem.load(written(tmp_path, text))

    assert ["07:51:27", "07:52:27", "07:53:27"] == [
        f"{m.time:%H:%M:%S}" for m in capture.by_moment.values()
    ]
    assert [] == list(capture.damaged)


@pytest.mark.parametrize("between", ["", "=== reading {}\n", "--- {}\n", "$ curl heap\n", "---\n"])
def test_a_second_head_of_a_dump_is_a_second_reading(between, tmp_path):
    text = "".join(between.format(n) + STACKS.format(n) for n in (1000, 5000))

    capture = gomem.load(written(tmp_path, text))

    assert [1000, 5000] == [moment.goroutine_count for moment in capture.by_moment.values()]
    assert [] == list(capture.damaged)


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        (f"### heap\n{HEAP}### goroutine\n{STACKS}", ["heap_text", "count_text"]),
        (HEAP + STACKS, ["heap_text", "count_text"]),
        (f"--- heap\n{HEAP}--- ps\n{TABLE}", ["heap_text", "processes"]),
        (HEAP + TABLE, ["heap_text", "processes"]),
        (TABLE + HEAP, ["processes", "heap_text"]),
        (STACKS + DUMP, ["count_text", "goroutines"]),
        (f"### threadcreate\n{THREADS}### goroutine\n{STACKS}", ["count_text", "count_text"]),
        (f"### st\n{STATUS}### g\n{STACKS}", ["status", "count_text"]),
    ],
)
def test_another_file_ends_a_dump(text, kinds, tmp_path):
    capture = gomem.load(written(tmp_path, text.replace("{0}", "9").replace("{}", "9")))

    assert kinds == [file.kind.name for file in capture.files]
    assert 1 == len(capture)
    assert [] == list(capture.damaged)


def test_files_below_the_last_time_of_a_loop_are_of_its_last_reading(tmp_path):
    loop = "".join(
        f"### 2026-11-27T07:41:{8 * n + 10}+00:00\n{STATUS.format(9000 + n, 100 * n + 100)}"
        for n in range(5)
    )
    text = f"{loop}### threadcreate\n{THREADS}### goroutine\n{STACKS.format(484)}"

    capture = gomem.load(written(tmp_path, text))

    assert [100, 200, 300, 400, 500] == capture.status["Threads"].to_list()
    assert 3 == len(capture.by_moment["07:41:42"].artefacts)
    assert 484 == capture.by_moment["07:41:42"].goroutine_count


@pytest.mark.parametrize(
    "path",
    [
        "doors/go1.12.17/metrics.prom", "captures/healthy-go1.27.3/1-start/smaps",
        "captures/healthy-go1.27.3/1-start/memstats.json",
    ],
)  # fmt: skip
def test_files_without_a_head_are_told_apart_by_what_stands_between(path, tmp_path):
    content = (FIXTURES / path).read_text()
    text = "".join(f"=== 2026-11-27T07:4{n}:00+00:00\n{content}\n" for n in range(3))

    assert 3 == len(gomem.load(written(tmp_path, text)))


def test_a_file_below_status_begins_where_status_ends(tmp_path):
    rollup = "00400000-7ffc12d27000 ---p 00000000 00:00 0 [rollup]\nRss:  9 kB\nPss:  9 kB\n"
    text = "".join(
        f"Fri Nov 27 07:5{n}:27 UTC 2026\n{STATUS.format(9, 9)}{rollup}" for n in range(2)
    )

    capture = gomem.load(written(tmp_path, text))

    assert ["status", "smaps_rollup"] * 2 == [file.kind.name for file in capture.files]


def test_what_no_parser_reads_is_named_once(tmp_path):
    text = "".join(
        f"Fri Nov 27 07:5{n}:27 UTC 2026\n{STACKS.format(n)}--- queue\nqueue is {n}\n"
        for n in range(1, 4)
    )

    capture = gomem.load(written(tmp_path, text))

    assert ["x.log:7"] == [source.name for source in capture.passed_over]
    assert [] == list(capture.damaged)


def test_a_torn_reading_is_still_damage(tmp_path):
    text = f"### a\n{STACKS.format(5)}### b\n{STACKS.format(7)}7 @ 0x43b what\n"

    (damage,) = gomem.load(written(tmp_path, text)).damaged

    assert ("x.log:7", "line 11") == (damage.source, damage.where)


def test_a_session_in_a_folder_is_read_command_by_command(tmp_path):
    written(tmp_path, (SEVERAL / "session.txt").read_text(), "session.txt")

    assert ["goroutines", "smaps"] == [file.kind.name for file in gomem.load(tmp_path).files]


@pytest.mark.parametrize(
    "text",
    [
        "",
        STACKS.format(5),
        "=== RUN   TestA\n--- FAIL: TestA (0.00s)\n" + DUMP + "=== RUN   TestB\n" + DUMP,
        "We had this:\n\n" + DUMP,
        "# Heap\n\nThis is how it is printed, and what it is.\n\n### Example\n\nNo more of it.\n",
        "--- a/heap.txt\n+++ b/heap.txt\n@@ -1 +1 @@\n-x\n+y\n",
    ],
)
def test_what_is_one_file_stays_one(text):
    assert [] == loop_parts(open_source(text.encode()))


def test_a_part_can_be_named_as_reports_name_it(tmp_path):
    path = written(tmp_path, STACKS.format(1000) + STACKS.format(5000))

    part = part_named(f"{path}:5")

    assert part is not None
    assert STACKS.format(5000).strip() == part.data.decode().strip()
    assert part_named(f"{path}:4") is None
    assert part_named(path) is None
