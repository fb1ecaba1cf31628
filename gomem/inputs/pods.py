"""Restarts in `kubectl get pods`: with a memory limit, most of them are OOM kills.

Form          NAME                   READY   STATUS             RESTARTS        AGE
              api-5d9c7f8b6d-x2x7p   0/1     CrashLoopBackOff   7 (2m10s ago)   19h
              -A puts NAMESPACE before them, -o wide more behind, grep leaves the first line out
It says neither why a container ended nor what it used.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gomem.inputs.resemblance import Resemblance
from gomem.inputs.text_lines import decoded
from gomem.text import Count, Quoted, Text, joined, text

if TYPE_CHECKING:
    from collections.abc import Sequence

NAMED = 3  # pods
_HEAD = re.compile(rb"(?:NAMESPACE +)?NAME +READY +STATUS +RESTARTS +AGE\b")
_ROW = re.compile(
    rb"^[ \t>|]*(?:[a-z0-9][\w.-]{0,252} +)?(?P<name>[a-z0-9][\w.-]{0,252}) +\d+/\d+ +"
    rb"(?P<status>[A-Z][\w:/-]{1,60}) +(?P<restarts>\d{1,6})(?: \([\w ]{1,30}\))? +"
    rb"\d[\dydhms]{1,12}\b",
    re.MULTILINE,
)
_ASK = (
    "kubectl describe pod NAME says why the last one ended (OOMKilled or another reason) and the "
    "limit, kubectl top pod --containers what each uses now"
)


def restarts_of_pods(head: bytes, _: str) -> Resemblance | None:
    """Describe how often the pods of a list have restarted; None if none has."""
    begun = _HEAD.search(head)
    rows = list(_ROW.finditer(head, begun.end())) if begun is not None else []
    again = _restarted(rows)
    if not again:
        return None
    words = "what kubectl get pods says: {} of {} restarted ({})"
    what = text(words, Count(len(again)), Count(len(rows), "pod"), _pods_words(again))
    return Resemblance(what, _ASK, is_evidence=True)


def pods_again(head: bytes) -> Text:
    """Name the pods that have restarted, of rows without their head; empty without any."""
    rows = [] if _HEAD.search(head) else list(_ROW.finditer(head))
    return _pods_words(_restarted(rows))


def _restarted(rows: Sequence[re.Match[bytes]]) -> list[re.Match[bytes]]:
    return sorted((row for row in rows if _count(row)), key=_count, reverse=True)


def _pods_words(again: Sequence[re.Match[bytes]]) -> Text:
    return text("{}{}", joined(", ", map(_pod_words, again[:NAMED])), ", …" * bool(again[NAMED:]))


def lines_of_pods(data: bytes) -> set[int]:
    """Return the lines, from 1, of a list of pods in a text of another kind.

    Without its head, those are of pods that were killed.
    """
    begun = _HEAD.search(data)
    rows = list(_ROW.finditer(data, 0 if begun is None else begun.end()))
    if begun is None:
        rows = [row for row in rows if row["status"].startswith(b"OOM")]
    elif not _restarted(rows):
        return set()
    places = [row.start("name") for row in rows] + ([] if begun is None else [begun.start()])
    return {data.count(b"\n", 0, place) + 1 for place in places}


def _count(row: re.Match[bytes]) -> int:
    return int(row["restarts"])


def _pod_words(row: re.Match[bytes]) -> Text:
    """A pod with the number of its restarts, and its status if it is not running."""
    status = decoded(row["status"])
    now = text(", now {}", status) * (status != "Running")
    return text("{} {}{}", Quoted(decoded(row["name"])), Count(_count(row), "time"), now)
