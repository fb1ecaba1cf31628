"""The flame graph of a report's first moment, and of what changed since the baseline."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from gomem.views.document import Block, Figure
from gomem.views.flame_graph import flame

if TYPE_CHECKING:
    from gomem.diagnosis import Diagnosis
    from gomem.tables.pprof import Profile

IN_USE = "inuse_space"
LEAST_WIDTH = 0.002  # of the whole: a page cannot be zoomed without a script
OF_ONE = (
    "By call, inuse_space: calls hang below their callers, and are as wide as what they and all "
    "below them have in use. A colour is a package. Point at a frame for its numbers."
)
OF_TWO = (
    "The same against the baseline: orange is more, blue less, hatched what sampling alone may "
    "explain; a frame is as wide as the larger of both."
)


def flame_blocks(diagnosis: Diagnosis, moment: str) -> tuple[Block, ...]:
    """One flame graph, and a second one where there is a baseline with a profile."""
    profile = _heap_profile(diagnosis, moment)
    if profile is None or not profile.total(IN_USE):
        return ()
    draw = partial(flame, profile, sample_type=IN_USE, least_width=LEAST_WIDTH)
    blocks: list[Block] = [Figure(OF_ONE, partial(draw, name="flame"))]
    base = None if diagnosis.baseline is None else _baseline(diagnosis.baseline, moment)
    if base is not None:
        blocks.append(Figure(OF_TWO, partial(draw, base, name="flame-change")))
    return tuple(blocks)


def _baseline(baseline: Diagnosis, moment: str) -> Profile | None:
    """Its profile of the same moment, else its last."""
    names = [moment, *reversed(list(baseline.sites))]
    profiles = (_heap_profile(baseline, name) for name in names)
    return next((one for one in profiles if one is not None), None)


def _heap_profile(diagnosis: Diagnosis, moment: str) -> Profile | None:
    profiles = diagnosis.capture.profiles.get(moment, {})
    profile = profiles.get("heap") or profiles.get("allocs")
    return profile if profile is not None and IN_USE in profile.sample_type_names else None
