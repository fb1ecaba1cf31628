"""The recorded GC logs, and what the runtime itself said of the same runs."""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from gomem.read import read_gctrace
from gomem.releases import GoRelease, parse_release
from gomem.tables.gctrace import GcLog

GCLOGS = Path(__file__).parent.parent / "fixtures" / "gctrace"
SAMPLE = ("NumGC", "PauseNs", "PauseEnd", "NextGC", "GCCPUFraction", "Latest", "Metrics")


@dataclass(frozen=True)
class Recorded:
    """One log: how it was made, what gomem reads, and what the runtime said, run by run.

    `truth` has a row per collection, by its number; what MemStats and runtime/metrics say of the
    latest collection only stands where `Latest` is set.
    """

    story: str
    release: GoRelease
    log: GcLog
    notes: tuple[dict, ...]
    truth: tuple[pd.DataFrame, ...]

    def run(self, number: int) -> pd.DataFrame:
        """What is read of one run's collections, with what the runtime said of each."""
        cycles = self.log.cycles[self.log.cycles["run"] == number]
        return cycles.set_index("number").join(self.truth[number - 1], how="inner")

    @property
    def runs(self) -> list[pd.DataFrame]:
        return [self.run(number) for number in range(1, len(self.notes) + 1)]

    @property
    def runs_without_leak_checks(self) -> list[pd.DataFrame]:
        """A check for goroutine leaks stops the world once more than the log says."""
        return [run[~run["leak_check"]] for run in self.runs]


def names() -> list[str]:
    return sorted(path.name.partition(".json")[0] for path in GCLOGS.glob("*.json"))


@cache
def recorded(name: str) -> Recorded:
    """A recorded log by its name, such as `plain-go1.12.17`."""
    story, _, release = name.rpartition("-go")
    (path,) = GCLOGS.glob(f"{name}.log*")
    notes = tuple(json.loads(line) for line in (GCLOGS / f"{name}.json").read_text().splitlines())
    truth = tuple(_samples(note["samples"] or []) for note in notes)
    version = parse_release(release)
    assert version is not None
    return Recorded(story, version, read_gctrace(path), notes, truth)


def _samples(samples: list[dict]) -> pd.DataFrame:
    frame = pd.DataFrame(samples, columns=list(SAMPLE)).set_index("NumGC")
    metrics = pd.DataFrame(
        [one if isinstance(one, dict) else {} for one in frame["Metrics"]], index=frame.index
    )
    frame["Latest"] = frame["Latest"].astype(bool)
    return frame.drop(columns="Metrics").join(metrics)


def cut_seconds(durations: pd.Series) -> pd.Series:
    """What the runtime cuts off a duration: it prints two digits, no less than 1 µs."""
    milliseconds = durations.fillna(0).to_numpy(float) * 1000
    digits = np.floor(np.log10(np.maximum(milliseconds, 1e-9))) - 1
    cut = np.where(milliseconds < 0.1, 1e-6, 10.0**digits / 1000)
    return pd.Series(np.where(milliseconds >= 10, 1e-3, cut), index=durations.index)
