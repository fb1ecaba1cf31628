"""Frames as JSON: a list of their rows, null for what is unknown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gomem.inputs.schema import rows_of
from gomem.units import is_unknown

if TYPE_CHECKING:
    import pandas as pd


def rows_json(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """A frame's rows by column; null for what is unknown."""
    return [
        {str(name): None if is_unknown(value) else value for name, value in row.items()}
        for row in rows_of(frame)
    ]
