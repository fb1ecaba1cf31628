"""Memory of containers as cAdvisor and the kubelet count it: on a page of metrics, or as JSON.

cAdvisor      container_memory_working_set_bytes{container="api",pod="api-0"} 2.913044e+09
kubelet       /stats/summary: "name": "api", … "workingSetBytes": 2913044000, "rssBytes": …
The working set is the cgroup's charge less inactive page cache; RSS is its anonymous memory alone.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gomem.inputs.resemblance import Resemblance
from gomem.text import Bytes, Quoted, Text, joined, text
from gomem.units import ADDRESS_SPACE_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator

NAMED = 3  # containers
WORKING_SET, LIMIT = "working_set_bytes", "limit_bytes"
_SAMPLE = re.compile(
    rb"^[ \t>]*container_(?:memory|spec_memory)_(working_set_bytes|rss|cache|limit_bytes)"
    rb"\{([^{}\n]{0,2000})\}[ \t]+(\d[\d.]{0,20}(?:e[+-]?\d{1,3})?)", re.MULTILINE,
)  # fmt: skip
_LABEL = re.compile(rb'\b(namespace|pod|pod_name|container|container_name|name)="([^"\n]{1,253})"')
_MEMORY = re.compile(
    rb'"name": ?"(?P<name>[^"\n]{1,253})"[^{}]{0,400}(?:"cpu": ?\{[^{}]{0,800}\}[,\s]{0,40})?'
    rb'"memory": ?\{(?P<memory>[^{}]{1,800})\}'
)
_BYTES = re.compile(rb'"(workingSetBytes|rssBytes)": ?(\d{1,18})')
_ASK = (
    "that is the kernel's view of a container, not what it is used for: "
    "gomem capture PID -o DIR; of a Go process /metrics has go_memstats_…, too"
)
_NAMES = {"workingSetBytes": WORKING_SET, "rssBytes": "rss"}
_SAID = (
    (WORKING_SET, "a working set of {}"), ("rss", "{} of RSS"), ("cache", "{} of page cache"),
    (LIMIT, "a limit of {}"),
)  # fmt: skip


def memory_of_containers(head: bytes, _: str) -> Resemblance | None:
    """Describe the containers with the largest working set or RSS."""
    found: dict[str, dict[str, int]] = {}
    for name, field, size in (*_on_a_page(head), *_in_json(head)):
        found.setdefault(name, {})[field] = size
    used = [(name, sizes) for name, sizes in found.items() if sizes.keys() - {LIMIT}]
    if not used:
        return None
    used.sort(key=lambda used_by: -max(used_by[1].get(key, 0) for key in (WORKING_SET, "rss")))
    said = (text("{} has {}", Quoted(name), _sizes(sizes)) for name, sizes in used[:NAMED])
    what = text("memory of containers by cAdvisor or the kubelet: {}", joined("; ", said))
    return Resemblance(what, _ASK, is_evidence=True)


def _sizes(sizes: dict[str, int]) -> Text:
    known = (text(words, Bytes(sizes[field])) for field, words in _SAID if sizes.get(field))
    return joined(", ", known)


def _on_a_page(head: bytes) -> Iterator[tuple[str, str, int]]:
    """Yield container, field and bytes; series without a container are sums of the pod's."""
    for field, labels, number in _SAMPLE.findall(head):
        of = dict(_LABEL.findall(labels))
        # with `_name` before Kubernetes 1.16
        pod = of.get(b"pod", of.get(b"pod_name"))
        container = of.get(b"container", of.get(b"container_name"))
        name = b"/".join(filter(None, (pod, container))) or of.get(b"name", b"")
        size = float(number)
        if name and size <= ADDRESS_SPACE_BYTES:
            yield name.decode("utf-8", "replace"), field.decode("ascii"), round(size)


def _in_json(head: bytes) -> Iterator[tuple[str, str, int]]:
    for found in _MEMORY.finditer(head):
        for field, size in _BYTES.findall(found["memory"]):
            yield found["name"].decode("utf-8", "replace"), _NAMES[field.decode()], int(size)
