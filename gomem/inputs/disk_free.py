"""What df printed of tmpfs, such as /dev/shm: files there are memory.

df      Filesystem     1M-blocks  Used Available Use% Mounted on
        tmpfs              24106    27     24079   1% /dev/shm
        -k has 1K-blocks, -P 1024-blocks, -h sizes such as 27M, -T the type as a second column
The kernel charges the pages of these files to the cgroup of the process that wrote them. They are
in no process's RSS unless it maps them, and only removing the files frees them.
"""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING

from gomem.inputs.processes.row import rounded_size
from gomem.inputs.resemblance import Resemblance
from gomem.text import Bytes, File, text
from gomem.units import GIB, KIB, MIB

if TYPE_CHECKING:
    from collections.abc import Iterator

_HEADER = re.compile(rb"Filesystem +(?:Type +)?(?P<unit>1[KMG]-blocks|\d{3,4}-blocks|Size)\b.*")
_ROW = re.compile(
    rb"(?:tmpfs|ramfs|shm|none) +(?:(?:tmpfs|ramfs) +)?\S+ +(?P<used>\d[\d.]*[KMGT]?) +\S+ +\d+% +"
    rb"(?P<mount>/\S*)"
)
# Of less than this, df shows a tmpfs that every machine has, such as /run.
MIN_RISE, MIN_USED = MIB, 16 * MIB
_UNITS = {b"1K-blocks": KIB, b"1M-blocks": MIB, b"1G-blocks": GIB, b"Size": 1}
_WAY_OUT = (
    "files there are memory of the cgroup, in no process's RSS, until they are removed: "
    "find {} -type f -size +100k | head lists them"
)


def tmpfs_of_df(head: bytes, _: str) -> Resemblance | None:
    """Describe the tmpfs that grows most, or is fullest; None if little is in it."""
    used: defaultdict[bytes, list[int]] = defaultdict(list)
    for _number, mount, size in _rows(head):
        used[mount].append(size)
    if not used:
        return None
    mount, sizes = max(used.items(), key=lambda of: (of[1][-1] - of[1][0], of[1][-1]))
    if sizes[-1] - sizes[0] < MIN_RISE and sizes[-1] < MIN_USED:
        return None
    at = File(mount.decode("utf-8", "replace"))
    way_out = text(_WAY_OUT, at)
    if not sizes[1:]:
        what = text("what df printed: files in tmpfs {} use {}", at, Bytes(sizes[0]))
        return Resemblance(what, way_out, is_evidence=True)
    went = "rose" if sizes[-1] > sizes[0] else "went"
    words = f"what df printed: files in tmpfs {{}} {went} from {{}} to {{}} in {{}} readings"
    what = text(words, at, Bytes(sizes[0]), Bytes(sizes[-1]), str(len(sizes)))
    return Resemblance(what, way_out, is_evidence=True)


def lines_of_df(data: bytes) -> set[int]:
    """Return the lines, from 1, of tmpfs, and of their headers; empty if little is in them."""
    if b"Filesystem" not in data or tmpfs_of_df(data, "") is None:
        return set()
    lines = data.split(b"\n")
    heads = {number for number, line in enumerate(lines, 1) if _HEADER.fullmatch(line.strip())}
    return heads | {number for number, *_ in _rows(data)}


def _rows(data: bytes) -> Iterator[tuple[int, bytes, int]]:
    """The line, the mount point and the used bytes of each tmpfs."""
    unit = 0
    for number, raw in enumerate(data.split(b"\n"), start=1):
        line = raw.strip()
        if header := _HEADER.fullmatch(line):
            blocks = header["unit"]
            unit = _UNITS.get(blocks) or int(blocks.removesuffix(b"-blocks"))
        elif unit and (row := _ROW.fullmatch(line)) is not None:
            size = rounded_size(row["used"], bare=unit)
            if size is not None:
                yield number, row["mount"], size.bytes
