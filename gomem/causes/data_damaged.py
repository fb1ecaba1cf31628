"""Part of the capture could not be read, so numbers might be too small."""

from __future__ import annotations

from gomem.causes.cause import Case, Cause
from gomem.causes.finding import Evidence, Finding, Severity
from gomem.text import Count, Quoted, text

SHOWN = 5  # places cited as evidence
TORN = "a line of the collector's that is torn"


def find(case: Case) -> list[Finding]:
    """Return one finding for all damage; the report lists each place."""
    damage = case.facts.damage
    if not damage:
        return []
    unread = [place for place in damage if not place.is_excerpt]
    told = unread or damage
    files = Count(len({place.source for place in told}), "file")
    places = Count(len(told), "place")
    is_torn = any(TORN in place.what for place in damage)
    shown = (
        Evidence(place.source, place.where or "whole file", place.what, "")
        for place in told[:SHOWN]
    )
    if not unread:
        words = "An excerpt: lines are missing at {} in {}; the rest was read"
        return [
            CAUSE.finding(
                Severity.INFO,
                text(words, places, files),
                evidence=shown,
                mechanism=_LEFT_OUT,
                next_step=_WHOLE,
            )
        ]
    return [
        CAUSE.finding(
            Severity.WARNING,
            text("Unreadable input: {} in {}, missing from the totals", places, files),
            evidence=shown,
            next_step=CAUSE.remedy + _LOG_ELSEWHERE if is_torn else "",
        )
    ]


def unchecked(code: str, error: Exception) -> Finding:
    """Return a finding that a rule failed, so its cause is neither found nor ruled out."""
    return CAUSE.finding(
        Severity.WARNING,
        text("{} could not be checked: its rule failed with an unexpected error", code),
        evidence=[Evidence("gomem", type(error).__name__, Quoted(error), "")],
        mechanism="This is a bug in gomem, or damage in a file that gomem did not notice.",
        next_step="Please report the bug, with the capture if you can share it.",
    )


CAUSE = Cause(
    code="data-damaged",
    mechanism="A file is truncated or corrupt, or has missing or invalid lines. Totals include "
    "only what could be read.",
    remedy="Copy or record these files again, each file completely.",
    references=(),
    rule=find,
)
_LEFT_OUT = (
    "Lines were left out, or the text was cut between two lines. They are not counted, so totals "
    "can be too low."
)
_WHOLE = "If the rest matters, give gomem the whole text; if not, there is nothing to do."
# Copying does not repair a GC log in which another writer's text is mixed.
_LOG_ELSEWHERE = (
    " Lines of a GC log are torn if the program writes to standard error at the same time: let "
    "the program log to standard output or to a file."
)
