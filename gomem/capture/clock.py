"""When was an artefact taken? By its name, by its own clock, or else by its file."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from gomem.sources.file_dates import known_time

if TYPE_CHECKING:
    from gomem.sources.artefact import Source

BY_FILE = "file"  # copying changes it: it may order files, and is evidence of nothing
ISO = re.compile(r"(\d{4})-?(\d\d)-?(\d\d)[T_ ](\d\d)[-:_]?(\d\d)[-:_]?(\d\d)(?:[.,](\d{1,9}))?Z?")
_UNIX = re.compile(r"(?<!\d)(1\d{9})(\d{3})?(?!\d)")


def time_of(source: Source, parsed: Any) -> tuple[datetime | None, str]:
    """When an artefact was taken: its name says it, or its own clock, or else its file."""
    named = time_in_name(PurePosixPath(source.name).name)
    if named is not None:
        return named, "name"
    own = getattr(parsed, "time", None)
    if isinstance(own, datetime):
        return own, "its own clock"
    return source.modified, BY_FILE if source.modified else ""


def time_in_name(name: str) -> datetime | None:
    """The time stamp in a file's name: ISO 8601 in its usual spellings, or Unix seconds; UTC."""
    if iso := ISO.search(name):
        year, month, day, hour, minute, second = (int(iso[group]) for group in range(1, 7))
        microsecond = int((iso[7] or "0").ljust(6, "0")[:6])
        try:
            named = datetime(year, month, day, hour, minute, second, microsecond, tzinfo=UTC)
        except ValueError:
            return None
        return known_time(named)
    if unix := _UNIX.search(name):
        return datetime.fromtimestamp(int(unix[1]) + int(unix[2] or 0) / 1000, UTC)
    return None


def parse_time(value: object) -> datetime | None:
    """A manifest's time, UTC where it names no zone; None for what is no time."""
    if not isinstance(value, str):
        return None
    try:
        time = datetime.fromisoformat(value)
    except ValueError:
        return None
    return known_time(time if time.tzinfo else time.replace(tzinfo=UTC))
