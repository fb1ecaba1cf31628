"""Which sample type a table without a name counts, by the command that follows it.

Form          (pprof) top          2 MB, of the type that is not said
              (pprof) alloc_space
              (pprof) top          161 MB of alloc_space
A heap profile has two types in bytes. Who asks for one of them saw the other one before.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gomem.inputs.pprof.printed.tables import Table

_OTHER_SPACE = {"alloc_space": "inuse_space", "inuse_space": "alloc_space"}


def with_types_before(tables: Sequence[Table]) -> list[Table]:
    """Name the type of tables in bytes above a command that asks for the other type in bytes."""
    typed = list(tables)
    for place, below in enumerate(tables[1:]):
        table = typed[place]
        other = _OTHER_SPACE.get(below.kind, "")
        if other and not table.kind and table.rows and table.session == below.session:
            is_in_bytes = table.sample_type.unit == "bytes"
            typed[place] = replace(table, kind=other) if is_in_bytes else table
    return typed
