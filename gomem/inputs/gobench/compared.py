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
_ROW = re.compile(
    r"[> ]*+(?P<name>\[Geo mean\]|\S+)\s(?P<cells>.*?)\s(?P<change>[-+][0-9]+(?:\.[0-9]+)?)%"
    r"(?:\s+\(p=.*)?\s*"
)
_VALUES = re.compile(r"\s*([0-9]\S*)(?:\s+±\s*\S+)?\s+([0-9]\S*)(?:\s+±\s*\S+)?\s*")
_MEAN = re.compile(r"geomean|\[Geo mean\]")
# A row without its change, which is cut if it is the last line.
_BEGUN = re.compile(
    r"[> ]*+(?:name +old .*|[\w/.=:-]*(?:[-/_]\w|[0-9])(?: {2,}(?:(?!\s[-+][0-9.]+%|\s~).)*)?)"
)


def without_bars(line: str) -> str:
    """Return a row of a Markdown table as benchcmp aligns it; any other line as it is."""
    if _CELLS.fullmatch(line) is None:
        return line
    cells = (cell.strip(" `*") for cell in line.strip("> ").strip("|").split("|"))
    return "  ".join(cells)


def said_changes(data: bytes) -> Text:
    """Return the largest changes in a benchstat or benchcmp table; empty if there are none.

    The largest has both values; the geometric means follow, and that the table is cut.
    """
    metric, found, means = "", list[tuple[float, Text, Text]](), list[Text]()
    is_cut = False
    for row_line in data.decode("utf-8", "replace").rstrip().split("\n"):
        line = without_bars(row_line)
        heading, row = _HEADING.fullmatch(line), _ROW.fullmatch(line) if metric else None
        begun = _BEGUN.fullmatch(line) if metric else None
        is_cut = heading is not None or begun is not None
        if heading:
            metric = next(filter(None, heading.groups()))
        elif row is not None and float(row["change"]):
            change = text("{} {} %", Quoted(metric), Quoted(row["change"]))
            if _MEAN.match(row["name"]):
                means.append(change)
                continue
            values = _VALUES.match(row["cells"])
            both = text(" ({} to {})", *map(Quoted, values.groups())) if values else Text()
            said = text("{} {}", Quoted(row["name"]), change)
            found.append((abs(float(row["change"])), said, both))
    found.sort(key=lambda each: -each[0])
    more = text(" and {} more", str(len(found) - SHOWN)) if len(found) > SHOWN else Text()
    changes = (text("{}{}", said, both * (not n)) for n, (_, said, both) in enumerate(found))
    pieces = (
        text("{}{}", joined(", ", list(changes)[:SHOWN]), more),
        text("in the geometric mean {}", joined(", ", means)) if means else Text(),
        Text("and it is cut at its end") if is_cut and found else Text(),
    )
    return joined(", ", filter(None, pieces))
