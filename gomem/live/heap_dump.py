"""Fetch a heap dump that a program serves, after a warning about its cost and risks.

The program writes the dump with `runtime/debug.WriteHeapDump`; net/http/pprof has no endpoint for a
dump. All goroutines stop until the dump is written. The dump has the contents of the heap, so its
file is readable only by the user, and the dump cannot be redacted.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gomem.errors import CaptureError
from gomem.inputs.heapdump.parse import HEADER
from gomem.inputs.pprof.read import read_pprof
from gomem.live.doors import GZIP, seen_as
from gomem.live.endpoints import Access, NoAnswer, open_endpoints
from gomem.live.reading import Reading
from gomem.releases import Fact, known_version
from gomem.text import text

if TYPE_CHECKING:
    from pathlib import Path

    from gomem.live.targets import Target

KIND = "heapdump"
MAX_DUMP_BYTES = 64 << 30
COST = (
    "heap dump: the program stops until it is written, 1 to 3.5 ms for each MB of heap; it holds "
    "the contents of the heap, secrets included"
)


@dataclass(frozen=True)
class HeapDumpDoor:
    """An endpoint where a program serves its heap dump."""

    url: str
    access: Access
    is_accepted: bool = False  # even if the release can crash

    def read(self, path: Path) -> Reading:
        """Fetch a dump into a new file; raises NoAnswer and leaves no file if it is incomplete."""
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL
        file = os.fdopen(os.open(path, flags, 0o600), "w+b")
        try:
            with file, open_endpoints(self.url, self.access, whole=True) as address:
                answer = address.save(file, MAX_DUMP_BYTES)
            if not answer.data.startswith((HEADER, GZIP)):
                raise NoAnswer(text("answered {}, not a heap dump", seen_as(answer.data)))  # noqa: TRY301
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        return Reading(KIND, b"", answer.time, answer.seconds, path)


def check_release(door: HeapDumpDoor, target: Target, go_version: str) -> str:
    """Return warnings before a dump is taken; raises CaptureError if it can crash the process.

    If the user accepts that risk, there is no error. An unknown release is treated as one that can
    crash.
    """
    release = go_version or _release_of_profile(target)
    known = known_version(release, "the executable") if release else None
    if known is not None and not known.possibly(Fact.DUMP_CAN_END):
        return COST
    named = release or "the Go release is not known, and from 1.26 on it"
    danger = f"{named} can end the process while it writes a heap dump"
    if not door.is_accepted:
        raise CaptureError(f"--heap-dump: {danger}; add --yes to take it all the same")
    return f"{COST}; {danger}"


def _release_of_profile(target: Target) -> str:
    """The release in a heap profile's paths; empty if there is none."""
    try:
        return read_pprof(target.doors.read_profile("heap").data).go_version or ""
    except NoAnswer:
        return ""
