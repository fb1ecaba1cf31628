"""Which part of resident memory moved from one ledger to another, and what kind of move was it?

Two ledgers are subtracted part by part, so the changes add up to the change of RSS as the parts add
up to RSS. The parts fall into a few layers, and the verdict names the layer that moved RSS: what
the program allocates, what the runtime keeps, how much of that is resident, or memory that is not
Go's. A part that only one side can state is unknown, and so is a verdict that needs it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from gomem.inputs.schema import Column, build
from gomem.units import MIB, format_bytes, format_change

if TYPE_CHECKING:
    from collections.abc import Iterable

# The layer that each part belongs to.
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
    Column("part", "str", "", "Part of resident memory."),
    Column("layer", "str", "", "Which question it answers; see `LAYER_OF_PART`."),
    Column("before_bytes", "Int64", "B", "Its bytes before; missing where nothing tells them."),
    Column("after_bytes", "Int64", "B", "Its bytes after; missing where nothing tells them."),
    Column("change_bytes", "Int64", "B", "After less before."),
)
WORDS = {
    "allocation": "the program holds {more} in objects, their spans and stacks",
    "retention": "the runtime keeps {more} idle heap",
    "residency": (
        "residency changed, not allocation ({more} of the runtime's mappings is resident{same})"
    ),
    "runtime": "the runtime's own structures take {more}",
    "program": "the pages of the program and its libraries take {more}",
    "native": "memory outside Go (C's heap, threads, mmap) takes {more}",
    "files": "mapped files and shared memory take {more}",
}
# The layers where several are named one after the other.
NAMES = {
    "allocation": "objects and stacks",
    "retention": "idle heap",
    "residency": "residency of mapped heap",
    "runtime": "Go's runtime",
    "program": "program and libraries",
    "native": "memory outside Go",
    "files": "mapped files",
}
VERDICTS = ("unchanged", "shifted", *WORDS, "mixed", "undivided", "unknown")
LACKING = {
    "unknown": "the two snapshots were measured in different detail",
    "undivided": "no file on both sides says how much of it is Go's",
}
# Parts that tell Go's heap from the rest: where a ledger has none, its anonymous memory is both.
OF_GO_HEAP = {part for part in LAYER_OF_PART if part.startswith("heap_")}
# A smaller change is nothing to act on: pages of the program come and go by a mebibyte, and two
# runs of one program differ by a few per cent.
LEAST_BYTES = MIB
LEAST_SHARE = 0.02
MOST = 0.5  # of what went the same way: more than half is most of it
# From three quarters on the others cannot make up half of what is left unsaid, and are left unsaid.
NEARLY_ALL = 0.75
MIN_NAMED = 0.1  # of what went the same way: a smaller layer is not named
AGAINST = 0.25  # of the change: a smaller move the other way is not mentioned


@dataclass(frozen=True)
class LedgerChange:
    """How one ledger differs from another.

    Attributes:
        rss_change_bytes: RSS after less RSS before; None if one side does not know it.
        parts: A row per part of either side; see `PART_CHANGES`. `change_bytes` adds up to
            `rss_change_bytes` where both sides tell the same parts.
        layers: Net change by layer: `layer`, `change_bytes`; `<NA>` if a part of it is unknown.
        verdict: `unchanged`, `shifted` (layers moved, RSS did not), the layer that makes more than
            half of what moved RSS, `mixed` where none does, `undivided` or `unknown`.
        sentence: The verdict in words, with its numbers.
        reason: Its end, which says what moved RSS: ` because the program …`, or `, mainly idle heap
            (71 %), then …`; empty where RSS did not move, or the parts are not known.
    """

    rss_change_bytes: int | None
    parts: pd.DataFrame
    layers: pd.DataFrame
    verdict: str
    sentence: str
    reason: str = ""


def change_ledger(
    before: pd.DataFrame,
    after: pd.DataFrame,
    before_rss_bytes: int | None = None,
    after_rss_bytes: int | None = None,
    *,
    zero_where_absent: frozenset[str] = frozenset(),
) -> LedgerChange:
    """Compare one ledger with another.

    Args:
        before: The parts of the earlier ledger: `part`, `bytes`.
        after: Those of the later one.
        before_rss_bytes: RSS of the earlier one, if known.
        after_rss_bytes: RSS of the later one, if known.
        zero_where_absent: Parts that a side would list if it had any, such as every kind of mapping
            where smaps was read on both sides: absent, they are 0, not unknown.

    Returns:
        The change of every part, and the verdict.
    """
    sizes = _aligned(before, after, zero_where_absent)
    moved = _by_layer(sizes)
    change = None
    if before_rss_bytes is not None and after_rss_bytes is not None:
        change = after_rss_bytes - before_rss_bytes
    noise = max(LEAST_BYTES, LEAST_SHARE * max(before_rss_bytes or 0, after_rss_bytes or 0))
    verdict = _verdict(change, moved, noise)
    if (
        verdict in {"native", "mixed"}
        and "anonymous_other" in sizes
        and not OF_GO_HEAP & set(sizes)
    ):
        verdict = "undivided"
    layers = pd.DataFrame({"layer": _words(moved), "change_bytes": _bytes(moved.values())})
    return LedgerChange(
        change,
        _parts(sizes),
        layers,
        verdict,
        _sentence(verdict, change, moved),
        _reason(verdict, change, _known(moved)) if change else "",
    )


# A ledger has sixteen parts at most, and a capture as many ledgers as moments: so what stands
# between the frames is dictionaries, in the order of their parts, with None for what is unknown.
_Sizes = dict[str, tuple[int | None, int | None]]
_Moved = dict[str, int | None]


def _aligned(before: pd.DataFrame, after: pd.DataFrame, zero: frozenset[str]) -> _Sizes:
    """Bytes before and after by part, in the ledger's order."""
    sides = [_sums(before), _sums(after)]
    order = sorted(dict.fromkeys(part for side in sides for part in side), key=_place)
    return {
        part: (sides[0].get(part, absent), sides[1].get(part, absent))
        for part in order
        for absent in (0 if part in zero else None,)
    }


def _sums(ledger: pd.DataFrame) -> dict[str, int]:
    sums: dict[str, int] = {}
    for part, size in zip(ledger["part"].tolist(), ledger["bytes"].tolist(), strict=True):
        sums[part] = sums.get(part, 0) + size
    return sums


def _place(part: str) -> int:
    return _PLACES.get(part, len(_PLACES))


_PLACES = {part: place for place, part in enumerate(LAYER_OF_PART)}


def _difference(before: int | None, after: int | None) -> int | None:
    return None if before is None or after is None else after - before


def _layer(part: str) -> str:
    return LAYER_OF_PART.get(part, "native")


def _parts(sizes: _Sizes) -> pd.DataFrame:
    columns = {
        "part": list(sizes),
        "layer": [_layer(part) for part in sizes],
        "before_bytes": [before for before, _ in sizes.values()],
        "after_bytes": [after for _, after in sizes.values()],
        "change_bytes": [_difference(*pair) for pair in sizes.values()],
    }
    return build(columns, PART_CHANGES)


def _words(values: Iterable[str]) -> pd.Series:
    return pd.Series(list(values), dtype="str")


def _bytes(values: Iterable[int | None]) -> pd.Series:
    return pd.Series(list(values), dtype="Int64")


def _by_layer(sizes: _Sizes) -> _Moved:
    """Net change of each layer; unknown as soon as one of its parts is."""
    moved: _Moved = {}
    for part, pair in sizes.items():
        layer, change = _layer(part), _difference(*pair)
        before = moved.get(layer, 0)
        moved[layer] = None if change is None or before is None else before + change
    return moved


def _known(moved: _Moved) -> dict[str, int]:
    return {layer: size for layer, size in moved.items() if size is not None}


def _verdict(change: int | None, moved: _Moved, noise: float) -> str:
    if change is None:
        return "unknown"
    known = _known(moved)
    if abs(change) < noise:
        return "shifted" if any(abs(size) >= noise for size in known.values()) else "unchanged"
    shares = _shares(change, known)
    if len(known) < len(moved) or not shares:
        return "unknown"
    # A layer may move by more than RSS did, if others moved against it. It is still the cause
    # if what goes the same way is mostly its own.
    most = next(iter(shares))
    return most if shares[most] > MOST else "mixed"


def _shares(change: int, known: dict[str, int]) -> dict[str, float]:
    """What each layer makes of all that went the same way as RSS, the largest first."""
    same_way = {layer: abs(size) for layer, size in known.items() if size * change > 0}
    ordered = sorted(same_way, key=lambda layer: -same_way[layer])
    return {layer: same_way[layer] / sum(same_way.values()) for layer in ordered}


def _sentence(verdict: str, change: int | None, moved: _Moved) -> str:
    known = _known(moved)
    if change is None:
        return "RSS is not known on both sides, so its change is unknown"
    if verdict == "unchanged":
        return f"RSS is the same ({format_change(change)}), and so are its parts"
    if verdict == "shifted":
        return f"RSS is the same ({format_change(change)}); inside it moved {_moves(known)}"
    return f"{_rss_words(change)}{_reason(verdict, change, known)}"


def _reason(verdict: str, change: int, known: dict[str, int]) -> str:
    """What moved RSS, as the end of a sentence that says by how much it moved."""
    if verdict in LACKING:
        return f"; {LACKING[verdict]}"
    if verdict in {"unchanged", "shifted"}:
        return ""
    shares = _shares(change, known)
    if shares.get(verdict, 0.0) < NEARLY_ALL:
        against = _against(change, known)
        return f"{_listed(shares)}{', offset by ' if against else ''}{against}"
    stood = "allocation" if verdict == "residency" and "allocation" in known else ""
    same = f", objects and stacks {_more_or_less(known[stood])}" if stood else ""
    words = WORDS[verdict].format(more=_more_or_less(known[verdict]), same=same)
    against = _against(change, known, stood)
    return f" because {words}{', offset by ' if against else ''}{against}"


def _listed(shares: dict[str, float]) -> str:
    """`, mainly idle heap (71 %), then objects and stacks (29 %)`; where none is most, that."""
    named = [
        f"{NAMES[layer]} ({100 * share:.0f} %)"
        for layer, share in shares.items()
        if share >= MIN_NAMED
    ]
    if next(iter(shares.values())) > MOST:
        return f", mainly {', then '.join(named)}"
    return f"; no one cause makes most of it: {', '.join(named)}"


def _against(change: int, known: dict[str, int], but: str = "") -> str:
    """The layers that moved against RSS by enough to say, but for one; empty without any."""
    against = {
        layer: size
        for layer, size in known.items()
        if size * change < 0 and abs(size) >= AGAINST * abs(change) and layer != but
    }
    return _moves(against)


def _rss_words(change: int) -> str:
    return f"RSS {'rose' if change > 0 else 'fell'} by {format_bytes(abs(change))}"


def _more_or_less(size: int) -> str:
    return f"{format_bytes(abs(size))} {'more' if size > 0 else 'less'}" if size else "the same"


def _moves(known: dict[str, int]) -> str:
    """The layers that moved by at least a mebibyte, the largest first."""
    moved = [(layer, size) for layer, size in known.items() if abs(size) >= LEAST_BYTES]
    moved.sort(key=lambda one: -abs(one[1]))
    return ", ".join(f"{NAMES[layer]} {format_change(size)}" for layer, size in moved)
