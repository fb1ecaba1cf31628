"""What does a program's own log say about its memory?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gomem.inputs.runtime_lines.patterns import COUNTS, SIZES
from gomem.inputs.schema import rows_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd


@dataclass(frozen=True)
class Logged:
    """A reading of memory in a program's own log.

    Attributes:
        program: The program or library with this line format.
        sizes: Bytes and counts by the names of `patterns.GROUPS`; values that are not logged are
            left out.
        step_bytes: The rounding of the largest size.
    """

    program: str
    sizes: Mapping[str, int]
    step_bytes: int

    @property
    def rss_bytes(self) -> int | None:
        """RSS; None if the line does not have it."""
        return self.sizes.get("rss")

    @property
    def go_claims(self) -> tuple[int, int, int] | None:
        """Bytes of objects, idle heap, and other Go memory; None unless the line has all three."""
        known = [self.sizes.get(name) for name in ("go_alloc", "go_idle", "go_total")]
        alloc, idle, total = known
        if alloc is None or idle is None or total is None:
            return None
        return alloc, idle, max(0, total - alloc - idle)


def logged_reading(rows: pd.DataFrame) -> Logged | None:
    """Return the last reading in a log; None if there are no readings."""
    if not len(rows):
        return None
    (row,) = rows_of(rows.iloc[-1:])
    sizes = {name: row[f"{name}_bytes"] for name in SIZES} | {name: row[name] for name in COUNTS}
    known = {name: size for name, size in sizes.items() if size is not None}
    return Logged(row["program"], known, row["step_bytes"] or 1)
