"""The metric with the most series on a page of Prometheus metrics; a client keeps each of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.text import Count, File, Quoted, Text, text

if TYPE_CHECKING:
    from gomem.capture.capture import Capture


def series_words(capture: Capture) -> Text:
    """Say how many series the last page has of its largest metric, and how many the first had."""
    pages = [
        (file.source.name, series)
        for moment in capture.by_moment.values()
        for file in moment.artefacts
        if (series := getattr(file.parsed, "series", None)) is not None
    ]
    if not pages:
        return Text()
    path, last = pages[-1]
    first = next((series for _, series in pages if series.name == last.name), last)
    rise = text(", up from {}", Count(first.count)) if first.count < last.count else Text()
    words = "{} has {} of {}{}; its label {} has {}. The client keeps every series in memory."
    count, values = Count(last.count, "series", "series"), Count(last.values, "value")
    return text(words, File(path), count, Quoted(last.name), rise, Quoted(last.label), values)
