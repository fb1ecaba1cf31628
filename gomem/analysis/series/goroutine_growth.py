"""Does the number of goroutines grow, where do goroutines wait, and what do they retain?

Goroutine profiles, stack dumps and runtime/metrics count goroutines. Without such a count, two
proxies follow the number: StackInuse, and, in heap profiles, `runtime.malg`, which allocates the
descriptor of a goroutine. Descriptors are reused and never freed, so they show the largest number
of goroutines so far.

The place where a goroutine waits is named by the program's own innermost function.
`sync.(*WaitGroup).Wait` or `internal/poll.runtime_pollWait` would not show a developer what to fix.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from gomem.analysis.series.shapes import comes_and_goes
from gomem.inputs.pprof.calls.names import of_the_runtime, own_function
from gomem.inputs.schema import Column, build_rows
from gomem.text import Function, Words
from gomem.units import KIB

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gomem.analysis.series.level import Level, Rise

PART = 0.1  # of the new goroutines: fewer belong to other work
NAMED_STATES = 3  # states shown for a group with several
SMALLEST_STACK = 2 * KIB  # _StackMin of runtime/stack.go, since Go 1.4
DESCRIPTOR_BYTES = 384  # per goroutine: 376 to 440 by release, in the size class above
DESCRIPTORS = frozenset({"runtime.malg", "runtime.newproc1", "runtime.allgadd"})

# Functions in which goroutines of any connection wait.
PARKING = (
    "bufio.(*Reader).", "crypto/tls.(*Conn).", "crypto/tls.(*atLeastReader).", "net.(*conn).",
    "net.(*netFD).", "internal/poll.", "io.", "bytes.(*Buffer).",
)  # fmt: skip

GOROUTINE_GROUPS = (
    Column(
        "function", "str", "", "The program's own innermost function; else a library's.", Function
    ),
    Column("goroutines", "int64", "count", "How many stand there."),
    Column("share", "float64", "fraction", "The same of all goroutines."),
    Column("state", "str", "", "Wait reason of most of them; missing if unknown.", Words),
    Column("wait_seconds", "float64", "s", "The longest wait, in full minutes; missing likewise."),
    Column("created_by", "str", "", "The function that started most; missing likewise.", Function),
    Column("stack", "str", "", "The commonest stack, innermost first, joined by `;`.", Function),
)


@dataclass(frozen=True)
class Waiting:
    """Where most of the new goroutines wait: those that came since the first count."""

    # The program's own innermost function on their stack; the library's if there is none.
    function: str
    created_by: str  # the function that they began with; empty if unknown
    begun: frozenset[str]  # all functions with which at least a tenth of them began
    came: int  # how many more wait there
    there: int  # how many wait there at the end
    of_all: int  # how many goroutines there are at the end
    started_by: str = ""  # the function whose `go` statement started most of them; empty if unknown
    # The functions in which at least a tenth of the new goroutines wait, with their shares; the
    # largest first.
    shares: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True)
class GoroutineGrowth:
    """The number of goroutines over a capture, and what grows with it."""

    # The rise of their number; None for fewer than two counts at different times.
    count: Rise | None
    stacks: Rise | None  # the rise of StackInuse; None for fewer than two readings
    descriptors_bytes: float  # the growth of descriptors in heap profiles
    waiting: Waiting | None  # where the new goroutines wait; None if no profile or dump shows it
    comes_and_goes: bool  # whether their number fell to half in between, and rose by as much again

    @property
    def stacks_grown(self) -> float:
        """Bytes by which stacks grew; if unknown, the minimum stacks of the new goroutines."""
        if self.stacks is not None and self.stacks.grown > 0:
            return self.stacks.grown
        return 0.0 if self.count is None else max(0.0, self.count.grown) * SMALLEST_STACK


def goroutine_growth(
    counts: Level,
    stacks: Level,
    *,
    profiles: Sequence[pd.DataFrame] = (),
    descriptors_bytes: float = 0.0,
) -> GoroutineGrowth:
    """Measure the growth of goroutines, by their number and by StackInuse.

    `profiles` are frames of goroutines by stack, at the snapshots that have such data, with the
    columns `goroutines` and `stack`, innermost first. `descriptors_bytes` is from heap profiles.
    """
    return GoroutineGrowth(
        counts.rise,
        stacks.rise,
        descriptors_bytes,
        waiting_of(profiles),
        comes_and_goes(counts.values),
    )


def waiting_of(profiles: Sequence[pd.DataFrame]) -> Waiting | None:
    """Find where the new goroutines wait: those that the last profile has beyond the first.

    None if unknown.
    """
    named = [_by_function(profile) for profile in profiles if len(profile)]
    if not named:
        return None
    last = named[-1]
    came = last if len(named) == 1 else last.sub(named[0].reindex(last.index), fill_value=0)
    came = came[came > 0]
    if came.empty:
        return None
    by_function = came.groupby(level="function", sort=False).sum()
    function = str(by_function.idxmax())
    by_begin = came.groupby(level="begin", sort=False).sum()
    begun = frozenset(by_begin.index[by_begin >= PART * came.sum()]) - {""}
    here = came.xs(function, level="function")
    return Waiting(
        function=function,
        created_by=str(here.groupby(level="begin").sum().idxmax()),
        begun=begun,
        came=int(by_function.max()),
        there=int(last.xs(function, level="function").sum()),
        of_all=int(last.sum()),
        started_by=_started_by(profiles[-1], function),
        shares=tuple(
            (str(name), share)
            for name, share in (by_function / came.sum()).sort_values()[::-1].items()
            if share >= PART
        ),
    )


def _started_by(profile: pd.DataFrame, function: str) -> str:
    """Return who started most of those that wait in a function, from a dump of their stacks."""
    if "created_by" not in profile:
        return ""
    here = profile[places_of(profile) == function]
    return _commonest(here, "created_by") or ""


def goroutine_groups(profile: pd.DataFrame, of_all: int = 0) -> pd.DataFrame:
    """Group the goroutines of one profile or dump by where they wait, the largest group first.

    Args:
        profile: Goroutines by stack: `goroutines` and `stack`, innermost first; a dump in text also
            has `state`, `wait_seconds` and `created_by`.
        of_all: The number of all goroutines, the base of shares; an excerpt shows fewer.
    """
    rows = profile.assign(waits=[waiting_in(stack) for stack in map(str, profile["stack"])])
    whole, groups = max(of_all, int(rows["goroutines"].sum())), []
    for function, inside in rows.groupby("waits", sort=False):
        largest = inside.sort_values("goroutines", ascending=False, kind="stable").iloc[0]
        count = int(inside["goroutines"].sum())
        longest = inside["wait_seconds"].max() if "wait_seconds" in inside else None
        groups.append(
            [
                function,
                count,
                count / whole,
                _commonest(inside, "state"),
                longest,
                _commonest(inside, "created_by"),
                str(largest["stack"]),
            ]
        )
    groups.sort(key=lambda group: -group[1])
    return build_rows(groups, GOROUTINE_GROUPS)


def mixed_states(profile: pd.DataFrame) -> dict[str, str]:
    """Return, for each place where goroutines are in several states, these states by frequency."""
    if "state" not in profile:
        return {}
    counts = profile.groupby([places_of(profile), "state"], sort=False)["goroutines"].sum()
    mixed: dict[str, str] = {}
    for place, here in counts.groupby(level=0, sort=False):
        largest = here.droplevel(0).sort_values(ascending=False, kind="stable")
        said = [f"{number} {state}" for state, number in largest.head(NAMED_STATES).items()]
        more = [f"{len(largest) - NAMED_STATES} more"] if len(largest) > NAMED_STATES else []
        if len(largest) > 1:
            mixed[str(place)] = ", ".join([*said, *more])
    return mixed


def _commonest(rows: pd.DataFrame, column: str) -> str | None:
    """Return the most frequent value of a group in a column; None if unknown.

    The creator of a goroutine whose stack is cut is empty, and says nothing about the others'.
    """
    if column not in rows:
        return None
    named = rows[rows[column] != ""]
    counts = (named if len(named) else rows).groupby(column)["goroutines"].sum()
    return str(counts.idxmax()) if len(counts) else None


def waiting_in(stack: str) -> str:
    """Return the program's own innermost function, or else the function the goroutine began with.

    `net/http.(*persistConn).readLoop` says more than that a goroutine waits for the network.
    """
    functions = stack.split(";")
    own = [name for name in functions if not of_the_runtime(name)]
    begun = own[::-1]
    # The outermost function of a truncated stack is that of any connection; the frames below it,
    # which would identify it, are missing.
    telling = (name for name in begun if not name.startswith(PARKING))
    return own_function(own) or next(telling, next(iter(begun), functions[0]))


def stacks_of(profile: pd.DataFrame) -> pd.Series:
    """Return the stack of each row, innermost first; if it is unknown, only the function."""
    return profile["stack" if "stack" in profile else "function"].astype("str")


def places_of(profile: pd.DataFrame) -> pd.Series:
    """Return the function in which the goroutines of each row wait."""
    return stacks_of(profile).map(waiting_in)


def _by_function(profile: pd.DataFrame) -> pd.Series:
    """Count goroutines by own function and by the function that they began with."""
    rows = pd.DataFrame(
        {
            "function": places_of(profile),
            "begin": stacks_of(profile).str.rpartition(";")[2],
            "goroutines": profile["goroutines"].to_numpy(),
        }
    )  # fmt: skip
    return rows.groupby(["function", "begin"], sort=False)["goroutines"].sum()


def descriptors_grown(growth: pd.DataFrame) -> float:
    """Return the bytes by which descriptors certainly grew, from rows of `growth.GROWTH`."""
    if growth.empty:
        return 0.0
    rows = growth[(growth["shape"] == "ramp") & (growth["slope_low"] > 0)]
    rows = rows[rows["stack"].map(is_of_descriptors).astype(bool)]
    return float((rows["last"] - rows["first"]).sum())


def is_of_descriptors(stack: str) -> bool:
    """Return whether a stack is one where the runtime makes or lists descriptors of goroutines."""
    return not DESCRIPTORS.isdisjoint(stack.split(";"))
