"""Where the memory is, in JSON: the report's `ledger`, `mappings`, `changes` and `limits`."""

from __future__ import annotations

import math
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from gomem.analysis.mappings.changes import MAPPING_CHANGES, STATES
from gomem.analysis.mappings.kinds import BY_KIND, KINDS
from gomem.analysis.memory.cgroup import CGROUP_COUNTERS, CgroupUse
from gomem.analysis.memory.groups import GO_HEAP_GROUPS, GROUPS, HEAP_CLAIMS, MEMORY_GROUPS
from gomem.analysis.memory.ledger import CONFIDENCE, LEDGER_PARTS, LEDGER_SIDES, PARTS, Ledger
from gomem.analysis.memory.ledger_change import LAYER_OF_PART, PART_CHANGES, VERDICTS, LedgerChange
from gomem.analysis.memory.limits import LIMIT_STEPS, AddressSpace, LimitAdvice, WorstCase
from gomem.analysis.memory.totals import LEDGER_CHECKS
from gomem.capture.moment import MOMENT
from gomem.diagnosis.limits import Limits
from gomem.inputs.schema import empty
from gomem.views.json.table import (
    COUNT,
    NUMBER,
    SIZE,
    TEXT_OR_NULL,
    UNIT,
    Key,
    Shape,
    frame,
    inner,
    moment,
    of_class,
    plain,
    texts,
    without,
    words,
)

if TYPE_CHECKING:
    import pandas as pd

    from gomem.diagnosis.changes import Change
    from gomem.diagnosis.diagnosis import Diagnosis
    from gomem.facts.moment import MomentFacts

_SIZES: dict[str, Any] = {column.name: SIZE for column in BY_KIND if column.unit == "B"}
NEVER = "never"  # for a limit that is not reached; JSON has no infinity


class Step(NamedTuple):
    """The change from one moment to another, and whether the first is the baseline's."""

    change: Change
    of_baseline: bool


class Worst(NamedTuple):
    """The worst case of a moment."""

    moment: str
    case: WorstCase


def _groups(facts: MomentFacts) -> pd.DataFrame:
    """The groups; a combined Go heap has the division of the memory reserved by the runtime."""
    groups = facts.groups
    assert groups is not None
    claims = [groups.claims_within(group) for group in groups.rows["group"]]
    return groups.rows.assign(claims=claims)


def _steps(diagnosis: Diagnosis) -> list[Step]:
    """The change from the baseline, then from each moment to the next."""
    against = diagnosis.change_against_baseline
    steps = [Step(change, of_baseline=False) for change in diagnosis.changes]
    return steps if against is None else [Step(against, of_baseline=True), *steps]


def _moved(step: Step) -> pd.DataFrame:
    mappings = step.change.mappings
    if mappings is None:
        return empty(())
    return mappings[mappings["change_bytes"] != 0].drop(columns="path")


def _until(name: str, means: str) -> Key:
    """A key for a time that can be infinite."""
    schema = {
        "oneOf": [NUMBER | SIZE, {"const": NEVER}],
        "description": f"{means}; or the word {NEVER}.",
        UNIT: "s",
    }
    told = Shape(schema, lambda seconds: NEVER if math.isinf(seconds) else seconds)
    return Key(name, told, attrgetter(f"growth.{name}"))


LEDGER = inner(
    "ledger", "RSS by part, at each snapshot with a ledger.",
    moment("moment", MOMENT.means, "name"),
    *of_class(Ledger, "rss_bytes", "ledger.", rss_bytes=SIZE),
    frame("parts", LEDGER_PARTS, "Parts, which add up to rss_bytes.", "ledger.parts",
          part=words(PARTS), confidence=words(CONFIDENCE)),
    frame(
        "groups", MEMORY_GROUPS,
        "RSS by owner; the groups add up to rss_bytes, and none is below zero.", _groups,
        group=words(GROUPS), bytes=SIZE,
        keys=[frame("claims", HEAP_CLAIMS,
                    "Memory reserved for the Go heap, by part, if RSS is not broken down.",
                    itemgetter("claims"), group=words(GO_HEAP_GROUPS), claimed_bytes=SIZE)],
    ),
    frame("checks", LEDGER_CHECKS, "Other totals of the kernel, and their differences from RSS.",
          "ledger.checks", bytes=SIZE),
    plain("skew_seconds", "float64", "s",
          "Time between the readings of MemStats and of the kernel's files.", "skew.seconds"),
    texts("notes", "Caveats.", "ledger.notes"),
    frame("sides", LEDGER_SIDES, "Memory reserved by the runtime, and memory in RSS.",
          "ledger.sides"),
    plain("next_file", "str", "",
          "File that would add detail, and the command that collects the file.",
          lambda facts: facts.ledger.next_file or None, **TEXT_OR_NULL),
    get=lambda diagnosis: [facts for facts in diagnosis.moments if facts.ledger], many=True,
)  # fmt: skip
MAPPINGS = frame(
    "mappings", (MOMENT, *BY_KIND), "Mappings by snapshot and kind.", "facts.kinds",
    kind=words(KINDS), **_SIZES,
)  # fmt: skip
CHANGES = inner(
    "changes", "Changes from each snapshot to the next; first from the baseline, if there is one.",
    moment("before", "The earlier snapshot, or that of the baseline.", "change.before"),
    moment("after", "The later snapshot.", "change.after"),
    plain("before_is_baseline", "bool", "", "Whether the earlier snapshot belongs to the baseline.",
          "of_baseline"),
    *of_class(LedgerChange, "rss_change_bytes verdict", "change.ledger.", verdict=words(VERDICTS)),
    plain("sentence", "str", "", "How RSS changed, and which parts explain the change.",
          "change.sentence"),
    frame("parts", PART_CHANGES, "Changes by part, which add up to rss_change_bytes.",
          "change.ledger.parts", part=words(PARTS),
          layer=words(dict.fromkeys(LAYER_OF_PART.values()))),
    frame("mappings", without(MAPPING_CHANGES, "path"), "Mappings with a change of RSS.",
          _moved, kind=words(KINDS), state=words(STATES)),
    get=_steps, many=True,
)  # fmt: skip
LIMITS = inner(
    "limits", "Headroom to the limit; null if unknown.",
    moment("moment", MOMENT.means),
    inner(
        "worst_case", "Worst-case RSS, without further allocation.",
        moment("moment", MOMENT.means),
        *of_class(WorstCase, "rss_bytes", "case."),
        plain("worst_rss_bytes", "int64", "B",
              "RSS once everything reserved by Go becomes resident.", "case.worst_bytes"),
        plain("retaken_rss_bytes", "int64", "B",
              "RSS once, in addition, everything released is reused.", "case.retaken_bytes"),
        get=lambda limits: [Worst(*case) for case in limits.worst.items()], many=True,
    ),
    inner(
        "cgroup", "How full the cgroup is; null without the files of the cgroup.",
        *of_class(
            CgroupUse,
            "limit_bytes limit_is_known high_bytes current_bytes peak_bytes working_set_bytes "
            "unreclaimable_bytes is_counted headroom_bytes killer oom_kills", oom_kills=COUNT,
        ),
        frame("counters", CGROUP_COUNTERS, "Counters, which add up to current_bytes."),
        nullable=True,
    ),
    inner(
        "time_to_limit",
        "Time to the limit; null without a limit, or with fewer than three snapshots.",
        plain("slope_bytes_per_second", "float64", "B/s",
              "Slope of the line through the snapshots.",
              "growth.slope_bytes_per_second", **NUMBER),
        plain("slope_low_bytes_per_second", "float64", "B/s",
              "Lower end of the 95 % interval of the slope.",
              "growth.slope_low", **NUMBER),
        plain("slope_high_bytes_per_second", "float64", "B/s",
              "Upper end of the 95 % interval of the slope.",
              "growth.slope_high", **NUMBER),
        _until("seconds", "Time to the limit at the slope"),
        _until("soonest_seconds", "Time to the limit at the upper end of the slope"),
        _until("latest_seconds", "Time to the limit at the lower end of the slope"),
        plain("points", "int64", "count", "Number of snapshots in the fit.", "growth.points"),
        *of_class(Limits, "bounded"),
        get=lambda limits: None if limits.growth is None else limits, nullable=True,
    ),
    *of_class(Limits, "gomemlimit_bytes"),
    inner("address_space",
          "Mapped address space and the process's own limit; null without a limit.",
          *of_class(AddressSpace, "limit_bytes mapped_bytes"), nullable=True),
    inner("advice", "Advised GOMEMLIMIT for the cgroup's limit; null without a limit.",
          *of_class(LimitAdvice, "gomemlimit_bytes needed_bytes enough"),
          frame("steps", LIMIT_STEPS, "The arithmetic."), *of_class(LimitAdvice, "note"),
          nullable=True),
    nullable=True,
)  # fmt: skip
