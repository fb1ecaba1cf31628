"""The first screen of a comparison, with the verdict: RSS by owner per side, changes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gomem.comparison.single_values import HEAP, RSS
from gomem.diagnosis.owners import owners_at
from gomem.inputs.schema import rows_of
from gomem.text import Bytes, BytesChange, Count, Text, Words, text
from gomem.units import format_relative, is_unknown
from gomem.views.comparison import tables, words
from gomem.views.document import Bars, Block, Table, Tile
from gomem.views.report.opening import CAPTIONS, bars_of
from gomem.views.report.verdict import together
from gomem.views.tables import table
from gomem.views.words import minus_signs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

    from gomem.comparison.samples import Comparison
    from gomem.diagnosis.changes import Change

MAX_CHANGED = 10  # rows of the table of changes
# candidates for the headline number, in order of preference
SIZES = {RSS: "RSS", HEAP: "HeapAlloc"}
TIME = "sec/op"  # the benchmark unit for the headline number


def opening(comparison: Comparison, before: str, after: str) -> tuple[Block, ...]:
    """RSS by owner on both sides, with their names, and a table of changes."""
    bars = () if comparison.change is None else bars_between([(before, None), (after, comparison)])
    return (*bars, *changed_table(words.changed_metrics(comparison)))


def bars_between(sides: Sequence[tuple[str, Comparison | None]]) -> tuple[Bars, ...]:
    """Return a bar per side on common parts: the first shows `before`, the others `after`.

    Empty if the contents of a side are unknown. With several runs per side, the run with the median
    RSS is shown.
    """
    compared = [side for _, side in sides if side is not None]
    changes: list[Change] = [side.change for side in compared if side.change is not None]
    if not changes or len(changes) < len(compared):
        return ()
    quantities = {account.quantity for change in changes for account in change.accounts if account}
    ends = [change.ends for change in changes]
    known = [pair for pair in ends if pair is not None]
    if len(known) < len(ends) or len(quantities) > 1 or not quantities <= set(CAPTIONS):
        return ()
    first = (known[0][0], changes[0].earlier)
    others = [(pair[1], change.later) for pair, change in zip(known, changes, strict=True)]
    shown = [(name, *end) for (name, _), end in zip(sides, [first, *others], strict=True)]
    bars = bars_of(owners_at(quantities.pop(), shown), is_series=len(shown) == 2)
    if all(words.are_single(words.metrics_of(side, words.MEMORY)) for side in compared):
        return (bars,)
    return (replace(bars, caption=f"{bars.caption}, in the run with the median"),)


def changed_table(metrics: pd.DataFrame) -> tuple[Table, ...]:
    """Return the changed metrics: headline metrics first, then the largest changes."""
    if metrics.empty:
        return ()
    largest = words.largest_first(metrics).head(MAX_CHANGED)
    caption = words.of_all("What changed", MAX_CHANGED, len(metrics))
    return (table(caption, tables.CHANGED, largest),)


def size_of(comparison: Comparison) -> Tile | None:
    """RSS after and its change; else the heap in use; else the mean change of benchmark times."""
    levels = words.metrics_of(comparison, words.MEMORY)
    for name, what in SIZES.items():
        rows = rows_of(levels[(levels["name"] == name) & levels["difference"].notna()])
        if rows:
            return _level(rows[0], what)
    means = comparison.geomeans
    known = rows_of(means[(means["unit"] == TIME) & means["change"].notna()]) if len(means) else []
    if not known or comparison.unlike:
        return None
    change, count = known[0]["change"], Count(known[0]["metrics"], "benchmark")
    name = text("{}, geometric mean of {}", TIME, count)
    return Tile(_relative(change), together(name))


def _level(row: Mapping[str, Any], what: str) -> Tile:
    change = BytesChange(round(row["difference"]))
    relative = "" if is_unknown(row["change"]) else f" ({_relative(row['change'])})"
    median = "median " if row["before_n"] + row["after_n"] > 2 else ""
    name = text("{}{}, {}{}", median, what, change, relative)
    return Tile(together(Bytes(round(row["after_median"]))), together(name))


def _relative(change: float) -> Text:
    return minus_signs(Words(format_relative(change, brief=True)))
