"""The processes that a server of metrics or profiles knows, told apart by their labels.

A label is text of whoever runs the process: it may be a path, have no end, or be the same for two.
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
MAX_NAME = 100  # characters, so that a folder can be called so
_NOT_IN_A_NAME = re.compile(r"[/\\\x00-\x1f\x7f\ud800-\udfff]+")

Labels = tuple[tuple[str, str], ...]  # of a process, by name


@dataclass(frozen=True)
class Instance:
    """A process that a server knows, by its labels."""

    service: str  # fit for a folder, as is `name`
    name: str  # different from that of all others of the service
    labels: Labels  # all of its target's
    others: tuple[str, ...] = ()  # labels that it does not have, and others of the server's do

    @property
    def selector(self) -> str:
        """What selects its series and no other's, without the braces."""
        labels = (*self.labels, *((name, "") for name in self.others))
        return ",".join(f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in labels)


def selector_of(query: str) -> str:
    """The labels that the user asks for, without the braces; CaptureError if they have none."""
    selector = query.strip() or "{}"
    if not (selector.startswith("{") and selector.endswith("}")):
        what = '--query {}: wanted a selector of labels, such as {{job="api"}}'
        raise CaptureError(text(what, Quoted(query)))
    return selector[1:-1].strip().rstrip(",")


def instances_of(found: Iterable[Mapping[str, str]], base: str) -> list[Instance]:
    """An instance for each set of labels, in order; CaptureError where they are too many."""
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
    """A label as a name of a folder."""
    return _NOT_IN_A_NAME.sub("-", label).strip(". ")[:MAX_NAME] or UNNAMED
