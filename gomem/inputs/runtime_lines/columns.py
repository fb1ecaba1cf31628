"""Tables that a script writes, with a line that names the columns: `ts,rss_kb,threads`.

A size without a unit in its column's name is in bytes. `kb` is KiB, and `mb` MiB: the numbers come
from /proc or ps, which count in them.
"""

from __future__ import annotations

import re

from gomem.inputs.runtime_lines.patterns import Pattern
from gomem.units import GIB, KIB, MIB

SCRIPT = "a script's table"
_UNITS = {"b": 1, "bytes": 1, "kb": KIB, "kib": KIB, "mb": MIB, "mib": MIB, "gb": GIB, "gib": GIB}
_QUANTITIES = {
    **dict.fromkeys(("time", "ts", "timestamp", "date", "datetime", "when", "epoch"), "time"),
    **dict.fromkeys(("rss", "vmrss", "res", "resident"), "rss"),
    **dict.fromkeys(("alloc", "heapalloc", "goalloc"), "go_alloc"),
    **dict.fromkeys(("released", "heapreleased"), "go_released"),
    **dict.fromkeys(("sys", "gosys"), "go_sys"),
    **dict.fromkeys(("goroutines", "numgoroutine"), "goroutines"),
    **dict.fromkeys(("numgc", "gcs"), "gcs"),
}
_SEPARATORS = (b",", b";", b"\t")
_NAME = re.compile(r"([a-z_ ]*?)[_ (\[]*(b|bytes|[kmg]i?b)?[)\]]*")
MAX_COLUMNS = 60


def pattern_of_columns(data: bytes) -> Pattern | None:
    """Return the form of the rows if the first line names a time and a size; else None."""
    head = data[:4096].lstrip().partition(b"\n")[0].strip()
    separator = next((each for each in _SEPARATORS if each in head), b"")
    names = head.split(separator) if separator else []
    found = [_quantity(name.decode("utf-8", "replace")) for name in names]
    units = {quantity: (quantity, unit) for quantity, unit in found if quantity}
    if len(names) > MAX_COLUMNS or "time" not in units or not units.keys() & {"rss", "go_alloc"}:
        return None
    if len(units) < sum(bool(quantity) for quantity, _ in found):
        return None  # two columns of one name
    cell = rb"[^" + separator + rb"\n]*"
    cells = (
        rb"\"?(?P<" + quantity.encode() + rb">" + cell + rb"?)\"?" if quantity else cell
        for quantity, _ in found
    )
    return Pattern(SCRIPT, re.compile(rb"^" + separator.join(cells) + rb"\r?$"), separator, units)


def _quantity(name: str) -> tuple[str, int]:
    """The quantity that a column has, and its unit; empty if another."""
    quantity, unit = quantity_of(name)
    return quantity, 1 if unit is None else unit


def quantity_of(name: str) -> tuple[str, int | None]:
    """Return the quantity of a column, empty if another, and the unit in its name, if any."""
    named = _NAME.fullmatch(name.strip().strip('"').lower())
    if named is None:
        return "", None
    quantity = _QUANTITIES.get(named[1].replace("_", "").replace(" ", ""), "")
    return quantity, None if named[2] is None else _UNITS[named[2]]
