"""The file name of a report on a single capture of a fleet."""

from __future__ import annotations

import hashlib
import re

MAX_NAME = 80


def report_name(capture: str) -> str:
    """Return a file name for a capture's report: its name without unsafe characters, and digest."""
    words = re.sub(r"[^\w.-]+", "-", capture).strip("-.")[-MAX_NAME:]
    return f"{words}-{hashlib.sha256(capture.encode()).hexdigest()[:8]}.html"
