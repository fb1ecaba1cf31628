"""The flame graphs of a report's first moment, and of what changed since another profile."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from gomem.views.document import Block, Figure, Folded
from gomem.views.figures.flame_graph import flame

if TYPE_CHECKING:
    from gomem.diagnosis.diagnosis import Diagnosis
    from gomem.inputs.pprof.table import Profile

IN_USE, ALLOCATED = "inuse_space", "alloc_space"
WORDS = {IN_USE: "have in use", ALLOCATED: "have allocated since the start"}
HOW = "A colour is a package. Point at a frame for its numbers; click to zoom, where scripts run."
OF_TWO = (
    "orange is more, blue less, hatched what sampling alone may explain; a frame is as wide as the "
    "larger of both."
)


def flame_blocks(diagnosis: Diagnosis, moment: str) -> tuple[Block, ...]:
    """What is in use by call, and against the baseline's profile; folded, what was allocated."""
    profile = diagnosis.capture.heap_profiles.get(moment)
    if profile is None:
        return ()
    blocks: list[Block] = list(_flame(profile, IN_USE, "flame"))
    base = diagnosis.baseline_profile(moment)
    if base is not None:
        blocks += _change(profile, base, IN_USE, "flame-change", "against the baseline")
    folded = _flame(profile, ALLOCATED, "flame-allocated")
    if base is not None:
        folded += _change(profile, base, ALLOCATED, "flame-allocated-change", "against it")
    return (*blocks, *([Folded(f"{ALLOCATED} by call", folded)] if folded else []))


def change_flames(before: Profile, after: Profile) -> tuple[Block, ...]:
    """What changed between two profiles by call: allocated, and folded what is in use."""
    allocated = _change(after, before, ALLOCATED, "flame-allocated-change", "after against before")
    in_use = _change(after, before, IN_USE, "flame-change", "after against before")
    return (*allocated, *([Folded(f"{IN_USE} by call", in_use)] if in_use else []))


def _flame(profile: Profile, sample_type: str, name: str) -> tuple[Block, ...]:
    if not _has(profile, sample_type):
        return ()
    caption = (
        f"By call, {sample_type}: calls hang below their callers, and are as wide as what they and "
        f"all below them {WORDS[sample_type]}. {HOW}"
    )
    draw = partial(flame, profile, sample_type=sample_type, name=name)
    return (Figure(caption, draw, scripted=True),)


def _change(
    profile: Profile, base: Profile, sample_type: str, name: str, against: str
) -> tuple[Block, ...]:
    if not (_has(profile, sample_type) and _has(base, sample_type)):
        return ()
    caption = f"By call, {sample_type} {against}: {OF_TWO}"
    draw = partial(flame, profile, base, sample_type, name=name)
    return (Figure(caption, draw, scripted=True),)


def _has(profile: Profile, sample_type: str) -> bool:
    return sample_type in profile.sample_type_names and profile.total(sample_type) != 0
