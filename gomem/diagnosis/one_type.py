"""How many values of a type run goroutines: as many wait in several methods of the type.

A client or a pool starts a goroutine for each of its loops, and ends them as it is closed. Then
equal numbers in the loops are the number of those that are open.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gomem.inputs.pprof.calls.names import in_standard_library
from gomem.text import Count, Function, Text, text

if TYPE_CHECKING:
    import pandas as pd

MIN_VALUES = 10  # of a type; fewer are equal by chance
_METHOD = re.compile(r"(?P<type>.+\.\(\*?\w+(?:\[\.\.\.\])?\))\.\w+")


def one_type_words(groups: pd.DataFrame, largest: pd.Series) -> Text:
    """Say that as many goroutines wait in another method of the type; empty if none do."""
    where, there = str(largest["function"]), int(largest["goroutines"])
    method = _METHOD.match(where)
    if method is None or there < MIN_VALUES or in_standard_library(where):
        return Text()
    begin = f"{method['type']}."
    alike = groups[(groups["goroutines"] == there) & groups["function"].str.startswith(begin)]
    others = [name for name in alike["function"] if name != where]
    if not others:
        return Text()
    words = "As many wait in {}: likely {} of that type are not closed, each with its own loops."
    return text(words, Function(others[0]), Count(there))
