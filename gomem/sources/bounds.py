"""Limits on what is read of a capture: bytes per file and in total, files, and depth of folders.

Captures come from strangers, and a few megabytes can expand to gigabytes. A `Bounds` is passed
along with its capture and counts what has been read.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gomem.errors import Damage
from gomem.units import GIB, MIB, format_bytes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

STREAM_BYTES = 256 * GIB  # a compressed file that never ends must
EXPANSION = 48  # what text of the runtime's and the kernel's reaches in gzip, and a little more
EXPANDED_BYTES = 64 * MIB  # which any file may have


def expanded(packed: int) -> int:
    """How large a compressed file of so many bytes may become: more is made to harm."""
    return max(EXPANDED_BYTES, EXPANSION * packed)


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
        self, chunks: Iterable[bytes], name: str, damage: list[Damage], packed: int | None = None
    ) -> Iterator[bytes]:
        """An artefact's chunks as far as the bounds reach, counted; what is cut off is damage.

        `packed` is how many bytes they come from, where they are decompressed.
        """
        most = self.artefact_bytes if packed is None else min(self.artefact_bytes, expanded(packed))
        room = min(most, self.left_bytes)
        is_of_the_capture = room < most
        for chunk in chunks:
            piece = chunk[:room]
            self.read_bytes += len(piece)
            room -= len(piece)
            yield piece
            if len(piece) < len(chunk):
                how = "" if packed is None else " when decompressed"
                what = f"more than {format_bytes(most)}{how}"
                if is_of_the_capture:
                    total = format_bytes(self.capture_bytes)
                    what = f"the capture's files are more than {total} together"
                damage.append(Damage(name, "", f"{what}; the rest is not read"))
                return
