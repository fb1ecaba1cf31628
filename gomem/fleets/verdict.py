"""The verdict on a fleet: how many instances are alike, and how the others differ."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gomem.analysis.fleet.builds import differing
from gomem.analysis.fleet.limits import with_limit
from gomem.analysis.fleet.population import populations
from gomem.analysis.fleet.quantities import BY_NAME
from gomem.analysis.fleet.thresholds import MIN_INSTANCES, NEAR_LIMIT
from gomem.inputs.answer import Answer
from gomem.inputs.schema import rows_of
from gomem.numbered import Collected, Instance
from gomem.text import Bytes, Command, Count, Function, Share, Text, Words, joined, number, text
from gomem.units import format_relative, is_unknown, minus

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gomem.fleets.fleet import Fleet

MAX_NAMED = 3  # outliers in the verdict; the others are counted
MAX_BUILDS = 2  # sentences on builds
HOUR = 3600.0
# Verbs for an instance by quantity, with its value.
DOES = {
    "goroutines": "has {} goroutines",
    "threads": "has {} threads",
    "open_fds": "has {} open files",
    "live_heap": "holds {} of live heap",
    "inuse_space": "has {} of live objects",
    "heap_objects": "has {} of heap objects",
    "heap_slack": "has {} of free slots in its heap",
    "heap_idle": "keeps {} of idle heap",
    "stacks": "has {} of goroutine stacks",
    "runtime_metadata": "has {} of Go runtime structures",
    "heap_released_resident": "has {} of released memory still in RSS",
    "heap_unexplained": "has {} of touched heap that holds nothing",
    "native": "has {} of C memory",
    "thread_stacks": "has {} of thread stacks",
    "mapped_files": "has {} of mapped files in RSS",
    "shared_memory": "has {} of shared memory",
    "gc_cpu_fraction": "spends {} of the CPU in the GC",
    "allocation_rate_bytes_per_second": "allocates {}",
    "stw_p99_seconds": "has p99 pauses of {}",
    "rss_bytes": "has an RSS of {}",
}
# The same without the value, if its findings name the cause.
LEAKS = {("goroutines", "goroutine-leak"): "leaks goroutines"}


@dataclass(frozen=True, repr=False)
class Verdict(Answer):
    """The verdict on a fleet.

    Attributes:
        sentence: How many instances are alike, and how the first few of the others differ.
        alike: Number of instances that are alike; None if there are too few to compare.
        instances: Number of all instances, read or not.
        compared: Number of instances of which enough is known to compare them.
        details: Further facts, in sentences.
        next_step: What to look at first; empty if there is nothing to do.
    """

    sentence: str
    alike: int | None
    instances: int
    compared: int
    details: tuple[str, ...] = ()
    next_step: str = ""

    def __repr__(self) -> str:
        return f"<Verdict: {self.sentence}>"


def verdict_of(fleet: Fleet) -> Verdict:
    """Return the verdict on a fleet, even if nothing is unusual."""
    total = len(_instances(fleet))
    compared = _compared(fleet)
    unlike = rows_of(fleet.outliers)
    details = (*_details(fleet, total - compared),)
    if not compared:
        few = Count(total, "instance")
        sentence = text("{} {} too few to compare: wanted {} of a service.", few,
                        "is" if total == 1 else "are", Words(str(MIN_INSTANCES)))  # fmt: skip
        return Verdict(sentence, None, total, 0, details)
    alike = compared - len(unlike)
    if not unlike:
        every = text("All {} are alike.", Count(compared, "instance"))
        return Verdict(every, alike, total, compared, details)
    named = [text("{} {}", _name(row), short_words(row)) for row in unlike[:MAX_NAMED]]
    if more := len(unlike) - MAX_NAMED:
        named += [text("and {} more are unlike them", Count(more))] if more > 0 else []
    sentence = text("{} of {} are alike; {}.", Count(alike), Count(compared, "instance"),
                    joined(", ", named))  # fmt: skip
    return Verdict(sentence, alike, total, compared, details, next_step_of(fleet, unlike[0]))


def outlier_sentence(row: Mapping[str, Any]) -> Text:
    """Describe a row of `OUTLIERS`: the value, the median of the others, the site, the cost.

    `pod-7 leaks goroutines: 4 201, where the median of the others is 1.`
    """
    pieces = [text("{} {}", _name(row), short_words(row))]
    if row["what"] == "setting":
        return Text(*pieces, ".")
    value, median = (number(row[key], row["unit"]) for key in ("value", "median"))
    if (row["part"], row["code"]) in LEAKS and row["confirmed"]:
        pieces.append(text(": {}, where the median of the others is {}", value, median))
    else:
        pieces.append(text(", where the median of the others is {}", median))
    if row["site"]:
        words = "most wait in {}" if row["part"] == "goroutines" else "most of it is {}'s"
        pieces.append(text(f"; {words}", Function(row["site"])))
    if row["what"] == "count" and not is_unknown(row["cost_bytes"]):
        pieces.append(text("; {} of memory came with them", Bytes(row["cost_bytes"])))
    if row["settings"]:
        pieces.append(text("; it runs with {}", row["settings"]))
    return Text(*pieces, ".")


def short_words(row: Mapping[str, Any]) -> Text:
    """Describe an instance for a list: `leaks goroutines`, `keeps 60 MiB of idle heap`."""
    if row["what"] == "setting":
        return text("runs with {}", row["settings"])
    leaks = LEAKS.get((row["part"], row["code"]))
    if leaks is not None and row["confirmed"]:
        return Text(leaks)
    return text(DOES[row["part"]], number(row["value"], row["unit"]))


def next_step_of(fleet: Fleet, row: Mapping[str, Any]) -> Text:
    """Return the command that shows more about an outlier."""
    found = fleet.captures[fleet.captures["capture"] == row["capture"]]
    path = str(found["path"].iloc[-1]) if len(found) else str(row["capture"])
    quotes = "'" * (shlex.quote(path) == f"'{path}'")
    named = Collected(path if quotes else shlex.quote(path))
    return Text(Command(text("gomem report {}{}{}", quotes, named, quotes)))


def _name(row: Mapping[str, Any]) -> Instance:
    return Instance(row["instance"])


def _instances(fleet: Fleet) -> set[tuple[str, str]]:
    """All instances, including those without a readable capture."""
    read = fleet.captures[["service", "instance"]].drop_duplicates()
    known = set(read.itertuples(index=False, name=None))
    names = {name for _, name in known}
    failed = fleet.failed[["service", "instance"]].drop_duplicates()
    return known | {
        (service, name)
        for service, name in failed.itertuples(index=False, name=None)
        if name not in names
    }


def _compared(fleet: Fleet) -> int:
    told: set[tuple[str, str]] = set()
    for population in populations(fleet.current):
        told |= {(population.service, name) for name in population.rows["instance"]}
    return len(told)


def _details(fleet: Fleet, uncompared: int) -> Iterator[str]:
    if uncompared and len(fleet.current):
        yield text("{} could not be compared.", Count(uncompared, "instance"))
    if unread := len(fleet.failed):
        yield text("{} could not be read.", Count(unread, "capture"))
    if near := len(fleet.near_limit):
        told = Count(with_limit(fleet.current))
        yield text("{} of {} use more than {} of their memory limit.", Count(near), told,
                   Share(NEAR_LIMIT))  # fmt: skip
    yield from _on_builds(fleet)
    yield from _on_drift(fleet)


def _on_builds(fleet: Fleet) -> Iterator[Text]:
    """Say where builds differ: then the release is the reason, not the instance."""
    found = differing(fleet.builds)
    names = {"rss_bytes": "RSS", "gc_cpu_fraction": "CPU in the GC", "goroutines": "goroutines"}
    for row in rows_of(found[found["name"].isin(list(names))].head(MAX_BUILDS)):
        moved = "" if is_unknown(row["change"]) else f" ({minus(format_relative(row['change']))})"
        middle = number(row["median"], row["unit"])
        yield text("{} differ{} by build: {} at {}{}.", names[row["name"]],
                   "" if row["name"] == "goroutines" else "s", middle, row["build"],
                   moved)  # fmt: skip


def _on_drift(fleet: Fleet) -> Iterator[Text]:
    rows = rows_of(fleet.drift)
    if rows:
        (row, *_) = rows
        rate = number(row["slope_per_second"] * HOUR, row["unit"])
        more = Count(len({(r["service"], r["instance"]) for r in rows}), "instance")
        yield text("{} drift upwards; the most {}: its {} grows by {} an hour.", more,
                   row["instance"], BY_NAME[row["name"]].words, rate)  # fmt: skip
