"""Which keeper grew between two heap dumps of a process?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.inputs.schema import Column, build
from gomem.text import Function, Words

if TYPE_CHECKING:
    import pandas as pd

    from gomem.analysis.retention.keepers import Retention

GROWN = (
    Column("kind", "str", "", "global, goroutine, finalizer, cleanup or other.", Words),
    Column("name", "str", "", "The keeper's name.", Function),
    Column("before_bytes", "int64", "B", "What it kept in the earlier dump."),
    Column("after_bytes", "int64", "B", "What it keeps in the later one."),
    Column("change_bytes", "int64", "B", "After less before."),
    Column("change_objects", "int64", "count", "Objects after less objects before."),
)


def grown(before: Retention, after: Retention) -> pd.DataFrame:
    """Return a row per keeper of either dump, the keeper that grew most first; see `GROWN`.

    A keeper is identified by kind and name. A keeper that is missing in a dump retains nothing
    there.
    """
    names = ["kind", "name"]
    sides = [side.keepers[[*names, "bytes", "objects"]] for side in (before, after)]
    both = sides[0].merge(sides[1], on=names, how="outer", suffixes=("_before", "_after"))
    both = both.fillna({column: 0 for column in both.columns if column not in names})
    change = both["bytes_after"] - both["bytes_before"]
    order = change.sort_values(ascending=False, kind="stable").index
    both, change = both.loc[order], change.loc[order]
    columns = {
        "kind": both["kind"].tolist(),
        "name": both["name"].tolist(),
        "before_bytes": both["bytes_before"].to_numpy("int64"),
        "after_bytes": both["bytes_after"].to_numpy("int64"),
        "change_bytes": change.to_numpy("int64"),
        "change_objects": (both["objects_after"] - both["objects_before"]).to_numpy("int64"),
    }
    return build(columns, GROWN)
