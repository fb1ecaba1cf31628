"""What the collector cost, as OpenMetrics text: for a push gateway, or a textfile collector.

The format is OpenMetrics 1.0: a family's name ends in its unit, a counter's sample in `_total`,
and the text in `# EOF`. What the log leaves open is left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from gomem.analysis.collector.cost import GcCost

Samples = list[tuple[str, float | None]]  # what follows the family's name, and the value

PREFIX = "gomem_gc_"
QUANTILES = {"0.5": "p50", "0.9": "p90", "0.99": "p99", "1": "max"}


@dataclass(frozen=True)
class _Family:
    """A metric, and the value of the summary that it shows."""

    name: str
    kind: str
    unit: str
    help: str
    value: str


FAMILIES = (
    _Family("cycles", "counter", "", "Collections in the log.", "cycles"),
    _Family("forced_cycles", "counter", "", "Collections that the program asked for.", "forced"),
    _Family(
        "periodic_cycles", "counter", "", "Collections after two minutes without one.", "periodic"
    ),
    _Family("runs", "gauge", "", "Processes in the log.", "runs"),
    _Family(
        "log_seconds", "gauge", "seconds", "First to last collection, over all runs.", "seconds"
    ),
    _Family(
        "stw_seconds", "summary", "seconds", "World stopped for a collection, both stops.", "stw"
    ),
    _Family(
        "longest_stop_seconds", "gauge", "seconds", "Longest single stop.", "longest_stop_seconds"
    ),
    _Family("interval_seconds", "summary", "seconds", "From a collection to the next.", "interval"),
    _Family(
        "cpu_ratio",
        "gauge",
        "ratio",
        "Share of the CPU that GOMAXPROCS allowed, taken by collections, without idle marking.",
        "gc_cpu_fraction",
    ),
    _Family(
        "assist_ratio",
        "gauge",
        "ratio",
        "Share of marking done by allocating goroutines.",
        "assist_fraction",
    ),
    _Family(
        "allocation_bytes_per_second",
        "gauge",
        "bytes_per_second",
        "Bytes allocated per second; the bounds are those of rounding to whole MiB.",
        "allocation_rate",
    ),
    _Family(
        "heap_live_bytes",
        "gauge",
        "bytes",
        "Marked by the last collection.",
        "heap_live_last_bytes",
    ),
    _Family("heap_peak_bytes", "gauge", "bytes", "Largest heap in the log.", "heap_peak_bytes"),
    _Family("heap_goal_bytes", "gauge", "bytes", "Goal of the last collection.", "heap_goal_bytes"),
)


def render_openmetrics(summary: GcCost, labels: Mapping[str, str] | None = None) -> str:
    """The summary as text; the labels, such as the log's name, are put on every sample."""
    lines = [line for family in FAMILIES for line in _lines(family, summary, labels or {})]
    return "\n".join([*lines, "# EOF"]) + "\n"


def _lines(family: _Family, summary: GcCost, labels: Mapping[str, str]) -> Iterator[str]:
    samples = _samples(family, summary, labels)
    if not samples:
        return
    name = PREFIX + family.name
    yield f"# TYPE {name} {family.kind}"
    if family.unit:
        yield f"# UNIT {name} {family.unit}"
    yield f"# HELP {name} {family.help}"
    for sample, value in samples:
        yield f"{name}{sample} {value!r}"


def _samples(
    family: _Family, summary: GcCost, labels: Mapping[str, str]
) -> list[tuple[str, float]]:
    value = getattr(summary, family.value)
    if family.value == "allocation_rate":
        bounds = {"estimate": value.value, "low": value.low, "high": value.high}
        found: Samples = [
            (_labelled("", {**labels, "bound": name}), one) for name, one in bounds.items()
        ]
    elif family.kind == "summary":
        found = [
            (_labelled("", {**labels, "quantile": quantile}), getattr(value, name))
            for quantile, name in QUANTILES.items()
        ]
        found.append((_labelled("_count", labels), value.n))
    else:
        found = [(_labelled("_total" if family.kind == "counter" else "", labels), value)]
    return [(sample, one) for sample, one in found if one is not None]


def _labelled(suffix: str, labels: Mapping[str, str]) -> str:
    if not labels:
        return suffix
    pairs = ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items())
    return f"{suffix}{{{pairs}}}"


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace("\n", "\\n").replace('"', '\\"')
