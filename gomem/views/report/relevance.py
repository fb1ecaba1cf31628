"""Which sections a page shows unfolded: those that bear on what the verdict says."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gomem.causes.finding import Severity

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gomem.diagnosis.diagnosis import Diagnosis
    from gomem.views.document import Section

# What a finding is told by, besides its evidence.
BEARING = {
    "untouched-now-resident": ("changes", "mappings"),
    "released-but-resident": ("scavenger",),
    "idle-heap-kept": ("scavenger",),
    "heap-growth": ("growth", "allocations"),
    "allocation-spike": ("moments", "allocations"),
    "gc-pressure": ("collector",),
    "memory-limit-thrash": ("collector", "limits"),
    "forced-gc": ("collector",),
    "long-pauses": ("collector",),
    "heap-headroom": ("what-if",),
    "native-memory": ("mappings",),
    "anonymous-mapping": ("mappings",),
    "file-mapping": ("mappings",),
    "huge-pages": ("mappings",),
    "heap-fragmentation": ("scavenger", "allocations"),
    "goroutine-leak": ("moments", "allocations"),
    "stack-growth": ("moments",),
    "limit-risk": ("limits",),
}
# Where nothing was found, the first of these that there is.
GROUND = ("ledger", "allocations", "collector")


def unfolded(sections: Sequence[Section], diagnosis: Diagnosis) -> tuple[Section, ...]:
    """The same sections, of which those that bear on the verdict are unfolded."""
    there = {section.name for section in sections}
    opened = set(BEARING.get(diagnosis.verdict.code or "", ()))
    opened |= set([name for name in GROUND if name in there][:1])
    if any(one.severity >= Severity.WARNING for one in diagnosis.findings):
        opened.add("findings")
    return tuple(
        replace(section, opened=True) if section.name in opened else section for section in sections
    )
