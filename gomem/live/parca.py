"""Fetch heap profiles from a Parca server.

Requests        QueryService/QueryRange for the scrapes of each process, then QueryService/Query for
                each value of a scrape, as pprof; over gRPC-Web, like Parca's own pages
Described in    parca/query/v1alpha1/query.proto
Quirks          A query is a selector preceded by the profile type:
                `memory:inuse_space:bytes:space:bytes{job="api"}`. MODE_MERGE adds up the scrapes in
                a range. MODE_SINGLE needs the time of one scrape to the millisecond, and returns it
                unchanged, except for the sampling rate and the object sizes, which Parca does not
                store. It is not documented which scrape of a step QueryRange returns; its range
                excludes both ends. The paths of the gateway (/profiles/query) are not served.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from gomem.inputs.message_classes import message_classes
from gomem.live.api import NothingThere, answered
from gomem.live.endpoints import Asked, Endpoints
from gomem.live.grpc_web import CONTENT_TYPE, framed, unframed
from gomem.live.stored_profiles import IN_USE, TYPES, columns_of, type_of
from gomem.sources.times import known_time

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gomem.inputs.pprof.columns import PprofColumns
    from gomem.live.instances import Instance, Labels
    from gomem.live.span import Span

KIND = "Parca"
SERVICE = "/api/parca.query.v1alpha1.QueryService"
FINER = 4  # requests per step, to get a scrape near the step's end
AS_PPROF = 1  # a report type of QueryRequest
EPOCH = datetime.fromtimestamp(0, UTC)
_MESSAGES = message_classes(
    "gomem.parca",
    {
        "Time": {"seconds": (1, "int64"), "nanos": (2, "int64")},
        "QueryRangeRequest": {
            "query": (1, "string"),
            "start": (2, "Time"),
            "end": (3, "Time"),
            "step": (5, "Time"),
        },
        "QueryRangeResponse": {"series": (1, "Series[]")},
        "Series": {"labelset": (1, "LabelSet"), "samples": (2, "Sample[]")},
        "LabelSet": {"labels": (1, "Label[]")},
        "Label": {"name": (1, "string"), "value": (2, "string")},
        "Sample": {"timestamp": (1, "Time"), "value": (2, "int64")},
        "QueryRequest": {"single": (4, "SingleProfile"), "report_type": (5, "int64")},
        "SingleProfile": {"time": (1, "Time"), "query": (2, "string")},
        "QueryResponse": {"pprof": (6, "bytes")},
    },
)


@dataclass(frozen=True)
class Parca:
    """A server and a selection of its series."""

    server: Endpoints
    selector: str  # labels, without braces
    # values of a heap profile that it stores as the process counted them
    types: Sequence[str] = TYPES

    @property
    def base(self) -> str:
        """The server's address."""
        return self.server.base

    def scrapes(self, span: Span) -> dict[Labels, list[datetime]]:
        """Return for each process the scrapes nearest to the times of the span, in order."""
        finer = max(1, round(span.step_seconds / FINER))
        asked = _MESSAGES["QueryRangeRequest"](
            query=f"{type_of(IN_USE)}{{{self.selector}}}",
            start=_time(span.start),
            end=_time(span.end),
            step=_MESSAGES["Time"](seconds=finer),
        )
        try:
            found = self._asked("QueryRange", asked, _scrapes)
        except NothingThere:
            return {}
        return {labels: _nearest(sorted(times), span.times) for labels, times in found.items()}

    def profile(self, instance: Instance, at: datetime, sample_type: str) -> PprofColumns | None:
        """Fetch one value of the profile at a scrape; None if the server does not have it."""
        query = f"{type_of(sample_type)}{{{instance.selector}}}"
        single = _MESSAGES["SingleProfile"](time=_time(at), query=query)
        asked = _MESSAGES["QueryRequest"](single=single, report_type=AS_PPROF)
        try:
            packed = self._asked("Query", asked, _pprof)
        except NothingThere:
            return None
        return columns_of(packed, query)

    def _asked(self, method: str, message: Any, found_in: Any) -> Any:
        asked = Asked(framed(message.SerializeToString()), CONTENT_TYPE)
        path = f"{SERVICE}/{method}"
        return answered(self.server, path, KIND, lambda data: found_in(unframed(data)), asked)


def _pprof(data: bytes) -> bytes:
    return bytes(_MESSAGES["QueryResponse"].FromString(data).pprof)


def _scrapes(data: bytes) -> dict[Labels, set[datetime]]:
    """The times of scrapes of each process, by its labels."""
    found: dict[Labels, set[datetime]] = {}
    for series in _MESSAGES["QueryRangeResponse"].FromString(data).series:
        labels = sorted((label.name, label.value) for label in series.labelset.labels)
        stamps = (sample.timestamp for sample in series.samples)
        times = {EPOCH + timedelta(seconds=t.seconds, microseconds=t.nanos // 1000) for t in stamps}
        if times:
            found.setdefault(tuple(labels), set()).update(filter(known_time, times))
    return found


def _time(time: datetime) -> Any:
    seconds = int(time.timestamp())
    return _MESSAGES["Time"](seconds=seconds, nanos=time.microsecond * 1000)


def _nearest(times: Sequence[datetime], wanted: Sequence[datetime]) -> list[datetime]:
    """The times nearest to the wanted times, sorted, without duplicates."""
    near = set()
    for time in wanted if times else ():
        place = bisect_left(times, time)
        beside = times[max(0, place - 1) : place + 1]
        near.add(min(beside, key=lambda own, time=time: abs(own - time)))  # type: ignore[misc]
    return sorted(near)
