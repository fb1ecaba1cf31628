"""The record that each load generator's parser fills: metrics that all tools report."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

NANOSECONDS, MILLISECONDS = 1e-9, 1e-3
# dividing by 1000 gives the nearest float, multiplying by 0.001 might not
MILLISECONDS_A_SECOND = 1000
KIB = 1 << 10
_SECONDS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0}
_SECONDS |= {"h": 3600.0}
_DURATION = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,15})?)(ns|us|µs|μs|ms|s|m|h)")
_SIZE = re.compile(r"([0-9]{1,18}(?:\.[0-9]{1,9})?) ?([kKMGT]?)i?B")


@dataclass(frozen=True, slots=True)
class Report:
    """One run of a load generator; None for values that the tool does not report."""

    tool: str  # name of the load generator
    line: int = 1  # first line, from 1
    requests: int | None = None  # including failed ones
    # Failed requests: no response, or a status other than 2xx and 3xx.
    errors: int | None = None
    seconds: float | None = None  # duration of the run
    requests_per_second: float | None = None  # as reported
    received_bytes: float | None = None  # as reported
    connections: int | None = None  # concurrent
    mean_seconds: float | None = None  # of a response
    min_seconds: float | None = None  # the fastest
    max_seconds: float | None = None  # the slowest
    # Latency in seconds by quantile, for the quantiles that the tool prints.
    latencies: dict[float, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Tool:
    """A load generator: the first words of its report, and its parser."""

    name: str
    begins: str
    parse: Callable[[str, int], Report]


def number(text: str, pattern: str) -> float | None:
    """Return the number in a pattern's first group; None if it does not match."""
    found = re.search(pattern, text, re.MULTILINE)
    return None if found is None else finite(found[1])


def count(text: str, pattern: str) -> int | None:
    """Return the whole number in a pattern's first group; None if it does not match."""
    found = number(text, pattern)
    return None if found is None else int(found)


def finite(value: Any, scale: float = 1.0) -> float | None:
    """Return a number times a scale; None for anything else, and if negative or infinite."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        found = float(value) * scale
    except (ValueError, OverflowError):
        return None
    return found if math.isfinite(found) and found >= 0 else None


def whole(value: Any) -> int | None:
    """Return a count; None for anything else."""
    found = finite(value)
    return None if found is None or found > 2**62 else int(found)


def duration(text: str) -> float | None:
    """Parse a duration (`1m2.5s`, `145.3µs`) of Go, k6 or wrk to seconds; None for other text."""
    text = text.strip()
    pieces = _DURATION.findall(text)
    if not pieces or "".join(f"{size}{unit}" for size, unit in pieces) != text:
        return 0.0 if text == "0" else None
    return sum(float(size) * _SECONDS[unit] for size, unit in pieces)


def size(text: str, thousand: int) -> float | None:
    """Parse a size to bytes; `thousand` is the value of k, 1000 or 1024."""
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        return None
    return float(found[1]) * thousand ** " KMGT".index(found[2].upper() or " ")
