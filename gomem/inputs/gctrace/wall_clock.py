"""Wall times as log collectors write them: RFC 3339 with a zone, or microseconds since 1970."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

_TIME_PARTS = re.compile(r"([^.,Z+]{19})(?:[.,](\d+))?(Z|[+-]\d\d:?\d\d)$")


def parse_stamps(stamps: Sequence[str | None]) -> np.ndarray:
    """Times of many lines as UTC, in nanoseconds; NaT where there is none.

    A collector writes all its stamps alike, so that those in UTC are converted together; those of
    another kind one by one.
    """
    try:
        return np.array([_in_utc(stamp) for stamp in stamps], "datetime64[ns]")
    except ValueError:
        times = np.full(len(stamps), np.datetime64("NaT"), "datetime64[ns]")
        for row, stamp in enumerate(stamps):
            times[row] = parse_stamp(stamp)
        return times


def _in_utc(stamp: str | None) -> str:
    if stamp is None:
        return "NaT"
    if stamp[-1:] != "Z" or stamp[10:11] != "T" or "," in stamp:
        raise ValueError(stamp)
    return stamp[:-1]


def parse_stamp(stamp: str | None) -> np.datetime64:
    """An RFC 3339 time, or microseconds since 1970, as UTC; NaT for anything else."""
    if stamp is None:
        return np.datetime64("NaT")
    if stamp.isdecimal():
        return np.datetime64(int(stamp), "us").astype("datetime64[ns]")
    parts = _TIME_PARTS.match(stamp)
    if parts is None:
        return np.datetime64("NaT")
    try:
        seconds = np.datetime64(parts[1], "s")
    except ValueError:
        return np.datetime64("NaT")
    zone = 0 if parts[3] == "Z" else int(parts[3][1:3]) * 60 + int(parts[3][-2:])
    zone = -zone if parts[3][0] == "-" else zone
    nanoseconds = int((parts[2] or "0").ljust(9, "0")[:9])
    return (
        seconds.astype("datetime64[ns]")
        - np.timedelta64(zone, "m")
        + np.timedelta64(nanoseconds, "ns")
    )
