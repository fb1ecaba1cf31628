"""The text form of a heap profile: `/debug/pprof/heap?debug=1`.

Written by    Go's runtime/pprof; until Go 1.7 also without `debug=1`.
"""

from __future__ import annotations

import re

_HEADER = re.compile(rb"\s*heap profile: *\d+: *-?\d+ *\[ *\d+: *-?\d+ *\] *@ *heap")


def looks_like_heap_text(data: bytes) -> bool:
    """Whether it begins with the header of a heap profile in text."""
    return _HEADER.match(data) is not None
