"""How the memory of a whole process or container rises: RSS, or else a working set."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.causes.evidence import rise_evidence, rss_path
from gomem.facts.goroutines import level_of
from gomem.text import Bytes

if TYPE_CHECKING:
    from gomem.analysis.series.level import Level, Rise
    from gomem.causes.cause import Case
    from gomem.causes.finding import Evidence
    from gomem.facts.moment import MomentFacts


def memory_rise(case: Case) -> tuple[str, Rise | None]:
    """Return RSS, or else the working set, by name, and how it rises."""
    if len(level := case.facts.rss_level):
        return "RSS", level.rise
    return "the working set", working_set_level(case).rise


def working_set_level(case: Case) -> Level:
    """Return the working set of the only container over time; empty if there are several."""
    listed = [(m.time, m.listed) for m in case.facts.of_last_process if m.listed is not None]
    known = [(at, each) for at, each in listed if each.working_set_bytes is not None]
    is_one = len({each.name for _, each in known}) == 1 and not any(
        each.others for _, each in known
    )
    sizes = [(at, float(each.working_set_bytes or 0)) for at, each in known] if is_one else []
    return level_of("working set", sizes)


def total_of(moment: MomentFacts) -> int | None:
    """Return RSS, or else the working set of a container."""
    listed = moment.listed
    return moment.rss_bytes or (None if listed is None else listed.working_set_bytes)


def measured(case: Case) -> list[MomentFacts]:
    """Return the snapshots with a total."""
    return [moment for moment in case.facts.moments if total_of(moment) is not None]


def path_of(moment: MomentFacts) -> str:
    """Return the artefact that has the total."""
    return rss_path(moment) or moment.path("processes")


def memory_evidence(what: str, rise: Rise, case: Case) -> tuple[Evidence, ...]:
    """Return the rise as evidence."""
    return rise_evidence(list(map(path_of, measured(case))), what.removeprefix("the "), rise)


def ends_of(rise: Rise) -> tuple[Bytes, Bytes]:
    """Return the level at the first reading, and the one reached."""
    return Bytes(round(rise.first)), Bytes(round(rise.reached))
