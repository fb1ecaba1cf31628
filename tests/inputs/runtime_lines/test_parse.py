"""Lines in which programs log their memory, beside what the program measured exactly."""

import json
from datetime import datetime

import pytest

import gomem
from gomem.errors import CaptureError
from gomem.inputs.kinds import BY_NAME, kind_of
from gomem.inputs.runtime_lines.patterns import pattern_of, patterns_added
from gomem.inputs.runtime_lines.table import MAX_MOMENTS, read_runtime_lines
from tests.builders import FIXTURES

LINES = FIXTURES / "pasted/runtime-lines"
EXACT = json.loads((LINES / "exact.json").read_text())
MIB = 1 << 20


def exactly(name):
    return [reading[name] for reading in EXACT]


def near(frame, column, exact):
    """Whether each is what was measured, but for the rounding of two digits."""
    pairs = zip(frame[column].tolist(), exact, strict=True)
    return all(abs(size - wanted) <= max(0.06 * wanted, 1) for size, wanted in pairs)


@pytest.mark.parametrize("name", ["cockroach.log", "cockroach-2018.log"])
def test_the_lines_of_cockroachdb(name):
    read = read_runtime_lines(LINES / name)
    frame = read.readings
    total = [r["Sys"] - r["HeapReleased"] for r in EXACT]
    idle = [r["HeapIdle"] - r["HeapReleased"] for r in EXACT]

    assert kind_of((LINES / name).read_bytes()) is BY_NAME["runtime_lines"]
    assert not read.damaged
    assert near(frame, "rss_bytes", exactly("RSS"))
    assert near(frame, "go_alloc_bytes", exactly("HeapAlloc"))
    assert near(frame, "go_total_bytes", total)
    assert near(frame, "go_idle_bytes", idle)
    assert exactly("Goroutines") == frame["goroutines"].tolist()
    assert [0] * 8 == frame["cgo_total_bytes"].tolist()
    times = [datetime.fromisoformat(time[:26] + "+00:00") for time in exactly("Time")]
    assert times == [time.to_pydatetime() for time in frame["logged_at"]]


def test_the_newer_form_has_all_that_the_ledger_takes_of_memstats():
    stats = read_runtime_lines(LINES / "cockroach.log").stats

    for name in ("HeapAlloc", "HeapInuse", "HeapIdle", "HeapReleased", "Sys", "StackInuse"):
        assert near(stats, name, exactly(name)), name
    assert stats["GCSys"].isna().all()


def test_the_older_form_leaves_out_what_it_does_not_say():
    stats = read_runtime_lines(LINES / "cockroach-2018.log").stats

    assert stats[["HeapInuse", "HeapIdle", "HeapReleased", "Sys"]].isna().all(axis=None)


def test_the_collectors_lines_have_the_heap_in_full_mib():
    frame = read_runtime_lines(LINES / "otelcol.log").readings

    assert [size // MIB * MIB for size in exactly("HeapAlloc")] == frame["go_alloc_bytes"].tolist()
    assert {MIB} == set(frame["step_bytes"])
    assert frame["rss_bytes"].isna().all()


def test_lines_of_one_quantity_each_are_one_reading():
    frame = read_runtime_lines(LINES / "consul.log").readings

    assert exactly("HeapAlloc") == frame["go_alloc_bytes"].tolist()
    assert exactly("Sys") == frame["go_sys_bytes"].tolist()
    assert exactly("HeapObjects") == frame["objects"].tolist()
    assert exactly("Goroutines") == frame["goroutines"].tolist()


def test_the_newest_line_first_is_put_in_order():
    lines = (LINES / "otelcol.log").read_bytes().splitlines(keepends=True)
    turned = read_runtime_lines(b"".join(reversed(lines))).readings

    assert turned["logged_at"].is_monotonic_increasing
    assert list(range(8, 0, -1)) == turned["line"].tolist()


@pytest.mark.parametrize(
    "line",
    [
        '2026-01-02T10:20:30+02:00\t{"level":"info","ts":16,"msg":"x","cur_mem_mib":200}',
        '{"log":"2026-01-02T10:20:30.5Z\\tinfo\\t{\\"cur_mem_mib\\": 200}\\n","stream":"stderr"}',
        '10:20:30Z memorylimiter "Memory usage is above soft limit." cur_mem_mib=200',
        'Jan 02 10:20:30 host otelcol[12]: 2026-01-02T10:20:30.500Z  x  {"cur_mem_mib": 200}',
    ],
)
def test_other_wrappings_of_the_collectors_line(line):
    assert [200 * MIB] == read_runtime_lines(line.encode()).readings["go_alloc_bytes"].tolist()


def test_a_log_with_gc_lines_is_a_gc_log():
    log = (FIXTURES / "captures/healthy-go1.27.3/gctrace.log").read_bytes()[:4000]

    assert kind_of(log + (LINES / "otelcol.log").read_bytes()) is BY_NAME["gctrace"]


OWN = b"""2026-11-24 10:00:00 mem used=100MiB heap=20 gor=5
2026-11-24 10:00:10 mem used=160MiB heap=60 gor=9
"""
PATTERN = (
    r"(?P<time>\S+ \S+) mem used=(?P<rss>\S+) heap=(?P<go_alloc_mib>\d+) gor=(?P<goroutines>\d+)"
)


def test_a_pattern_of_ones_own():
    assert kind_of(OWN) is None
    with patterns_added([PATTERN]):
        frame = read_runtime_lines(OWN).readings

    assert [100 * MIB, 160 * MIB] == frame["rss_bytes"].tolist()
    assert [20 * MIB, 60 * MIB] == frame["go_alloc_bytes"].tolist()
    assert [5, 9] == frame["goroutines"].tolist()
    assert 10.0 == (frame["logged_at"].iloc[1] - frame["logged_at"].iloc[0]).total_seconds()
    assert kind_of(OWN) is None


def test_a_capture_takes_patterns(tmp_path):
    (tmp_path / "own.log").write_bytes(OWN)

    capture = gomem.load(tmp_path / "own.log", patterns=[PATTERN])

    assert [100 * MIB, 160 * MIB] == capture.logged["rss_bytes"].tolist()
    assert 2 == len(capture)


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("(", "not a regular expression"),
        (r"(?P<rsss>\d+)", "no group is called rsss"),
        (r"(?P<time>\d+)", "no group has a size"),
        (r"\d+", "no group has a size"),
    ],
)
def test_what_is_no_pattern_is_refused(expression, said):
    with pytest.raises(CaptureError, match=said):
        pattern_of(expression)


def test_a_long_log_is_at_most_so_many_moments_with_the_peak_among_them():
    sizes = [5000 if n == 777 else n for n in range(1000)]
    lines = [
        f'2026-11-24T10:{n // 60:02}:{n % 60:02}.000Z x {{"cur_mem_mib": {size}}}'
        for n, size in enumerate(sizes)
    ]
    read = read_runtime_lines("\n".join(lines).encode())
    chosen = [dump.readings["go_alloc_bytes"].iloc[0] // MIB for dump in read.dumps]

    assert 1000 == len(read.readings)
    assert MAX_MOMENTS == len(chosen)
    assert (0, 999, 5000) == (chosen[0], chosen[-1], max(chosen))


BEATS = '{"memstats":{"gc_next":45851954,"memory_alloc":21569008,"memory_sys":78733592,"rss":11}'
RUNTIME = ',"runtime":{"goroutines":56}'


@pytest.mark.parametrize("around", ["{}", '{{"beat":{}}}', '{{"monitoring":{{"metrics":{}}}}}'])
@pytest.mark.parametrize("cut", [0, 1])
def test_an_object_of_beats_is_read_in_several_lines_also_without_its_end(around, cut):
    line = around.format(f"{BEATS}{RUNTIME}}}")
    text = line[: len(line) - cut]
    lines = text.replace("{", "{\n  ").replace(",", ",\n  ").replace("}", "\n}").replace(":", ": ")

    for written in (text, lines):
        (read,) = read_runtime_lines(f"{written}\n".encode()).readings.to_dict("records")
        values = [read[f"{name}_bytes"] for name in ("rss", "go_alloc", "go_sys", "go_next_gc")]
        assert [11, 21569008, 78733592, 45851954] == values
        assert 56 == read["goroutines"]
        assert kind_of(f"{written}\n".encode()) is BY_NAME["runtime_lines"]


@pytest.mark.parametrize("word", ["", "memstats "])
def test_the_lines_of_godoc_around_a_collection(word):
    log = (
        "2026/11/27 07:44:26 index updated (88.2s, 211342912 bytes of source, 17421 files)\n"
        f"2026/11/27 07:44:26 {word}before GC: bytes = 2385978984 footprint = 6429047608\n"
        f"2026/11/27 07:44:27 {word}after  GC: bytes = 614368968 footprint = 6429047608\n"
    )
    frame = read_runtime_lines(log.encode()).readings

    assert [2385978984, 614368968] == frame["go_alloc_bytes"].tolist()
    assert [6429047608] * 2 == frame["go_sys_bytes"].tolist()
    assert [26, 27] == [time.second for time in frame["logged_at"]]


@pytest.mark.parametrize(
    "stamp",
    ["09:00:{}", "2026-11-20 09:00:{}", "[2026-11-20T09:00:{}Z]", "17957556{}",
     "Fri Nov 20 09:00:{} UTC 2026"],
)  # fmt: skip
@pytest.mark.parametrize("field", ["VmRSS:\t   {} kB", "VmRSS:   {} kB", "Rss:       {} kB"])
def test_rss_behind_a_time_is_a_series(stamp, field, tmp_path):
    sizes = {10: 37548, 20: 49708, 40: 73428}
    rows = (f"{stamp.format(at)} {field.format(kib)}\n" for at, kib in sizes.items())
    (tmp_path / "rss.txt").write_text("".join(rows))

    rise = gomem.diagnose(gomem.load(tmp_path / "rss.txt")).facts.rss_level.rise

    assert (3, 37548 << 10, 73428 << 10, 30.0) == (
        rise.readings, rise.first, rise.last, rise.seconds
    )  # fmt: skip
