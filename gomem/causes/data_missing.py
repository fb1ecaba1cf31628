"""What to collect next, so that RSS can be broken down."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gomem.capture.release import are_no_gos, shows_go
from gomem.capture.wanted import MEMSTATS, SMAPS
from gomem.causes.cause import Cause
from gomem.causes.commands import CAPTURE_ONCE, CAPTURE_THE_NEXT_RUN, TAKE_SMAPS, see_resident
from gomem.causes.finding import Evidence, Finding, Severity
from gomem.facts.goroutines import has_crashed
from gomem.inputs.processes.languages import is_not_go
from gomem.text import Command, Count, MomentName, Text, joined, text

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gomem.causes.case import Case
    from gomem.facts.moment import MomentFacts

SMAPS_WORD, MEMSTATS_WORD, MAPPINGS_WORD = "smaps", "MemStats", "list of mappings"
SHOWN = 10  # snapshots cited as evidence
# For each kind of file: its name, the fact from it, what it breaks down, and how to get it.
_WANTED = (
    (SMAPS_WORD, "mappings", "RSS", SMAPS),
    (MEMSTATS_WORD, "memstats", "Go heap", MEMSTATS),
)
_COLLECT = "Collect {}: {}."
_FROM_GO = "Collect {} (the program must import expvar): {}."
_WHO_WAS_KILLED = text(
    "The OOM killer's table does not say whom it killed; the line below it does: {}.",
    Command("dmesg -T | grep -i 'killed process'"),
)
_IF_IT_IS_GO = "If this is a Go program, collect {} (the program must import expvar): {}."


@dataclass(frozen=True)
class _Missing:
    """A file that snapshots lack."""

    name: str
    without: list[str]
    what: str  # what it breaks down
    command: Command
    is_go: bool  # whether a file says that it is a Go program
    system: str  # the system, if it has no smaps; empty for Linux
    has_some: bool  # whether a snapshot has a part of it
    is_only: bool  # whether there is only one snapshot, which then needs no name
    is_all: bool  # whether nothing else has the size that it breaks down

    @property
    def is_elsewhere(self) -> bool:
        """Whether the file exists only on Linux, and the process runs on another system."""
        return bool(self.system) and self.name == SMAPS_WORD

    @property
    def title(self) -> Text:
        """Which snapshots lack the file, and the consequence."""
        has_some = self.has_some and self.name == MEMSTATS_WORD
        name = MAPPINGS_WORD if self.is_elsewhere else self.name
        if self.is_only:
            none = "only some fields of" if has_some else "no"
            return text("{} {}, so {} {}", none, name, self.what, self.consequence)
        none = "no full" if has_some else "no"  # some have some fields, others none
        where, has, whose = Text(MomentName(self.without[0])), "has", "its"
        if self.without[1:]:
            where, has, whose = Text(Count(len(self.without), "snapshot")), "have", "their"
        words = "{} {} {} {}, so {} {} {}"
        return text(words, where, has, none, name, whose, self.what, self.consequence)

    @property
    def consequence(self) -> str:
        """What is unknown without the file."""
        return "is unknown" if self.is_all else "cannot be fully broken down"

    @property
    def step(self) -> Text:
        """How to get the file."""
        if self.is_elsewhere:
            return see_resident(self.system)
        of_go = _FROM_GO if self.is_go else _IF_IT_IS_GO
        return text(of_go if self.name == MEMSTATS_WORD else _COLLECT, self.name, self.command)

    @property
    def evidence(self) -> Evidence:
        """The snapshots without the file, the first few by name."""
        named = joined(", ", map(MomentName, self.without[:SHOWN]))
        if not self.without[1:]:  # a lone number would read as a count
            named = text("{}", MomentName(self.without[0]))
        if len(self.without) > SHOWN:
            named += f" and {len(self.without) - SHOWN} more"
        whole = "full " if self.has_some and self.name == MEMSTATS_WORD else ""
        name = MAPPINGS_WORD if self.is_elsewhere else self.name
        return Evidence("capture", f"snapshots without {whole}{name}", named, "")


def find(case: Case) -> list[Finding]:
    """Return one finding for all missing files."""
    moments = case.facts.moments
    tables = case.facts.capture.profiles.values()
    if any(are_no_gos(of.functions["name"].dropna()) for kinds in tables for of in kinds.values()):
        return []
    if all(moment.ledger is None and moment.memstats is None for moment in moments):
        capture = case.facts.capture
        has_some = not capture.memstats.empty
        if capture.bench:
            return []
        is_ended = has_crashed(capture) and not capture.system  # gomem capture PID needs /proc
        ended = CAPTURE_THE_NEXT_RUN if is_ended else Text()
        return [_without_moments(capture.system, ended, has_some=has_some)]
    some, is_go = set(case.facts.capture.memstats["moment"]), shows_go(case.facts.capture)
    lacking = [
        _Missing(
            name,
            without,
            what,
            Command(wanted.command()),
            is_go,
            case.facts.capture.system,
            has_some=bool(some & set(without)),
            is_only=len(moments) == 1,
            is_all=name == SMAPS_WORD
            and all(m.rss_bytes is None for m in moments if m.mappings is None),
        )
        for name, fact, what, wanted in _WANTED
        if not (name == MEMSTATS_WORD and _is_no_go(moments))
        and (without := [moment.name for moment in moments if getattr(moment, fact) is None])
    ]
    if not lacking:
        return []
    listed = [moment.listed for moment in moments if moment.listed is not None]
    is_killer = bool(listed) and all(row.is_candidate for row in listed)
    return [_finding(lacking, moments[-1].name, _WHO_WAS_KILLED if is_killer else "")]


def _is_no_go(moments: Sequence[MomentFacts]) -> bool:
    """Return whether each snapshot is of a program that, by its name, is not written in Go."""
    return all(moment.listed is not None and is_not_go(moment.listed.name) for moment in moments)


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


_ELSEWHERE = (
    "A list of mappings shows which memory is resident, and MemStats shows how Go uses its heap. "
    "Of the lists of mappings, gomem reads only that of Linux (smaps)."
)


def _finding(lacking: list[_Missing], last: str, first: str) -> Finding:
    """Return the finding; the next step is about the last snapshot, if that lacks a file."""
    where = {name for missing in lacking for name in missing.without}
    titles = joined("; ", (missing.title for missing in lacking))
    steps = joined(" ", (missing.step for missing in lacking if last in missing.without))
    return CAUSE.finding(
        Severity.INFO,
        titles.capitalised(),
        moment=next(iter(where)) if len(where) == 1 else None,
        evidence=[missing.evidence for missing in lacking],
        next_step=first or steps,
        mechanism=_ELSEWHERE if any(missing.is_elsewhere for missing in lacking) else "",
    )


def _without_moments(system: str, ended: Text, *, has_some: bool) -> Finding:
    of_go = f"only some fields of {MEMSTATS_WORD}" if has_some else f"no {MEMSTATS_WORD}"
    return CAUSE.finding(
        Severity.INFO,
        f"No {MAPPINGS_WORD if system else SMAPS_WORD} and {of_go}: RSS cannot be compared with "
        "the heap",
        evidence=(Evidence("capture", "snapshots with smaps or MemStats", 0, "count"),),
        next_step=ended or (see_resident(system) if system else ""),
        mechanism=_ELSEWHERE if system else "",
    )
