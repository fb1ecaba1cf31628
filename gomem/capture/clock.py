"""When was a file recorded? Its name says so, else its content, else its mtime.

A time in a name shows which files belong together and which came first. But a script wrote it,
truncated to the second, and in local time unless the name has a time zone. So never compute a
duration from the time in a name. A duration needs a clock with a known unit and time zone.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

from gomem.sources.times import parse_time

if TYPE_CHECKING:
    from gomem.sources.artefact import Source

MANIFEST_TIME, BY_NAME, OWN_CLOCK = "manifest", "name", "its own clock"
BY_FILE = "file"  # copying changes it, so it can sort files but proves nothing
# A time of day on a day that is not known: good for differences, and for nothing else.
CLOCK_WITHOUT_DATE = "its own clock, without a date"
BESIDE = "the paste next to it"  # which was taken within a minute, or so
EXACT = frozenset({MANIFEST_TIME, OWN_CLOCK, CLOCK_WITHOUT_DATE})
ISO = re.compile(
    r"(?<![0-9])((?:19|20)[0-9]{2})(-?)([0-9]{2})\2([0-9]{2})"
    r"[T_ -]?([0-9]{2})[-:_]?([0-9]{2})[-:_]?([0-9]{2})(?![0-9])"
    r"(?:[.,]([0-9]{1,9}))?(Z|[+-](?:0[0-9]|1[0-4]):?(?:00|15|30|45)(?![0-9]))?",
    re.IGNORECASE,
)
_UNIX = re.compile(r"(?<![0-9])(1[0-9]{9})((?:[0-9]{3}){0,3})(?![0-9])")


def time_of(source: Source, parsed: Any) -> tuple[datetime | None, str]:
    """Return when an artefact was recorded, and the source of that time.

    The source is the name of the file or its folder, else the artefact's own clock, else the mtime.
    """
    path = PurePosixPath(source.name)
    named = time_in_name(path.name) or time_in_name(path.parent.name)
    if named is not None:
        return named, BY_NAME
    own = getattr(parsed, "time", None) or getattr(source, "time", None)
    if isinstance(own, datetime):
        return own, OWN_CLOCK
    return source.modified, BY_FILE if source.modified else ""


def time_in_name(name: str) -> datetime | None:
    """Parse a time in a name: ISO 8601 or Unix time in s to ns; UTC unless the name has a zone."""
    if iso := ISO.search(name):
        year, _, month, day, hour, minute, second, fraction, zone = iso.groups()
        clock = f"{hour}:{minute}:{second}.{fraction or 0}{zone or 'Z'}".upper()
        return parse_time(f"{year}-{month}-{day}T{clock}")
    if unix := _UNIX.search(name):
        since = timedelta(seconds=int(unix[1]), microseconds=int(unix[2].ljust(6, "0")[:6]))
        return datetime.fromtimestamp(0, UTC) + since
    return None
