"""A capture whose folders `before` and `after` are of two processes is two captures."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gomem.capture.place import AFTER, BEFORE, place_of_word

if TYPE_CHECKING:
    from gomem.capture.capture import Capture
    from gomem.facts.capture import CaptureFacts


def halves(facts: CaptureFacts) -> tuple[Capture, Capture] | None:
    """Return the captures of the folders for before and after; None if there are no two.

    The folder for before must have all snapshots of earlier processes.
    """
    capture, of_earlier = facts.capture, [moment.name for moment in facts.of_earlier_processes]
    folders = dict.fromkeys(name.partition("/")[0] for name in capture.by_moment)
    if len(folders) != 2 or not all("/" in name for name in capture.by_moment):
        return None
    early, late = sorted(folders, key=lambda folder: place_of_word(folder) or 0)
    if (place_of_word(early), place_of_word(late)) != (BEFORE, AFTER) or not of_earlier:
        return None
    if any(name.partition("/")[0] != early for name in of_earlier):
        return None
    return _part(capture, early), _part(capture, late)


def _part(capture: Capture, folder: str) -> Capture:
    """The capture of one folder; paths stay those of the whole."""

    def is_in(path: str) -> bool:
        return path.startswith(f"{folder}/")

    return replace(
        capture,
        name=f"{capture.name}/{folder}",
        by_moment={name: known for name, known in capture.by_moment.items() if is_in(name)},
        files=tuple(file for file in capture.files if is_in(file.source.name)),
        passed_over=tuple(source for source in capture.passed_over if is_in(source.name)),
        damaged=tuple(damage for damage in capture.damaged if is_in(damage.source)),
        looks={path: look for path, look in capture.looks.items() if is_in(path)},
        unread_evidence=tuple(path for path in capture.unread_evidence if is_in(path)),
    )
