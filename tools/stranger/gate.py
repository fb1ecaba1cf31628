"""Compares the diagnosis of a transformed capture with the diagnosis of the original."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import gomem
from gomem.errors import CaptureError
from tests.builders import FIXTURES
from tools.stranger.told import contradictions, differences
from tools.stranger.transformations import NOON, TRANSFORMATIONS, Loss, files_of

if TYPE_CHECKING:
    from tools.stranger.remembered import Memory
    from tools.stranger.transformations import Handed, Transformation

FOLDERS = ("captures", "injected", "skewed", "laboratory/captures")
CAPTURES = sorted(
    path
    for folder in FOLDERS
    for path in (FIXTURES / folder).glob("*")
    if path.is_dir() or path.name.endswith(".tar.gz")
)
Case = tuple[Path, "Transformation", str]


def ways_of(capture: Path) -> list[Case]:
    """Return all cases of a capture: the transformations, and where each can be applied."""
    files = files_of(capture)
    return [
        (capture, transformation, choice)
        for transformation in TRANSFORMATIONS.values()
        for choice in transformation.choices(files)
    ]


def lay_out(handed: Handed, folder: Path) -> gomem.Capture:
    """Write transformed files, and read them like their receiver."""
    paths = {path: folder / path for path in handed.files}
    for path, data in handed.files.items():
        paths[path].parent.mkdir(parents=True, exist_ok=True)
        paths[path].write_bytes(data)
        date = handed.dates.get(path, NOON)
        os.utime(paths[path], (date, date))
    named = list(paths.values()) if handed.listed else [folder / handed.at]
    return gomem.load(*named, go_version=handed.release)


as_recorded = lru_cache(maxsize=4)(gomem.load)


def read_as_handed_on(capture: Path, transformation: Transformation, choice: str) -> gomem.Capture:
    """Return the transformed capture."""
    with TemporaryDirectory() as folder:
        return lay_out(transformation.apply(files_of(capture), choice), Path(folder))


def unlike(capture: Path, transformation: Transformation, choice: str, memory: Memory) -> list[str]:
    """Return how the diagnosis of a transformed capture contradicts the original's.

    Raises:
        CaptureError: The transformed capture cannot be read, and not because of the damaged file.
    """
    whole = memory.told(as_recorded(capture))
    try:
        told = memory.told(read_as_handed_on(capture, transformation, choice), whole.moments)
    except CaptureError as nothing_left:
        if transformation.harms and choice in str(nothing_left):
            return []  # the rest of the only file shows nothing, and gomem says so
        raise
    if transformation.lost is Loss.EVIDENCE:
        said = contradictions(whole, told)
    else:
        said = differences(whole, told, clock=transformation.lost is Loss.NOTHING)
    if transformation.harms and choice not in told.damaged:
        said.append(f"{choice} is cut short, and nothing says so")
    return said
