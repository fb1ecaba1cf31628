"""What benchmarks, escape analysis or a truncated /metrics page show, without memory in use."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from gomem.capture.release import are_no_gos
from gomem.diagnosis.other_runs import COMPARE_RUNS
from gomem.inputs.gobench.parse import RUN
from gomem.text import Bytes, Command, Count, Quoted, Text, joined, text
from gomem.units import minus

if TYPE_CHECKING:
    from gomem.capture.capture import Capture
    from gomem.diagnosis.diagnosis import Diagnosis
    from gomem.diagnosis.listed_memory import Told
    from gomem.facts.moment import MomentFacts

COMPARE = text("See whether a change helped: {}.", Command("gomem compare BEFORE AFTER"))
WHERE_IT_ALLOCATES = text(
    "See where the benchmark allocates: {}; {}.",
    Command("go test -run '^$' -bench NAME -memprofile mem.pb.gz"),
    Command("gomem top mem.pb.gz --sample-type alloc_space"),
)
ALLOCATED = ("B/op", "allocs/op")
_WHOLE_PAGE = text(
    "Copy the whole page: {}.", Command("curl -s http://HOST:PORT/metrics > metrics.prom")
)
SHOWN = 4  # changes
WITH_A_PROFILE = "Add an allocs profile, so that the report says why each site allocates."


def _changes(capture: Capture) -> Text:
    """Allocation changes between two runs in one text, by medians."""
    (bench, *others) = capture.bench.values()
    runs = bench.config.loc[bench.config["key"] == RUN].set_index("config")["value"]
    names = list(dict.fromkeys(runs))
    if others or len(names) != 2:  # with more runs, the pair to compare is unknown
        return Text()
    rows = bench.results.assign(run=bench.results["config"].map(runs))
    said: list[tuple[str, str, float, float]] = []
    for unit in ALLOCATED:
        of_unit = rows[rows["unit"] == unit]
        values = of_unit.pivot_table("value", "name", "run", aggfunc="median", sort=False)
        if set(names) <= set(values):
            both = values[names].dropna()
            both = both[both[names[0]] > 0]
            said += [(name, unit, *both.loc[name]) for name in both.index]
    said = [row for row in said if row[3] != row[2]]
    said.sort(key=lambda row: -abs(row[3] / row[2] - 1))
    is_single = not rows.duplicated(["name", "procs", "unit", "run"]).any()
    by = "of one result each" if is_single else "by medians"
    are_numbered = names == ["1", "2"]
    between = (
        text("the first run to the second")
        if are_numbered
        else text("{} to {}", *map(Quoted, names))
    )
    more = text(" and {} more", str(len(said) - SHOWN)) if len(said) > SHOWN else ""
    largest = joined(", ", (_change(*row) for row in said[:SHOWN]))
    return text("From {}, {}: {}{}.", between, by, largest, more) if said else Text()


def _most_and_least(capture: Capture) -> Text:
    """Which benchmark of a text allocates most an operation, and which least, by medians."""
    (bench, *others) = capture.bench.values()
    rows = bench.results[bench.results["unit"].isin(ALLOCATED)]
    sizes = rows.pivot_table("value", "name", "unit", aggfunc="median", sort=False)
    if others or not len(sizes) or set(ALLOCATED) - set(sizes):
        return Text()
    sizes = sizes.dropna().sort_values(ALLOCATED[0], kind="stable")
    said = [_an_operation(name, *sizes.loc[name, [*ALLOCATED]]) for name in sizes.index[[-1, 0]]]
    if len(sizes) == 1:
        return text("The benchmark allocates {}.", said[0][1])
    (most, of_most), (least, of_least) = said
    words = "{} allocates most, {}; {} least, {}."
    return text(words, most, of_most, least, of_least)


def _an_operation(name: str, size: float, objects: float) -> tuple[Quoted, Text]:
    count = Count(round(objects), "object")
    return Quoted(name), text("{} in {} per operation", Bytes(round(size)), count)


def _change(name: str, unit: str, before: float, after: float) -> Text:
    """The change of one benchmark's value."""
    change = text("{} {}", Quoted(name), unit)
    return text("{} {} %", change, minus(f"{100 * (after / before - 1):+.0f}"))


def by_page_alone(diagnosis: Diagnosis, _: MomentFacts | None) -> Told | None:
    """Say that a page of /metrics lacks the metrics of Go's memory."""
    pages = [file.parsed for file in diagnosis.capture.files if file.kind.name == "metrics"]
    if not any(page.is_page and page.memstats is None for page in pages):
        return None
    words = (
        "The page of /metrics has no go_memstats_ metrics: it is cut, or only some are exported."
    )
    return Text(words), False, _WHOLE_PAGE


def by_more_benchmarks(diagnosis: Diagnosis, facts: MomentFacts | None) -> Told | None:
    """The same, if there are more results of benchmarks than readings of MemStats beside them."""
    capture = diagnosis.capture
    results = sum(bench.results["line"].nunique() for bench in capture.bench.values())
    return by_other_files(diagnosis, facts) if results > len(capture.memstats) else None


def by_other_files(diagnosis: Diagnosis, _: MomentFacts | None) -> Told | None:
    """The number of benchmarks and escape-analysis results, and how to use them."""
    capture = diagnosis.capture
    if capture.bench:
        names = {name for bench in capture.bench.values() for name in bench.results["name"]}
        runs = sum(bench.results["line"].nunique() for bench in capture.bench.values())
        has_runs = any("run" in bench.told_apart for bench in capture.bench.values())
        apart = " of several runs in one text, analysed separately" * has_runs
        counted = Count(len(names), "benchmark"), Count(runs, "result")
        sentence = text("{}, {}{}.", *counted, apart)
        beside = _changes(capture) if has_runs else _most_and_least(capture)
        sentence = joined(" ", filter(None, (sentence, beside)))
        where = Text("Nothing to do.") if are_no_gos(names) else WHERE_IT_ALLOCATES
        alone = COMPARE_RUNS if has_runs else COMPARE if runs > 1 else where
        return sentence, False, alone
    if capture.escapes:
        found = pd.concat([analysis.on_the_heap for analysis in capture.escapes.values()])
        places = len(found[["package", "file", "line", "column"]].drop_duplicates())
        values = Count(len(found), "value")
        verb = "escapes" if len(found) == 1 else "escape"
        sentence = text("{} {} to the heap at {}.", values, verb, Count(places, "place"))
        return sentence, False, WITH_A_PROFILE
    return None
