"""ab (ApacheBench): its text output.

Printed by    output_results, in httpd's support/ab.c.
Quirks        Percentiles and times are whole milliseconds; only the means have more digits.
              ab counts a response as failed (`Length`) if its length differs from the first one's.
              That happens to every page with a counter in it, so it is not an error here. A
              response with a status other than 2xx does not count as failed, but has its own line.
              Kbytes are 1024 bytes.
"""

from __future__ import annotations

import re

from gomem.inputs.loadtest.report import MILLISECONDS_A_SECOND, Report, Tool, count, number

_NUMBER = r"([0-9]{1,15}(?:\.[0-9]{1,9})?)"
_FAILED = re.compile(
    r"\(Connect: ([0-9]{1,15}), Receive: ([0-9]{1,15}), "
    r"Length: ([0-9]{1,15}), Exceptions: ([0-9]{1,15})\)"
)
_QUANTILE = re.compile(
    r"^ *([0-9]{1,3})% +([0-9]{1,15})(?: \(longest request\))?\s*$", re.MULTILINE
)


def parse_ab(text: str, line: int) -> Report:
    """Parse one ab report."""
    shares = [(int(share) / 100, int(value)) for share, value in _QUANTILE.findall(text)]
    latencies = {share: value / MILLISECONDS_A_SECOND for share, value in shares if share <= 1}
    mean = number(text, rf"^Time per request: +{_NUMBER} \[ms\] \(mean\)\s*$")
    least = number(text, r"^Total: +([0-9]{1,15}) ")
    return Report(
        tool="ab",
        line=line,
        requests=count(text, r"^Complete requests: +([0-9]{1,15})\s*$"),
        errors=_errors(text),
        seconds=number(text, rf"^Time taken for tests: +{_NUMBER} seconds"),
        requests_per_second=number(text, rf"^Requests per second: +{_NUMBER} \[#/sec\]"),
        received_bytes=number(text, r"^Total transferred: +([0-9]{1,15}) bytes"),
        connections=count(text, r"^Concurrency Level: +([0-9]{1,9})\s*$"),
        mean_seconds=None if mean is None else mean / MILLISECONDS_A_SECOND,
        min_seconds=None if least is None else least / MILLISECONDS_A_SECOND,
        max_seconds=latencies.pop(1.0, None),
        latencies=latencies,
    )


def _errors(text: str) -> int | None:
    """Return the requests without a response, plus responses other than 2xx."""
    failed = count(text, r"^Failed requests: +([0-9]{1,15})\s*$")
    if failed is None:
        return None
    other = count(text, r"^Non-2xx responses: +([0-9]{1,15})\s*$") or 0
    parts = _FAILED.search(text)
    if parts is not None:
        failed = sum(int(parts[place]) for place in (1, 2, 4))
    return failed + other


AB = Tool("ab", r"^This is ApacheBench,", parse_ab)
