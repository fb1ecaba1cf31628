"""Wall times as log collectors write them: RFC 3339 with a zone, or microseconds since 1970."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

_TIME_PARTS = re.compile(r"([^.,Z+]{19})(?:[.,](\d+))?(Z|[+-]\d\d:?\d\d)$")


NAT = np.datetime64("NaT")
MICROSECOND_DIGITS = 16
# Outside of these years 64 bits of nanoseconds do not hold a time, and NumPy would wrap around.
_EARLIEST, _LATEST = np.datetime64("1678-01-01", "s"), np.datetime64("2262-01-01", "s")


def parse_stamps(stamps: Sequence[str | None]) -> np.ndarray:
    """Times of many lines as UTC, in nanoseconds; NaT where there is none.

    A collector writes all its stamps alike: those in UTC are converted together, others one by one.
    """
    try:
        return np.array([_in_utc(stamp) for stamp in stamps], "datetime64[ns]")
    except ValueError:
        times = np.full(len(stamps), NAT, "datetime64[ns]")
        for row, stamp in enumerate(stamps):
            times[row] = parse_stamp(stamp)
        return times


def _in_utc(stamp: str | None) -> str:
    if stamp is None:
        return "NaT"
    if not "1678" <= stamp[:4] < "2262" or stamp[-1:] != "Z" or stamp[10:11] != "T" or "," in stamp:
        raise ValueError(stamp)
    return stamp[:-1]


def parse_stamp(stamp: str | None) -> np.datetime64:
    """An RFC 3339 time, or microseconds since 1970, as UTC; NaT for anything else."""
    if stamp is None:
        return NAT
    if stamp.isdecimal():
        known = len(stamp) <= MICROSECOND_DIGITS and int(stamp) // 10**6 < _LATEST.astype(int)
        return np.datetime64(int(stamp), "us").astype("datetime64[ns]") if known else NAT
    parts = _TIME_PARTS.match(stamp)
    if parts is None:
        return NAT
    try:
        seconds = np.datetime64(parts[1], "s")
    except ValueError:
        return NAT
    if not _EARLIEST <= seconds < _LATEST:
        return NAT
    zone = 0 if parts[3] == "Z" else int(parts[3][1:3]) * 60 + int(parts[3][-2:])
    zone = -zone if parts[3][0] == "-" else zone
    nanoseconds = int((parts[2] or "0").ljust(9, "0")[:9])
    return (
        seconds.astype("datetime64[ns]")
        - np.timedelta64(zone, "m")
        + np.timedelta64(nanoseconds, "ns")
    )
