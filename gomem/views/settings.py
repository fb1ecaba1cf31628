"""Format runtime settings: `GOGC about 40 (35 to 46, inferred from heap goals)`."""

from __future__ import annotations

import math

from gomem.facts.settings import ASSUMED, GOALS, LOG, METRICS, Setting, Settings, text_of
from gomem.inputs.environ.parse import GODEBUG, GOGC
from gomem.text import File, Quoted, Text, joined, text

BY = {LOG: "inferred from heap goals in the GC log", GOALS: "inferred from heap goals"}
SAID_BY = {METRICS: "runtime/metrics", LOG: "GC log"}
OPEN_RATIO = 4  # of upper to lower bound; from here on the upper bound is left out


def settings_words(settings: Settings) -> Text:
    """All known settings with their sources; empty without any."""
    return joined("; ", (_words(setting) for setting in settings.known if _is_of_use(setting)))


def _is_of_use(setting: Setting) -> bool:
    """Whether a setting is known better than by assumption, or by an upper bound.

    A memory limit lowers goals too, so an upper bound alone says nothing about GOGC.
    """
    if setting.is_inferred and setting.low == 0:
        return False
    return setting.known_by != ASSUMED or math.isfinite(setting.high)


def _words(setting: Setting) -> Text:
    value = Quoted(setting.text) if setting.name == GODEBUG else setting.text
    return text("{} {}{}", setting.name, _told(setting, value), _others(setting))


def _told(setting: Setting, value: str) -> Text:
    if setting.known_by == ASSUMED:
        return text("{} (assumed; no file states it)", value)
    if setting.is_stated or setting.name != GOGC:
        source = SAID_BY.get(setting.known_by) or File(setting.source)
        if not setting.is_set:
            return text("{} (default; not set in {})", value, source)
        return text("{} ({})", value, source)
    low, high = (text_of(GOGC, end) for end in (setting.low, setting.high))
    if setting.high > OPEN_RATIO * setting.low:
        return text("at least {} ({})", low, BY[setting.known_by])
    if low == high:
        return text("{} ({})", value, BY[setting.known_by])
    return text("about {} ({} to {}, {})", value, low, high, BY[setting.known_by])


def _others(setting: Setting) -> Text:
    """Earlier values, and contradicting sources."""
    said = [
        text(" (before: {})", value) if source == setting.known_by
        else text(" ({} says {})", File(source), value)
        for value, source in setting.others
    ]  # fmt: skip
    return joined("", said)
