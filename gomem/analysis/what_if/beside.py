"""How much memory stands beside the heap's objects, which a memory limit counts as well?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gomem.analysis.what_if.pacer import Era
from gomem.units import MIB, format_bytes, format_fraction

if TYPE_CHECKING:
    from gomem.analysis.what_if.replay import Load

FULL_SPANS = 0.03  # of the heap at its highest, in free slots of spans
MOST_SLACK = 0.2  # of the heap; MemStats read between sweeping and filling up show more


@dataclass(frozen=True)
class MemoryNow:
    """What a moment of the capture says of the memory beside the heap."""

    retained_bytes: int  # HeapSys less HeapReleased
    beside_bytes: int  # what the runtime has mapped beside the heap: Sys less HeapSys
    growing_bytes: int  # of it, what grows with the heap: MSpanSys and GCSys
    slack_bytes: int  # HeapInuse less HeapAlloc
    heap_sys_bytes: int  # HeapSys
    rss_bytes: int | None  # RSS; None if it is not known


@dataclass(frozen=True)
class Beside:
    """Memory beside the heap's objects that a limit counts: an estimate with its bounds."""

    fixed: tuple[float, float, float]  # bytes whatever the heap's size: least, likely, most
    share: tuple[float, float, float]  # of the heap: least, likely, most
    other_bytes: float | None  # RSS beside the heap that is kept; None if it is not known
    words: str  # how it is known

    @classmethod
    def of(cls, memory: MemoryNow | None, load: Load, era: Era) -> Beside:
        """From a moment's MemStats where there are some, else what releases usually need."""
        if memory is not None:
            heap = max(memory.heap_sys_bytes, 1)
            beside, rss = memory.beside_bytes, memory.rss_bytes
            rest, grows = beside - memory.growing_bytes, memory.growing_bytes / heap
            slack = max(2 * FULL_SPANS, min(memory.slack_bytes / heap, MOST_SLACK))
            return cls(
                (0.9 * rest, rest, 1.1 * rest),
                (0.9 * grows + 0.01, grows + FULL_SPANS, 1.1 * grows + slack),
                None if rss is None else float(rss - memory.retained_bytes),
                "memory beside the heap stays as it was when MemStats were last read: "
                f"{format_bytes(beside)} of the runtime's own, goroutine stacks among them",
            )
        stacks = float(np.median(load.scanned))
        # 1.19 and 1.20 map 4 MiB for the scavenger; to 1.19 a bitmap takes 3.2 % of the arenas.
        scavenger = 4 * MIB if era in (Era.LIMIT, Era.LATEST_OF_FIVE) else 0
        bitmap = 0.03 if era <= Era.LIMIT else 0.0
        fixed = (2 * MIB + stacks, 5 * MIB + stacks + scavenger, 12 * MIB + stacks + scavenger)
        share = (0.01, 0.04 + bitmap, 0.10 + bitmap)
        words = (
            "no MemStats say what the runtime has mapped beside the heap: "
            f"{format_bytes(fixed[1])} and {format_fraction(share[1])} of the heap are assumed; "
            "RSS is not given"
        )
        return cls(fixed, share, None, words)

    def of_limit(self, limit: np.ndarray | float, which: int = 1) -> np.ndarray:
        """Under a limit, of which the heap has the rest; bytes. 0, 1, 2: least, likely, most."""
        held = np.where(np.isfinite(limit), limit, 0.0)
        heap = (held - self.fixed[which]) / (1 + self.share[which])
        return self.fixed[which] + self.share[which] * np.maximum(heap, 0.0)
