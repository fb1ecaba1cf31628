"""Identical goroutines as rows: their number, wait reason, wait time, and creator."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gomem.inputs.goroutines.abridged import completed, with_numbers
from gomem.inputs.goroutines.crash import crash_said
from gomem.inputs.goroutines.delve import looks_like_dump, parse_dump
from gomem.inputs.goroutines.leak_tests import test_that_lists
from gomem.inputs.goroutines.parse import SECONDS, headless_stack, highest_number
from gomem.inputs.goroutines.positions import POSITIONS, positions_table
from gomem.inputs.pprof.calls.names import of_the_runtime, release_in_path
from gomem.inputs.schema import Column, Frames, build_rows
from gomem.inputs.text_lines import decoded
from gomem.inputs.unwrap import read_plain
from gomem.inputs.wrong_file import reads
from gomem.text import Function, Words

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Sequence

    import pandas as pd

    from gomem.inputs.goroutines.crash import Crash
    from gomem.inputs.goroutines.parse import Waiting
    from gomem.sources.artefact import Source

__all__ = ["GOROUTINES", "POSITIONS", "Goroutines", "read_goroutines"]
HEAD_BYTES = 1 << 16  # searched for the reason of a crash, and for the Go release
GOROUTINES = (
    Column("goroutines", "int64", "count", "Goroutines that are alike in all that follows."),
    Column(
        "state", "str", "", "Wait reason as the runtime names it; `running` if not waiting.", Words
    ),
    Column("wait_seconds", "float64", "s", "Waiting time, in full minutes; missing below 1 min."),
    Column(
        "function",
        "str",
        "",
        "The innermost function outside the runtime; empty without one.",
        Function,
    ),
    Column("created_by", "str", "", "The function that started them; empty for main.", Function),
    Column("locked", "bool", "", "Locked to a thread."),
    Column("leaked", "bool", "", "Found by the runtime to be waiting for ever; since Go 1.26."),
    Column("of_the_runtime", "bool", "", "The runtime's own, which no count of them includes."),
    Column("elided", "Int64", "count", "Frames left out of the stack; missing if it does not say."),
    Column("stack", "str", "", "Function names, innermost first, joined by `;`.", Function),
    Column(
        "ancestry",
        "str",
        "",
        "The same of its ancestors; empty without tracebackancestors.",
        Function,
    ),
)


@dataclass(frozen=True)
class Goroutines(Frames):
    """The goroutines of a dump.

    `goroutines` has a row for identical ones, see `GOROUTINES`; `positions` has a row for each
    function at a source position.
    """

    goroutines: pd.DataFrame
    positions: pd.DataFrame  # where their functions are in the source; see `POSITIONS`
    crash: Crash | None = None  # why the program crashed, if the text says so
    # The highest goroutine number, about the number ever started; None if there is none.
    highest: int | None = None
    # The numbers of goroutines that are identical, in the order of their starts but for a few.
    numbers: dict[Waiting, list[int]] = field(default_factory=dict)
    leak_test: str = ""  # goleak or leaktest, if a test reported these goroutines
    go_version: str | None = None  # the release in a path of Go's library; None if there is none
    # The stack above the first goroutine, innermost first, whose header is missing.
    headless: tuple[str, ...] = ()


def goroutines_table(found: Counter[Waiting]) -> pd.DataFrame:
    """Convert goroutines to rows."""
    rows = []
    for alike, count in found.items():
        seconds = None if alike.minutes is None else float(alike.minutes * SECONDS)
        elided = None if alike.elided < 0 else alike.elided
        begun = (innermost_own(alike.stack), alike.created_by, alike.locked, alike.leaked)
        stacks = (";".join(alike.stack), ";".join(alike.ancestry))
        stack = (alike.of_the_runtime, elided, *stacks)
        rows.append((count, alike.state, seconds, *begun, *stack))
    return build_rows(rows, GOROUTINES)


def innermost_own(stack: Sequence[str]) -> str:
    """Return the innermost function outside the runtime; if there is none, the innermost of all."""
    own = (name for name in stack if not of_the_runtime(name))
    return next(own, stack[0] if stack else "")


@reads("goroutine stacks in text (debug=2)", "goroutines")
def read_goroutines(source: Source) -> Goroutines:
    """Read goroutines with their stacks: goroutine?debug=2, or the dump of a panic or SIGQUIT.

    Delve's listings are read, too; they have one function or a stack per goroutine.

    Raises FormatError if there is no goroutine.
    """
    found, damaged, plain = read_plain(source, looks_like_dump, parse_dump)
    found, damaged, is_its_own = completed(
        found, damaged, plain=plain.data, whole=source.whole_text
    )
    head = plain.data[:HEAD_BYTES]
    return Goroutines(
        goroutines_table(found.goroutines),
        positions_table(found.placed),
        crash=crash_said(head, source.whole_text[:HEAD_BYTES]),
        highest=highest_number(plain.data),
        numbers=found.numbers,
        leak_test=test_that_lists(source.data[:HEAD_BYTES]),
        go_version=release_in_path(decoded(head)),
        headless=() if is_its_own else headless_stack(with_numbers(head)),
        damaged=damaged,
    )
