"""From where on a cost of the collector is worth a finding, and why there.

They stand together because they are judgements, not facts: whoever runs batch jobs, or trades in
microseconds, has others. In Python `gomem.diagnose(…, gc_thresholds=gomem.GcThresholds(
pause_seconds=0.001))`, on the command line `gomem report … --threshold pause_seconds=0.001`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from gomem.errors import CaptureError
from gomem.units import MIB

if TYPE_CHECKING:
    from collections.abc import Iterable


@dataclass(frozen=True)
class GcThresholds:
    """Limits of what counts as usual.

    Attributes:
        enough_cycles: Collections before any of them says something. A heap that doubles from 4 MiB
            to 4 TiB needs twenty, so a start-up alone never gets there.
        marking_fraction: Share of GOMAXPROCS for marking that is always a finding: a tenth of the
            machine. Of marking, because the log overstates what stops take.
        frequent_marking_fraction: Share that is one where collections are also frequent. The
            analysers of Java's logs have called less than 95 % for the program low for years.
        frequent_interval_seconds: Median interval that is frequent. Ten in a second: most requests
            then meet a marking phase, with its assists and its write barriers.
        critical_marking_fraction: Share at which the collector hardly rests. While it marks it is
            given a quarter of the Ps, so who spends a quarter over all is always marking.
        limit_room_fraction: Room that a memory limit leaves above the live heap, as a part of it,
            under which frequent collections are a finding however cheap: each byte that the live
            heap grows by makes them more frequent still.
        forced_cycles: Collections forced by the program; a few come from tests and heap profiles.
        forced_fraction: Of all. Below a quarter the pacer still decides.
        pause_seconds: A stop of the world that is long. Go 1.5 promised less than 10 ms; since 1.8
            stops take less than 1 ms, so that 10 ms say that something is wrong.
        long_fraction: Of collections that stopped that long: one in a hundred is a p99.
        long_cycles: How many at least: once or twice a busy kernel takes the CPU away.
        worst_pause_seconds: A single stop that is a finding by itself: users notice a tenth of a
            second.
        growth_bytes: Growth of the live heap, below which rounding to 1 MiB and chance play along.
        growth_fraction: The same, of the live heap at the end.
        growth_sure_seconds: Time after which growth is called likely, not possible: caches fill.
        headroom_bytes: Room for garbage that is worth a word: below, nobody's limit turns on it.
        headroom_fraction: The same, of RSS, where that is known.
    """

    enough_cycles: int = 20
    marking_fraction: float = 0.10
    frequent_marking_fraction: float = 0.05
    frequent_interval_seconds: float = 0.1
    critical_marking_fraction: float = 0.25
    limit_room_fraction: float = 0.05
    forced_cycles: int = 10
    forced_fraction: float = 0.25
    pause_seconds: float = 0.010
    long_fraction: float = 0.01
    long_cycles: int = 3
    worst_pause_seconds: float = 0.1
    growth_bytes: int = 8 * MIB
    growth_fraction: float = 0.10
    growth_sure_seconds: float = 600.0
    headroom_bytes: int = 64 * MIB
    headroom_fraction: float = 0.25

    @classmethod
    def of(cls, settings: Iterable[str]) -> GcThresholds:
        """The usual ones but for what `NAME=VALUE` texts set, each in its base unit.

        Raises:
            CaptureError: A text is of another form, or names none of them.
        """
        return cls(**dict(_setting(text) for text in settings))


def _setting(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    usual = {field.name: field.default for field in fields(GcThresholds)}
    if not equals or name not in usual:
        wanted = ", ".join(f"{known}={default}" for known, default in usual.items())
        raise CaptureError(f"{text}: not a threshold; wanted NAME=VALUE, usual are {wanted}")
    try:
        number = float(value)
    except ValueError:
        number = math.nan
    if not number >= 0:
        raise CaptureError(f"{text}: {value!r} is no number; wanted one from 0 on")
    return name, number
