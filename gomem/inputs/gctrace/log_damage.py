"""What of a log cannot be read, cannot be, or is not there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gomem.errors import Damage, excerpt

if TYPE_CHECKING:
    from gomem.inputs.gctrace.columns import Columns, LogSoFar, Readings
    from gomem.inputs.gctrace.unwrap import Unwrapped

NO_DURATION_FROM_MS = 1e9
"""The runtime prints a negative duration as a huge one; 11 days is no pause."""


def broken_lines(readings: Readings, unwrapped: Unwrapped, source: str) -> list[Damage]:
    """Lines of the collector's that cannot be read."""
    what = "a line of the collector's that is torn, or of no known release"
    placed = ((unwrapped.place_of(one.line), one.text) for one in readings.broken)
    return [Damage(source, place, what, excerpt(text)) for place, text in placed]


def impossible_durations(cycles: Columns, unwrapped: Unwrapped, source: str) -> list[Damage]:
    """Durations that cannot be, made unknown."""
    damage = []
    for name, values in cycles.items():
        if values.dtype.kind == "f" and np.isinf(values).any():
            for line in cycles["line"][np.isinf(values)]:
                what = f"{name} is more than {NO_DURATION_FROM_MS / 1000:.0f} s; left unknown"
                damage.append(Damage(source, unwrapped.place_of(int(line)), what))
            values[np.isinf(values)] = np.nan
    return damage


def missing_cycles(
    cycles: Columns, readings: Readings, unwrapped: Unwrapped, so_far: LogSoFar
) -> list[Damage]:
    """Collections whose numbers are skipped, where nothing accounts for them."""
    # Broken lines may be theirs, and a person who quotes a log may say that lines are left out. A
    # log may begin late; so nothing is missing before the first collection of its first run.
    if not len(cycles["line"]):
        return []
    number, line, run = cycles["number"].data, cycles["line"], cycles["run"]
    earlier = number[0] - 1 if so_far.number is None else so_far.number
    previous = np.concatenate(([earlier], number[:-1]))
    previous[np.diff(run, prepend=so_far.run) > 0] = 0
    broken, gaps = np.sort([one.line for one in readings.broken]), np.sort(readings.gaps)
    damage = []
    for row in np.flatnonzero(number - previous > 1):
        first, last = int(previous[row]) + 1, int(number[row]) - 1
        since = line[row - 1] if row else -1
        noted = int(np.diff(np.searchsorted(broken, [since, line[row]], side="right"))[0])
        noted += 0 if row else so_far.broken
        left_out = bool(np.diff(np.searchsorted(gaps, [since, line[row]]))[0])
        left_out = left_out or (not row and so_far.gap)
        if noted < last - first + 1 and not left_out:
            which = f"collection {first}" if first == last else f"collections {first} to {last}"
            what = f"{which} of run {run[row]} not found before this line"
            damage.append(Damage(so_far.source, unwrapped.place_of(int(line[row])), what))
    return damage
