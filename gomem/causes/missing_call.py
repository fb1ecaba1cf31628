"""Infers which call is most likely missing from what accumulates, by `signatures.toml`.

Each row of the file is one call. A missing call is added to an existing finding; it never creates
one. A row applies if it explains more than half of the increase: in goroutines (each counted with
those that come with it), or in memory (by the stacks that allocated it).
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from gomem.analysis.profiles.own_code import IN_USE
from gomem.causes.finding import MissingCall, Site
from gomem.causes.lock_holder import lock_holder
from gomem.causes.signatures import (
    ALLOCATED,
    FINALIZERS,
    GOROUTINES,
    LOCKS,
    NATIVE,
    RETAINED,
    THREADS,
    bare,
    inside_of_own,
    pattern_of,
    signature_of,
    signatures,
)
from gomem.causes.sites import last_table
from gomem.facts.callers import GOROUTINE, SINCE_START, Caller
from gomem.facts.profiles import ALLOCATED as ALLOC_SPACE
from gomem.inputs.pprof.calls.graph import MAX_STACKS
from gomem.inputs.pprof.calls.graph import stacks_of as stacks_of_profile
from gomem.inputs.pprof.calls.names import can_be_mended, of_others
from gomem.inputs.pprof.calls.nodes import function_files, function_names
from gomem.text import Text
from gomem.units import is_unknown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

    from gomem.causes.cause import Case
    from gomem.causes.signatures import Signature
    from gomem.inputs.pprof.table import Profile

RUNS_FINALIZERS = "runtime.runfinq"  # up to Go 1.20, dumps leave it out
Stack = tuple[str, str, str]  # functions joined by `;`, wait reason, creator


class _Explained:
    """What each row explains, as far as stacks were added."""

    def __init__(self) -> None:
        self.rows: dict[str, Signature] = {}
        self.values: Counter[str] = Counter()
        self.own: defaultdict[str, Counter[str]] = defaultdict(Counter)  # by the own function

    def add(self, row: Signature, value: int, own: str) -> None:
        self.rows[row.name] = row
        self.values[row.name] += value
        self.own[row.name][own] += value

    def largest(self, beside: Mapping[str, int], enough: float) -> Signature | None:
        """Return the row that explains most, with what comes beside it; of equals, the first."""
        values = {
            name: value + sum(min(value, beside[other]) for other in self.rows[name].beside)
            for name, value in self.values.items()
        }
        order = [row.name for row in signatures() if row.name in values]
        most = max(order, key=lambda name: values[name], default=None)
        return None if most is None or values[most] <= enough else self.rows[most]


def of_goroutines(case: Case) -> MissingCall | None:
    """Return the call missing for goroutines that are new since the first count with stacks."""
    leaked, counts = case.facts.leaked_goroutines, case.facts.goroutine_counts
    frames = [count.frame for count in counts if count.frame is not None]
    if leaked is not None and case.facts.goroutines.count is None:
        frames = [leaked.frame]
    return _of_frames(case, frames, GOROUTINES)


def of_threads(case: Case) -> MissingCall | None:
    """Return the call missing in goroutines that each hold a thread, by their stacks."""
    frames = [count.frame for count in case.facts.goroutine_counts if count.frame is not None]
    return _of_frames(case, frames, THREADS)


def of_finalizer(case: Case) -> MissingCall | None:
    """Return the call missing in the blocking finalizer, or the Close that only this one calls."""
    running = case.facts.finalizing
    if running is None:
        return None
    stack = running.stack.split(";")
    inside, own = inside_of_own(stack)
    version = case.facts.go_version
    row = signature_of(inside, FINALIZERS, version, running.state)
    if row is not None:
        return _said(row, case, Counter({own: 1} if own else {}))
    row = signature_of([*map(bare, stack), RUNS_FINALIZERS], FINALIZERS, version)
    return None if row is None else _said(row, case, Counter())  # missing in the callers


def of_growth(case: Case, sites: Sequence[Site]) -> MissingCall | None:
    """Return the call that explains most of the growth of the functions whose objects grow."""
    came = _growth(case)
    return _of_table(case, sites) if came is None else _of_memory(case, sites, came, RETAINED)


def of_a_site(case: Case, sites: Sequence[Site]) -> MissingCall | None:
    """Return such a call; without one, the call that explains most of one function's growth."""
    came = _growth(case)
    if came is None:
        return _of_table(case, sites)
    each = (_of_memory(case, named, came, RETAINED) for named in (sites, *((s,) for s in sites)))
    return next((missing for missing in each if missing is not None), None)


def kept_words(case: Case, sites: Sequence[Site]) -> Text:
    """Say what keeps the memory of the library's function that allocated most of a growth."""
    came = _growth(case)
    if came is None:
        rows = _rows_of_table(case, ALLOCATED)
        found = next((row for row in rows if row.in_use), None)
    else:
        explained, whole = _explained(case, sites, came, ALLOCATED)
        found = explained.largest(Counter(), case.thresholds.most_share * whole)
    return Text() if found is None else Text(found.in_use)


def _growth(case: Case) -> _Allocated | None:
    """Return what is in use in the profile that shows the growth, and was not in the first one."""
    profiles = case.facts.profiles
    usable = [profile for profile in profiles.in_order.values() if _has(profile, IN_USE)]
    if not usable or profiles.grown_moment is None:
        return None
    late = profiles.in_order[profiles.grown_moment]
    return _allocated(late, None if late is usable[0] else usable[0], IN_USE)


def of_garbage(case: Case, sites: Sequence[Site]) -> MissingCall | None:
    """Return the call that is missing in the functions that allocated most over the capture."""
    profiles = case.facts.profiles.in_order.values()
    usable = [profile for profile in profiles if _has(profile, ALLOC_SPACE)]
    if not usable:
        return None
    came = _allocated(usable[-1], usable[0] if usable[1:] else None, ALLOC_SPACE)
    return _of_memory(case, sites, came, ALLOCATED)


def of_native(case: Case) -> MissingCall | None:
    """Return the call that is missing in the functions that call C most."""
    calling = {caller.function: caller.share for caller in case.facts.callers.calling_c}
    for row in signatures():
        if NATIVE not in row.of:
            continue
        callers = case.facts.callers.calling(pattern_of(row.frames))
        if sum(calling.get(by.function, 0.0) for by in callers) > case.thresholds.most_share:
            first = callers[0]
            return _missing(row, case, first.function, first.file, first.line)
    return None


def _has(profile: Profile, sample_type: str) -> bool:
    return sample_type in profile.sample_type_names


# Goroutines

_HOLDS_IT = (
    "A goroutine is there that does not wait for the lock, so it most likely holds the lock while "
    "it waits for something else: unlock before that."
)


def _of_frames(case: Case, frames: Sequence[pd.DataFrame], kind: str) -> MissingCall | None:
    if not frames:
        return None
    came, others, version = _came(frames), _others(case), case.facts.go_version
    explained, beside = _Explained(), Counter[str]()
    for (stack, state, begun), count in came.items():
        inside, own = inside_of_own(stack.split(";"), others)
        begun_by = "" if own else bare(begun)
        for name in {*map(bare, stack.split(";")), begun_by} - {""}:
            beside[name] += count
        row = signature_of([*inside, *filter(None, [begun_by])], kind, version, state)
        if row is not None:
            is_own = bool(begun_by) and can_be_mended(begun) and begun not in others
            explained.add(row, count, begun if is_own else "" if row.opened else own)
    enough = case.thresholds.most_share * sum(came.values())
    found = explained.largest(beside, enough)
    if found is None:
        return None
    said = _said(found, case, explained.own[found.name])
    holder = _lock_holder(frames[-1], said.function, case) if found.name in LOCKS else ""
    if not holder:
        return said
    return replace(said, function=holder, file="", line=None, why=_HOLDS_IT, is_elsewhere=False)


def _lock_holder(frame: pd.DataFrame, waiting_in: str, case: Case) -> str:
    """Return the method that most likely holds the lock, by all goroutines of a dump."""
    groups = []
    for (stack, state, _), count in _counted(frame).items():
        inside, _ = inside_of_own(stack.split(";"))
        row = signature_of(inside, GOROUTINES, state=state)
        groups.append((stack, row is not None and row.name in LOCKS, count))
    return lock_holder(waiting_in, groups, case.thresholds.waiters_per_holder)


def _came(frames: Sequence[pd.DataFrame]) -> dict[Stack, int]:
    """Return the last count of each stack minus its first count."""
    last, before = _counted(frames[-1]), Counter[str]()
    for (stack, _, _), count in (_counted(frames[0]) if frames[1:] else {}).items():
        before[stack] += count
    came: dict[Stack, int] = {}
    for key, count in sorted(last.items(), key=lambda pair: -pair[1]):
        old = min(count, before[key[0]])
        before[key[0]] -= old
        if count > old:
            came[key] = count - old
    return came


def _counted(frame: pd.DataFrame) -> Counter[Stack]:
    found: Counter[Stack] = Counter()
    columns = [
        frame[name] if name in frame else [""] * len(frame)
        for name in ("stack" if "stack" in frame else "function", "state", "created_by")
    ]
    for *said, count in zip(*columns, frame["goroutines"], strict=True):
        stack, state, begun = ("" if is_unknown(value) else str(value) for value in said)
        found[stack, state, begun] += int(count)
    return found


def _others(case: Case) -> frozenset[str]:
    """Return functions known to be in dependencies, by the last goroutine profile."""
    for moment in reversed([*case.facts.capture.by_moment.values()]):
        profile = moment.profiles.get(GOROUTINE)
        if profile is not None:
            return _others_of(profile)
    return frozenset()


def _others_of(profile: Profile) -> frozenset[str]:
    return of_others(function_names(profile.columns), function_files(profile.columns))


# Memory


@dataclass(frozen=True)
class _Allocated:
    """What a profile has that an earlier one has not."""

    by_stack: Mapping[tuple[str, ...], int]  # innermost function first
    others: frozenset[str]  # the functions that are not the program's


def _allocated(late: Profile, early: Profile | None, sample_type: str) -> _Allocated:
    came = Counter(_by_stack(late, sample_type))
    came.subtract({} if early is None else _by_stack(early, sample_type))
    return _Allocated(
        {stack: value for stack, value in came.items() if value > 0}, _others_of(late)
    )


def _of_memory(
    case: Case, sites: Sequence[Site], came: _Allocated, kind: str
) -> MissingCall | None:
    """Return the row that explains most of the sites' memory, by its stacks."""
    explained, whole = _explained(case, sites, came, kind)
    found = explained.largest(Counter(), case.thresholds.most_share * whole)
    if found is None:
        return None
    owners = [own for own, _ in explained.own[found.name].most_common() if own]
    if not owners:
        return _said(found, case, Counter())
    site = next(site for site in sites if site.own_function == owners[0])
    return _missing(found, case, site.own_function, site.file, site.line)


def _explained(
    case: Case, sites: Sequence[Site], came: _Allocated, kind: str
) -> tuple[_Explained, int]:
    """Return what the rows explain of the memory that the sites allocated, and all of it."""
    named = {site.own_function for site in sites}
    explained, whole = _Explained(), 0
    for stack, value in came.by_stack.items():
        inside, own = inside_of_own(stack, came.others)
        # A library's own goroutine allocates for what the program opened.
        holder = own or next(filter(can_be_mended, stack), "")
        if holder not in named:
            continue
        whole += value
        row = signature_of(inside, kind, case.facts.go_version)
        if row is not None and (own or row.opened):
            explained.add(row, value, "" if row.is_for_another(inside) else own)
    return explained, whole


def _of_table(case: Case, sites: Sequence[Site]) -> MissingCall | None:
    """Return the call that is missing by a table, which has no stacks, with most below a function.

    What have more than half each, have something in common.
    """
    row = next(iter(_rows_of_table(case, RETAINED)), None)
    if row is None or not sites or sites[0].share <= case.thresholds.most_share:
        return None
    return _missing(row, case, sites[0].own_function, sites[0].file, sites[0].line)


def _rows_of_table(case: Case, kind: str) -> list[Signature]:
    """Return the rows that fit functions with most of the last table.

    The largest first; of equals, such as a function and its caller, the first in `signatures.toml`.
    """
    table = last_table(case)
    if table is None:
        return []
    top, whole = table.top_rows(IN_USE), int(table.total(IN_USE))
    sizes, found = zip(top.function, top.cum.tolist(), strict=True), dict[str, int]()
    for name, size in sizes:
        row = signature_of([bare(name)], kind, case.facts.go_version)
        if row is not None and size > case.thresholds.most_share * whole:
            found[row.name] = max(size, found.get(row.name, 0))
    rows = [row for row in signatures() if row.name in found]
    return sorted(rows, key=lambda row: -found[row.name])


def _by_stack(profile: Profile, sample_type: str) -> dict[tuple[str, ...], int]:
    """Return the value of each stack, innermost function first."""
    found: Counter[tuple[str, ...]] = Counter()
    values = profile.values(sample_type)
    for stack, value in stacks_of_profile(profile.nodes(), values, MAX_STACKS):
        found[stack] += value
    return found


# Where


def _said(row: Signature, case: Case, own: Counter[str]) -> MissingCall:
    """Return the missing call, and its place if a file shows it."""
    by = _opener(row, case) if row.opened else None
    if by is not None:
        return _missing(row, case, by.function, by.file, by.line)
    function = next((name for name, _ in own.most_common() if name), "")
    called = pattern_of(row.frames) if row.frames else ""
    callers = case.facts.callers.calling(called, (GOROUTINE,)) if called else ()
    either = (*callers, *case.facts.callers.waiting)
    places = (caller for caller in either if caller.function == function)
    place = next(places, None)
    return _missing(row, case, function, *((place.file, place.line) if place else ()))


def _opener(row: Signature, case: Case) -> Caller | None:
    """Return the function that opened what is not closed: most in use, or the only opener."""
    pattern, limits = pattern_of(row.opened, with_closures=False), case.thresholds
    asked = case.facts.callers
    in_use = [(asked.holding(pattern), limits.most_share)]
    ever = [(asked.calling(pattern, (kind,)), limits.nearly_all_share) for kind in SINCE_START]
    for callers, least in in_use + ever:
        whole = sum(caller.share for caller in callers)  # of callers with their own function
        if callers and callers[0].share > least * whole:
            return callers[0]
    return None


def _missing(
    row: Signature, case: Case, function: str = "", file: str = "", line: int | None = None
) -> MissingCall:
    releases = "" if case.facts.go_version.certainly(row) else row.releases
    where = (releases, function, file, line)
    is_elsewhere = row.is_elsewhere and bool(function)
    seen_in = next(iter(row.frames), "")
    return MissingCall(row.call, row.why, row.reference, *where, is_elsewhere, seen_in)
