"""Figures straight from what was read, as a notebook wants them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.analysis.profiles.call_tree import call_tree
from gomem.views.figures.flame_graph import draw_flame

if TYPE_CHECKING:
    from gomem.inputs.pprof.table import Profile
    from gomem.views.figures.flame_graph import FlameGraph


def flame(
    profile: Profile,
    base: Profile | None = None,
    sample_type: str | None = None,
    *,
    upwards: bool = False,
    least_width: float = 0.001,
    name: str = "flame",
) -> FlameGraph:
    """Draw a profile as a flame graph, or what changed since another.

    Args:
        profile: A profile of any kind.
        base: An earlier one to compare it with.
        sample_type: Which of its values; the default one if None.
        upwards: Whether calls stand above their callers instead of below.
        least_width: Share of the whole below which frames are left out.
        name: Unique on its page.

    Raises:
        ValueError: A profile does not have the sample type, or the name cannot be an id.
    """
    tree = call_tree(profile, sample_type, base, least_width=least_width)
    return draw_flame(tree, upwards=upwards, name=name)
