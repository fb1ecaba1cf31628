"""What the process may use at most, one row a resource."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from gomem.errors import FormatError
from gomem.inputs.limits.parse import looks_like_limits, parse_limits
from gomem.inputs.schema import Column, WithDamage, build
from gomem.inputs.unwrap import read_plain
from gomem.inputs.wrong_file import reads
from gomem.sources.artefact import open_source

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from gomem.errors import Damage
    from gomem.inputs.limits.parse import Limit
    from gomem.sources.artefact import Readable

LIMITS = (
    Column("limit", "str", "", "The kernel's name, such as Max address space."),
    Column("soft", "UInt64", "", "In force, in the unit's own; <NA> for no limit."),
    Column("hard", "UInt64", "", "Up to which the process may raise it; <NA> for no limit."),
    Column("unit", "str", "", "Of both: bytes, files, processes …; empty if it has none."),
)


@dataclass(frozen=True)
class ResourceLimits(WithDamage):
    """The limits of one process.

    Attributes:
        limits: A row per resource; see `LIMITS`.
        damaged: What could not be read.
    """

    limits: pd.DataFrame
    damaged: tuple[Damage, ...] = ()

    def _repr_html_(self) -> str:
        return self.limits.to_html(escape=True, index=False)


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


@reads("/proc/PID/limits", "limits")
def read_limits(readable: Readable) -> ResourceLimits:
    """Read /proc/PID/limits, a row a resource.

    Raises:
        FormatError: There is no limit in it.
    """
    source = open_source(readable)
    parse = partial(parse_limits, source=source.name)
    limits, damage, _ = read_plain(source.data, source.name, looks_like_limits, parse)
    if not limits:
        raise FormatError(source.name, "", "no limit in it; wanted /proc/PID/limits")
    return ResourceLimits(limits_table(limits), (*source.damage, *damage))
