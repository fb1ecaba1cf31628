"""What goes back to the kernel, for JSON."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from gomem.text import MomentName
from gomem.views.json.rows import rows_json

if TYPE_CHECKING:
    import pandas as pd

    from gomem.diagnosis.diagnosis import Diagnosis


def scavenger_json(diagnosis: Diagnosis) -> dict[str, Any] | None:
    """Null where nothing tells."""
    answer = diagnosis.scavenger
    if answer is None:
        return None
    return {
        "goals": [asdict(goal) for goal in answer.goals],
        "moments": _named(answer.retention, "moment"),
        "intervals": _named(answer.intervals, "before", "after"),
        "episodes": _named(answer.episodes, "before", "after"),
        "freed": rows_json(answer.freed),
        "would_free_bytes": answer.would_free_bytes,
        "may_free_bytes": answer.may_free_bytes,
        "lazy_free_bytes": answer.lazy_free_bytes,
        "cpu": None
        if answer.cpu is None
        else asdict(answer.cpu) | {"cpu_fraction": answer.cpu.fraction},
    }


def _named(frame: pd.DataFrame, *columns: str) -> list[dict[str, Any]]:
    """Rows with the names of moments as what they are, so that they can be hidden."""
    return [
        row | {column: MomentName(row[column]) for column in columns} for row in rows_json(frame)
    ]
