"""Files are missing without which RSS, or the Go heap, cannot be broken down."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gomem.capture.release import are_no_gos, shows_go
from gomem.capture.wanted import MEMSTATS, SMAPS
from gomem.causes.cause import Case, Cause
from gomem.causes.commands import CAPTURE_ONCE, CAPTURE_THE_NEXT_RUN, TAKE_SMAPS, see_resident
from gomem.causes.finding import Evidence, Finding, Severity
from gomem.facts.goroutines import has_crashed
from gomem.inputs.processes.languages import is_not_go
from gomem.text import Command, Count, MomentName, Text, joined, text

if TYPE_CHECKING:
    from gomem.capture.capture import Capture

SMAPS_WORD, MEMSTATS_WORD, MAPPINGS_WORD = "smaps", "MemStats", "list of mappings"
SHOWN = 10  # snapshots cited as evidence
DUMPS = "goroutines"  # a kind of file, which by itself asks nothing about RSS
# For each kind of file: its name, the fact from it, what it breaks down, and how to get it.
_WANTED = (
    (SMAPS_WORD, "mappings", "RSS", SMAPS),
    (MEMSTATS_WORD, "memstats", "Go heap", MEMSTATS),
)
_COLLECT = "To break down RSS, collect {}: {}."
_FROM_GO = "Collect {} (the program must import expvar): {}."
_WHO_WAS_KILLED = text(
    "The OOM killer's table does not say whom it killed; the line below it does: {}.",
    Command("dmesg -T | grep -i 'killed process'"),
)
_IF_IT_IS_GO = "If this is a Go program, collect {} (the program must import expvar): {}."


@dataclass(frozen=True)
class _Missing:
    """A file that snapshots lack."""

    without: list[str]  # the snapshots
    title: Text  # which they are
    consequence: Text
    step: Text  # how to get it
    evidence: Evidence  # the snapshots, the first few by name


def find(case: Case) -> list[Finding]:
    """Return one finding for all missing files."""
    moments, capture = case.facts.moments, case.facts.capture
    tables = capture.profiles.values()
    if any(are_no_gos(of.functions["name"].dropna()) for kinds in tables for of in kinds.values()):
        return []
    if all(moment.ledger is None and moment.memstats is None for moment in moments):
        if capture.bench or set(capture.artefacts["kind"]) == {DUMPS}:
            return []
        return [_without_moments(capture)]
    listed = [moment.listed for moment in moments if moment.listed is not None]
    # Each snapshot can be of a program that, by its name, is not written in Go.
    is_no_go = len(listed) == len(moments) and all(
        is_not_go(row.name, shows_go=shows_go(capture)) for row in listed
    )
    lacking = [
        _missing(case, name, without, what, Command(wanted.command()))
        for name, fact, what, wanted in _WANTED
        if not (name == MEMSTATS_WORD and is_no_go)
        and (without := [moment.name for moment in moments if getattr(moment, fact) is None])
    ]
    if not lacking:
        return []
    is_killer = bool(listed) and all(row.is_candidate for row in listed)
    return [_finding(lacking, moments[-1].name, case, _WHO_WAS_KILLED if is_killer else "")]


def _missing(case: Case, name: str, without: list[str], what: str, command: Command) -> _Missing:
    """Say which snapshots lack a file; of MemStats, some can have some fields."""
    capture, is_smaps = case.facts.capture, name == SMAPS_WORD
    some = not is_smaps and not set(without).isdisjoint(capture.memstats["moment"])
    unread = (moment for moment in case.facts.moments if moment.mappings is None)
    is_all = is_smaps and all(moment.rss_bytes is None for moment in unread)
    consequence = "is unknown" if is_all else "cannot be fully broken down"
    is_elsewhere = is_smaps and bool(capture.system)  # the file exists only on Linux
    if is_smaps:
        step = see_resident(capture.system) if is_elsewhere else text(_COLLECT, name, command)
    else:
        step = text(_FROM_GO if shows_go(capture) else _IF_IT_IS_GO, name, command)
    name, the = MAPPINGS_WORD if is_elsewhere else name, "" if is_smaps else "the "
    first, has_several = MomentName(without[0]), bool(without[1:])
    if len(case.facts.moments) == 1:
        none = "only some fields of" if some else "no"
        title, so = text("{} {}", none, name), text("{}{} {}", the, what, consequence)
    else:
        every, full = Count(len(case.facts.moments), "snapshot"), "full " * some
        title, whose = text("{} has no {}{}", first, full, name), "its "
        if has_several:  # some have some fields, others none
            of_all = text("{} of {}", Count(len(without)), every)
            title, whose = text("{} have no {}{}", of_all, full, name), "their "
        if len(without) == len(case.facts.moments):
            title, whose = text("no snapshot has {}{}", full, name), the
        so = text("{}{} {}", whose, what, consequence)
    # a bare number would read as a count
    named = joined(", ", (text("{}", MomentName(name)) for name in without[:SHOWN]))
    more = f" and {len(without) - SHOWN} more" * (len(without) > SHOWN)
    if has_several and len(without) == len(case.facts.moments):
        named, more = text("all {}", Count(len(without))), ""
    field = f"snapshots without {'full ' * some}{name}"
    return _Missing(without, title, so, step, Evidence("capture", field, named + more, ""))


CAUSE = Cause(
    code="data-missing",
    mechanism="smaps shows which mappings are resident. MemStats shows how Go uses its heap. A "
    "full breakdown of RSS needs both files, read at the same time.",
    remedy=text(
        "Collect both at once: {}. By hand, in quick succession: {}. {}.",
        CAPTURE_ONCE,
        TAKE_SMAPS,
        Command(MEMSTATS.command()),
    ),
    references=(),
    rule=find,
)


_SO_BOTH = "RSS and the Go heap cannot be fully broken down"
_ELSEWHERE = (
    "A list of mappings shows which memory is resident, and MemStats shows how Go uses its heap. "
    "Of the lists of mappings, gomem reads only that of Linux (smaps)."
)


def _finding(lacking: list[_Missing], last: str, case: Case, first: str) -> Finding:
    """Return the finding; the next step is about the last snapshot, if that lacks a file."""
    where = {name for missing in lacking for name in missing.without}
    # Without smaps, no heap in RSS can be broken down: that needs no second clause.
    titles = joined(" and ", (missing.title for missing in lacking))
    so = _SO_BOTH if lacking[1:] else lacking[0].consequence
    steps = joined(" ", (missing.step for missing in lacking if last in missing.without))
    lacks_mappings = any(moment.mappings is None for moment in case.facts.moments)
    return CAUSE.finding(
        Severity.INFO,
        text("{}, so {}", titles, so).capitalised(),
        moment=next(iter(where)) if len(where) == 1 else None,
        evidence=[missing.evidence for missing in lacking],
        next_step=first or steps,
        mechanism=_ELSEWHERE if case.facts.capture.system and lacks_mappings else "",
    )


def _without_moments(capture: Capture) -> Finding:
    system, has_ended = capture.system, has_crashed(capture)
    has_some = not capture.memstats.empty
    of_go = f"only some fields of {MEMSTATS_WORD}" if has_some else f"no {MEMSTATS_WORD}"
    full = "full " * has_some
    ended = CAPTURE_THE_NEXT_RUN if has_ended else ""
    return CAUSE.finding(
        Severity.INFO,
        f"No {MAPPINGS_WORD if system else SMAPS_WORD} and {of_go}: RSS cannot be compared with "
        "the heap",
        evidence=(Evidence("capture", f"snapshots with smaps or {full}MemStats", 0, "count"),),
        next_step=see_resident(system, has_ended=has_ended) if system else ended,
        mechanism=_ELSEWHERE if system else "",
    )
