"""Bounds in a finding's title: whether it calls its size a minimum or a maximum."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Any

from gomem.text import Bytes

if TYPE_CHECKING:
    from collections.abc import Mapping

ROUNDED = 0.005  # titles have integer percentages


def bounds_said(finding: Mapping[str, Any]) -> tuple[float, float] | None:
    """Return the bounds of a size in bytes; None if the title does not call it a bound.

    Args:
        finding: A finding of a report's JSON, with `bytes` and `title`.
    """
    size, title = finding["bytes"], finding["title"].lower()
    if not size:
        return None
    shown = Bytes(size).lower()
    if f"at least {shown}" in title:
        return size, math.inf
    return (0, size) if f"up to {shown}" in title else None


def cpu_bounds_said(finding: Mapping[str, Any]) -> tuple[float, float] | None:
    """Return the bounds of a share of the CPU; None if the title has no maximum."""
    most = re.search(r"(?:at most|% to) (\d+) % of the CPU", finding["title"])
    return None if most is None else (finding["cpu_fraction"], float(most[1]) / 100 + ROUNDED)
