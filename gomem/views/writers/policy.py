"""What a page may run: its Content-Security-Policy names our own scripts by their digests."""

from __future__ import annotations

from base64 import b64encode
from functools import cache
from hashlib import sha256


@cache
def source_of(script: str) -> str:
    """A script as a policy names it: a page that allows it allows no other."""
    return f"'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'"
