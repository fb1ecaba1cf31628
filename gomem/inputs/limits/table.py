"""What the process may use at most, one row a resource."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.inputs.schema import Column, build

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from gomem.inputs.limits.parse import Limit

LIMITS = (
    Column("limit", "str", "", "The kernel's name, such as Max address space."),
    Column("soft", "UInt64", "", "In force, in the unit's own; <NA> for no limit."),
    Column("hard", "UInt64", "", "Up to which the process may raise it; <NA> for no limit."),
    Column("unit", "str", "", "Of both: bytes, files, processes …; empty if it has none."),
)


def limits_table(limits: Sequence[Limit]) -> pd.DataFrame:
    """One file's rows, in its order."""
    return build(
        {
            "limit": [one.name for one in limits],
            "soft": [one.soft for one in limits],
            "hard": [one.hard for one in limits],
            "unit": [one.unit for one in limits],
        },
        LIMITS,
    )
