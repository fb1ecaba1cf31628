"""Times within the range of a frame: 64 bits of nanoseconds since 1970."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

EARLIEST = datetime(1678, 1, 1, tzinfo=UTC)
LATEST = datetime(2262, 1, 1, tzinfo=UTC)


def known_time(time: datetime) -> datetime | None:
    """Return the time; None if a frame cannot hold it, because then it cannot be real."""
    # Go's zero time, which means unknown, is in the year 1.
    return time if EARLIEST <= time < LATEST else None


def parse_time(value: object) -> datetime | None:
    """Parse an ISO 8601 time to UTC; without a zone, it is taken as UTC. None if invalid."""
    if not isinstance(value, str):
        return None
    try:
        time = datetime.fromisoformat(value)
        return known_time((time if time.tzinfo else time.replace(tzinfo=UTC)).astimezone(UTC))
    except (OverflowError, ValueError):
        return None


def parse_date(words: str) -> datetime | None:
    """Parse a time in UTC as the kernel and `date` print it, `Nov 26 07:13:48 2026`.

    None if it is not such a time.
    """
    try:
        time = datetime.strptime(" ".join(words.split()), "%b %d %H:%M:%S %Y")
    except ValueError:
        return None
    return known_time(time.replace(tzinfo=UTC))


def time_of_seconds(seconds: float) -> datetime | None:
    """Convert Unix seconds to a time; None if it is invalid, or a frame cannot hold it."""
    try:
        return known_time(datetime.fromtimestamp(seconds, UTC))
    except (OverflowError, ValueError, OSError):
        return None


def file_time(path: Path) -> datetime | None:
    """Return the modification time of a file; None if unknown."""
    try:
        return time_of_seconds(path.stat().st_mtime)
    except OSError:
        return None
