"""k6's summary: as text at the end of a run, or as JSON from --summary-export.

Printed by    lib/summary.js and output in k6's internal/cmd; v1.0 groups the same lines by subject.
Quirks        Options select the printed statistics of a trend. A kB is 1000 bytes. JSON's times are
              milliseconds. `http_req_failed` is the rate of failures, so its "passes" are requests
              that failed.
"""

from __future__ import annotations

import re
from typing import Any

from gomem.inputs.loadtest.report import (
    MILLISECONDS,
    Report,
    Tool,
    count,
    duration,
    finite,
    size,
    whole,
)

_TREND = re.compile(r"^ *http_req_duration\.*: (\S(?:.*\S)?) *$", re.MULTILINE)
_STATISTIC = re.compile(r"([a-z]{3}|p\([0-9]{1,2}(?:\.[0-9]{1,5})?\))=(\S{1,30})")
_REQUESTS = re.compile(
    r"^ *http_reqs\.*: ([0-9]{1,15}) +([0-9]{1,15}(?:\.[0-9]{1,9})?(?:e[+-][0-9]{1,2})?)/s",
    re.MULTILINE,
)
_RECEIVED = re.compile(
    r"^ *data_received\.*: ([0-9]{1,15}(?:\.[0-9]{1,2})? [kMGT]?B) ", re.MULTILINE
)
_PERCENTILE = re.compile(r"p\(([0-9]{1,2}(?:\.[0-9]{1,5})?)\)")


def parse_k6(text: str, line: int) -> Report:
    """Parse one summary in text."""
    trend, requests, received = (p.search(text) for p in (_TREND, _REQUESTS, _RECEIVED))
    statistics = [] if trend is None else _STATISTIC.findall(trend[1])
    many, rate = (None, None) if requests is None else (int(requests[1]), float(requests[2]))
    return _report(
        {name: duration(at) for name, at in statistics},
        line=line,
        requests=many,
        errors=count(text, r"^ *http_req_failed\.*: +\S+ +(?:✓ )?([0-9]{1,15}) (?:out of|✗)"),
        requests_per_second=rate,
        received_bytes=None if received is None else size(received[1], 1000),
    )


def k6_of_json(value: dict[str, Any]) -> Report:
    """Parse one summary in JSON."""
    metrics = {name: said for name, said in value["metrics"].items() if isinstance(said, dict)}
    requests = metrics["http_reqs"]
    trend = metrics.get("http_req_duration", {})
    return _report(
        {name: finite(at, MILLISECONDS) for name, at in trend.items()},
        requests=whole(requests.get("count")),
        errors=whole(metrics.get("http_req_failed", {}).get("passes")),
        requests_per_second=finite(requests.get("rate")),
        received_bytes=finite(metrics.get("data_received", {}).get("count")),
    )


def _report(latencies: dict[str, float | None], **numbers: Any) -> Report:
    found = ((_PERCENTILE.fullmatch(name), at) for name, at in latencies.items())
    quantiles = {float(p[1]) / 100: at for p, at in found if p is not None and at is not None}
    if (median := latencies.get("med")) is not None:
        quantiles[0.5] = median
    requests, rate = numbers["requests"], numbers["requests_per_second"]
    return Report(
        tool="k6",
        seconds=requests / rate if requests and rate else None,
        mean_seconds=latencies.get("avg"),
        min_seconds=latencies.get("min"),
        max_seconds=latencies.get("max"),
        latencies=dict(sorted(quantiles.items())),
        **numbers,
    )


K6 = Tool("k6", r"^ *(?:data_received|http_reqs)\.{3,60}: (?=(?s:.{0,20000})http_req)", parse_k6)
