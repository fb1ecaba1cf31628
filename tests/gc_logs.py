"""GC logs for tests: made in one line, or recorded, with what the runtime said of the same runs."""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from gomem.facts.collector import CollectorFacts
from gomem.inputs.gctrace.parse import parse_pieces
from gomem.inputs.gctrace.table import GcLog, read_gctrace
from gomem.inputs.memstats.table import read_memstats
from gomem.inputs.packed import PackedFrame
from gomem.releases import GoRelease, parse_release
from tests.gctrace_pieces import join_pieces

GCLOGS = Path(__file__).parent.parent / "fixtures" / "gctrace"
SAMPLE = ("NumGC", "PauseNs", "PauseEnd", "NextGC", "GCCPUFraction", "Latest", "Metrics")

FORM = (
    "{before}gc {number} @{at:.3f}s 1%: {first}+{mark}+{last} ms clock, "
    "0+{assist}/{background}/{idle}+0 ms cpu, {start}->{end}->{live} MB, {goal} MB goal, "
    "{stacks}{p} P{forced}{after}\n"
)
USUAL = {
    "before": "", "first": 0.01, "mark": 1.0, "last": 0.02, "assist": 0.3, "background": 0.7,
    "idle": 0.5, "start": 18, "end": 19, "live": 10, "goal": 20,
    "stacks": "0 MB stacks, 0 MB globals, ", "p": 2, "forced": "", "after": "",
}  # fmt: skip


def parse_gctrace(log, *, source):
    """A whole log's columns and damage."""
    return join_pieces(parse_pieces([log], source=source))


def log_of(*changes: dict, **usual: object) -> GcLog:
    """Collections numbered from 1, a second apart, each as usual but for its changes."""
    lines = (
        FORM.format(**USUAL | {"number": number, "at": float(number)} | usual | change)
        for number, change in enumerate(changes, start=1)
    )
    return read_gctrace("".join(lines).encode())


def cycles_of(*changes: dict, **usual: object) -> pd.DataFrame:
    """Their frame."""
    return log_of(*changes, **usual).cycles


def packed_cycles(cycles: pd.DataFrame, rows: int) -> PackedFrame:
    """The same collections in pieces of so many, as those of a long log come."""
    packed = PackedFrame(cycles)
    for start in range(0, len(cycles), rows):
        packed.append(cycles.iloc[start : start + rows])
    return packed


def facts_of(*changes: dict, gogc_fraction: float | None = None, **usual: object) -> CollectorFacts:
    """What is known of them."""
    return CollectorFacts(log_of(*changes, **usual), "app.log", gogc_fraction)


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


@cache
def captured(path: Path) -> GcLog:
    """The log of a recorded capture."""
    return read_gctrace(path / "gctrace.log")


@cache
def captured_facts(path: Path) -> CollectorFacts:
    """What is known of it."""
    return CollectorFacts(captured(path), "gctrace.log")


@cache
def dumps_of(path: Path) -> pd.DataFrame:
    """The MemStats of a recorded capture, moment after moment."""
    dumps = [read_memstats(dump).stats for dump in sorted(path.glob("*/memstats.json"))]
    return pd.concat(dumps, ignore_index=True)


def names() -> list[str]:
    return sorted(path.name.partition(".json")[0] for path in GCLOGS.glob("*.json"))


def release_of(name: str) -> GoRelease:
    """The release that wrote a recorded log, from the log's name: nothing is read."""
    version = parse_release(name.rpartition("-go")[2])
    assert version is not None
    return version


def story_of(name: str) -> str:
    """How a recorded log was made, from its name: nothing is read."""
    return name.rpartition("-go")[0]


@cache
def recorded(name: str) -> Recorded:
    """A recorded log by its name, such as `plain-go1.12.17`."""
    (path,) = GCLOGS.glob(f"{name}.log*")
    notes = tuple(json.loads(line) for line in (GCLOGS / f"{name}.json").read_text().splitlines())
    truth = tuple(_samples(note["samples"] or []) for note in notes)
    return Recorded(story_of(name), release_of(name), read_gctrace(path), notes, truth)


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
