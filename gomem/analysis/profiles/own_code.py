"""Which code outside Go's standard library has most of a profile?

pprof's flat values name whoever called the allocator: `io.ReadAll`, `strings.(*Builder).grow`. What
can be changed is the code that called them. So each sample is counted where its stack first leaves
the standard library, seen from the inside.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from gomem.inputs.schema import Column, build

if TYPE_CHECKING:
    from gomem.inputs.pprof.table import Profile

# What `go list std` begins with; a module's path begins with a domain, a program is `main`.
STANDARD = frozenset(
    """archive arena bufio bytes cmd cmp compress container context crypto database debug embed
    encoding errors expvar flag fmt go hash html image index internal io iter log maps math mime net
    os path plugin reflect regexp runtime simd slices sort strconv strings structs sync syscall
    testing text time type unicode unique unsafe vendor weak""".split()  # noqa: SIM905
)
OWN_CODE = (
    Column("function", "str", "", "Function; empty where all of the stack is the library's."),
    Column("value", "int64", "", "What it has, itself or through the library, in the unit."),
)


def is_standard(function: str) -> bool:
    """Whether a function is of Go's standard library or of its runtime."""
    path = function.partition("[")[0]  # type arguments have paths of their own
    folder = path.rpartition("/")[0].removeprefix("vendor/golang.org/")
    return path.partition("/")[0].partition(".")[0] in STANDARD | {""} and "." not in folder


def own_code(profile: Profile, sample_type: str | None = None) -> pd.DataFrame:
    """Sum a profile by the innermost function outside the standard library.

    Args:
        profile: Of any kind.
        sample_type: Which of its values; the default one if None.

    Returns:
        A row a function, the largest first; see `OWN_CODE`. The rows add up to the profile's total.
    """
    values = pd.Series(profile.values(sample_type))
    frames = profile.stacks[["sample", "depth", "function"]]
    known = {name: is_standard(str(name)) for name in frames["function"].unique()}
    own = frames[~frames["function"].map(known).astype(bool)].sort_values(["sample", "depth"])
    innermost = own.drop_duplicates("sample").set_index("sample")["function"].astype("str")
    names = innermost.reindex(values.index).fillna("")
    sums = values.groupby(names).sum()
    sums = sums[sums != 0].sort_values(ascending=False, kind="stable")
    return build({"function": list(sums.index), "value": sums.to_numpy()}, OWN_CODE)
