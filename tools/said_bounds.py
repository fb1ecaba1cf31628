"""What a finding's title says of its size: that it is the least, or the most."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

from gomem.text import Bytes

if TYPE_CHECKING:
    from collections.abc import Mapping

ROUNDED = 0.005  # a title has whole percentages


def bounds_said(finding: Mapping[str, Any]) -> tuple[float, float] | None:
    """Between what the size lies, in bytes; None where the title calls it no bound.

    Args:
        finding: With `bytes` and `title`, as in a report's JSON.
    """
    size, title = finding["bytes"], finding["title"].lower()
    if not size:
        return None
    shown = Bytes(size).lower()
    if f"at least {shown}" in title:
        return size, math.inf
    return (0, size) if f"up to {shown}" in title else None


def cpu_bounds_said(finding: Mapping[str, Any]) -> tuple[float, float] | None:
    """Between what its share of the CPU lies; None where the title names no most."""
    most = re.search(r"(?:at most|% to) (\d+) % of the CPU", finding["title"])
    return None if most is None else (finding["cpu_fraction"], float(most[1]) / 100 + ROUNDED)
