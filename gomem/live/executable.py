"""The Go release and the main module of a running process, by its executable."""

from __future__ import annotations

import os

from gomem.inputs.buildinfo.parse import BuildInfo, build_info_of_elf

__all__ = ["BuildInfo", "read_build_info"]


def read_build_info(file: int) -> BuildInfo | None:
    """The build information of an open executable; None if it has none that is known."""
    return build_info_of_elf(lambda offset, length: os.pread(file, length, offset))
