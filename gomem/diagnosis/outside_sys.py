"""What a log shows of memory outside Go's runtime: RSS beyond Sys, and its growth."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.text import Bytes, MomentName, Share, Text, text

if TYPE_CHECKING:
    import pandas as pd

    from gomem.diagnosis.diagnosis import Diagnosis
    from gomem.facts.moment import MomentFacts


def beyond_sys_words(diagnosis: Diagnosis, facts: MomentFacts | None) -> Text:
    """RSS beyond Sys, which is not Go's, and how much of the growth is certainly outside Go.

    Sys includes what Go released: Go 1.12 to 1.15 leave that in RSS.
    """
    if facts is None or facts.rss_bytes is None or facts.memstats is not None:
        return Text()
    stats = diagnosis.capture.memstats.dropna(subset=["Sys"]).groupby("moment")["Sys"].last()
    if facts.name not in stats:
        return Text()
    beyond = facts.rss_bytes - int(stats[facts.name])
    if beyond <= 0:
        return Text()
    share = Share(beyond / facts.rss_bytes)
    words = "At least {} ({}) is outside Go's runtime: RSS beyond Sys{}."
    return text(words, Bytes(beyond), share, _grown(diagnosis, beyond, stats))


def _grown(diagnosis: Diagnosis, beyond: int, stats: pd.Series) -> Text:
    """How much of the growth of RSS Go cannot have; empty if it can have all of it."""
    # What is outside Go's runtime at first is at most the RSS of then.
    first = next((moment for moment in diagnosis.moments if moment.name in stats), None)
    if first is None or first.rss_bytes is None or beyond <= first.rss_bytes:
        return Text()
    words = ". Of the growth since {}, at least {} is not Go's, and no heap profile shows it"
    return text(words, MomentName(first.name), Bytes(beyond - first.rss_bytes))
