"""The processes that a metrics or profile server knows, distinguished by their labels.

Labels are text that an operator chose: a label can look like a path or be very long. Processes with
equal labels count as one.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from itertools import chain, count
from typing import TYPE_CHECKING

from gomem.errors import CaptureError
from gomem.numbered import Address
from gomem.text import Quoted, text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

SERVICE = ("service", "service_name", "app", "job")
INSTANCE = ("pod", "instance", "hostname", "host")
UNNAMED = "unnamed"
MAX_INSTANCES = 5_000
MAX_NAME = 100  # characters, so that it is a valid folder name
_NOT_IN_A_NAME = re.compile(r"[/\\\x00-\x1f\x7f\ud800-\udfff]+")

Labels = tuple[tuple[str, str], ...]  # of a process, by name


@dataclass(frozen=True)
class Instance:
    """A process that a server knows, by its labels."""

    service: str  # valid as a folder name, as is `name`
    name: str  # unique within the service
    labels: Labels  # all labels of its target
    # labels that it does not have, but other processes of the server do
    others: tuple[str, ...] = ()

    @property
    def selector(self) -> str:
        """The label selector, without braces, that matches only this process."""
        labels = (*self.labels, *((name, "") for name in self.others))
        return ",".join(f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in labels)


def selector_of(query: str) -> str:
    """Return the label selector in the user's query, without braces; else raise CaptureError."""
    selector = query.strip() or "{}"
    if not (selector.startswith("{") and selector.endswith("}")):
        what = '--query {}: wanted a selector of labels, such as {{job="api"}}'
        raise CaptureError(text(what, Quoted(query)))
    return selector[1:-1].strip().rstrip(",")


def instances_of(found: Iterable[Mapping[str, str]], base: str) -> list[Instance]:
    """Return an instance for each set of labels, in order; raises CaptureError if too many."""
    keys = sorted({tuple(sorted(labels.items())) for labels in found})
    if len(keys) > MAX_INSTANCES:
        what = "{}: {} instances match, wanted {} at most; name fewer with --query"
        raise CaptureError(text(what, Address(base), str(len(keys)), str(MAX_INSTANCES)))
    names = {name for key in keys for name, _ in key}
    instances: dict[tuple[str, str], Instance] = {}
    for key in keys:
        absent = tuple(sorted(names - dict(key).keys()))
        service, name = (_plain(_first(dict(key), words)) for words in (SERVICE, INSTANCE))
        others = chain((name,), (f"{name}-{number}" for number in count(2)))
        own = next(other for other in others if (service, other) not in instances)
        instances[service, own] = Instance(service, own, key, absent)
    return list(instances.values())


def _first(labels: Mapping[str, str], names: tuple[str, ...]) -> str:
    return next((labels[name] for name in names if labels.get(name)), UNNAMED)


def _plain(label: str) -> str:
    """Convert a label to a folder name."""
    return _NOT_IN_A_NAME.sub("-", label).strip(". ")[:MAX_NAME] or UNNAMED
