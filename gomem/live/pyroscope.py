"""Fetch heap profiles from a Pyroscope server.

Requests        QuerierService/LabelNames and SelectSeries for the scrapes of each process, then
                SelectMergeProfile for each value of a scrape, as pprof; over Connect
Described in    querier/v1/querier.proto, types/v1/types.proto
Quirks          A profile is always a sum over the matching series and the scrapes from start to
                end. So a single scrape is requested by its millisecond, which SelectSeries gives
                with steps of 1 ms, and scrapes that are sums of several are left out. Start and end
                are both inclusive, but must differ; if the server splits the query between them,
                the answer is empty.
                alloc_space and alloc_objects are stored as increases since the previous scrape, not
                as the process counted them, so they are not requested. Object sizes are not stored.
                Labels that begin with __ are internal. By default, a query covers at most 24 hours.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from gomem.inputs.message_classes import message_classes
from gomem.live.api import answered, answered_json
from gomem.live.endpoints import Asked, Endpoints
from gomem.live.stored_profiles import IN_USE, columns_of, type_of
from gomem.sources.times import time_of_seconds

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from gomem.inputs.pprof.columns import PprofColumns
    from gomem.live.instances import Instance, Labels
    from gomem.live.span import Span

KIND = "Pyroscope"
SERVICE = "/querier.v1.QuerierService"
WITHIN = timedelta(minutes=5)  # the scrape is searched in this time before a requested time
MILLISECOND = 0.001
AVERAGE = "TIME_SERIES_AGGREGATION_TYPE_AVERAGE"
SUM = "TIME_SERIES_AGGREGATION_TYPE_SUM"
PRIVATE = "__"
_MESSAGES = message_classes(
    "gomem.pyroscope",
    {
        "SelectMergeProfileRequest": {
            "profile_type": (1, "string"),
            "label_selector": (2, "string"),
            "start": (3, "int64"),
            "end": (4, "int64"),
        }
    },
)


@dataclass(frozen=True)
class Pyroscope:
    """A server and a selection of its series."""

    server: Endpoints
    selector: str  # labels, without braces
    # Values of a heap profile that it stores as the process counted them.
    types: Sequence[str] = ("inuse_objects", IN_USE)

    @property
    def base(self) -> str:
        """The server's address."""
        return self.server.base

    def scrapes(self, span: Span) -> dict[Labels, list[datetime]]:
        """Return for each process the last scrape before each time of the span, in order."""
        within = min(WITHIN, timedelta(seconds=span.step_seconds))
        found: dict[Labels, set[datetime]] = {}
        for end in (span.start + within, *span.times[1:]):
            start = end - within
            names = self._label_names(start, end)
            for labels, times in self._single_scrapes(start, end, names).items():
                found.setdefault(labels, set()).add(max(times))
        return {labels: sorted(times) for labels, times in found.items()}

    def profile(self, instance: Instance, at: datetime, sample_type: str) -> PprofColumns | None:
        """Fetch one value of the profile at a scrape; None if the server does not have it."""
        query = f"{{{instance.selector}}}"
        path, name = f"{SERVICE}/SelectMergeProfile", f"{type_of(sample_type)}{query}"
        for start in (_millis(at) - 1, _millis(at)):
            asked = _MESSAGES["SelectMergeProfileRequest"](
                profile_type=type_of(sample_type),
                label_selector=query,
                start=start,
                end=start + 1,
            )
            sent = Asked(asked.SerializeToString(), "application/proto")
            found = answered(self.server, path, KIND, lambda data: columns_of(data, name), sent)
            if found is not None:
                return found
        return None

    def _label_names(self, start: datetime, end: datetime) -> list[str]:
        own = f'__profile_type__="{type_of(IN_USE)}"'
        matcher = "{" + ",".join(filter(None, (own, self.selector))) + "}"
        asked = {"matchers": [matcher], "start": _millis(start), "end": _millis(end)}
        names = self._asked("LabelNames", asked, lambda found: _listed(found, "names"))
        return [name for name in map(str, names) if not name.startswith(PRIVATE)]

    def _single_scrapes(
        self, start: datetime, end: datetime, names: Sequence[str]
    ) -> dict[Labels, list[datetime]]:
        """Times with exactly one scrape of a process, and none 1 ms before or after, by labels.

        If a time has several scrapes, their average differs from their sum.
        """
        sums, averages = (
            self._asked(
                "SelectSeries",
                {
                    "profileTypeID": type_of(IN_USE),
                    "labelSelector": f"{{{self.selector}}}",
                    "start": _millis(start),
                    "end": _millis(end),
                    "step": MILLISECOND,
                    "groupBy": list(names),
                    "aggregation": aggregation,
                },
                _points,
            )
            for aggregation in (SUM, AVERAGE)
        )
        single = {
            labels: [
                time
                for millis, value in points.items()
                if value == averages.get(labels, {}).get(millis)
                and not {millis - 1, millis + 1} & points.keys()
                and (time := time_of_seconds(millis / 1000)) is not None
            ]
            for labels, points in sums.items()
        }
        return {labels: times for labels, times in single.items() if times}

    def _asked(self, method: str, message: Any, found_in: Any) -> Any:
        asked = Asked(json.dumps(message).encode(), "application/json")
        return answered_json(self.server, f"{SERVICE}/{method}", KIND, found_in, asked)


def _listed(content: dict[str, Any], name: str) -> list[Any]:
    """The entries of a field, which an empty answer omits; KeyError for another kind of answer."""
    return content[name] if content else content.get(name, [])


def _points(content: Any) -> dict[Labels, dict[int, float]]:
    """Values by millisecond, for each process by its labels."""
    found: dict[Labels, dict[int, float]] = {}
    for series in _listed(content, "series"):
        labels = ((str(label["name"]), str(label["value"])) for label in series["labels"])
        key = tuple(sorted((name, value) for name, value in labels if value))
        points = {int(point["timestamp"]): float(point["value"]) for point in series["points"]}
        found.setdefault(key, {}).update(points)
    return found


def _millis(time: datetime) -> int:
    return int(time.timestamp()) * 1000 + time.microsecond // 1000
