"""Times as far as a frame can hold them: 64 bits of nanoseconds since 1970."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

EARLIEST = datetime(1678, 1, 1, tzinfo=UTC)
LATEST = datetime(2262, 1, 1, tzinfo=UTC)


def known_time(time: datetime) -> datetime | None:
    """The time, unless no frame can hold it: then nothing was taken at it either."""
    # Go's zero time, which stands for a time that is not known, is in the year 1.
    return time if EARLIEST <= time < LATEST else None


def parse_time(value: object) -> datetime | None:
    """A time as ISO 8601 has it, in UTC, which it is of where it names no zone; else None."""
    if not isinstance(value, str):
        return None
    try:
        time = datetime.fromisoformat(value)
        return known_time((time if time.tzinfo else time.replace(tzinfo=UTC)).astimezone(UTC))
    except (OverflowError, ValueError):
        return None


def parse_date(words: str) -> datetime | None:
    """A time as the kernel and `date` print it, `Nov 26 07:13:48 2026`, in UTC; else None."""
    try:
        time = datetime.strptime(" ".join(words.split()), "%b %d %H:%M:%S %Y")
    except ValueError:
        return None
    return known_time(time.replace(tzinfo=UTC))


def time_of_seconds(seconds: float) -> datetime | None:
    """Unix seconds as a time; None where there is no such time, or no frame can hold it."""
    try:
        return known_time(datetime.fromtimestamp(seconds, UTC))
    except (OverflowError, ValueError, OSError):
        return None


def file_time(path: Path) -> datetime | None:
    """When a file was last written, unless the file system does not say."""
    try:
        return time_of_seconds(path.stat().st_mtime)
    except OSError:
        return None
