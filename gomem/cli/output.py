"""Where a command's result goes: standard output, or a file that is not overwritten unasked."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from gomem.errors import CaptureError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gomem.errors import Damage

TOLD_PLACES = 20


@dataclass
class DamageReport:
    """Says on standard error what could not be read: the first places, and how many there are.

    Attributes:
        places: How many it was given.
    """

    places: int = 0

    def tell(self, damaged: Iterable[Damage]) -> None:
        """Say some, unless enough were said."""
        for one in damaged:
            self.places += 1
            if self.places <= TOLD_PLACES:
                print(f"gomem: {one}", file=sys.stderr)

    def end(self) -> None:
        """Say how many were not said."""
        if self.places > TOLD_PLACES:
            print(f"gomem: and {self.places - TOLD_PLACES} more places", file=sys.stderr)


def tell_damage(damaged: Iterable[Damage]) -> None:
    """Say on standard error what could not be read; of very much, the first places."""
    report = DamageReport()
    report.tell(damaged)
    report.end()


def check_writable(path: Path | None, *, force: bool) -> None:
    """Refuse before the work is done, not after.

    Raises:
        CaptureError: The file exists, or its folder does not.
    """
    if path is None:
        return
    if path.exists() and not force:
        raise CaptureError(f"{path}: exists, and is not overwritten without --force")
    if not path.parent.is_dir():
        raise CaptureError(f"{path}: there is no folder {path.parent}; make it first")


def write(text: str, path: Path | None) -> None:
    """Write to the file, or print where there is none.

    Raises:
        CaptureError: The file cannot be written.
    """
    if path is None:
        sys.stdout.write(text if text.endswith("\n") else f"{text}\n")
        return
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise CaptureError(f"{path}: cannot be written: {error.strerror}") from error


def write_pieces(pieces: Iterable[str], path: Path | None) -> None:
    """Write to the file, or print where there is none, a piece at a time.

    Raises:
        CaptureError: The file cannot be written.
    """
    if path is None:
        for piece in pieces:
            sys.stdout.write(piece)
        return
    try:
        with path.open("w", encoding="utf-8", newline="") as file:
            for piece in pieces:
                file.write(piece)
    except OSError as error:
        raise CaptureError(f"{path}: cannot be written: {error.strerror}") from error


def file_named_after(capture: str, suffix: str) -> Path:
    """The file that a capture's HTML or notebook goes to, in the current folder."""
    name = Path(capture).resolve().name
    for ending in (".gz", ".zst", ".tar", ".tgz", ".zip"):
        name = name.removesuffix(ending)
    return Path(f"{name}{suffix}")
