"""Flame graphs of the moment shown first, and of its change since another profile."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from gomem.views.document import Block, Figure, Folded
from gomem.views.figures.flame_graph import draw_flame

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from gomem.analysis.profiles.call_tree import CallTree
    from gomem.diagnosis.diagnosis import Diagnosis
    from gomem.inputs.pprof.table import Profile

IN_USE, ALLOCATED, RSS = "inuse_space", "alloc_space", "rss"
WORDS = {IN_USE: "have in use", ALLOCATED: "have allocated since the start"}
HOW = "Each colour is a package. Hover over a frame for numbers; click to zoom (needs JavaScript)."
HOW_COMPARED = (
    "Orange is more, blue is less; hatched frames can be sampling noise. A frame is as wide as its "
    "larger side."
)


def flame_blocks(diagnosis: Diagnosis, moment: str) -> tuple[Block, ...]:
    """RSS, in-use memory by call, and the change since the baseline; allocations are folded."""
    profile, base = diagnosis.capture.heap_profiles.get(moment), diagnosis.baseline_profile(moment)

    def graphs(sample_type: str, name: str, against: str) -> tuple[Block, ...]:
        if profile is None or not _has(profile, sample_type):
            return ()
        graph = _own(diagnosis, moment, sample_type, name)
        if base is None or not _has(base, sample_type):
            return (graph,)
        change = partial(diagnosis.change_tree, moment, sample_type)
        return (graph, _figure(_of_two(sample_type, against), change, f"{name}-change"))

    in_use = graphs(IN_USE, "flame", "the baseline")
    allocated = graphs(ALLOCATED, "flame-allocated", "the baseline")
    rss = rss_flame(diagnosis, moment, "flame-rss")
    return (*rss, *in_use, *([Folded(f"{ALLOCATED} by call", allocated)] if allocated else []))


def rss_flame(diagnosis: Diagnosis, moment: str, name: str) -> tuple[Block, ...]:
    """RSS at a moment by holder, with the live heap by call; empty without RSS."""
    tree = partial(diagnosis.facts.rss_tree, moment)
    known = diagnosis.by_moment.get(moment)
    if known is None or known.rss_bytes is None:
        return ()
    return (_figure(f"RSS by owner; the live heap is split by call stack. {HOW}", tree, name),)


def in_use_flame(diagnosis: Diagnosis, moment: str, name: str) -> tuple[Block, ...]:
    """In-use memory by call at one moment, without changes."""
    if not _has(diagnosis.capture.heap_profiles[moment], IN_USE):
        return ()
    return (_own(diagnosis, moment, IN_USE, name),)


def _own(diagnosis: Diagnosis, moment: str, sample_type: str, name: str) -> Figure:
    caption = (
        f"{sample_type} by call: callees are below their callers; the width of a frame is what "
        f"it and its callees {WORDS[sample_type]}. {HOW}"
    )
    return _figure(caption, partial(diagnosis.facts.profiles.call_tree, moment, sample_type), name)


def change_flames(trees: Mapping[str, Callable[[], CallTree]]) -> tuple[Block, ...]:
    """Changes between two profiles by call: allocations, and in-use memory folded.

    `trees` has a function per sample type that builds its tree; see `Comparison.change_trees`.
    """
    names = {ALLOCATED: "flame-allocated-change", IN_USE: "flame-change"}
    shown: list[Block] = []
    for sample_type, name in names.items():
        if sample_type in trees:
            caption = _of_two(sample_type, "before")
            graph = _figure(caption, trees[sample_type], name)
            is_first = sample_type == ALLOCATED
            shown.append(graph if is_first else Folded(f"{sample_type} by call", (graph,)))
    return tuple(shown)


def _of_two(sample_type: str, base: str) -> str:
    return f"Change of {sample_type} by call, compared with {base}. {HOW_COMPARED}"


def _figure(caption: str, tree: Callable[[], CallTree | None], name: str) -> Figure:
    """The call tree is computed only when the figure is drawn."""
    return Figure(caption, draw_flame, lambda: {"tree": tree(), "name": name}, scripted=True)


def _has(profile: Profile, sample_type: str) -> bool:
    has_any = sample_type in profile.sample_type_names and profile.total(sample_type) != 0
    return has_any and profile.has_stacks
