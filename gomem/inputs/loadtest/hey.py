"""hey: its text output.

Printed by    the template in requester/print.go.
Quirks        The last `[…]` lines count responses by status. The lines of the error distribution
              count requests by error. A request without a response has no status. A quantile
              with too few responses is printed as `0% in 0.0000 secs`. Total data counts only
              bodies, and is missing if responses do not declare their length.
"""

from __future__ import annotations

import re

from gomem.inputs.loadtest.report import Report, Tool, number

_NUMBER = r"([0-9]{1,15}(?:\.[0-9]{1,9})?)"
_QUANTILE = re.compile(rf"^ +([0-9]{{1,3}})%+ in {_NUMBER} secs\s*$", re.MULTILINE)
_STATUS = re.compile(r"^ +\[([0-9]{3})\]\t([0-9]{1,15}) responses\s*$", re.MULTILINE)
_WITHOUT = re.compile(r"^ +\[([0-9]{1,15})\]\t(?![0-9]+ responses)", re.MULTILINE)


def parse_hey(text: str, line: int) -> Report:
    """Parse one hey report."""
    counted = text.partition("Status code distribution:")[2]
    by_status = [(int(status), int(many)) for status, many in _STATUS.findall(counted)]
    failures = text.partition("Error distribution:")[2]
    without = sum(map(int, _WITHOUT.findall(failures)))
    answered = sum(many for _, many in by_status)
    is_known = bool(by_status or without)
    quantiles = [(int(share) / 100, float(at)) for share, at in _QUANTILE.findall(text)]
    return Report(
        tool="hey",
        line=line,
        requests=answered + without if is_known else None,
        errors=without + sum(many for s, many in by_status if s >= 400) if is_known else None,
        seconds=number(text, rf"^ +Total:\t{_NUMBER} secs"),
        requests_per_second=number(text, rf"^ +Requests/sec:\t{_NUMBER}\s*$"),
        received_bytes=number(text, r"^ +Total data:\t([0-9]{1,15}) bytes"),
        mean_seconds=number(text, rf"^ +Average:\t{_NUMBER} secs"),
        min_seconds=number(text, rf"^ +Fastest:\t{_NUMBER} secs"),
        max_seconds=number(text, rf"^ +Slowest:\t{_NUMBER} secs"),
        latencies={share: at for share, at in quantiles if share},
    )


HEY = Tool("hey", r"^Summary:\s*\n +Total:\t", parse_hey)
