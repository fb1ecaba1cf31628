"""Can the files show that a process is healthy?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.inputs.measurements import has_series
from gomem.text import File, Text, text

if TYPE_CHECKING:
    from gomem.capture.capture import Capture
    from gomem.diagnosis.diagnosis import Diagnosis

MIN_READINGS = 3  # readings of RSS, or GCs, for a verdict other than the current state


def can_be_healthy(diagnosis: Diagnosis) -> bool:
    """Return whether a problem would show: in a log that is long enough, or in RSS over time."""
    if series_not_read(diagnosis.capture):
        return False
    log, least = diagnosis.collector, diagnosis.thresholds.healthy_log_seconds
    if log is not None and log.cost.cycles >= MIN_READINGS and log.cost.seconds >= least:
        return True
    is_alone = len(diagnosis.moments) == 1 and diagnosis.baseline is None
    return shows_rss(diagnosis) and not is_alone


def series_not_read(capture: Capture) -> list[str]:
    """Return the files of no known form that have a series of sizes of memory."""
    unread = {*capture.unread_evidence}
    return [
        source.name
        for source in capture.passed_over
        if source.name in unread and has_series(source.data, source.name)
    ]


def unread_series_words(capture: Capture) -> Text:
    """Say which file can show growth and was not read; empty if there is none."""
    names = series_not_read(capture)
    if not names:
        return Text()
    words = "{} has a series of sizes that gomem does not read: it can show whether memory grows."
    return text(words, File(names[0]))


def shows_rss(diagnosis: Diagnosis) -> bool:
    """Return whether RSS is broken down, or has enough readings to show that it does not grow.

    A single reading of MemStats is not enough: it shows neither growth nor RSS.
    """
    own = [moment for moment in diagnosis.moments if not moment.rss_is_listed]
    if len(own) == 1 and own[0].rss_bytes is None and own[0].mappings is None:
        return False
    divided = any(moment.memstats is not None or moment.mappings is not None for moment in own)
    readings = sum(moment.rss_bytes is not None for moment in own)
    return diagnosis.owners is not None and (divided or readings >= MIN_READINGS)
