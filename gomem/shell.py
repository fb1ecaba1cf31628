"""The files that a command names, as a shell takes them."""

from __future__ import annotations

import shlex
from typing import Any

from gomem.text import File


class Argument(File):
    """A file of the capture, named in a command, and quoted if a shell needs that.

    The value is its path in the capture. In an output the place of the capture comes first, as in
    `captures/api/heap.pb.gz`; see `gomem.views.share`.
    """

    __slots__ = ()

    @staticmethod
    def _reads(value: Any, *_: Any) -> str:
        home, rest = ("~/", value[2:]) if value.startswith("~/") else ("", value)
        return home + shlex.quote(rest)
