"""The folder of a capture in progress: a readable capture at every instant.

A snapshot is written to a hidden folder, with its own manifest. The folder is renamed when it is
complete. So an interruption (Ctrl-C, a full disk, a killed collector) leaves only complete
snapshots and at most one hidden folder, which readers ignore. The capture's own manifest, about the
process, is written before the first snapshot and again at the end.
"""

from __future__ import annotations

import contextlib
import fcntl
import gzip
import json
import os
import shutil
import weakref
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from gomem.capture.manifest import MANIFEST, MANIFEST_SCHEMA
from gomem.errors import CaptureError
from gomem.live.reading import PACKED, Moment
from gomem.numbered import Address
from gomem.sources.names import readable_name
from gomem.sources.times import parse_time
from gomem.text import File, Quoted, joined, text
from gomem.units import is_digits

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path


# the start time is computed from the boot time, which changes when the clock is set
SAME_START = timedelta(seconds=2)
BUILD_INFO, LOG = "buildinfo.txt", "gctrace.log"
HIDDEN = ".gomem-"


@dataclass
class CaptureFolder:
    """The folder to which the snapshots of one process are written."""

    path: Path  # created, with parents, when the first file is written
    facts: dict[str, Any]  # facts about the process for the capture's manifest
    # Converts a file's bytes before they are written.
    redact: Callable[[str, bytes], bytes] = lambda _, data: data
    shown: Callable[[str], str] = str  # converts a sentence for the manifest
    moments: int = field(default=0, init=False)  # number of moments in the folder
    _release: Callable[[], object] | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        self.moments = self._moments_there()

    def _moments_there(self) -> int:
        """The highest snapshot number; CaptureError if the folder is not this process's capture."""
        named = File(readable_name(str(self.path)))
        if self.path.exists() and not self.path.is_dir():
            raise CaptureError(text("{}: is a file; choose a folder to capture to", named))
        found = self.path.iterdir() if self.path.exists() else ()
        there = [file.name for file in found if not file.name.startswith(".")]
        if not there:
            return 0
        manifest = _json(self.path / MANIFEST)
        if manifest.get("schema") != MANIFEST_SCHEMA:
            what = "{}: is not empty and holds no capture; choose another folder"
            raise CaptureError(text(what, named))
        if not _same_process(manifest, self.facts):
            what = (
                "{}: holds a capture of another process ({}); this one is {}; choose another folder"
            )
            raise CaptureError(text(what, named, _process_of(manifest), _process_of(self.facts)))
        numbers = [name.partition("-")[0] for name in there]
        return max((int(number) for number in numbers if is_digits(number)), default=0)

    def begin(self, files: Mapping[str, bytes]) -> None:
        """Write the manifest, and files about the whole process."""
        with _said(self.path):
            self.path.mkdir(parents=True, exist_ok=True)
            self._take()
            for name, data in files.items():
                self._replace(name, self.redact(name, data))
            self._replace(MANIFEST, _text(self.facts))

    def _take(self) -> None:
        """Keep the folder for this capture until it ends; CaptureError if another has it."""
        folder = os.open(self.path, os.O_RDONLY | os.O_DIRECTORY)
        self._release = weakref.finalize(self, os.close, folder)
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            named = File(readable_name(str(self.path)))
            what = "{}: another capture writes to it; choose another folder, or wait for its end"
            raise CaptureError(text(what, named)) from error
        except OSError:
            return  # a file system without locks
        self.moments = self._moments_there()  # what another wrote before it ended

    def add(self, moment: Moment) -> str:
        """Write a snapshot and return its name; if that fails, remove it and raise CaptureError."""
        time = min((reading.time for reading in moment.readings), default=datetime.now(UTC))
        number, utc = self.moments + 1, time.astimezone(UTC)
        name = f"{number}-{utc:%H%M%S}"
        folder = f"{number}-{utc:%Y%m%dT%H%M%SZ}"  # has the date in case the manifest gets lost
        beside = self.hidden()
        files = self._files(moment)
        with _said(self.path):
            try:
                beside.mkdir()
                for file_name, data in files.items():
                    (beside / file_name).write_bytes(data)
                for reading in moment.readings:
                    if reading.file is not None:
                        reading.file.rename(beside / reading.file_name)
                (beside / MANIFEST).write_bytes(_text(self._manifest(name, time, moment)))
                beside.rename(self.path / folder)
            except BaseException:
                shutil.rmtree(beside, ignore_errors=True)
                raise
        self.moments += 1
        return name

    def hidden(self) -> Path:
        """Return a path for a file that will be moved into a snapshot; readers ignore the path."""
        return self.path / f"{HIDDEN}{os.urandom(6).hex()}"

    def _files(self, moment: Moment) -> dict[str, bytes]:
        """The files to write, by name; a file that cannot be redacted is left out."""
        files = {}
        for reading in [reading for reading in moment.readings if reading.file is None]:
            try:
                data = self.redact(reading.file_name, reading.data)
            except ValueError as error:
                moment.readings.remove(reading)
                moment.missing[reading.kind] = f"cannot be redacted: {error}"
                continue
            packs = reading.kind in PACKED
            files[reading.file_name] = gzip.compress(data, 1, mtime=0) if packs else data
        return files

    def end(self, why: str) -> None:
        """Record why there are no more snapshots; a full disk was reported already."""
        self.facts |= {"ended": {"time": stamp(datetime.now(UTC)), "why": why}}
        with contextlib.suppress(OSError):
            self._replace(MANIFEST, _text(self.facts))
        if self._release is not None:
            self._release()

    def _manifest(self, name: str, time: datetime, moment: Moment) -> dict[str, Any]:
        artefacts = {
            reading.kind: {
                "path": reading.file_name,
                "time": stamp(reading.time),
                "duration_seconds": taken,
            }
            for reading in moment.readings
            for taken in (round(reading.seconds, 6),)
        }
        entry: dict[str, Any] = {"name": name, "time": stamp(time), "artefacts": artefacts}
        if moment.num_gc is not None:
            entry["num_gc"] = dict(zip(("before", "after"), moment.num_gc, strict=True))
        if moment.missing:
            missing = {artefact: self.shown(why) for artefact, why in moment.missing.items()}
            entry["missing"] = [{"artefact": name, "why": why} for name, why in missing.items()]
        version = {"go_version": self.facts["go_version"]} if "go_version" in self.facts else {}
        return {"schema": MANIFEST_SCHEMA, **version, "moments": [entry]}

    def _replace(self, name: str, data: bytes) -> None:
        beside = self.hidden()
        try:
            beside.write_bytes(data)
            beside.replace(self.path / name)
        except BaseException:
            beside.unlink(missing_ok=True)
            raise

    def append_log(self, data: bytes) -> None:
        """Append whole lines to the collector's log: all of `data` or nothing."""
        path = self.path / LOG
        with _said(self.path), path.open("ab") as file:
            size = file.tell()
            try:
                file.write(self.redact(LOG, data))
                file.flush()
            except BaseException:
                with contextlib.suppress(OSError):
                    os.truncate(file.fileno(), size)
                raise


@contextlib.contextmanager
def _said(path: Path) -> Any:
    try:
        yield
    except OSError as error:
        named, why = File(readable_name(str(path))), error.strerror or Quoted(error)
        raise CaptureError(text("{}: cannot be written: {}", named, why)) from error


def stamp(time: datetime) -> str:
    """Format a time for manifests: ISO 8601, UTC, to the microsecond."""
    utc = time.astimezone(UTC).isoformat(timespec="microseconds")
    return utc.replace("+00:00", "Z")


def _same_process(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    if old.get("pid") is None or new.get("pid") is None:
        return old.get("pid") == new.get("pid") and old.get("endpoints") == new.get("endpoints")
    started = parse_time(old.get("started")), parse_time(new.get("started"))
    if started[0] is None or started[1] is None:
        return False
    return old["pid"] == new["pid"] and abs(started[0] - started[1]) < SAME_START


def _process_of(facts: Mapping[str, Any]) -> str:
    if facts.get("pid") is None:
        return joined(", ", map(Address, facts.get("endpoints") or ())) or "no process named"
    return f"PID {facts['pid']}, started {facts.get('started', 'at an unknown time')}"


def _text(content: Mapping[str, Any]) -> bytes:
    return (json.dumps(content, indent=1) + "\n").encode()


def _json(path: Path) -> Mapping[str, Any]:
    try:
        content = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) else {}
