"""Load generator results: one row per report, and latencies by quantile."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gomem.errors import FormatError
from gomem.inputs.loadtest.parse import looks_like_loadtest, parse_loadtest
from gomem.inputs.schema import Column, Frames, build_rows
from gomem.inputs.unwrap import read_plain
from gomem.inputs.wrong_file import reads
from gomem.text import Words

if TYPE_CHECKING:
    import pandas as pd

    from gomem.sources.artefact import Source

RUNS = (
    Column("tool", "str", "", "Who measured it: ab, wrk, hey, vegeta or k6.", Words),
    Column("requests", "Int64", "count", "Requests, answered or failed."),
    Column("errors", "Int64", "count", "Requests without an answer, or answered with 4xx or 5xx."),
    Column("seconds", "Float64", "s", "How long it took."),
    Column(
        "requests_per_second",
        "Float64",
        "Hz",
        "As the tool reports it; for vegeta the rate requested.",
    ),
    Column("received_bytes", "Float64", "B", "Bytes received; for hey, of the bodies only."),
    Column("connections", "Int64", "count", "Concurrent connections, where the tool reports it."),
    Column("mean_seconds", "Float64", "s", "Until an answer, on average."),
    Column("min_seconds", "Float64", "s", "The fastest; of ab in whole milliseconds."),
    Column("max_seconds", "Float64", "s", "The slowest; of ab in whole milliseconds."),
    Column("line", "int64", "", "Line at which the report begins, from 1."),
)
LATENCIES = (
    Column("run", "int64", "", "Which report, from 0."),
    Column("quantile", "float64", "fraction", "Share of the requests that took no longer."),
    Column("seconds", "float64", "s", "How long; of ab in whole milliseconds."),
)


@dataclass(frozen=True)
class LoadTest(Frames):
    """Load generator results: `runs`, a row per report; `latencies`, a row per quantile."""

    runs: pd.DataFrame
    latencies: pd.DataFrame


@reads("what a load generator printed", "loadtest")
def read_loadtest(source: Source) -> LoadTest:
    """Read the output of ab, wrk, hey, `vegeta report` or k6; FormatError if there is no report."""
    reports, damaged, _ = read_plain(source, looks_like_loadtest, parse_loadtest)
    if not reports:
        raise FormatError(source.name, "", "no requests in it; wanted a load generator's report")
    runs = ([getattr(report, column.name) for column in RUNS] for report in reports)
    latencies = (
        (number, quantile, seconds)
        for number, report in enumerate(reports)
        for quantile, seconds in report.latencies.items()
    )
    return LoadTest(build_rows(runs, RUNS), build_rows(latencies, LATENCIES), damaged=damaged)
