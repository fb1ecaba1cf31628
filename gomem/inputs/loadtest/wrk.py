"""wrk: its text output.

Printed by    main, in wrk.c; quantiles only with --latency.
Quirks        A KB is 1024 bytes. Socket errors are printed only if there are any. The requests that
              failed with one are not included in `requests in`.
"""

from __future__ import annotations

import re

from gomem.inputs.loadtest.report import KIB, Report, Tool, count, duration, number, size

_TOTAL = re.compile(
    r"^ *([0-9]{1,15}) requests in (\S{1,20}), ([0-9]{1,15}(?:\.[0-9]{1,2})?[KMGT]?B) read",
    re.MULTILINE,
)
_QUANTILE = re.compile(r"^ +([0-9]{1,3}(?:\.[0-9]{1,5})?)% +([0-9]\S{0,20})\s*$", re.MULTILINE)
_LATENCY = re.compile(r"^ +Latency +(\S{1,20}) +(\S{1,20}) +(\S{1,20}) ", re.MULTILINE)
_SOCKETS = re.compile(
    r"Socket errors: connect ([0-9]{1,15}), read ([0-9]{1,15}), "
    r"write ([0-9]{1,15}), timeout ([0-9]{1,15})"
)


def parse_wrk(text: str, line: int) -> Report:
    """Parse one wrk report."""
    total, latency = _TOTAL.search(text), _LATENCY.search(text)
    quantiles = [(float(share) / 100, duration(at)) for share, at in _QUANTILE.findall(text)]
    sockets = _SOCKETS.search(text)
    without = 0 if sockets is None else sum(map(int, sockets.groups()))
    status = count(text, r"^ *Non-2xx or 3xx responses: ([0-9]{1,15})\s*$") or 0
    return Report(
        tool="wrk",
        line=line,
        requests=None if total is None else int(total[1]),
        errors=None if total is None else without + status,
        seconds=None if total is None else duration(total[2]),
        requests_per_second=number(text, r"^Requests/sec: +([0-9]{1,15}(?:\.[0-9]{1,5})?)\s*$"),
        received_bytes=None if total is None else size(total[3], KIB),
        connections=count(text, r"^ *[0-9]{1,9} threads and ([0-9]{1,9}) connections"),
        mean_seconds=None if latency is None else duration(latency[1]),
        max_seconds=None if latency is None else duration(latency[3]),
        latencies={share: at for share, at in quantiles if at is not None and share < 1},
    )


WRK = Tool("wrk", r"^Running \S{1,20} test @ ", parse_wrk)
