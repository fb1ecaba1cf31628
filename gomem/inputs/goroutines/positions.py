"""Where the functions on goroutine stacks are in the source, and how many goroutines are there.

A dump has the position of each call below the function: `/app/main.go:26 +0x85`. The number after
`+` is an offset in the machine code. Goroutines at the same call have the same position.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from gomem.inputs.schema import Column, build_rows
from gomem.text import File, Function

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from gomem.inputs.goroutines.parse import PlacedStack

POSITIONS = (
    Column("function", "str", "", "A function on the stacks.", Function),
    Column("file", "str", "", "The file of its call, or of the line that it waits in.", File),
    Column("line", "int64", "", "The line of that file."),
    Column("goroutines", "int64", "count", "Goroutines that have the function at this position."),
)
_POSITION = re.compile(rb"\s*(\S.*?):(\d{1,9})(?: .*)?\s*")


def positions_table(placed: Mapping[PlacedStack, int]) -> pd.DataFrame:
    """Count goroutines by function and position, most first; recursion counts once.

    Of equally many, the innermost position comes first.
    """
    counted: Counter[tuple[str, bytes]] = Counter()
    for (stack, places), goroutines in placed.items():
        for at in dict.fromkeys(zip(stack, places, strict=False)):
            counted[at] += goroutines
    rows = [
        (function, found[1].decode("utf-8", "backslashreplace"), int(found[2]), goroutines)
        for (function, place), goroutines in counted.most_common()
        if (found := _POSITION.fullmatch(place)) is not None
    ]
    return build_rows(rows, POSITIONS)
