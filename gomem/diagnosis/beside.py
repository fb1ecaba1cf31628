"""What is said beside where the memory is: the kernel's part, peaks, what moved, who holds it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.diagnosis.few_fields import level_beside_rss
from gomem.diagnosis.listed_memory import kernel_words
from gomem.diagnosis.without_rss import by_pasted, who_holds
from gomem.text import Bytes, Text, text

if TYPE_CHECKING:
    from gomem.causes.finding import Finding
    from gomem.diagnosis.diagnosis import Diagnosis
    from gomem.facts.moment import MomentFacts

PEAK_RATIO = 1.1  # of RSS: a peak that is worth saying
OBSERVED_BESIDE = frozenset({"in_use", "goroutines"})


def whose_words(
    diagnosis: Diagnosis, facts: MomentFacts | None, named: Finding | None, cached: str
) -> tuple[str, ...]:
    """The page cache, the heap and what moved beside RSS, and who holds the heap."""
    kernel = Text()
    if facts is not None and facts.rss_bytes is not None:
        kernel = kernel_words(facts)
    said = (cached, kernel, _peak_words(diagnosis, facts), level_beside_rss(diagnosis, facts))
    return (*said, *_beside(diagnosis), _holder(diagnosis, facts, named))


def _peak_words(diagnosis: Diagnosis, facts: MomentFacts | None) -> Text:
    """The kernel's own peak of RSS, where it is well above all that was read."""
    peaks = diagnosis.capture.status["VmHWM"].dropna()
    seen = [moment.rss_bytes for moment in diagnosis.moments if moment.rss_bytes is not None]
    if facts is None or peaks.empty or not seen:
        return Text()
    peak = int(peaks.iloc[-1])
    if peak < PEAK_RATIO * max(seen):
        return Text()
    return text("It peaked at {} (VmHWM).", Bytes(peak))


def _beside(diagnosis: Diagnosis) -> tuple[str, ...]:
    """What moved beside RSS: what is in use, goroutines."""
    beside = (
        observation
        for observation in diagnosis.observations
        if observation.group in OBSERVED_BESIDE
    )
    return tuple(observation.sentence for observation in beside)


def _holder(diagnosis: Diagnosis, facts: MomentFacts | None, named: Finding | None) -> str:
    """Who holds the live heap by the last heap profile, where no finding and no change says it."""
    profiles = diagnosis.capture.heap_profiles
    if facts is None or facts.rss_bytes is None:
        return ""
    if not profiles:
        pasted = by_pasted(diagnosis, facts)
        return "" if pasted is None else pasted[0]
    if (named is not None and named.sites) or any(
        observation.group == "in_use" for observation in diagnosis.observations
    ):
        return ""
    return who_holds(diagnosis, facts.name if facts.name in profiles else list(profiles)[-1])
