"""How many series a page has of one metric, and the label that makes them many."""

import gomem
from gomem.inputs.metrics.series import MIN_SERIES, MetricSeries, largest_series

GO = "go_memstats_alloc_bytes 1e+07\ngo_memstats_heap_alloc_bytes 1e+07\ngo_goroutines 7\n"


def _page(count):
    rows = (f'requests_total{{code="{200 + n % 2}",path="/c/{n}"}} 1\n' for n in range(count))
    return "# TYPE requests_total counter\n" + "".join(rows) + GO


def test_the_label_with_the_most_values_is_named():
    found = largest_series(_page(MIN_SERIES).encode())

    assert MetricSeries("requests_total", MIN_SERIES, "path", MIN_SERIES) == found


def test_few_series_are_not_named():
    assert largest_series(_page(MIN_SERIES - 1).encode()) is None


def test_a_histogram_is_one_series_for_all_its_buckets():
    rows = "".join(
        f'took_bucket{{path="/{n}",le="{le}"}} 1\n' for n in range(MIN_SERIES) for le in (1, "+Inf")
    )
    sums = "".join(f'took_count{{path="/{n}"}} 1\n' for n in range(MIN_SERIES))

    found = largest_series((rows + sums).encode())

    assert MetricSeries("took", MIN_SERIES, "path", MIN_SERIES) == found


def test_the_rise_of_series_is_said(tmp_path):
    for number, count in enumerate((2000, 3000), start=1):
        (tmp_path / f"metrics-{number}.prom").write_text(_page(count))

    said = (
        " ".join(map(str, gomem.diagnose(tmp_path).verdict.whose))
        .replace("\u00a0", " ")
        .replace("\u202f", " ")
    )

    assert "metrics-2.prom has 3 000 series of requests_total, up from 2 000" in said
    assert "its label path has 3 000 values" in said
