"""The report: what is said, in which order, and which moment is shown first."""

from __future__ import annotations

import re
from functools import partial
from typing import TYPE_CHECKING

import gomem
from gomem.causes import CAUSES, data_damaged, data_missing
from gomem.causes.finding import Severity
from gomem.units import format_bytes, format_count, format_fraction, format_seconds
from gomem.views.document import (
    Block,
    Case,
    Figure,
    Folded,
    Notes,
    Paragraph,
    Report,
    Section,
    Verdict,
    in_one_fold,
)
from gomem.views.figures.address_space import plot_address_space
from gomem.views.figures.ledger_over_moments import plot_timeline
from gomem.views.figures.look import part_name
from gomem.views.figures.waterfall import plot_rss_vs_heap
from gomem.views.report import tables
from gomem.views.report.allocations import sites_section
from gomem.views.report.changes import change_section
from gomem.views.report.collector import gc_section
from gomem.views.report.growth import growth_section
from gomem.views.report.limits import limits_section

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from gomem.analysis.memory.rss_vs_heap import Ledger
    from gomem.capture.capture import Capture
    from gomem.causes.finding import Finding
    from gomem.diagnosis.diagnosis import Diagnosis

LARGEST_PARTS = 3
MUCH_UNTOUCHED = 0.05  # of RSS: worth a word in the first lines
WATERFALLS = 8  # moments; each is some 25 kB of SVG
MOST_NAMED = 6  # moments in a sentence
DAMAGED, MISSING = data_damaged.CAUSE.code, data_missing.CAUSE.code
CHECKED = tuple(cause.code for cause in CAUSES)


def build_report(diagnosis: Diagnosis) -> Report:
    """Say everything once; see `document` for what comes out."""
    capture = diagnosis.capture
    sections = (
        _ledger_section(diagnosis),
        _moments_section(diagnosis),
        change_section(diagnosis),
        _mappings_section(diagnosis),
        limits_section(diagnosis),
        _sites_section(diagnosis),
        growth_section(diagnosis),
        _gc_section(diagnosis),
        _damage_section(diagnosis),
        _inputs_section(diagnosis),
    )
    return Report(
        title=capture.name,
        facts=_facts(diagnosis),
        verdict=_verdict(diagnosis),
        cases=_cases(diagnosis.findings),
        checked=CHECKED,
        sections=tuple(section for section in sections if section is not None),
        made_by=f"gomem {gomem.__version__}",
    )


def _where(diagnosis: Diagnosis, words: str) -> str:
    """Which moment is meant, if there is more than one."""
    return words if len(diagnosis.capture.moments) > 1 else ""


def in_order(names: list[str], first: str | None) -> list[str]:
    """The first one, then the others as they come."""
    return sorted(names, key=lambda name: name != first)


def _facts(diagnosis: Diagnosis) -> tuple[tuple[str, str], ...]:
    capture = diagnosis.capture
    version = capture.go_version
    facts = [("Go release", f"{version} ({version.evidence})"), ("Moments", _moments(diagnosis))]
    taken = _taken(capture)
    if taken:
        facts.append(("Taken", taken))
    facts.append(("Files", format_count(len(capture.artefacts))))
    if diagnosis.baseline is not None:
        other = diagnosis.baseline.capture
        facts.append(("Held against", f"{other.name} ({other.go_version})"))
    return tuple(facts)


def _taken(capture: Capture) -> str:
    """When the first moment was; file times change when files are copied, so they are named."""
    times = capture.moments["time"].dropna()
    if times.empty:
        return ""
    of_moments = capture.artefacts[capture.artefacts["moment"] != ""]
    by_files = set(of_moments["time_source"]) <= {"file", ""}
    return tables.time_cell(times.min()).text + (" (by the files' dates)" if by_files else "")


def _moments(diagnosis: Diagnosis) -> str:
    names = list(diagnosis.capture.moments["moment"])
    shown = ", ".join(names[: tables.FEW_MOMENTS])
    more = len(names) - tables.FEW_MOMENTS
    return f"{len(names)}: {shown}" + (f" and {more} more" if more > 0 else "") if names else "none"


def _verdict(diagnosis: Diagnosis) -> Verdict:
    warnings = [one for one in diagnosis.findings if one.severity >= Severity.WARNING]
    lacking = [one for one in diagnosis.findings if one.code == MISSING]
    if warnings:
        severity, sentence = warnings[0].severity, _sentence(warnings[0].title)
    elif lacking:
        severity, sentence = None, "No warning, as far as these files can tell."
    else:
        severity, sentence = None, "No warning."
    return Verdict(
        severity, sentence, _together(_residence(diagnosis)), _beside(diagnosis, warnings)
    )


def _sentence(title: str) -> str:
    return _together(title[:1].upper() + title[1:].rstrip(".") + ".")


def _together(text: str) -> str:
    """A number and its unit stay on one line."""
    return re.sub(r"(?<=\d) (?=%|[KMGT]?i?B\b)", "\u00a0", text)


def _residence(diagnosis: Diagnosis) -> str:
    """RSS and its largest parts, of the moment that is shown first."""
    moment = diagnosis.shown_first
    ledger = diagnosis.ledgers.get(moment or "")
    if ledger is None:
        return "No file here says how much memory is resident."
    rss = ledger.rss_bytes
    doubtful = ledger.parts["confidence"] == "doubtful"
    trusted = ledger.parts[~doubtful]
    sizes = dict(zip(trusted["part"], trusted["bytes"].tolist(), strict=True))
    largest = sorted(sizes, key=lambda part: -sizes[part])[:LARGEST_PARTS]
    parts = [_part_words(part, sizes[part], rss) for part in largest if sizes[part] > 0]
    if rss is None:
        return f"No file here says how much is resident. Go claims {', '.join(parts)}."
    place = _where(diagnosis, f" at {moment}")
    total = f"RSS is {format_bytes(rss)}{place}"
    if doubtful.any():
        return f"{total}; how much of it is heap, these files cannot tell."
    text = f"{total}; its largest parts are {', '.join(parts)}."
    untouched = -sizes.get("heap_untouched", 0)
    if untouched > MUCH_UNTOUCHED * rss:
        text += f" {format_bytes(untouched)} of what Go claims were never touched."
    return text


def _part_words(part: str, size: int, rss: int | None) -> str:
    share = f" ({format_fraction(size / rss)})" if rss else ""
    return f"{part_name(part)} {format_bytes(size)}{share}"


def _beside(diagnosis: Diagnosis, warnings: list[Finding]) -> tuple[str, ...]:
    lines = []
    further = len(warnings) - 1
    if further > 0:
        lines.append("one further warning" if further == 1 else f"{further} further warnings")
    notes = len(diagnosis.findings) - len(warnings)
    if notes:
        lines.append("1 note" if notes == 1 else f"{notes} notes")
    damaged = len(diagnosis.capture.damaged)
    if damaged and not (warnings and warnings[0].code == DAMAGED):
        lines.append(f"{damaged} {'place' if damaged == 1 else 'places'} could not be read")
    return tuple(lines)


def _cases(findings: tuple[Finding, ...]) -> tuple[Case, ...]:
    """One case for all findings that say the same of different moments."""
    same: dict[tuple[str, str, str], list[Finding]] = {}
    for finding in findings:
        same.setdefault((finding.code, finding.mechanism, finding.next_step), []).append(finding)
    return tuple(
        Case(
            first,
            tables.evidence_table(first),
            tuple((other, tables.evidence_table(other)) for other in others),
        )
        for first, *others in same.values()
    )


def _ledger_section(diagnosis: Diagnosis) -> Section | None:
    ledgers = diagnosis.ledgers
    names = in_order(list(ledgers), diagnosis.shown_first)
    if not names:
        return None
    places = {name: place for place, name in enumerate(ledgers, start=1)}
    blocks: list[Block] = []
    others: list[Folded] = []
    for rank, name in enumerate(names):
        own = _ledger_blocks(diagnosis, name, places[name], drawn=rank < WATERFALLS)
        rss = ledgers[name].rss_bytes
        size = "" if rss is None else f": RSS {format_bytes(rss)}"
        if rank == 0:
            blocks += own
        else:
            others.append(Folded(f"{name}{size}", own))
    heading = "Where the resident bytes are" + _where(diagnosis, f": {names[0]}")
    return Section("ledger", heading, (*blocks, *_other_moments(others)))


def _other_moments(folded: list[Folded]) -> tuple[Folded, ...]:
    return in_one_fold(folded, f"the other {len(folded)} moments")


def _ledger_blocks(
    diagnosis: Diagnosis, moment: str, place: int, *, drawn: bool
) -> tuple[Block, ...]:
    ledger = diagnosis.ledgers[moment]
    draw = partial(plot_rss_vs_heap, ledger, name=f"ledger-{place}", moment=moment)
    caption = "From heap objects down to RSS; each bar begins where the one above it ends."
    if len(diagnosis.ledgers) > WATERFALLS:
        caption += f" Drawn for {WATERFALLS} of {len(diagnosis.ledgers)} moments; the tables are "
        caption += "of all."
    blocks: list[Block] = [Figure(caption, draw)] if drawn else []
    blocks.append(tables.ledger_table(ledger, moment, diagnosis.baseline_ledger(moment)))
    if ledger.has("heap_objects") and ledger.rss_bytes is not None:
        blocks.append(tables.sides_table(ledger, moment))
    if len(ledger.checks):
        blocks.append(tables.checks_table(ledger, moment))
    notes = [*ledger.notes, *_skew_note(diagnosis, moment)]
    if ledger.next_file:
        notes.append(f"the next file to collect: {ledger.next_file}")
    if notes:
        blocks.append(Notes(tuple(notes)))
    return tuple(blocks)


def _skew_note(diagnosis: Diagnosis, moment: str) -> list[str]:
    skew = diagnosis.by_moment[moment].skew.seconds
    if skew is None or skew >= 1:  # the ledger itself warns of more
        return []
    return [f"MemStats and the kernel's files were taken {format_seconds(skew)} apart"]


def _moments_section(diagnosis: Diagnosis) -> Section | None:
    ledgers = diagnosis.ledgers
    if len(ledgers) < 2:
        return None
    capture = diagnosis.capture
    times = dict(zip(capture.moments["moment"], capture.moments["time"], strict=True))
    skews = {name: diagnosis.by_moment[name].skew.seconds for name in ledgers}
    caption = "Moments in order, not to scale in time. The top of each column is RSS."
    if any(ledger.part("heap_untouched") for ledger in ledgers.values()):
        caption += (
            " A column begins below zero by what the runtime claims and never touched; "
            "to which part of the heap that belongs, these files cannot tell."
        )
    return Section(
        "moments",
        "Over the moments",
        (Figure(caption, partial(plot_timeline, ledgers)), *_moments_blocks(ledgers, times, skews)),
    )


def _moments_blocks(
    ledgers: Mapping[str, Ledger], times: Mapping[str, Any], skews: Mapping[str, float | None]
) -> list[Block]:
    """As many moments as fit beside one another, and the way to the others."""
    few = tables.few_moments(ledgers)
    blocks: list[Block] = [
        tables.moments_table({name: ledgers[name] for name in few}, times, skews)
    ]
    others = [name for name in ledgers if name not in few]
    if others:
        blocks.append(Notes((f"left out of this table: {_some(others)}",)))
        every = tables.all_moments_table(ledgers, times, skews)
        blocks.append(Folded(f"all {len(ledgers)} moments", (every,)))
    return blocks


def _some(names: Sequence[str]) -> str:
    """Names in a row; of many, how many there are besides."""
    rest = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {rest} more" if rest > 0 else "")


def _mappings_section(diagnosis: Diagnosis) -> Section | None:
    kinds = diagnosis.kinds
    names = in_order(list(dict.fromkeys(kinds["moment"])), diagnosis.shown_first)
    if not names:
        return None
    each = [tables.kinds_table(kinds[kinds["moment"] == name], name) for name in names]
    others = [Folded(name, (table,)) for name, table in zip(names[1:], each[1:], strict=True)]
    caption = (
        "Regions in order of address, as wide as they are mapped, filled as far as resident. "
        "Address space that is only reserved is left out."
    )
    draw = partial(plot_address_space, diagnosis.regions(names[0]), moment=names[0])
    strip = Figure(caption, draw)
    return Section(
        "mappings",
        "Kinds of mappings" + _where(diagnosis, f": {names[0]}"),
        (strip, each[0], *_other_moments(others)),
    )


def _sites_section(diagnosis: Diagnosis) -> Section | None:
    names = in_order(list(diagnosis.sites), diagnosis.shown_first)
    heading = "Who allocates" + (_where(diagnosis, f": {names[0]}") if names else "")
    return sites_section(diagnosis, names, heading)


def _gc_section(diagnosis: Diagnosis) -> Section | None:
    return None if diagnosis.collector is None else gc_section(diagnosis.collector)


def _damage_section(diagnosis: Diagnosis) -> Section | None:
    if not diagnosis.capture.damaged:
        return None
    words = "What stands here is in none of the numbers above."
    blocks = (Paragraph(words), tables.damage_table(diagnosis.capture))
    return Section("unread", "What could not be read", blocks)


def _inputs_section(diagnosis: Diagnosis) -> Section:
    blocks: list[Block] = [tables.inputs_table(diagnosis.capture)]
    missing = _missing(diagnosis)
    if missing:
        blocks.append(Notes((f"not in this capture: {', '.join(missing)}",)))
    return Section("inputs", "What was read", tuple(blocks))


def _missing(diagnosis: Diagnosis) -> list[str]:
    kinds = set(diagnosis.capture.artefacts["kind"])
    wanted = {
        "smaps": {"smaps"},
        "MemStats": {"memstats", "metrics", "heap_text"},
        "a heap profile": {"pprof", "heap_text"},
        "a gctrace log": {"gctrace"},
    }
    return [name for name, any_of in wanted.items() if not kinds & any_of]
