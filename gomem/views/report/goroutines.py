"""Goroutines by wait location: the largest groups, with their stacks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.inputs.schema import rows_of
from gomem.text import Count, Function, Share, text
from gomem.units import is_unknown
from gomem.views.document import Bar, Bars, Cell, Folded, Piece, Section, Table
from gomem.views.figures.flame_graph import known_name
from gomem.views.tables import Row, count, function, seconds, share, table, words

if TYPE_CHECKING:
    from gomem.diagnosis.diagnosis import Diagnosis

NOT_SHOWN = "stack not shown"
GROUPS, STACKS = 10, 5  # rows, and rows with a stack
COLUMNS = (
    function("function", lambda row: row["function"] or NOT_SHOWN),
    count("goroutines", "goroutines"),
    share("share", "share"),
    words("state", lambda row: "" if is_unknown(row["state"]) else row["state"]),
    seconds("longest wait", "wait_seconds"),
    function("started by", lambda row: "" if is_unknown(row["created_by"]) else row["created_by"]),
)


def goroutines_section(diagnosis: Diagnosis) -> Section | None:
    """The groups of the last snapshot with stacks; None without goroutines."""
    rows = _rows(diagnosis)
    if not rows:
        return None
    is_started = any(not is_unknown(row["created_by"]) for row in rows[:GROUPS])
    columns = COLUMNS if is_started else COLUMNS[:-1]
    groups = table("Goroutines by where they wait", columns, rows[:GROUPS])
    stacks = [Folded(text("Stack of {}", _name(row)), (_stack(row),)) for row in rows[:STACKS]]
    first = Count(rows[0]["goroutines"]), _name(rows[0])
    gist = text("{}, {} in {}", _total(rows), *first)
    return Section("goroutines", "Goroutines", (groups, *stacks), gist=gist)


def goroutine_bars(diagnosis: Diagnosis, colour: str) -> Bars | None:
    """The largest groups as bars; None without goroutines."""
    rows = _rows(diagnosis)
    if not rows or not rows[0]["function"]:
        return None
    longest = rows[0]["goroutines"]
    bars = tuple(
        Bar(
            _name(row),
            text("{}, {}", Count(row["goroutines"]), Share(row["share"])),
            (Piece(row["goroutines"] / longest, colour),),
            code=True,
        )
        for row in rows[:STACKS]
    )
    return Bars(text("{} by where they wait", _total(rows)), bars)


def _rows(diagnosis: Diagnosis) -> list[Row]:
    states = diagnosis.facts.goroutine_states
    return [
        row | {"state": states.get(row["function"], row["state"])}
        for row in rows_of(diagnosis.facts.goroutine_groups)
    ]


def _total(rows: list[Row]) -> Count:
    return Count(sum(int(row["goroutines"]) for row in rows), "goroutine")


def _name(row: Row) -> Function:
    return Function(known_name(row["function"]) or NOT_SHOWN)


def _stack(row: Row) -> Table:
    frames = tuple(
        (Cell(Function(known_name(name)), code=True),) for name in row["stack"].split(";")
    )
    return Table("Innermost first", ("function",), "<", frames)
