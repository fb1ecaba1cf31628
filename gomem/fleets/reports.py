"""The file name of the report on a single capture of a fleet."""

from __future__ import annotations

import hashlib
import re

MAX_NAME = 80


def report_name(capture: str) -> str:
    """Return the file name for a capture's report: the capture's name in safe characters.

    A digest of the name is added, so that two captures have two files.
    """
    words = re.sub(r"[^\w.-]+", "-", capture).strip("-.")[-MAX_NAME:]
    return f"{words}-{hashlib.sha256(capture.encode()).hexdigest()[:8]}.html"
