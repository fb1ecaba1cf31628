"""Tables that a script writes, with a line of names above."""

import pytest

import gomem
from gomem.inputs.kinds import kind_of
from gomem.inputs.runtime_lines.table import read_runtime_lines
from gomem.units import MIB

ROWS = [("2026-11-27T04:37:13Z", 32, 5), ("2026-11-27T04:37:16Z", 53, 5), ("1795754239", 74, 6)]


@pytest.mark.parametrize(
    ("names", "factor"),
    [
        ("ts,rss_kb,threads", 1024),
        ("time;RSS (KiB);threads", 1024),
        ("timestamp\tVmRSS_mb\tthreads", 1),
        ('"date","rss","threads"', MIB),
    ],
)
def test_a_size_has_the_unit_in_its_name(names, factor, tmp_path):
    separator = next(each for each in ",;\t" if each in names)
    lines = [separator.join((at, str(size * factor), str(n))) for at, size, n in ROWS]
    (tmp_path / "mem.csv").write_text("\n".join([names, *lines]) + "\n")

    capture = gomem.load(tmp_path)

    rise = gomem.diagnose(capture).facts.rss_level.rise
    assert (3, 32 * MIB, 74 * MIB, 6.0) == (rise.readings, rise.first, rise.last, rise.seconds)
    assert () == capture.damaged


@pytest.mark.parametrize(
    "text",
    ["ts,requests\n1795754239,7\n", "ts,rss,rss\n1795754239,7,8\n", "ts,rss_kb\nnow,unknown\n"],
)
def test_without_a_time_and_a_size_it_is_no_such_table(text):
    kind = kind_of(text.encode(), "x.txt")

    assert kind is None or kind.name != "runtime_lines"


def _dashboard(names, *rows):
    return ("\n".join([names, *rows]) + "\n").encode()


METRICS = _dashboard(
    "Time,process_resident_memory_bytes,go_memstats_heap_alloc_bytes,go_memstats_alloc_bytes,"
    "go_memstats_alloc_bytes_total,go_memstats_heap_inuse_bytes,go_memstats_heap_idle_bytes,"
    "go_memstats_heap_released_bytes,go_memstats_sys_bytes,go_memstats_stack_inuse_bytes,"
    "go_memstats_next_gc_bytes,go_memstats_heap_objects,go_goroutines,go_threads",
    "2026-03-14 02:51:07,34881536,18610672,18610672,99610672,22568960,11010048,0,41943040,655360,"
    "20000000,901,24,9",
    "2026-03-14 02:51:27,58695680,30664768,30664768,99964768,36323328,12058624,0,62914560,655360,"
    "40000000,912,25,9",
)


def test_columns_are_named_like_prometheus_metrics():
    read = read_runtime_lines(METRICS)

    assert "runtime_lines" == kind_of(METRICS, "data.csv").name
    last = read.readings.iloc[-1]
    assert (58695680, 25) == (last["rss_bytes"], last["goroutines"])
    wanted = {
        "HeapAlloc": 30664768, "HeapInuse": 36323328, "HeapIdle": 12058624, "HeapReleased": 0,
        "HeapSys": 48381952, "Sys": 62914560, "StackInuse": 655360, "NextGC": 40000000,
        "HeapObjects": 912,
    }  # fmt: skip
    assert wanted == {name: read.stats[name].iloc[-1] for name in wanted}


@pytest.mark.parametrize(
    "name",
    [
        'go_memstats_heap_inuse_bytes{instance="a:6060", job="b"}',
        '"go_memstats_heap_inuse_bytes{instance=""a:6060"", job=""b""}"',
        '"{__name__=""go_memstats_heap_inuse_bytes"", instance=""a:6060"", job=""b""}"',
        "heap inuse",
        "Heap In Use (bytes)",
    ],
)
def test_labels_are_no_columns(name):
    data = _dashboard(f"Time,{name},x", "1795754239,22568960,1", "1795754254,36323328,2")

    assert [22568960, 36323328] == list(read_runtime_lines(data).stats["HeapInuse"])


def test_two_series_of_a_metric_are_of_two_processes():
    data = _dashboard(
        'Time,go_memstats_alloc_bytes{pod="a"},go_memstats_alloc_bytes{pod="b"}',
        "1795754239,22568960,12568960",
        "1795754254,36323328,12568961",
    )

    assert kind_of(data, "data.csv") is None


@pytest.mark.parametrize(
    "times", [("1795754239", "1795754254.5"), ("1795754239000", "1795754254500")]
)
def test_a_time_is_in_seconds_or_milliseconds_since_1970(times):
    data = _dashboard("Time,heap alloc", f"{times[0]},22568960", f"{times[1]},36323328")

    first, last = read_runtime_lines(data).readings["logged_at"]

    assert ("2026-11-27 04:37:19+00:00", 15.5) == (str(first), (last - first).total_seconds())


@pytest.mark.parametrize("blank", [" ", "\u00a0", ""])
@pytest.mark.parametrize("quote", ['"', ""])
def test_a_unit_can_be_in_the_cells(blank, quote):
    rows = (
        f"2026-11-27 11:06:{at},{quote}{size}{blank}MiB{quote}"
        for at, size in ((10, 6.5), (20, 126))
    )
    data = _dashboard('"Time","heap alloc"', *rows)

    assert [6.5 * MIB, 126 * MIB] == list(read_runtime_lines(data).stats["HeapAlloc"])


@pytest.mark.parametrize(
    ("sizes", "is_read"),
    [((21979136, 36532224), True), ((21979137, 36532225), True), ((3146756, 3146760), False)],
)
def test_rss_without_a_unit_is_in_bytes_if_it_cannot_be_in_kib(sizes, is_read):
    """KiB of RSS are multiples of 4, and bytes of whole pages of 4096."""
    times = ("2026-11-27T11:07:49+00:00", "2026-11-27T11:07:55+00:00")
    rows = (f"{at},{n},{size}" for at, n, size in zip(times, (699, 1403), sizes, strict=True))
    data = _dashboard('"Time","goroutines","container RSS"', *rows)

    kind = kind_of(data, "export.csv")

    assert is_read == (kind is not None)
    if is_read:
        assert list(sizes) == list(read_runtime_lines(data).readings["rss_bytes"])
        assert [699, 1403] == list(read_runtime_lines(data).readings["goroutines"])


@pytest.mark.parametrize(
    ("name", "is_read"),
    [
        ("geocache-0 memory", True),
        ('"container_memory_working_set_bytes{pod=""a-0"", container=""a""}"', True),
        ("node memory", False),
        ("memory limit", False),
    ],
)
def test_the_only_column_can_be_called_memory(name, is_read):
    rows = ("2026-11-27 11:06:07,6.8 MiB", "2026-11-27 11:06:17,126.4 MiB")
    data = _dashboard(f"Time,{name}", *rows)

    kind = kind_of(data, "export.csv")

    assert is_read == (kind is not None)
    if is_read:
        assert 126 == read_runtime_lines(data).readings["rss_bytes"].iloc[-1] // MIB
