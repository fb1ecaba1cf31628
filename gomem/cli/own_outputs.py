"""Which files did gomem write itself? These are overwritten without asking.

Only the beginning of a file is read. At the beginning, a page names its generator, JSON its schema,
a picture its software, a profile its writer, and a notebook written by gomem has its metadata. A
notebook saved by JupyterLab begins with its cells instead, and counts as the user's own.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

HEAD_BYTES = 4096
OWN_HEADS = re.compile(
    rb"""
    \s*<!doctype\ html> .*? <meta\ name="generator"\ content="gomem\  .*
    | \s*\{\s*"schema":\s*"gomem\.(?!capture/)[a-z-]+/\d .*
    | \s*\{\s*"metadata":\s*\{\s*"gomem":\s*\{ .*
    | \x89PNG .*? Software\0gomem\  .*
    | \x1f\x8b\x08\x10 .{6} gomem\0 .*
    """,
    re.VERBOSE | re.DOTALL | re.IGNORECASE,
)


def is_own_output(path: Path) -> bool:
    """Return whether gomem wrote the file, and the beginning was not changed since."""
    try:
        with path.open("rb") as file:
            return OWN_HEADS.match(file.read(HEAD_BYTES)) is not None
    except OSError:
        return False
