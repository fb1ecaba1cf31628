"""Ledgers, and the diagnoses of small captures, in one line."""

import os
from pathlib import Path

import pandas as pd

import gomem
from gomem.analysis.memory.ledger import Ledger
from tests.builders import CAPTURES

A_MOMENT = 1_700_000_000  # 2023-11-14 22:13:20 UTC
SHRUNK = next(path for path in CAPTURES if path.name == "cache-shrink-go1.12.17")
HEALTHY = next(path for path in CAPTURES if path.name == "healthy-go1.27.3")


def ledger(rss_bytes: int | None, **parts: int) -> Ledger:
    """A ledger of the parts named, in their order."""
    rows = [(part, size, None, "made up") for part, size in parts.items()]
    frame = pd.DataFrame(rows, columns=["part", "bytes", "claimed_bytes", "source"])
    frame = frame.astype({"part": "str", "bytes": "int64", "claimed_bytes": "Int64"})
    frame["confidence"] = "counted"
    checks = pd.DataFrame({"total": [], "bytes": [], "difference_bytes": []})
    return Ledger(rss_bytes, frame, checks, ())


def diagnosis_of(folder: Path, **files: bytes) -> gomem.Diagnosis:
    """The diagnosis of a capture with these files, `/` written as `__` and `.` as `_`."""
    for name, data in files.items():
        path = folder / name.replace("__", "/").replace("_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        os.utime(path, (A_MOMENT, A_MOMENT))
    return gomem.diagnose(folder)


def lazy_free_bytes() -> int:
    """What `SHRUNK` had given back at the end, and what still counted as resident."""
    frame = gomem.load(SHRUNK).smaps
    return int(frame.loc[frame["moment"] == "4-freed", "LazyFree"].sum())
