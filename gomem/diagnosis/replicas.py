"""Whether the pods or containers of one workload in a table use about the same memory.

Kubernetes names the pods of a Deployment `api-5d9c7f8b6d-x2x7p`, those of a DaemonSet `agent-z4kts`
and those of a StatefulSet `db-0`; docker compose names containers `shop-api-1`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gomem.inputs.schema import rows_of
from gomem.text import Bytes, Count, Quoted, Text, text

if TYPE_CHECKING:
    from gomem.diagnosis.diagnosis import Diagnosis
    from gomem.facts.moment import MomentFacts

LEAST = 3  # replicas; two can differ by age
SPREAD = 2.5  # the largest by the smallest: garbage doubles a heap, load and age do the rest
# Kubernetes' generated names have no vowels and none of 0, 1 and 3.
_NAME = re.compile(
    r"(?P<of>.+?)(?:-[bcdf-hj-np-tv-xz2456789]{6,10}-[bcdf-hj-np-tv-xz2456789]{5}"
    r"|-[bcdf-hj-np-tv-xz2456789]{5}|[-_][0-9]{1,4})"
)


def replica_words(diagnosis: Diagnosis, facts: MomentFacts | None) -> Text:
    """Compare the largest replica with the smallest of the same workload; empty if they agree."""
    listed = None if facts is None else facts.listed
    if facts is None or listed is None or not listed.is_largest or listed.rss_bytes is not None:
        return Text()
    table = diagnosis.capture.processes
    rows = table[table["moment"] == facts.name]
    last = rows[rows["reading"] == rows["reading"].max()].dropna(subset=["working_set_bytes"])
    sizes = {row["name"]: int(row["working_set_bytes"]) for row in rows_of(last)}
    workload = _workload_of(listed.name)
    alike = {
        name: size for name, size in sizes.items() if workload and _workload_of(name) == workload
    }
    if len(alike) < LEAST or listed.name not in alike:
        return Text()
    least = min(alike, key=lambda name: alike[name])
    if alike[listed.name] < SPREAD * alike[least]:
        return Text()
    words = "{} of {} use between {} ({}) and {} ({}): compare the age and the load of these two."
    ends = Bytes(alike[least]), Quoted(least), Bytes(alike[listed.name]), Quoted(listed.name)
    return text(words, Count(len(alike), "replica"), Quoted(workload), *ends)


def _workload_of(name: str) -> str:
    """Return what a pod or container is a replica of; empty if its name does not say."""
    found = _NAME.fullmatch(name)
    return "" if found is None else found["of"]
