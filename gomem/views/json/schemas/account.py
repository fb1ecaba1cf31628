"""The schema of the report's `account`: what moved, within bounds that close."""

from __future__ import annotations

from gomem.analysis.memory.account import QUANTITIES
from gomem.analysis.series.trends import SHAPES
from gomem.inputs.schema import Column
from gomem.views.json.schemas.fields import (
    TEXT_OR_NULL,
    or_null,
    record,
    rows,
    words,
    words_or_null,
)

OF_ACCOUNT = (
    Column("from", "str", "", "The first moment that says how large the process is."),
    Column("to", "str", "", "The last."),
    Column("seconds", "float64", "s", "Between them; null where a time is not known."),
    Column("change_bytes", "int64", "B", "By how much the whole grew."),
)
PART = (
    Column("group", "str", "", "Groups of memory that are told together, joined by `+`."),
    Column("from_low", "int64", "B", "What it was at the first moment, at least."),
    Column("from_high", "int64", "B", "The same at most."),
    Column("to_low", "int64", "B", "What it was at the last moment, at least."),
    Column("to_high", "int64", "B", "The same at most."),
    Column("change_low", "int64", "B", "By how much it grew, at least; holds in 95 of 100."),
    Column("change_high", "int64", "B", "The same at most."),
    Column("change_certain_low", "int64", "B", "By how much it grew for certain, at least."),
    Column("change_certain_high", "int64", "B", "The same at most."),
)
HOLDER = (
    Column("name", "str", "", "A function, a kind of mapping, or a file."),
    Column("low", "int64", "B", "By how much it grew, at least."),
    Column("high", "int64", "B", "The same at most."),
)
OBSERVATION = (
    Column("sentence", "str", "", "What is so, with its numbers."),
    Column("group", "str", "", "What it is about: groups, `in_use`, or `goroutines`."),
    Column("change_low", "int64", "", "By how much it grew, at least; bytes, or goroutines."),
    Column("change_high", "int64", "", "The same at most."),
)
ACCOUNT = or_null(
    record(
        OF_ACCOUNT,
        "What moved between the first moment and the last; the parts close to the whole.",
        quantity=words(QUANTITIES)
        | {"description": "What the parts add up to: RSS, what Go reserves, or what is held."},
        seconds={"type": ["number", "null"], "description": OF_ACCOUNT[2].means},
        parts=rows(
            PART,
            "As finely as both moments can tell.",
            assumption=TEXT_OR_NULL | {"description": "What the likely bounds rest on."},
            shape=words_or_null(SHAPES)
            | {"description": "How it moved over all moments; null of too few."},
            holders=rows(
                HOLDER,
                "Who holds it, the largest first.",
                own_function=TEXT_OR_NULL
                | {"description": "The program's own function to look at; null if none."},
            ),
        ),
        observations=rows(
            OBSERVATION,
            "What there is and what moved, whether or not anything is wrong.",
            shape=words_or_null(SHAPES) | {"description": "How it moved; null of too few."},
            moment=TEXT_OR_NULL | {"description": "The last moment that shows it."},
        ),
    ),
    "What the memory consists of and what moved it; null where no moment says its size.",
)
