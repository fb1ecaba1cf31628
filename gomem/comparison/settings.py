"""Which settings of the runtime differ between two sides: GOGC, GOMEMLIMIT and the like?

A change of GOGC explains more of a comparison than any line of code, so what differs is said
first. Where one side says nothing of a setting, nothing is known to differ. Where no file says
GOGC, the goals in the log do, and the setting is called inferred.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gomem.inputs.schema import Column, build_rows, rows_of
from gomem.units import is_unknown

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pandas as pd

    from gomem.inputs.gobench.table import Bench

DIFFERING = (
    Column("name", "str", "", "GOGC, GOMEMLIMIT, GOMAXPROCS, GODEBUG, MemProfileRate, Go release."),
    Column("before", "str", "", "As it was set before."),
    Column("after", "str", "", "As it was set after."),
    Column("source", "str", "", "What says so, of each side where they differ."),
)
GOGC, GOMEMLIMIT, GOMAXPROCS, GODEBUG = "GOGC", "GOMEMLIMIT", "GOMAXPROCS", "GODEBUG"
MEM_PROFILE_RATE, GO_RELEASE = "MemProfileRate", "Go release"
MACHINE = ("goos", "goarch", "cpu", "pkg")  # of benchmarks: any can be the whole difference
OFF = "off"
LOG, INFERRED, BENCHMARKS = "GC log", "inferred from the GC log", "benchmark file"
MAX_INFERRED_ERROR = 0.1  # of GOGC: goals are printed in whole MiB
ARROW = "\N{RIGHTWARDS ARROW}"
_Row = tuple[str, str, str, str]


@dataclass(frozen=True, slots=True)
class Setting:
    """How a setting is set on one side, and what says so."""

    value: str
    source: str


def settings_words(settings: pd.DataFrame) -> str:
    """What differs, in a few words: `GOGC 100 → 400, GOMEMLIMIT none → 160MiB`; empty of none."""
    return ", ".join(_words(row) for row in rows_of(settings))


def _words(row: Mapping[str, Any]) -> str:
    named = "" if row["name"] == GO_RELEASE else f"{row['name']} "
    inferred = " (inferred)" if INFERRED in row["source"] else ""
    return f"{named}{row['before']} {ARROW} {row['after']}{inferred}"


def differing_bench_settings(before: Bench, after: Bench) -> pd.DataFrame:
    """What differs between the runs of two benchmark files: the machine, GOMAXPROCS."""
    rows: list[_Row] = []
    for key in MACHINE:
        rows += setting_row(key, *(_of_config(bench, key) for bench in (before, after)))
    rows += setting_row(GOMAXPROCS, *(_procs(bench) for bench in (before, after)))
    return build_rows(rows, DIFFERING)


def setting_row(name: str, before: Sequence[Setting], after: Sequence[Setting]) -> Iterator[_Row]:
    """The row of a setting, where the runs of both sides say it, and not the same."""
    values = [list(dict.fromkeys(one.value for one in side)) for side in (before, after)]
    if not all(values) or set(values[0]) == set(values[1]):
        return
    if name == GOGC and _within_inference(before, after):
        return
    yield name, ", ".join(values[0]), ", ".join(values[1]), _source(before, after)


def _source(before: Sequence[Setting], after: Sequence[Setting]) -> str:
    sources = [", ".join(dict.fromkeys(one.source for one in side)) for side in (before, after)]
    return sources[0] if sources[0] == sources[1] else f"{sources[0]} before, {sources[1]} after"


def _within_inference(before: Sequence[Setting], after: Sequence[Setting]) -> bool:
    """Whether values that a log's goals gave differ by no more than those are good for."""
    told = [*before, *after]
    if all(one.source != INFERRED for one in told) or any(one.value == OFF for one in told):
        return False
    values = [float(one.value) for one in told]
    return max(values) - min(values) <= MAX_INFERRED_ERROR * max(values)


def _of_config(bench: Bench, key: str) -> list[Setting]:
    values = bench.config.loc[bench.config["key"] == key, "value"]
    known = sorted({str(value) for value in values if not is_unknown(value)})
    return [Setting(value, BENCHMARKS) for value in known]


def _procs(bench: Bench) -> list[Setting]:
    """GOMAXPROCS, which is not printed where it is 1."""
    counts = sorted({int(procs) for procs in bench.results["procs"].fillna(1)})
    return [Setting(str(count), BENCHMARKS) for count in counts]
