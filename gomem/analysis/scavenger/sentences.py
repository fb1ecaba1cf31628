"""A verdict about the scavenger in a sentence, with the numbers of its interval."""

from __future__ import annotations

from typing import Any

from gomem.units import format_bytes, format_fraction, format_seconds

Row = dict[str, Any]
LITTLE = ("as-intended", "little")
SAID = {
    ("as-intended", "going-back"): "{gone} {lasting}; {size} lies above the goal of {goal}{to_go}.",
    LITTLE: "There is little to give back: {idle} is idle and kept.",
    ("kept-for-goal", "goal"): "{size} is idle and kept for reuse: what is retained, "
    "{retained_bytes}, is {near} the goal of {goal} ({by}).",
    ("kept-for-goal", "next-gc"): "{size} is idle and kept: the heap may grow to NextGC, {NextGC}, "
    "before the next collection.",
    ("kept-for-goal", "gogc-off"): "{size} is idle and kept: with GOGC=off there is no goal.",
    ("waiting", "five-minutes"): "{size} is idle and waits: before Go 1.13 it goes back once it "
    "has lain idle for five minutes, in the next of the rounds that come every 2.5 minutes.",
    ("waiting", "second-collection"): "{size} is idle and waits: the scavenger has no goal before "
    "the second collection.",
    ("waiting", "next-collection"): "{size} above the goal of {goal} waits for the next "
    "collection: in each cycle the scavenger passes over the heap once, and this was freed behind "
    "it.",
    ("fragmented", ""): "{size} of the heap in use is free slots: objects fill {filled} of "
    "{HeapInuse}, and a span with one object in it cannot go back.",
    ("limit-driven", ""): "What the runtime holds, {mapped_bytes}, is bounded by GOMEMLIMIT, "
    "{memory_limit_bytes}: {limit_rule}.",
    ("madv-free", ""): "{size} was given back with MADV_FREE and stays resident until the kernel "
    "is short of memory.",
    ("huge-pages", ""): "{size} is resident beyond what Go counts, in huge pages.",
    ("dense-chunks", ""): "{size} lies above the goal of {goal} and stays: no collection has run "
    "since it became idle, and since Go 1.21 chunks of 4 MiB that were full in this cycle or the "
    "last are left alone until the next.",
    ("starved", "stopped"): "The process was stopped; {size} above the goal of {goal} could not go "
    "back.",
    ("starved", "asleep"): "{size} lies above the goal of {goal} and nothing went back {lasting}: "
    "no rule keeps it, so most likely the scavenger gets no CPU, or sleeps off a step that took "
    "long by the wall clock; nr_throttled in the cgroup's cpu.stat would tell.",
    ("not-go-memory", ""): "{size} of RSS is not Go's: the scavenger can give none of it back.",
    ("unknown", "no-memstats"): "What the heap keeps is unknown: no moment has MemStats, "
    "runtime/metrics or a page of metrics.",
    ("unknown", "no-goal"): "Whether {retained_bytes} of retained heap is much is unknown: NextGC "
    "would tell.",
    ("unknown", "no-count"): "{size} lies above the goal of {goal} and nothing went back "
    "{lasting}; the number of collections (NumGC) would tell why.",
    ("unknown", "no-release"): "{size} lies above the goal of {goal} and nothing went back "
    "{lasting}; why depends on the Go release: add --go-version, or the executable's build info.",
}
BY = {
    "collection": "1.1 × HeapInuse at the last collection × new NextGC / old NextGC",
    "steady": "at most 1.1 × NextGC and the free slots",
    "heap-goal": "1.1 × NextGC",
}


def sentence_of(before: Row, after: Row, case: tuple[str, str], size: int | None) -> str:
    """The sentence of a verdict.

    Args:
        before: The row of `RETENTION` that the interval begins with; None for what is missing.
        after: The one that it ends with.
        case: The verdict's code and rule.
        size: How much it is about, in bytes.
    """
    return SAID[case].format_map(_Numbers(before, after, size))


def seconds_between(one: Row, other: Row) -> float | None:
    """The time from one reading to another; None where a clock is missing."""
    if one["seconds"] is None or other["seconds"] is None:
        return None
    return float(other["seconds"] - one["seconds"])


def given_back(before: Row, after: Row) -> int | None:
    """What went back, less what was taken again; None where one side does not say.

    It is by how much the retained heap fell and HeapReleased rose: from Go 1.13 on a fresh arena
    counts as given back, and what becomes a stack is no heap, and neither went back.
    """
    released, retained = (change(before, after, one) for one in ("HeapReleased", "retained_bytes"))
    if released is None or retained is None:
        return None
    return min(released, -retained)


def change(before: Row, after: Row, field: str) -> int | None:
    """By how much a field grew; None where one side does not say."""
    if before[field] is None or after[field] is None:
        return None
    return int(after[field] - before[field])


class _Numbers(dict[str, str]):
    """The numbers that a sentence names, put into words when it does."""

    def __init__(self, before: Row, after: Row, size: int | None) -> None:
        super().__init__(size=format_bytes(size))
        self._before, self._after, self._above = before, after, size

    def __missing__(self, name: str) -> str:
        made = getattr(self, f"_{name}", None)
        return str(made()) if made is not None else format_bytes(self._after[name])

    def _lasting(self) -> str:
        seconds = seconds_between(self._before, self._after)
        return "in between" if seconds is None else f"in {format_seconds(seconds)}"

    def _released(self) -> int:
        return max(0, given_back(self._before, self._after) or 0)

    def _gone(self) -> str:
        moved = given_back(self._before, self._after) or 0
        if moved < 0:
            return "More was taken again than went back"
        if not moved:
            return "Nothing went back"
        return f"{format_bytes(self._released())} went back"

    def _to_go(self) -> str:
        seconds = seconds_between(self._before, self._after)
        if not self._released():
            return ", and the scavenger sleeps between its steps"
        if not seconds or not self._above:
            return ", on its way"
        left = self._above * seconds / self._released()
        return f", on its way: {format_seconds(left)} at this rate"

    def _idle(self) -> str:
        return format_bytes(self._above) if self._above else "nothing"

    def _goal(self) -> str:
        """Before Go 1.13 it is what the heap is filled to again."""
        goal = self._after["goal_bytes"]
        return format_bytes(self._after["NextGC"] if goal is None else goal)

    def _near(self) -> str:
        above = self._after["retained_bytes"] > self._after["goal_bytes"]
        return "hardly above" if above else "not above"

    def _by(self) -> str:
        by_limit = self._after["paced_goal_bytes"] != self._after["goal_bytes"]
        return "what GOMEMLIMIT leaves" if by_limit else BY[self._after["paced_by"] or "steady"]

    def _filled(self) -> str:
        return format_fraction(self._after["HeapAlloc"] / max(1, self._after["HeapInuse"]))

    def _limit_rule(self) -> str:
        if self._after["limit_goal_bytes"] is None:
            return (
                "allocation gives memory back at the limit itself, as Go 1.19 to 1.21 never "
                "reach their background goal, by a fault (golang/go#62449)"
            )
        return "the background scavenger works to 0.95 of it"
