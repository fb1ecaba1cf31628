"""The schema of where the memory is: the report's `ledger`, `mappings`, `changes` and `limits`."""

from __future__ import annotations

from gomem.analysis.mappings.changes import MAPPING_CHANGES, STATES
from gomem.analysis.mappings.kinds import BY_KIND, KINDS
from gomem.analysis.memory.groups import GROUPS, HEAP_CLAIMS, MEMORY_GROUPS, OF_GO_HEAP
from gomem.analysis.memory.ledger import (
    CONFIDENCE,
    LEDGER_CHECKS,
    LEDGER_PARTS,
    LEDGER_SIDES,
    PARTS,
)
from gomem.analysis.memory.ledger_change import LAYER_OF_PART, PART_CHANGES, VERDICTS
from gomem.analysis.memory.limits import CGROUP_COUNTERS, LIMIT_STEPS
from gomem.capture.moment import MOMENT
from gomem.inputs.schema import Column
from gomem.views.json.schemas.fields import (
    NUMBER,
    SIZE,
    TEXT_OR_NULL,
    UNIT,
    Schema,
    listed,
    or_null,
    record,
    rows,
    without,
    words,
)

RSS = Column("rss_bytes", "Int64", "B", "Resident bytes; null if no file of the moment says.")
SKEW = Column("skew_seconds", "float64", "s", "Between the runtime's side and the kernel's.")
NEXT_FILE = Column(
    "next_file", "str", "", "The file that would make it finer, and the command that gets it."
)
CHANGE = (
    Column("before", "str", "", "The earlier moment, or the baseline's."),
    Column("after", "str", "", "The later moment."),
    Column("before_is_baseline", "bool", "", "The earlier one is of the baseline."),
    Column("rss_change_bytes", "Int64", "B", "RSS after less RSS before."),
    Column("verdict", "str", "", "Which layer moved RSS, if it moved."),
    Column("sentence", "str", "", "The verdict in words, with its numbers."),
)
WORST_CASE = (
    MOMENT,
    Column("rss_bytes", "int64", "B", "RSS at the moment."),
    Column("worst_rss_bytes", "int64", "B", "RSS with all that Go has mapped made resident."),
    Column("retaken_rss_bytes", "int64", "B", "The same with what was given back taken again."),
)
CGROUP = (
    Column("limit_bytes", "Int64", "B", "memory.max; null if there is none."),
    Column("high_bytes", "Int64", "B", "memory.high, above which the kernel throttles."),
    Column("current_bytes", "int64", "B", "All that is charged."),
    Column("peak_bytes", "Int64", "B", "The most so far, if the kernel keeps it."),
    Column("working_set_bytes", "int64", "B", "Charged, less inactive pages of files."),
    Column("unreclaimable_bytes", "int64", "B", "What the kernel cannot take back."),
    Column("headroom_bytes", "Int64", "B", "Limit less charged; null without a limit."),
    Column("killer", "str", "", "The counter that fills most of what cannot be taken back."),
    Column("oom_kills", "Int64", "count", "Processes of it that the kernel has killed."),
)
TIME_TO_LIMIT = (
    Column("slope_bytes_per_second", "float64", "B/s", "Of the line through the moments."),
    Column("slope_low_bytes_per_second", "float64", "B/s", "Lower end of its 95 % interval."),
    Column("slope_high_bytes_per_second", "float64", "B/s", "Upper end of its 95 % interval."),
    Column("points", "int64", "count", "Moments that the line runs through."),
    Column("bounded", "bool", "", "Whether it is garbage, which a goal bounds: no time follows."),
)
ADVICE = (
    Column("gomemlimit_bytes", "Int64", "B", "What to set; null if nothing is left for Go."),
    Column("needed_bytes", "int64", "B", "What Go holds and cannot give back."),
    Column("enough", "bool", "", "Whether that is less than what to set."),
    Column("note", "str", "", "What to know with it."),
)
ADDRESS_SPACE = (
    Column("limit_bytes", "int64", "B", "Max address space, as /proc/PID/limits says it."),
    Column("mapped_bytes", "Int64", "B", "All mappings, reserved ones too; null without smaps."),
)
GOMEMLIMIT = Column("gomemlimit_bytes", "Int64", "B", "The one that is set; null if none is.")


def _until(means: str) -> Schema:
    """A time that may never come, which JSON has no number for."""
    return {
        "oneOf": [NUMBER | SIZE, {"const": "never"}],
        "description": f"{means}; or the word never.",
        UNIT: "s",
    }


LEDGER = rows(
    (MOMENT, RSS, SKEW, NEXT_FILE),
    "Resident bytes part by part, at each moment that has any.",
    rss_bytes=SIZE,
    next_file=TEXT_OR_NULL,
    parts=rows(
        LEDGER_PARTS, "They add up to rss_bytes.", part=words(PARTS), confidence=words(CONFIDENCE)
    ),
    groups=rows(
        MEMORY_GROUPS,
        "Whose memory it is; they add up to rss_bytes, and none is below zero.",
        group=words(GROUPS),
        bytes=SIZE,
        claims=rows(
            HEAP_CLAIMS,
            "Of the Go heap, where it is one group: what the runtime claims, divided.",
            group=words(OF_GO_HEAP),
            claimed_bytes=SIZE,
        ),
    ),
    checks=rows(
        LEDGER_CHECKS, "The kernel's other totals, and how far they are from RSS.", bytes=SIZE
    ),
    sides=rows(LEDGER_SIDES, "What the runtime claims beside what the kernel sees."),
    notes=listed({"type": "string"}, "What to know before believing it."),
)
MAPPINGS = rows(
    (MOMENT, *BY_KIND),
    "Mappings by moment and kind.",
    kind=words(KINDS),
    **{column.name: SIZE for column in BY_KIND if column.unit == "B"},
)
CHANGES = rows(
    CHANGE,
    "From each moment to the next; from the baseline, if there is one, first.",
    verdict=words(VERDICTS),
    parts=rows(
        PART_CHANGES,
        "Their changes add up to rss_change_bytes.",
        part=words(PARTS),
        layer=words(dict.fromkeys(LAYER_OF_PART.values())),
    ),
    mappings=rows(
        without(MAPPING_CHANGES, "path"),
        "Those whose resident bytes changed.",
        kind=words(KINDS),
        state=words(STATES),
    ),
)
LIMITS = or_null(
    record(
        (MOMENT, GOMEMLIMIT),
        address_space=or_null(
            record(ADDRESS_SPACE),
            "Mapped address space against the process's own limit; null without a limit.",
        ),
        worst_case=rows(WORST_CASE, "How large RSS can get without a further allocation."),
        cgroup=or_null(
            record(CGROUP, counters=rows(CGROUP_COUNTERS, "They add up to current_bytes.")),
            "How full the cgroup is; null without its files.",
        ),
        time_to_limit=or_null(
            record(
                TIME_TO_LIMIT,
                **{column.name: NUMBER for column in TIME_TO_LIMIT if column.unit == "B/s"},
                seconds=_until("Until the limit at the slope"),
                soonest_seconds=_until("At the upper end of the slope"),
                latest_seconds=_until("At the lower end of the slope"),
            ),
            "When the limit is reached; null without one, or with fewer than three moments.",
        ),
        advice=or_null(
            record(ADVICE, steps=rows(LIMIT_STEPS, "The arithmetic.")),
            "A GOMEMLIMIT for the cgroup's limit; null without a limit.",
        ),
    ),
    "How far from the limit; null where nothing tells.",
)
