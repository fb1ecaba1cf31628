"""What goes back to the kernel, in JSON: the report's `scavenger`."""

from __future__ import annotations

from gomem.analysis.scavenger.goals import Goal
from gomem.analysis.scavenger.retention import PACED_BY, RETENTION
from gomem.analysis.scavenger.scavenger import FREED, ScavengerCpu
from gomem.analysis.scavenger.verdicts import EPISODES, INTERVALS, VERDICTS
from gomem.text import MomentName
from gomem.views.json.schemas.fields import SIZE, words, words_or_null
from gomem.views.json.table import frame, inner, of_class, plain

BOTH = {"before": MomentName, "after": MomentName}
SCAVENGER = inner(
    "scavenger", "What goes back to the kernel, and why not more; null where nothing tells.",
    inner("goals", "The rules of all releases by which heap goes back.",
          *of_class(Goal, "name formula applies note", applies=words(("yes", "no", "unknown"))),
          many=True),
    frame("moments", RETENTION, "In order.", "retention", cells={"moment": MomentName},
          paced_by=words_or_null(PACED_BY)),
    frame("intervals", INTERVALS, "From each moment to the next.", cells=BOTH,
          code=words(VERDICTS)),
    frame("episodes", EPISODES, "Those in a row with one verdict.", cells=BOTH,
          code=words(VERDICTS)),
    frame("freed", FREED, "Calls of debug.FreeOSMemory in the log."),
    plain("would_free_bytes", "Int64", "B", "What FreeOSMemory would give back: what is idle.",
          **SIZE),
    plain("may_free_bytes", "Int64", "B", "And at most: what is retained.", **SIZE),
    plain("lazy_free_bytes", "Int64", "B", "What madvdontneed=1 would take off RSS.", **SIZE),
    inner("cpu", "CPU of the scavenger between the first moment and the last; null before Go 1.20.",
          *of_class(ScavengerCpu, "background_seconds assist_seconds available_seconds"),
          plain("cpu_fraction", "float64", "fraction", "Of what was available.", "fraction"),
          nullable=True),
    nullable=True,
)  # fmt: skip
