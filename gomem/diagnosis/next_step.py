"""The next step of a verdict: the finding's, or how to get what is missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.analysis.memory.groups import HEAP
from gomem.causes.commands import CAPTURE, TAKE_HEAP_PROFILE, TAKE_SMAPS, no_go_words
from gomem.causes.finding import Finding, Severity
from gomem.diagnosis.few_fields import one_reading
from gomem.diagnosis.live_by_fields import AFTER_A_GC, risen_without_gc
from gomem.inputs.processes.languages import is_not_go
from gomem.text import text

if TYPE_CHECKING:
    from gomem.diagnosis.diagnosis import Diagnosis
    from gomem.facts.moment import MomentFacts

MISSING = "data-missing"
MOSTLY = 0.75  # of RSS: then what retains the Go heap is asked first
TAKE_ANOTHER = text("If this growth is unexpected, capture for ten minutes: {}.", CAPTURE)
SEE_WHETHER_IT_GROWS = text("See whether it grows: {}.", CAPTURE)
WHOLE_SMAPS = text("Take a complete smaps, so that RSS is exact: {}.", TAKE_SMAPS)
WHAT_RETAINS = text("See what retains the Go heap: {}.", TAKE_HEAP_PROFILE)
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
    if facts is not None and facts.listed is not None and is_not_go(facts.listed.name):
        return no_go_words(facts.listed, diagnosis.capture.unused_settings)
    if severity is None and one_reading(diagnosis):
        return SEE_WHETHER_IT_GROWS
    is_divided = facts is not None and facts.mappings is not None and facts.memstats is not None
    missing = (finding.next_step for finding in diagnosis.findings if finding.code == MISSING)
    steps = [AFTER_A_GC] * bool(risen_without_gc(diagnosis)) + [*missing] * (not is_divided)
    if steps:
        return steps[0]
    unsound = (finding for finding in diagnosis.findings if finding.severity >= Severity.WARNING)
    otherwise = NOTHING_TO_DO if severity is None else TAKE_ANOTHER
    return next((finding.next_step for finding in unsound), otherwise)
