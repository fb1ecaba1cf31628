"""What changed and how far the limit is, as the JSON report has them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from gomem.units import is_unknown
from gomem.views.share import named

if TYPE_CHECKING:
    import pandas as pd

    from gomem.analysis.memory.limits import CgroupUse, LimitAdvice, TimeToLimit
    from gomem.diagnosis.changes import Change
    from gomem.diagnosis.diagnosis import Diagnosis


def changes_json(diagnosis: Diagnosis) -> list[dict[str, Any]]:
    """From each moment to the next, and from the baseline, if there is one, first."""
    against = diagnosis.change_against_baseline
    steps = [_change(one, of_baseline=False) for one in diagnosis.changes]
    return steps if against is None else [_change(against, of_baseline=True), *steps]


def _change(change: Change, *, of_baseline: bool) -> dict[str, Any]:
    mappings = change.mappings
    return {
        "before": named(change.before),
        "after": named(change.after),
        "before_is_baseline": of_baseline,
        "rss_change_bytes": change.ledger.rss_change_bytes,
        "verdict": change.ledger.verdict,
        "sentence": change.ledger.sentence,
        "parts": _rows(change.ledger.parts),
        "mappings": []
        if mappings is None
        else _rows(mappings.loc[mappings["change_bytes"] != 0].drop(columns="path")),
    }


def limits_json(diagnosis: Diagnosis) -> dict[str, Any] | None:
    """Null where nothing tells; `never` is the word for a limit that is not reached."""
    limits = diagnosis.limits
    if limits is None:
        return None
    return {
        "moment": named(limits.moment),
        "worst_case": [
            {
                "moment": named(moment),
                "rss_bytes": worst.rss_bytes,
                "worst_rss_bytes": worst.worst_bytes,
                "retaken_rss_bytes": worst.retaken_bytes,
            }
            for moment, worst in limits.worst.items()
        ],
        "cgroup": None if limits.cgroup is None else _cgroup(limits.cgroup),
        "time_to_limit": None if limits.growth is None else _growth(limits.growth),
        "gomemlimit_bytes": limits.gomemlimit_bytes,
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
        "counters": _rows(use.counters),
    }


def _growth(growth: TimeToLimit) -> dict[str, Any]:
    return {
        "slope_bytes_per_second": growth.slope_bytes_per_second,
        "slope_low_bytes_per_second": growth.slope_low,
        "slope_high_bytes_per_second": growth.slope_high,
        "seconds": _or_never(growth.seconds),
        "soonest_seconds": _or_never(growth.soonest_seconds),
        "latest_seconds": _or_never(growth.latest_seconds),
        "points": growth.points,
    }


def _or_never(seconds: float) -> float | str:
    return "never" if math.isinf(seconds) else seconds


def _advice(advice: LimitAdvice) -> dict[str, Any]:
    return {
        "gomemlimit_bytes": advice.gomemlimit_bytes,
        "needed_bytes": advice.needed_bytes,
        "enough": advice.enough,
        "steps": _rows(advice.steps),
        "note": advice.note,
    }


def _rows(frame: pd.DataFrame) -> list[dict[str, Any]]:
    return [
        {str(name): None if is_unknown(value) else value for name, value in row.items()}
        for row in frame.to_dict("records")
    ]
