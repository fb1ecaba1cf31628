"""What an output hides about a fleet: names of captures, instances, services and builds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.numbered import Build, Collected, Instance, Service
from gomem.releases import build_order
from gomem.sources.names import natural_key
from gomem.views.share import Hidden

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gomem.fleets.fleet import Fleet


def hidden_of(fleet: Fleet, builds: Sequence[str] = (), *, redact: bool = False) -> Hidden:
    """Return what to hide about a fleet; see `number_names`."""
    hidden = Hidden(redact=redact)
    if redact:
        number_names(hidden, fleet, builds)
    return hidden


def number_names(hidden: Hidden, fleet: Fleet, builds: Sequence[str] = ()) -> None:
    """Number the names alphabetically, and builds by release."""
    columns = ["capture", "instance", "service", "build", "path"]
    read = [frame[columns] for frame in (fleet.captures, fleet.failed)]
    named = {name: {value for frame in read for value in frame[name]} for name in columns}
    ordered = {name: sorted(values - {""}, key=natural_key) for name, values in named.items()}
    hidden.numbered(Collected, ordered["capture"]).numbered(Instance, ordered["instance"])
    hidden.numbered(Service, ordered["service"])
    hidden.numbered(Build, builds or build_order(ordered["build"]))
    for frame in read:
        for name, path in zip(frame["capture"], frame["path"], strict=True):
            hidden.alike(Collected, name, path)
