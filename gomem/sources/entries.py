"""A file of a capture that is not read yet, and the list of all that a capture has."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from gomem.sources.artefact import source_of
from gomem.sources.names import natural_key, readable_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from datetime import datetime
    from pathlib import Path

    from gomem.errors import Damage
    from gomem.sources.artefact import Source
    from gomem.sources.bounds import Bounds


@dataclass(frozen=True)
class Entry:
    """A file of a capture, not read yet; `path` is where it lies, if not in an archive."""

    name: str
    modified: datetime | None
    bounds: Bounds
    _chunks: Callable[[], Iterable[bytes]]
    path: Path | None = None

    def open(self) -> Source:
        """Read and decompress it within what is left of the capture's bounds."""
        return source_of(self._chunks(), self.name, self.modified, self.bounds)


@dataclass(frozen=True)
class Listing:
    """The files of a capture in natural name order, and what could not be listed."""

    name: str
    entries: tuple[Entry, ...]
    damage: tuple[Damage, ...]

    @classmethod
    def of(cls, root: Path, entries: Iterable[Entry], damage: Iterable[Damage]) -> Listing:
        """With the entries put in order."""
        in_order = sorted(entries, key=lambda entry: natural_key(entry.name))
        return cls(readable_name(str(root)), tuple(in_order), tuple(damage))

    @cached_property
    def by_name(self) -> dict[str, Entry]:
        """Entries by their path inside the capture."""
        return {entry.name: entry for entry in self.entries}
