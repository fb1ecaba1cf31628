"""Pages of Prometheus metrics: MemStats, runtime/metrics and the process, by one table of names."""

import gzip
import math
import time

import pandas as pd
import pytest

import gomem
from gomem.errors import FormatError
from gomem.inputs.kinds import kind_of
from gomem.inputs.looks_like import looks_like
from gomem.inputs.metrics.names import meaning_of, prometheus_name
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
    assert "go_gc_cycles_total_gc_cycles_total" == prometheus_name(
        "/gc/cycles/total:gc-cycles", counter=True
    )
    assert "go_cpu_classes_gc_mark_idle_cpu_seconds_total" == prometheus_name(
        "/cpu/classes/gc/mark/idle:cpu-seconds", counter=True
    )


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
    assert "go1.27.3" == read.go_version
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


def test_a_page_cut_between_two_lines_lacks_fields_that_come_together():
    cut = PAGE[: PAGE.index(b"# HELP go_memstats_heap_sys_bytes")]

    (damage,) = gomem.read_metrics(cut).damaged

    assert "MemStats without HeapSys, MCacheSys, MSpanSys, OtherSys" in damage.what
    assert "the page is cut" in damage.what


def test_openmetrics_without_its_end_is_cut():
    cut = OPEN[: OPEN.index(b"# HELP process_virtual_memory_max_bytes")]

    assert ["OpenMetrics without its last line, `# EOF`: it is cut"] == [
        one.what for one in gomem.read_metrics(cut).damaged
    ]


def test_a_line_of_gos_that_is_no_sample_is_damage_with_its_place():
    broken = page_of().replace(b"go_memstats_sys_bytes 7", b"go_memstats_sys_bytes seven")

    first, *_ = gomem.read_metrics(broken).damaged

    assert ("line 2", "go_memstats_sys_bytes seven") == (first.where, first.text)


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
    assert "metrics.txt" == facts.path("memstats") == facts.rss_evidence[0].artefact
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
