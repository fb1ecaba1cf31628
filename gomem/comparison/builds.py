"""Several builds, releases, settings or pods, each compared with a baseline.

Each build is compared with the baseline like any two sides, so a row here equals the row in a
comparison of the two. Only the number of comparisons grows. The p-value corrected for multiple
tests (Holm 1979) covers the whole table, separately for benchmarks and levels. The uncorrected p is
also shown and decides the verdict.

Two builds that differ from the baseline need not differ from each other. For builds in order,
`steps` compares each with the previous build.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import pandas as pd

from gomem.analysis.fleet.builds import differing
from gomem.comparison.budgets import within_budgets
from gomem.comparison.comparison import compare, opened
from gomem.comparison.direction import MIXED, together
from gomem.comparison.judgement import ONE_RUN
from gomem.comparison.outliers import OUTLIERS, outlier_words, outliers
from gomem.comparison.samples import (
    BENCHMARK,
    BETTER,
    FAMILY_NOTE,
    METRICS,
    MIN_CHANGE,
    SAME,
    TOO_FEW,
    WORSE,
    Judgement,
)
from gomem.comparison.settings import DIFFERING, changed_words, settings_words
from gomem.comparison.steps import STEPS, steps, steps_words
from gomem.errors import did_you_mean
from gomem.inputs.schema import Column, build_rows, empty, rows_of
from gomem.numbered import Build
from gomem.statistics.rank_tests import ALPHA, holm
from gomem.text import Text, Words, joined, text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from gomem.comparison.budgets import Budget
    from gomem.comparison.comparison import Comparable
    from gomem.comparison.samples import Comparison
    from gomem.errors import Damage

_COLUMN = {column.name: column for column in METRICS}
BUILD_METRICS = (
    _COLUMN["name"],
    _COLUMN["unit"],
    _COLUMN["layer"],
    Column("build", "str", "", "The build; the row of the baseline comes first.", Build),
    Column("n", "int64", "count", "Measurements."),
    Column("median", "Float64", "", "Median, in the unit."),
    Column("low", "Float64", "", "Lower end of its 95 % interval; missing with too few values."),
    Column("high", "Float64", "", "Upper end of its 95 % interval; missing with too few values."),
    Column("baseline_n", "int64", "count", "Measurements of the baseline."),
    Column("baseline_median", "Float64", "", "Median, in the unit."),
    Column(
        "difference", "Float64", "", "Median minus that of the baseline; missing for the baseline."
    ),
    Column("change", "Float64", "fraction", "Difference divided by the median of the baseline."),
    _COLUMN["p_value"],
    Column(
        "p_adjusted",
        "Float64",
        "fraction",
        "The same p, corrected for all comparisons of all builds (Holm).",
    ),
    _COLUMN["better"],
    Column(
        "verdict",
        "str",
        "",
        "Against the baseline: better, worse, changed, same, ~ or ?; missing for the baseline.",
        Words,
    ),
    _COLUMN["equivalence"],
    _COLUMN["p_no_worse"],
    _COLUMN["note"],
)
PAIR_COLUMNS = (
    "difference", "change", "p_value", "p_adjusted", "verdict", "equivalence", "p_no_worse",
)  # fmt: skip
_KEYS = ["layer", "unit", "name"]
DIFFERING_NAMES = [column.name for column in DIFFERING]
MAX_OUTLIERS = 3  # metrics named for an outlier build
_SAID = {  # for one build, for several
    WORSE: ("is worse", "are worse"),
    MIXED: ("is mixed", "are mixed"),
    BETTER: ("is better", "are better"),
    SAME: ("shows no change", "show no change"),
    TOO_FEW: ("has no verdict", "have no verdict"),
}


@dataclass(frozen=True)
class BuildComparison:
    """How each metric of each build compares with the baseline."""

    baseline: str  # name of the baseline build
    # of each other build with the baseline, by name, in the given order
    comparisons: Mapping[str, Comparison]
    metrics: pd.DataFrame  # by metric and build, the baseline first; see `BUILD_METRICS`
    judgement: Judgement  # the overall result, with a sentence per build
    # The builds that differ from all others, farthest first; see `gomem.comparison.outliers`.
    outliers: pd.DataFrame = field(default_factory=partial(empty, OUTLIERS))
    notes: tuple[str, ...] = ()  # caveats, with the builds they apply to
    # Each build compared with the previous build; see `gomem.comparison.steps`.
    steps: pd.DataFrame = field(default_factory=partial(empty, STEPS))

    @property
    def builds(self) -> tuple[str, ...]:
        """The names of all builds, the baseline first."""
        return self.baseline, *self.comparisons

    @property
    def differing_steps(self) -> pd.DataFrame:
        """The rows of `steps` in which a build differs from the previous build."""
        return differing(self.steps)

    @property
    def steps_words(self) -> Text:
        """`differing_steps` in a sentence; empty if no build differs from the previous build."""
        return steps_words(self.steps)

    @property
    def settings(self) -> pd.DataFrame:
        """The settings that differ from the baseline's, with a column `build`; see `DIFFERING`."""
        return _with_builds(self.comparisons, "settings")

    @property
    def settings_words(self) -> Text:
        """`settings` in a few words, `GOGC 100 → 50, 200, 400`; empty if none differ."""
        return _settings_words(self.settings, len(self.comparisons))

    @property
    def findings(self) -> pd.DataFrame:
        """The causes of all builds, with a column `build`; see `gomem.comparison.judgement`."""
        return _with_builds(self.comparisons, "findings")

    @property
    def budgets(self) -> pd.DataFrame:
        """The state of each budget in each build, with a column `build`; see `within_budgets`."""
        return _with_builds(self.comparisons, "budgets")

    @property
    def budgets_summary(self) -> str:
        """The budgets in one sentence per build; empty without budgets."""
        said = {name: comparison.budgets_summary for name, comparison in self.comparisons.items()}
        each = (text("{}: {}", Build(name), words) for name, words in said.items() if words)
        return joined(" ", each)

    def within(self, budgets: Sequence[Budget]) -> BuildComparison:
        """Return a copy with the state of each budget in each build; raises as `within_budgets`."""
        held = {
            name: within_budgets(comparison, budgets)
            for name, comparison in self.comparisons.items()
        }
        return replace(self, comparisons=held)

    @property
    def damaged(self) -> tuple[Damage, ...]:
        """The parts of all builds that could not be read, without duplicates."""
        found = (place for each in self.comparisons.values() for place in each.damaged)
        return tuple(dict.fromkeys(found))

    def __repr__(self) -> str:
        return f"<BuildComparison of {', '.join(self.comparisons)} with {self.baseline}>"

    def _repr_html_(self) -> str:
        names = ["name", "unit", "build", "n", "median", "change", "p_value", "verdict"]
        return self.metrics[names].to_html(escape=True, index=False)


def compare_many(
    builds: Mapping[str, Comparable | Sequence[Comparable]],
    *,
    baseline: str | None = None,
    requests: int | None = None,
    renames: Sequence[str] = (),
    least_change: float = MIN_CHANGE,
    margin: float | None = None,
) -> BuildComparison:
    """Compare several builds (releases, values of GOGC, pods) with one of them, the baseline.

        gomem.compare_many({"1.23.4": "old/run-*", "1.24.2": "new/run-*"}).metrics

    Args:
        builds: A side as `gomem.compare` accepts it, by build name: a capture, a diagnosis,
            benchmark results, a path, a pattern of runs, or a list or tuple of several of these.
        baseline: The name of the baseline build; default: the first.
        requests: Requests that each capture served between its snapshots, if no load test has the
            number.
        renames: Functions, types or packages of the baseline that the other builds renamed.
        least_change: A change smaller than this, as a fraction of the baseline's median, is `same`.
        margin: If given, also test whether each metric is worse by at most this fraction.

    Raises:
        ValueError: There are fewer than two builds, or none has the name of the baseline.
        CaptureError: A path holds nothing that gomem can read, or only some are benchmark results.
    """
    if len(builds) < 2:
        raise ValueError(f"builds: {len(builds)} given; wanted at least two, by name")
    base = next(iter(builds)) if baseline is None else baseline
    if base not in builds:
        raise ValueError(
            f"baseline {base}: wanted one of {', '.join(builds)}{did_you_mean(base, builds)}"
        )
    every = {name: opened(side) for name, side in builds.items()}
    sides = dict(every)
    pair = partial(
        compare,
        sides.pop(base),
        requests=requests,
        renames=renames,
        least_change=least_change,
        margin=margin,
    )
    compared = against_baseline(base, {name: pair(side) for name, side in sides.items()})
    return replace(compared, steps=steps(every))


def against_baseline(baseline: str, comparisons: Mapping[str, Comparison]) -> BuildComparison:
    """Combine the comparisons of builds, by name, with one baseline; leaves `steps` empty."""
    metrics = _metrics(baseline, comparisons)
    unlike = outliers(
        metrics, [name for name, comparison in comparisons.items() if comparison.unlike]
    )
    judgement = _judgement(baseline, comparisons, unlike)
    notes = tuple(_notes(comparisons))
    return BuildComparison(baseline, comparisons, metrics, judgement, unlike, notes)


def _metrics(baseline: str, comparisons: Mapping[str, Comparison]) -> pd.DataFrame:
    """Rows by metric, in the order of the comparisons; see `BUILD_METRICS`."""
    pairs = [comparison.metrics.assign(build=name) for name, comparison in comparisons.items()]
    rows = pd.concat(pairs, ignore_index=True)
    adjusted, families = _corrected(rows, comparisons)
    found: dict[tuple[str, ...], list[dict[str, Any]]] = {}
    for row, p, family in zip(rows_of(rows), adjusted, families, strict=True):
        known = found.setdefault(tuple(row[key] for key in _KEYS), [])
        if not known and row["before_n"]:
            known.append(_baseline_row(row, baseline))
        known.append(_build_row(row, p, family))
    rows_by_metric = (row for each in found.values() for row in each)
    laid_out = ([row[column.name] for column in BUILD_METRICS] for row in rows_by_metric)
    return build_rows(laid_out, BUILD_METRICS)


def _corrected(
    rows: pd.DataFrame, comparisons: Mapping[str, Comparison]
) -> tuple[list[float | None], list[int]]:
    """Each row's p, corrected for all comparisons of its kind, and the number of these."""
    varying = set()
    for name, comparison in comparisons.items():
        values = comparison.samples.groupby(_KEYS)["value"].nunique()
        varying |= {(name, *key) for key in values[values > 1].index}
    keys = zip(rows["build"], *(rows[key] for key in _KEYS), strict=True)
    counts = [key in varying for key in keys]
    p_values = [None if pd.isna(p) else float(p) for p in rows["p_value"]]
    adjusted, families = list(p_values), [0] * len(p_values)
    for of_kind in (rows["layer"] == BENCHMARK, rows["layer"] != BENCHMARK):
        places = [n for n, mine in enumerate(of_kind) if mine and counts[n]]
        known = sum(p_values[n] is not None for n in places)
        for n, p in zip(places, holm([p_values[n] for n in places]), strict=True):
            adjusted[n], families[n] = p, known
    return adjusted, families


def _baseline_row(row: dict[str, Any], baseline: str) -> dict[str, Any]:
    absent = dict.fromkeys(PAIR_COLUMNS)
    return {**row, **_own(row, "before"), **absent, "build": baseline, "note": ""}


def _build_row(row: dict[str, Any], p_adjusted: float | None, family: int) -> dict[str, Any]:
    of_pair = FAMILY_NOTE.partition("{")[0]
    kept = [note for note in row["note"].split("; ") if note and not note.startswith(of_pair)]
    if p_adjusted is not None and row["p_value"] <= ALPHA < p_adjusted:
        kept.append(FAMILY_NOTE.format(family))
    return {**row, **_own(row, "after"), "p_adjusted": p_adjusted, "note": "; ".join(kept)}


def _own(row: dict[str, Any], side: str) -> dict[str, Any]:
    """One build's own columns, without the baseline's."""
    of_base = {"baseline_n": row["before_n"], "baseline_median": row["before_median"]}
    return {key: row[f"{side}_{key}"] for key in ("n", "median", "low", "high")} | of_base


def _judgement(
    baseline: str, comparisons: Mapping[str, Comparison], unlike: pd.DataFrame
) -> Judgement:
    alone = _alone(unlike)
    verdicts = {
        name: together([comparison.judgement.verdict, *([WORSE] if name in alone else [])])
        for name, comparison in comparisons.items()
    }
    by_verdict: dict[str, list[str]] = {}
    for name, verdict in verdicts.items():
        by_verdict.setdefault(verdict, []).append(name)
    each = (
        text("{} {}", _list(by_verdict[verdict]), words[len(by_verdict[verdict]) > 1])
        for verdict, words in _SAID.items()
        if verdict in by_verdict
    )
    ordered = sorted(comparisons, key=lambda name: name not in alone)
    said = [_said(name, comparisons[name], alone.get(name, "")) for name in ordered]
    is_single = any(ONE_RUN in comparison.judgement.details for comparison in comparisons.values())
    words = _settings_words(_with_builds(comparisons, "settings"), len(comparisons))
    against = text("{}: compared with", words) if words else "Compared with"
    if baseline in alone:
        what = "{}, the baseline, is unlike the others: {}."
        said.insert(0, text(what, Build(baseline), alone[baseline]))
    sentence = text("{} {}, {}.", against, Build(baseline), joined("; ", each))
    for row in rows_of(unlike.head(1)):
        most = " Most unlike the others is {}: {}."
        sentence += text(most, row["build"], outlier_words(row))
    details = (*said, *([ONE_RUN] if is_single else []))
    return Judgement(together([*verdicts.values()]), sentence, details)


def _alone(unlike: pd.DataFrame) -> dict[str, str]:
    """The outlier builds and the metrics in which they differ, farthest first."""
    found: dict[str, list[str]] = {}
    for row in rows_of(unlike):
        found.setdefault(row["build"], []).append(outlier_words(row))
    return {name: "; ".join(words[:MAX_OUTLIERS]) for name, words in found.items()}


def _said(name: str, comparison: Comparison, alone: str) -> str:
    """One build's verdict as a sentence, with its settings after its name."""
    judgement, words = comparison.judgement, settings_words(comparison.settings)
    details = [detail for detail in judgement.details if detail != ONE_RUN]
    named = text("{} ({})", Build(name), words) if words else Build(name)
    unlike = [f"Unlike the others: {alone}."] if alone else []
    first = Text(judgement.sentence).removeprefix(text("{}: ", words))
    return joined(" ", [text("{}:", named), *unlike, first, *details])


def _settings_words(settings: pd.DataFrame, builds: int) -> Text:
    """Each setting once, with the baseline's value and those of the builds that differ.

    The builds that differ are named if they are few.
    """
    if settings.empty:
        return Text()
    each = (rows_of(rows) for _, rows in settings.groupby("name", sort=False))
    return changed_words(_joined(rows, builds) for rows in each)


def _joined(rows: Sequence[dict[str, Any]], builds: int) -> dict[str, str]:
    """Merge the rows of a setting in several builds into one."""
    told = {
        name: joined(", ", dict.fromkeys(row[name] for row in rows)) for name in DIFFERING_NAMES
    }
    named = text(" in {}", _list([row["build"] for row in rows])) if len(rows) < builds else ""
    return {**told, "name": rows[0]["name"], "after": told["after"] + named}


def _with_builds(comparisons: Mapping[str, Comparison], frame: str) -> pd.DataFrame:
    """Concatenate a frame of every comparison; the first column is the build's name."""
    found = {name: getattr(comparison, frame) for name, comparison in comparisons.items()}
    filled = [rows.assign(build=name) for name, rows in found.items() if len(rows)]
    if not filled:
        return pd.DataFrame()
    whole = pd.concat(filled, ignore_index=True)
    return whole[["build", *whole.columns.drop("build")]]


def _notes(comparisons: Mapping[str, Comparison]) -> Iterator[str]:
    """Notes common to all builds once, the others with the builds they apply to."""
    said: dict[str, list[str]] = {}
    for name, comparison in comparisons.items():
        for note in dict.fromkeys(comparison.notes):
            said.setdefault(note, []).append(name)
    for note, names in said.items():
        yield note if len(names) == len(comparisons) else text("{}: {}", _list(names), note)


def _list(names: Sequence[str]) -> Text:
    *first, last = map(Build, names)
    return text("{} and {}", joined(", ", first), last) if first else Text(last)
