"""The GC summary as OpenMetrics text: what another parser reads of it, and what is left out."""

import pytest

from gomem.analysis.collector.cost import cost_of_collection
from gomem.inputs.gctrace.table import read_gctrace
from gomem.views.exports.openmetrics import render_openmetrics
from tests.gc_logs import recorded

CYCLE = (
    b"gc %d @%d.000s 4%%: 0.25+4.2+0.5 ms clock, 0.054+0.26/0.063/4.1+0.11 ms cpu, "
    b"14->20->10 MB, 16 MB goal, 2 P%s\n"
)
LOG = CYCLE % (1, 1, b"") + CYCLE % (2, 3, b" (forced)")


def test_every_sample_stands_under_its_type_unit_and_help():
    text = render_openmetrics(cost_of_collection(read_gctrace(LOG).cycles), {"log": 'a "b"'})

    lines = text.splitlines()
    assert [
        "# TYPE gomem_gc_cycles counter",
        "# HELP gomem_gc_cycles Collections in the log.",
        'gomem_gc_cycles_total{log="a \\"b\\""} 2',
        "# TYPE gomem_gc_forced_cycles counter",
    ] == lines[:4]
    assert 'gomem_gc_stw_seconds{log="a \\"b\\"",quantile="0.5"} 0.00075' in lines
    assert 'gomem_gc_stw_seconds_count{log="a \\"b\\""} 2' in lines
    assert 'gomem_gc_heap_live_bytes{log="a \\"b\\""} 10485760' in lines
    assert "# EOF" == lines[-1]


def test_what_the_log_leaves_open_is_left_out():
    text = render_openmetrics(cost_of_collection(read_gctrace(b"hello\n").cycles))

    assert "gomem_gc_cycles_total 0\n" in text
    assert "quantile" not in text
    assert "gomem_gc_cpu_ratio" not in text
    assert "None" not in text


def test_the_reference_parser_reads_the_same_numbers():
    reference = pytest.importorskip(
        "prometheus_client.openmetrics.parser", reason="comes with the notebooks extra"
    )
    summary = cost_of_collection(recorded("plain-go1.27.3").log.cycles)

    families = reference.text_string_to_metric_families(render_openmetrics(summary))
    values = {
        (sample.name, *sample.labels.values()): sample.value
        for family in families
        for sample in family.samples
    }

    assert summary.cycles == values["gomem_gc_cycles_total",]
    assert summary.stw.p99 == values["gomem_gc_stw_seconds", "0.99"]
    assert summary.interval.n == values["gomem_gc_interval_seconds_count",]
    assert summary.gc_cpu_fraction == values["gomem_gc_cpu_ratio",]
    assert summary.allocation_rate.high == values["gomem_gc_allocation_bytes_per_second", "high"]
    assert summary.heap_goal_bytes == values["gomem_gc_heap_goal_bytes",]
