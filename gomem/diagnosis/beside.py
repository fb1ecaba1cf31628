"""Further facts of the verdict: kernel memory, peak, changes outside RSS, heap holder."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.diagnosis.beside_size import beyond_sys_words, live_share_words
from gomem.diagnosis.few_fields import level_beside_rss
from gomem.diagnosis.in_use import who_holds
from gomem.diagnosis.listed_memory import address_space_words, kernel_words
from gomem.diagnosis.without_rss import by_pasted
from gomem.facts.profiles import IN_USE, that_count
from gomem.text import Bytes, Text, text

if TYPE_CHECKING:
    from gomem.causes.finding import Finding
    from gomem.diagnosis.diagnosis import Diagnosis
    from gomem.facts.moment import MomentFacts

PEAK_RATIO = 1.1  # of RSS: a peak above this ratio is mentioned
OBSERVED_BESIDE = frozenset({"in_use", "goroutines"})


def whose_words(
    diagnosis: Diagnosis, facts: MomentFacts | None, named: Finding | None, cached: str
) -> tuple[str, ...]:
    """Page cache, kernel memory, peak, heap size, changes outside RSS, and the heap's holder."""
    kernel = Text()
    if facts is not None and facts.rss_bytes is not None:
        kernel = kernel_words(facts)
    said = (cached, kernel, _peak_words(diagnosis, facts), address_space_words(facts))
    of_go = (
        beyond_sys_words(diagnosis, facts),
        level_beside_rss(diagnosis, facts),
        live_share_words(diagnosis, facts),
    )
    return (*said, *of_go, *_beside(diagnosis), _holder(diagnosis, facts, named))


def _peak_words(diagnosis: Diagnosis, facts: MomentFacts | None) -> Text:
    """The kernel's RSS peak (VmHWM), if it is well above every snapshot."""
    peaks = diagnosis.capture.status["VmHWM"].dropna()
    seen = [moment.rss_bytes for moment in diagnosis.moments if moment.rss_bytes is not None]
    if facts is None or peaks.empty or not seen:
        return Text()
    peak = int(peaks.iloc[-1])
    if peak < PEAK_RATIO * max(seen):
        return Text()
    return text("RSS peaked at {} (VmHWM).", Bytes(peak))


def _beside(diagnosis: Diagnosis) -> tuple[str, ...]:
    """Changes outside RSS: in-use heap, goroutines."""
    beside = (
        observation
        for observation in diagnosis.observations
        if observation.group in OBSERVED_BESIDE
    )
    return tuple(observation.sentence for observation in beside)


def _holder(diagnosis: Diagnosis, facts: MomentFacts | None, named: Finding | None) -> str:
    """The holder of the live heap in the last heap profile, unless another sentence names it."""
    profiles = that_count(IN_USE, diagnosis.capture.heap_profiles)
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
