"""Which instance differs from the others, in which quantity, and at what cost?

A single value of an instance cannot separate a change from noise, but the instances are a
population. If one pod has 4 201 goroutines and every other pod has one, no second measurement is
needed. Each value is compared with the median of the others by a robust z. The value must stand out
on a linear and on a log scale, because loads can spread over several times their median.

The result has one row per instance. Several unusual quantities often have one cause: leaked
goroutines bring stacks and heap with them. So a row names a count that is far from the others, or
else the most expensive quantity.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gomem.analysis.fleet import thresholds
from gomem.analysis.fleet.population import Population, populations
from gomem.analysis.fleet.quantities import BY_NAME
from gomem.analysis.fleet.settings import setting_outliers
from gomem.inputs.schema import Column, build_rows
from gomem.numbered import Build, Collected, Instance, Service
from gomem.statistics.robust import distance, log_distance
from gomem.text import Function, Text, Words
from gomem.units import is_digits

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    import pandas as pd

OUTLIERS = (
    Column("instance", "str", "", "The instance that is unlike the others.", Instance),
    Column("service", "str", "", "Its program.", Service),
    Column("build", "str", "", "Its build.", Build),
    Column("capture", "str", "", "The capture that shows it.", Collected),
    Column(
        "what", "str", "", "part, count, rate, setting, or total if no file says which part.", Words
    ),
    Column("part", "str", "", "Which: one of `QUANTITIES`, or a setting.", Words),
    Column("unit", "str", "", "Unit of value and median; empty for a setting.", Words),
    Column("value", "float64", "", "What it has; missing for a setting that is no number."),
    Column("median", "float64", "", "The median of the others."),
    Column("z", "float64", "ratio", "How far apart, in spreads of the others; none of a setting."),
    Column("cost_bytes", "float64", "B", "Memory that it has beyond the median; missing if none."),
    Column("cost_cpu_fraction", "float64", "fraction", "CPU beyond the median; missing if none."),
    Column(
        "code", "str", "", "The cause by its own findings, else the likeliest; may be empty.", Words
    ),
    Column("confirmed", "bool", "", "Whether the instance's own findings name that cause."),
    Column(
        "site", "str", "", "Where in the program most of it is; empty if nothing says.", Function
    ),
    Column("also", "str", "", "What else is unusual about it, joined by blanks.", Words),
    Column(
        "settings",
        "object",
        "",
        "Settings in which it differs: `GOGC 10, not 100`; else empty.",
        Text,
    ),
)
# Memory that accompanies what is counted.
BROUGHT_ALONG = {
    "goroutines": ("stacks", "live_heap", "heap_objects", "heap_slack", "heap_idle"),
    "threads": ("thread_stacks", "native"),
}
SAME_MEMORY = {"heap_objects": "live_heap"}  # the second is the first without garbage
RATE_ORDER = ("gc_cpu_fraction", "stw_p99_seconds", "allocation_rate_bytes_per_second")


@dataclass(frozen=True)
class Excess:
    """A quantity of an instance that is far above that of the other instances."""

    instance: str
    service: str
    build: str
    capture: str
    name: str
    value: float
    median: float
    z: float
    n: int

    @property
    def beyond(self) -> float:
        """The value minus the median of the others."""
        return self.value - self.median


def outliers(
    values: pd.DataFrame, settings: pd.DataFrame, findings: pd.DataFrame, sites: pd.DataFrame
) -> pd.DataFrame:
    """Return a row per instance that is unlike the others, the costliest first; see `OUTLIERS`.

    Args:
        values: See `population.CURRENT`.
        settings: See `frames.SETTINGS`, of all captures.
        findings: See `frames.FINDINGS`.
        sites: See `frames.SITES`.
    """
    found: dict[tuple[str, str], list[Excess]] = {}
    for population in populations(values):
        for excess in excesses(population):
            found.setdefault((excess.service, excess.instance), []).append(excess)
    differing = setting_outliers(settings)
    every = (_row(each, differing.get(of, {}), findings, sites) for of, each in found.items())
    rows = [row for row in every if row is not None]
    named = {(row[1], row[0]) for row in rows}
    rows += [_of_settings(settings, *of, each) for of, each in differing.items() if of not in named]
    rows.sort(key=lambda row: (-_cost(row[10], row[11]), row[0]))
    return build_rows(rows, OUTLIERS)


def excesses(population: Population) -> Iterator[Excess]:
    """Yield the values far above those of the other instances, unless there are too many."""
    values, rows = population.values, population.rows
    quantity = BY_NAME[population.name]
    least = _least(population)
    found = []
    for place in np.flatnonzero(values >= np.median(values)):
        others = population.others_of(int(place))
        value, median = float(values[place]), float(np.median(others))
        if value - median < least or value < thresholds.MIN_TIMES * median:
            continue
        is_count = quantity.unit == "count"
        z = distance(
            value,
            others,
            min_share=thresholds.MIN_SPREAD,
            is_count=is_count,
            least=0.0 if is_count else least / thresholds.MIN_DISTANCE,
        )
        log_z = log_distance(value, others, offset=least, min_spread=thresholds.MIN_LOG_SPREAD)
        row = rows.iloc[int(place)]
        is_counted = quantity.what != "rate" or row["n"] >= thresholds.MIN_GCS
        if is_counted and min(z, log_z) >= thresholds.MIN_DISTANCE:
            named = (row["instance"], row["service"], row["build"], row["capture"])
            found.append(Excess(*named, population.name, value, median, z, int(row["n"])))
    if len(found) <= max(1, thresholds.MAX_OUTLIERS_SHARE * len(values)):
        yield from found


def _least(population: Population) -> float:
    if population.name == "threads":
        return thresholds.MIN_THREADS
    return thresholds.MIN_DIFFERENCE[population.unit]


def main_excess(found: Iterable[Excess]) -> Excess | None:
    """Return the main difference of an instance; None if the instance's load explains them all."""
    by_name = {excess.name: excess for excess in found}
    counts = [by_name[name] for name in BY_NAME if name in by_name and _is(name, "count")]
    far = [each for each in counts if each.value >= thresholds.MIN_COUNT_TIMES * each.median]
    if far:
        return max(far, key=lambda each: each.z)
    for part, rather in SAME_MEMORY.items():
        if rather in by_name:
            by_name.pop(part, None)
    parts = [each for name, each in by_name.items() if _is(name, "part")]
    rates = [by_name[name] for name in RATE_ORDER[:1] if name in by_name]
    costly = sorted([*parts, *rates], key=lambda each: _cost(*_costs(each, by_name)), reverse=True)
    rest = [by_name[name] for name in RATE_ORDER[1:] if name in by_name]
    totals = [by_name[name] for name in ("rss_bytes",) if name in by_name]
    return next(iter([*costly, *counts, *rest, *totals]), None)


def _row(
    found: list[Excess],
    differing: Mapping[str, tuple[str, str]],
    findings: pd.DataFrame,
    sites: pd.DataFrame,
) -> tuple[Any, ...] | None:
    main = main_excess(found)
    if main is None:
        return None
    by_name = {excess.name: excess for excess in found}
    quantity = BY_NAME[main.name]
    code, is_confirmed = _code(main, findings)
    also = " ".join(name for name in BY_NAME if name in by_name and name != main.name)
    return (
        main.instance, main.service, main.build, main.capture, quantity.what, main.name,
        quantity.unit, main.value, main.median, main.z, *_costs(main, by_name), code,
        is_confirmed, _site(main, sites), also, _said(differing),
    )  # fmt: skip


def _costs(main: Excess, by_name: Mapping[str, Excess]) -> tuple[float, float]:
    """Return bytes and CPU beyond the median; NaN if the quantity is neither."""
    if BY_NAME[main.name].what in {"part", "total"}:
        return main.beyond, np.nan
    if main.name == "gc_cpu_fraction":
        return np.nan, main.beyond
    brought = [by_name[name] for name in BROUGHT_ALONG.get(main.name, ()) if name in by_name]
    if any(each.name == "live_heap" for each in brought):
        brought = [each for each in brought if each.name != "heap_objects"]
    return (sum(each.beyond for each in brought) or np.nan), np.nan


def _cost(size: float, cpu: float) -> float:
    """Return the rank of an excess."""
    shares = (size / thresholds.RANKED_LIKE_ALL_CPU, cpu)
    return max((share for share in shares if not np.isnan(share)), default=0.0)


def _is(name: str, what: str) -> bool:
    return BY_NAME[name].what == what


def _of_instance(frame: pd.DataFrame, excess: Excess) -> pd.DataFrame:
    mine = (frame["service"] == excess.service) & (frame["instance"] == excess.instance)
    return frame[mine]


def _code(main: Excess, findings: pd.DataFrame) -> tuple[str, bool]:
    """Return the likeliest cause, preferably from its findings, and whether they name it."""
    codes = BY_NAME[main.name].codes
    own = set(_of_instance(findings, main)["code"])
    named = [code for code in codes if code in own]
    return (named or [*codes, ""])[0], bool(named)


def _site(main: Excess, sites: pd.DataFrame) -> str:
    """Return the function furthest above the median of the others; empty if unknown."""
    kind = "goroutine" if main.name == "goroutines" else "inuse_space"
    if main.name not in {"goroutines", "live_heap", "heap_objects"}:
        return ""
    of_kind = sites[(sites["sample_type"] == kind) & (sites["service"] == main.service)]
    own = of_kind[of_kind["capture"] == main.capture]
    if own.empty:
        return ""
    others = of_kind[of_kind["instance"] != main.instance]
    usual = others.groupby("function")["flat"].median()
    beyond = own.set_index("function")["flat"] - usual.reindex(own["function"]).fillna(0).to_numpy()
    return str(beyond.idxmax()) if beyond.max() > 0 else ""


def _of_settings(
    settings: pd.DataFrame, service: str, instance: str, differing: Mapping[str, tuple[str, str]]
) -> tuple[Any, ...]:
    """Return the row of an instance that differs only in its settings."""
    mine = (settings["service"] == service) & (settings["instance"] == instance)
    last = settings[mine].iloc[-1]
    name, (own, usual) = next(iter(differing.items()))
    numbers = [float(text) if is_digits(text) else np.nan for text in (own, usual)]
    return (
        instance, service, last["build"], last["capture"], "setting", name, "", *numbers, np.nan,
        np.nan, np.nan, "", False, "", "", _said(differing),
    )  # fmt: skip


def _said(differing: Mapping[str, tuple[str, str]]) -> str:
    """List the instance's own settings, each with the usual value."""
    return ", ".join(f"{name} {own}, not {usual}" for name, (own, usual) in differing.items())
