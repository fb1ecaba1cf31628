"""When is a snapshot worth taking? At `rss>2GiB`, `rss>1.2*median`, or `goroutines>10000`."""

from __future__ import annotations

import math
import re
import statistics
from collections import deque
from dataclasses import dataclass, field

from gomem.errors import CaptureError, printable
from gomem.text import Quoted, text
from gomem.units import BYTE_UNITS

LEVELS = ("rss", "goroutines")
MIN_VALUES = 5  # fewer values give no median
MAX_VALUES = 3600  # an hour of readings, one per second
SIZES = {
    "": 1, **{unit.lower(): size for unit, size in BYTE_UNITS.items()},
    "kb": 1000, "mb": 1000**2, "gb": 1000**3, "tb": 1000**4,
}  # fmt: skip
_CONDITION = re.compile(
    r"\s*(?P<level>[a-z]+)\s*>\s*(?P<number>[0-9]+(?:\.[0-9]+)?)\s*"
    r"(?:(?P<unit>[A-Za-z]*)|\*\s*(?P<median>median))\s*"
)


@dataclass
class Trigger:
    """A threshold above which snapshots are taken, at most once per cool-down."""

    level: str  # the quantity: `rss` in bytes, or `goroutines`
    # The threshold, or a multiple of the median of previous values.
    factor: float
    of_median: bool  # whether it is a multiple of the median
    cool_down_seconds: float  # minimum time between two moments
    _seen: deque[int] = field(default_factory=lambda: deque(maxlen=MAX_VALUES))
    _last: float | None = None

    @classmethod
    def of(cls, condition: str, cool_down_seconds: float) -> Trigger:
        """Parse a condition such as `rss>2GiB`; raises CaptureError if invalid."""
        match = _CONDITION.fullmatch(condition)
        unit = (match["unit"] or "").lower() if match else ""
        if match is None or match["level"] not in LEVELS or unit not in SIZES:
            wanted = "examples: 'rss>2GiB', 'rss>1.2*median' or 'goroutines>10000'"
            said = "--when {}: not a condition; {}"
            raise CaptureError(text(said, Quoted(printable(condition)), wanted))
        if unit and match["level"] != "rss":
            what = "--when {}: goroutines take a count, not a size"
            raise CaptureError(text(what, Quoted(printable(condition))))
        factor = float(match["number"]) * SIZES[unit]
        return cls(match["level"], factor, match["median"] is not None, cool_down_seconds)

    def fires(self, value: int, now: float) -> bool:
        """Record a value for later medians, and return whether to take a snapshot now."""
        # `now` is in seconds of a monotonic clock.
        level = self.factor
        if self.of_median:
            has_enough = len(self._seen) >= MIN_VALUES
            level *= statistics.median(self._seen) if has_enough else math.inf
        self._seen.append(value)
        is_cooling = self._last is not None and now - self._last < self.cool_down_seconds
        if value <= level or is_cooling:
            return False
        self._last = now
        return True
