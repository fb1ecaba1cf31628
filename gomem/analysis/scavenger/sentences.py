"""Say a verdict about the scavenger in a sentence, with the numbers of its interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gomem.text import Bytes, Seconds, Text, text
from gomem.units import MIB

if TYPE_CHECKING:
    from collections.abc import Callable

Row = dict[str, Any]
MIN_BYTES = 4 * MIB  # one chunk, the unit in which the runtime maps memory
LITTLE = ("as-intended", "little")
ABOVE = "{size} of idle heap is due for release ({goal}).{in_rss}"
NOTHING_WENT = ABOVE + " Nothing of it was returned to the OS {lasting}."
SAID = {
    (
        "as-intended",
        "going-back",
    ): "{gone} {lasting}. {size} of idle heap is still due for release ({goal}){to_go}.{in_rss}",
    LITTLE: "{idle}.",
    ("kept-for-goal", "goal"): "{kept}.",
    ("kept-for-goal", "next-gc"): "{size} is idle: the heap can refill it up to NextGC ({NextGC}); "
    "spans that stay idle for five minutes are released.",
    ("kept-for-goal", "gogc-off"): "{size} is idle but kept for reuse: with GOGC=off the scavenger "
    "has no goal.",
    (
        "waiting",
        "five-minutes",
    ): "{size} is idle but not due for release: before Go 1.13 the runtime checks every 2.5 "
    "minutes and releases spans that have been idle for five minutes.",
    (
        "waiting",
        "second-collection",
    ): "{size} is idle but not due for release: the scavenger has no goal before the second GC.",
    ("waiting", "next-collection"): ABOVE + " The idle heap waits for the next GC: the scavenger "
    "passes over the heap once per GC cycle, and had already passed this part.",
    (
        "fragmented",
        "",
    ): "{slots} of HeapInuse ({HeapInuse}) is free slots{beyond}. Go cannot release a span while "
    "an object in the span is live.",
    ("limit-driven", ""): "The goal comes from GOMEMLIMIT ({memory_limit_bytes}): {mapped_bytes} "
    "is mapped and not released, and {limit_rule}.",
    ("madv-free", ""): "{size} was released with MADV_FREE and stays in RSS until the kernel "
    "is short of memory.",
    ("huge-pages", ""): "Huge pages keep {size} resident that Go does not count.",
    ("dense-chunks", ""): ABOVE + " The idle heap stays until the next GC: since Go 1.21 the "
    "scavenger skips 4 MiB chunks that were nearly full in this GC cycle or the previous one, and "
    "no GC has run since the heap became idle.",
    ("starved", "stopped"): "The process was stopped, so nothing could be released. " + ABOVE,
    ("starved", "asleep"): NOTHING_WENT
    + " No rule keeps the idle heap, so most likely the scavenger gets no CPU, or sleeps after a "
    "step that took long by the wall clock. nr_throttled in the cgroup's cpu.stat shows which of "
    "the two.",
    (
        "not-go-memory",
        "",
    ): "Memory outside the Go heap is the largest part of RSS beside Go's objects; the scavenger "
    "cannot release it.",
    ("unknown", "no-memstats"): "The retained heap is unknown: it needs all fields of MemStats, "
    "runtime/metrics or a metrics page.",
    (
        "unknown",
        "no-goal",
    ): "Go retains {retained_bytes} of heap. Without NextGC, the scavenger's goal is unknown.",
    ("unknown", "no-count"): NOTHING_WENT + " Without NumGC, the reason is unknown.",
    ("unknown", "no-release"): "Whether {size} of idle heap is due for release ({goal}) depends on "
    "the Go release.{in_rss} Nothing of it was returned to the OS {lasting}.",
}
BY = {
    "collection": "set at the last GC",
    "steady": "an upper bound",
    "heap-goal": "1.1 × NextGC",
}


def sentence_of(before: Row, after: Row, case: tuple[str, str], size: int | None) -> Text:
    """Return the sentence for a verdict (code and rule) about the interval between two rows."""
    interval = _Interval(before, after, size)
    named = {name: value(interval) for name, value in VALUES.items() if f"{{{name}}}" in SAID[case]}
    fields = {name: Bytes(after[name]) for name in FIELDS if f"{{{name}}}" in SAID[case]}
    return text(SAID[case], **named, **fields)


def seconds_between(before: Row, after: Row) -> float | None:
    """Return the time between two readings; None without a clock."""
    if before["seconds"] is None or after["seconds"] is None:
        return None
    return float(after["seconds"] - before["seconds"])


def given_back(before: Row, after: Row) -> int | None:
    """Return bytes returned to the OS between two readings; None if unknown on either side.

    The result is the smaller of two numbers: the rise in HeapReleased, and the fall in retained
    heap. Either alone can change without a return to the OS: since Go 1.13 a fresh arena counts as
    released, and heap that becomes a stack no longer counts as heap.
    """
    released, retained = (
        change(before, after, name) for name in ("HeapReleased", "retained_bytes")
    )
    if released is None or retained is None:
        return None
    return min(released, -retained)


def change(before: Row, after: Row, field: str) -> int | None:
    """Return the change of a field; None if unknown on either side."""
    if before[field] is None or after[field] is None:
        return None
    return int(after[field] - before[field])


@dataclass(frozen=True, slots=True)
class _Interval:
    """The subject of a sentence: two readings, and a number of bytes."""

    before: Row
    after: Row
    size: int | None

    @property
    def seconds(self) -> float | None:
        return seconds_between(self.before, self.after)

    @property
    def released(self) -> int:
        return max(0, given_back(self.before, self.after) or 0)


def _lasting(interval: _Interval) -> Text:
    seconds = interval.seconds
    return Text("between these snapshots") if seconds is None else text("in {}", Seconds(seconds))


def _gone(interval: _Interval) -> Text:
    moved = given_back(interval.before, interval.after) or 0
    if moved < 0:
        return Text("More memory was reused than released")
    return (
        text("{} was released", Bytes(moved)) if moved else Text("Nothing was returned to the OS")
    )


def _to_go(interval: _Interval) -> Text:
    if not interval.released:
        return Text(": the scavenger sleeps between its steps")
    if not interval.seconds or not interval.size:
        return Text(" and should follow")
    left = interval.size * interval.seconds / interval.released
    return text(" and should follow in {} at this rate", Seconds(left))


def _goal(interval: _Interval) -> Text:
    """Name the scavenger's goal; before Go 1.13, the heap refills up to NextGC instead."""
    goal = interval.after["goal_bytes"]
    if goal is None:
        return text("the heap refills up to NextGC, {}", Bytes(interval.after["NextGC"]))
    return text("scavenger's goal: {} retained", Bytes(goal))


def _in_rss(interval: _Interval) -> Text:
    """Say how much of the excess can be resident, if that is less."""
    size, resident = interval.size or 0, interval.after["idle_resident_bytes"]
    if resident is None or resident >= size:
        return Text()
    return text(" At most {} of that is in RSS.", Bytes(resident))


def _kept(interval: _Interval) -> Text:
    """Say that the goal keeps the idle heap, and how little is above the goal."""
    due, size, goal = _due(interval), Bytes(interval.size), Bytes(interval.after["goal_bytes"])
    if not due:
        words = (
            "{} is idle but kept for reuse: retained heap is {}, {} the scavenger's goal of {} ({})"
        )
        retained = Bytes(interval.after["retained_bytes"])
        if _by(interval) == BY["steady"]:  # below an upper bound of the goal proves nothing
            return text(_KEPT_BELOW, size, retained, goal)
        if text("{}", retained) == text("{}", goal):
            return text(_KEPT_AT, size, goal, _by(interval))
        return text(words, size, retained, _side(interval), goal, _by(interval))
    kept = (interval.size or 0) - due
    if not kept:
        words = (
            "{} of idle heap is above the scavenger's goal of {} ({}), but less than a tenth "
            "of the goal"
        )
        return text(words, size, goal, _by(interval))
    words = (
        "{} of the {} of idle heap is kept for reuse, within the scavenger's goal of {} ({}). The "
        "other {} is above the goal, by less than 10 % of the goal"
    )
    return text(words, Bytes(kept), size, goal, _by(interval), Bytes(due))


_KEPT_AT = "{} is idle but kept for reuse: retained heap is at the scavenger's goal of {} ({})"
_KEPT_BELOW = (
    "{} is idle and most likely kept for reuse: retained heap is {}, and the scavenger's goal is "
    "at most {}"
)


def _due(interval: _Interval) -> int:
    above = interval.after["above_goal_bytes"] or 0
    return int(min(above, interval.size or 0))


def _side(interval: _Interval) -> Text:
    """Say on which side of the goal the retained heap is."""
    beyond = interval.after["retained_bytes"] - interval.after["goal_bytes"]
    return Text("above" if beyond > 0 else "below")


def _idle(interval: _Interval) -> Text:
    """Say how little heap is idle, compared with RSS."""
    if not interval.size:
        return Text("Almost no idle heap is left to release")
    least = Text()  # a few bytes need no comparison
    if interval.size >= MIN_BYTES:
        is_known = interval.after["rss_bytes"] is not None
        least = text(", under a tenth of {}", "RSS" if is_known else "what Go has mapped")
    return text("Little is left to release: {} of heap is idle{}", Bytes(interval.size), least)


def _by(interval: _Interval) -> Text:
    by_limit = interval.after["paced_goal_bytes"] != interval.after["goal_bytes"]
    paced_by = interval.after["paced_by"] or "steady"
    return Text("set by GOMEMLIMIT" if by_limit else BY[paced_by])


def _free_slots(interval: _Interval) -> int:
    return max(0, int(interval.after["HeapInuse"] - interval.after["HeapAlloc"]))


def _beyond(interval: _Interval) -> Text:
    """Say how many of the free slots cannot be filled before the next GC, if not all can."""
    if interval.size == _free_slots(interval):
        return Text()
    return text(
        "; the next GC starts before {} of the free slots can be refilled", Bytes(interval.size)
    )


def _limit_rule(interval: _Interval) -> Text:
    if interval.after["limit_goal_bytes"] is None:
        return Text(
            "allocating goroutines release memory at the limit itself, because a bug in Go 1.19 "
            "to 1.21 disables the background goal (golang/go#62449)"
        )
    return Text("the background scavenger releases down to 0.95 × GOMEMLIMIT")


# Values in the sentences: fields of the later reading, and values computed from both.
FIELDS = (
    "retained_bytes", "NextGC", "HeapInuse", "mapped_bytes", "memory_limit_bytes",
)  # fmt: skip
VALUES: dict[str, Callable[[_Interval], Text]] = {
    "size": lambda interval: Bytes(interval.size),
    "lasting": _lasting,
    "gone": _gone,
    "to_go": _to_go,
    "idle": _idle,
    "goal": _goal,
    "in_rss": _in_rss,
    "kept": _kept,
    "slots": lambda interval: Bytes(_free_slots(interval)),
    "beyond": _beyond,
    "limit_rule": _limit_rule,
}
