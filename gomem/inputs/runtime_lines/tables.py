"""Tables over time in the other forms that scripts and people write, with a line of names above.

Blanks       # date time rss_kb threads       the `#` can be missing; cells can be `109 MiB`
CSV          date,time,rss_kb                 date and time in two columns
Markdown     | time | RSS (MiB) | Sys |        anywhere in a text, with the rule below
Quirks       The unit of RSS is in the column's name or in the cell. Without it RSS is not read:
             /proc and ps print KiB, and programs print bytes.
             A field of MemStats without a unit is in bytes, if no row is too small for that.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import chain, pairwise, takewhile
from typing import TYPE_CHECKING

from gomem.inputs.markdown import RULE, cells_of_row
from gomem.inputs.runtime_lines.columns import LEVELS, SCRIPT
from gomem.inputs.runtime_lines.patterns import COUNTS, Pattern
from gomem.inputs.runtime_lines.quantities import (
    MAX_COLUMNS,
    SAMPLE_ROWS,
    are_ambiguous,
    first_of_each,
    names_in,
    quantity_of,
    unit_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

HEAD_BYTES = 1 << 16  # searched for the line of names
MIN_ROWS = 2
BAR = b"|"
_SEPARATORS = (b",", b";", b"\t")
_COMMANDS = frozenset({"args", "cmd", "comm", "command"})  # columns whose cells can have blanks
_TIME = (
    rb"(?>\d{4}[-/]\d\d[-/]\d\d[T \t,;]++\"?\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?[^\s,;|]*+"
    rb"|[^\s,;|]++)"
)
_CELL = rb"(?>\d[\d.]*+ [KMGTkmgt]?i?[Bb](?![^\s|])|[^\s|]++)"
_ROW = re.compile(rb"\s*\|.*\|\s*")
_NO_BLANK = re.compile(rb"(?<![ \t])[ \t]++(?=[(\[])")  # before a unit: `RSS (MiB)`


@dataclass(frozen=True, slots=True)
class Table:
    """A table: the form of its rows, their lines from 0, and sizes without a unit."""

    pattern: Pattern
    start: int  # the first line below the names
    stop: int
    without_unit: tuple[str, ...]  # names of columns


def looks_like_table(data: bytes) -> bool:
    """Whether a text has such a table, with a unit for a size."""
    return table_in(data) is not None


def has_rss_column(data: bytes) -> bool:
    """Whether a text has such a table with RSS beside a size of Go's."""
    table = table_in(data)
    sizes = set() if table is None else LEVELS & set(table.pattern.units)
    return "rss" in sizes and len(sizes) > 1


def table_in(data: bytes) -> Table | None:
    """Return the first table that names a time and a size with a unit; else None."""
    found = any_table_in(data)
    if found is None or not found.pattern.units.keys() - {"time", *COUNTS}:
        return None
    return found


def any_table_in(data: bytes) -> Table | None:
    """Return the first table that names a time and a size, whatever their units; else None."""
    lines = data.split(b"\n")
    tables = chain(_in_bars(data, lines), _at_the_top(data, lines))
    return next((table for table in tables if table is not None), None)


def lines_of_table(data: bytes) -> set[int]:
    """Return the lines, from 1, of such a table in Markdown, with its names and its rule."""
    lines = data.split(b"\n")
    table = next((table for table in _in_bars(data, lines) if table is not None), None)
    if table is None or not table.pattern.units.keys() - {"time", *COUNTS}:
        return set()
    return set(range(table.start - 1, table.stop + 1))


def _in_bars(data: bytes, lines: Sequence[bytes]) -> Iterator[Table | None]:
    """Tables in Markdown."""
    if b"|" not in data[:HEAD_BYTES] or b"--" not in data[:HEAD_BYTES]:
        return
    known = len(data[:HEAD_BYTES].split(b"\n"))
    for place in range(1, min(known, len(lines))):
        line = lines[place]
        if b"|" in line and RULE.fullmatch(line.rstrip(b"\r")) and _ROW.fullmatch(lines[place - 1]):
            names = [cell.decode("utf-8", "replace") for cell in cells_of_row(lines[place - 1])]
            below = takewhile(_ROW.fullmatch, lines[place + 1 :])
            yield _table(names, BAR, lines, place + 1, place + 1 + len(list(below)))


def _at_the_top(data: bytes, lines: Sequence[bytes]) -> Iterator[Table | None]:
    """The table whose names are the first line, or a comment before the rows."""
    for place, line in enumerate(data[:HEAD_BYTES].split(b"\n")):
        bare = line.strip()
        if not bare:
            continue
        head = _NO_BLANK.sub(b"", bare.lstrip(b"# \t"))
        separator = next((each for each in _SEPARATORS if each in head), b"")
        blanks = head.decode("utf-8", "replace").split()
        names = names_in(head, separator) if separator else blanks
        yield _table(names, separator, lines, place + 1, len(lines))
        if not bare.startswith(b"#"):
            return


def _table(
    names: Sequence[str], separator: bytes, lines: Sequence[bytes], start: int, stop: int
) -> Table | None:
    """The table with these columns; None if they are no time and size, or no rows follow."""
    quantities = [quantity_of(name) for name in names]
    kinds = [quantity for quantity, _ in quantities]
    date = _date_before_time(names)
    if date is not None:
        kinds[date] = ""
    if len(names) > MAX_COLUMNS or "time" not in kinds or not LEVELS & set(kinds):
        return None
    if are_ambiguous(names, kinds):
        return None
    kinds = first_of_each(kinds)
    regex = re.compile(_row(kinds, names, separator, date))
    rows = [found for line in lines[start:stop] if (found := regex.fullmatch(line)) is not None]
    if len(rows) < MIN_ROWS:
        return None
    units = {"time": ("time", 1)}
    unknown = []
    for name, (_, unit), kind in zip(names, quantities, kinds, strict=True):
        if not kind or kind == "time":
            continue
        if kind not in COUNTS and unit is None:
            judged = unit_of(kind, [row[kind] for row in rows[:SAMPLE_ROWS]])
            if judged is None:
                unknown.append(name.strip())
                continue
            units[kind] = (kind, judged)
        else:
            units[kind] = (kind, unit or 1)
    is_of_go = bool(LEVELS & units.keys() - {"rss"})
    form = Pattern(SCRIPT, regex, separator, units, is_by_1024=is_of_go)
    return Table(form, start, stop, tuple(unknown))


def _date_before_time(names: Sequence[str]) -> int | None:
    """The column with the date, if the next one has the time of day; else None."""
    words = [name.strip().strip('"').lower() for name in names]
    pairs = enumerate(pairwise(words))
    places = (place for place, pair in pairs if pair == ("date", "time"))
    return next(places, None)


def _row(kinds: Sequence[str], names: Sequence[str], separator: bytes, date: int | None) -> bytes:
    """The expression of a row."""
    cells = []
    last = len(names) - 1
    for place, (kind, name) in enumerate(zip(kinds, names, strict=True)):
        if place == date:
            continue  # part of the time
        is_text = not kind and place == last and name.strip().lower() in _COMMANDS
        other = rb".*" if is_text else _CELL
        if separator:
            other = rb"[^" + re.escape(separator) + (rb"\"" * bool(kind)) + rb"\n]*"
        cell = _time_in(separator, is_pair=date is not None) if kind == "time" else other
        quote = rb"\"?" if separator and separator != BAR else b""
        cells.append(quote + rb"(?P<" + kind.encode() + rb">" + cell + rb")" if kind else cell)
        cells[-1] += quote * bool(kind)
    between = rb"[ \t]++" if not separator else re.escape(separator)
    outer = rb"\s*+\|" if separator == BAR else b""
    return rb"[ \t]*+" + outer + between.join(cells) + (rb"\|" if outer else b"") + rb"\s*"


def _time_in(separator: bytes, *, is_pair: bool) -> bytes:
    """The expression of a time, in two cells if the date has its own."""
    if not separator:
        return _TIME
    cell = rb"[^" + re.escape(separator) + rb"\n\"]*"
    return cell + rb"\"?" + re.escape(separator) + rb"\"?" + cell if is_pair else cell
