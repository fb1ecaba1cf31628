"""Mappings of a process as rows: smaps, smaps_rollup, maps, and what pmap prints."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from gomem.errors import FormatError
from gomem.inputs.schema import Column, Frames, build
from gomem.inputs.smaps.excerpt import HEAD, is_rollup_excerpt
from gomem.inputs.smaps.parse import SIZES, kind_of_mappings, parse_smaps
from gomem.inputs.smaps.pmap import looks_like_pmap, parse_pmap
from gomem.inputs.unwrap import read_plain
from gomem.inputs.wrong_file import reads
from gomem.text import Mapped, Words
from gomem.units import format_bytes

if TYPE_CHECKING:
    from gomem.errors import Damage
    from gomem.inputs.smaps.parse import Mappings
    from gomem.sources.artefact import Source

HEADER = (
    Column("start", "uint64", "address", "First address."),
    Column("end", "uint64", "address", "Address behind the last byte."),
    Column("perms", "str", "", "Permissions: read, write, execute; private or shared.", Words),
    Column("offset", "uint64", "B", "Place in the file."),
    Column("device", "str", "", "Device of the file, major:minor.", Words),
    Column("inode", "uint64", "", "Inode of the file; 0 for anonymous memory."),
    Column(
        "path", "str", "", "File, [heap], [anon: Go: heap] …; empty for anonymous memory.", Mapped
    ),
)
FIELDS = (
    *(Column(name, "Int64", "B", f"{means} To 1 KiB.") for name, means in SIZES),
    Column("THPeligible", "Int64", "", "1 if transparent huge pages may be used here."),
    Column("ProtectionKey", "Int64", "", "Memory protection key."),
    Column("VmFlags", "str", "", "The kernel's two-letter flags; empty where not printed.", Words),
    Column("line", "int64", "", "Line of the header, from 1."),
)
MAPPINGS = (*HEADER, *FIELDS)


def mappings_table(mappings: Mappings) -> pd.DataFrame:
    """Convert mappings to rows, in the file's order; fields without a schema entry come last."""
    known = {column.name for column in MAPPINGS}
    fields = {name: mappings.fields[name] for name in mappings.fields if name in known}
    columns = {column.name: getattr(mappings, column.name) for column in HEADER} | fields
    frame = build({**columns, "VmFlags": mappings.flags, "line": mappings.line}, MAPPINGS)
    extra = {
        name: pd.Series(values.data, dtype="Int64").mask(np.ma.getmaskarray(values))
        for name, values in mappings.fields.items()
        if name not in known
    }
    return frame.assign(**extra, **mappings.words)


@dataclass(frozen=True)
class Smaps(Frames):
    """One process's `mappings`, a row per VMA; sizes such as `Rss` are missing for `maps`.

    `printed_again` counts mappings that grew while they were read; only the last entry is a row.
    """

    mappings: pd.DataFrame
    printed_again: int = field(default=0, kw_only=True)

    @cached_property
    def totals(self) -> pd.Series:
        """Sums of the sizes over all mappings, in bytes, as in smaps_rollup; `<NA>` if unknown."""
        names = [name for name, _ in SIZES if not name.endswith("PageSize")]
        return self.mappings[names].sum(min_count=1).rename("bytes")

    def _repr_html_(self) -> str:
        largest = self.mappings.nlargest(10, "Rss")[["path", "perms", "Size", "Rss", "Swap"]]
        head = f"{len(self.mappings)} mappings, {format_bytes(self.totals['Rss'])} resident"
        return f"<p>{head}; the ten largest:</p>{largest.to_html(escape=True)}"


def _is_of_mappings(data: bytes) -> bool:
    return bool(kind_of_mappings(data)) or looks_like_pmap(data) or is_rollup_excerpt(data)


def _parse(data: bytes, *, source: str) -> tuple[Mappings, list[Damage]]:
    if is_rollup_excerpt(data):  # its first line is where the head would be
        return parse_smaps(HEAD + data, source=source)
    return (parse_pmap if looks_like_pmap(data) else parse_smaps)(data, source=source)


@reads("/proc/PID/smaps", "smaps", "maps", "smaps_rollup", "pmap")
def read_smaps(source: Source) -> Smaps:
    """Read /proc/PID/smaps, smaps_rollup or maps, or a table of pmap.

    Raises FormatError if there is no mapping.
    """
    mappings, damaged, text = read_plain(source, _is_of_mappings, _parse)
    if not len(mappings.start):
        raise FormatError(source.name, "", "no mapping; wanted /proc/PID/smaps")
    in_file = replace(mappings, line=text.lines(mappings.line))
    again = mappings.printed_again
    return Smaps(mappings_table(in_file), printed_again=again, damaged=damaged)
