"""Who in the program calls what a cause is about: the sites and the words of several causes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from gomem.causes.finding import Site
from gomem.causes.growing_sites import SITES
from gomem.inputs.pprof.calls.names import base_name
from gomem.text import File, Function, Text, text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gomem.causes.thresholds import Thresholds
    from gomem.facts.callers import Caller


def caller_sites(
    callers: Sequence[Caller], thresholds: Thresholds, size: float = math.nan
) -> tuple[Site, ...]:
    """The functions that do a good part of the calling, most first.

    Args:
        callers: As the facts have them.
        thresholds: Which share is worth a name.
        size: What is theirs at most, in bytes; NaN where that is not about memory.
    """
    low = math.nan if math.isnan(size) else 0.0
    return tuple(
        Site(
            caller.called or caller.function,
            caller.function,
            caller.file,
            caller.line,
            low,
            size,
            size,
            caller.share,
        )
        for caller in callers[:SITES]
        if caller.share >= thresholds.named_share
    )


def called_by(callers: Sequence[Caller], what: str = "") -> Text:
    """Who calls it most, where, and which file shows that; empty if none does.

    `C is called by main.(*shop).look, shop.go:41 (cpu.pb.gz). `

    Args:
        callers: As the facts have them.
        what: What is called; by the name of what the first calls if empty.
    """
    if not callers:
        return Text()
    first = callers[0]
    called = Text(what) or Function(first.called)
    return text("{} is called by {} ({}). ", called, _place(first), File(first.path))


def _place(caller: Caller) -> Text:
    if not caller.file:
        return Text(Function(caller.function))
    line = "" if caller.line is None else f":{caller.line}"
    return text("{}, {}{}", Function(caller.function), File(base_name(caller.file)), line)
