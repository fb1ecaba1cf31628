"""What an output hides of a fleet: its captures, instances, services and builds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.analysis.fleet.builds import build_order
from gomem.numbered import Build, Collected, Instance, Service
from gomem.sources.names import natural_key
from gomem.views.share import Hidden

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gomem.fleets.fleet import Fleet


def hidden_of(fleet: Fleet, builds: Sequence[str] = (), *, redact: bool = False) -> Hidden:
    """Names get their numbers in the order of their names; builds in that of their releases."""
    hidden = Hidden(redact=redact)
    if not redact:
        return hidden
    read = [frame[["capture", "instance", "service", "build", "path"]]
            for frame in (fleet.captures, fleet.failed)]  # fmt: skip
    named = {name: {value for frame in read for value in frame[name]} for name in read[0]}
    ordered = {name: sorted(values - {""}, key=natural_key) for name, values in named.items()}
    hidden.numbered(Collected, ordered["capture"]).numbered(Instance, ordered["instance"])
    hidden.numbered(Service, ordered["service"])
    hidden.numbered(Build, builds or build_order(ordered["build"]))
    for frame in read:
        for name, path in zip(frame["capture"], frame["path"], strict=True):
            hidden.alike(Collected, name, path)
    return hidden
