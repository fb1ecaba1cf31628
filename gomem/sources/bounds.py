"""Limits on what is read of a capture: bytes per file and in total, files, and depth of folders.

Captures come from strangers, and a few megabytes can expand to gigabytes. A `Bounds` is passed
along with its capture and counts what has been read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gomem.errors import Damage
from gomem.units import GIB, format_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

STREAM_BYTES = 256 * GIB  # a compressed file that never ends must


@dataclass
class Bounds:
    """What may be read of one capture, and how much of it was."""

    artefact_bytes: int = 2 * GIB  # of one artefact, decompressed
    capture_bytes: int = 4 * GIB  # of all artefacts together, decompressed
    files: int = 100_000  # how many files are listed
    depth: int = 16  # how deep folders may lie in one another
    read_bytes: int = 0  # what was read so far

    @classmethod
    def of_a_stream(cls) -> Bounds:
        """For what is never held whole: only an end, however far."""
        return cls(artefact_bytes=STREAM_BYTES, capture_bytes=STREAM_BYTES)

    @property
    def left_bytes(self) -> int:
        """What may still be read of the capture."""
        return self.capture_bytes - self.read_bytes

    def within(
        self, chunks: Iterable[bytes], name: str, damage: list[Damage], how: str = ""
    ) -> Iterator[bytes]:
        """An artefact's chunks as far as the bounds reach, counted; what is cut off is damage."""
        # `how` ends the sentence `more than 2.00 GiB`.
        room = min(self.artefact_bytes, self.left_bytes)
        is_of_the_capture = room < self.artefact_bytes
        for chunk in chunks:
            piece = chunk[:room]
            self.read_bytes += len(piece)
            room -= len(piece)
            yield piece
            if len(piece) < len(chunk):
                what = f"more than {format_bytes(self.artefact_bytes)}{how}"
                if is_of_the_capture:
                    total = format_bytes(self.capture_bytes)
                    what = f"the capture's files are more than {total} together"
                damage.append(Damage(name, "", f"{what}; the rest is not read"))
                return
