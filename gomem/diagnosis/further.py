"""Facts besides the verdict: further findings, and data that were not read or not used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.capture.prose import first_quoted
from gomem.capture.said_rss import SaidPart
from gomem.capture.used_numbers import count_of
from gomem.causes.finding import Finding, Severity
from gomem.causes.multiplying_series import MECHANISM, pages_with_series
from gomem.diagnosis.said_in_text import (
    counts_answer,
    is_exceeded,
    is_of_peak,
    is_within,
    rss_compared,
    said_before,
    was_and_is,
)
from gomem.errors import counted_places
from gomem.inputs.environ.parse import GOGC
from gomem.inputs.processes.row import rounded_size
from gomem.text import Bytes, Count, File, Quoted, Text, joined, text

if TYPE_CHECKING:
    from gomem.capture.capture import Capture
    from gomem.diagnosis.diagnosis import Diagnosis

DAMAGED, MISSING = "data-damaged", "data-missing"
NAMED_UNREAD = 2  # files
NAMED_CODES = 3
NOTHING = Text("No file says how much memory is in use, or what uses the memory.")


def nothing_words(capture: Capture) -> Text:
    """Say that no file says how much memory is in use; a text can name sizes all the same."""
    if capture.stated:
        return text("{} {}.", NOTHING, text("In the text, {}", joined("; ", capture.stated)))
    if not capture.unused_sizes:
        return NOTHING
    words = "No line that gomem reads says how much memory is in use; the text names sizes ({})."
    return text(words, first_quoted(capture.unused_sizes))


def further_words(diagnosis: Diagnosis, named: Finding | None, repeated: str) -> str:
    """Findings besides `named`, and what could not be read; empty if there are none."""
    # Damage is counted by its places; without a finding, the next step has what is missing.
    counted_apart = {DAMAGED} if named is not None else {DAMAGED, MISSING}
    others = [
        finding
        for finding in diagnosis.findings
        if finding is not named and finding.code not in counted_apart
    ]
    warnings = [other.code for other in others if other.severity >= Severity.WARNING]
    notes = [other.code for other in others if other.severity < Severity.WARNING]
    found = (_coded("further warning", warnings), _coded("note", notes))
    words = [
        *filter(None, found),
        *counted_places(diagnosis.capture.damaged),
        *_said(diagnosis),
        *_unread(diagnosis, repeated, is_whole=named is None),
        *_unused(diagnosis),
    ]
    return text("Also: {}.", joined(", ", words)) if words else ""


def _coded(noun: str, codes: list[str]) -> Text:
    """The number of findings, with their codes if they are few; empty if there are none."""
    if not codes:
        return Text()
    counted = Text(Count(len(codes), noun))
    named = list(dict.fromkeys(codes))
    return text("{} ({})", counted, joined(", ", named)) if len(named) <= NAMED_CODES else counted


def _said(diagnosis: Diagnosis) -> list[Text]:
    """Say which size is by a sentence, which need not be of this process."""
    sources = (file.source for file in diagnosis.capture.files)
    words = "RSS is what a sentence says (line {}), perhaps {}of another process or time"
    return [
        text(words, str(said.first_line), "" if said.is_rss else "with page cache, or ")
        for said in sources
        if isinstance(said, SaidPart)
    ]


def _unused(diagnosis: Diagnosis) -> list[Text]:
    """Sizes, goroutine counts and settings in the text; no number of the verdict uses them."""
    capture, used = diagnosis.capture, diagnosis.facts.settings_stated.told
    if not diagnosis.facts.settings.gogc.is_stated:  # readings contradict it
        used = frozenset(each for each in used if not each.startswith(GOGC))
    limit = capture.unit
    is_used = limit is not None and (
        is_of_peak(limit, diagnosis)
        or (limit.is_said and is_exceeded(limit, diagnosis))
        or any(is_within(limit, facts) for facts in diagnosis.moments)
    )
    of_limit = {limit.written} if limit is not None and limit.is_said and is_used else set()
    pairs = was_and_is(diagnosis)
    before = (said_before(pairs, facts.rss_bytes) for facts in diagnosis.moments)
    of_limit |= {said[0] for said in before if said is not None}
    of_limit.add(rss_compared(diagnosis)[0])
    told = {part.value for each in diagnosis.findings for part in Text(each.title).of(Bytes)}
    sizes = ((size, rounded_size(size.encode())) for size in capture.unused_sizes)
    of_limit |= {size for size, read in sizes if read is not None and read.bytes in told}
    stated = "" if diagnosis.moments else " ".join(map(str, capture.stated))
    sizes_stated = (size for size in capture.unused_sizes if f" {size}" in stated)
    of_limit |= {*sizes_stated}
    steps = (Text(finding.next_step) for finding in diagnosis.findings)
    said = {part.value for step in steps for part in step.of(Count)}
    counts = [count for count in capture.unused_counts if count_of(count) not in said]
    unused = (
        ("size", [size for size in capture.unused_sizes if size not in of_limit]),
        ("goroutine count", () if counts_answer(diagnosis) else counts),
        ("setting", [each for each in capture.unused_settings if each not in used]),
    )
    words = "{} in the text not used ({})"
    return [text(words, Count(len(said), n), first_quoted(said)) for n, said in unused if said]


def _unread(diagnosis: Diagnosis, repeated: str, *, is_whole: bool) -> list[Text]:
    """Files about memory of a kind that gomem cannot read, but the one that the verdict repeats.

    A verdict without a finding is as good as the files that it judges by, so it names all others.
    """
    capture, facts = diagnosis.capture, diagnosis.facts
    paths = [path for path in capture.unread_evidence if path != repeated]
    if is_whole:
        read = {file.source.text_name for file in capture.files}
        unread = {source.text_name for source in capture.passed_over} - read
        paths += sorted(unread & capture.looks.keys() - {*capture.unread_evidence})
    used = (facts.settings_stated.environment, facts.kill_described)
    names = {description.source for description in used if description is not None}
    said = []
    for path in paths[:NAMED_UNREAD]:
        is_used = not names.isdisjoint({path, path.rpartition(":")[0]})
        words = "only settings and limits read from {}: {}" if is_used else "{} not read ({})"
        said.append(text(words, File(path), capture.looks[path]))
    more = len(paths) - len(said)
    return [*said, text("{} not read", Count(more, "more file"))] if more else said


def series_words(diagnosis: Diagnosis) -> Text:
    """Say how many series the last page has of its largest metric, and how many the first had.

    The program's own client of Prometheus keeps each of them.
    """
    pages = pages_with_series(diagnosis.capture)
    if not pages or any(found.mechanism == MECHANISM for found in diagnosis.findings):
        return Text()
    (_, first), (path, last) = pages[0], pages[-1]
    rise = text(", up from {}", Count(first.count)) if first.count < last.count else Text()
    words = "{} has {} of {}{}; its label {} has {}. The client keeps every series in memory."
    count, values = Count(last.count, "series", "series"), Count(last.values, "value")
    return text(words, File(path), count, Quoted(last.name), rise, Quoted(last.label), values)
