"""The changes in a pasted table of benchstat or benchcmp, row by row.

Printed by    benchstat of golang.org/x/perf, before 2023 and since; benchcmp of x/tools.
Quirks        A row with `~` as its change is within noise, and is left out here.
              benchcmp does not estimate noise: it prints every change, +0.00% too (left out).
              A Markdown table has `|` between the columns, and a rule below its heading.
"""

from __future__ import annotations

import re

from gomem.text import Quoted, Text, joined, text

SHOWN = 4  # changes shown
# Headings above a column of numbers that name the quantity: old benchstat, new benchstat, benchcmp.
_HEADING = re.compile(
    r"[> ]*name +old (?P<old>\S+) +new .*|[^│]*│ +(?P<new>\S+/\S+|B/s) +│.*"
    r"|[> ]*benchmark +old (?P<cmp>\S+) +new .*"
)
_CELLS = re.compile(r"[> ]*\|?[^|\n]*(?:\|[^|\n]*){2,}")
_ROW = re.compile(r"[> ]*+(\S+)\s.*?\s([-+][0-9]+(?:\.[0-9]+)?)%(?:\s+\(p=.*)?\s*")


def without_bars(line: str) -> str:
    """Return a row of a Markdown table as benchcmp aligns it; any other line as it is."""
    if _CELLS.fullmatch(line) is None:
        return line
    cells = (cell.strip(" `*") for cell in line.strip("> ").strip("|").split("|"))
    return "  ".join(cells)


def said_changes(data: bytes) -> Text:
    """Return the largest changes in a benchstat or benchcmp table; empty if there are none."""
    metric, found = "", list[tuple[float, Text]]()
    for row_line in data.decode("utf-8", "replace").split("\n"):
        line = without_bars(row_line)
        if heading := _HEADING.fullmatch(line):
            metric = next(filter(None, heading.groups()))
        elif metric and (row := _ROW.fullmatch(line)) is not None and row[1] != "geomean":
            if not float(row[2]):
                continue
            change = text("{} {} {} %", Quoted(row[1]), Quoted(metric), Quoted(row[2]))
            found.append((abs(float(row[2])), change))
    found.sort(key=lambda pair: -pair[0])
    more = text(" and {} more", str(len(found) - SHOWN)) if len(found) > SHOWN else Text()
    return text("{}{}", joined(", ", (change for _, change in found[:SHOWN])), more)
