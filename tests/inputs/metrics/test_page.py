"""Pages of Prometheus metrics: MemStats, runtime/metrics and the process, by one table of names."""

import gzip
import math
import re
import time

import pandas as pd
import pytest

import gomem
from gomem.causes.evidence import rss_evidence
from gomem.errors import FormatError
from gomem.inputs.kinds import kind_of
from gomem.inputs.looks_like import looks_like
from gomem.inputs.metrics.names import Meaning, meaning_of, prometheus_name
from gomem.inputs.metrics.page import (
    families_of,
    is_page,
    looks_like_page,
    parse_page,
    without_cut_line,
)
from gomem.text import Quoted
from tests.builders import FIXTURES

DOORS = FIXTURES / "doors"
PAGE = gzip.decompress((DOORS / "go1.27.3/metrics.prom.gz").read_bytes())
OPEN = gzip.decompress((DOORS / "go1.27.3/metrics.om.gz").read_bytes())
FIELDS = (
    "alloc_bytes", "sys_bytes", "heap_alloc_bytes", "heap_sys_bytes", "heap_idle_bytes",
    "heap_inuse_bytes", "heap_released_bytes", "stack_inuse_bytes", "stack_sys_bytes",
    "mspan_sys_bytes", "mcache_sys_bytes", "buck_hash_sys_bytes", "gc_sys_bytes",
    "other_sys_bytes",
)  # fmt: skip


def page_of(value=7, *, labels="", prefix=""):
    """A page whose MemStats are all one number."""
    names = [f"{prefix}go_memstats_{name}" for name in FIELDS]
    return "".join(f"{name}{labels} {value}\n" for name in names).encode()


def test_a_name_of_client_golang_is_the_runtimes_with_underscores():
    assert "go_gc_heap_live_bytes" == prometheus_name("/gc/heap/live:bytes")
    for name, runtimes in (
        ("go_gc_cycles_total_gc_cycles_total", "/gc/cycles/total:gc-cycles"),
        ("go_cpu_classes_gc_mark_idle_cpu_seconds_total", "/cpu/classes/gc/mark/idle:cpu-seconds"),
    ):
        assert ("", Meaning("runtime", runtimes)) == meaning_of(name)


@pytest.mark.parametrize(
    ("name", "prefix", "stands_for"),
    [
        ("go_memstats_heap_inuse_bytes", "", "HeapInuse"),
        ("shop_go_memstats_heap_inuse_bytes", "shop_", "HeapInuse"),
        ("consul_runtime_alloc_bytes", "consul_", "HeapAlloc"),
        ("vault_node_7_runtime_total_gc_runs", "vault_node_7_", "NumGC"),
        ("go_sched_gomaxprocs_threads", "", "/sched/gomaxprocs:threads"),
        ("process_resident_memory_bytes", "", "process_resident_memory_bytes"),
    ],
)
def test_a_name_is_known_with_and_without_a_prefix(name, prefix, stands_for):
    found = meaning_of(name)

    assert found is not None
    assert (prefix, stands_for) == (found[0], found[1].name)


@pytest.mark.parametrize("name", ["node_memory_free_bytes", "runtime_alloc_bytes", "go_memstats"])
def test_a_name_that_the_table_lacks_is_none_of_gos(name):
    assert meaning_of(name) is None


def test_every_family_of_the_newest_client_is_known_or_no_number_of_the_runtime():
    """
    What it writes of Go and the table lacks: settings of GODEBUG, and what buckets sum up to.
    """
    names = {
        line.split(b"{")[0].split()[0].decode() for line in PAGE.splitlines() if line[:1] != b"#"
    }

    unknown = {name for name in names if meaning_of(name) is None and name.startswith("go_")}

    assert {name for name in unknown if not name.startswith("go_godebug_")} == {
        name for name in unknown if name.endswith(("_sum", "_count"))
    }


def test_a_page_gives_memstats_the_release_rss_and_the_settings():
    read = gomem.read_metrics(PAGE)

    stats, process = read.stats.iloc[0], read.process.iloc[0]
    assert () == read.damaged
    assert "go1.27.3" == read.go_version == process["go_version"]
    assert (9832200, 10887168, 9560064, 7872512) == tuple(
        stats[["HeapAlloc", "HeapInuse", "HeapIdle", "HeapReleased"]]
    )
    assert (7, 12407691) == (stats["NumGC"], stats["PauseTotalNs"])
    assert pd.Timestamp("2026-11-22 09:30:06.599930", tz="UTC") == stats["LastGC"].floor("us")
    assert 21245952 == process["process_resident_memory_bytes"]
    assert 23 == process["go_goroutines"]
    values = dict(zip(read.values["name"], read.values["value"], strict=True))
    assert math.inf == values["/gc/gogc:percent"] == values["/gc/gomemlimit:bytes"]
    assert 9810072 == values["/gc/heap/live:bytes"]
    assert [0, 0.25, 0.5, 0.75, 1] == read.pause_quantiles["quantile"].to_list()


def test_no_goal_and_no_limit_are_no_numbers():
    """
    With GOGC=off NextGC is near 2^63, which no machine has.
    """
    read = gomem.read_metrics(PAGE)

    assert pd.isna(read.stats["NextGC"].iloc[0])


def test_a_histogram_has_what_lies_between_its_bounds():
    rows = gomem.read_metrics(PAGE).histograms
    pauses = rows[rows["name"] == "/gc/pauses:seconds"]

    assert [0, 0, 5, 4, 3, 2, 0, 0] == pauses["count"].to_list()
    assert math.inf == pauses["high"].iloc[-1]


def test_openmetrics_with_stamps_and_exemplars_is_the_same():
    lines = [
        line + b' 1795339806.5 # {trace_id="KOO5S4vxi0o"} 0.67 1795339806.1'
        if line.startswith(b"go_memstats")
        else line
        for line in OPEN.splitlines()
    ]

    read, plain = gomem.read_metrics(b"\n".join([*lines, b""])), gomem.read_metrics(OPEN)

    assert () == read.damaged == plain.damaged
    pd.testing.assert_frame_equal(plain.stats, read.stats)
    assert "2026-11-22T09:30:06.500000+00:00" == read.time.isoformat()
    assert plain.time is None


def test_a_stamp_of_prometheus_is_in_milliseconds():
    stamped = page_of().replace(b" 7\n", b" 7 1795339806500\n")

    assert "2026-11-22T09:30:06.500000+00:00" == gomem.read_metrics(stamped).time.isoformat()


def test_a_page_that_ends_within_a_line_is_cut_and_that_line_is_not_used():
    """
    `go_memstats_heap_alloc_bytes 9.8` is no heap of 9 bytes.
    """
    place = PAGE.index(b"go_memstats_heap_alloc_bytes 9.8322e+06")

    read = gomem.read_metrics(PAGE[: place + 32])

    assert pd.isna(read.stats["HeapAlloc"].iloc[0])
    assert {"the page ends within a line: it is cut, and numbers may be missing"} < {
        one.what for one in read.damaged
    }


def test_a_page_that_is_cut_before_it_comes_to_go_is_damaged_and_a_whole_one_is_none():
    """
    A client's own families stand first, by their names: Go's may have been behind the cut.
    """
    own = b"# HELP gate_wait_seconds Waits.\n# TYPE gate_wait_seconds summary\n"
    lines = b"".join(b'gate_wait_seconds{customer="c%d"} 6.4e-05\n' % n for n in range(9))

    assert looks_like_page(own + lines + b"gate_wait_sec")
    assert not looks_like_page(own + lines)
    with pytest.raises(FormatError, match=r"line 12: a page .* ends within a line, without"):
        gomem.read_metrics(own + lines + b"gate_wait_sec")


def test_a_page_cut_between_two_lines_lacks_fields_that_come_together():
    cut = PAGE[: PAGE.index(b"# HELP go_memstats_heap_sys_bytes")]

    (damage,) = gomem.read_metrics(cut).damaged

    assert "MemStats without HeapSys, MCacheSys, MSpanSys and 4 more" in damage.what
    assert "the program writes no more of them, the page is cut" in damage.what


def test_openmetrics_without_its_end_is_cut():
    cut = OPEN[: OPEN.index(b"# HELP process_virtual_memory_max_bytes")]

    assert ["OpenMetrics without its last line, `# EOF`: it is cut"] == [
        one.what for one in gomem.read_metrics(cut).damaged
    ]


def test_a_line_of_gos_that_is_no_sample_is_damage_with_its_place():
    broken = page_of().replace(b"go_memstats_sys_bytes 7", b"go_memstats_sys_bytes seven")

    first, *_ = gomem.read_metrics(broken).damaged

    assert ("line 2", "go_memstats_sys_bytes seven") == (first.where, first.text)


@pytest.mark.parametrize(
    ("number", "what"),
    [
        ("go_memstats_heap_alloc_bytes -5", "less than nothing"),
        ("go_memstats_heap_alloc_bytes 1e300", "more than any machine has"),
        ("go_memstats_heap_alloc_bytes 2e18", "more than any machine has"),
        ("go_memstats_heap_alloc_bytes NaN", "no number"),
        ("go_memstats_heap_alloc_bytes \u0663", "not a sample"),
        ("go_memstats_heap_alloc_bytes 3e+06 12 13 14", "not a sample"),
        ("process_resident_memory_bytes -1", "less than nothing"),
        ("process_resident_memory_bytes 1e300", "more than any machine has"),
        ("process_start_time_seconds 1e300", "more than any machine has"),
        ("go_threads NaN", "no number"),
        ('go_gc_duration_seconds{quantile="0.5"} -3', "less than nothing"),
        ('go_gc_duration_seconds{quantile="half"} 3', "wanted its bound"),
        ('go_gc_duration_seconds{quantile="2"} 3', "wanted its bound"),
        ('go_gc_pauses_seconds_bucket{le="x"} 3', "wanted its bound"),
        ("go_gc_pauses_seconds_bucket 3", "wanted its bound"),
        ('go_gc_pauses_seconds_bucket{le="+Inf"} 1e30', "more than any machine has"),
    ],
)
def test_a_number_that_cannot_be_is_damage_with_its_place(number, what):
    name = re.match(r"\w+", number)[0]
    others = [line for line in page_of().decode().splitlines() if not line.startswith(f"{name} ")]

    read = gomem.read_metrics("\n".join([*others[:3], number, *others[3:], ""]).encode())

    first, *_ = read.damaged
    assert "line 4" == first.where
    assert what in first.what
    assert [7] == read.stats["HeapSys"].to_list()
    assert read.process.iloc[:, 2:].isna().all(axis=None)
    assert 0 == len(read.pause_quantiles) == len(read.histograms)


def test_no_limit_of_files_and_a_quantile_of_nothing_are_no_damage():
    page = page_of() + (
        b'process_max_fds 1.8446744073709552e+19\ngo_gc_duration_seconds{quantile="0.5"} NaN\n'
    )

    read = gomem.read_metrics(page)

    assert () == read.damaged
    assert read.process["process_max_fds"].isna().all()
    assert 0 == len(read.pause_quantiles)


def test_buckets_that_count_fewer_below_a_higher_bound_are_damage_and_no_histogram():
    buckets = (("1", 9), ("2", 4), ("+Inf", 12))
    lines = (f'go_gc_pauses_seconds_bucket{{le="{le}"}} {count}\n' for le, count in buckets)

    read = gomem.read_metrics(page_of() + "".join(lines).encode())

    assert 0 == len(read.histograms)
    assert ["/gc/pauses:seconds"] == [name for one in read.damaged for name in one.what.of(Quoted)]
    assert "fewer below a higher bound" in read.damaged[0].what


def test_the_process_that_wrote_the_page_is_taken_and_others_are_named():
    page = page_of(7) + page_of(9, labels='{job="batch",instance="b:1"}')

    read = gomem.read_metrics(page)

    assert [7] == read.stats["HeapAlloc"].to_list()
    assert [True] == ["instance='b:1', job='batch'" in one.what for one in read.damaged]


def test_a_process_with_labels_is_taken_if_it_is_the_only_one():
    page = page_of(9, labels='{instance="b:1"}') + b"go_goroutines 4\nnode_load1 3\n"

    assert [9] == gomem.read_metrics(page).stats["HeapAlloc"].to_list()


def test_of_several_processes_with_labels_none_is_taken():
    page = page_of(7, labels='{pid="1"}') + page_of(9, labels='{pid="2"}')

    with pytest.raises(FormatError, match=r"2 Go processes \(pid='1'; pid='2'\), and nothing says"):
        gomem.read_metrics(page)


def test_a_prefix_is_taken_off():
    read = gomem.read_metrics(page_of(9, prefix="shop_") + b"process_resident_memory_bytes 12\n")

    assert [9] == read.stats["HeapAlloc"].to_list()
    assert [12] == read.process["process_resident_memory_bytes"].to_list()


def test_go_metrics_names_give_the_few_fields_that_they_have():
    page = b"consul_runtime_alloc_bytes 1.6559792e+07\nconsul_runtime_num_goroutines 91\n"

    read = gomem.read_metrics(page)

    assert [16559792] == read.stats["HeapAlloc"].to_list()
    assert [91] == read.process["go_goroutines"].to_list()
    assert read.stats["HeapInuse"].isna().all()
    assert () == read.damaged


def test_beside_client_golangs_numbers_those_of_go_metrics_are_not_used():
    """
    They are rounded to a float32, and read every ten seconds only.
    """
    page = b'vault_runtime_alloc_bytes{host="a"} 5\n' + page_of(7)

    read = gomem.read_metrics(page)

    assert [7] == read.stats["HeapAlloc"].to_list()
    assert () == read.damaged


def test_scrapes_behind_one_another_are_a_row_each():
    read = gomem.read_metrics(page_of(7) + b"\n" + page_of(9))

    assert [7, 9] == read.stats["HeapAlloc"].to_list()
    assert ["scrape 1", "scrape 2"] == read.stats["place"].to_list()


def values_of(read):
    return dict(zip(read.values["name"], read.values["value"], strict=True))


@pytest.mark.parametrize(
    ("text", "kept", "where"),
    [
        (b"a 1\nb 2\n", b"a 1\nb 2\n", ""),
        (b"a 1\nb 2", b"a 1\n", "line 2"),
        (b"a 1\n# HEL", b"a 1\n", "line 2"),
        (b"a 1\n# EOF", b"a 1\n# EOF", ""),
        (b"a 1\n  ", b"a 1\n  ", ""),
        (b"a 1\n7", b"a 1\n7", ""),
        (b"a 1", b"", "line 1"),
    ],
)
def test_a_last_line_without_its_end_is_not_used(text, kept, where):
    assert (kept, where) == without_cut_line(text)


@pytest.mark.parametrize(
    ("page", "is_one"),
    [
        pytest.param(b"a 1\n" * 10 + b"no sample at all\n" * 9, True, id="most"),
        pytest.param(b"a 1\n" * 10 + b"no sample at all\n" * 30, True, id="most of the first"),
        pytest.param(b"a 1\n" * 9 + b"no sample at all\n" * 10 + b"a 1\n" * 9, False, id="less"),
        pytest.param(b"a 1\n" + b"x" * 4092 + b"\n", True, id="longer than is looked at"),
        pytest.param(b"a 1\n" + b"x" * 4091 + b"\n", False, id="as long as is looked at"),
        pytest.param(b"", False, id="nothing"),
    ],
)
def test_a_page_is_told_by_its_first_lines(page, is_one):
    """
    More than half of the first nineteen, within 4 KiB.
    """
    assert is_one == is_page(page)


def test_the_commonest_family_is_named_first():
    page = b"# node_x\nnode_a 1\npython_a 1\npython_b 1\n7\n"

    assert ["python", "node"] == families_of(page)


@pytest.mark.parametrize(("newlines", "cut"), [(59, False), (60, True)])
def test_the_end_of_openmetrics_may_have_blank_lines_behind_it(newlines, cut):
    """
    Within the last 64 bytes.
    """
    page = b"# TYPE x info\n" + page_of() + b"# EOF" + b"\n" * newlines

    _, damage = parse_page(page, source="m")

    assert cut == bool(damage)


@pytest.mark.parametrize(
    ("page", "message"),
    [
        (b"# TYPE go_goroutines gauge\n", "without a number of Go's"),
        (b"process_open_fds 7\ngo_threads 8\n", "without a number of Go's"),
        (
            b"".join(page_of(labels=f'{{pid="{pid}"}}') for pid in range(4)),
            r"pid='2'; pid='3'\), and nothing",
        ),
        (
            b"".join(page_of(labels=f'{{pid="{pid}"}}') for pid in range(5)),
            r"5 Go processes \(pid='0'; pid='1'; pid='2'; pid='3'; …\), and nothing",
        ),
        (
            page_of(prefix="shop_") + page_of(prefix="cart_", labels='{b="2",a="1"}'),
            r"\(shop_…; cart_…, a='1', b='2'\)",
        ),
    ],
    ids=["comments", "no process of Go's", "four", "five", "prefixes"],
)
def test_a_page_of_no_process_or_of_several_is_refused(page, message):
    """
    At most four of them are named.
    """
    with pytest.raises(FormatError, match=message):
        parse_page(page, source="m")


def test_labels_that_tell_no_process_apart_and_their_order_do_not_matter():
    page = (
        page_of(labels='{job="a",pid="1"}')
        + b'go_info{pid="1",version="go1.24.2",job="a"} 1\n'
        + b'go_gc_duration_seconds{quantile="0.5",pid="1",job="a"} 0.25\n'
        + b'go_gc_pauses_seconds_bucket{le="0.5",pid="1",job="a"} 3\n'
    )

    read = gomem.read_metrics(page)

    assert "go1.24.2" == read.go_version
    assert [(0.5, 0.25)] == read.pause_quantiles[["quantile", "pause_seconds"]].apply(
        tuple, axis=1
    ).to_list()
    assert [3] == read.histograms["count"].to_list()
    assert () == read.damaged


@pytest.mark.parametrize("first", ["client", "go-metrics"])
def test_a_field_that_both_have_is_client_golangs_and_one_that_it_lacks_go_metrics(first):
    pages = [page_of(7), b"vault_runtime_alloc_bytes 5\nvault_runtime_total_gc_runs 4\n"]

    read = gomem.read_metrics(b"".join(pages if first == "client" else pages[::-1]))

    assert [(7, 4)] == read.stats[["HeapAlloc", "NumGC"]].apply(tuple, axis=1).to_list()


@pytest.mark.parametrize("own", [page_of(prefix="shop_"), b"shop_runtime_alloc_bytes 7\n"])
def test_the_numbers_of_another_prefix_are_another_programs(own):
    """
    Those without one are the client's beside it.
    """
    page = own + b"go_threads 3\nshop_process_open_fds 4\ncart_process_max_fds 5\n"

    process = gomem.read_metrics(page).process.iloc[0]

    assert 3 == process["go_threads"]
    assert pd.isna(process["process_max_fds"])
    assert page.startswith(b"shop_runtime") or process["process_open_fds"] == 4


def test_goroutines_alone_are_a_process():
    process = gomem.read_metrics(b"process_open_fds 3\ngo_goroutines 7\n").process.iloc[0]

    assert (7, 3) == (process["go_goroutines"], process["process_open_fds"])


@pytest.mark.parametrize(
    ("stamp", "time"),
    [
        ("0", None),
        ("-5", None),
        ("1", "1970-01-01T00:00:00.001000+00:00"),
        ("253402300799000", "9999-12-31T23:59:59+00:00"),
        ("253402300800000", None),
    ],
)
def test_a_stamp_is_a_time_that_there_can_be(stamp, time):
    stamped = page_of().replace(b" 7\n", f" 7 {stamp}\n".encode())

    found = gomem.read_metrics(stamped).time

    assert time == (None if found is None else found.isoformat())


def test_the_latest_stamp_is_the_time_of_a_page():
    stamped = page_of().replace(b" 7\n", b" 7 9000\n", 1).replace(b" 7\n", b" 7 2000\n", 1)

    assert 9 == gomem.read_metrics(stamped).time.second


def test_what_has_no_value_and_a_bound_that_is_none_are_left_out():
    page = page_of() + (
        b"go_gc_heap_live_bytes NaN\ngo_gc_heap_goal_bytes 5\nprocess_open_fds NaN\n"
        b'go_gc_duration_seconds{quantile="x"} 1\ngo_gc_duration_seconds 3\n'
        b'go_gc_pauses_seconds_bucket{le="x"} 2\n'
    )

    read = gomem.read_metrics(page)

    assert {"/gc/heap/goal:bytes": 5.0} == values_of(read)
    assert pd.isna(read.process["process_open_fds"].iloc[0])
    assert 0 == len(read.pause_quantiles) == len(read.histograms)


@pytest.mark.parametrize(
    ("name", "value", "known"),
    [
        ("go_gc_gomemlimit_bytes", "9.223372036854775807e+18", math.inf),
        ("go_gc_gomemlimit_bytes", "9.2e+18", 9.2e18),
        ("go_gc_gogc_percent", "1.8446744073709552e+19", math.inf),
        ("go_gc_gogc_percent", "100", 100.0),
        ("go_gc_heap_goal_bytes", "1e+30", 1e30),
    ],
)
def test_only_a_limit_is_endless(name, value, known):
    page = page_of() + f"{name} {value}\n".encode()

    assert [known] == list(values_of(gomem.read_metrics(page)).values())


def test_buckets_in_any_order_hold_what_is_between_their_bounds():
    page = page_of() + b"".join(
        f'go_gc_pauses_seconds_bucket{{le="{le}"}} {count}\n'.encode()
        for le, count in (("0.5", 3), ("+Inf", 9), ("0.25", 3), ("2", 4))
    )

    rows = gomem.read_metrics(page).histograms

    assert [-math.inf, 0.25, 0.5, 2] == rows["low"].to_list()
    assert [0.25, 0.5, 2, math.inf] == rows["high"].to_list()
    assert [3, 0, 1, 5] == rows["count"].to_list()


@pytest.mark.parametrize(
    ("field", "line", "value"),
    [
        ("NextGC", f"go_memstats_next_gc_bytes {2**60 - 128}", 2**60 - 128),
        ("NextGC", f"go_memstats_next_gc_bytes {2**60}", None),
        ("LastGC", "go_memstats_last_gc_time_seconds 9e+09", pd.Timestamp(9 * 10**18, tz="UTC")),
        ("LastGC", "go_memstats_last_gc_time_seconds 9.3e+09", None),
        ("Mallocs", "go_memstats_mallocs_total -1", None),
        ("Mallocs", "go_memstats_mallocs_total 0", 0),
        ("Frees", "x 1", None),
    ],
)
def test_a_field_of_a_page_is_a_count_or_unknown(field, line, value):
    read = gomem.read_metrics(page_of() + line.encode() + b"\n")

    found = read.stats[field].iloc[0]
    assert (value is None and pd.isna(found)) or value == found


@pytest.mark.parametrize(
    ("name", "value", "known"),
    [
        ("process_open_fds", "0", 0),
        ("process_open_fds", "-1", None),
        ("process_max_fds", "9007199254740991", 2**53 - 1),
        ("process_max_fds", "9007199254740992", None),
        ("process_cpu_seconds_total", "1.25", 1.25),
        ("process_start_time_seconds", "1.5", pd.Timestamp(1_500_000_000, tz="UTC")),
        ("process_start_time_seconds", "-1", None),
        ("process_start_time_seconds", "1e+10", None),
    ],
)
def test_a_number_of_the_process_is_one_that_it_can_be(name, value, known):
    process = gomem.read_metrics(page_of() + f"{name} {value}\n".encode()).process.iloc[0]

    assert (known is None and pd.isna(process[name])) or known == process[name]
    assert process.drop(["reading", name]).isna().all()


def test_a_pasted_page_is_read():
    quoted = b"".join(b"> " + line + b"\n" for line in page_of().splitlines())

    assert [7] == gomem.read_metrics(quoted).stats["HeapAlloc"].to_list()


@pytest.mark.parametrize(
    "page",
    [
        b"# HELP node_load1 1m load.\n# TYPE node_load1 gauge\nnode_load1 0.2\nnode_load5 1\n",
        b'node_load1 0.2\nnode_cpu_seconds_total{cpu="0"} 1.5\n',
    ],
)
def test_a_page_of_something_else_is_named_as_what_it_is(page):
    assert kind_of(page) is None
    assert "a page of Prometheus metrics of node, with none of Go's" == looks_like(page, "m").what


def test_a_python_services_page_is_none_of_gos():
    page = b"# TYPE python_info gauge\npython_info 1\nprocess_resident_memory_bytes 3e+07\n"

    assert kind_of(page) is None


def test_a_large_page_of_which_part_is_gos_is_read_within_bounds():
    """
    5 000 families of somebody else's, 50 000 lines: their lines are looked at, not parsed.
    """
    other = b"".join(
        f'shop_orders_{family}_total{{shard="{n}",region="eu"}} 1\n'.encode()
        for family in range(5000)
        for n in range(10)
    )

    began = time.process_time()
    read = gomem.read_metrics(other + PAGE)

    assert [9832200] == read.stats["HeapAlloc"].to_list()
    assert time.process_time() - began < 5


def test_a_page_alone_is_a_coarse_ledger(tmp_path):
    """
    Go's claims, and RSS from the page: what is left is memory that nothing divides.
    """
    (tmp_path / "metrics.txt").write_bytes(PAGE)

    diagnosis = gomem.diagnose(tmp_path)

    (ledger,) = diagnosis.ledgers.values()
    assert 21245952 == ledger.rss_bytes == ledger.parts["bytes"].sum()
    assert "metrics-page process_resident_memory_bytes" == ledger.rss_source
    assert 9832200 == ledger.part("heap_objects")
    assert "go1.27.3" == str(diagnosis.capture.go_version)
    assert "go_info in metrics.txt" == diagnosis.capture.go_version.evidence
    (facts,) = diagnosis.moments
    assert (23 if "/sched/goroutines:goroutines" not in facts.metrics else 30) == (
        facts.goroutine_count
    )
    assert "metrics.txt" == facts.path("memstats") == rss_evidence(facts)[0].artefact
    assert {"data-missing"} == {one.code for one in diagnosis.findings}


def test_a_page_beside_json_changes_nothing(tmp_path):
    """
    Where the same numbers are there as JSON, it is listed, and every answer stays as it was.
    """
    moment = FIXTURES / "captures/healthy-go1.27.3/2-steady"
    for name in ("memstats.json", "metrics.json", "smaps", "status"):
        (tmp_path / name).write_bytes((moment / name).read_bytes())
    before = gomem.diagnose(tmp_path)
    told = [(one.code, one.title, one.evidence) for one in before.findings]

    (tmp_path / "metrics").write_bytes(PAGE)
    after = gomem.diagnose(tmp_path)

    assert ["capture"] == list(after.capture.by_moment)
    assert told == [(one.code, one.title, one.evidence) for one in after.findings]
    pd.testing.assert_frame_equal(before.ledger, after.ledger)
    assert before.moments[0].metrics == after.moments[0].metrics
    assert before.moments[0].goroutine_count == after.moments[0].goroutine_count


def test_a_page_beside_runtime_metrics_json_changes_nothing(tmp_path):
    moment = FIXTURES / "captures/healthy-go1.27.3/2-steady"
    for name in ("metrics.json", "smaps"):
        (tmp_path / name).write_bytes((moment / name).read_bytes())
    before = gomem.diagnose(tmp_path)

    (tmp_path / "a-page").write_bytes(PAGE)
    after = gomem.diagnose(tmp_path)

    pd.testing.assert_frame_equal(before.ledger, after.ledger)
    assert "metrics.json" == after.moments[0].path("memstats")


# Numbers that are none


@pytest.mark.parametrize(
    "line",
    [
        'go_gc_pauses_seconds_bucket{le="1"} +Inf',
        'go_gc_pauses_seconds_bucket{le="1"} 1e30',
        "go_memstats_heap_inuse_bytes -5",
        "go_memstats_heap_inuse_bytes 1e300",
        "go_memstats_heap_inuse_bytes ٣",
        "go_memstats_heap_inuse_bytes 3e+06 12 13 14",
    ],
)
def test_a_number_that_no_process_has_is_damage_and_the_rest_is_read(line):
    page = f"go_memstats_heap_alloc_bytes 3e6\n{line}\ngo_goroutines 7\n"

    read = gomem.read_metrics(page.encode())

    assert "line 2" in [damage.where for damage in read.damaged]
    assert [3_000_000] == list(read.stats["HeapAlloc"])
    assert read.stats["HeapInuse"].isna().all()


def test_no_limit_is_no_damage():
    read = gomem.read_metrics(
        b"go_memstats_heap_alloc_bytes 3e6\ngo_gc_gomemlimit_bytes 9.223372036854776e+18\n"
        b"process_virtual_memory_max_bytes 1.8446744073709552e+19\n"
    )

    assert [] == [damage for damage in read.damaged if damage.where]


@pytest.mark.parametrize("prefix", ["", "api_", "api_go_runtime_"])
def test_opencensus_names_are_fields_of_memstats(prefix):
    names = {
        "process_heap_alloc": 8e6, "process_heap_idle": 5e7, "process_heap_inuse": 1.2e7,
        "process_sys_heap": 6.2e7, "process_memory_alloc": 8e6, "process_cpu_goroutines": 131,
    }  # fmt: skip
    data = "".join(f"# TYPE {prefix}{n} gauge\n{prefix}{n} {v:g}\n" for n, v in names.items())

    pages, _ = parse_page(data.encode(), source="a.prom")

    assert kind_of(data.encode()).name == "metrics"
    assert {"HeapAlloc": 8e6, "Alloc": 8e6, "HeapIdle": 5e7, "HeapInuse": 1.2e7} == {
        name: pages[0].memstats[name] for name in ("HeapAlloc", "Alloc", "HeapIdle", "HeapInuse")
    }
    assert pages[0].process == {"go_goroutines": 131}


def test_fields_that_an_exporter_does_not_write_are_not_missing():
    names = ("sys_memory_alloc", "heap_alloc", "sys_heap", "heap_idle", "heap_inuse")
    names += ("heap_release", "stack_inuse", "sys_stack", "sys_stack_mspan", "sys_stack_mcache")
    data = "".join(f"process_{name} 64\n" for name in (*names, "gc_sys", "other_sys"))

    assert not parse_page(data.encode(), source="a.prom")[1]  # BuckHashSys
    (damage,) = parse_page(data.replace("process_heap_idle 64\n", "").encode(), source="")[1]
    assert "without HeapIdle" in damage.message


@pytest.mark.parametrize(
    ("line", "of"),
    [
        ("otelcol_process_runtime_total_sys_memory_bytes 64", "Sys"),
        ("process_runtime_go_mem_heap_alloc_bytes 64", "HeapAlloc"),
        ("api_process_runtime_go_goroutines 64", "go_goroutines"),
    ],
)
def test_names_of_opentelemetry_are_known(line, of):
    (page,) = parse_page(f"{line}\n".encode(), source="a.prom")[0]

    assert 64 == (page.memstats | page.process)[of]
    assert kind_of(f"# TYPE a gauge\n{line}\n".encode()).name == "metrics"


def test_a_page_with_names_that_can_be_gos_is_not_said_to_have_none():
    of_another = "# TYPE api_a gauge\napi_a 1\n"
    unknown = of_another + "api_heap_inuse_mb 8\n"

    assert f"{looks_like(of_another.encode(), 'a.prom').what}".endswith("with none of Go's")
    assert "knows (api_heap_inuse_mb)" in f"{looks_like(unknown.encode(), 'a.prom').what}"


def test_counts_of_runtime_metrics_alone_are_told(tmp_path):
    (tmp_path / "a.prom").write_text(
        "# TYPE go_gc_heap_allocs_bytes counter\ngo_gc_heap_allocs_bytes 5242880\n"
        "go_gc_heap_allocs_objects 432\ngo_gc_cycles_total_gc_cycles 17\n"
    )

    headline = gomem.diagnose(tmp_path / "a.prom").verdict.headline

    assert "allocated 5 MiB in 432 objects and run 17 GCs" in headline
