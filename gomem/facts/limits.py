"""When what cannot be reclaimed reaches the cgroup's limit."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from gomem.analysis.memory.limits import time_to_limit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gomem.analysis.memory.cgroup import CgroupUse
    from gomem.analysis.memory.limits import TimeToLimit
    from gomem.facts.moment import MomentFacts


def growth_to_limit(moments: Sequence[MomentFacts], use: CgroupUse | None) -> TimeToLimit | None:
    """When unreclaimable memory reaches the limit, along a line through the moments."""
    if use is None or use.limit_bytes is None:
        return None
    known = [one for one in moments if one.cgroup_use is not None and one.time is not None]
    if not known:
        return None
    times = pd.Series([one.time for one in known])
    sizes = pd.Series(
        [one.cgroup_use.unreclaimable_bytes for one in known if one.cgroup_use is not None],
        dtype="float64",
    )
    seconds = (times - times.iloc[0]).dt.total_seconds()
    return time_to_limit(seconds, sizes, use.limit_bytes)
