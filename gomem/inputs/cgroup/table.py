"""The memory counters of a cgroup, one row per number."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

from gomem.errors import FormatError
from gomem.inputs.cgroup.parse import (
    has_totals,
    looks_like_cgroup,
    of_memory_stats,
    parse_cgroup,
    totals_in_prose,
)
from gomem.inputs.cgroup.session import in_session
from gomem.inputs.schema import Column, Frames, build_rows
from gomem.inputs.unwrap import PlainText, plain_texts, read_plain
from gomem.inputs.wrong_file import reads
from gomem.text import Words

if TYPE_CHECKING:
    import pandas as pd

    from gomem.sources.artefact import Source

CGROUP = (
    Column("file", "str", "", "The kernel's file, such as memory.stat.", Words),
    Column("name", "str", "", "The field, or the file's name if it holds a single number.", Words),
    Column("value", "Int64", "", "Bytes; counts where the kernel counts; <NA> for no limit."),
)


@dataclass(frozen=True)
class Cgroup(Frames):
    """One memory file of a cgroup: `cgroup`, a row per number; see `CGROUP`."""

    cgroup: pd.DataFrame

    @property
    def file(self) -> str:
        """The file that it is named after: that of its first number."""
        return str(self.cgroup["file"].iloc[0])


@reads("a memory file of a cgroup, such as memory.current or memory.stat", "cgroup")
def read_cgroup(source: Source) -> Cgroup:
    """Read one memory file of a cgroup, version 1 or 2; FormatError if it has no number."""
    looks_like = partial(looks_like_cgroup, name=source.name)
    texts = chain((PlainText(source.data),), plain_texts(source.data))
    by_docker = of_memory_stats(source.data)
    session = in_session(source.data)
    if by_docker.values or session is not None:
        parsed, damaged = session or by_docker, source.damage
    elif not has_totals(source.data) or any(looks_like(text.data) for text in texts):
        parsed, damaged, _ = read_plain(source, looks_like, parse_cgroup)
    else:
        parsed, damaged = totals_in_prose(source.data), source.damage
    if not parsed.values:
        raise FormatError(source.name, "", "no number; wanted memory.current, memory.stat …")
    rows = [(parsed.file, *number) for number in parsed.values.items()]
    return Cgroup(build_rows(rows, CGROUP), damaged=damaged)
