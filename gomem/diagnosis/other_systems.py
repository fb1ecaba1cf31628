"""What differs on a system other than Linux that a text names: it has no /proc.

On the BSDs the runtime releases memory with MADV_FREE (mem_bsd.go): the kernel counts it as
resident until it needs the pages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from gomem.causes.commands import PPROF, see_resident
from gomem.inputs.system import FREEBSD, TINYGO, WASM
from gomem.releases import Fact, GoVersion
from gomem.text import Bytes, Text, text

if TYPE_CHECKING:
    from gomem.capture.capture import Capture
    from gomem.facts.moment import MomentFacts

LINUX_ALONE = ("/proc/", "gomem capture PID")  # words of steps that work only on Linux
WITHOUT_PROFILES = frozenset({TINYGO, WASM})
MIN_RELEASED_SHARE = 0.2  # of RSS: smaller amounts are not mentioned
MIN_EXPLAINED, MAX_EXPLAINED = 0.8, 1.25  # (RSS - (Sys - HeapReleased)) / HeapReleased


def step_on(system: str, step: str, *, has_ended: bool) -> str:
    """Adapt a next step to the system."""
    if system in WITHOUT_PROFILES and PPROF in step:
        return see_resident(system)
    if not system or not any(word in step for word in LINUX_ALONE):
        return step
    return see_resident(system, has_ended=has_ended)


def released_words(capture: Capture, facts: MomentFacts | None) -> Text:
    """Say that RSS still includes released memory, if the system counts it so; else empty."""
    if capture.system != FREEBSD or facts is None or facts.rss_bytes is None:
        return Text()
    stats = facts.memstats
    if stats is None or facts.mappings is not None or pd.isna(stats["HeapReleased"]):
        return Text()
    released, whole = int(stats["HeapReleased"]), int(stats["Sys"])
    beyond = facts.rss_bytes - (whole - released)
    if released < MIN_RELEASED_SHARE * facts.rss_bytes:
        return Text()
    if not MIN_EXPLAINED * released <= beyond <= MAX_EXPLAINED * released:
        return Text()
    words = (
        "RSS is about Sys ({}), of which Go has released {} (HeapReleased). {} counts released "
        "memory as resident until it needs the pages, so Go reuses that memory before RSS grows."
    )
    return text(words, Bytes(whole), Bytes(released), capture.system)


def counted_when_released(version: GoVersion, whole: int, released: int) -> Text:
    """That RSS can have what Go has released, with the releases that do so; empty if little is."""
    if (
        not released
        or released < MIN_RELEASED_SHARE * whole
        or not version.possibly(Fact.MADV_FREE)
    ):
        return Text()
    if version.certainly(Fact.MADV_FREE):
        words = "Up to {} of RSS is Go's (Sys), including the {} that {} released with MADV_FREE."
        return text(words, Bytes(whole), Bytes(released), version.words)
    words = (
        "With GODEBUG=madvdontneed=0, the default from Go 1.12 to 1.15, RSS might still include "
        "the {} that Go released, and be up to {} (Sys)."
    )
    return text(words, Bytes(released), Bytes(whole))
