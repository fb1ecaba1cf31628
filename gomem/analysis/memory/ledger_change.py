"""Which part of resident memory moved from one ledger to another, and what kind of move was it?

Two ledgers are subtracted part by part, so the changes add up to the change of RSS as the parts
add up to RSS. The parts fall into a few layers, and the verdict names the layer that moved RSS:
what the program allocates, what the runtime keeps, what of it is resident, or memory that is
none of Go's. A part that only one side can tell is unknown, and so is the verdict that needs it.
"""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from gomem.inputs.schema import Column, build
from gomem.units import MIB, format_bytes, format_change

# Which question each part answers.
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
    "retention": "the runtime keeps {more} idle heap; the program's own part is not what moved",
    "residency": "residency changed, not allocation: {more} of what the runtime holds is resident",
    "runtime": "the runtime's own structures take {more}",
    "program": "the pages of program and libraries take {more}",
    "native": "memory outside Go takes {more}: C's heap, threads, or mmap",
    "files": "mapped files and shared memory take {more}",
}
VERDICTS = ("unchanged", "shifted", *WORDS, "mixed", "unknown")
# Below this nobody can act on it: pages of the program come and go by a mebibyte, and two runs of
# one program differ by a few per cent.
LEAST_BYTES = MIB
LEAST_SHARE = 0.02
# A layer is the cause if it alone makes three quarters of the change: the others then cannot
# make up half of what is left unsaid.
MOST_OF_IT = 0.75
AGAINST = 0.25  # of the change: what moves the other way by less needs no word


@dataclass(frozen=True)
class LedgerChange:
    """How one ledger differs from another.

    Attributes:
        rss_change_bytes: RSS after less RSS before; None if one side does not know it.
        parts: A row per part of either side; see `PART_CHANGES`. `change_bytes` adds up to
            `rss_change_bytes` where both sides tell the same parts.
        layers: Net change by layer: `layer`, `change_bytes`; `<NA>` if a part of it is unknown.
        verdict: `unchanged`, `shifted` (layers moved, RSS did not), the layer that moved RSS,
            `mixed`, or `unknown`.
        sentence: The verdict in words, with its numbers.
    """

    rss_change_bytes: int | None
    parts: pd.DataFrame
    layers: pd.DataFrame
    verdict: str
    sentence: str


def change_ledger(
    before: pd.DataFrame,
    after: pd.DataFrame,
    before_rss_bytes: int | None = None,
    after_rss_bytes: int | None = None,
    *,
    zero_where_absent: frozenset[str] = frozenset(),
) -> LedgerChange:
    """Hold one ledger against another.

    Args:
        before: The parts of the earlier ledger: `part`, `bytes`.
        after: Those of the later one.
        before_rss_bytes: RSS of the earlier one, if known.
        after_rss_bytes: RSS of the later one, if known.
        zero_where_absent: Parts that a side would list if there were any of them, as every kind
            of mapping where smaps was read on both sides: absent, they are 0 and not unknown.

    Returns:
        The change of every part, and the verdict.
    """
    parts = _subtracted(before, after, zero_where_absent)
    layers = _by_layer(parts)
    change = None
    if before_rss_bytes is not None and after_rss_bytes is not None:
        change = after_rss_bytes - before_rss_bytes
    noise = max(LEAST_BYTES, LEAST_SHARE * max(before_rss_bytes or 0, after_rss_bytes or 0))
    verdict = _verdict(change, layers, noise)
    return LedgerChange(change, parts, layers, verdict, _sentence(verdict, change, layers))


def _subtracted(before: pd.DataFrame, after: pd.DataFrame, zero: frozenset[str]) -> pd.DataFrame:
    order = [*before["part"], *(part for part in after["part"] if part not in set(before["part"]))]
    order.sort(key=_place)
    columns = {
        side: frame.groupby("part")["bytes"].sum().reindex(order).astype("Int64")
        for side, frame in (("before_bytes", before), ("after_bytes", after))
    }
    table = pd.DataFrame(columns, index=pd.Index(order, name="part", dtype="str"))
    absent = table.index.isin(zero)
    for side in columns:
        table[side] = table[side].mask(absent & table[side].isna(), 0)
    table["change_bytes"] = table["after_bytes"] - table["before_bytes"]
    table.insert(0, "layer", [LAYER_OF_PART.get(part, "native") for part in order])
    return build(dict(table.reset_index()), PART_CHANGES)


def _place(part: str) -> int:
    return list(LAYER_OF_PART).index(part) if part in LAYER_OF_PART else len(LAYER_OF_PART)


def _by_layer(parts: pd.DataFrame) -> pd.DataFrame:
    """Net change of each layer; unknown as soon as one of its parts is."""
    grouped = parts.groupby("layer", sort=False)["change_bytes"]
    return grouped.agg(lambda sizes: sizes.sum(skipna=False)).astype("Int64").reset_index()


def _verdict(change: int | None, layers: pd.DataFrame, noise: float) -> str:
    if change is None:
        return "unknown"
    known = layers.dropna(subset=["change_bytes"])
    if abs(change) < noise:
        moved = (known["change_bytes"].abs() >= noise).any()
        return "shifted" if moved else "unchanged"
    if len(known) < len(layers):
        return "unknown"
    share = known.set_index("layer")["change_bytes"].astype("float64") / change
    # A layer may move by more than RSS did, if others moved against it. It is still the cause
    # if what goes the same way is mostly its own.
    same_way = share[share > 0]
    if same_way.max() < MOST_OF_IT * same_way.sum():
        return "mixed"
    return str(same_way.idxmax())


def _sentence(verdict: str, change: int | None, layers: pd.DataFrame) -> str:
    by_layer = layers.set_index("layer")["change_bytes"]
    if verdict == "unknown":
        if change is None:
            return "RSS is not known on both sides, so its change is not"
        return f"{_rss_words(change)}; the two ledgers do not tell the same parts"
    assert change is not None
    if verdict == "unchanged":
        return f"RSS is the same ({format_change(change)}), and so are its parts"
    if verdict == "shifted":
        return f"RSS is the same ({format_change(change)}); inside it moved {_moves(by_layer)}"
    if verdict == "mixed":
        return f"{_rss_words(change)}; no one cause makes most of it: {_moves(by_layer)}"
    size = int(by_layer[verdict])
    more = f"{format_bytes(abs(size))} {'more' if size > 0 else 'less'}"
    words = WORDS[verdict].format(more=more)
    return f"{_rss_words(change)}: {words}{_beside(verdict, change, by_layer)}"


def _rss_words(change: int) -> str:
    return f"RSS {'rose' if change > 0 else 'fell'} by {format_bytes(abs(change))}"


def _beside(verdict: str, change: int, by_layer: pd.Series) -> str:
    """What stood still under a change of residency, and what moved against the change."""
    words = []
    if verdict == "residency" and "allocation" in by_layer.index:
        words.append(f"objects, spans and stacks {format_change(int(by_layer['allocation']))}")
    against = by_layer[(by_layer * change < 0) & (by_layer.abs() >= AGAINST * abs(change))]
    against = against[[layer for layer in against.index if layer != "allocation" or not words]]
    if len(against):
        words.append(f"against it {_moves(against)}")
    return f" ({'; '.join(words)})" if words else ""


def _moves(by_layer: pd.Series) -> str:
    """The layers that moved by a mebibyte or more, the largest first."""
    known = by_layer.dropna()
    known = known[known.abs() >= LEAST_BYTES]
    order = known.abs().sort_values(ascending=False, kind="stable").index
    return ", ".join(f"{layer} {format_change(int(known[layer]))}" for layer in order)
