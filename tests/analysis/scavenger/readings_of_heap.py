"""Readings that are made up: a heap of so many MiB, kept and given back as told."""

import pandas as pd

from gomem.analysis.scavenger.retention import READINGS
from gomem.inputs.schema import build
from gomem.units import MIB

BESIDE = 4 * MIB  # what the runtime maps beside the heap


def reading(seconds, in_use, idle=0, released=0, **said):
    """One reading; sizes in MiB. HeapAlloc is HeapInuse, NextGC twice that, NumGC 5, RSS absent."""
    sizes = {
        "HeapAlloc": in_use,
        "HeapInuse": in_use,
        "HeapIdle": idle + released,
        "HeapReleased": released,
        "HeapSys": in_use + idle + released,
        "NextGC": 2 * in_use,
        "rss_bytes": None,
        "lazy_free_bytes": None,
        "huge_excess_bytes": None,
        "memory_limit_bytes": None,
    }
    row = {name: None if size is None else size * MIB for name, size in sizes.items()}
    row |= {"moment": f"at {seconds}", "seconds": seconds, "NumGC": 5, "is_stopped": None}
    told = {
        name: value if name in {"NumGC", "is_stopped", "seconds", "moment"} or value is None
        else int(value * MIB)
        for name, value in said.items()
    }  # fmt: skip
    row |= told
    if row["HeapSys"] is not None:
        row.setdefault("Sys", row["HeapSys"] + BESIDE)
    return row


def readings(*rows):
    """Rows as a frame."""
    names = [column.name for column in READINGS]
    return build({name: [row.get(name) for row in rows] for name in names}, READINGS)


def nothing(seconds, **said):
    """A reading without MemStats."""
    names = {column.name: None for column in READINGS}
    return names | {"moment": f"at {seconds}", "seconds": seconds} | said


def codes(frame: pd.DataFrame) -> list[str]:
    """Verdicts as `code/rule`."""
    return [f"{one.code}/{one.rule}".rstrip("/") for one in frame.itertuples()]
