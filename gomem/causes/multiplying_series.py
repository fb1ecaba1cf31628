"""The program's own metrics make the heap grow: a label has ever more values, each one a series.

A client of Prometheus keeps every series in memory until it is deleted. Pages of one metric with
many series, whose number rises with the size of the process, name the label.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.causes.commands import TAKE_HEAP_PROFILE
from gomem.causes.evidence import known
from gomem.causes.finding import Finding, Severity
from gomem.inputs.metrics.series import MOST_BYTES_OF_SERIES
from gomem.text import Bytes, Count, Quoted, text

if TYPE_CHECKING:
    from gomem.capture.capture import Capture
    from gomem.causes.cause import Case, Cause
    from gomem.inputs.metrics.series import MetricSeries

MECHANISM = (
    "A client of Prometheus keeps every series in memory: each new combination of label values is "
    "one, of a histogram with all its buckets. Nothing removes it until the program deletes it or "
    "ends."
)


def pages_with_series(capture: Capture) -> list[tuple[str, MetricSeries]]:
    """Return the pages whose largest metric is that of the last one, with its series, by path."""
    pages = [
        (file.source.name, series)
        for moment in capture.by_moment.values()
        for file in moment.artefacts
        if (series := getattr(file.parsed, "series", None)) is not None
    ]
    return [(path, series) for path, series in pages if series.name == pages[-1][1].name]


def of_series(case: Case, cause: Cause) -> list[Finding]:
    """Return a finding if the series of a metric multiply while the process grows."""
    pages, limits = pages_with_series(case.facts.capture), case.thresholds
    sizes = [(moment, size) for moment in case.facts.moments if (size := moment.held_bytes)]
    if not pages[1:] or not sizes[1:]:
        return []
    (_, first), (path, last) = pages[0], pages[-1]
    (_, before), (moment, after) = sizes[0], sizes[-1]
    has_more = last.count >= limits.rise_ratio * first.count
    most = MOST_BYTES_OF_SERIES * (last.count - first.count)
    can_be = most >= limits.most_share * (after - before)
    if not has_more or not can_be or not limits.has_grown(before, after):
        return []
    words = "{} has ever more series: {}, up from {}, while the process grew from {} to {}"
    counts, grew = (Count(last.count), Count(first.count)), (Bytes(before), Bytes(after))
    advice = (
        "Take the label {} ({}) off, or give it few values: no IDs, addresses or paths. Else "
        "delete series that are over (DeleteLabelValues). See what they hold: {}."
    )
    return [
        cause.finding(
            Severity.WARNING,
            text(words, Quoted(last.name), *counts, *grew),
            moment=moment.name,
            evidence=(
                *known(path, "count", {"series": last.count, "values of the label": last.values}),
                *known(pages[0][0], "count", {"series": first.count}),
            ),
            mechanism=MECHANISM,
            next_step=text(
                advice, Quoted(last.label), Count(last.values, "value"), TAKE_HEAP_PROFILE
            ),
            confidence="possible",
        )
    ]
