"""The files that a quoted pattern means, where no shell expanded it."""

from __future__ import annotations

import os
from glob import glob, has_magic
from typing import TYPE_CHECKING

from gomem.errors import CaptureError
from gomem.sources.names import natural_key, readable_name

if TYPE_CHECKING:
    from os import PathLike

URLS = ("http:/", "https:/")  # a path has one slash where there were two


def matching(path: str | PathLike[str]) -> list[str]:
    """What a path names: itself, or, in natural order, what a pattern such as `run-*` matches.

    Something that has the name as it stands is meant itself, though it looks like a pattern; and a
    URL's `?` is none. CaptureError where nothing matches.
    """
    name = os.fspath(path)
    if not has_magic(name) or name.startswith(URLS) or os.path.lexists(name):
        return [name]
    found = sorted(glob(name), key=natural_key)  # noqa: PTH207 - it may begin at the root
    if not found:
        raise CaptureError(f"{readable_name(name)}: no file or folder matches")
    return found
