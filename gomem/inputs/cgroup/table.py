"""What a control group counts, one row a number."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.inputs.schema import Column, build

if TYPE_CHECKING:
    import pandas as pd

    from gomem.inputs.cgroup.parse import CgroupFile

CGROUP = (
    Column("file", "str", "", "The kernel's file, such as memory.stat."),
    Column("name", "str", "", "The field, or the file's name where it holds one number."),
    Column("value", "Int64", "", "Bytes; counts where the kernel counts; <NA> for no limit."),
)


def cgroup_table(parsed: CgroupFile) -> pd.DataFrame:
    """One file's numbers, in its order."""
    return build(
        {
            "file": [parsed.file] * len(parsed.values),
            "name": list(parsed.values),
            "value": list(parsed.values.values()),
        },
        CGROUP,
    )
