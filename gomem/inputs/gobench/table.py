"""Benchmark results as rows, one for each result and unit."""

from __future__ import annotations

from dataclasses import astuple, dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from gomem.inputs.gobench.parse import looks_like_gobench, parse_gobench
from gomem.inputs.schema import Column, Frames, build, build_rows
from gomem.inputs.unwrap import read_plain
from gomem.inputs.wrong_file import reads
from gomem.numbered import Label, Metric, Module, Unit, Value
from gomem.statistics.rank_tests import summarise

if TYPE_CHECKING:
    from gomem.inputs.gobench.parse import GoBench
    from gomem.sources.artefact import Source

RESULTS = (
    Column(
        "name", "str", "", "Benchmark, without that word and without the GOMAXPROCS suffix.", Metric
    ),
    Column("procs", "Int64", "count", "GOMAXPROCS; missing if not printed, as at 1."),
    Column(
        "package",
        "str",
        "",
        "Import path, from the pkg line above; missing if there is none.",
        Module,
    ),
    Column("unit", "str", "", "Unit of the value, tidied to base units: sec/op, B/s, B/op.", Unit),
    Column("value", "float64", "", "The measurement, in the row's unit, averaged over iterations."),
    Column("printed_unit", "str", "", "Unit as printed: ns/op, MB/s.", Unit),
    Column("printed_value", "float64", "", "The measurement as printed."),
    Column("iterations", "int64", "count", "Runs that the value is an average of."),
    Column("config", "int64", "", "Its configuration, by number, in the config frame."),
    Column("line", "int64", "", "Line of the file, from 1."),
)
CONFIG = (
    Column("config", "int64", "", "Number of the configuration."),
    Column("key", "str", "", "Name of the setting: goos, goarch, pkg, cpu and so on.", Label),
    Column("value", "str", "", "Its value.", Value),
)
SUMMARY = (
    Column("name", "str", "", "Benchmark, with its GOMAXPROCS suffix and its settings.", Metric),
    Column("unit", "str", "", "Unit of the values, tidied to base units.", Unit),
    Column("n", "int64", "count", "Measurements."),
    Column("median", "float64", "", "Their median, in the unit."),
    Column("median_low", "Float64", "", "Lower end of its 95 % interval; missing of fewer than 6."),
    Column("median_high", "Float64", "", "Upper end of the same."),
)
UNIT_NOTES = (
    Column("unit", "str", "", "The unit, tidied to base units.", Unit),
    Column("key", "str", "", "Key of the unit's metadata: better, assume.", Label),
    Column("value", "str", "", "The answer: higher or lower, exact or nothing.", Value),
    Column("line", "int64", "", "Line of the file, from 1."),
)


@dataclass(frozen=True)
class Bench(Frames):
    """The results of one benchmark file."""

    results: pd.DataFrame  # a row for each result and unit; see `RESULTS`
    config: pd.DataFrame  # the configurations, a row for each setting; see `CONFIG`
    units: pd.DataFrame  # notes of the file's `Unit` lines; see `UNIT_NOTES`
    # Settings, besides pkg, with several values in the file: measurements with different values are
    # not comparable.
    told_apart: tuple[str, ...] = ()

    @property
    def settings(self) -> pd.DataFrame:
        """A row for each result, with the value of each setting that distinguishes results."""
        triples = self.config[["config", "key", "value"]].itertuples(index=False)
        said = {(config, key): value for config, key, value in triples}
        configs = self.results["config"]
        columns = {key: [said.get((config, key)) for config in configs] for key in self.told_apart}
        return pd.DataFrame(columns, index=self.results.index, dtype="str")

    @property
    def summary(self) -> pd.DataFrame:
        """A row for each benchmark and unit; see `SUMMARY`."""
        settings = self.settings
        keys = ["package", "name", "procs", "unit", *settings.add_suffix(":")]
        rows = []
        results = self.results.join(settings.add_suffix(":"))
        for key, inside in results.groupby(keys, sort=False, dropna=False):
            _, name, procs, unit, *told = key
            procs = "" if pd.isna(procs) else f"-{procs}"
            values = zip(settings, told, strict=True)
            apart = "".join(f" {setting}:{value}" for setting, value in values if pd.notna(value))
            middle = summarise(inside["value"].to_numpy(np.float64))
            rows.append(
                [f"{name}{procs}{apart}", unit, middle.n, middle.median, middle.low, middle.high]
            )
        return build_rows(rows, SUMMARY)

    def _repr_html_(self) -> str:
        summary = self.summary
        head = f"{len(self.results)} measurements, {len(self.damaged)} lines that could not be read"
        return f"<p>{head}</p>{summary.to_html(escape=True, index=False)}"


def results_table(parsed: GoBench) -> pd.DataFrame:
    """Convert measurements to rows, in the file's order."""
    names = {column.name for column in RESULTS} - {"package"}
    columns = {name: getattr(parsed.measurements, name) for name in names}
    packages = [settings.get("pkg") for settings in parsed.configurations]
    columns["package"] = [packages[config] for config in parsed.measurements.config]
    return build(columns, RESULTS)


def matched_samples(before: Bench, after: Bench) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the measurements of two files under matching names, as samples to compare.

    GOMAXPROCS is part of the name, unless each file has a single value for it. The import path and
    any other setting are part of the name if a file has several values for it, such as `note:
    before` and `note: after`, for which benchstat prints separate tables. Columns are `name`,
    `unit`, `value`, and from the files' `Unit` lines `better` (missing if not given) and `exact`.
    """
    sides = before.results, after.results
    procs = [set(side["procs"].fillna(1)) for side in sides]
    packages = [set(side["package"].dropna()) for side in sides]
    with_procs = procs[0] == procs[1] or max(map(len, procs)) > 1
    with_package = max(map(len, packages)) > 1
    units = pd.concat([before.units, after.units], ignore_index=True)
    keys = tuple(dict.fromkeys((*before.told_apart, *after.told_apart)))
    first, second = (
        _samples(replace(side, told_apart=keys), units, with_procs, with_package)
        for side in (before, after)
    )
    return first, second


def _samples(
    bench: Bench, units: pd.DataFrame, with_procs: bool, with_package: bool
) -> pd.DataFrame:
    results = bench.results
    name = results["name"]
    if with_procs:
        name = name + ("-" + results["procs"].astype("str")).where(results["procs"].notna(), "")
    if with_package:
        name = (results["package"] + ".").fillna("") + name
    for key, value in bench.settings.items():
        name = name + (f" [{key}: " + value.astype("str") + "]").where(value.notna(), "")
    said = {(row.unit, row.key): row.value for row in units[::-1].itertuples()}
    better = [said.get((unit, "better")) for unit in results["unit"]]
    exact = [said.get((unit, "assume")) == "exact" for unit in results["unit"]]
    columns = {"name": name, "unit": results["unit"], "value": results["value"]}
    return pd.DataFrame({**columns, "better": pd.Series(better, dtype="str"), "exact": exact})


@reads("the output of go test -bench", "gobench")
def read_bench(source: Source) -> Bench:
    """Read the output of `go test -bench`; FormatError if there is no benchmark result."""
    parsed, damaged, text = read_plain(source, looks_like_gobench, parse_gobench)
    in_file = replace(parsed.measurements, line=text.lines(parsed.measurements.line))
    units = [replace(note, line=int(text.lines(np.array([note.line]))[0])) for note in parsed.units]
    configs = enumerate(parsed.configurations)
    settings = ((number, *setting) for number, of in configs for setting in of.items())
    frames = (build_rows(settings, CONFIG), build_rows(map(astuple, units), UNIT_NOTES))
    results = results_table(replace(parsed, measurements=in_file))
    # Settings with several values; unset counts as a value, too.
    keys = dict.fromkeys(key for of in parsed.configurations for key in of if key != "pkg")
    values = {key: {of.get(key) for of in parsed.configurations} for key in keys}
    apart = tuple(key for key in keys if len(values[key]) > 1)
    return Bench(results, *frames, apart, damaged=damaged)
