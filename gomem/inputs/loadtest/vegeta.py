"""`vegeta report`, as text or with -type=json.

Printed by    NewTextReporter and NewJSONReporter, in vegeta's lib/reporters.go.
Quirks        Each line of the text names its own fields in brackets, which differ by version.
              `rate` is the requested rate, `throughput` the rate of successful requests. A request
              without a response has status 0. JSON's times are nanoseconds.
"""

from __future__ import annotations

import re
from typing import Any

from gomem.inputs.loadtest.report import NANOSECONDS, Report, Tool, duration, finite, whole

_LINE = re.compile(r"^([A-Z][A-Za-z ]{1,20}?) +\[([^\]\n]{1,80})\] +(\S(?:.*\S)?) *$", re.MULTILINE)
_QUANTILE = re.compile(r"([0-9]{2})(?:th)?")
_STATUS = re.compile(r"([0-9]{1,3}):([0-9]{1,15})")


def parse_vegeta(text: str, line: int) -> Report:
    """Parse one report in text."""
    lines = {
        name: dict(zip(fields.split(", "), values.split(", "), strict=False))
        for name, fields, values in _LINE.findall(text)
    }
    requests = lines.get("Requests", {})
    statuses = " ".join(lines.get("Status Codes", {}).values())
    return _report(
        {name: duration(at) for name, at in lines.get("Latencies", {}).items()},
        line=line,
        requests=whole(requests.get("total")),
        errors=_failed(_STATUS.findall(statuses)) if statuses else None,
        seconds=duration(lines.get("Duration", {}).get("total", "")),
        requests_per_second=finite(requests.get("rate")),
        received_bytes=finite(lines.get("Bytes In", {}).get("total")),
    )


def vegeta_of_json(value: dict[str, Any]) -> Report:
    """Parse one report in JSON."""
    statuses, received = value.get("status_codes"), value.get("bytes_in")
    attack, wait = (finite(value.get(key), NANOSECONDS) for key in ("duration", "wait"))
    return _report(
        {name: finite(at, NANOSECONDS) for name, at in value["latencies"].items()},
        requests=whole(value.get("requests")),
        errors=_failed(statuses.items()) if isinstance(statuses, dict) else None,
        seconds=None if attack is None else attack + (wait or 0.0),
        requests_per_second=finite(value.get("rate")),
        received_bytes=finite(received.get("total")) if isinstance(received, dict) else None,
    )


def _report(latencies: dict[str, float | None], **numbers: Any) -> Report:
    found = ((_QUANTILE.fullmatch(name), at) for name, at in latencies.items())
    return Report(
        tool="vegeta",
        mean_seconds=latencies.get("mean"),
        min_seconds=latencies.get("min"),
        max_seconds=latencies.get("max"),
        latencies={int(q[1]) / 100: at for q, at in found if q is not None and at is not None},
        **numbers,
    )


def _failed(statuses: Any) -> int:
    """Return the number of responses with status 0 (no response), 4xx or 5xx."""
    known = ((whole(status), whole(many)) for status, many in statuses)
    return sum(many or 0 for status, many in known if status is not None and not 0 < status < 400)


VEGETA = Tool("vegeta", r"^Requests +\[total, rate", parse_vegeta)
