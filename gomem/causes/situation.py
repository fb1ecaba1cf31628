"""What the causes look at: the answers about a capture, moment by moment."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from gomem.analysis.rss_vs_heap import Ledger
    from gomem.errors import Damage
    from gomem.releases import GoVersion


@dataclass(frozen=True)
class MomentFacts:
    """What is known of one moment.

    Attributes:
        name: The moment.
        ledger: Where its resident bytes are; None if no artefact says.
        memstats: A row of the MemStats table, or of runtime/metrics in its place.
        heap: A row of `analysis.scavenger.heap_return`, in bytes.
        mappings: Classified mappings.
        size_classes: BySize of MemStats; empty if it is not there.
        metrics: runtime/metrics scalars by name.
        paths: The artefact of each kind.
    """

    name: str
    ledger: Ledger | None = None
    memstats: pd.Series | None = None
    heap: pd.Series | None = None
    mappings: pd.DataFrame | None = None
    size_classes: pd.DataFrame | None = None
    metrics: Mapping[str, float] = field(default_factory=dict)
    paths: Mapping[str, str] = field(default_factory=dict)

    @property
    def rss_bytes(self) -> int | None:
        """Resident bytes, if they are known."""
        return None if self.ledger is None else self.ledger.rss_bytes

    def path(self, kind: str) -> str:
        """The artefact of a kind, as evidence names it."""
        if kind == "memstats" and kind not in self.paths:
            kind = "metrics"
        return self.paths.get(kind, kind)


@dataclass(frozen=True)
class Situation:
    """What is known of a capture.

    Attributes:
        moments: In order.
        go_version: The release, as far as known.
        damage: What could not be read.
        unrecognised: Of its sources, the files that are of no kind gomem knows.
        baseline: The capture to hold it against, if there is one.
    """

    moments: tuple[MomentFacts, ...]
    go_version: GoVersion
    damage: tuple[Damage, ...] = ()
    unrecognised: frozenset[str] = frozenset()
    baseline: Situation | None = None
