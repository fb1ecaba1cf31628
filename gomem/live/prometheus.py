"""What a Prometheus server has of Go processes, each instance as a capture of scrapes.

Asked           /api/v1/query for the instances, then /api/v1/query_range for each of them
Described in    Prometheus' HTTP API; client_golang's Go and process collectors
Quirks          A range query gives the last scrape before each step, up to five minutes old, so
                steps shorter than the scrape interval repeat a scrape. Values are text. A server
                answers at most 11 000 steps. Labels of the target (job, instance, pod) stand beside
                those of the metric (quantile, version), which are all that a page keeps.
                Its histograms of go_gc_* have more buckets than the runtime's reading needs: they
                are not asked for.

A step becomes a page of metrics as the process printed it, named by its time. So an instance is a
capture like any other: an archive, `<job>/<instance>/<time>.tar.gz`, that gomem reads.
"""

from __future__ import annotations

import io
import json
import re
import tarfile
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from gomem.errors import CaptureError
from gomem.live.endpoints import Access, Endpoints, NoAnswer, open_endpoints
from gomem.numbered import Address
from gomem.text import Quoted, text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LABELS = "{service}/{pod}/{time}.tar.gz"  # how the archives are named
STEPS = 120  # scrapes of an instance, by default: enough for a slope, and a second's work
MAX_STEPS = 11_000  # which a server answers
ASKED = "go_.*|process_.*"
NOT_ASKED = ".*_bucket"
PRESENT = ("go_goroutines", "go_memstats_alloc_bytes")  # which every client prints
METRIC_LABELS = ("quantile", "version")
INSTANCE, SERVICE = ("pod", "instance"), ("service", "app", "job")
SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
_DURATION = re.compile(r"(\d{1,9})([smhdw])")
_TIMEOUT_SECONDS = 60.0


@dataclass(frozen=True)
class Span:
    """Which time is asked for."""

    end: datetime
    seconds: float
    step_seconds: float

    @classmethod
    def of(cls, time_range: str, step: str = "", end: datetime | None = None) -> Span:
        """A range such as `7d` until now, in steps; CaptureError if it is none."""
        seconds = duration(time_range, "--range")
        apart = duration(step, "--step") if step else max(1.0, seconds / STEPS)
        if seconds / apart > MAX_STEPS:
            what = f"{seconds / apart:.0f} steps, wanted {MAX_STEPS}"
            raise CaptureError(text("--step {}: {}", Quoted(step), what))
        return cls(end or datetime.now(UTC), seconds, apart)


@dataclass(frozen=True)
class Instance:
    """A process that a server knows, by its labels."""

    service: str
    name: str
    labels: tuple[tuple[str, str], ...]  # all of its target's, by which it is asked for


def duration(given: str, option: str) -> float:
    """Seconds of a duration as Prometheus writes it: `90s`, `7d`; a CaptureError if it is none."""
    found = _DURATION.fullmatch(given.strip())
    if found is None or not int(found[1]):
        what = "{} {}: wanted a duration, such as 30m, 12h or 7d"
        raise CaptureError(text(what, option, Quoted(given)))
    return float(int(found[1]) * SECONDS[found[2]])


def captured(url: str, query: str, span: Span, folder: Path) -> list[Path]:
    """Write an archive for each Go process that a server knows; their paths.

    Args:
        url: The server's, with a name and password if it wants them.
        query: Which processes: a selector such as `{job="api"}`; empty for all.
        span: Which time.
        folder: Where archives go, as `LABELS` names them.

    Raises:
        CaptureError: The server does not answer, refuses the query, or knows no Go process.
    """
    selector = query.strip() or "{}"
    if not (selector.startswith("{") and selector.endswith("}")):
        what = '--query {}: wanted a selector of labels, such as {{job="api"}}'
        raise CaptureError(text(what, Quoted(query)))
    with open_endpoints(url, Access(timeout_seconds=_TIMEOUT_SECONDS)) as server:
        written = []
        for instance in _instances(server, selector, span):
            pages = _pages(server, instance, span)
            if pages:
                written.append(_packed(folder, instance, span, pages))
    if not written:
        what = "{}: no Go process matches {} in this time"
        raise CaptureError(text(what, Address(server.base), Quoted(selector)))
    return written


def _instances(server: Endpoints, selector: str, span: Span) -> Iterator[Instance]:
    """The processes that had Go's metrics at any time of the span, in order."""
    found: dict[tuple[tuple[str, str], ...], Instance] = {}
    for name in PRESENT:
        asked = f"last_over_time({name}{selector}[{span.seconds:.0f}s])"
        at = {"query": asked, "time": f"{span.end.timestamp():.3f}"}
        for series in _asked(server, "query", at):
            labels = {k: v for k, v in series["metric"].items() if k != "__name__"}
            key = tuple(sorted(labels.items()))
            service, own = (_first(labels, names) for names in (SERVICE, INSTANCE))
            found.setdefault(key, Instance(service, own, key))
    yield from (found[key] for key in sorted(found))


def _first(labels: dict[str, str], names: tuple[str, ...]) -> str:
    return next((labels[name] for name in names if labels.get(name)), "unnamed")


def _pages(server: Endpoints, instance: Instance, span: Span) -> dict[float, list[str]]:
    """Lines of metrics by the time of their step."""
    own = ",".join(f"{name}={json.dumps(value)}" for name, value in instance.labels)
    names = f'__name__=~"{ASKED}",__name__!~"{NOT_ASKED}"'
    asked = {
        "query": f"{{{names},{own}}}",
        "start": f"{span.end.timestamp() - span.seconds:.3f}",
        "end": f"{span.end.timestamp():.3f}",
        "step": f"{span.step_seconds:g}",
    }
    pages: dict[float, list[str]] = {}
    for series in _asked(server, "query_range", asked):
        metric = series["metric"]
        kept = [f"{name}={json.dumps(metric[name])}" for name in METRIC_LABELS if name in metric]
        head = f"{metric['__name__']}{{{','.join(kept)}}}" if kept else metric["__name__"]
        for time, value in series["values"]:
            pages.setdefault(float(time), []).append(f"{head} {value}")
    return pages


def _asked(server: Endpoints, what: str, parameters: dict[str, str]) -> list[dict[str, Any]]:
    """The series that a server answers with."""
    try:
        answer = server.get(f"/api/v1/{what}?{urlencode(parameters)}")
    except NoAnswer as error:
        raise CaptureError(text("{}: {}", Address(server.base), Quoted(error))) from error
    try:
        content = json.loads(answer.data)
        series = content["data"]["result"]
    except (ValueError, KeyError, TypeError) as error:
        what = text("{}: no answer of a Prometheus server", Address(server.base))
        raise CaptureError(what) from error
    return list(series)


def _packed(folder: Path, instance: Instance, span: Span, pages: dict[float, list[str]]) -> Path:
    """The pages of an instance as one archive, the same bytes for the same answers."""
    name = f"{span.end:%Y%m%dT%H%M%SZ}.tar.gz"
    path = folder / _plain(instance.service) / _plain(instance.name) / name
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


def _plain(name: str) -> str:
    """A label as a name of a folder."""
    return re.sub(r"[/\x00-\x1f]+", "-", name).lstrip(".") or "unnamed"
