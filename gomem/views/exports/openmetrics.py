"""The cost of GC as OpenMetrics text, for a push gateway or a textfile collector.

The format is OpenMetrics 1.0: a family's name ends in its unit, a counter's sample in `_total`, and
the text in `# EOF`. Values that the log does not have are left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gomem.analysis.collector.cost import GcCost

PREFIX = "gomem_gc_"
QUANTILES = {"0.5": "p50", "0.9": "p90", "0.99": "p99", "1": "max"}


class _Family(NamedTuple):
    """A metric family, and the summary's value that it shows."""

    name: str
    kind: str
    unit: str
    value: str
    help: str


FAMILIES = (
    _Family("cycles", "counter", "", "cycles", "Collections in the log."),
    _Family("forced_cycles", "counter", "", "forced", "Collections that the program forced."),
    _Family("periodic_cycles", "counter", "", "periodic",
            "Collections after two minutes without one."),
    _Family("runs", "gauge", "", "runs", "Processes in the log."),
    _Family("log_seconds", "gauge", "seconds", "seconds",
            "Time from first to last collection, over all runs."),
    _Family("stw_seconds", "summary", "seconds", "stw",
            "Total STW pause of a collection."),
    _Family("longest_stop_seconds", "gauge", "seconds", "longest_stop_seconds",
            "Longest single STW phase."),
    _Family("interval_seconds", "summary", "seconds", "interval",
            "Time from one collection to the next."),
    _Family("cpu_ratio", "gauge", "ratio", "gc_cpu_fraction",
            "CPU of collections without idle marking, as a share of GOMAXPROCS."),
    _Family("assist_ratio", "gauge", "ratio", "assist_fraction",
            "Share of marking done by allocating goroutines."),
    _Family("allocation_bytes_per_second", "gauge", "bytes_per_second", "allocation_rate",
            "Bytes allocated per second; the bounds come from rounding to whole MiB."),
    _Family("heap_live_bytes", "gauge", "bytes", "heap_live_last_bytes",
            "Live heap marked by the last collection."),
    _Family("heap_peak_bytes", "gauge", "bytes", "heap_peak_bytes", "Largest heap in the log."),
    _Family("heap_goal_bytes", "gauge", "bytes", "heap_goal_bytes",
            "Heap goal of the last collection."),
)  # fmt: skip


def render_openmetrics(summary: GcCost, labels: Mapping[str, str] | None = None) -> str:
    """Write the summary as text; `labels`, such as the log's name, go on every sample."""
    lines = []
    for family in FAMILIES:
        name, samples = PREFIX + family.name, _samples(family, summary, labels or {})
        unit = [f"# UNIT {name} {family.unit}"] if family.unit else []
        told = [f"{name}{sample} {value!r}" for sample, value in samples if value is not None]
        if told:
            lines += [f"# TYPE {name} {family.kind}", *unit, f"# HELP {name} {family.help}", *told]
    return "\n".join([*lines, "# EOF"]) + "\n"


def _samples(
    family: _Family, summary: GcCost, labels: Mapping[str, str]
) -> list[tuple[str, float | None]]:
    """Sample name suffixes and values."""
    value = getattr(summary, family.value)
    if family.value == "allocation_rate":
        bounds = {"estimate": value.value, "low": value.low, "high": value.high}
        return [(_labelled("", {**labels, "bound": name}), bound) for name, bound in bounds.items()]
    if family.kind == "summary":
        found = [
            (_labelled("", {**labels, "quantile": quantile}), getattr(value, name))
            for quantile, name in QUANTILES.items()
        ]
        return [*found, (_labelled("_count", labels), value.n)]
    return [(_labelled("_total" if family.kind == "counter" else "", labels), value)]


def _labelled(suffix: str, labels: Mapping[str, str]) -> str:
    if not labels:
        return suffix
    escapes = str.maketrans({"\\": r"\\", "\n": r"\n", '"': r"\""})
    pairs = ",".join(f'{name}="{value.translate(escapes)}"' for name, value in labels.items())
    return f"{suffix}{{{pairs}}}"
