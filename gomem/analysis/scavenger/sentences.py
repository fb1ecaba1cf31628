"""A verdict about the scavenger in a sentence, with the numbers of its interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gomem.text import Bytes, Seconds, Text, text

if TYPE_CHECKING:
    from collections.abc import Callable

Row = dict[str, Any]
LITTLE = ("as-intended", "little")
ABOVE = "{size} is above the scavenger's goal of {goal}"
NOTHING_WENT = ABOVE + " and nothing was released {lasting}"
SAID = {
    (
        "as-intended",
        "going-back",
    ): "{gone} {lasting}. {size} is still above the scavenger's goal of {goal}{to_go}.",
    LITTLE: "There is {idle} idle heap to release.",
    ("kept-for-goal", "goal"): "{size} is idle but kept for reuse: the retained heap, "
    "{retained_bytes}, is {near} the scavenger's goal of {goal} ({by}).",
    ("kept-for-goal", "next-gc"): "{size} is idle but kept: the heap may grow to NextGC, {NextGC}, "
    "before the next GC.",
    ("kept-for-goal", "gogc-off"): "{size} is idle but kept: with GOGC=off there is no goal.",
    (
        "waiting",
        "five-minutes",
    ): "{size} is idle and waits: before Go 1.13 it is released after five "
    "minutes idle, in a round every 2.5 minutes.",
    ("waiting", "second-collection"): "{size} is idle and waits: the scavenger has no goal before "
    "the second GC.",
    ("waiting", "next-collection"): ABOVE + " and waits for the next GC: in each cycle "
    "the scavenger passes over the heap once, and this was freed behind it.",
    (
        "fragmented",
        "",
    ): "{slots} of {HeapInuse} in use are free slots{beyond}. A span with an object "
    "in it cannot be released.",
    ("limit-driven", ""): "What the runtime holds, {mapped_bytes}, is bounded by GOMEMLIMIT, "
    "{memory_limit_bytes}: {limit_rule}.",
    ("madv-free", ""): "{size} was released with MADV_FREE and stays in RSS until the kernel "
    "is short of memory.",
    ("huge-pages", ""): "{size} is resident beyond what Go counts, in huge pages.",
    ("dense-chunks", ""): ABOVE + " and stays: no GC has run "
    "since it became idle, and since Go 1.21 chunks of 4 MiB that were full in this cycle or the "
    "last are left alone until the next.",
    ("starved", "stopped"): "The process was stopped; " + ABOVE + " and could not be released.",
    ("starved", "asleep"): NOTHING_WENT
    + ": no rule keeps it, so most likely the scavenger gets no CPU, or sleeps off a step that "
    "took long by the wall clock; nr_throttled in the cgroup's cpu.stat would tell.",
    (
        "not-go-memory",
        "",
    ): "At least {size} of RSS is not Go's: the scavenger cannot release it.",
    ("unknown", "no-memstats"): "What the heap keeps is unknown: no moment has MemStats, "
    "runtime/metrics or a page of metrics.",
    ("unknown", "no-goal"): "Whether {retained_bytes} of retained heap is much is unknown: NextGC "
    "would tell.",
    ("unknown", "no-count"): NOTHING_WENT + "; NumGC would tell why.",
    ("unknown", "no-release"): NOTHING_WENT
    + "; why depends on the Go release: add --go-version, or the executable's build info.",
}
BY = {
    "collection": "1.1 × HeapInuse at the last GC × new NextGC / old NextGC",
    "steady": "at most 1.1 × NextGC and the free slots",
    "heap-goal": "1.1 × NextGC",
}


def sentence_of(before: Row, after: Row, case: tuple[str, str], size: int | None) -> Text:
    """The sentence of a verdict (code, rule) about so many bytes, between rows of `RETENTION`."""
    interval = _Interval(before, after, size)
    named = {name: value(interval) for name, value in VALUES.items() if f"{{{name}}}" in SAID[case]}
    fields = {name: Bytes(after[name]) for name in FIELDS if f"{{{name}}}" in SAID[case]}
    return text(SAID[case], **named, **fields)


def seconds_between(before: Row, after: Row) -> float | None:
    """The time between two readings; None without a clock."""
    if before["seconds"] is None or after["seconds"] is None:
        return None
    return float(after["seconds"] - before["seconds"])


def given_back(before: Row, after: Row) -> int | None:
    """Released less reused bytes; None if unknown on either side.

    It is by how much the retained heap fell and HeapReleased rose: from Go 1.13 on a fresh arena
    counts as given back, and what becomes a stack is no heap, and neither went back.
    """
    released, retained = (
        change(before, after, name) for name in ("HeapReleased", "retained_bytes")
    )
    if released is None or retained is None:
        return None
    return min(released, -retained)


def change(before: Row, after: Row, field: str) -> int | None:
    """The change of a field; None if unknown on either side."""
    if before[field] is None or after[field] is None:
        return None
    return int(after[field] - before[field])


@dataclass(frozen=True, slots=True)
class _Interval:
    """What a sentence is about: two readings, and how many bytes."""

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
    return Text("in between") if seconds is None else text("in {}", Seconds(seconds))


def _gone(interval: _Interval) -> Text:
    moved = given_back(interval.before, interval.after) or 0
    if moved < 0:
        return Text("More was reused than released")
    return text("{} was released", Bytes(moved)) if moved else Text("Nothing was released")


def _to_go(interval: _Interval) -> Text:
    if not interval.released:
        return Text(": the scavenger sleeps between its steps")
    if not interval.seconds or not interval.size:
        return Text(" and should follow")
    left = interval.size * interval.seconds / interval.released
    return text(" and should follow in {} at this rate", Seconds(left))


def _goal(interval: _Interval) -> Text:
    """Before Go 1.13 it is what the heap is filled to again."""
    goal = interval.after["goal_bytes"]
    return Bytes(interval.after["NextGC"] if goal is None else goal)


def _near(interval: _Interval) -> Text:
    is_above = interval.after["retained_bytes"] > interval.after["goal_bytes"]
    return Text("hardly above" if is_above else "within")


def _by(interval: _Interval) -> Text:
    by_limit = interval.after["paced_goal_bytes"] != interval.after["goal_bytes"]
    paced_by = interval.after["paced_by"] or "steady"
    return Text("what GOMEMLIMIT leaves" if by_limit else BY[paced_by])


def _free_slots(interval: _Interval) -> int:
    return max(0, int(interval.after["HeapInuse"] - interval.after["HeapAlloc"]))


def _beyond(interval: _Interval) -> Text:
    """How many of the free slots no pacing explains, where those are not all."""
    if interval.size == _free_slots(interval):
        return Text()
    return text(", {} of them beyond NextGC", Bytes(interval.size))


def _limit_rule(interval: _Interval) -> Text:
    if interval.after["limit_goal_bytes"] is None:
        return Text(
            "allocation releases memory at the limit itself, as Go 1.19 to 1.21 never reach "
            "their background goal, by a fault (golang/go#62449)"
        )
    return Text("the background scavenger works to 0.95 of it")


# What the sentences name: fields of the later reading as they are, and what is made of both.
FIELDS = ("retained_bytes", "NextGC", "HeapInuse", "mapped_bytes", "memory_limit_bytes")
VALUES: dict[str, Callable[[_Interval], Text]] = {
    "size": lambda interval: Bytes(interval.size),
    "lasting": _lasting,
    "gone": _gone,
    "to_go": _to_go,
    "idle": lambda interval: (
        text("only {} of", Bytes(interval.size)) if interval.size else Text("no resident")
    ),
    "goal": _goal,
    "near": _near,
    "by": _by,
    "slots": lambda interval: Bytes(_free_slots(interval)),
    "beyond": _beyond,
    "limit_rule": _limit_rule,
}
