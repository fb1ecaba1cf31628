"""`gomem explain TERM`: the meaning of a field, a column, a finding or a term."""

from __future__ import annotations

from typing import Annotated

import typer

from gomem.cli.output import write
from gomem.cli.terminal import terminal_text
from gomem.errors import CaptureError, printable


def explain(
    words: Annotated[list[str], typer.Argument(metavar="TERM")],
) -> None:
    """Explain a term: its meaning, unit and source, common mix-ups, and differences by release.

    Terms are fields of MemStats, smaps and the GC log, columns of gomem's tables, findings, ledger
    rows, and common words about memory. Case does not matter.

    Examples:
        gomem explain HeapIdle
        gomem explain idle-heap-kept

    Args:
        words: Such as HeapIdle, LazyFree, RSS, scav.
    """
    from gomem.views.explain.explanation import explanation_document, unknown_term

    term = " ".join(words)
    document = explanation_document(term)
    if document is None:
        raise CaptureError(printable(unknown_term(term)))
    write(terminal_text(document), None)
