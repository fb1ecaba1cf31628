"""Where do waits end? By the numbers of goroutines that have waited for less than a minute.

The runtime numbers goroutines in the order in which they start. Where each of them waits forever,
those that wait since less than a minute are the last ones started. Older ones among them have been
woken, and wait again.
"""

from __future__ import annotations

import re
from collections import defaultdict
from statistics import median, quantiles

from gomem.inputs.text_lines import decoded

_HEADER = re.compile(
    rb"^goroutine (\d+)[^\[\n]*\[([^\],\n]+)(, \d+ minutes?)?[^\]\n]*\]:(?=\r?\n)", re.MULTILINE
)
_FUNCTION = re.compile(rb"^(?!runtime\.|goroutine |created by )(\S+)\(", re.MULTILINE)
_Place = tuple[bytes, bytes]  # a state, and a function
MIN_EACH = 10  # goroutines: fewer can be numbered out of order, as each P takes 16 numbers at once


def woken(data: bytes) -> dict[str, int]:
    """Return, by function, how many wait there for less than a minute, if some were woken.

    Half of these are then older than a quarter of those that have waited there for longer.
    """
    fresh, old = defaultdict[_Place, list[int]](list), defaultdict[_Place, list[int]](list)
    headers = [*_HEADER.finditer(data)]
    ends = [header.start() for header in headers[1:]] + [len(data)]
    for header, end in zip(headers, ends, strict=False):  # without headers there is one end
        place = _FUNCTION.search(data, header.end(), end)
        if place is not None:
            there = old if header[3] else fresh
            there[header[2], place[1]].append(int(header[1]))
    return {
        decoded(function): len(numbers)
        for (state, function), numbers in fresh.items()
        if _are_older(numbers, old[state, function])
    }


def _are_older(fresh: list[int], old: list[int]) -> bool:
    if min(len(fresh), len(old)) < MIN_EACH:
        return False
    return median(fresh) < quantiles(old, n=4)[-1]
