"""The recordings of `fixtures/retention`, read without a capture: a hundred moments each."""

import json
import tarfile
from dataclasses import dataclass
from datetime import datetime
from functools import cache

import pandas as pd

from gomem.analysis.memory.skew import collection_ends
from gomem.analysis.scavenger.retention import READINGS
from gomem.analysis.scavenger.scavenger import CPU_CLASSES, Scavenger, scavenger
from gomem.inputs.gctrace.table import read_gctrace
from gomem.inputs.schema import build_rows
from gomem.releases import GoVersion, known_version
from gomem.units import KIB, MIB
from tests.builders import FIXTURES

FOLDER = FIXTURES / "retention"
TRUTH = json.loads((FOLDER / "truth.json").read_text())
MEMSTATS = [column.name for column in READINGS[2:10]]


@dataclass(frozen=True)
class Recorded:
    """A recording: the answer about it, its readings, and what the program did when."""

    name: str
    answer: Scavenger
    readings: pd.DataFrame
    did: dict[str, list[dict]]
    version: GoVersion

    def alone(self) -> Scavenger:
        """The answer of the readings alone, without a log."""
        return scavenger(self.readings, self.version)

    def at(self, what: str, number: int = 0) -> float:
        """When the program did something, on the readings' clock."""
        return self.did[what][number]["seconds"]

    def between(self, begin: float, end: float) -> pd.DataFrame:
        """Intervals that lie within a time."""
        rows = self.answer.intervals
        return rows[
            (rows["from_seconds"] >= begin) & (rows["from_seconds"] + rows["seconds"] <= end)
        ]


@cache
def recorded(name: str) -> Recorded:
    """Read an archive and ask about it."""
    files = contents(name)
    manifest = json.loads(files["gomem.json"])
    moments = manifest["moments"]
    zero = min(when(one["time"]) for one in moments)
    truth = TRUTH[name]
    limit = truth["environment"].get("GOMEMLIMIT")
    readings = build_rows(
        [reading(files, one, zero, None if limit is None else 64 * MIB) for one in moments],
        READINGS,
    )
    log = read_gctrace(files["gctrace.log"])
    stats = pd.DataFrame(
        [json.loads(text) for path, text in files.items() if path.endswith("memstats.json")]
    )
    stats["LastGC"] = pd.to_datetime(stats["LastGC"].where(stats["LastGC"] > 0), utc=True)
    ends = (collection_ends(log.cycles, stats) - pd.Timestamp(zero)).dt.total_seconds()
    lines = log.scavenges.assign(seconds=log.scavenges["after_cycle"].map(ends).astype(float))
    version = known_version(manifest["go_version"], "")
    answer = scavenger(readings, version, log.cycles, lines, cpu(files, moments))
    did: dict[str, list[dict]] = {}
    for one in truth["did"]:
        seconds = one["at_ns"] / 1e9 - zero.timestamp()
        did.setdefault(one["what"], []).append(one | {"seconds": seconds})
    return Recorded(name, answer, readings, did, version)


def contents(name: str) -> dict[str, bytes]:
    """The files of an archive by their paths in it."""
    with tarfile.open(FOLDER / f"{name}.tar.gz") as archive:
        return {
            one.name.partition("/")[2]: archive.extractfile(one).read()
            for one in archive
            if one.isfile()
        }


def when(text: str) -> datetime:
    return datetime.fromisoformat(text)


def reading(files: dict[str, bytes], moment: dict, zero: datetime, limit: int | None) -> tuple:
    name = moment["name"]
    stats = json.loads(files.get(f"{name}/memstats.json", b"{}"))
    status = files[f"{name}/status"].decode()
    rollup = files.get(f"{name}/smaps_rollup", b"").decode()
    return (
        name,
        (when(moment["time"]) - zero).total_seconds(),
        *(stats.get(field) for field in MEMSTATS),
        kib(status, "VmRSS"),
        kib(rollup, "LazyFree"),
        None,
        limit,
        "State:\tT" in status,
    )


def kib(text: str, field: str) -> int | None:
    found = [line.split()[1] for line in text.splitlines() if line.startswith(f"{field}:")]
    return int(found[0]) * KIB if found else None


def cpu(files: dict[str, bytes], moments: list[dict]) -> pd.DataFrame:
    told = [json.loads(files.get(f"{one['name']}/metrics.json", b"{}")) for one in moments]
    names = list(CPU_CLASSES.values())
    return pd.DataFrame([[one.get(name) for name in names] for one in told], columns=names)
