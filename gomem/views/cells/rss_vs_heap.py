"""The ledger in a notebook: as a table, side by side, and in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.errors import CaptureError
from gomem.units import format_bytes, format_fraction
from gomem.views.document import Cell, Notes, Table
from gomem.views.report.ledger import parts_table
from gomem.views.report.mappings import kinds_table as table_of_kinds
from gomem.views.report.moments import SIDE_BY_SIDE, parts_lines
from gomem.views.words import part_name
from gomem.views.writers.notebook_cells import Shown, sentences

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gomem.analysis.memory.rss_vs_heap import Ledger
    from gomem.diagnosis.diagnosis import Diagnosis

LARGEST = 3  # parts that the sentence names


def telling_moment(diagnosis: Diagnosis) -> str:
    """The moment to look at first; see `Diagnosis.shown_first`.

    Raises:
        CaptureError: No moment has anything that says where memory is.
    """
    moment = diagnosis.shown_first
    if moment is None or moment not in diagnosis.ledgers:
        raise CaptureError(
            f"{diagnosis.capture.name}: no moment says where memory is; wanted smaps, MemStats or "
            "status; add one with: cat /proc/PID/smaps > smaps"
        )
    return moment


def ledger_table(ledger: Ledger, moment: str) -> Shown:
    """One moment's parts with their share, what the runtime claims, source and meaning."""
    table = parts_table(ledger, moment)
    if ledger.rss_bytes is None:
        return Shown((table, Notes((f"no file of {moment} says how much is resident",))))
    return Shown((table,))


def ledgers_table(ledgers: Mapping[str, Ledger], caption: str) -> Shown:
    """Several ledgers beside one another; many of them below one another."""
    labels, cells = zip(*parts_lines(list(ledgers.values())), strict=True)
    if len(ledgers) <= SIDE_BY_SIDE:
        columns: tuple[str, ...] = ("part", *ledgers)
        rows = tuple((Cell(label), *row) for label, row in zip(labels, cells, strict=True))
    else:
        columns = ("moment", *labels)
        by_moment = zip(ledgers, *cells, strict=True)
        rows = tuple((Cell(name), *row) for name, *row in by_moment)
    return Shown((Table(caption, columns, "<" + ">" * (len(columns) - 1), rows),))


def kinds_table(diagnosis: Diagnosis, moment: str) -> Shown:
    """The mappings of one moment by kind, the most resident first."""
    kinds = diagnosis.kinds
    of_moment = kinds[kinds["moment"] == moment].sort_values("rss_bytes", ascending=False)
    if of_moment.empty:
        return sentences(f"{moment} has no smaps, so the kernel's mappings are unknown.")
    return Shown((table_of_kinds(of_moment, moment),))


def ledger_sentences(ledger: Ledger, moment: str) -> Shown:
    """The ledger in sentences: RSS, its largest parts, and what Go and the kernel disagree on."""
    return sentences(
        _largest_parts(ledger, moment),
        _untouched(ledger),
        _unexplained(ledger),
        *map(_as_sentence, ledger.notes),
    )


def ledger_notes(diagnosis: Diagnosis) -> Shown:
    """What to know before trusting a ledger, for every moment that has notes."""
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
    untouched, claimed = -ledger.part("heap_untouched"), ledger.heap_claimed_bytes
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
        "counts there: from huge pages, or because the files were not taken together."
    )
