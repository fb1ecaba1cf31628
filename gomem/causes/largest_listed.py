"""Which process filled the machine, if the OOM killer killed a small one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.causes.commands import CAPTURE_ONCE
from gomem.text import Bytes, Program, Text, text

if TYPE_CHECKING:
    from gomem.analysis.memory.listed import Listed

MIN_LARGER = 4  # times the RSS of the killed process


def largest_words(listed: Listed) -> Text:
    """The largest process listed beside a killed one; empty if it is not much larger."""
    if listed.larger is None or listed.killed_in != "machine":
        return Text()
    name, pid, size = listed.larger
    if size < MIN_LARGER * (listed.rss_bytes or 0):
        return Text()
    words = "; the largest process listed is {} (PID {}): {} RSS"
    return text(words, Program(name), str(pid), Bytes(size))


def after_a_small_kill(listed: Listed) -> Text:
    """Ask for the process that uses most, where the table lists it; else empty."""
    if listed.larger is None or not largest_words(listed):
        return Text()
    words = (
        "{} of RSS cannot have filled the machine: of the processes listed, {} uses most. "
        "See what it holds: {}."
    )
    return text(words, Bytes(listed.rss_bytes), Program(listed.larger[0]), CAPTURE_ONCE)
