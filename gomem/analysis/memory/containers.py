"""What did each container of pasted tables use, and how did it move from reading to reading?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gomem.inputs.schema import rows_of
from gomem.units import is_unknown

if TYPE_CHECKING:
    import pandas as pd


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
    found = dict[tuple[str, ...], list[dict[str, object]]]()
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
            tuple(row["working_set_bytes"] for row in of_name),  # type: ignore[misc]
            None if is_unknown(of_name[-1]["limit_bytes"]) else of_name[-1]["limit_bytes"],  # type: ignore[arg-type]
        )
        for key, of_name in found.items()
    )
    return tuple(sorted(containers, key=lambda container: -max(container.sizes)))
