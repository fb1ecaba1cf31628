"""`gomem.json`: what `gomem capture` and its sh collector record about a capture.

One manifest, about the process, is at the top of a capture. Another is in the folder of each
snapshot, so that a snapshot and its manifest appear at the same instant. gomem combines them. A
single manifest can also list all snapshots. Paths are relative to the manifest's folder.

    {"schema": "gomem.capture/1",
     "go_version": "go1.24.2",
     "program": "/usr/bin/api",
     "main": "example.com/api v1.2.3",
     "pid": 4242,
     "started": "2026-01-02T03:04:05.000000Z",
     "goos": "linux", "goarch": "amd64", "kernel": "6.1.0", "page_size": 4096,
     "endpoints": ["http://127.0.0.1:6060"],
     "collector": "gomem 0.1.0",
     "moments": [
       {"name": "1-030406", "time": "2026-01-02T03:04:06.000000Z",
        "artefacts": {"smaps": {"path": "smaps", "time": "…", "duration_seconds": 0.0012}},
        "num_gc": {"before": 12, "after": 12},
        "missing": [{"artefact": "heap", "why": "…"}]}]}

`go_version` is the release of the executable, and absent if unknown. `endpoints` never have a user
name, a password or a query. `time` is when the reading began. `num_gc` is the number of collections
just before and just after the kernel's files were read, by two readings of MemStats and by LastGC
of the second. If both numbers are equal, no collection ended in between. `missing` lists what was
tried without success. If a snapshot has several readings of a kind, the kind's value in `artefacts`
is a list.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, TypeGuard

from gomem.sources.names import uncompressed_name
from gomem.sources.times import parse_time

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from datetime import datetime

MANIFEST = "gomem.json"
MANIFEST_SCHEMA = "gomem.capture/1"
ONLY_MOMENT = "capture"
MAX_COLLECTIONS = 2**32  # NumGC is a uint32


@dataclass(frozen=True, slots=True)
class Place:
    """A file's place according to a manifest: its snapshot, its time, and the manifest."""

    moment: str
    time: datetime | None
    manifest: str


@dataclass(frozen=True, slots=True)
class Missing:
    """An artefact that could not be collected, with the reason."""

    moment: str
    artefact: str
    why: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """The manifests of a capture, combined."""

    # Path and content of each, the topmost first.
    files: tuple[tuple[str, Mapping[str, Any]], ...] = ()

    def fact(self, name: str) -> Any:
        """Return a fact about the process from the first manifest that has it; else None."""
        return next((content[name] for _, content in self.files if name in content), None)

    def places(self, present: Collection[str]) -> dict[str, Place]:
        """Return the place of each listed file by its path, even if the file was compressed since.

        `present` has the names of all files of the capture, readable or not.
        """
        compressed = {uncompressed_name(name): name for name in present}
        places: dict[str, Place] = {}
        for manifest, moment in self._moments():
            artefacts = moment.get("artefacts")
            entries = list(artefacts.values()) if isinstance(artefacts, dict) else artefacts
            for entry in _dicts(entries):
                path = (PurePosixPath(manifest).parent / str(entry.get("path", ""))).as_posix()
                known = path if path in present else compressed.get(path, path)
                places[known] = Place(_name(moment), parse_time(entry.get("time")), manifest)
        return places

    @property
    def collections(self) -> dict[str, int]:
        """Collections during the reading of the kernel's files, by snapshot, where known."""
        counted = {}
        for _, moment in self._moments():
            counts = moment.get("num_gc")
            if isinstance(counts, dict):
                before, after = counts.get("before"), counts.get("after")
                if _is_count(before) and _is_count(after) and before <= after:
                    counted[_name(moment)] = after - before
        return counted

    @property
    def missing(self) -> tuple[Missing, ...]:
        """Artefacts that could not be collected, in the order of the snapshots."""
        return tuple(
            Missing(_name(moment), str(entry.get("artefact", "")), str(entry.get("why", "")))
            for _, moment in self._moments()
            for entry in _dicts(moment.get("missing"))
        )

    def _moments(self) -> Iterator[tuple[str, dict[str, Any]]]:
        for name, content in self.files:
            for moment in _dicts(content.get("moments")):
                yield name, moment


def is_manifest(name: str) -> bool:
    """Return whether the name of a file is that of a manifest."""
    return uncompressed_name(PurePosixPath(name).name) == MANIFEST


def _name(moment: Mapping[str, Any]) -> str:
    return str(moment.get("name", ONLY_MOMENT))


def _is_count(value: object) -> TypeGuard[int]:
    return type(value) is int and 0 <= value < MAX_COLLECTIONS


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
