"""The time range of a query: until now, in steps."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from gomem.errors import CaptureError
from gomem.text import Quoted, text

MAX_STEPS = 11_000  # Prometheus' limit
SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604800}
_DURATION = re.compile(r"([0-9]{1,9})([smhdw])")


@dataclass(frozen=True)
class Span:
    """The time range of a query."""

    end: datetime
    seconds: float
    step_seconds: float

    @classmethod
    def of(
        cls, time_range: str, step: str = "", *, steps: int, end: datetime | None = None
    ) -> Span:
        """Parse a range such as `7d` until now, with steps of at least a second.

        Without `step`, the range is divided into `steps`. Raises CaptureError if the range or the
        step is invalid.
        """
        seconds = duration(time_range, "--range")
        apart = duration(step, "--step") if step else max(1.0, seconds / steps)
        if seconds / apart > MAX_STEPS:
            what = f"{seconds / apart:.0f} steps, wanted {MAX_STEPS}"
            raise CaptureError(text("--step {}: {}", Quoted(step), what))
        return cls(end or datetime.now(UTC), seconds, apart)

    @property
    def start(self) -> datetime:
        """The start of the range."""
        return self.end - timedelta(seconds=self.seconds)

    @property
    def times(self) -> list[datetime]:
        """Times from the start to the end, a step apart and ascending; the last is the end."""
        count = int(self.seconds / self.step_seconds) + 1
        steps = (timedelta(seconds=n * self.step_seconds) for n in reversed(range(count)))
        return [self.end - step for step in steps]


def duration(given: str, option: str) -> float:
    """Parse a duration in Prometheus' format to seconds: `90s`, `7d`; CaptureError if invalid."""
    found = _DURATION.fullmatch(given.strip())
    if found is None or not int(found[1]):
        what = "{} {}: wanted a duration, such as 30m, 12h or 7d"
        raise CaptureError(text(what, option, Quoted(given)))
    return float(int(found[1]) * SECONDS[found[2]])
