"""The schema of what goes back to the kernel: the report's `scavenger`."""

from __future__ import annotations

from gomem.analysis.scavenger.retention import PACED_BY, RETENTION
from gomem.analysis.scavenger.scavenger import FREED
from gomem.analysis.scavenger.verdicts import EPISODES, INTERVALS, VERDICTS
from gomem.inputs.schema import Column
from gomem.views.json.schemas.fields import SIZE, or_null, record, rows, words, words_or_null

GOAL = (
    Column("name", "str", "", "The rule's fixed name."),
    Column("formula", "str", "", "How it is computed."),
    Column("note", "str", "", "What to know about it; may be empty."),
)
WHOLE = (
    Column("would_free_bytes", "Int64", "B", "What FreeOSMemory would give back: what is idle."),
    Column("may_free_bytes", "Int64", "B", "And at most: what is retained."),
    Column("lazy_free_bytes", "Int64", "B", "What madvdontneed=1 would take off RSS."),
)
CPU = (
    Column("background_seconds", "float64", "s", "By the background scavenger."),
    Column("assist_seconds", "float64", "s", "By those who allocate."),
    Column("available_seconds", "float64", "s", "GOMAXPROCS times the time."),
    Column("cpu_fraction", "float64", "fraction", "Of what was available."),
)
SCAVENGER = or_null(
    record(
        WHOLE,
        would_free_bytes=SIZE,
        may_free_bytes=SIZE,
        lazy_free_bytes=SIZE,
        goals=rows(
            GOAL,
            "The rules of all releases by which heap goes back.",
            applies=words(("yes", "no", "unknown"))
            | {"description": "Whether the release has it."},
        ),
        moments=rows(RETENTION, "In order.", paced_by=words_or_null(PACED_BY)),
        intervals=rows(INTERVALS, "From each moment to the next.", code=words(VERDICTS)),
        episodes=rows(EPISODES, "Those in a row with one verdict.", code=words(VERDICTS)),
        freed=rows(FREED, "Calls of debug.FreeOSMemory in the log."),
        cpu=or_null(
            record(CPU),
            "CPU of the scavenger between the first moment and the last; null before Go 1.20.",
        ),
    ),
    "What goes back to the kernel, and why not more; null where nothing tells.",
)
