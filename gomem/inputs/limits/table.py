"""The resource limits of a process, one row per resource."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gomem.errors import FormatError
from gomem.inputs.limits.parse import looks_like_limits, parse_limits
from gomem.inputs.schema import Column, Frames, build_rows
from gomem.inputs.unwrap import read_plain
from gomem.inputs.wrong_file import reads
from gomem.text import Words

if TYPE_CHECKING:
    import pandas as pd

    from gomem.sources.artefact import Source

LIMITS = (
    Column("limit", "str", "", "The kernel's name, such as Max address space.", Words),
    Column("soft", "UInt64", "", "In force, in the unit's own; <NA> for no limit."),
    Column("hard", "UInt64", "", "Up to which the process may raise it; <NA> for no limit."),
    Column("unit", "str", "", "Unit of both: bytes, files, processes …; empty if none.", Words),
)


@dataclass(frozen=True)
class ResourceLimits(Frames):
    """The limits of one process: `limits`, a row per resource; see `LIMITS`."""

    limits: pd.DataFrame


@reads("/proc/PID/limits", "limits")
def read_limits(source: Source) -> ResourceLimits:
    """Read /proc/PID/limits, a row per resource; FormatError if there is no limit."""
    limits, damaged, _ = read_plain(source, looks_like_limits, parse_limits)
    if not limits:
        raise FormatError(source.name, "", "no limit in it; wanted /proc/PID/limits")
    return ResourceLimits(build_rows(limits, LIMITS), damaged=damaged)
