"""What a text says of memory in a form of its own, which gomem can read whole, with its sizes.

Tables        | RSS | 51 MB | 62 MB |                     see `size_tables`
Changes       `memory went from 20-60MB to 170-230MB`     see `changed_sizes`
It is told alone if a text has nothing else, and also beside what is read of the text.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gomem.inputs.changed_sizes import changes_in_words
from gomem.inputs.size_tables import tables_of_sizes
from gomem.text import Text, text

if TYPE_CHECKING:
    from collections.abc import Iterator


@dataclass(frozen=True, slots=True)
class Told:
    """One such piece: a predicate, as of `the text`, with its parts and its sizes."""

    what: Text
    parts: tuple[Text, ...]  # of which each is told, if all are
    sizes: tuple[str, ...]
    data: bytes = b""  # its lines, if they can also be a report
    is_change: bool = False

    def is_in(self, message: str) -> bool:
        """Whether a message says the same."""
        return all(f"{part}" in message for part in self.parts)


def told_in(head: bytes) -> Iterator[Told]:
    """Yield the tables of sizes in a text, and the changes that its sentences give."""
    for table in tables_of_sizes(head):
        yield Told(text("has {}", table.words), table.parts, table.sizes, table.data)
    for words, sizes in changes_in_words(head):
        yield Told(text("says that {}", words), (words,), sizes, is_change=True)
