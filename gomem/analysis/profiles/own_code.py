"""Which code outside Go's standard library has most of a profile?

pprof's flat values name whoever called the allocator: `io.ReadAll`, `strings.(*Builder).grow`. What
can be changed is the code that called them. So each sample is counted where its stack first leaves
the standard library, seen from the inside.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from gomem.inputs.pprof.calls.names import in_standard_library
from gomem.inputs.schema import Column, build

if TYPE_CHECKING:
    from gomem.inputs.pprof.table import Profile

OWN_CODE = (
    Column("function", "str", "", "Function; empty where all of the stack is the library's."),
    Column("value", "int64", "", "What it has, itself or through the library, in the unit."),
)


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
    names = map(str, frames["function"].unique())
    known = {name: not name or in_standard_library(name) for name in names}
    own = frames[~frames["function"].map(known).astype(bool)].sort_values(["sample", "depth"])
    innermost = own.drop_duplicates("sample").set_index("sample")["function"].astype("str")
    sums = values.groupby(innermost.reindex(values.index).fillna("")).sum()
    sums = sums[sums != 0].sort_values(ascending=False, kind="stable")
    return build({"function": list(sums.index), "value": sums.to_numpy()}, OWN_CODE)
