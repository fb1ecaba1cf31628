"""The next step of a verdict: the finding's, or how to get what is missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.analysis.memory.groups import HEAP
from gomem.capture.release import shows_go
from gomem.causes.commands import (
    CAPTURE,
    TAKE_HEAP_PROFILE,
    TAKE_SMAPS,
    TAKE_STACKS,
    no_go_words,
    since_baseline,
)
from gomem.causes.finding import Finding, Severity
from gomem.diagnosis.few_fields import one_reading
from gomem.diagnosis.live_by_fields import AFTER_A_GC, risen_without_gc
from gomem.facts.settings import settings_written
from gomem.inputs.named_sizes import suspects_goroutines
from gomem.inputs.processes.languages import is_not_go
from gomem.text import Text, text

if TYPE_CHECKING:
    from gomem.diagnosis.diagnosis import Diagnosis
    from gomem.facts.moment import MomentFacts

MISSING = "data-missing"
HEAD_BYTES = 1 << 16  # of a text, searched for what it suspects
MOSTLY = 0.75  # of RSS: then what retains the Go heap is asked first
TAKE_ANOTHER = text("If this growth is unexpected, capture for ten minutes: {}.", CAPTURE)
SEE_WHETHER_IT_GROWS = text("See whether it grows: {}.", CAPTURE)
WHOLE_SMAPS = text("Take a complete smaps, so that RSS is exact: {}.", TAKE_SMAPS)
WHAT_RETAINS = text("See what holds the Go heap: {}.", TAKE_HEAP_PROFILE)
COUNT_GOROUTINES = text(
    "See how many goroutines there are and where they wait, and again some minutes later: {}.",
    TAKE_STACKS,
)
NOTHING_TO_DO = "Nothing to do."


def next_step_of(
    diagnosis: Diagnosis,
    facts: MomentFacts | None,
    named: Finding | None,
    otherwise: str,
    *,
    severity: Severity | None,
) -> str:
    """The step of the finding; else how to get missing files; else how to investigate growth."""
    if named is not None or otherwise:
        return otherwise if named is None else named.next_step
    is_cut = facts is not None and facts.mappings is not None
    if is_cut and facts is not None and facts.ledger is not None and facts.ledger.is_least:
        sizes = {} if facts.groups is None else facts.groups.sizes
        is_heap = sizes.get(HEAP, 0) > MOSTLY * (facts.rss_bytes or 0) > 0
        return text("{} {}", WHAT_RETAINS, WHOLE_SMAPS) if is_heap else WHOLE_SMAPS
    is_go = shows_go(diagnosis.capture)
    if facts is not None and facts.listed and is_not_go(facts.listed.name, shows_go=is_go):
        return no_go_words(facts.listed, settings_written(diagnosis.facts))
    if step := (_by_one_reading if severity is None else _since_baseline)(diagnosis):
        return step
    is_divided = facts is not None and facts.mappings is not None and facts.memstats is not None
    missing = (finding.next_step for finding in diagnosis.findings if finding.code == MISSING)
    steps = [AFTER_A_GC] * bool(risen_without_gc(diagnosis)) + [*missing] * (not is_divided)
    if steps:
        return steps[0]
    unsound = (finding for finding in diagnosis.findings if finding.severity >= Severity.WARNING)
    otherwise = NOTHING_TO_DO if severity is None else TAKE_ANOTHER
    return next((finding.next_step for finding in unsound), otherwise)


def _since_baseline(diagnosis: Diagnosis) -> Text:
    """Compare the last heap profile with that of a baseline in the same place; empty without."""
    compared = since_baseline(diagnosis.case)
    return Text() if compared is None else text("See which callers allocate more: {}.", compared)


def _by_one_reading(diagnosis: Diagnosis) -> Text:
    """The step that follows from a text's suspicion, or from a reading alone; else empty."""
    if _may_be_goroutines(diagnosis):
        return COUNT_GOROUTINES
    return SEE_WHETHER_IT_GROWS if one_reading(diagnosis) else Text()


def _may_be_goroutines(diagnosis: Diagnosis) -> bool:
    """Whether a text suspects a leak of goroutines, and the capture has at most a few of them."""
    counts = diagnosis.facts.goroutine_counts
    few = diagnosis.thresholds.excerpt_goroutines
    if any(count.goroutines > few for count in counts):
        return False
    texts = (file.source.whole_text for file in diagnosis.capture.files if file.kind.is_pasted)
    return any(suspects_goroutines(data[:HEAD_BYTES]) for data in texts if b"\0" not in data[:4096])
