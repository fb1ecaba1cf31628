"""The end of MemStats printed with `%v` or `%+v`: size classes without the fields before them.

Form          {Size:512 Mallocs:110899 Frees:110894} {Size:576 Mallocs:57 Frees:50} …]}
"""

from __future__ import annotations

import re

from gomem.inputs.resemblance import Resemblance
from gomem.text import Bytes, Count, text

MIN_CLASSES = 3
_CLASS = re.compile(rb"\{Size:(\d{1,6}) Mallocs:(\d{1,19}) Frees:(\d{1,19})\}")
_ASK = (
    "what stands before them is missing, with HeapInuse and Sys, and objects over 32 KiB are in no "
    "class; print all of it: json.NewEncoder(os.Stderr).Encode(&memStats)"
)


def cut_size_classes(head: bytes, _: str) -> Resemblance | None:
    """Return how many objects the remaining size classes have, and the largest size."""
    rows = [tuple(map(int, row)) for row in _CLASS.findall(head)]
    if len(rows) < MIN_CLASSES or any(frees > mallocs for _, mallocs, frees in rows):
        return None
    objects = sum(mallocs - frees for _, mallocs, frees in rows)
    most = sum(size * (mallocs - frees) for size, mallocs, frees in rows)
    words = (
        "the end of MemStats as Go prints it with %+v: {} of objects, in which {} of at most {} {} "
        "not been freed"
    )
    classes = Count(len(rows), "size class", "size classes")
    has = "has" if objects == 1 else "have"
    what = text(words, classes, Count(objects, "object"), Bytes(most), has)
    return Resemblance(what, _ASK, is_evidence=True)
