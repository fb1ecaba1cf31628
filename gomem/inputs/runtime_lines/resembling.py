"""Tables over time that gomem does not read: sizes without a unit, columns without names."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from gomem.inputs.resemblance import Resemblance
from gomem.inputs.runtime_lines.tables import any_table_in
from gomem.text import Count, Quoted, joined, text

MIN_ROWS = 3
_NAME_UNIT = "name the unit in the column's name, such as rss_kb; gomem then reads the table"
_NAME_COLUMNS = (
    "put a line of names above the rows, such as: date time rss_kb vsz_kb; gomem then reads the "
    "table"
)
_ROW = re.compile(
    rb"[ \t]*+(?:\d{4}[-/]\d\d[-/]\d\d[T ,;\t]++)?\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?Z?"
    rb"(?:[ ,;\t]++[-\w./%]{1,60}+){1,30}\s*+"
)
_SIZE = re.compile(rb"[ ,;\t]\d{4,15}(?![\w./])")
_ON_MEMORY = re.compile(r"(?i)rss|mem|heap")


def table_without_units(head: bytes, _: str) -> Resemblance | None:
    """Describe a table that names a time and a size, but no unit."""
    table = any_table_in(head)
    if table is None or not table.without_unit:
        return None
    names = joined(", ", map(Quoted, table.without_unit))
    what = text("a table over time with sizes without a unit ({})", names)
    return Resemblance(what, _NAME_UNIT, is_evidence=True)


def rows_without_names(head: bytes, name: str) -> Resemblance | None:
    """Describe rows of a time and numbers that no line names."""
    rows = [line for line in head.split(b"\n")[:-1] if line.strip()]
    are_rows = len(rows) >= MIN_ROWS and all(map(_ROW.fullmatch, rows))
    if not are_rows or not all(map(_SIZE.search, rows)):
        return None
    what = text("{} of a time and numbers that no line names", Count(len(rows), "row"))
    is_on_memory = _ON_MEMORY.search(PurePosixPath(name).name) is not None
    return Resemblance(what, _NAME_COLUMNS, is_evidence=is_on_memory)
