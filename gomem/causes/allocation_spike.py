"""Memory jumps for a moment, and the heap profile taken afterwards shows nothing.

What caused the jump is garbage by the time anybody looks, and in use no more. But it is counted:
the allocations between two periodic profiles have it, with the sites. The interval that holds most
beyond the usual is compared with the median of the others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.causes.cause import Cause
from gomem.causes.finding import Evidence, Finding, Severity
from gomem.units import format_bytes, format_fraction, format_seconds

if TYPE_CHECKING:
    import pandas as pd

    from gomem.analysis.profiles.allocation_spikes import Spike
    from gomem.causes.answers import Answers
    from gomem.causes.thresholds import Thresholds

SITES = 3  # named as evidence


def find(answers: Answers) -> list[Finding]:
    """One finding, of the interval that stands out most, if it stands out enough."""
    spike = answers.spike
    if spike is None or not _stands_out(spike, answers.thresholds):
        return []
    sites = spike.allocated[spike.allocated["state"] == "more"].head(SITES)
    return [] if sites.empty else [_finding(spike, sites, answers)]


_REMEDY = (
    "Look at who calls {who} with input of unknown size: bound what it reads (io.LimitReader, "
    "http.MaxBytesReader), stream it, or bound how many do so at once. To see the callers: gomem "
    "top --base the earlier profile, --cum, by alloc_space."
)
CAUSE = Cause(
    code="allocation-spike",
    mechanism="Allocations are counted from the program's start, and profiles count those that "
    "have since become garbage too: the difference of two profiles holds every byte of a spike, "
    "even where the later one has nothing of it in use. Until the collector has found it to be "
    "garbage, the spike needs memory of its own, and the heap goal of the next cycle rises with "
    "it.",
    remedy=_REMEDY.format(who="the site that allocated most"),
    references=("io.LimitReader", "net/http.MaxBytesReader", "runtime.MemProfile"),
    rule=find,
)


def _stands_out(spike: Spike, limits: Thresholds) -> bool:
    """Far above the usual, and more than the heap holds: the goal is passed within the interval."""
    levels = spike.in_use.sites
    in_use = float(min(levels["before"].sum(), levels["after"].sum()))
    return (
        spike.intervals >= limits.spike_intervals
        and spike.allocated_bytes >= limits.spike_ratio * spike.usual_bytes
        and spike.extra_bytes >= max(limits.spike_bytes, in_use)
    )


def _finding(spike: Spike, sites: pd.DataFrame, answers: Answers) -> Finding:
    largest = sites.iloc[0]
    function = largest["function"]
    share = format_fraction(min(1.0, largest["extra_bytes"] / spike.extra_bytes))
    before, after = _path(spike.before, answers), _path(spike.after, answers)
    named = [
        Evidence(after, f"alloc_space of {site['function']}", int(site["bytes"]), "B")
        for _, site in sites.iterrows()
    ]
    return CAUSE.finding(
        Severity.WARNING,
        f"{format_bytes(spike.allocated_bytes)} was allocated within "
        f"{format_seconds(spike.seconds)}, where {format_bytes(spike.usual_bytes)} is usual; "
        f"{function} allocated {share} of the excess",
        moment=spike.after,
        size=round(spike.extra_bytes),
        evidence=(
            Evidence(before, "seconds before the next", spike.seconds, "s"),
            Evidence(after, "alloc_space since then", round(spike.allocated_bytes), "B"),
            *named,
            *_levels(spike, after, str(function)),
        ),
        next_step=_REMEDY.format(who=function),
        confidence="certain" if largest["low"] > 0 else "likely",
    )


def _path(moment: str, answers: Answers) -> str:
    """The heap profile of a moment, as evidence names it."""
    paths = {facts.name: facts.path("pprof") for facts in answers.moments}
    return paths.get(moment, moment)


def _levels(spike: Spike, path: str, function: str) -> list[Evidence]:
    """What the site has in use at the later moment: a level, often nothing."""
    levels = spike.in_use.sites.set_index("function")["after"]
    return [Evidence(path, f"inuse_space of {function}", int(levels.get(function, 0)), "B")]
