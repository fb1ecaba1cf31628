"""`gomem report PID|URL…`: capture one snapshot of a running process, and report it.

The snapshot is kept: the next steps of the report refer to its files, and a second report of the
same process finds the snapshot and shows what has changed since.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from gomem.cli.output import file_part
from gomem.errors import CaptureError
from gomem.sources.paths import as_url
from gomem.text import text
from gomem.units import is_digits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gomem.live.targets import Target


def running_named(captures: Sequence[Path]) -> list[str]:
    """Return the PIDs and URLs among the arguments, except those that are names of files."""
    absent = [path for path in captures if not path.exists()]
    urls = {path: as_url(path) for path in absent}
    return [urls[path] or str(path) for path in absent if urls[path] or is_digits(str(path))]


def captured_now(named: Sequence[str], *, redact: bool = False) -> Path:
    """Capture one snapshot to a folder in the current folder, named after the process.

    With redaction, the files hide what `gomem capture --redact` hides. Raises CaptureError if there
    is no such process, or if nothing about it can be read.
    """
    from gomem.cli.capture import session_with
    from gomem.live.endpoints import Access
    from gomem.live.session import Plan
    from gomem.live.targets import found_target

    with found_target(named, Access(longer="gomem capture --timeout")) as target:
        folder = Path(_name_of(target))
        session = session_with(target, Plan(), folder, redact=redact)
        why = session.run()
    if why == "interrupted":
        raise KeyboardInterrupt
    if not session.folder.moments:
        raise CaptureError(text("{}: nothing could be captured: {}", file_part(folder), why))
    return folder


def _name_of(target: Target) -> str:
    """The process's name and PID; on another machine, its address."""
    if target.process is not None:
        name = f"{target.process.name}-{target.process.pid}"
    else:
        name = urlsplit(target.doors.bases[0]).netloc.rpartition("@")[2]
    return re.sub(r"[^\w.-]+", "-", name).strip(".-") or "process"
