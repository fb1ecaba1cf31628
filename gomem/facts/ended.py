"""Did the program end by itself, with success? Then what it held at its end was its work.

GNU time, systemd and Docker say so in the texts beside or between what gomem reads.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gomem.capture.capture import Capture

LAST_BYTES = 1 << 16  # of each text, in which its end is said
_ENDED = re.compile(
    rb"(?P<well>\bExit status: 0\b|\bexited with code 0\b|\bExited \(0\)"
    rb"|\.service: (?:Succeeded|Deactivated successfully)\b)"
    rb"|\bExit status: \d|\bexited with code \d|\bExited \(\d"
    rb"|\.service: (?:Failed with result|Main process exited)"
)


def ended_well(capture: Capture) -> str:
    """Return the file whose last word on it is that the program ended with success; else empty."""
    sources = [file.source for file in capture.files if file.kind.name not in {"pprof", "smaps"}]
    found = ""
    for source in (*sources, *capture.passed_over):
        said = [match["well"] for match in _ENDED.finditer(source.data[-LAST_BYTES:])]
        if said and said[-1] is None:
            return ""
        found = source.name if said else found
    return found
