"""What retains the heap, in JSON: for `gomem retain`, and the report's `retention`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.analysis.retention.described import Keeper, Site
from gomem.analysis.retention.growth import GROWN
from gomem.analysis.retention.keepers import ARRAYS
from gomem.facts.keepers import Kept
from gomem.inputs.schema import empty
from gomem.views.json.table import (
    COUNT,
    SIZE,
    UNIT,
    frame,
    inner,
    of_class,
    plain,
    shape,
    texts,
    words,
    written,
    written_as,
)
from gomem.views.share import Hidden, share

if TYPE_CHECKING:
    from collections.abc import Sequence


SCHEMA = "gomem.retain/1"
KINDS = ("global", "goroutine", "finalizer", "cleanup", "other")
_BYTES = {UNIT: "B", "minimum": 0}
KEPT = (
    *of_class(Kept, "live_bytes unreachable_bytes", live_bytes=SIZE, unreachable_bytes=SIZE),
    inner(
        "keepers", "Keepers of the heap, the largest first; the bytes of all keepers add up to "
                   "live_bytes.",
        plain("kind", "str", "", "Kind of the keeper.", **words(KINDS)),
        *of_class(Keeper, "name count bytes objects", count=COUNT, bytes=_BYTES, objects=COUNT),
        texts("path", "Path from the keeper down to where the kept memory fans out, in words."),
        inner(
            "allocated_by",
            "Allocation sites of the kept memory, by the profile's samples; the largest first.",
            *of_class(Site, "function low high", low=_BYTES, high=_BYTES), many=True,
        ),
        many=True,
    ),
)  # fmt: skip
_GROWTH = frame(
    "growth", GROWN,
    "How keepers changed since the first dump of the capture; empty for a single dump.",
    lambda kept: kept.growth if kept.growth is not None else empty(GROWN),
    kind=words(KINDS),
)  # fmt: skip
RETAIN = shape(
    "Who keeps the heap, by a heap dump of runtime/debug.WriteHeapDump. Sizes are bytes. Unknown "
    "is null. Fields may be added, never renamed.",
    written_as(SCHEMA),
    *KEPT,
    frame("arrays", ARRAYS, "The largest objects, and what points into them.", "retention.arrays"),
    _GROWTH,
    texts("notes", "Caveats."),
)


def render_retain_json(kept: Kept, hidden: Hidden, chosen: Sequence[Keeper] = ()) -> str:
    """Write the JSON of the command: bytes, null if unknown, with a final newline.

    It has all keepers, or only the `chosen` ones.
    """
    laid_out = RETAIN.json(kept)
    if chosen:
        places = [kept.keepers.index(keeper) for keeper in chosen]
        laid_out["keepers"] = [laid_out["keepers"][place] for place in places]
    return written(share(laid_out, hidden))
