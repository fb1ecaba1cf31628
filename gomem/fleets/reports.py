"""The report page of a single capture of a fleet: its name."""

from __future__ import annotations

import hashlib
import re

MAX_NAME = 80


def report_name(capture: str) -> str:
    """A file name for a capture's report: its name as far as that is one, and a digest."""
    words = re.sub(r"[^\w.-]+", "-", capture).strip("-.")[-MAX_NAME:]
    return f"{words}-{hashlib.sha256(capture.encode()).hexdigest()[:8]}.html"
