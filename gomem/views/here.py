"""What this process hides in its output: nothing, except in the kernel of a redacted notebook.

Names and numbers are the same in the whole notebook, so a moment has the same name in each cell.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from gomem.inputs.schema import maker_of
from gomem.text import Text
from gomem.views.share import Hidden, share

if TYPE_CHECKING:
    import pandas as pd

    from gomem.capture.capture import Capture

REDACTED = "GOMEM_REDACTED"  # set in the environment of such a kernel
_HIDDEN = Hidden(moments={}, paths={}, redact=REDACTED in os.environ)
# The type of text without a data dictionary: by the name of its axis, else quoted from a file.
UNTOLD = {"holds": "Quoted"}
AXES = {
    "moment": "MomentName", "function": "Function", "package": "Function", "line": "Function",
    "instance": "Instance", "build": "Build", "capture": "Collected", "kind": "Words",
    "name": "Metric", "unit": "Unit", "layer": "Words", "counter": "Words", "dump": "File",
}  # fmt: skip


def hidden_here(*captures: Capture) -> Hidden:
    """Return what to hide for these captures and all previous ones."""
    known = _HIDDEN
    if not known.redact:
        return known
    for capture in captures:
        known.add(capture)
    return known


def frame_here(frame: pd.DataFrame | pd.Series) -> Any:
    """Return a frame or a column with its text redacted as required here."""
    import pandas as pd

    if not _HIDDEN.redact:
        return frame
    if isinstance(frame, pd.Series):
        table = frame_here(frame.to_frame("" if frame.name is None else frame.name))
        return table.iloc[:, 0].rename(frame.name)
    told = dict(frame.attrs.get("columns", {}))
    unsaid = (name for name in frame.columns if str(name) not in told)
    shown = frame.copy(deep=False)
    shown.attrs["columns"] = told | {str(name): UNTOLD for name in unsaid}
    shown = share(shown, _HIDDEN)
    shown.index = _axis(frame.index, told)
    shown.columns = _axis(frame.columns, told) if frame.columns.name else frame.columns
    return shown


def _axis(axis: pd.Index, told: dict[str, dict[str, str]]) -> pd.Index:
    """Redact the labels of an axis, by the axis' name."""
    if axis.nlevels > 1:
        levels = [_axis(level, told) for level in axis.levels]
        return axis.set_levels(levels, verify_integrity=False)
    return axis.map(lambda label: _label(label, axis.name, told))


def _label(label: Any, axis: Any, told: dict[str, dict[str, str]]) -> Any:
    if type(label) is not str:
        return label
    by_name = {"holds": AXES[axis]} if axis in AXES else UNTOLD
    made = maker_of(told.get(axis, by_name))(label)
    return _HIDDEN.text(made) if isinstance(made, Text) else made
