"""Limits on reading a capture: bytes per file and in total, number of files, and folder depth.

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

STREAM_BYTES = 256 * GIB  # ends a compressed file that never ends
EXPANSION = 48  # gzip ratio of text from the runtime or the kernel, with a margin
EXPANDED_BYTES = 64 * MIB  # allowed for any file


def expanded(packed: int) -> int:
    """Return the most bytes that a compressed file may become; a file beyond that is malicious."""
    return max(EXPANDED_BYTES, EXPANSION * packed)


@dataclass
class Bounds:
    """The limits for one capture, and how much has been read."""

    artefact_bytes: int = 2 * GIB  # per artefact, decompressed
    capture_bytes: int = 4 * GIB  # of all artefacts together, decompressed
    files: int = 100_000  # maximum number of files
    depth: int = 16  # maximum depth of nested folders
    read_bytes: int = 0  # bytes read so far

    @classmethod
    def of_a_stream(cls) -> Bounds:
        """Return limits for data that is read piece by piece: only the total is limited."""
        return cls(artefact_bytes=STREAM_BYTES, capture_bytes=STREAM_BYTES)

    @property
    def left_bytes(self) -> int:
        """The bytes of the capture that can still be read."""
        return self.capture_bytes - self.read_bytes

    def within(
        self, chunks: Iterable[bytes], name: str, damage: list[Damage], packed: int | None = None
    ) -> Iterator[bytes]:
        """Yield an artefact's chunks up to the limits and count them; the rest becomes damage.

        `packed` is the compressed size, if the chunks were decompressed.
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
