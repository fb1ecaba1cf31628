"""Frames as CSV of which no spreadsheet runs a cell, and no terminal obeys one.

To a spreadsheet a cell that begins with `=`, `+`, `-` or `@` is a formula. So text out of files
that begins so, and is no number, is written behind an apostrophe. Characters that cannot be seen
are escaped as in messages.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from gomem.errors import printable

if TYPE_CHECKING:
    import pandas as pd

FORMULA = re.compile(r"\s*[=+\-@]")
NUMBER = re.compile(r"[+-]?[0-9.]+(?:e[+-]?[0-9]+)?", re.IGNORECASE)


def csv_cell(value: Any) -> Any:
    """A cell, if it is text, as a spreadsheet can hold it; anything else as it is."""
    if not isinstance(value, str):
        return value
    text = printable(value)
    is_formula = FORMULA.match(text) is not None and NUMBER.fullmatch(text) is None
    return f"'{text}" if is_formula else text


def render_csv(frame: pd.DataFrame, *, header: bool = True) -> str:
    """A frame as CSV: columns of words, which are ours, Go's or the kernel's, as they are."""
    told = frame.attrs.get("columns", {})
    names = [
        name
        for name, dtype in frame.dtypes.items()
        if dtype.kind not in "iufbmM" and told.get(name, {}).get("holds") != "Words"
    ]
    cells = {name: frame[name].astype(object).map(csv_cell) for name in names}
    return frame.assign(**cells).to_csv(index=False, header=header)
