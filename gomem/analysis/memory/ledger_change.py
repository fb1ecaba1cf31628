"""Which part of RSS changed between two ledgers, and what kind of change was it?

Two ledgers are subtracted part by part, so the changes add up to the change in RSS. The parts
belong to a few layers, and the verdict names the layer that changed RSS: the program's allocation,
the memory the runtime keeps, residency, or non-Go memory. If only one side has a part, the change
of that part is unknown. A verdict that needs an unknown change is unknown, too. Sentences about a
change come from the account, which has bounds where a ledger has a gap.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gomem.inputs.schema import Column, build_rows
from gomem.text import Words
from gomem.units import MIB

if TYPE_CHECKING:
    import pandas as pd

# The layer of each part.
LAYER_OF_PART = {
    "heap_objects": "allocation",
    "heap_slack": "allocation",
    "stacks": "allocation",
    "heap_idle": "retention",
    "heap_released_resident": "residency",
    "heap_untouched": "residency",
    "heap_unexplained": "residency",
    "runtime_metadata": "runtime",
    "binary": "program",
    "libraries": "program",
    "native_heap": "native",
    "thread_stacks": "native",
    "anonymous_other": "native",
    "mapped_files": "files",
    "shared_memory": "files",
    "kernel": "program",
}
PART_CHANGES = (
    Column("part", "str", "", "Part of resident memory.", Words),
    Column("layer", "str", "", "Which question it answers; see `LAYER_OF_PART`.", Words),
    Column("before_bytes", "Int64", "B", "Bytes before; missing if unknown."),
    Column("after_bytes", "Int64", "B", "Bytes after; missing if unknown."),
    Column("change_bytes", "Int64", "B", "After less before."),
)
_LAYERS = dict.fromkeys(LAYER_OF_PART.values())
VERDICTS = ("unchanged", "shifted", *_LAYERS, "mixed", "undivided", "unknown")
# Parts that separate Go's heap from the rest: without them, a ledger's anonymous memory has both.
GO_HEAP_PARTS = {part for part in LAYER_OF_PART if part.startswith("heap_")}
# Smaller changes do not matter: a mebibyte of the program's pages comes and goes, and two runs of
# one program differ by a few per cent.
MIN_BYTES = MIB
MIN_SHARE = 0.02
MIN_MAIN_SHARE = 0.5  # of the changes in the same direction: more than half is most


@dataclass(frozen=True)
class LedgerChange:
    """The change between two ledgers.

    Attributes:
        rss_change_bytes: RSS after minus RSS before; None if either is unknown.
        parts: A row per part of either side; see `PART_CHANGES`. `change_bytes` adds up to
            `rss_change_bytes` if both sides have the same parts.
        verdict: `unchanged`, `shifted` (layers changed, RSS did not), the layer that explains more
            than half of the change of RSS, `mixed` if no layer does, `undivided` or `unknown`.
    """

    rss_change_bytes: int | None
    parts: pd.DataFrame
    verdict: str


def change_ledger(
    before: pd.DataFrame,
    after: pd.DataFrame,
    before_rss_bytes: int | None = None,
    after_rss_bytes: int | None = None,
    *,
    zero_where_absent: frozenset[str] = frozenset(),
) -> LedgerChange:
    """Return the change of each part between two ledgers, and the verdict.

    `zero_where_absent` names the parts that count as 0, not as unknown, if a side does not list
    them: for example every kind of mapping, if both sides have smaps.
    """
    sizes = _aligned(before, after, zero_where_absent)
    moved = _by_layer(sizes)
    change = None
    if before_rss_bytes is not None and after_rss_bytes is not None:
        change = after_rss_bytes - before_rss_bytes
    noise = max(MIN_BYTES, MIN_SHARE * max(before_rss_bytes or 0, after_rss_bytes or 0))
    verdict = _verdict(change, moved, noise)
    is_undivided = "anonymous_other" in sizes and not GO_HEAP_PARTS & set(sizes)
    if verdict in {"native", "mixed"} and is_undivided:
        verdict = "undivided"
    rows = ((part, _layer(part), *pair, _difference(*pair)) for part, pair in sizes.items())
    return LedgerChange(change, build_rows(rows, PART_CHANGES), verdict)


# A ledger has at most sixteen parts, and a capture one ledger per snapshot. So intermediate results
# are dictionaries in the order of their parts, with None for unknown.
_Sizes = dict[str, tuple[int | None, int | None]]
_Moved = dict[str, int | None]


def _aligned(before: pd.DataFrame, after: pd.DataFrame, zero: frozenset[str]) -> _Sizes:
    """Align bytes before and after by part, in the ledger's order."""
    sides: list[dict[str, int]] = [{}, {}]
    for side, ledger in zip(sides, (before, after), strict=True):
        for part, size in zip(ledger["part"].tolist(), ledger["bytes"].tolist(), strict=True):
            side[part] = side.get(part, 0) + size
    every = {**sides[0], **sides[1]}
    order = [part for part in dict.fromkeys((*LAYER_OF_PART, *every)) if part in every]
    absent = dict.fromkeys(zero, 0)
    old, new = (absent | side for side in sides)
    return {part: (old.get(part), new.get(part)) for part in order}


def _difference(before: int | None, after: int | None) -> int | None:
    return None if before is None or after is None else after - before


def _layer(part: str) -> str:
    return LAYER_OF_PART.get(part, "native")


def _by_layer(sizes: _Sizes) -> _Moved:
    """Return the net change of each layer; None if any of its parts is unknown."""
    moved: _Moved = {}
    for part, pair in sizes.items():
        layer, change = _layer(part), _difference(*pair)
        before = moved.get(layer, 0)
        moved[layer] = None if change is None or before is None else before + change
    return moved


def _verdict(change: int | None, moved: _Moved, noise: float) -> str:
    if change is None:
        return "unknown"
    known = {layer: size for layer, size in moved.items() if size is not None}
    if abs(change) < noise:
        return "shifted" if any(abs(size) >= noise for size in known.values()) else "unchanged"
    same_way = {layer: abs(size) for layer, size in known.items() if size * change > 0}
    if len(known) < len(moved) or not same_way:
        return "unknown"
    # A layer can change by more than RSS, if others changed in the opposite direction. It is still
    # the cause if it has most of the changes in its direction.
    largest = max(same_way, key=lambda layer: same_way[layer])
    return largest if same_way[largest] > MIN_MAIN_SHARE * sum(same_way.values()) else "mixed"
