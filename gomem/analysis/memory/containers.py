"""What did each container of pasted tables use, and how did it move from reading to reading?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gomem.inputs.schema import Column, build_rows, rows_of
from gomem.numbered import Label
from gomem.text import Words
from gomem.units import is_unknown

if TYPE_CHECKING:
    from collections.abc import Iterable

    import pandas as pd

CONTAINERS = (
    Column("name", "str", "", "The container, as the table names it.", Label),
    Column("tool", "str", "", "What printed the table.", Words),
    Column("readings", "int64", "count", "Tables that list it."),
    Column("first_bytes", "int64", "B", "Working set in the first of them."),
    Column("last_bytes", "int64", "B", "Working set in the last."),
    Column("highest_bytes", "int64", "B", "The highest working set of all."),
    Column("limit_bytes", "Int64", "B", "Its limit; missing if none is printed."),
)


@dataclass(frozen=True)
class ContainerSizes:
    """The working set of a container, reading by reading."""

    name: str
    tool: str
    sizes: tuple[int, ...]
    limit_bytes: int | None

    @property
    def first(self) -> int:
        """The size in the first reading."""
        return self.sizes[0]

    @property
    def last(self) -> int:
        """The size in the last reading."""
        return self.sizes[-1]


def containers_of(rows: pd.DataFrame) -> tuple[ContainerSizes, ...]:
    """Return the containers, the largest first; those of one name in one reading are several."""
    found = dict[tuple[str, ...], list[dict[str, Any]]]()
    for row in rows_of(rows):
        if is_unknown(row["working_set_bytes"]):
            continue
        key: tuple[str, ...] = row["tool"], row["name"]
        while found.get(key) and found[key][-1]["moment"] == row["moment"]:
            key = (*key, "")  # of another host
        found.setdefault(key, []).append(row)
    containers = (
        ContainerSizes(
            key[1],
            key[0],
            tuple(row["working_set_bytes"] for row in of_name),
            None if is_unknown(of_name[-1]["limit_bytes"]) else of_name[-1]["limit_bytes"],
        )
        for key, of_name in found.items()
    )
    return tuple(sorted(containers, key=lambda container: -max(container.sizes)))


def containers_frame(containers: Iterable[ContainerSizes]) -> pd.DataFrame:
    """Return a row for each container; see `CONTAINERS`."""
    rows = [
        (each.name, each.tool, len(each.sizes), each.first, each.last, max(each.sizes),
         each.limit_bytes)
        for each in containers
    ]  # fmt: skip
    return build_rows(rows, CONTAINERS)
