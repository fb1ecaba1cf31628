"""The report: its sections in order, and its head."""

from __future__ import annotations

from dataclasses import replace
from importlib.metadata import version
from typing import TYPE_CHECKING

from gomem.capture.clock import CLOCK_WITHOUT_DATE
from gomem.capture.manifest import ONLY_MOMENT
from gomem.capture.wanted import GC_LOG, GOROUTINES, HEAP_PROFILE, SMAPS, missing_from
from gomem.causes import CAUSES
from gomem.causes.finding import Severity
from gomem.comparison.programs import program_of
from gomem.text import CaptureName, Count, MomentName, Program, Text, text
from gomem.units import format_count
from gomem.views.damage import damage_section
from gomem.views.document import Block, Document, Notes, Part, Section, sections_of
from gomem.views.figures.flame_graph import known_name
from gomem.views.inspect.inspection import files_columns
from gomem.views.names import hidden
from gomem.views.report.allocations import allocations_section
from gomem.views.report.benchmarks import benchmarks_section
from gomem.views.report.changes import changes_section
from gomem.views.report.collector import collector_section
from gomem.views.report.containers import containers_section
from gomem.views.report.findings import findings_section
from gomem.views.report.goroutines import goroutines_section
from gomem.views.report.growth import growth_section
from gomem.views.report.keepers import keepers_section
from gomem.views.report.ledger import ledger_section
from gomem.views.report.levels import levels_section
from gomem.views.report.limits import limits_section
from gomem.views.report.mappings import mappings_section
from gomem.views.report.moments import moments_section
from gomem.views.report.opening import opening
from gomem.views.report.scavenger import scavenger_section
from gomem.views.report.verdict import verdict
from gomem.views.settings import settings_words
from gomem.views.share import UNNAMED, share
from gomem.views.tables import code, table
from gomem.views.values import time_cell
from gomem.views.what_if.blocks import what_if_blocks
from gomem.views.words import first_few, how_many

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from gomem.capture.capture import Capture
    from gomem.diagnosis.diagnosis import Diagnosis

_NO_LOG = f"No gctrace log here; run {GC_LOG.command()}"


def what_if_section(diagnosis: Diagnosis) -> Section | None:
    """Predictions for usual settings; one sentence if the log is too short; None without a log."""
    answer = diagnosis.what_if
    if answer is None:
        return None
    gist = (answer.refused or "estimates from this log, back-tested on it").partition(":")[0]
    heading = "Effect of other GOGC and GOMEMLIMIT"
    return Section("what-if", heading, what_if_blocks(answer), brief=False, gist=gist)


def _unread_section(diagnosis: Diagnosis) -> Section | None:
    damaged = diagnosis.capture.damaged
    section = damage_section(damaged)
    files = how_many(len({place.source for place in damaged}), "file")
    gist = f"{how_many(len(damaged), 'place')} in {files}"
    return None if section is None else replace(section, gist=gist)


def _inputs_section(diagnosis: Diagnosis) -> Section:
    """The files, with digests that identify them."""
    capture = diagnosis.capture
    columns = (*files_columns(capture), code("SHA-256", "sha256"))
    blocks: list[Block] = [table("Files read", columns, capture.artefacts)]
    missing = [wanted.name for wanted in missing_from(capture)]
    if missing:
        blocks.append(Notes((f"not in this capture: {', '.join(missing)}",)))
    gist = how_many(len(capture.artefacts), "file")
    return Section("inputs", "What was read", tuple(blocks), brief=False, gist=gist)


SECTIONS: tuple[Part[Diagnosis], ...] = (
    Part("findings", findings_section, "No known cause fits this capture"),
    Part("ledger", ledger_section,
         "No file here breaks RSS down; add /proc/PID/smaps and runtime.MemStats as JSON"),
    Part("moments", moments_section, "Only one snapshot; a second snapshot would show changes"),
    Part("levels", levels_section,
         "Too few snapshots for percentiles of RSS; gomem capture --every takes a series"),
    Part("containers", containers_section,
         "No table of containers here; docker stats or kubectl top --containers prints one"),
    Part("changes", changes_section,
         "Only one snapshot; add a second snapshot or a baseline to compare"),
    Part("mappings", mappings_section, f"No smaps here; add {SMAPS.command()}"),
    Part("scavenger", scavenger_section,
         "No MemStats here; write runtime.ReadMemStats as JSON at least twice"),
    Part("limits", limits_section,
         "No limit is known here; add the files of the process's cgroup, such as memory.max "
         "or memory.limit_in_bytes"),
    Part("allocations", allocations_section, f"No heap profile here; add {HEAP_PROFILE.command()}"),
    Part("keepers", keepers_section,
         "No heap dump here; runtime/debug.WriteHeapDump writes one, with the heap's contents"),
    Part("goroutines", goroutines_section,
         f"No goroutines here; add {GOROUTINES.command()}"),
    Part("benchmarks", benchmarks_section, "No benchmark here; run go test -bench=. -count=10"),
    Part("growth", growth_section,
         "Too few heap profiles with a time; take ten profiles, some seconds apart"),
    Part("collector", collector_section, _NO_LOG),
    Part("what_if", what_if_section, _NO_LOG),
    Part("unread", _unread_section, "Everything in the capture was read"),
    Part("inputs", _inputs_section, "There is no file"),
)  # fmt: skip
NAMED = 6  # moments in the head
NAMED_MORE = 2  # of those with only a profile
ANY_PROGRAM = "Go program"  # when the program's name is hidden or unknown
MAY_LACK = ("Capture", "Settings", "Taken")  # facts that are omitted if unknown
# If nothing was found, the first existing section of these is expanded.
GROUND = ("ledger", "allocations", "collector", "goroutines", "benchmarks")


def report_document(diagnosis: Diagnosis, *, redact: bool = False) -> Document:
    """Build the report; `redact` hides names of folders and moments, see `share`."""
    return share(whole_report(diagnosis, redact=redact), hidden(diagnosis, redact=redact))


def whole_report(diagnosis: Diagnosis, *, redact: bool = False) -> Document:
    """Build the report with typed texts, from which nothing is hidden yet."""
    return Document(
        kind="Go memory report",
        title=_title(diagnosis, redact=redact),
        facts=_facts(diagnosis, redact=redact),
        verdict=verdict(diagnosis),
        sections=_unfolded(sections_of(SECTIONS, diagnosis), diagnosis),
        made_by=f"gomem {version('gomem')}",
        opening=opening(diagnosis),
        moments=tuple(MomentName(name) for name in diagnosis.capture.moments["moment"]),
    )


def _unfolded(sections: Sequence[Section], diagnosis: Diagnosis) -> tuple[Section, ...]:
    """Expand the sections that support the verdict."""
    code = diagnosis.verdict.code
    opened = {name for cause in CAUSES if cause.code == code for name in cause.bears_on}
    there = {section.name for section in sections}
    opened |= set([name for name in GROUND if name in there][:1])
    if any(finding.severity >= Severity.WARNING for finding in diagnosis.findings):
        opened.add("findings")
    return tuple(
        replace(section, opened=True) if section.name in opened else section for section in sections
    )


def _title(diagnosis: Diagnosis, *, redact: bool) -> Text:
    """The program and its release; the capture's name if the program is unknown."""
    capture = diagnosis.capture
    release = f", {capture.go_version}" if capture.go_version.exact is not None else ""
    program = Program(known_name(program_of(diagnosis)))
    return text("{}{}", program or _name(capture, redact=redact) or ANY_PROGRAM, release)


def _files(capture: Capture) -> str:
    """The number of files, and of the artefacts in them if a text has several."""
    sources = (*(file.source for file in capture.files), *capture.passed_over)
    texts = {source.name: source.text_name for source in sources}
    files, parts = len(set(texts.values())), len(texts)
    return format_count(files) + f" ({format_count(parts)} parts)" * (parts > files)


def _name(capture: Capture, *, redact: bool) -> str:
    """A capture's name; empty if it is hidden, or generic."""
    is_named = not redact and capture.file_name not in {"", "..", UNNAMED}
    return CaptureName(capture.name) if is_named else ""


def _snapshots(names: Sequence[MomentName], capture: Capture) -> Text:
    """How many snapshots, with their names; those with nothing but a profile are apart."""
    files = capture.artefacts
    more = set(files["moment"]) - set(files["moment"][files["kind"] != "pprof"])
    whole = [name for name in names if name not in more] or names
    named = "" if whole == [ONLY_MOMENT] else first_few(whole, NAMED)
    said = text("{}{}", str(len(whole)), text(" ({})", named) if named else "")
    rest = [name for name in names if name not in whole]
    if not rest:
        return said
    alone = Count(len(rest), "profile")
    return text("{}; {} alone ({})", said, alone, first_few(rest, NAMED_MORE))


def _from_to(times: pd.Series) -> str:
    """The first and the last time, as far as known; the date once if it is the same."""
    first, last = (time_cell(at).text for at in (times.min(), times.max()))
    date = f"{times.min():%Y-%m-%d} "
    return first if first == last else f"{first.removesuffix(' UTC')} to {last.removeprefix(date)}"


def _facts(diagnosis: Diagnosis, *, redact: bool) -> tuple[tuple[str, str], ...]:
    capture, release = diagnosis.capture, diagnosis.capture.go_version
    names = [MomentName(name) for name in capture.moments["moment"]]
    has_date = not any(file.time_source == CLOCK_WITHOUT_DATE for file in capture.files)
    times = capture.moments["time"].dropna()
    facts = {
        "Capture": _name(capture, redact=redact),
        "Go release": text("{} ({})", str(release), release.evidence),
        "Settings": settings_words(diagnosis.facts.settings),
        "Snapshots": _snapshots(names, capture) if names else "none",
        "Taken": "" if times.empty or not has_date else _from_to(times),
        "Files": _files(capture),
    }
    if diagnosis.baseline is not None:
        other = diagnosis.baseline.capture
        facts["Baseline"] = text(
            "{} (Go release: {})", CaptureName(other.name), str(other.go_version)
        )
    return tuple((label, value) for label, value in facts.items() if value or label not in MAY_LACK)
