"""The laboratory's captures: what was done to each process, and what gomem says of it."""

from __future__ import annotations

import hashlib
import json
import re
import tarfile
import tempfile
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import gomem
from gomem.units import BYTE_UNITS
from gomem.views.json.report import report_json
from tests.builders import FIXTURES
from tools.said_bounds import bounds_said, cpu_bounds_said

LABORATORY = FIXTURES / "laboratory"
WITHIN = 0.10  # a size is named right within this
LIVE = "live"  # what a program measured of itself where the rest of the heap is room
GROWN_TO = re.compile(r", to ([\d.]+) ([KMG]iB)")


@cache
def truth() -> dict[str, Any]:
    """What was done, by the capture's name."""
    return json.loads((LABORATORY / "truth.json").read_text())


def sets() -> list[int]:
    """The sets that the captures were recorded in; no rule had seen a later one when it came."""
    return sorted({told["set"] for told in truth().values()})


def names_of(number: int | None = None) -> list[str]:
    """The captures of one set, or of all."""
    return [name for name, told in truth().items() if number in (None, told["set"])]


def path_of(name: str) -> Path:
    return LABORATORY / "captures" / f"{name}.tar.gz"


@dataclass(frozen=True)
class Size:
    """How a finding's size stands to what was measured.

    Attributes:
        code: The cause.
        what: What was measured; the unit where the finding names no size.
        off: How far off the size is, as a part of what was measured; None where it names none.
        bounded: Whether its title calls the size a bound, and what was measured lies beyond it.
        settled: Whether a heap grew to what its title says, by the runtime's own count behind two
            collections at the end. A program's own count is of what it keeps itself; what its
            libraries and maps add to that, the runtime counts alone.
    """

    code: str
    what: str
    off: float | None
    bounded: bool
    settled: bool = False

    @property
    def near(self) -> bool:
        """Whether the size itself is right."""
        return self.off is not None and self.off <= WITHIN


@dataclass(frozen=True)
class Answer:
    """What gomem says of one capture, beside its truth."""

    name: str
    findings: list[dict[str, Any]]
    sentence: str

    @property
    def true_codes(self) -> list[str]:
        return [cause["code"] for cause in truth()[self.name]["causes"]]

    @property
    def healthy(self) -> bool:
        return truth()[self.name]["healthy"]

    @property
    def mechanisms(self) -> list[dict[str, Any]]:
        """The findings about the process; those about the data stand apart."""
        return [finding for finding in self.findings if not finding["code"].startswith("data-")]

    @property
    def warnings(self) -> list[dict[str, Any]]:
        return [mechanism for mechanism in self.mechanisms if mechanism["severity"] != "info"]

    @property
    def first(self) -> str:
        """The first warning's code; else the first finding's in brackets; else none."""
        if self.warnings:
            return self.warnings[0]["code"]
        return f"({self.mechanisms[0]['code']})" if self.mechanisms else "none"

    @property
    def also_right(self) -> list[str]:
        """Other codes by which, its truth says, the first cause is named as rightly."""
        return truth()[self.name].get("also_right", [])

    @property
    def right(self) -> bool:
        """A healthy process is warned of nothing; of another the first finding is a true one."""
        if self.healthy:
            return not self.warnings
        return self.first.strip("()") in {*self.true_codes, *self.also_right}

    @property
    def measured(self) -> set[str]:
        """What was done, and what was measured beside it, such as a long pause."""
        return {*self.true_codes, *self.also_right, *truth()[self.name]["beside"]}

    @property
    def missed(self) -> list[str]:
        found = {mechanism["code"] for mechanism in self.mechanisms}
        return [code for code in self.true_codes if code not in found]

    @property
    def confidently_wrong(self) -> list[str]:
        """Warnings of what was not done, said as certain or likely."""
        return [
            f"{warning['code']} ({warning['confidence']})"
            for warning in self.warnings
            if warning["code"] not in self.measured and warning["confidence"] != "possible"
        ]

    @property
    def sizes(self) -> list[Size]:
        """Of each cause found, how its size stands to what was measured.

        Several measures can be meant (all that a leak holds, what it grew by): the nearest
        counts. A finding whose title says that its size is the least, or the most, is held to that.
        """
        rows = []
        for cause in truth()[self.name]["causes"]:
            for unit in ("bytes", "cpu_fraction"):
                named = [
                    mechanism
                    for mechanism in self.mechanisms
                    if mechanism["code"] == cause["code"] and mechanism.get(unit) is not None
                ]
                real = {name: size for name, size in cause.get(unit, {}).items() if size > 0}
                if real and cause["code"] not in self.missed:
                    size = _size(cause["code"], unit, named[0] if named else None, real)
                    rows.append(replace(size, settled=_is_settled(named, truth()[self.name])))
        return rows


def _size(code: str, unit: str, finding: dict[str, Any] | None, real: dict[str, float]) -> Size:
    if finding is None:
        return Size(code, unit, None, bounded=False)
    said = {name: _said(finding, unit, name) for name in real}
    off, what = min((abs(said[name] / size - 1), name) for name, size in real.items())
    bounded = any(
        low <= size * (1 + WITHIN) and size * (1 - WITHIN) <= high
        for name, size in real.items()
        for low, high in _bounds_said(finding, unit, name)
    )
    return Size(code, what, off, bounded=bounded)


def _is_settled(named: list[dict[str, Any]], told: dict[str, Any]) -> bool:
    """Whether the title of growth says what the heap had behind two collections at the end."""
    heap = told["settled"].get("heap_alloc", 0)
    to = _in_title(GROWN_TO, named[0]) if named and named[0]["code"] == "heap-growth" else None
    return bool(heap and to and abs(to / heap - 1) <= WITHIN)


def _in_title(pattern: re.Pattern[str], finding: dict[str, Any]) -> float | None:
    """A size that the title names."""
    found = pattern.search(finding["title"])
    return None if found is None else float(found[1]) * BYTE_UNITS[found[2]]


def _said(finding: dict[str, Any], unit: str, what: str) -> float:
    """The size of a finding; what it says is live, or all free slots, where that was measured."""
    if what == LIVE:
        return next(iter(_live_said(finding).values()), 0)
    return _free_slots(finding) or finding[unit]


def _free_slots(finding: dict[str, Any]) -> float | None:
    """All free slots by the evidence of heap-fragmentation."""
    if finding["code"] != "heap-fragmentation":
        return None
    sizes = {row["field"]: row["value"] for row in finding["evidence"]}
    return float(sizes["HeapInuse"] - sizes["HeapAlloc"])


def _bounds_said(finding: dict[str, Any], unit: str, what: str) -> list[tuple[float, float]]:
    if what == LIVE:
        return [(0, size) for field, size in _live_said(finding).items() if "at most" in field]
    said = bounds_said(finding) if unit == "bytes" else cpu_bounds_said(finding)
    return [] if said is None else [said]


def _live_said(finding: dict[str, Any]) -> dict[str, float]:
    """What heap-headroom holds the room against, by its evidence's field."""
    return {
        row["field"]: row["value"]
        for row in finding["evidence"]
        if row["field"] in {"heap_live_p50_bytes", "/gc/heap/live:bytes", "inuse_space, at most"}
    }


def ask(name: str, *, half: bool = False) -> Answer:
    """Gomem's report of one capture, against its baseline where it has one."""
    baseline = truth()[name]["baseline"]
    with tempfile.TemporaryDirectory() as folder:
        capture = half_of(name, Path(folder)) if half else path_of(name)
        report = report_json(gomem.diagnose(capture, baseline and path_of(baseline)))
    return Answer(name, report["findings"], (report.get("verdict") or {}).get("sentence", ""))


def ask_half(name: str) -> Answer:
    return ask(name, half=True)


def half_of(name: str, folder: Path) -> Path:
    """Unpack a capture but leave out half of its files, always the same half."""
    with tarfile.open(path_of(name)) as tar:
        members = sorted(
            tar.getmembers(),
            key=lambda member: hashlib.sha256(f"{name}/{member.name}".encode()).digest(),
        )
        tar.extractall(folder, members[len(members) // 2 :], filter="data")
    return folder
