"""Tables as data: each column has a heading and a function from a row to its cell.

FREED = (count("collection", "number"), size("returned", "released_bytes"))

table("Calls to debug.FreeOSMemory in the log", FREED, answer.freed)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from gomem.inputs.schema import rows_of
from gomem.text import Function, MomentName
from gomem.units import is_unknown
from gomem.views import values
from gomem.views.document import Cell, Table
from gomem.views.figures.flame_graph import known_name

if TYPE_CHECKING:
    import pandas as pd

Row = dict[str, Any]
Shown = Callable[..., Cell]
BLANK = Cell("")


class Column(NamedTuple):
    """A column of a table."""

    heading: str
    cell: Callable[[Any], Cell]  # from a row
    side: str = ">"  # `<` for words, `>` for numbers


def shown_by(cell: Shown, side: str = ">") -> Callable[..., Column]:
    """Return a function for columns of a kind: by heading, and the row's key or a function."""

    def column(heading: str, of: str | Callable[[Any], Any]) -> Column:
        value = itemgetter(of) if isinstance(of, str) else of
        return Column(heading, lambda row: cell(value(row)), side)

    return column


words = shown_by(Cell, "<")
code = shown_by(partial(Cell, code=True), "<")
moment = shown_by(lambda name: Cell(MomentName(name)), "<")
function = shown_by(lambda name: Cell(Function(known_name(name)), code=True), "<")
size = shown_by(values.bytes_cell)
change = shown_by(values.change_cell)
seconds = shown_by(values.seconds_cell)
clock = shown_by(values.clock_cell)
share = shown_by(values.fraction_cell)
count = shown_by(values.count_cell)
rate = shown_by(values.rate_cell)


def noted(heading: str, of: Callable[[Any], tuple[str, str]]) -> Column:
    """A column of words, with a few more words below."""

    def shown(row: Any) -> Cell:
        said, note = of(row)
        return Cell(said, note=note)

    return Column(heading, shown, "<")


def interval(heading: str, of: str, cell: Shown = values.bytes_cell) -> Column:
    """A column from `of_low` to `of_high`, if both are known."""
    low, high = f"{of}_low", f"{of}_high"

    def shown(row: Row) -> Cell:
        is_known = not (is_unknown(row[low]) or is_unknown(row[high]))
        return values.between(row[low], row[high], cell) if is_known else values.NOTHING

    return Column(heading, shown)


def table(
    caption: str, columns: Sequence[Column], rows: pd.DataFrame | Sequence[Any],
    total: tuple[tuple[Cell, ...], ...] = (), **brief: int,
) -> Table:  # fmt: skip
    """A row per row of the frame, or per object; the first column names the row.

    A column without a value in any row is left out.
    """
    each = rows if isinstance(rows, Sequence) else rows_of(rows)
    cells = [[column.cell(row) for column in columns] for row in each]
    kept = [
        place for place in range(len(columns))
        if not cells or place == 0
        or any(row[place] not in (values.NOTHING, BLANK) for row in (*cells, *total))
    ]  # fmt: skip
    told, whole = (
        tuple(tuple(row[place] for place in kept) for row in part) for part in (cells, total)
    )
    headings = tuple(columns[place].heading for place in kept)
    sides = "<" + "".join(columns[place].side for place in kept[1:])
    return Table(caption, headings, sides, told, whole, **brief)
