"""Checks shared by several causes: do goroutines pile up, and what do they retain?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from gomem.analysis.profiles.own_code import Stacks
from gomem.analysis.series.goroutine_growth import DESCRIPTOR_BYTES, Waiting, stacks_of
from gomem.causes.evidence import known, rise_evidence
from gomem.causes.finding import Evidence, Site, placed
from gomem.causes.scores import bounded_log, probability_of
from gomem.causes.sites import part_words
from gomem.facts.callers import CALL_C
from gomem.facts.goroutines import STACKS_IN_USE
from gomem.facts.profiles import IN_USE
from gomem.inputs.kinds import METRICS_PAGE
from gomem.inputs.pprof.calls.filters import matches
from gomem.inputs.pprof.calls.names import can_be_mended, package_of
from gomem.text import Bytes, Count, Function, Text, text

if TYPE_CHECKING:
    import pandas as pd

    from gomem.causes.cause import Case
    from gomem.causes.thresholds import Thresholds
    from gomem.facts.callers import Caller
    from gomem.inputs.pprof.calls.filters import BoolArray

CODE = "goroutine-leak"
SYSCALL = "syscall"  # a state, also of goroutines in C
BOUND_IT = (
    "Bound the recursion, or use a loop with a stack of its own; keep large arrays off the stack."
)
END_THEM = (
    "Their number grows: give each a way to end, such as a context, a deadline or a done channel."
)


def features(case: Case) -> dict[str, float] | None:
    """Return the inputs of the score; None if the number of goroutines has not risen by enough."""
    count, thresholds = case.facts.goroutines.count, case.thresholds
    if count is None or count.grown < thresholds.goroutine_growth:
        return None
    if count.last < thresholds.goroutine_growth_ratio * count.first:
        return None
    return {
        "linear_share": count.linear_share,
        "late_share": count.late_share,
        "ratio": bounded_log(count.ratio),
        "readings": bounded_log(count.readings),
        "seconds": bounded_log(count.seconds),
    }


def probability(case: Case) -> float:
    """Return the probability that the rise is a leak; 0 if it is too small to score."""
    return probability_of(CODE, features(case))


def goroutines_pile_up(case: Case) -> bool:
    """Return whether the number of goroutines grows by enough to matter, and never fell far."""
    if case.facts.goroutines.comes_and_goes:  # those that leak do not end
        return False
    if case.facts.goroutines.count is not None:
        return probability(case) >= case.thresholds.possible_probability
    return _pile_up_uncounted(case)


def _pile_up_uncounted(case: Case) -> bool:
    """Return whether stacks and descriptors grow to the end, without two goroutine counts."""
    thresholds, growth, counts = case.thresholds, case.facts.goroutines, case.facts.goroutine_counts
    stacks = growth.stacks
    if counts and (stacks is None or counts[-1].goroutines < thresholds.uncounted_goroutines):
        return False  # a single count shows no growth
    if stacks is not None and (counts or stacks.grown >= thresholds.goroutine_bytes):
        is_line = stacks.linear_share >= thresholds.linear_share
        is_watched = stacks.readings >= thresholds.growth_readings
        if is_line and is_watched and stacks.ratio >= thresholds.goroutine_growth_ratio:
            return True
    return growth.descriptors_bytes >= thresholds.uncounted_goroutines * DESCRIPTOR_BYTES


def goroutines_hold(case: Case, sites: tuple[Site, ...]) -> bool:
    """Return whether accumulating goroutines could hold the growing part of the heap.

    They could not if unrelated functions allocate most of the growth. Related functions are those
    in which the goroutines wait, began, or were started; functions of the package in which the
    goroutines wait, unless that is main; and functions that allocated one object per new goroutine.

    Args:
        case: The case.
        sites: The allocators of the growth, the largest first; empty if unknown.
    """
    if not goroutines_pile_up(case):
        return False
    live = case.facts.live_heap
    others = _unrelated(case, sites)
    shown = sites[0].change / sites[0].share if sites and sites[0].share else 0.0
    grown = live.rise.grown if live is not None and live.rise is not None else 0.0
    whole = max(shown, grown)
    return sum(site.change for site in others) <= case.thresholds.most_share * whole


def grown_elsewhere(case: Case, sites: tuple[Site, ...]) -> tuple[Site, ...]:
    """Return the sites that grow beside accumulating goroutines, which cannot retain this part.

    A goroutine retains what its own stack refers to. So neither the site nor a function on the
    stacks that allocated most of its bytes is of a package on the stacks of the goroutines.

    Args:
        case: The case.
        sites: The allocators of the growth, the largest first; empty if unknown.
    """
    others, profiles = _unrelated(case, sites), case.facts.profiles
    packages = _their_packages(case) if others else frozenset()
    if not packages or profiles.grown_moment is None:
        return ()
    stacks = Stacks.of_profile(profiles.in_order[profiles.grown_moment], IN_USE)
    names = stacks.frames["function"]
    shared = stacks.which(lambda name: package_of(name) in packages)
    theirs = np.isin(np.arange(len(stacks.values)), stacks.frames.loc[shared, "sample"])
    found = []
    for site in others:
        made = stacks.frames.loc[names == site.own_function, "sample"].unique()
        of_theirs = stacks.values[made][theirs[made]].sum()
        if of_theirs <= case.thresholds.most_share * stacks.values[made].sum():
            found.append(site)
    grown = sum(site.change for site in found)
    return tuple(found) if grown >= case.thresholds.growth_few_bytes else ()


def _unrelated(case: Case, sites: tuple[Site, ...]) -> list[Site]:
    """Return the sites that do not look like those of the accumulating goroutines."""
    waiting = case.facts.goroutines.waiting
    if waiting is None:
        return []
    return [
        site
        for site in sites
        if not (_is_theirs(site.own_function, site.function, waiting) or _is_one_each(site, case))
    ]


def _their_packages(case: Case) -> frozenset[str]:
    """Return the packages on the stacks of the accumulating goroutines, without Go's library."""
    waiting = case.facts.goroutines.waiting
    frames = [count.frame for count in case.facts.goroutine_counts if count.frame is not None]
    if waiting is None or not frames or "stack" not in frames[-1]:
        return frozenset()
    wait_in = {waiting.function, *dict(waiting.shares)}
    stacks = frames[-1].loc[frames[-1]["function"].isin(wait_in), "stack"].astype("str")
    names = {name for stack in stacks for name in stack.split(";")}
    names |= {waiting.created_by, waiting.started_by, *waiting.begun}
    return frozenset(package_of(name) for name in names if can_be_mended(name))


def _is_one_each(site: Site, case: Case) -> bool:
    """Return whether a site allocated one object per new goroutine, by the rates of both.

    The goroutine that allocates a buffer need not be the goroutine that waits with the buffer.
    Rates are compared because a profile and a count are from different times.
    """
    live, count = case.facts.live_heap, case.facts.goroutines.count
    rise = None if live is None else live.rise
    if rise is None or count is None or not site.object_bytes or count.slope <= 0:
        return False
    if not case.facts.goroutines_are_timed:
        return False
    each = rise.slope * site.share / site.object_bytes / count.slope
    most = case.thresholds.one_each_ratio
    return 1 / most <= each <= most


def _is_theirs(own: str, function: str, waiting: Waiting) -> bool:
    """Return whether goroutines wait in a function, or in its package."""
    if own in {waiting.function, waiting.created_by, waiting.started_by, *waiting.begun}:
        return True
    package = package_of(waiting.function)
    return package != "main" and package_of(function) == package


def goroutines_heap_bytes(case: Case, sites: tuple[Site, ...]) -> float:
    """Return an upper bound of the heap held by these goroutines.

    The bound is the growth of the heap; if that is unknown, the in-use memory of these functions in
    a single profile.
    """
    live, waiting = case.facts.live_heap, case.facts.goroutines.waiting
    if live is not None and live.rise is not None:
        elsewhere = sum(site.change for site in grown_elsewhere(case, sites))
        is_theirs = goroutines_hold(case, sites)
        return max(0.0, live.rise.grown - elsewhere) if is_theirs else 0.0
    return 0.0 if waiting is None else in_use_bytes(case, waiting)


def in_use_bytes(case: Case, waiting: Waiting) -> float:
    """Return in-use memory of heap profiles by the functions in which goroutines wait or began."""
    in_use = case.facts.profiles.in_use_holders
    if in_use is None:
        return 0.0
    rows = in_use[["own_function", "function", "after"]].itertuples(index=False)
    return float(sum(size for own, function, size in rows if _is_theirs(own, function, waiting)))


def deep_recursion(case: Case) -> list[Caller]:
    """Return the program's functions with deep recursion on goroutine stacks."""
    least = case.thresholds.recursion_depth
    return [caller for caller in case.facts.callers.recursing if caller.depth >= least]


def recursion_in(waiting: Waiting | None, case: Case) -> bool:
    """Return whether the goroutines wait in a function that recurses deeply: not for an event."""
    return waiting is not None and any(
        caller.function == waiting.function for caller in deep_recursion(case)
    )


def stacks_words(case: Case) -> Text:
    """Say what stacks of new goroutines take, as the end of a title; empty if each is small."""
    growth = case.facts.goroutines
    if growth.count is None or growth.stacks is None or growth.count.grown <= 0:
        return Text()
    each = growth.stacks.grown / growth.count.grown
    if each < case.thresholds.stack_each_bytes:
        return Text()
    words = "; their stacks, about {} each, take {}"
    return text(words, Bytes(round(each)), Bytes(round(growth.stacks.grown)))


def stacks_evidence(case: Case) -> tuple[Evidence, ...]:
    """Return the rise of StackInuse, with the files that have it."""
    stacks = case.facts.goroutines.stacks
    read = [m for m in case.facts.of_last_process if m.told(STACKS_IN_USE) is not None]
    if stacks is None or not read:
        return ()
    return rise_evidence([m.path("memstats") for m in read], STACKS_IN_USE, stacks)


def opened_words(case: Case) -> Text:
    """Say who calls the library in which goroutines wait, as the end of a title; else empty."""
    opened, waiting = opening(case), case.facts.goroutines.waiting
    if not opened or waiting is None:
        return Text()
    return text("; {} calls {}", Function(opened[0].function), package_of(waiting.function))


def opening(case: Case) -> tuple[Caller, ...]:
    """Return the program's functions that call the library in which the new goroutines wait."""
    waiting, callers = case.facts.goroutines.waiting, case.facts.callers
    if waiting is None:
        return ()
    begun = {waiting.created_by, waiting.started_by} - {""}
    if not all(map(callers.is_of_a_library, begun)):
        return ()
    return callers.opening(waiting.function)


def where_words(waiting: Waiting | None, thresholds: Thresholds) -> Text:
    """Say where most new goroutines wait, and who started them; empty if unknown."""
    if waiting is None or not waiting.function:
        return Text()
    tied = [name for name, share in waiting.shares[:2] if share == waiting.shares[0][1]]
    if all(tied[1:]) and tied[1:]:
        words = ", as many waiting in {} as in {}{}"
        return text(words, *map(Function, tied), begun_words(waiting))
    share = waiting.there / max(1, waiting.of_all)
    many = "all" if share >= 1 else part_words(share, thresholds)
    return text(", {} waiting in {}{}", many, Function(waiting.function), begun_words(waiting))


def begun_words(waiting: Waiting) -> Text:
    """Say who started the goroutines, as the end of a clause; empty if unknown."""
    if waiting.started_by not in ("", waiting.function):
        return text(", started by {}", Function(waiting.started_by))
    if waiting.created_by not in ("", waiting.function) and not waiting.started_by:
        return text(", in goroutines that run {}", Function(waiting.created_by))
    return Text()


def where_evidence(case: Case, frame: pd.DataFrame | None, path: str) -> list[Evidence]:
    """Return where most goroutines wait, for what and how long, from a profile or a dump.

    A profile also has the line in which they wait, by the program's own innermost function.
    """
    if frame is None or frame.empty:
        return []
    by_function = frame.groupby("function")["goroutines"].sum()
    function, there = str(by_function.idxmax()), int(by_function.max())
    field = text("goroutines in {}", _placed(case, function, path) if function else "the runtime")
    return [
        Evidence(path, field, there, "count"),
        *_waits(frame[frame["function"] == function], path),
    ]


def starts_evidence(case: Case, path: str) -> tuple[Evidence, ...]:
    """Return the numbers of the goroutines at one place, in the order of all that were started."""
    starts = case.facts.goroutine_starts
    if starts is None or len(starts.numbers) < case.thresholds.goroutine_growth:
        return ()
    low, high = starts.numbers[0], starts.numbers[-1]
    ends = {"lowest goroutine number there": low, "highest goroutine number there": high}
    return known(path, "count", ends | {"highest goroutine number of all": starts.highest})


def starts_words(case: Case) -> Text:
    """Say that goroutines at one place were started all along, by their numbers; else empty."""
    starts = case.facts.goroutine_starts
    if starts is None or not starts.come_all_along:
        return Text()
    words = (
        "{} of the {} goroutines started so far are there, as many among the oldest as among the "
        "newest: more keep coming{}."
    )
    end = ", and hardly any end" if hardly_any_end(case) else ""
    return text(words, Count(len(starts.numbers)), Count(starts.highest), end)


def hardly_any_end(case: Case) -> bool:
    """Return whether nearly all goroutines started so far wait at one place, started all along."""
    starts = case.facts.goroutine_starts
    if starts is None or not starts.come_all_along:
        return False
    return len(starts.numbers) >= case.thresholds.nearly_all_share * starts.highest


def call_c(frame: pd.DataFrame) -> BoolArray:
    """Return which goroutines of a dump have a call of C on their stack."""
    return matches([*stacks_of(frame).str.replace(";", "\n")], f"(?m){CALL_C}")


def occupy_threads(frame: pd.DataFrame) -> BoolArray:
    """Return which goroutines of a dump are in a system call or in C; without states, in C."""
    if "state" not in frame or frame["state"].isna().all():
        return call_c(frame)
    return (frame["state"] == SYSCALL).fillna(False).to_numpy(np.bool_)


def open_files_evidence(case: Case) -> tuple[Evidence, ...]:
    """Return the open files if their number rises steadily too: a socket is one."""
    files = case.facts.open_files
    if files is None or files.grown <= 0 or files.linear_share < case.thresholds.linear_share:
        return ()
    pages = [m.path(METRICS_PAGE) for m in case.facts.moments if m.open_files is not None]
    return rise_evidence(pages, "open files", files, "count")


def _placed(case: Case, function: str, path: str) -> Text:
    """Return a function with the line in which most of its goroutines wait, if a profile says."""
    for by in case.facts.callers.waiting:
        if by.function == function and by.path == path:
            return placed(function, by.file, by.line)
    return Text(Function(function))


def _waits(there: pd.DataFrame, path: str) -> list[Evidence]:
    """Return what most goroutines wait for, and the longest wait, from a dump."""
    stated = there[there["state"].notna()] if "state" in there else there.iloc[:0]
    if stated.empty:
        return []
    by_state = stated.groupby("state")["goroutines"].sum()
    waits = [
        Evidence(path, f"goroutines in state {by_state.idxmax()}", int(by_state.max()), "count")
    ]
    longest = stated["wait_seconds"].max()
    if longest > 0:
        waits.append(Evidence(path, "longest wait, at least", float(longest), "s"))
    return waits
