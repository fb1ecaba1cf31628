"""What a test says of the goroutines that it lists as leaked, and what would end them.

goleak and leaktest print the whole answer: no server runs that could be asked for more.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from gomem.diagnosis.connections import HTTP_CLIENT
from gomem.text import Command, Function, Text, text
from gomem.units import is_unknown

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from gomem.inputs.goroutines.table import Goroutines

GOLEAK = "goleak"
RUNS_TESTS = "testing.(*M).Run"
_IN_INIT = re.compile(r"\.init(?:\.[0-9]+)?(?:\.func[0-9.]+)?$")
_CLOSE_IDLE = text(
    "Close the response bodies, and idle connections before the test ends: {}.",
    Command("client.CloseIdleConnections()"),
)


def leak_test_words(dumps: Sequence[Goroutines]) -> Text:
    """Return what a test says about the goroutines that it lists; empty without a test."""
    name = _leak_test(dumps)
    if not name:
        return Text()
    said = text("{} found these goroutines at the end of the test, and calls them leaked.", name)
    stacks = (stack for dump in dumps for stack in dump.goroutines["stack"])
    own = any(RUNS_TESTS in stack.split(";") for stack in stacks)
    words = "{} The goroutine in {} runs the tests, and is no leak."
    return text(words, said, Function(RUNS_TESTS)) if own else said


def step_of_test(dumps: Sequence[Goroutines], largest: pd.Series) -> Text:
    """Return what ends the largest group of the goroutines that a test lists; empty without one."""
    name = _leak_test(dumps)
    if not name:
        return Text()
    where = str(largest["function"])
    begun = "" if is_unknown(largest["created_by"]) else str(largest["created_by"])
    if _IN_INIT.search(begun):
        words = "It runs as long as the program, and is no leak of the test{}."
        ignore = Command(text('goleak.IgnoreTopFunction("{}")', Function(where)))
        return text(words, text("; let goleak ignore it: {}", ignore) if name == GOLEAK else "")
    if where.startswith(HTTP_CLIENT):
        return _CLOSE_IDLE
    what = text("what {} starts", Function(begun)) if begun else "these goroutines"
    return text("Stop {} before the test ends: close it, or cancel its context.", what)


def _leak_test(dumps: Sequence[Goroutines]) -> str:
    """Return the package of the test that lists the goroutines; empty without one."""
    return next((dump.leak_test for dump in dumps if dump.leak_test), "")
