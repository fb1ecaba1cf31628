"""Memory jumps for a moment, and the heap profile taken afterwards shows nothing.

What caused the jump is garbage by the time anybody looks, and in use no more. But it is counted:
the allocations between two periodic profiles have it, with the sites. The interval that holds most
beyond the usual is compared with the median of the others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.causes.finding import Evidence, Finding, Severity
from gomem.units import MIB, format_bytes, format_fraction, format_seconds

if TYPE_CHECKING:
    import pandas as pd

    from gomem.analysis.profiles.allocation_spikes import Spike
    from gomem.causes.answers import Situation

CODE = "allocation-spike"
LEAST_INTERVALS = 8  # fewer have no usual rate: a start, a load test and an end are three rates
LEAST_TIMES = 3.0  # the usual rate; with GOGC=100 the collector keeps up with twice as much
LEAST_BYTES = 16 * MIB  # below four times the smallest heap goal it is a start-up's or a test's
SITES = 3  # named as evidence


def find(situation: Situation) -> list[Finding]:
    """One finding, of the interval that stands out most, if it does."""
    spike = situation.spike
    if spike is None or not _stands_out(spike):
        return []
    sites = spike.allocated[spike.allocated["state"] == "more"].head(SITES)
    return [] if sites.empty else [_finding(spike, sites, situation)]


def _stands_out(spike: Spike) -> bool:
    """Far above the usual, and more than the heap holds: the goal is passed within the interval."""
    levels = spike.in_use.sites
    in_use = float(min(levels["before"].sum(), levels["after"].sum()))
    return (
        spike.intervals >= LEAST_INTERVALS
        and spike.allocated_bytes >= LEAST_TIMES * spike.usual_bytes
        and spike.extra_bytes >= max(LEAST_BYTES, in_use)
    )


def _finding(spike: Spike, sites: pd.DataFrame, situation: Situation) -> Finding:
    largest = sites.iloc[0]
    share = format_fraction(min(1.0, largest["extra_bytes"] / spike.extra_bytes))
    path = _path(spike.after, situation)
    named = [
        Evidence(path, f"alloc_space of {site['function']}", int(site["bytes"]), "B")
        for _, site in sites.iterrows()
    ]
    return Finding(
        code=CODE,
        severity=Severity.WARNING,
        title=(
            f"{format_bytes(spike.allocated_bytes)} were allocated within "
            f"{format_seconds(spike.seconds)}, usual are {format_bytes(spike.usual_bytes)}; "
            f"{largest['function']} has {share} of what is more"
        ),
        moment=spike.after,
        bytes=round(spike.extra_bytes),
        evidence=(
            Evidence(_path(spike.before, situation), "seconds before the next", spike.seconds, "s"),
            Evidence(path, "alloc_space since then", round(spike.allocated_bytes), "B"),
            *named,
            *_levels(spike, path, str(largest["function"])),
        ),
        mechanism=(
            "Allocations are counted from the program's start, in profiles also those that are "
            "garbage by now: between two profiles stands every byte of a spike, even where the "
            "later one has nothing of it in use. Until the collector has found it to be garbage, "
            "the spike needs memory of its own, and the heap goal of the next cycle rises with it."
        ),
        next_step=(
            f"Look at who calls {largest['function']} with input of unknown size: bound what it "
            "reads (io.LimitReader, http.MaxBytesReader), stream it, or bound how many do so at "
            "once. To see the callers: gomem top --base the earlier profile, --cum, by alloc_space."
        ),
        references=("io.LimitReader", "net/http.MaxBytesReader", "runtime.MemProfile"),
        confidence="certain" if largest["low"] > 0 else "likely",
    )


def _path(moment: str, situation: Situation) -> str:
    """The heap profile of a moment, as evidence names it."""
    paths = {facts.name: facts.path("pprof") for facts in situation.moments}
    return paths.get(moment, moment)


def _levels(spike: Spike, path: str, function: str) -> list[Evidence]:
    """What the site has in use at the later moment: a level, often nothing."""
    levels = spike.in_use.sites.set_index("function")["after"]
    return [Evidence(path, f"inuse_space of {function}", int(levels.get(function, 0)), "B")]
