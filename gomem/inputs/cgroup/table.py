"""What a control group counts, one row a number."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from gomem.errors import FormatError
from gomem.inputs.cgroup.parse import looks_like_cgroup, parse_cgroup
from gomem.inputs.schema import Column, WithDamage, build
from gomem.inputs.unwrap import read_plain
from gomem.inputs.wrong_file import reads
from gomem.sources.artefact import open_source

if TYPE_CHECKING:
    import pandas as pd

    from gomem.errors import Damage
    from gomem.inputs.cgroup.parse import CgroupFile
    from gomem.sources.artefact import Readable

CGROUP = (
    Column("file", "str", "", "The kernel's file, such as memory.stat."),
    Column("name", "str", "", "The field, or the file's name where it holds one number."),
    Column("value", "Int64", "", "Bytes; counts where the kernel counts; <NA> for no limit."),
)


@dataclass(frozen=True)
class Cgroup(WithDamage):
    """One memory file of a control group.

    Attributes:
        cgroup: A row per number; see `CGROUP`.
        damaged: What could not be read.
    """

    cgroup: pd.DataFrame
    damaged: tuple[Damage, ...] = ()

    def _repr_html_(self) -> str:
        return self.cgroup.to_html(escape=True, index=False)


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


@reads("a memory file of a cgroup, such as memory.current or memory.stat", "cgroup")
def read_cgroup(readable: Readable) -> Cgroup:
    """Read one memory file of a control group, of version 1 or 2.

    Raises:
        FormatError: There is no number in it.
    """
    source = open_source(readable)
    parsed, damage, _ = read_plain(
        source.data,
        source.name,
        lambda data: looks_like_cgroup(data, source.name),
        partial(parse_cgroup, source=source.name),
    )
    if not parsed.values:
        raise FormatError(source.name, "", "no number; wanted memory.current, memory.stat …")
    return Cgroup(cgroup_table(parsed), (*source.damage, *damage))
