"""Fetch the metrics of Go processes from a Prometheus server, a capture per instance.

Requests        /api/v1/query for the instances, then /api/v1/query_range for each of them
Described in    Prometheus' HTTP API; client_golang's Go and process collectors
Quirks          A range query returns the last scrape before each step, up to five minutes old, so
                steps shorter than the scrape interval repeat a scrape. Values are text. A server
                returns at most 11 000 steps. Labels of the target (job, instance, pod) are mixed
                with those of the metric (quantile, version); a page keeps only the latter. The
                histograms go_gc_* have more buckets than the parser of runtime/metrics needs, and
                are not requested.

A step becomes a page of metrics as the process printed it, and its time names the page. So an
instance becomes an ordinary capture: an archive, `<job>/<instance>/<time>.tar.gz`.
"""

from __future__ import annotations

import io
import json
import tarfile
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from gomem.errors import CaptureError
from gomem.live.api import answered_json
from gomem.live.instances import Instance, instances_of
from gomem.numbered import Address
from gomem.text import text

if TYPE_CHECKING:
    from pathlib import Path

    from gomem.live.endpoints import Endpoints
    from gomem.live.span import Span

LABELS = "{service}/{pod}/{time}.tar.gz"  # naming scheme of the archives
STEPS = 120  # default number of scrapes per instance: enough for a slope, and fetched in a second
ASKED = "go_.*|process_.*"
NOT_ASKED = ".*_bucket"
PRESENT = ("go_goroutines", "go_memstats_alloc_bytes")  # every client prints these
METRIC_LABELS = ("quantile", "version")
KIND = "Prometheus"
Series = tuple[dict[str, str], list[tuple[float, str]]]  # labels; times in seconds with values


def captured(server: Endpoints, selector: str, span: Span, folder: Path) -> list[Path]:
    """Write an archive for each Go process that a server knows, and return the paths.

    Args:
        server: The server.
        selector: Labels that select processes, such as `job="api"`; empty for all.
        span: The time range.
        folder: The parent folder of the archives, which are named by `LABELS`.

    Raises:
        CaptureError: The server does not answer, refuses the query, or knows no Go process.
    """
    written = []
    for instance in _instances(server, selector, span):
        pages = _pages(server, instance, span)
        if pages:
            written.append(_packed(folder, instance, span, pages))
    if not written:
        what = "{}: no metrics of a Go process; give a longer --range or another --query"
        raise CaptureError(text(what, Address(server.base)))
    return written


def _instances(server: Endpoints, selector: str, span: Span) -> list[Instance]:
    """The processes that had Go's metrics at any time in the span, in order."""
    found = []
    for name in PRESENT:
        asked = f"last_over_time({name}{{{selector}}}[{span.seconds:.0f}s])"
        at = {"query": asked, "time": f"{span.end.timestamp():.3f}"}
        for metric, _ in _asked(server, "query", at):
            found.append({k: v for k, v in metric.items() if k != "__name__"})
    return instances_of(found, server.base)


def _pages(server: Endpoints, instance: Instance, span: Span) -> dict[float, list[str]]:
    """Metrics lines by time of their step."""
    names = f'__name__=~"{ASKED}",__name__!~"{NOT_ASKED}"'
    asked = {
        "query": f"{{{names},{instance.selector}}}",
        "start": f"{span.end.timestamp() - span.seconds:.3f}",
        "end": f"{span.end.timestamp():.3f}",
        "step": f"{span.step_seconds:g}",
    }
    pages: dict[float, list[str]] = {}
    for metric, values in _asked(server, "query_range", asked):
        kept = [f"{name}={json.dumps(metric[name])}" for name in METRIC_LABELS if name in metric]
        head = f"{metric['__name__']}{{{','.join(kept)}}}" if kept else metric["__name__"]
        for time, value in values:
            pages.setdefault(time, []).append(f"{head} {value}")
    return pages


def _asked(server: Endpoints, what: str, parameters: dict[str, str]) -> list[Series]:
    """The series in a server's answer."""
    return answered_json(server, f"/api/v1/{what}?{urlencode(parameters)}", KIND, _series)


def _series(content: Any) -> list[Series]:
    return [
        (
            {str(name): str(value) for name, value in series["metric"].items()},
            [(float(time), str(value)) for time, value in series.get("values", ())],
        )
        for series in content["data"]["result"]
    ]


def _packed(folder: Path, instance: Instance, span: Span, pages: dict[float, list[str]]) -> Path:
    """Pack the pages of an instance into an archive; equal answers give equal bytes."""
    name = f"{span.end:%Y%m%dT%H%M%SZ}.tar.gz"
    path = folder / instance.service / instance.name / name
    path.parent.mkdir(parents=True, exist_ok=True)
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz", compresslevel=6) as tar:
        for seconds, lines in sorted(pages.items()):
            at = datetime.fromtimestamp(0, UTC) + timedelta(seconds=seconds)
            data = ("\n".join(sorted(lines)) + "\n").encode()
            member = tarfile.TarInfo(f"{at:%Y%m%dT%H%M%S}.{at.microsecond // 1000:03}Z.prom")
            member.size, member.mtime = len(data), seconds
            tar.addfile(member, io.BytesIO(data))
    path.write_bytes(packed.getvalue())
    return path
