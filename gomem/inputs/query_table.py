"""The table that Prometheus's own page shows for a query, as people copy it; gomem only names it.

Form          Query: avg(container_memory_usage_bytes / 1024 / 1024) by (name)     if it is copied
              Element                       Value
              {name="api"}                  325.6673828125
The unit is that of the metric, divided by what the query divides it by.
"""

from __future__ import annotations

import re

from gomem.inputs.resemblance import Resemblance
from gomem.inputs.text_lines import decoded
from gomem.text import Bytes, Count, Quoted, Text, joined, text
from gomem.units import GIB, KIB, MIB

NAMED = 3  # rows
_HEAD = re.compile(rb"^[ \t>]*Element[ \t]+Value[ \t]*\r?$", re.MULTILINE)
_ROW = re.compile(
    rb"^[ \t>]*(?P<element>[a-zA-Z_:]?[\w:]{0,200}\{[^{}\n]{0,500}\})[ \t]+"
    rb"(?P<value>\d{1,18}(?:\.\d{1,20})?(?:e\+?\d{1,2})?)[ \t]*\r?$",
    re.MULTILINE,
)
_METRIC = re.compile(rb"\b[a-z]\w{0,100}_(?:bytes|goroutines)\b")
_DIVIDED = re.compile(rb"/ ?(?:1024|\(1024 ?\* ?1024\)|1048576|1024 ?\^ ?2)(?!\d)")
_SELECTOR = re.compile(rb"\{[^{}]{0,500}\}")
_ARITHMETIC = re.compile(rb"[*/%^]")
_PRODUCT = re.compile(rb"\(|1048576|\^")
_UNITS = {0: 1, 1: KIB, 2: MIB, 3: GIB}
_ASK = (
    "gomem reads the page that is scraped: curl -s http://HOST:PORT/metrics > metrics.prom; "
    "gomem capture PID -o DIR says what is in a process"
)


def table_of_a_query(head: bytes, _: str) -> Resemblance | None:
    """Describe the rows of a query on memory or goroutines, the largest first."""
    begun = _HEAD.search(head)
    rows = list(_ROW.finditer(head, begun.end())) if begun is not None else []
    metrics = dict.fromkeys(_METRIC.findall(head))
    if not rows or len(metrics) != 1:
        return None
    (metric,) = metrics
    largest = sorted(rows, key=lambda row: float(row["value"]), reverse=True)
    factor = _factor(head[: begun.start()] if begun else b"", metric)
    said = joined(", ", (_row_words(row, factor) for row in largest[:NAMED]))
    words = "what Prometheus shows for a query on {}, {}: {}{}"
    more = ", …" if rows[NAMED:] else ""
    what = text(words, Quoted(decoded(metric)), Count(len(rows), "row"), said, more)
    return Resemblance(what, _ASK, is_evidence=True)


def _factor(query: bytes, metric: bytes) -> int:
    """Return the bytes of a row's unit; 0 if the rows are no bytes, or the query is not copied."""
    if not metric.endswith(b"bytes") or metric not in query or b"rate(" in query:
        return 0
    plain = _SELECTOR.sub(b"", query)
    if _ARITHMETIC.search(_DIVIDED.sub(b"", plain)):
        return 0
    steps = sum(1 + bool(_PRODUCT.search(found)) for found in _DIVIDED.findall(plain))
    return _UNITS.get(steps, 0)


def _row_words(row: re.Match[bytes], factor: int) -> Text:
    """A row's labels, and its value with the unit if that is known."""
    value = row["value"].decode("ascii")
    size = Bytes(round(float(value) * factor)) if factor else Quoted(value)
    return text("{} {}", Quoted(decoded(row["element"])), size)
