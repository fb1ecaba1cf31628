"""What an output hides of a fleet: its captures, instances, services and builds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.numbered import Build, Collected, Instance, Service
from gomem.views.share import Hidden

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gomem.fleets.fleet import Fleet


def hidden_of(fleet: Fleet, builds: Sequence[str] = (), *, redact: bool = False) -> Hidden:
    """What is hidden of it; see `number_names`."""
    hidden = Hidden(redact=redact)
    if redact:
        number_names(hidden, fleet, builds)
    return hidden


def number_names(hidden: Hidden, fleet: Fleet, builds: Sequence[str] = ()) -> None:
    """Give names their numbers in the order of their names; builds in that of their releases."""
    named = fleet.named
    hidden.numbered(Collected, named["capture"]).numbered(Instance, named["instance"])
    hidden.numbered(Service, named["service"]).numbered(Build, builds or named["build"])
    for frame in (fleet.captures, fleet.failed):
        for name, path in zip(frame["capture"], frame["path"], strict=True):
            hidden.alike(Collected, name, path)
