"""Which snapshots are compared, and what makes up RSS at each: by part and by group."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gomem.analysis.memory.account import moved
from gomem.analysis.memory.groups import NAMES
from gomem.analysis.memory.ledger import PART_OF_KIND, PARTS
from gomem.comparison.side import Side, median_bytes
from gomem.diagnosis.part_words import PART_NAMES, part_key
from gomem.inputs.schema import Column, build_rows
from gomem.text import MomentName, Words

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from gomem.facts.moment import MomentFacts

    Pairs = Sequence[tuple[str, str]]

MOMENTS = (
    Column("before", "str", "", "Snapshot of the side before.", MomentName),
    Column("after", "str", "", "Snapshot of the side after.", MomentName),
    Column("before_rss_bytes", "Int64", "B", "RSS before."),
    Column("after_rss_bytes", "Int64", "B", "RSS after."),
    Column("change_bytes", "Int64", "B", "RSS after minus before."),
    Column("of_metrics", "bool", "", "Whether the memory metrics are from this pair."),
    Column("of_sites", "bool", "", "Whether the allocation sites are from this pair."),
)
LEDGER = (
    Column("before_moment", "str", "", "Snapshot of the side before.", MomentName),
    Column("after_moment", "str", "", "Snapshot of the side after.", MomentName),
    Column("part", "str", "", "Part of resident memory.", Words),
    Column("before", "Int64", "B", "Bytes before; missing if unknown."),
    Column("after", "Int64", "B", "Bytes after; missing if unknown."),
    Column("change", "Int64", "B", "After minus before."),
)
GROUPS = (
    *LEDGER[:2],
    Column(
        "group",
        "str",
        "",
        "Owner of the memory: a group, or several groups that a side cannot separate.",
        Words,
    ),
    Column("name", "str", "", "Name of the owner in sentences.", Words),
    *LEDGER[3:],
    *(
        Column(f"{what}_{end}", "Int64", "B", f"{words}, at {most}, by the account.")
        for what, words in (
            ("before", "Its bytes before"),
            ("after", "Its bytes after"),
            ("change", "After less before"),
        )
        for end, most in (("low", "least"), ("high", "most"))
    ),
)


def compared_moments(old: Side, new: Side, pairs: Pairs, profiled: Pairs) -> pd.DataFrame:
    """Which moments are compared, by ledger or heap profile, with RSS at both; see `MOMENTS`."""
    rows = []
    for pair in dict.fromkeys([*pairs, *profiled]):
        facts = [side.facts_at(name) for side, name in zip((old, new), pair, strict=True)]
        rss = [
            median_bytes(moment.rss_bytes for moment in side) if pair in pairs else None
            for side in facts
        ]
        rows.append((*pair, *rss, _difference(*rss), pair in pairs[-1:], pair in profiled))
    return build_rows(rows, MOMENTS)


def compared_ledgers(old: Side, new: Side, pairs: Pairs) -> pd.DataFrame:
    """The parts of RSS at these moments, in the median runs; see `LEDGER`."""
    rows = []
    for pair in pairs:
        facts = [side.middle_at(name) for side, name in zip((old, new), pair, strict=True)]
        for part in PARTS:
            sizes = [None if moment is None else _part_bytes(moment, part) for moment in facts]
            if sizes != [None, None]:
                rows.append((*pair, part, *sizes, _difference(*sizes)))
    return build_rows(rows, LEDGER)


def compared_groups(old: Side, new: Side, pairs: Pairs) -> pd.DataFrame:
    """RSS by owner at these moments, as finely as both accounts divide it; see `GROUPS`.

    With several runs per side, the median runs are used, as for the change of RSS.
    """
    rows: list[tuple[Any, ...]] = []
    for pair in pairs:
        before, after = old.snapshot_at(pair[0]), new.snapshot_at(pair[1])
        if before is None or after is None:
            continue
        for part in moved(before, after, bounded=True):
            levels = part.before, part.after
            known = [round(level.low) if level.width < 1 else None for level in levels]
            key = part_key(part.groups)
            name = NAMES.get(key) or PART_NAMES[part.groups]
            ends = [
                round(end) for level in (*levels, part.change) for end in (level.low, level.high)
            ]
            rows.append((*pair, key, name, *known, _difference(*known), *ends))
    return build_rows(rows, GROUPS)


def _part_bytes(facts: MomentFacts, part: str) -> int | None:
    """Bytes of a part; 0 if smaps has no such mapping, None if unknown."""
    assert facts.ledger is not None
    if facts.ledger.has(part):
        return facts.ledger.part(part)
    return 0 if facts.mappings is not None and part in PART_OF_KIND.values() else None


def _difference(before: int | None, after: int | None) -> int | None:
    return None if before is None or after is None else after - before
