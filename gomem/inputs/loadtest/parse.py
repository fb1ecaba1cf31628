"""The output of a load generator: number of requests, rate, and failures.

Printed by    ab (Apache's), wrk, hey, `vegeta report` as text or JSON, k6's summary as text or from
              `--summary-export`. Each has a module in this folder, with notes on its format.
Quirks        A load generator with a fixed number of connections waits for a response before the
              next request. So its rate is a result, and its latencies miss the requests that it
              would have sent in the meantime. With vegeta and k6's arrival-rate executors the rate
              is an input.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gomem.errors import Damage, FormatError, excerpt
from gomem.inputs.json_text import first_value, is_json
from gomem.inputs.loadtest.ab import AB
from gomem.inputs.loadtest.hey import HEY
from gomem.inputs.loadtest.k6 import K6, k6_of_json
from gomem.inputs.loadtest.vegeta import VEGETA, vegeta_of_json
from gomem.inputs.loadtest.wrk import WRK

if TYPE_CHECKING:
    from gomem.inputs.loadtest.report import Report, Tool

TOOLS: tuple[Tool, ...] = (AB, WRK, HEY, VEGETA, K6)
HEAD_BYTES = 1 << 16
MAX_BYTES = 16 << 20  # a longer text is not a summary
MAX_REPORTS = 1000
_JSON_PARSERS = {"k6": k6_of_json, "vegeta": vegeta_of_json}
_ANY_BEGINNING = re.compile("|".join(f"(?:{tool.begins})" for tool in TOOLS).encode(), re.MULTILINE)


def looks_like_loadtest(data: bytes) -> bool:
    """Whether the content is a load generator's report, or contains one near its beginning."""
    if is_json(data):
        if not (b'"http_reqs' in data or b'"status_codes"' in data):
            return False
        _, value = first_value(data[:MAX_BYTES])
        return _tool_of_json(value) is not None
    return _ANY_BEGINNING.search(data[:HEAD_BYTES]) is not None


def parse_loadtest(data: bytes, *, source: str) -> tuple[list[Report], list[Damage]]:
    """Parse load generator reports in text or JSON; FormatError if there is none.

    Other lines are skipped. A report without the required fields is damage.
    """
    if len(data) > MAX_BYTES:
        raise FormatError(source, "", f"larger than {MAX_BYTES} bytes; wanted a summary")
    if is_json(data):
        return _of_json(data, source)
    text = data.decode("utf-8", "backslashreplace")
    begins = [
        (found.start(), tool)
        for tool in TOOLS
        for found in re.finditer(tool.begins, text, re.MULTILINE)
    ]
    if not begins:
        raise FormatError(source, "", "no report of ab, wrk, hey, vegeta or k6 in it")
    begins.sort(key=lambda begin: begin[0])
    reports: list[Report] = []
    damage: list[Damage] = []
    ends = [place for place, _ in begins[1:]] + [len(text)]
    for (place, tool), end in list(zip(begins, ends, strict=True))[:MAX_REPORTS]:
        line = text.count("\n", 0, place) + 1
        report = tool.parse(text[place:end], line)
        if report.requests is None or report.requests_per_second is None:
            what = f"cut short: no requests per second in what {tool.name} printed"
            damage.append(Damage(source, f"line {line}", what, excerpt(text[place : place + 80])))
        if report.requests is not None or report.requests_per_second is not None:
            reports.append(report)
    if len(begins) > MAX_REPORTS:
        damage.append(Damage(source, "", f"more than {MAX_REPORTS} reports; the rest is not read"))
    return reports, damage


def _of_json(data: bytes, source: str) -> tuple[list[Report], list[Damage]]:
    _, value = first_value(data)
    tool = _tool_of_json(value)
    if tool is None:
        raise FormatError(source, "", "not the JSON of vegeta report or of k6 --summary-export")
    return [_JSON_PARSERS[tool](value)], []


def _tool_of_json(value: object) -> str | None:
    if not isinstance(value, dict):
        return None
    metrics = value.get("metrics")
    if isinstance(metrics, dict) and isinstance(metrics.get("http_reqs"), dict):
        return "k6"
    is_of_vegeta = {"latencies", "status_codes", "requests", "rate"} <= value.keys()
    return "vegeta" if is_of_vegeta and isinstance(value["latencies"], dict) else None
