"""Frames of made-up fleets, a row or two at a time."""

import pandas as pd

from gomem.analysis.fleet.frames import FINDINGS, LEVELS, SETTINGS, SITES
from gomem.analysis.fleet.quantities import BY_NAME
from gomem.inputs.schema import build_rows


def at(hours):
    return None if hours is None else pd.Timestamp("2026-01-01T00:00Z") + pd.Timedelta(hours=hours)


def level(instance, name, value, *, build="v1", service="api", hours=0, n=30):
    capture = f"{instance}/{hours}"
    keys = (capture, instance, service, build, at(hours))
    return (*keys, name, BY_NAME[name].unit, n, *[float(value)] * 5)


def levels(*rows):
    return build_rows(rows, LEVELS)


def setting(instance, name, value, known_by="metrics"):
    return (f"{instance}/0", instance, "api", "v1", at(0), name, value, known_by)


def settings(*rows):
    return build_rows(rows, SETTINGS)


def findings(*rows):
    """Each an instance and a code."""
    return build_rows(
        (
            (f"{name}/0", name, "api", "v1", at(0), code, "warning", "likely", True, None,
             float("nan"), "", "")
            for name, code in rows
        ),
        FINDINGS,
    )  # fmt: skip


def sites(*rows):
    """Each an instance, a sample type, a function and what it has."""
    return build_rows(
        (
            (f"{name}/0", name, "api", "v1", at(0), "m", kind, function, flat, None, None, 0.5)
            for name, kind, function, flat in rows
        ),
        SITES,
    )
