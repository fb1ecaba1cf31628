"""Which of the program's own functions has most of a profile, calls something, or recurses?

pprof's flat values name whoever called the allocator: `io.ReadAll`, `strings.(*Builder).grow`. What
can be changed is the program's own function that had it do so. So each sample is counted where its
stack first reaches a function of the program's own module, seen from the inside; where none is, the
innermost function outside Go's library. Who calls runtime.GC, C or mmap is the same question, asked
from that call outwards.

What calls itself stands in one stack many times: that is asked of goroutines' stacks alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from gomem.inputs.pprof.calls.filters import matches
from gomem.inputs.pprof.calls.names import can_be_mended, of_others
from gomem.inputs.pprof.calls.nodes import function_files, function_names
from gomem.inputs.schema import Column, build

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from numpy.typing import NDArray

    from gomem.inputs.pprof.table import Profile

OWN_CODE = (
    Column("function", "str", "", "Function; empty where all of the stack is the library's."),
    Column("value", "int64", "", "What it has, itself or through the library, in the unit."),
    Column("called", "str", "", "What it calls there, for most of it; empty if it is innermost."),
    Column("file", "str", "", "The file of that call; empty if not known."),
    Column("line", "Int64", "", "Its line."),
)
TAKES_PROFILES = r"^net/http/pprof\."  # heap?gc=1 collects: nothing of the program's calls that


@dataclass(frozen=True)
class Stacks:
    """Stacks, and how much each counts."""

    # A row a frame: `sample`, `depth` from 0 innermost, `function`, `file`, `line`.
    frames: pd.DataFrame
    values: NDArray[np.int64]  # what each sample has
    others: Collection[str] = ()  # the functions that are known to be of modules of others

    @classmethod
    def of_profile(
        cls, profile: Profile, sample_type: str | None = None, called: str = ""
    ) -> Stacks:
        """Those of a profile; with a pattern, only those in which such a function is called."""
        part = profile.filtered(focus=called, ignore=TAKES_PROFILES) if called else profile
        names, files = function_names(profile.columns), function_files(profile.columns)
        return cls(part.stacks, part.values(sample_type), of_others(names, files))

    @classmethod
    def of_text(cls, goroutines: pd.DataFrame, called: str = "") -> Stacks:
        """The same of goroutines in text, which says no files; see `capture.moment.GOROUTINES`."""
        stacks = goroutines["stack"].astype("str")
        kept = matches([stack.replace(";", "\n") for stack in stacks], f"(?m){called}")
        if called:
            kept &= ~matches([*stacks], TAKES_PROFILES.replace("^", "(^|;)"))
        frames = stacks[kept].reset_index(drop=True).str.split(";").explode().to_frame("function")
        frames = frames.rename_axis("sample").reset_index()
        frames = frames.assign(depth=frames.groupby("sample").cumcount(), file="", line=pd.NA)
        return cls(frames, goroutines["goroutines"].to_numpy(np.int64)[kept])

    def which(self, judge: Callable[[str], bool]) -> pd.Series:
        """Of which frames something is true, by the function's name."""
        function = self.frames["function"]
        known = {name: judge(str(name)) for name in function.unique()}
        return function.map(known).astype(bool)

    @property
    def own(self) -> pd.Series:
        """Which frames are of the program's own module, as far as files tell."""
        return self.which(lambda name: can_be_mended(name) and name not in self.others)


def own_code(stacks: Stacks, called: str = "") -> pd.DataFrame:
    """Sum stacks by the program's own innermost function, or what else is outside Go's library.

    The largest first; see `OWN_CODE`. The rows add up to the profile's total, unless a pattern of
    functions is `called`: then only frames outside of the innermost of these count, and stacks
    without one do not.
    """
    frames, values = stacks.frames.assign(is_foreign=~stacks.own), pd.Series(stacks.values)
    wanted = stacks.which(can_be_mended)
    if called:
        is_called = stacks.which(lambda name: bool(matches([name], called)[0]))
        begin = frames[is_called].groupby("sample")["depth"].min()
        values = values[values.index.isin(begin.index)]
        wanted &= ~is_called & (frames["depth"] > frames["sample"].map(begin))
    order = ["sample", "is_foreign", "depth"]
    nearest = frames[wanted].sort_values(order).drop_duplicates("sample")
    inner = frames[["sample", "depth", "function"]].assign(depth=frames["depth"] + 1)
    placed = nearest.merge(inner, "left", ["sample", "depth"], suffixes=("", "_inner"))
    rows = placed.set_index("sample").reindex(values.index).assign(value=values)
    return _summed(rows.rename(columns={"function_inner": "called"}))


def recursing(stacks: Stacks) -> pd.DataFrame:
    """The program's own functions that stand several times in one of the goroutines' stacks.

    That of most frames over all stacks first; see `OWN_CODE`. `value` is how often one stack has it
    at most, called by itself directly or through others.
    """
    frames = stacks.frames[stacks.own]
    frames = frames.assign(value=stacks.values[frames["sample"]], called="")
    times = frames.groupby(["function", "sample"], observed=True)["depth"].size()
    most = times[times > 1].groupby("function", observed=True).max()
    rows = _summed(frames[frames["function"].isin(most.index)])
    return rows.assign(value=rows["function"].map(dict(most.items())).astype("int64"))


def _summed(rows: pd.DataFrame) -> pd.DataFrame:
    """Sum by function; what it calls and where, of the row with most."""
    texts = rows[["function", "called", "file"]].astype("object").fillna("")
    rows = rows.assign(**texts).sort_values("value", ascending=False, kind="stable")
    found = rows.groupby("function", sort=False)[["value", "called", "file", "line"]]
    sums = found.agg({"value": "sum", "called": "first", "file": "first", "line": "first"})
    sums = sums[sums["value"] != 0].sort_values("value", ascending=False, kind="stable")
    columns = {name: sums[name].tolist() for name in sums}
    return build({"function": sums.index.tolist(), **columns}, OWN_CODE)
