"""What grew between two tables of `go tool pprof`, of which no one took the difference.

A share of the total hides it: a large function that stays is the first row of both tables. Rows
rise and fall by chance, as the profiler samples: less than that is no growth. A row that the
earlier table does not have was at most what its rows leave of its total.
"""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING

from gomem.diagnosis.pasted_profiles import DEFAULT_RATE
from gomem.diagnosis.table_callers import NAMED, WORTH_NAMING
from gomem.facts.profiles import IN_USE, that_count
from gomem.inputs.pprof.calls.names import can_be_mended
from gomem.text import Bytes, Function, MomentName, Text, joined, text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gomem.inputs.pprof.table import Profile

SIGMAS = 2.0  # of a difference of sampled bytes


def grown_rows(profiles: Mapping[str, Profile]) -> Text:
    """Say which rows grew from the first table to the last; empty if none did."""
    tables = [
        (name, profile)
        for name, profile in that_count(IN_USE, profiles).items()
        if profile.printed is not None and not profile.is_difference
    ]
    if not tables[1:]:
        return Text()
    (first, before), *_, (last, after) = tables
    old, new = _rows(before), _rows(after)
    most = max(before.total(IN_USE) - sum(old.values()), 0)  # of a row that it does not have
    grown = {
        name: (old.get(name, most), size)
        for name, size in new.items()
        if size - old.get(name, most) > _chance(before, after, old.get(name, most), size)
    }
    rise = sum(now - then for then, now in grown.values())
    worth = sorted(grown, key=lambda name: grown[name][0] - grown[name][1])[:NAMED]
    worth = [name for name in worth if grown[name][1] - grown[name][0] >= WORTH_NAMING * rise]
    if not worth:
        return Text()
    said = joined(", ", (_grown(name, name in old, *grown[name]) for name in worth))
    return joined(" ", filter(None, (
        text("From {} to {}, {} grew.", MomentName(first), MomentName(last), said),
        _level_words(old, new, grown),
    )))  # fmt: skip


def _rows(profile: Profile) -> dict[str, int]:
    top = profile.top_rows(IN_USE)
    return {name: size for name, size in zip(top.function, top.flat.tolist(), strict=True) if size}


def _chance(before: Profile, after: Profile, old: int, new: int) -> float:
    """How much a row differs by chance, and by the rounding of both tables."""
    rounding = sum(
        profile.printed.rounding.get(IN_USE, 0)
        for profile in (before, after)
        if profile.printed is not None
    )
    return SIGMAS * sqrt(DEFAULT_RATE * (old + new)) + rounding


def _grown(name: str, is_known: bool, old: int, new: int) -> Text:
    bound = "" if is_known or not old else "at most "
    return text("{} (from {}{} to {})", Function(name), bound, Bytes(old), Bytes(new))


def _level_words(
    old: Mapping[str, int], new: Mapping[str, int], grown: Mapping[str, object]
) -> Text:
    """Say that the largest row did not grow, which its share of the total hides."""
    largest = max(new, key=lambda name: new[name])
    if largest in grown or largest not in old or not can_be_mended(largest):
        return Text()
    words = "{}, the largest, did not: {} then and {} now."
    return text(words, Function(largest), Bytes(old[largest]), Bytes(new[largest]))
