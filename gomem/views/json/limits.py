"""How far the limit is, for JSON."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from gomem.text import MomentName
from gomem.views.json.rows import rows_json

if TYPE_CHECKING:
    from gomem.analysis.memory.limits import CgroupUse, LimitAdvice
    from gomem.diagnosis.diagnosis import Diagnosis
    from gomem.diagnosis.limits import Limits


def limits_json(diagnosis: Diagnosis) -> dict[str, Any] | None:
    """Null where nothing tells; `never` is the word for a limit that is not reached."""
    limits = diagnosis.limits
    if limits is None:
        return None
    return {
        "moment": MomentName(limits.moment),
        "worst_case": [
            {
                "moment": MomentName(moment),
                "rss_bytes": worst.rss_bytes,
                "worst_rss_bytes": worst.worst_bytes,
                "retaken_rss_bytes": worst.retaken_bytes,
            }
            for moment, worst in limits.worst.items()
        ],
        "cgroup": None if limits.cgroup is None else _cgroup(limits.cgroup),
        "time_to_limit": None if limits.growth is None else _growth(limits),
        "gomemlimit_bytes": limits.gomemlimit_bytes,
        "address_space": None
        if limits.address_space is None
        else {
            "limit_bytes": limits.address_space.limit_bytes,
            "mapped_bytes": limits.address_space.mapped_bytes,
        },
        "advice": None if limits.advice is None else _advice(limits.advice),
    }


def _cgroup(use: CgroupUse) -> dict[str, Any]:
    return {
        "limit_bytes": use.limit_bytes,
        "high_bytes": use.high_bytes,
        "current_bytes": use.current_bytes,
        "peak_bytes": use.peak_bytes,
        "working_set_bytes": use.working_set_bytes,
        "unreclaimable_bytes": use.unreclaimable_bytes,
        "headroom_bytes": use.headroom_bytes,
        "killer": use.killer,
        "oom_kills": use.oom_kills,
        "counters": rows_json(use.counters),
    }


def _growth(limits: Limits) -> dict[str, Any]:
    growth = limits.growth
    assert growth is not None
    return {
        "slope_bytes_per_second": growth.slope_bytes_per_second,
        "slope_low_bytes_per_second": growth.slope_low,
        "slope_high_bytes_per_second": growth.slope_high,
        "seconds": _or_never(growth.seconds),
        "soonest_seconds": _or_never(growth.soonest_seconds),
        "latest_seconds": _or_never(growth.latest_seconds),
        "points": growth.points,
        "bounded": limits.bounded,
    }


def _or_never(seconds: float) -> float | str:
    return "never" if math.isinf(seconds) else seconds


def _advice(advice: LimitAdvice) -> dict[str, Any]:
    return {
        "gomemlimit_bytes": advice.gomemlimit_bytes,
        "needed_bytes": advice.needed_bytes,
        "enough": advice.enough,
        "steps": rows_json(advice.steps),
        "note": advice.note,
    }
