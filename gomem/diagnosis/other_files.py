"""What benchmarks and escape analysis say, where no file says how much memory is in use."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from gomem.diagnosis.other_runs import COMPARE_RUNS
from gomem.text import Command, Count, text

if TYPE_CHECKING:
    from gomem.diagnosis.diagnosis import Diagnosis
    from gomem.diagnosis.listed_memory import Told
    from gomem.facts.moment import MomentFacts

COMPARE = text("See whether a change helped: {}.", Command("gomem compare BEFORE AFTER"))
WHERE_IT_ALLOCATES = text(
    "See where it allocates: {}; {}.",
    Command("go test -run '^$' -bench NAME -memprofile mem.pb.gz"),
    Command("gomem top mem.pb.gz --sample-type alloc_space"),
)
WITH_A_PROFILE = "Add an allocs profile: then the report says why each site allocates."


def by_other_files(diagnosis: Diagnosis, _: MomentFacts | None) -> Told | None:
    """Benchmarks and escape analysis: how many, and what they are good for."""
    capture = diagnosis.capture
    if capture.bench:
        names = {name for bench in capture.bench.values() for name in bench.results["name"]}
        runs = sum(bench.results["line"].nunique() for bench in capture.bench.values())
        has_runs = any("run" in bench.told_apart for bench in capture.bench.values())
        apart = " of several runs in one text, analysed separately" * has_runs
        counted = Count(len(names), "benchmark"), Count(runs, "result")
        sentence = text("{}, {}{}.", *counted, apart)
        alone = COMPARE_RUNS if has_runs else COMPARE if runs > 1 else WHERE_IT_ALLOCATES
        return sentence, False, alone
    if capture.escapes:
        found = pd.concat([analysis.on_the_heap for analysis in capture.escapes.values()])
        places = len(found[["package", "file", "line", "column"]].drop_duplicates())
        values = Count(len(found), "value")
        verb = "escapes" if len(found) == 1 else "escape"
        sentence = text("{} {} to the heap at {}.", values, verb, Count(places, "place"))
        return sentence, False, WITH_A_PROFILE
    return None
