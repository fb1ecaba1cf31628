"""What every load generator reports, in whatever words: the record that its parser fills."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

NANOSECONDS, MILLISECONDS = 1e-9, 1e-3
MILLISECONDS_A_SECOND = 1000  # a division gives the nearest number, a product may not
KIB = 1 << 10
_SECONDS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0}
_SECONDS |= {"h": 3600.0}
_DURATION = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,15})?)(ns|us|µs|μs|ms|s|m|h)")
_SIZE = re.compile(r"([0-9]{1,18}(?:\.[0-9]{1,9})?) ?([kKMGT]?)i?B")


@dataclass(frozen=True, slots=True)
class Report:
    """One run of a load generator; None for what it does not say."""

    tool: str  # which
    line: int = 1  # where it begins, from 1
    requests: int | None = None  # answered or failed
    # Of them, failed: no answer, or one of another status than 2xx and 3xx.
    errors: int | None = None
    seconds: float | None = None  # how long it took
    requests_per_second: float | None = None  # as the tool says
    received_bytes: float | None = None  # as the tool says
    connections: int | None = None  # at a time
    mean_seconds: float | None = None  # of an answer
    min_seconds: float | None = None  # the fastest
    max_seconds: float | None = None  # the slowest
    # Seconds by quantile, of those that the tool prints.
    latencies: dict[float, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Tool:
    """A load generator: how its report begins, at a line's beginning, and its parser."""

    name: str
    begins: str
    parse: Callable[[str, int], Report]


def number(text: str, pattern: str) -> float | None:
    """The number that a pattern's first group finds; None where there is none."""
    found = re.search(pattern, text, re.MULTILINE)
    return None if found is None else finite(found[1])


def count(text: str, pattern: str) -> int | None:
    """The same, a whole number."""
    found = number(text, pattern)
    return None if found is None else int(found)


def finite(value: Any, scale: float = 1.0) -> float | None:
    """A number times a scale; None for anything else, and for negative and infinite ones."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        found = float(value) * scale
    except (ValueError, OverflowError):
        return None
    return found if math.isfinite(found) and found >= 0 else None


def whole(value: Any) -> int | None:
    """A count; None for anything else."""
    found = finite(value)
    return None if found is None or found > 2**62 else int(found)


def duration(text: str) -> float | None:
    """Seconds, as Go, k6 and wrk print them: `1m2.5s`, `145.3µs`; None for anything else."""
    text = text.strip()
    pieces = _DURATION.findall(text)
    if not pieces or "".join(f"{size}{unit}" for size, unit in pieces) != text:
        return 0.0 if text == "0" else None
    return sum(float(size) * _SECONDS[unit] for size, unit in pieces)


def size(text: str, thousand: int) -> float | None:
    """Bytes, of a unit whose k is 1000 or 1024."""
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        return None
    return float(found[1]) * thousand ** " KMGT".index(found[2].upper() or " ")
