"""Do the sides differ in what the program holds, which no setting of the GC explains?

GOGC and GOMEMLIMIT decide when a GC runs, so they set how much garbage lies beside the live heap.
The live heap itself is what the program holds. If it differs, so does the work or the data.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.causes.thresholds import Thresholds
from gomem.comparison.settings import GOGC, GOMEMLIMIT
from gomem.diagnosis.same_work import median_of_last
from gomem.inputs.schema import rows_of
from gomem.text import Bytes, BytesBy, Text, joined, text
from gomem.units import is_digits

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from gomem.diagnosis.diagnosis import Diagnosis

USUAL = Thresholds()


def live_heap_words(
    settings: pd.DataFrame, before: Sequence[Diagnosis], after: Sequence[Diagnosis]
) -> Text:
    """Say that the live heap differs although only settings of the GC do; empty if it does not."""
    differing = {row["name"]: row for row in rows_of(settings)}
    named = [name for name in (GOGC, GOMEMLIMIT) if name in differing]
    old, new = _live_bytes(before), _live_bytes(after)
    if not named or old is None or new is None:
        return Text()
    if max(old, new) < USUAL.live_change_ratio * min(old, new):
        return Text()
    not_set = (
        "{} {} not set the live heap, which is {} before and {} after: the runs did different "
    )
    verb = "do" if named[1:] else "does"
    said = text(
        f"{not_set}work, or held different data.",
        joined(" and ", named),
        verb,
        Bytes(old),
        Bytes(new),
    )
    return joined(" ", filter(None, (said, _goal_words(differing.get(GOGC), old))))


def _goal_words(gogc: dict[str, str] | None, live: float) -> Text:
    """Say by how much GOGC alone moves the heap goal of the live heap before."""
    if gogc is None or not (is_digits(gogc["before"]) and is_digits(gogc["after"])):
        return Text()
    by = live * (int(gogc["after"]) - int(gogc["before"])) / 100
    verb = "raises" if by > 0 else "lowers"
    return text("With {} live, GOGC alone {} the heap goal by {}.", Bytes(live), verb, BytesBy(by))


def _live_bytes(side: Sequence[Diagnosis]) -> float | None:
    """The live heap at the last snapshot that has it: the median over the runs."""
    return median_of_last(side, lambda moment: moment.live_bytes or None)
