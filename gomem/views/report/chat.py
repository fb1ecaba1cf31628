"""A report in eight lines, to be pasted into a chat: plain text, and no line is cut by a phone.

The lines: program and release, status, what was found, RSS and how it moved, the largest parts,
what to do, and how many files say so. One that nothing is known of is left out.
"""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from gomem.comparison.programs import program_of
from gomem.errors import printable
from gomem.text import CaptureName, Function, MomentName, Program, Text, joined, text
from gomem.units import format_bytes, format_fraction
from gomem.views.figures.flame_graph import known_name
from gomem.views.names import hidden, typed
from gomem.views.report.verdict import LABELS, TONES, together
from gomem.views.words import how_many
from gomem.views.writers.text import readable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gomem.diagnosis.diagnosis import Diagnosis
    from gomem.facts.moment import MomentFacts

WIDTH, LINES = 80, 8
HEADLINE_LINES, MORE_LINES = 2, 2
LARGEST_PARTS = 3
SAMPLE_TYPES = ("inuse_space", "alloc_space")
GOOD = "no warning"


def chat_summary(diagnosis: Diagnosis, *, redact: bool = False) -> str:
    """Say a report in at most eight lines of at most 80 columns; redacted as `share` does."""
    shown = hidden(diagnosis, redact=redact).text
    verdict = diagnosis.verdict
    around = [
        text("{}: {}", _program(diagnosis), _status(diagnosis)),
        *_memory(diagnosis),
        how_many(len(diagnosis.capture.artefacts), "file") + _damage(diagnosis),
    ]
    first, *middle, last = (_wrapped(shown(together(line)), MORE_LINES) for line in around)
    headline = _wrapped(shown(together(typed(verdict.headline, diagnosis))), HEADLINE_LINES)
    lines = [*first, *headline, *(line for part in middle for line in part)]
    if verdict.next_step:
        step = shown(together(text("Next: {}", typed(verdict.next_step, diagnosis))))
        lines += _wrapped(step, max(1, LINES - len(lines) - len(last)))
    return "\n".join([*lines, *last]) + "\n"


def _wrapped(line: str, at_most: int) -> list[str]:
    """A line on at most so many; what does not fit ends in an ellipsis."""
    wrapped = textwrap.wrap(  # while spaces between numbers and units still do not break
        printable(line), WIDTH, max_lines=at_most, placeholder=" …", break_on_hyphens=False
    )
    return list(map(readable, wrapped))


def _program(diagnosis: Diagnosis) -> Text:
    capture = diagnosis.capture
    release = f", {capture.go_version}" if capture.go_version.exact is not None else ""
    program = Program(known_name(program_of(diagnosis)))
    return text("{}{}", program or CaptureName(capture.name), release)


def _status(diagnosis: Diagnosis) -> str:
    """How bad it is, and how sure the finding is that says so."""
    verdict = diagnosis.verdict
    if verdict.severity is None:
        return GOOD.upper()
    tone = TONES[verdict.severity]
    named = (finding for finding in diagnosis.findings if finding.code == verdict.code)
    finding = next(named, None)
    sure = "" if finding is None else f" · {finding.confidence} · {finding.code}"
    return LABELS.get(tone, tone).upper() + sure


def _damage(diagnosis: Diagnosis) -> str:
    damaged = diagnosis.capture.damaged
    return f"; {how_many(len(damaged), 'place')} could not be read" if damaged else ""


def _memory(diagnosis: Diagnosis) -> Iterator[Text]:
    """RSS and its parts; without RSS who holds what is in use, as far as anything says."""
    known = [moment for moment in diagnosis.moments if moment.rss_bytes is not None]
    if known:
        yield _rss(diagnosis, known)
    moment = next((one for one in reversed(known or diagnosis.moments) if one.groups), None)
    if moment is not None:
        yield _parts(moment)
    elif diagnosis.sites_first is not None:
        yield from _sites(diagnosis, diagnosis.sites_first)


def _rss(diagnosis: Diagnosis, known: list[MomentFacts]) -> Text:
    """RSS at the last snapshot that says it, and its change since the first or the baseline."""
    last, first, since = known[-1], known[0], "since"
    against = diagnosis.baseline_moment(last.name)
    if against is not None and diagnosis.baseline is not None:
        first, since = diagnosis.baseline.by_moment[against], "against the baseline,"
    now = text("RSS {} at {}", format_bytes(last.rss_bytes, brief=True), MomentName(last.name))
    if first is last or first.rss_bytes is None or last.rss_bytes is None:
        return now
    change = format_bytes(last.rss_bytes - first.rss_bytes, brief=True)
    sign = "+" * (last.rss_bytes >= first.rss_bytes)
    return text("{}, {}{} {} {}", now, sign, change, since, MomentName(first.name))


def _parts(moment: MomentFacts) -> Text:
    """The largest parts, each with its share of RSS where that is known."""
    assert moment.groups is not None
    sizes, _ = moment.groups.drawn(moment.rss_bytes)
    names, whole = moment.groups.names, moment.rss_bytes
    largest = sorted(sizes.items(), key=lambda part: -part[1])[:LARGEST_PARTS]
    said = [
        text("{} {}{}", names[group], format_bytes(size, brief=True), _share(size, whole))
        for group, size in largest
        if size
    ]
    return text("{}: {}", "Largest" if whole else "Reserved by Go", joined(", ", said))


def _share(size: float, whole: float | None) -> str:
    return f" ({format_fraction(size / whole, brief=True)})" if whole else ""


def _sites(diagnosis: Diagnosis, moment: str) -> Iterator[Text]:
    known = diagnosis.sites[moment]
    sample_type = next((name for name in SAMPLE_TYPES if name in known), None)
    if sample_type is None:
        return
    rows = known[sample_type].top.head(LARGEST_PARTS)
    said = [
        text("{} {}", Function(known_name(function)), format_bytes(flat, brief=True))
        for function, flat in zip(rows["function"], rows["flat"], strict=True)
        if flat > 0
    ]
    if said:
        whole = format_bytes(known[sample_type].total, brief=True)
        held = "In use" if sample_type == SAMPLE_TYPES[0] else "Allocated"
        yield text("{} {}: {}", held, whole, joined(", ", said))
