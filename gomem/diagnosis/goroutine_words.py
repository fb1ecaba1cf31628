"""What goroutines show about a process: how many wait where, why it crashed, and leaks."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pandas as pd

from gomem.causes.commands import (
    CAPTURE_ONCE,
    CAPTURE_THE_NEXT_RUN,
    TAKE_GOROUTINES,
    TAKE_HEAP_PROFILE,
    WHERE_THEY_WAIT,
)
from gomem.diagnosis.known_goroutines import (
    connection_words,
    leak_test_words,
    one_type_words,
    state_words,
    step_of_connections,
    step_of_test,
)
from gomem.diagnosis.level_at_end import level_count_words, starts_words
from gomem.facts.goroutines import GOROUTINE, LEAKS, GoroutineCount
from gomem.inputs.goroutines.crash import (
    ALLOCATING,
    DEADLOCK,
    NO_THREAD,
    OUT_OF_MEMORY,
    STACK_OVERFLOW,
    asked_words,
    refused_words,
)
from gomem.inputs.goroutines.faults import FAULTS, fault_words, step_after
from gomem.inputs.pprof.calls.names import can_be_mended, in_standard_library, of_the_runtime
from gomem.inputs.pprof.count_text import NO_HEAD, NO_TOTAL
from gomem.inputs.processes.other_systems import AT_COMMIT_LIMIT
from gomem.text import Age, Bytes, Command, Count, Function, Quoted, Text, joined, text
from gomem.units import is_unknown

if TYPE_CHECKING:
    from gomem.diagnosis.diagnosis import Diagnosis
    from gomem.diagnosis.listed_memory import Told
    from gomem.facts.moment import MomentFacts
    from gomem.inputs.goroutines.crash import Crash
    from gomem.inputs.goroutines.table import Goroutines

NAMED_STATES = 3
NAMED_CYCLE = 2  # functions
# goroutines: the minimum to mention, and the ratio to those alive
MANY_STARTED, STARTED_RATIO = 1_000_000, 100
_THE_WHOLE_DUMP = text(
    "Count the goroutines that wait there, and see whether the number grows: {}.", TAKE_GOROUTINES
)
NO_BYTES = text(
    "See what holds memory, which a goroutine profile does not show: {}.", TAKE_HEAP_PROFILE
)
_BUILD_LESS = text(
    "Build on a machine with more memory, or one package at a time: {}.",
    Command("go build -p 1 ./..."),
)
_END_RECURSION = Text("Find what should end the recursion: the repeating frames are the cycle.")
_FRAMES_ARE_MISSING = Text(
    "Look at the frames below `goroutine N [running]`, which are not here: those that repeat are "
    "the cycle."
)
_LINES_ARE_MISSING = Text(
    "Look at the lines above that stack, which are not here: they say why the program crashed."
)
_READ_THE_STACKS = Text(
    "The process has ended, and lacked no memory: its stacks say what each goroutine waits for."
)
_CHECK_LENGTH = Text(
    "Find where the length of that object comes from, and limit it: a length that was read from "
    "input, or a buffer that takes a whole file."
)
ANYTHING = text(
    "Collect smaps, MemStats and a heap profile at one time: {}.",
    CAPTURE_ONCE,
)
RUNNING = "running"
CRASH_FRAME = b" fp=0x"  # in frames, as the runtime prints them when the program ends
ALLOCATES = frozenset({"runtime.growslice", "runtime.makeslice", "runtime.mallocgc"})
PARKED = frozenset({"runtime.gopark", "runtime.goparkunlock", "runtime.park"})
AT_WORK = frozenset({"running", "runnable", "syscall"})  # states other than waiting


def by_goroutines(diagnosis: Diagnosis, _: MomentFacts | None) -> Told | None:
    """The number of goroutines, and where most of those shown wait."""
    shown = [count for count in diagnosis.facts.goroutine_counts if count.frame is not None]
    if not shown:
        return None
    last, largest = shown[-1], _largest(diagnosis.facts.goroutine_groups)
    there, where = Count(int(largest["goroutines"])), str(largest["function"])
    state = state_words(largest, last, [dump.positions for dump in _dumps(diagnosis)])
    begun = "" if is_unknown(largest["created_by"]) else str(largest["created_by"])
    if where in PARKED and is_unknown(largest["state"]):
        words = (
            "{}; the stacks end where the runtime parks goroutines ({}), so no stack says where a "
            "goroutine waits."
        )
        return text(words, _how_many(diagnosis, last), Function(where)), False, WHERE_THEY_WAIT
    crash = _crash_of(diagnosis)
    is_told = crash is not None and (crash.why in FAULTS or of_the_runtime(where))
    if is_told and last.shown == 1:
        return _crash_words(diagnosis), False, _step_of(diagnosis)
    if not where and not is_unknown(largest["state"]):
        said = joined(" ", filter(None, (_crash_words(diagnosis), _states_alone(last))))
        return said, False, _step_of_crash(diagnosis, crash) or NO_BYTES
    if not where and _has_lost_lines(diagnosis, last):
        words = (
            "{}; the frames of {} could not be read, so it is unknown where these goroutines wait."
        )
        return text(words, _how_many(diagnosis, last), there), False, WHERE_THEY_WAIT
    is_alone = there.value == 1
    standing = ("is", "are") if largest["state"] in AT_WORK else ("waits", "wait")
    of_those = there if last.shown == last.goroutines else _of_those_shown(there, last)
    many = _how_many(diagnosis, last)
    sentence = text(
        "{}{} {} in {}{}{}.",
        many,
        "" if many.endswith("1 goroutine") else text("; {}", of_those),
        standing[0] if is_alone else standing[1],
        Function(where) if "." in where else "the runtime",
        state,
        text(", started by {}{}", Function(begun), _origin(diagnosis, where)) if begun else "",
    )
    whose = connection_words(where, int(largest["goroutines"])) or one_type_words(
        diagnosis.facts.goroutine_groups, largest
    )
    beside = (whose, leak_test_words(_dumps(diagnosis)), _started_words(diagnosis, last))
    alive = (starts_words(diagnosis), level_count_words(diagnosis))
    said = joined(" ", filter(None, (_crash_words(diagnosis), sentence, *beside, *alive)))
    return said, False, _step_of(diagnosis)


def _origin(diagnosis: Diagnosis, where: str) -> Text:
    """The function outside of the standard library that an ancestor ran; empty if none is shown."""
    frames = (dump.goroutines for dump in _dumps(diagnosis))
    shown = (stack for rows in frames for stack in rows.loc[rows["function"] == where, "ancestry"])
    names = (name for ancestry in shown for name in ancestry.split(";") if name)
    own = next((name for name in names if not in_standard_library(name)), "")
    return text(" for {}", Function(own)) if own else Text()


def _crash_of(diagnosis: Diagnosis) -> Crash | None:
    """The crash in the first dump that has one."""
    return next(filter(None, (dump.crash for dump in _dumps(diagnosis))), None)


def _step_of(diagnosis: Diagnosis) -> Text:
    """The next step; a crashed process cannot be measured any more."""
    crash, largest = _crash_of(diagnosis), _largest(diagnosis.facts.goroutine_groups)
    if any(dump.crash is not None and dump.crash.building for dump in _dumps(diagnosis)):
        return _BUILD_LESS  # the Go compiler crashed
    if step := _step_of_crash(diagnosis, crash) or step_of_test(_dumps(diagnosis), largest):
        return step
    groups, limits = diagnosis.facts.goroutine_groups, diagnosis.thresholds
    bounds = limits.most_share, limits.goroutine_growth
    if step := step_of_connections(str(largest["function"]), groups, *bounds):
        return step
    counts = [each for each in diagnosis.facts.goroutine_counts if each.frame is not None]
    is_cut = counts[-1].shown < limits.most_share * counts[-1].goroutines
    if is_cut or is_excerpt(diagnosis):
        return _THE_WHOLE_DUMP
    where, there = str(largest["function"]), int(largest["goroutines"])
    is_own = "." in where and not (in_standard_library(where) or of_the_runtime(where))
    if len(counts) > 1 or there < limits.goroutine_growth or not is_own:
        return NO_BYTES
    words = "See whether the number in {} grows: {}. A constant number can be by design."
    return text(words, Function(where), TAKE_GOROUTINES)


def is_excerpt(diagnosis: Diagnosis) -> bool:
    """Whether a dump of stacks has a few goroutines, and not the one of main.main.

    Each whole dump has that one, unless the program is a library of another, or a test.
    """
    dumps = _dumps(diagnosis)
    if len(dumps) != 1 or dumps[0].highest is None or dumps[0].leak_test or dumps[0].crash:
        return False
    shown = dumps[0].goroutines
    if int(shown["goroutines"].sum()) > diagnosis.thresholds.excerpt_goroutines:
        return False
    has_main = shown["stack"].str.contains(r"(?:^|;)(?:main|runtime)\.main(?:;|$)").any()
    is_crash = shown["state"].isin(AT_WORK).any()  # whose head is cut
    return not has_main and not is_crash


def _has_lost_lines(diagnosis: Diagnosis, counted: GoroutineCount) -> bool:
    """Whether some lines of the counted file could not be read."""
    return any(
        fault.source == counted.path and fault.where.startswith("line")
        for fault in diagnosis.capture.damaged
    )


def _how_many(diagnosis: Diagnosis, counted: GoroutineCount) -> Text:
    """The number of goroutines; a lower bound if the dump is cut off or an excerpt."""
    faults = [fault for fault in diagnosis.capture.damaged if fault.source == counted.path]
    has_no_total = any(fault.what in {NO_HEAD, NO_TOTAL} for fault in faults)
    is_cut = faults and any(dump.highest for dump in _dumps(diagnosis))
    count = Count(counted.goroutines, "goroutine")
    if is_excerpt(diagnosis):
        verb = "is" if counted.goroutines == 1 else "are"
        return text("At least {}, which {} shown", count, verb)
    return text("At least {}", count) if is_cut or has_no_total else text("{}", count)


def _largest(groups: pd.DataFrame) -> pd.Series:
    """The largest group; of equally large ones, a waiting group."""
    alike = groups[groups["goroutines"] == groups["goroutines"].iloc[0]]
    waiting = alike[~alike["state"].isin(AT_WORK)]
    return (waiting if len(waiting) else alike).iloc[0]


def _states_alone(counted: GoroutineCount) -> Text:
    """The states of goroutines, if only their headers were pasted."""
    assert counted.frame is not None
    by_state = counted.frame.groupby("state", sort=False)["goroutines"].sum()
    largest = by_state.sort_values(ascending=False, kind="stable").head(NAMED_STATES)
    states = joined(
        ", ", (text("{} in {}", Count(int(n)), str(name)) for name, n in largest.items())
    )
    longest = counted.frame["wait_seconds"].max()
    wait = Text() if is_unknown(longest) else text("; the longest wait is {}", Age(longest))
    count = Count(counted.goroutines, "goroutine")
    return text("{}: {}{}. No stack shows where they wait.", count, states, wait)


def by_crash(diagnosis: Diagnosis, _: MomentFacts | None) -> Told | None:
    """Why the program crashed, if the dump shows none of its goroutines."""
    said = _crash_words(diagnosis)
    crash = _crash_of(diagnosis)
    step = _step_of_crash(diagnosis, crash) or ANYTHING
    return (said, False, step) if said else None


def _step_of_crash(diagnosis: Diagnosis, crash: Crash | None) -> Text:
    """The next step after a crash; empty if it does not say one."""
    if crash is None:
        return Text()
    if crash.why == STACK_OVERFLOW:
        states = {state for dump in _dumps(diagnosis) for state in dump.goroutines["state"]}
        is_shown = bool(_cycle(diagnosis)) or RUNNING in states
        return _END_RECURSION if is_shown else _FRAMES_ARE_MISSING
    if crash.why in FAULTS:
        return step_after(crash.why).sentence()
    if refused := refused_words(crash):
        return Text(refused[1]).sentence()
    if _is_huge(diagnosis, crash):
        return _CHECK_LENGTH
    return {OUT_OF_MEMORY: CAPTURE_THE_NEXT_RUN, DEADLOCK: _READ_THE_STACKS}.get(crash.why, Text())


def by_runtime_alone(diagnosis: Diagnosis, _: MomentFacts | None) -> Told | None:
    """Say that the dump has only the runtime's own goroutines."""
    frames = [dump.goroutines for dump in _dumps(diagnosis)]
    own = pd.concat(frames) if frames else pd.DataFrame()
    if own.empty or not own["of_the_runtime"].all():
        return None
    states = own.groupby("state", sort=False)["goroutines"].sum()
    named = joined(", ", map(str, states.index[:NAMED_STATES]))
    if headless := _headless_words(diagnosis):
        return headless, False, _LINES_ARE_MISSING
    count = Count(int(own["goroutines"].sum()), "goroutine")
    words = "{} here, of the runtime's own ({}): none of the program's is shown."
    files = (file for file in diagnosis.capture.files if file.kind.name == "goroutines")
    has_ended = any(CRASH_FRAME in file.source.data for file in files)
    return text(words, count, named), False, _LINES_ARE_MISSING if has_ended else WHERE_THEY_WAIT


def _headless_words(diagnosis: Diagnosis) -> Text:
    """What the program did in a stack whose header is missing; empty without one of its own."""
    stack = next(filter(None, (dump.headless for dump in _dumps(diagnosis))), ())
    own = [name for name in stack if not of_the_runtime(name)]
    if not own:
        return Text()
    allocates = next((name for name in stack if name in ALLOCATES), "")
    does = text(" ({})", Function(allocates)) if allocates else Text()
    by = joined("", (text(", called by {}", Function(name)) for name in own[1 : NAMED_STATES + 1]))
    words = "The text begins within a goroutine, whose header is missing: it is in {}{}{}."
    return text(words, Function(own[0]), does, by)


def _dumps(diagnosis: Diagnosis) -> list[Goroutines]:
    """The parsed dumps of the last moment."""
    moments = [*diagnosis.capture.by_moment.values()]
    files = moments[-1].artefacts if moments else ()
    return [file.parsed for file in files if file.kind.name == "goroutines"]


def _started_words(diagnosis: Diagnosis, counted: GoroutineCount) -> Text:
    """The number of goroutines started, by the highest ID, if far above the number alive."""
    highest = max((dump.highest or 0 for dump in _dumps(diagnosis)), default=0)
    if highest < max(MANY_STARTED, STARTED_RATIO * counted.goroutines):
        return Text()
    words = "The highest goroutine ID is {}: about so many goroutines have been started."
    return text(words, Count(highest))


def _crash_words(diagnosis: Diagnosis) -> Text:
    """Why the program of the last dump crashed; empty if unknown."""
    crash = _crash_of(diagnosis)
    if crash is None:
        return Text()
    if crash.why == STACK_OVERFLOW:
        return _overflow_words(diagnosis, crash)
    if crash.why in FAULTS:
        return fault_words(crash.why, crash.message, crash.callers)
    if crash.why == DEADLOCK:
        return Text("The runtime reported a deadlock: no goroutine could run any more.")
    if crash.why == ALLOCATING:
        return text("The goroutine that is running was {}.", asked_words(crash))
    return _out_of_memory_words(crash)


def _out_of_memory_words(crash: Crash) -> Text:
    """What the program asked for as it ran out of memory, and what limited it."""
    asked = asked_words(crash)
    if crash.building:
        words = "The Go compiler ran out of memory{} while it built {}; your program did not run."
        return text(words, text(", {}", asked) if asked else "", Quoted(crash.building))
    said = text("The program ran out of memory{}.", text(", {}", asked) if asked else "")
    refused = refused_words(crash)
    more = Text(AT_COMMIT_LIMIT) if crash.is_at_commit_limit else Text()
    more = more if refused is None else refused[0]
    told = (said if crash.why != NO_THREAD else "", more.sentence() if more else "")
    return joined(" ", filter(None, told))


def _is_huge(diagnosis: Diagnosis, crash: Crash) -> bool:
    """Whether a single object was too large, rather than what the program retained."""
    size, limits = crash.asked_bytes, diagnosis.thresholds
    if not crash.is_one_object or size is None:
        return False
    least = limits.huge_object_share * (crash.in_use_bytes or crash.heap_bytes or 0)
    return size >= max(limits.huge_object_bytes, least)


def _overflow_words(diagnosis: Diagnosis, crash: Crash) -> Text:
    """The stack limit that was reached, and the functions in the recursion."""
    limit = text(" of {}", Bytes(crash.limit_bytes)) if crash.limit_bytes else Text()
    again = _cycle(diagnosis)
    cycle = Text("it called itself without end, or too deep")
    if again:
        named = joined(" and ", map(Function, again))
        verb = "call each other" if again[1:] else "calls itself"
        cycle = text("{} {} without end, or too deep", named, verb)
    words = "The stack of a goroutine reached its limit{}: {}. This is not a heap leak."
    return text(words, limit, cycle)


def _cycle(diagnosis: Diagnosis) -> list[str]:
    """The functions that the first stack has again and again, the most frequent first."""
    stacks = [stack.split(";") for dump in _dumps(diagnosis) for stack in dump.goroutines["stack"]]
    counts = Counter(name for stack in stacks[:1] for name in stack if can_be_mended(name))
    return [name for name, times in counts.most_common(NAMED_CYCLE) if times > 1]


def _of_those_shown(there: Count, counted: GoroutineCount) -> Text:
    """How many goroutines of an excerpt wait in one place."""
    if there.value == counted.shown:
        return text("the {} shown here", there)
    return text("{} of the {} shown here", there, Count(counted.shown))


def by_count_alone(diagnosis: Diagnosis, _: MomentFacts | None) -> Told | None:
    """The number of goroutines, if only a profile's first line was pasted."""
    alone = {
        moment
        for moment, profiles in diagnosis.capture.profiles.items()
        if set(profiles) == {GOROUTINE} and not profiles[GOROUTINE].total()
    }
    counts = [count for count in diagnosis.facts.goroutine_counts if count.moment in alone]
    if not counts or len(alone) != len(diagnosis.capture.profiles):
        return None
    sentence = (
        "{}, by the first line of the profile. The other lines would show where the goroutines "
        "wait."
    )
    return text(sentence, Count(counts[-1].goroutines, "goroutine")), False, WHERE_THEY_WAIT


def by_leaks(diagnosis: Diagnosis, _: MomentFacts | None) -> Told | None:
    """Whether the runtime found goroutines that can never run again."""
    looked = [known for known in diagnosis.capture.profiles.values() if LEAKS in known]
    if not looked:
        return None
    leaked = diagnosis.facts.leaked_goroutines
    found = "none" if leaked is None else Count(leaked.goroutines)
    sentence = "The runtime looked for goroutines that can never run again, and found {}."
    return text(sentence, found), False, NO_BYTES
