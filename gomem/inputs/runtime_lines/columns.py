"""Tables that a script or a dashboard writes, with a header row: `ts,rss_kb,threads`.

Script        ts,rss_kb,threads
Dashboard     Time,process_resident_memory_bytes,go_memstats_heap_alloc_bytes,go_goroutines
`kb` means KiB and `mb` MiB, as in /proc. Without a unit, see `quantities`. If there is only one
column besides the time, its name only has to contain memory: `api-0 memory`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gomem.inputs.runtime_lines.patterns import COUNTS, Pattern
from gomem.inputs.runtime_lines.quantities import (
    MAX_COLUMNS,
    SAMPLE_ROWS,
    are_ambiguous,
    first_of_each,
    names_in,
    quantity_of,
    unit_of,
    unit_of_memory,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

SCRIPT = "a script's table"
MEMORY = "a table's column of memory, RSS or a working set with page cache,"
TABLES = frozenset({SCRIPT, MEMORY})
LEVELS = frozenset({"rss", "go_alloc", "go_heap_inuse", "go_sys"})  # one of which a table has
MAX_HEAD = 1 << 14  # of the line of names: labels are long
_SEPARATORS = (b",", b";", b"\t")


def pattern_of_columns(data: bytes) -> Pattern | None:
    """Return the pattern of the rows if the header row has a time and a size; else None."""
    head, _, below = data[:MAX_HEAD].lstrip().partition(b"\n")
    separator = next((each for each in _SEPARATORS if each in head), b"")
    names = names_in(head.strip(), separator) if separator else []
    quantities = [quantity_of(name) for name in names]
    is_memory, of_memory = unit_of_memory(names[-1]) if len(names) == 2 else (False, None)
    if is_memory and not quantities[-1][0]:
        quantities[-1] = "rss", of_memory
    kinds = [kind for kind, _ in quantities]
    if len(names) > MAX_COLUMNS or kinds.count("time") != 1 or not LEVELS & set(kinds):
        return None  # a date and a time in two columns are read in `tables`
    if are_ambiguous(names, kinds):
        return None
    kinds = first_of_each(kinds)
    regex = _rows_of(kinds, separator)
    rows = [row for line in below.split(b"\n")[:SAMPLE_ROWS] if (row := regex.match(line))]
    units = {}
    for kind, (_, unit) in zip(kinds, quantities, strict=True):
        judged = unit_of(kind, [row[kind] for row in rows]) if kind and unit is None else unit
        if kind and kind not in {"time", *COUNTS} and judged is None:
            return None
        if kind:
            units[kind] = (kind, 1 if judged is None else judged)
    return Pattern(MEMORY if is_memory else SCRIPT, regex, separator, units)


def _rows_of(kinds: Sequence[str], separator: bytes) -> re.Pattern[bytes]:
    """The expression of a row with these quantities."""
    cell = rb"[^" + separator + rb"\n]*"
    cells = (
        rb"\"?(?P<" + kind.encode() + rb">" + cell + rb"?)\"?" if kind else cell for kind in kinds
    )
    return re.compile(rb"^" + separator.join(cells) + rb"\r?$")
