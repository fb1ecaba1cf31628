"""gomem: where did my Go process's memory go, and did my change help?

Importing gomem is cheap: the names below load their modules when they are first used.

    capture = gomem.load("captures/api")
    diagnosis = gomem.diagnose(capture)
    profile = gomem.read_pprof("heap.pb.gz")
    anything = gomem.read("what-is-this")
    axes = gomem.plot.waterfall(diagnosis)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gomem import plot as plot
    from gomem.capture.capture import Capture as Capture
    from gomem.capture.load import load as load
    from gomem.causes.thresholds import Thresholds as Thresholds
    from gomem.comparison.builds import compare_many as compare_many
    from gomem.comparison.comparison import compare as compare
    from gomem.diagnosis.diagnosis import Diagnosis as Diagnosis
    from gomem.diagnosis.diagnosis import diagnose as diagnose
    from gomem.fleets.fleet import Fleet as Fleet
    from gomem.fleets.fleet import fleet as fleet
    from gomem.inputs.buildinfo.table import read_buildinfo as read_buildinfo
    from gomem.inputs.cgroup.table import read_cgroup as read_cgroup
    from gomem.inputs.escapes.table import read_escapes as read_escapes
    from gomem.inputs.gctrace.table import iter_gctrace as iter_gctrace
    from gomem.inputs.gctrace.table import read_gctrace as read_gctrace
    from gomem.inputs.gobench.table import read_bench as read_bench
    from gomem.inputs.goroutines.table import read_goroutines as read_goroutines
    from gomem.inputs.heapdump.table import read_heapdump as read_heapdump
    from gomem.inputs.limits.table import read_limits as read_limits
    from gomem.inputs.memstats.table import read_memstats as read_memstats
    from gomem.inputs.metrics.table import read_metrics as read_metrics
    from gomem.inputs.pprof.read import read_folded as read_folded
    from gomem.inputs.pprof.read import read_pprof as read_pprof
    from gomem.inputs.read import read as read
    from gomem.inputs.schema import columns as columns
    from gomem.inputs.smaps.table import read_smaps as read_smaps
    from gomem.inputs.status.table import read_statm as read_statm
    from gomem.inputs.status.table import read_status as read_status
    from gomem.inputs.symbols.table import read_symbols as read_symbols
    from gomem.plot import flame as flame

# Plus the parser of every kind in `gomem.inputs.kinds`.
_HOMES = {
    "Capture": "gomem.capture.capture",
    "Diagnosis": "gomem.diagnosis.diagnosis",
    "Thresholds": "gomem.causes.thresholds",
    "columns": "gomem.inputs.schema",
    "compare": "gomem.comparison.comparison",
    "compare_many": "gomem.comparison.builds",
    "diagnose": "gomem.diagnosis.diagnosis",
    "fleet": "gomem.fleets.fleet",
    "Fleet": "gomem.fleets.fleet",
    "flame": "gomem.plot",
    "iter_gctrace": "gomem.inputs.gctrace.table",
    "load": "gomem.capture.load",
    "read": "gomem.inputs.read",
    "read_folded": "gomem.inputs.pprof.read",
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version("gomem")
    if name == "plot":
        return import_module("gomem.plot")
    home = _HOMES.get(name)
    if home is None and name.startswith("read_"):
        home = _readers().get(name)
    if home is None:
        from gomem.errors import did_you_mean

        near = did_you_mean(name, __dir__())
        raise AttributeError(f"module 'gomem' has no attribute {name!r}{near}")
    return getattr(import_module(home), name)


def __dir__() -> list[str]:
    return sorted({*_HOMES, "plot", *_readers()})


def _readers() -> dict[str, str]:
    """Return the parsers of all kinds, by module."""
    from gomem.inputs.kinds import readers

    return readers()
