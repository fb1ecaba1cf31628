"""Which of the program's own functions has most of a profile, makes given calls, or recurses?

pprof's flat values name the direct caller of the allocator: `io.ReadAll`,
`strings.(*Builder).grow`. The developer can change only the program's own function further out in
the stack. So each sample counts for the innermost function in its stack that belongs to the
program's own module. A stack without such a function counts for the innermost function outside Go's
library. The callers of runtime.GC, C or mmap are found in the same way, from that call outwards.

A recursive function appears many times in one stack. Only goroutine stacks are checked for
recursion.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from gomem.analysis.profiles.changes import compare_sites, is_exact, measured, unseen_high
from gomem.analysis.profiles.sizes import sample_sizes
from gomem.inputs.goroutines.positions import POSITIONS
from gomem.inputs.pprof.calls.filters import matches
from gomem.inputs.pprof.calls.names import can_be_called, can_be_mended, of_others
from gomem.inputs.pprof.calls.nodes import function_files, function_names
from gomem.inputs.schema import Column, build, empty
from gomem.text import File, Function

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from numpy.typing import NDArray

    from gomem.inputs.pprof.columns import PprofColumns
    from gomem.inputs.pprof.table import Profile

OWN_CODE = (
    Column(
        "function", "str", "", "Function; empty where all of the stack is the library's.", Function
    ),
    Column("value", "int64", "", "Its value, itself or through a library, in the unit."),
    Column(
        "called", "str", "", "Function called there for most of it; empty if innermost.", Function
    ),
    Column("file", "str", "", "File of that call; empty if unknown.", File),
    Column("line", "Int64", "", "Its line."),
)
TAKES_PROFILES = r"^net/http/pprof\."  # heap?gc=1 runs a GC, which the program did not request
IN_USE = "inuse_space"
HOLDERS = (
    Column(
        "own_function", "str", "", "The program's own; empty where all is Go's library.", Function
    ),
    Column("function", "str", "", "Function that allocated most of it.", Function),
    Column("file", "str", "", "File of the own function's call; empty if unknown.", File),
    Column("line", "Int64", "", "Its line."),
    Column("object_bytes", "Int64", "B", "Size of the objects that most of it is in."),
    Column("before", "Float64", "", "Value in the earlier profile; 0 without one."),
    Column("after", "Float64", "", "Value in the later profile."),
    Column("change", "Float64", "", "After less before."),
    Column("low", "Float64", "", "Lower end of the change's 95 % interval; missing if unknown."),
    Column("high", "Float64", "", "Upper end of the change's 95 % interval; missing if unknown."),
)


@dataclass(frozen=True)
class Stacks:
    """Stacks, and a value for each."""

    # one per row: `sample`, `depth` from 0 innermost, `function`, `file`, `line`
    frames: pd.DataFrame
    values: NDArray[np.int64]  # the value of each sample
    others: Collection[str] = ()  # functions known to be in dependencies

    @classmethod
    def of_profile(
        cls, profile: Profile, sample_type: str | None = None, called: str = ""
    ) -> Stacks:
        """Extract the stacks of a profile; with `called`, only stacks with a matching call."""
        part = profile.filtered(focus=called, ignore=TAKES_PROFILES) if called else profile
        names, files = function_names(profile.columns), function_files(profile.columns)
        return cls(part.stacks, part.values(sample_type), of_others(names, files))

    @classmethod
    def of_text(
        cls, goroutines: pd.DataFrame, called: str = "", positions: pd.DataFrame | None = None
    ) -> Stacks:
        """Extract the stacks of goroutines in text, as in `capture.moment.GOROUTINES`.

        A function is at the position at which most goroutines have it; `positions` are those of the
        same text (`inputs.goroutines.positions.POSITIONS`).
        """
        stacks = goroutines["stack"].astype("str")
        kept = matches([stack.replace(";", "\n") for stack in stacks], f"(?m){called}")
        if called:
            kept &= ~matches([*stacks], TAKES_PROFILES.replace("^", "(^|;)"))
        frames = stacks[kept].reset_index(drop=True).str.split(";").explode().to_frame("function")
        frames = frames.rename_axis("sample").reset_index()
        at = empty(POSITIONS) if positions is None else positions.drop_duplicates("function")
        files, lines = (
            dict(zip(at["function"], at[name], strict=True)) for name in ("file", "line")
        )
        frames = frames.assign(
            depth=frames.groupby("sample").cumcount(),
            file=[files.get(name, "") for name in frames["function"]],
            line=[lines.get(name, pd.NA) for name in frames["function"]],
        )
        others = of_others([*files], [*files.values()])
        return cls(frames, goroutines["goroutines"].to_numpy(np.int64)[kept], others)

    def which(self, judge: Callable[[str], bool]) -> pd.Series:
        """Return the mask of frames whose function name passes a test."""
        function = self.frames["function"]
        known = {name: judge(str(name)) for name in function.unique()}
        return function.map(known).astype(bool)

    @property
    def own(self) -> pd.Series:
        """A mask of the frames in the program's own module, as far as files show the module."""
        return self.which(lambda name: can_be_mended(name) and name not in self.others)


def own_code(stacks: Stacks, called: str = "") -> pd.DataFrame:
    """Sum stacks by the program's own innermost function, or else by one outside Go's library.

    The largest sum comes first; see `OWN_CODE`. Without `called`, the rows add up to the profile's
    total. If the pattern `called` is given, stacks without a match are left out, and of the others
    only frames outside the innermost match count.
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
    """Return the program's own functions that occur several times in one goroutine stack.

    The function with most frames over all stacks comes first; see `OWN_CODE`. `value` is the
    maximum number of occurrences in one stack, by direct or indirect recursion.
    """
    frames = stacks.frames[stacks.own]
    frames = frames.assign(value=stacks.values[frames["sample"]], called="")
    times = frames.groupby(["function", "sample"], observed=True)["depth"].size()
    most = times[times > 1].groupby("function", observed=True).max()
    rows = _summed(frames[frames["function"].isin(most.index)])
    return rows.assign(value=rows["function"].map(dict(most.items())).astype("int64"))


def _summed(rows: pd.DataFrame) -> pd.DataFrame:
    """Sum by function; the called function and the line are those of the largest row."""
    texts = rows[["function", "called", "file"]].astype("object").fillna("")
    rows = rows.assign(**texts).sort_values("value", ascending=False, kind="stable")
    found = rows.groupby("function", sort=False)[["value", "called", "file", "line"]]
    sums = found.agg({"value": "sum", "called": "first", "file": "first", "line": "first"})
    sums = sums[sums["value"] != 0].sort_values("value", ascending=False, kind="stable")
    columns = {name: sums[name].tolist() for name in sums}
    return build({"function": sums.index.tolist(), **columns}, OWN_CODE)


def holders(
    after: Profile, before: Profile | None = None, sample_type: str = IN_USE
) -> pd.DataFrame:
    """Sum a heap profile, or its increase since an earlier one, by the program's own functions.

    Rows have sampling intervals, and the largest change comes first; see `HOLDERS`. The changes add
    up to the change of the total.
    """
    new = _Owned(after, sample_type)
    old = None if before is None else _Owned(before, sample_type)
    nothing = new.frame().iloc[:0]
    unseen = 0.0 if old is None or is_exact(after) else unseen_high(after.period)
    changes = compare_sites(
        nothing if old is None else old.frame(),
        new.frame(),
        before_unseen_high=unseen,
        after_unseen_high=unseen,
    )
    names = changes["function"].tolist()
    allocators, sizes = new.allocators(), new.object_sizes()
    functions, files, lines = (
        [allocators.get(name, ("", "", None))[part] for name in names] for part in range(3)
    )
    columns = {"own_function": names, "function": functions, "file": files, "line": lines}
    columns["object_bytes"] = [sizes.get(name) for name in names]
    numbers = {name: changes[name] for name in ("before", "after", "change", "low", "high")}
    return build(columns | numbers, HOLDERS)


def own_names(profile: Profile) -> NDArray[np.object_]:
    """Return the program's own function for each sample of a profile; empty if a stack has none."""
    return _Owned(profile, IN_USE).names


class _Owned:
    """The samples of a profile by the program's own functions."""

    def __init__(self, profile: Profile, sample_type: str) -> None:
        self._profile, self._type = profile, sample_type
        columns = profile.columns
        self._names = function_names(columns)
        self._files = function_files(columns)
        others = of_others(self._names, self._files)
        outside = [can_be_mended(name) for name in self._names]
        own = [outside[place] and name not in others for place, name in enumerate(self._names)]
        first_own = _first_line(columns, np.array(own, np.bool_))
        first_outside = _first_line(columns, np.array(outside, np.bool_))
        self._line = np.where(first_own >= 0, first_own, first_outside)
        public = [can_be_called(name) for name in self._names]
        self._allocator = _first_line(columns, np.array(public, np.bool_))

    def frame(self) -> pd.DataFrame:
        """Return the input of `compare_sites`."""
        names, number = np.unique(self.names, return_inverse=True)

        def by_name(part: NDArray[np.float64]) -> NDArray[np.float64]:
            return np.bincount(number, part, len(names)).astype(np.float64)

        return measured(self._profile, self._type, names, by_name).frame()

    def allocators(self) -> dict[str, tuple[str, str, int | None]]:
        """Return for each own function the function that allocates most for it, and its own place.

        Internal packages of Go's library are passed over: `strings.(*Builder).grow`, not
        `internal/bytealg.MakeNoZero`.
        """
        columns = self._profile.columns
        functions = columns.locations.line_function
        by = np.append(functions, -1)[self._allocator]
        places = {"own": self.names, "by": by, "line": self._line}
        rows = pd.DataFrame({**places, "value": self._values})
        sums = rows.groupby(["own", "by", "line"], sort=False)["value"].sum()
        largest = sums.sort_values(ascending=False, kind="stable").reset_index()
        found: dict[str, tuple[str, str, int | None]] = {}
        for row in largest.drop_duplicates("own").itertuples():
            function = self._names[row.by] if row.by >= 0 else ""
            file = self._files[functions[row.line]] if row.line >= 0 else ""
            number = int(columns.locations.line_number[row.line]) if row.line >= 0 else 0
            found[row.own] = function, file, number or None
        return found

    def object_sizes(self) -> dict[str, int]:
        """Return for each own function the object size with most bytes, if objects are counted."""
        if self._type.replace("_space", "_objects") not in self._profile.sample_type_names:
            return {}
        sizes = sample_sizes(self._profile, self._type)
        rows = pd.DataFrame({"own": self.names, "size": sizes, "value": self._values})
        sums = rows[sizes > 0].groupby(["own", "size"], sort=False)["value"].sum()
        largest = sums.sort_values(ascending=False, kind="stable").reset_index()
        return dict(largest.drop_duplicates("own")[["own", "size"]].itertuples(index=False))

    @property
    def _values(self) -> NDArray[np.float64]:
        return self._profile.values(self._type).astype(np.float64)

    @property
    def names(self) -> NDArray[np.object_]:
        """The function that each sample belongs to; empty if it has none."""
        functions = self._profile.columns.locations.line_function
        names = np.array([*self._names, ""], dtype=object)
        if not len(functions):
            return np.full(len(self._line), "", dtype=object)
        return names[np.where(self._line >= 0, functions[self._line], -1)]


def _first_line(columns: PprofColumns, wanted: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the innermost line of each sample with a wanted function; -1 if there is none."""
    locations = columns.locations
    lines = np.flatnonzero(
        (locations.line_function >= 0) & np.append(wanted, False)[locations.line_function]
    )
    if not len(locations.line_offsets[1:]):  # no sample has a frame
        return np.full(len(columns.stack_offsets) - 1, -1, np.int64)
    place = np.searchsorted(lines, locations.line_offsets[:-1])
    has = np.append(lines, len(locations.line_function))[place]
    first = np.where(has < locations.line_offsets[1:], has, -1)
    frames = np.flatnonzero(first[columns.stack] >= 0)
    at = np.searchsorted(frames, columns.stack_offsets[:-1])
    frame = np.append(frames, len(columns.stack))[at]
    found = frame < columns.stack_offsets[1:]
    stack = np.append(columns.stack, 0)
    return np.where(found, first[stack[np.where(found, frame, -1)]], -1).astype(np.int64)
