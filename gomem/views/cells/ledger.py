"""The ledger in a notebook: as a table, side by side, and in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from gomem.analysis.memory.rss_vs_heap import PARTS
from gomem.errors import CaptureError
from gomem.units import format_bytes, format_fraction
from gomem.views.words import PARTS as PARTS_IN_WORDS
from gomem.views.words import part_name
from gomem.views.writers.cells import BYTES, Shown, sentences, table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gomem.analysis.memory.rss_vs_heap import Ledger
    from gomem.diagnosis.diagnosis import Diagnosis

CLAIMED = ("heap_objects", "heap_slack", "heap_idle", "stacks")
LARGEST = 3  # parts that the sentence names
RSS = "RSS"
SIDE_BY_SIDE = 6  # more columns than these do not fit on a page


def telling_moment(diagnosis: Diagnosis) -> str:
    """The moment to look at first.

    Raises:
        CaptureError: No moment has anything that says where memory is.
    """
    ledgers = diagnosis.ledgers
    if not ledgers:
        raise CaptureError(
            f"{diagnosis.capture.name}: no moment says where memory is; wanted smaps, MemStats or "
            "status; add one with: cat /proc/PID/smaps > smaps"
        )
    return diagnosis.shown_first or next(iter(ledgers))


def ledger_table(ledger: Ledger, moment: str) -> Shown:
    """One moment's parts with their share, what the runtime claims, source and meaning."""
    rss = ledger.rss_bytes
    shown = ledger.parts[ledger.parts["bytes"] != 0]
    rows = pd.DataFrame(
        {
            "part": [part_name(part) for part in shown["part"]],
            "bytes": list(shown["bytes"]),
            "of_RSS_fraction": [size / rss if rss else None for size in shown["bytes"]],
            "the_runtime_claims_bytes": list(shown["claimed_bytes"]),
            "what_it_is": [PARTS_IN_WORDS[part] for part in shown["part"]],
            "source": list(shown["source"]),
        }
    )
    if rss is None:
        return table(rows, f"The ledger at {moment}. No file of it says how much is resident.")
    total = {"part": RSS, "bytes": rss, "of_RSS_fraction": 1.0}
    rows = pd.concat([rows.astype(object), pd.DataFrame([total], dtype=object)], ignore_index=True)
    rows[["what_it_is", "source"]] = rows[["what_it_is", "source"]].fillna("")
    return table(rows, f"The ledger at {moment}. The parts add up to RSS to the byte.")


def ledgers_table(ledgers: Mapping[str, Ledger], caption: str) -> Shown:
    """Several ledgers beside one another; many of them below one another."""
    parts = [part for part in PARTS if any(ledger.part(part) for ledger in ledgers.values())]
    names = [*map(part_name, parts), RSS]
    columns = {
        name: pd.Series([*(_known(ledger, part) for part in parts), ledger.rss_bytes], names)
        for name, ledger in ledgers.items()
    }
    rows = pd.DataFrame(columns, dtype="Int64")
    if len(ledgers) > SIDE_BY_SIDE:
        rows = rows.T
    first = "part" if len(ledgers) <= SIDE_BY_SIDE else "moment"
    units = dict.fromkeys(rows.columns, BYTES)
    return table(rows.rename_axis(first).reset_index(), caption, units)


def _known(ledger: Ledger, part: str) -> int | None:
    return ledger.part(part) if ledger.has(part) else None


def kinds_table(diagnosis: Diagnosis, moment: str) -> Shown:
    """The mappings of one moment by kind, the most resident first."""
    kinds = diagnosis.kinds
    of_moment = kinds[kinds["moment"] == moment].sort_values("rss_bytes", ascending=False)
    if of_moment.empty:
        return sentences(f"{moment} has no smaps, so the kernel's mappings are not known.")
    rows = of_moment.drop(columns="moment").rename(
        columns={"vmas": "mappings", "size_bytes": "address_space_bytes", "rss_bytes": "Rss"}
    )
    caption = f"Mappings at {moment}, as the kernel lists them in smaps; every one has one kind."
    return table(rows, caption, {"mappings": "count"})


def read_ledger(ledger: Ledger, moment: str) -> Shown:
    """The ledger in sentences: RSS, its largest parts, and what Go and the kernel disagree on."""
    return sentences(
        _largest_parts(ledger, moment),
        _untouched(ledger),
        _unexplained(ledger),
        *map(_as_sentence, ledger.notes),
    )


def read_notes(diagnosis: Diagnosis) -> Shown:
    """What to know before believing a ledger, for every moment that has something to say."""
    return sentences(
        *(
            f"{moment}: {_as_sentence(note)}"
            for moment, ledger in diagnosis.ledgers.items()
            for note in ledger.notes
        )
    )


def _as_sentence(note: str) -> str:
    return f"{note[0].upper()}{note[1:]}."


def _largest_parts(ledger: Ledger, moment: str) -> str:
    if not ledger.rss_bytes:
        return f"At {moment}, nothing says how much is resident."
    net = ledger.parts[ledger.parts["bytes"] > 0].nlargest(LARGEST, "bytes")
    named = [
        f"{part_name(part)} ({format_bytes(size)})"
        for part, size in zip(net["part"], net["bytes"], strict=True)
    ]
    return (
        f"At {moment}, {format_bytes(ledger.rss_bytes)} are resident. "
        f"The largest parts: {', '.join(named)}."
    )


def _untouched(ledger: Ledger) -> str:
    untouched = -ledger.part("heap_untouched")
    claimed = sum(ledger.part(part) for part in CLAIMED)
    if not untouched or not claimed:
        return ""
    share = format_fraction(untouched / claimed)
    return (
        f"Go counts {format_bytes(claimed)} as held in the heap and stacks; "
        f"{format_bytes(untouched)} of it ({share}) were never touched, so the kernel does not "
        "count them."
    )


def _unexplained(ledger: Ledger) -> str:
    unexplained = ledger.part("heap_unexplained")
    if not unexplained or not ledger.has("heap_objects"):
        return ""
    return (
        f"{format_bytes(unexplained)} are resident in the heap's mappings beyond all that Go "
        "counts there: huge pages, or files that were not taken together."
    )
