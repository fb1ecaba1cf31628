"""What incomplete MemStats show, such as the fields in a program's own log."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pandas as pd

from gomem.causes.commands import TAKE_HEAP_PROFILE, TAKE_MEMSTATS, TAKE_SMAPS, WHERE_THEY_WAIT
from gomem.diagnosis.live_by_fields import freed_words, hardly_freed_words, live_words
from gomem.diagnosis.other_runs import has_other_runs
from gomem.diagnosis.other_systems import counted_when_released
from gomem.diagnosis.swings import lows_of_swings, swing_words
from gomem.facts.retention import heap_of_log
from gomem.releases import Fact
from gomem.text import Bytes, Count, MomentName, Quoted, Seconds, Share, Text, joined, text
from gomem.units import GIB, MIB

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gomem.capture.capture import Capture
    from gomem.diagnosis.diagnosis import Diagnosis
    from gomem.diagnosis.listed_memory import Told
    from gomem.facts.moment import MomentFacts

TOTAL_ALLOCATED, TOTAL_OBJECTS = "/gc/heap/allocs:bytes", "/gc/heap/allocs:objects"
TOTAL_GCS = "/gc/cycles/total:gc-cycles"
# Fields with the size of the heap, closest to the live objects first, with their meaning.
LEVELS = {
    "HeapAlloc": "live objects and garbage not yet collected",
    "HeapInuse": "spans with objects, live or garbage, and their free slots",
    "HeapSys": "heap that Go reserved, in use and idle",
    "Sys": "all that Go reserved: heap, stacks, runtime",
}
OTHER_METRICS = {
    "/memory/classes/heap/objects:bytes": "live objects and garbage not yet collected",
    "/gc/heap/live:bytes": "the live heap as the last GC marked it",
    "/gc/heap/goal:bytes": "the heap goal of the next GC",
}
# Fields that are no size of the heap, but bound it or are in use beside it, with their meaning.
BESIDE_THE_HEAP = {
    "NextGC": "the heap goal of the next GC",
    "StackInuse": "goroutine stacks",
    "MSpanInuse": "data on spans",
    "GCSys": "data of the GC",
    "BuckHashSys": "the stacks of the memory profile",
    "OtherSys": "other data of the runtime",
    "StackSys": "goroutine stacks and those of threads",
    "MSpanSys": "data on spans",
    "HeapReleased": "heap returned to the OS",
}
NAMED = 3  # sizes
HEAD_BYTES = 1 << 16  # searched for the unit of sizes
_IN_GB = re.compile(rb"\d ?GB\b")
SEE_RSS = text("See what is in RSS: {}.", TAKE_SMAPS)
WHAT_NEXT = text("See what holds the heap: {}. {}", TAKE_HEAP_PROFILE, SEE_RSS)
SEE_IDLE = text(
    "See how much of the heap the runtime freed and keeps (HeapIdle, HeapReleased): {}. See what "
    "is in RSS: {}.",
    TAKE_MEMSTATS,
    TAKE_SMAPS,
)
_OBJECTS_IN_RSS = (
    "about {} of it ({}) is Go objects and garbage (HeapAlloc); no file breaks the rest down"
)
SEE_KEPT = text(
    "See how much of the idle heap is still in RSS: {}. To return it at once, call "
    "debug.FreeOSMemory().",
    TAKE_SMAPS,
)


def by_few_fields(diagnosis: Diagnosis, _: MomentFacts | None) -> Told | None:
    """The heap and its bound on RSS; whether the heap grew by a fifth; and the next step."""
    found = heap_level(diagnosis)
    if found is None:
        return None
    level, known = found
    first, last = known.iloc[0], known.iloc[-1]
    lows = lows_of_swings(known[level].astype(float).tolist(), diagnosis.thresholds.rise_ratio)
    low = min(lows, default=None)
    rounding = step_of(diagnosis.capture, level)
    grew = low is None and diagnosis.thresholds.has_grown(int(first[level]), int(last[level]))
    grew = grew and int(last[level]) - int(first[level]) > rounding
    of_sys = Text() if level == "Sys" else _of_sys(last, diagnosis.capture)
    step = WHAT_NEXT if grew else _next_step(diagnosis, last)
    of_level = _of_level(known, level, rounding)
    if low is not None:
        size = _size(int(last[level]), rounding)
        of_level = swing_words(known, level, size, lows, diagnosis.thresholds.rise_ratio)
    counts = counted_words(diagnosis, last["moment"], last["NumGC"])
    sentences = (
        of_level, live_words(diagnosis, known, level), _of_idle(last, known), of_sys,
        freed_words(diagnosis, last), counts, one_reading(diagnosis),
        _of_thousands(diagnosis.capture, level, int(last[level])),
    )  # fmt: skip
    return joined(" ", filter(None, sentences)), grew, step


def by_few_readings(diagnosis: Diagnosis, facts: MomentFacts | None) -> Told | None:
    """The same of a log with several readings, beside a heap profile, which shows one time."""
    has_several = len(diagnosis.capture.memstats) > 1
    return by_few_fields(diagnosis, facts) if has_several else None


def _next_step(diagnosis: Diagnosis, last: pd.Series) -> Text:
    """What to measure next: what the runtime keeps, if the live heap is small beside Sys."""
    (live, whole), limits = _live_of_whole(last), diagnosis.thresholds
    if pd.isna(live) or pd.isna(whole):
        return WHAT_NEXT
    if live < MIB:
        return SEE_RSS  # nothing is retained
    if live > limits.kept_live_share * whole or whole < limits.kept_bytes:
        return WHAT_NEXT
    is_known = pd.notna(last["HeapReleased"]) and pd.notna(last[["HeapIdle", "HeapInuse"]]).any()
    return SEE_KEPT if is_known else SEE_IDLE


def counted_words(diagnosis: Diagnosis, moment: str, collections: float | None = None) -> Text:
    """The goroutines of a snapshot, and its collections where they are given."""
    every = diagnosis.facts.goroutine_counts
    counts = [each for each in every if each.moment == moment and each.frame is None]
    said = [text("has {}", Count(counts[-1].goroutines, "goroutine"))] if counts else []
    if collections is not None and pd.notna(collections):
        said.append(text("has run {}", Count(int(collections), "GC")))
    return text("The process {}.", joined(" and ", said)) if said else Text()


def one_reading(diagnosis: Diagnosis) -> Text:
    """Say that MemStats of one moment show no growth; empty if other data show it."""
    capture, log = diagnosis.capture, diagnosis.collector
    has_trend = len(capture.by_moment) != 1 or (log is not None and not log.cycles.empty)
    if has_trend or diagnosis.baseline is not None or len(capture.memstats) != 1:
        return Text()
    if has_other_runs(capture):
        return Text()
    freed = hardly_freed_words(diagnosis, capture.memstats.iloc[-1])
    return joined(" ", filter(None, (freed, "One reading does not show whether memory grows.")))


def step_of(capture: Capture, level: str) -> int:
    """The rounding step of a size in a text, in bytes; 1 if it is exact."""
    steps = (getattr(file.parsed, "steps", {}) for file in capture.files)
    return max((own.get(level, 1) for own in steps), default=1)


def _of_thousands(capture: Capture, level: str, size: int) -> Text:
    """Say that a text's GB can be of 1000 MB, which no sum shows; empty if it prints none."""
    steps = ((file.source.data, getattr(file.parsed, "steps", {})) for file in capture.files)
    coarse = (data for data, own in steps if own.get(level, 1) > MIB)  # GB with decimals, too
    if size < GIB or not any(_IN_GB.search(data[:HEAD_BYTES]) for data in coarse):
        return Text()
    words = "The text's GB are taken for GiB; if they are 10⁹ bytes, these sizes are {} smaller."
    return text(words, Share(1 - 1000**3 / GIB))


def _size(size: int, step: int) -> Text:
    """A size; zero in a rounded unit is written as below that unit."""
    return text("under {}", Bytes(step)) if not size and step > 1 else text("{}", Bytes(size))


def heap_level(diagnosis: Diagnosis) -> tuple[str, pd.DataFrame] | None:
    """The field with the size of the heap, and the last process's dumps that have it."""
    earlier = {moment.name for moment in diagnosis.facts.of_earlier_processes}
    stats = diagnosis.capture.memstats
    stats = stats[~stats["moment"].isin(earlier)]
    stats = stats.assign(HeapAlloc=stats["HeapAlloc"].fillna(stats["Alloc"]))  # equal by definition
    if not stats[[*LEVELS]].notna().any(axis=None):
        stats = heap_of_log(diagnosis.capture)
    level = next((name for name in LEVELS if stats[name].notna().any()), None)
    return None if level is None else (level, stats[stats[level].notna()])


def later_words(diagnosis: Diagnosis, facts: MomentFacts | None) -> Text:
    """Later, incomplete MemStats than the snapshot that the verdict describes."""
    names = list(diagnosis.capture.by_moment)
    stats = diagnosis.capture.memstats
    if facts is None or facts.rss_bytes is not None or facts.name not in names or stats.empty:
        return Text()
    last = stats.iloc[-1]
    if names.index(last["moment"]) <= names.index(facts.name):
        return Text()
    named = [name for name in LEVELS if pd.notna(last[name])]
    sizes = joined(", ", (text("{} {}", name, Bytes(int(last[name]))) for name in named))
    words = "Later, {} has only some fields: {}."
    return text(words, MomentName(last["moment"]), sizes) if named else Text()


def level_beside_rss(diagnosis: Diagnosis, facts: MomentFacts | None) -> Text:
    """The size of the heap, if a log gives it with RSS but not enough to break RSS down."""
    if facts is None or facts.rss_bytes is None or facts.memstats is not None:
        return Text()
    found = heap_level(diagnosis)
    if found is None:
        return Text()
    level, known = found
    if facts.name in set(known["moment"]):
        of_level = _of_level(known, level, step_of(diagnosis.capture, level))
        row = known[known["moment"] == facts.name].iloc[-1]
        return joined(" ", filter(None, (of_level, _of_idle(row, known))))
    return _of_idle(known.iloc[-1], known) if diagnosis.capture.memstats.empty else Text()


def most_of_go(diagnosis: Diagnosis, facts: MomentFacts) -> Text:
    """What few fields say of Go's share of RSS: its upper bound, or else its objects."""
    stats = diagnosis.capture.memstats
    rows = stats[stats["moment"] == facts.name]
    if rows.empty or facts.memstats is not None:
        return Text()
    last, rss = rows.iloc[-1], facts.rss_bytes or 0
    found, of_go = _most_of_go(last), "Go's heap and runtime"
    if found is None and pd.notna(last["HeapInuse"]):
        found, of_go = (int(last["HeapInuse"]), "HeapInuse"), "Go's heap in use"
    objects = last[["HeapAlloc", "Alloc"]].max()
    if found is None and objects < rss and not _is_beyond_rss(diagnosis):  # False if unknown
        return text(_OBJECTS_IN_RSS, Bytes(int(objects)), Share(objects / rss))
    if found is None or found[0] >= rss:
        return Text()
    return text("at most {} of it is {} ({})", Bytes(found[0]), of_go, found[1])


def _is_beyond_rss(diagnosis: Diagnosis) -> bool:
    """Whether HeapAlloc was above RSS in a snapshot, so that not all of it is resident."""
    read = [(moment.told("HeapAlloc"), moment.rss_bytes) for moment in diagnosis.moments]
    return any((heap or 0) > rss for heap, rss in read if rss is not None)


def by_other_fields(diagnosis: Diagnosis, _: MomentFacts | None) -> Told | None:
    """Sizes on the last metrics page, if MemStats have none; None if there are none."""
    stats, rows = diagnosis.capture.memstats, diagnosis.capture.metrics
    metrics = dict(zip(rows["name"], rows["value"], strict=True))  # last value of each
    total = stats["TotalAlloc"].iloc[-1] if len(stats) else None
    allocated = metrics.get(TOTAL_ALLOCATED) if total is None or pd.isna(total) else int(total)
    said = [_unread_sizes(diagnosis.capture), _first_of(OTHER_METRICS, metrics)]
    said.append(_beside_the_heap(stats))
    if not any(said) and allocated:
        objects, cycles = (metrics.get(name) for name in (TOTAL_OBJECTS, TOTAL_GCS))
        of = text(" in {}", Count(int(objects), "object")) if objects else Text()
        ran = text(" and run {}", Count(int(cycles), "GC")) if cycles else Text()
        words = "The program has allocated {}{}{} since it started"
        total = text(words, Bytes(allocated), of, ran)
        said.append(text("{}; how much of that is live is unknown.", total))
    counts = diagnosis.facts.goroutine_counts
    step, grew = WHAT_NEXT, False
    if counts:
        first, last = counts[0], counts[-1]
        grew = last.goroutines >= diagnosis.thresholds.rise_ratio * first.goroutines
        step = step if any(said) else WHERE_THEY_WAIT
        words = text("The process has {}", Count(last.goroutines, "goroutine"))
        before = text("{} at {}", Count(first.goroutines), MomentName(first.moment))
        if grew and counts[1:]:
            words = text("{}, up from {}", words, before)
        elif counts[1:] and len({count.goroutines for count in counts}) == 1:
            words = text("{} in all {}", words, Count(len(counts), "reading"))
        elif last.goroutines != first.goroutines:
            words = text("{}, {}", words, before)
        said.append(words + ".")
    return (joined(" ", filter(None, said)), grew and bool(counts[1:]), step) if any(said) else None


def _unread_sizes(capture: Capture) -> Text:
    """Name the keys of a log that look like sizes and are not read; empty without them."""
    of_logs = (getattr(file.parsed, "unread", ()) for file in capture.files)
    names = dict.fromkeys(name for own in of_logs for name in own)
    if not names:
        return Text()
    shown = [Quoted(name) for name in list(names)[:NAMED]]
    more = f" and {len(names) - NAMED} more" * (len(names) > NAMED)
    words = "Not read: {}{}, as name and unit do not say which size that is."
    return text(words, joined(", ", shown), more)


def _beside_the_heap(stats: pd.DataFrame) -> Text:
    """The last known sizes other than the heap's, with their meanings; empty if there are none."""
    known = {name: stats[name].dropna() for name in BESIDE_THE_HEAP}
    sizes = {name: int(values.iloc[-1]) for name, values in known.items() if len(values)}
    told = [
        text("{} is {} ({})", name, Bytes(size), BESIDE_THE_HEAP[name])
        for name, size in sizes.items()
    ]
    if not told:
        return Text()
    words = "{}; the heap itself (HeapAlloc, HeapInuse) is not given."
    idle = _of_idle(stats.iloc[-1], stats)
    return joined(" ", filter(None, (text(words, joined(", ", told[:NAMED])), idle)))


def _first_of(meanings: Mapping[str, str], sizes: Mapping[str, float]) -> Text:
    """The first known size with its meaning."""
    name = next((name for name in meanings if sizes.get(name)), None)
    if name is None:
        return Text()
    return text("{} is {}: {}.", name, Bytes(sizes[name]), meanings[name])


def _of_level(known: pd.DataFrame, level: str, step: int) -> Text:
    """The heap at the last dump; with several dumps, also the first and the peak."""
    first, last = known.iloc[0], known.iloc[-1]
    size = _size(int(last[level]), step)
    if first["moment"] == last["moment"]:
        return text("{} is {}: {}.", level, size, LEVELS[level])
    before, most = _size(int(first[level]), step), int(known[level].max())
    within = Text()
    if not pd.isna(first["time"]) and first["time"] < last["time"]:
        within = text(" in {}", Seconds((last["time"] - first["time"]).total_seconds()))
    is_higher = most > max(int(first[level]), int(last[level]))
    peak = text(", peak {}", Bytes(most)) if is_higher else Text()
    if str(before) == str(size) and not peak:
        names = MomentName(first["moment"]), MomentName(last["moment"])
        return text("{} stayed at {} from {} to {}{}.", level, size, *names, within)
    began = text("{} at {}", before, MomentName(first["moment"]))
    ended = text("{} at {}", size, MomentName(last["moment"]))
    return text("{} went from {} to {}{}{}.", level, began, ended, within, peak)


def _of_idle(last: pd.Series, known: pd.DataFrame) -> Text:
    """Idle heap not returned to the OS, by the last dump that says how much was; else idle heap."""
    if pd.isna(_idle(last)):
        return Text()
    told = known[known["HeapReleased"].notna() & known.apply(_idle, axis=1).notna()]
    if told.empty:
        words = "{} of the heap is idle; no field says how much of that was returned to the OS."
        return text(words, Bytes(int(_idle(last))))
    by = told.iloc[-1]
    idle = int(_idle(by))
    at = text(" at {}", MomentName(by["moment"])) if by["moment"] != last["moment"] else ""
    kept = Bytes(max(idle - int(by["HeapReleased"]), 0))
    words = "{} of the heap is idle{}; {} of that is not returned to the OS."
    return text(words, Bytes(idle), at, kept)


def _idle(row: pd.Series) -> Any:
    """HeapIdle, or what other fields make of it; missing if they do not."""
    return row["HeapSys"] - row["HeapInuse"] if pd.isna(row["HeapIdle"]) else row["HeapIdle"]


def _of_sys(last: pd.Series, capture: Capture) -> Text:
    """The upper bound of Go's own share of RSS."""
    found = _most_of_go(last)
    if found is None and pd.notna(last["HeapSys"]) and pd.isna(last["HeapIdle"]):
        return _of_heap_sys(last)
    if found is None:
        return Text()
    said = text("At most {} of RSS is Go's heap and runtime ({}).", Bytes(found[0]), found[1])
    kept = counted_when_released(capture.go_version, int(last["Sys"]), int(last["Sys"]) - found[0])
    if kept and capture.go_version.certainly(Fact.MADV_FREE):
        return kept
    return joined(" ", filter(None, (said, kept)))


def _of_heap_sys(last: pd.Series) -> Text:
    """The heap obtained from the OS, or what of it is not returned, if a field says so."""
    size, released = int(last["HeapSys"]), last["HeapReleased"]
    if pd.isna(released) or pd.notna(last["HeapInuse"]):  # then the idle heap has been told
        return text("The heap has {} of the system (HeapSys).", Bytes(size))
    words = "{} of that is returned to the OS (HeapReleased), {} is not."
    return text(words, Bytes(int(released)), Bytes(max(size - int(released), 0)))


def _live_of_whole(last: pd.Series) -> tuple[Any, Any]:
    """What Go's heap has live, or else in use, and what Go or its heap holds, each if known."""
    if (of_go := _most_of_go(last)) is not None:
        return last["HeapAlloc"], of_go[0]
    live = last["HeapInuse"] if pd.isna(last["HeapAlloc"]) else last["HeapAlloc"]
    return live, last["HeapSys"] - last["HeapReleased"]


def _most_of_go(last: pd.Series) -> tuple[int, str] | None:
    """Memory that Go obtained from the OS and has not released, and the fields used."""
    if pd.isna(last["Sys"]):
        return None
    released = last["HeapReleased"]
    if pd.isna(released):
        return int(last["Sys"]), "Sys"
    return int(last["Sys"] - released), "Sys minus HeapReleased"
