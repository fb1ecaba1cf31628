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
    from gomem.capture import Capture, load
    from gomem.causes.thresholds import GcThresholds
    from gomem.comparison import compare
    from gomem.diagnosis import Diagnosis, diagnose
    from gomem.read import (
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
    from gomem.views.flame_graph import flame

__version__ = "0.1.0"

_HOMES = {
    "Capture": "gomem.capture",
    "Diagnosis": "gomem.diagnosis",
    "GcThresholds": "gomem.causes.thresholds",
    "compare": "gomem.comparison",
    "diagnose": "gomem.diagnosis",
    "flame": "gomem.views.flame_graph",
    "iter_gctrace": "gomem.read",
    "load": "gomem.capture",
    "read_bench": "gomem.read",
    "read_escapes": "gomem.read",
    "read_cgroup": "gomem.read",
    "read_folded": "gomem.read",
    "read_gctrace": "gomem.read",
    "read_limits": "gomem.read",
    "read_memstats": "gomem.read",
    "read_metrics": "gomem.read",
    "read_pprof": "gomem.read",
    "read_smaps": "gomem.read",
    "read_status": "gomem.read",
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
