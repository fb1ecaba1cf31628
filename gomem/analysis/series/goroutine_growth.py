"""Does the number of goroutines grow, where do they wait, and what do they retain?

Goroutine profiles, stack dumps and runtime/metrics count goroutines. Without any of them, two
proxies follow the number: StackInuse, and `runtime.malg` in heap profiles, which allocates a
goroutine's descriptor. Descriptors are reused and never freed, so they show the largest number of
goroutines so far.

The waiting place is the program's own innermost function. `sync.(*WaitGroup).Wait` or
`internal/poll.runtime_pollWait` does not show a developer what to fix.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pandas as pd

from gomem.inputs.pprof.calls.names import own_function
from gomem.inputs.schema import Column, build_rows
from gomem.text import Function, Words
from gomem.units import KIB

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gomem.analysis.series.level import Level, Rise

PART = 0.1  # of those that came: fewer are of the work that goes on beside them
NAMED_STATES = 3  # of a group in several
SMALLEST_STACK = 2 * KIB  # _StackMin of runtime/stack.go, since Go 1.4
DESCRIPTOR_BYTES = 384  # of a goroutine: 376 to 440 by release, in the size class above
DESCRIPTORS = frozenset({"runtime.malg", "runtime.newproc1", "runtime.allgadd"})

# Where goroutines of any connection wait, whoever has it.
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
    """Where most of those wait that came since the first count."""

    # The program's own innermost function of their stack; of the library's where there is none.
    function: str
    created_by: str  # the function that they began with; empty if no file says
    begun: frozenset[str]  # all functions that a tenth of them began with, or more
    came: int  # how many more wait there
    there: int  # how many wait there at last
    of_all: int  # how many goroutines there are at last
    started_by: str = ""  # the function whose `go` statement began most of them; empty likewise
    # Of all functions in which a tenth of those wait that came, or more, the share of them; the
    # largest first.
    shares: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True)
class GoroutineGrowth:
    """The number of goroutines over a capture, and what goes with it."""

    # How the number moved; None if fewer than two counts of different times are there.
    count: Rise | None
    stacks: Rise | None  # how StackInuse moved, likewise
    descriptors_bytes: float  # by how much descriptors rose in heap profiles
    waiting: Waiting | None  # where those wait that came; None if no profile or dump says

    @property
    def stacks_grown(self) -> float:
        """What the stacks of those that came take; where nothing says, what they take at least."""
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
    """Measure how goroutines grow, by their number and by StackInuse.

    `profiles` are goroutines by stack, of the moments that have them: `goroutines`, and `stack`,
    innermost first; descriptors are those of heap profiles.
    """
    return GoroutineGrowth(counts.rise, stacks.rise, descriptors_bytes, waiting_of(profiles))


def waiting_of(profiles: Sequence[pd.DataFrame]) -> Waiting | None:
    """Where those wait that the last profile by stack has beyond the first; None if none says."""
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
    """Who began most of those that wait in a function, where a dump of their stacks says."""
    if "created_by" not in profile:
        return ""
    here = profile[places_of(profile) == function]
    return _commonest(here, "created_by") or ""


def goroutine_groups(profile: pd.DataFrame, of_all: int = 0) -> pd.DataFrame:
    """The goroutines of one profile or dump by where they wait, the largest group first.

    Args:
        profile: Goroutines by stack: `goroutines` and `stack`, innermost first; of a dump in text
            `state`, `wait_seconds` and `created_by`, too.
        of_all: How many there are, of an excerpt more than it shows; shares are of these.
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
    """Of each place whose goroutines are in several states these, the most frequent first."""
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
    """What most goroutines of a group have in a column; None where no file says."""
    if column not in rows:
        return None
    counts = rows.groupby(column)["goroutines"].sum()
    return str(counts.idxmax()) if len(counts) else None


def waiting_in(stack: str) -> str:
    """The program's own innermost function; where there is none, what the goroutine began with.

    `net/http.(*persistConn).readLoop` says more than that it waits for the network.
    """
    functions = stack.split(";")
    begun = [name for name in reversed(functions) if not name.startswith("runtime.")]
    # Of a cut stack the outermost is where any connection waits: what says whose is below it.
    telling = (name for name in begun if not name.startswith(PARKING))
    return own_function(functions) or next(telling, next(iter(begun), functions[0]))


def stacks_of(profile: pd.DataFrame) -> pd.Series:
    """The stack of each row, innermost first; the function alone where no stack is known."""
    return profile["stack" if "stack" in profile else "function"].astype("str")


def places_of(profile: pd.DataFrame) -> pd.Series:
    """In which function the goroutines of each row wait."""
    return stacks_of(profile).map(waiting_in)


def _by_function(profile: pd.DataFrame) -> pd.Series:
    """Goroutines by own function and by the function that they began with."""
    rows = pd.DataFrame(
        {
            "function": places_of(profile),
            "begin": stacks_of(profile).str.rpartition(";")[2],
            "goroutines": profile["goroutines"].to_numpy(),
        }
    )  # fmt: skip
    return rows.groupby(["function", "begin"], sort=False)["goroutines"].sum()


def descriptors_grown(growth: pd.DataFrame) -> float:
    """By how much the stacks of descriptors surely rise; see `analysis.profiles.growth.GROWTH`."""
    if growth.empty:
        return 0.0
    rows = growth[(growth["shape"] == "ramp") & (growth["slope_low"] > 0)]
    rows = rows[rows["stack"].map(is_of_descriptors).astype(bool)]
    return float((rows["last"] - rows["first"]).sum())


def is_of_descriptors(stack: str) -> bool:
    """Whether a stack is of the runtime, making a goroutine's descriptor or listing it."""
    return not DESCRIPTORS.isdisjoint(stack.split(";"))
