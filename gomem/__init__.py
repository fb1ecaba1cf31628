"""gomem: where did my Go process's memory go, and did my change help?

The names below load what they need when they are first used; importing gomem costs nothing.

    capture = gomem.load("captures/api")
    diagnosis = gomem.diagnose(capture)
    profile = gomem.read_pprof("heap.pb.gz")
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gomem.capture.capture import Capture, load
    from gomem.causes.thresholds import GcThresholds
    from gomem.diagnosis.comparison import compare
    from gomem.diagnosis.diagnosis import Diagnosis, diagnose
    from gomem.inputs.read import (
        iter_gctrace,
        read_bench,
        read_cgroup,
        read_escapes,
        read_folded,
        read_gctrace,
        read_limits,
        read_memstats,
        read_metrics,
        read_pprof,
        read_smaps,
        read_status,
    )
    from gomem.views.figures.flame_graph import flame

__version__ = "0.1.0"

_HOMES = {
    "Capture": "gomem.capture.capture",
    "Diagnosis": "gomem.diagnosis.diagnosis",
    "GcThresholds": "gomem.causes.thresholds",
    "compare": "gomem.diagnosis.comparison",
    "diagnose": "gomem.diagnosis.diagnosis",
    "flame": "gomem.views.figures.flame_graph",
    "iter_gctrace": "gomem.inputs.read",
    "load": "gomem.capture.capture",
    "read_bench": "gomem.inputs.read",
    "read_escapes": "gomem.inputs.read",
    "read_cgroup": "gomem.inputs.read",
    "read_folded": "gomem.inputs.read",
    "read_gctrace": "gomem.inputs.read",
    "read_limits": "gomem.inputs.read",
    "read_memstats": "gomem.inputs.read",
    "read_metrics": "gomem.inputs.read",
    "read_pprof": "gomem.inputs.read",
    "read_smaps": "gomem.inputs.read",
    "read_status": "gomem.inputs.read",
}

__all__ = [
    "Capture",
    "Diagnosis",
    "GcThresholds",
    "compare",
    "diagnose",
    "flame",
    "iter_gctrace",
    "load",
    "read_bench",
    "read_cgroup",
    "read_escapes",
    "read_folded",
    "read_gctrace",
    "read_limits",
    "read_memstats",
    "read_metrics",
    "read_pprof",
    "read_smaps",
    "read_status",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'gomem' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
