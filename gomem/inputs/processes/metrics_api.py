"""Containers of the metrics API of Kubernetes: `kubectl get --raw /apis/metrics.k8s.io/…`.

{"kind": "PodMetricsList", …, "items": [{"metadata": {"name": "api-7c9", "namespace": "web", …},
 "window": "15s", "containers": [{"name": "api", "usage": {"cpu": "9m", "memory": "99Ki"}}]}]}

`memory` is the working set, as kubectl top prints it (metrics-server, pkg/storage), of one sample.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TYPE_CHECKING

from gomem.inputs.processes.row import ProcessRow, quantity
from gomem.inputs.text_lines import LineNumbers

if TYPE_CHECKING:
    from collections.abc import Iterator

METRICS_API = "the metrics API"
_KIND = re.compile(rb'"kind"\s{0,9}:\s{0,9}"PodMetrics(?:List)?"')
_STRING = rb'\s{0,40}:\s{0,40}"([^"\n]{1,253})"'
_POD = re.compile(rb'"metadata"\s{0,9}:\s{0,9}\{\s{0,99}"name"' + _STRING)
# A container's name stands before or behind its usage.
_USAGE = re.compile(
    rb'(?:"name"'
    + _STRING
    + rb'\s{0,40},\s{0,99})?"usage"\s{0,9}:\s{0,9}\{(?P<usage>[^{}]{0,400})\}'
    rb'(?:\s{0,40},\s{0,99}"name"' + _STRING + rb")?"
)
_MEMORY = re.compile(rb'"memory"' + _STRING)


def rows_of_metrics_api(data: bytes) -> tuple[ProcessRow, ...]:
    """Return the containers with their pods; empty if it is no list of pods."""
    return tuple(_rows(data)) if b'"PodMetrics' in data and _KIND.search(data) else ()


def _rows(data: bytes) -> Iterator[ProcessRow]:
    lines = LineNumbers(data)
    pods = [(found.start(), found[1]) for found in _POD.finditer(data)]
    begins = [begin for begin, _ in pods]
    for found in _USAGE.finditer(data):
        memory, name = _MEMORY.search(found["usage"]), found[1] or found[3]
        size = None if memory is None else quantity(memory[1])
        if size is None or name is None:
            continue
        above = bisect_left(begins, found.start())
        pod = pods[above - 1][1] if above else b""
        whole = b"/".join(filter(None, (pod, name))).decode("utf-8", "backslashreplace")
        yield ProcessRow(METRICS_API, whole, working_set=size, line=lines.at(found.start()))
