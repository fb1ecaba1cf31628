"""What a program adds to its GODEBUG=gctrace=1 log while it is captured, whole lines at a time."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gomem.units import GIB, MIB

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PIECE_BYTES = MIB
LARGEST_LOG_BYTES = GIB


@dataclass
class LogTail:
    """A log that grows; it may be cut or replaced meanwhile, as rotation does."""

    path: Path  # where it is
    taken_bytes: int = field(default=0, init=False)  # how much of it was taken over
    _at: int = field(default=0, init=False)
    _inode: int = field(default=0, init=False)

    def after(self, copy: Path) -> None:
        """Begin behind what an earlier capture took over, where the log begins with all of that."""
        try:
            with copy.open("rb") as had, self.path.open("rb") as file:
                while piece := had.read(PIECE_BYTES):
                    if file.read(len(piece)) != piece:
                        return
                self._inode, self._at = os.fstat(file.fileno()).st_ino, had.tell()
        except OSError:
            return  # there is none, or reading the log will say why not

    def new(self) -> Iterator[bytes]:
        """Whole lines added since the last time, at first all; OSError where it is unreadable."""
        with self.path.open("rb") as file:
            known = os.fstat(file.fileno())
            if known.st_ino != self._inode or known.st_size < self._at:
                self._inode, self._at = known.st_ino, 0
            file.seek(self._at)
            while self.taken_bytes < LARGEST_LOG_BYTES and (piece := file.read(PIECE_BYTES)):
                whole = piece[: piece.rfind(b"\n") + 1] or (
                    piece if len(piece) == PIECE_BYTES else b""
                )
                if not whole:
                    return
                yield whole
                self._at += len(whole)
                self.taken_bytes += len(whole)
                file.seek(self._at)
