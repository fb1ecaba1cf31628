"""Which causes are new, gone or on both sides, and which could one side's files not show?

A cause is new only if the baseline had the evidence to show it: the required kinds of artefact,
at as many snapshots as the rule needs. One heap profile cannot show a spike, and a capture without
a GC log cannot show long pauses. So a capture that has the evidence is not worse than one without
it.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from gomem.causes import CAUSES
from gomem.diagnosis.findings import DATA_PREFIX, SAME
from gomem.inputs.schema import Column, build_rows
from gomem.text import CaptureName, Text, Words, joined, text

if TYPE_CHECKING:
    import pandas as pd

    from gomem.causes.finding import Finding
    from gomem.diagnosis.diagnosis import Diagnosis

NEW, GONE, ON_BOTH, NOT_COMPARABLE = "new", "gone", "same", "not comparable"
STATES = (NEW, GONE, ON_BOTH, NOT_COMPARABLE)
COMPARED_CAUSES = (
    Column("code", "str", "", "The cause.", Words),
    Column(
        "state",
        "str",
        "",
        "new; gone; same, for both sides; not comparable, if the other side could not have "
        "shown it.",
        Words,
    ),
    Column("severity", "str", "", "Severity; before, if the finding is gone.", Words),
    Column(
        "title",
        "object",
        "",
        "Title, with its number; before, if the finding is gone; of both sides, if they differ.",
        Text,
    ),
    Column(
        "note",
        "object",
        "",
        "Evidence that the other side lacks; empty if comparable.",
        Text,
    ),
)
LOG = "gctrace"
# Kernel files that give the size of RSS but not its contents; smaps gives both.
RSS_ALONE = frozenset({"smaps_rollup", "status", "statm"})
NEEDED_MOMENTS = {cause.code: cause.needed_moments for cause in CAUSES}
# What evidence of several files names in place of them, and the kind of these files.
SEVERAL = re.compile(r"[0-9]+ (heap profile|snapshot)s?")
KIND_OF_SEVERAL = {"heap profile": "heap", "snapshot": "runtime"}
WORDS = {
    LOG: "GC log",
    "runtime": "MemStats",
    "heap": "heap profile",
    "pprof": "heap profile",
    "goroutines": "goroutine dump",
    "processes": "ps or top",
}


def compared_causes(before: Diagnosis, after: Diagnosis, unlike: str = "") -> pd.DataFrame:
    """Which causes are new, gone, or on both sides; see `COMPARED_CAUSES`.

    Causes about missing data are left out.

    Args:
        before: The baseline.
        after: The other side, diagnosed with that baseline.
        unlike: Why the sides cannot be compared; empty if they can.
    """
    old, new = _causes(before), _causes(after)
    rows = []
    for code, finding in (new | {code: old[code] for code in old if code not in new}).items():
        state, missing = ON_BOTH, ""
        if not (code in old and code in new):
            sides = (after, before) if code in new else (before, after)
            lacking = unlike or _missing(finding, *sides)
            only = "after" if code in new else "before"
            missing = text("found on the {} side only; {}", only, lacking) if lacking else ""
            state = NOT_COMPARABLE if missing else NEW if code in new else GONE
        title = _title_of_both(old[code], finding) if state == ON_BOTH else finding.title
        rows.append((code, state, str(finding.severity), title, missing))
    return build_rows(rows, COMPARED_CAUSES)


def _title_of_both(before: Finding, after: Finding) -> Text:
    """The title, with the numbers of each side if they differ."""
    if before.title == after.title:
        return Text(after.title)
    return text("before: {}; after: {}", before.title, after.title)


def _causes(diagnosis: Diagnosis) -> dict[str, Finding]:
    return {
        finding.code: finding
        for finding in diagnosis.findings
        if not finding.code.startswith(DATA_PREFIX)
    }


def _missing(finding: Finding, own: Diagnosis, other: Diagnosis) -> Text:
    """What the other side lacks to show a finding; empty if it has everything."""
    shown, available = _moments_by_kind(own), _moments_by_kind(other)
    needed = NEEDED_MOMENTS[finding.code]
    required = {kind: min(needed, shown[kind]) for kind in sorted(_cited(finding, own))}
    lacks = dict.fromkeys(
        _lack(WORDS.get(kind, kind), count, available[kind])
        for kind, count in required.items()
        if available[kind] < count
    )
    return text("{} has {}", CaptureName(other.capture.name), joined(", ", lacks)) * bool(lacks)


def _lack(named: str, required: int, available: int) -> str:
    if not available:
        return f"no {named}"
    return f"{named} at only {available} of {required} snapshots needed"


def _cited(finding: Finding, diagnosis: Diagnosis) -> set[str]:
    """The kinds of artefact that a finding cites as evidence."""
    cited = {path for evidence in finding.evidence for path in evidence.artefact.split(", ")}
    kinds = {
        _kind(kind)
        for moment in diagnosis.capture.by_moment.values()
        for kind, path in moment.paths.items()
        if path in cited
    }
    kinds |= {KIND_OF_SEVERAL[found[1]] for path in cited if (found := SEVERAL.fullmatch(path))}
    return kinds | ({LOG} if cited & set(diagnosis.capture.of_kind(LOG)) else set())


def _moments_by_kind(diagnosis: Diagnosis) -> Counter[str]:
    """The number of moments with an artefact of each kind; 1 for a log."""
    counts: Counter[str] = Counter()
    for moment in diagnosis.capture.by_moment.values():
        kinds = {_kind(word) for word in moment.paths}
        counts.update(kinds | ({"RSS"} if "smaps" in kinds else set()))
    counts[LOG] = 1 if diagnosis.capture.gc is not None else 0
    return counts


def _kind(word: str) -> str:
    """The kind of evidence; interchangeable artefacts share a kind."""
    return "RSS" if word in RSS_ALONE else SAME.get(word, word)
