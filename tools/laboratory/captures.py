"""The laboratory's captures: the known causes of each, and gomem's findings."""

from __future__ import annotations

import hashlib
import json
import re
import tarfile
import tempfile
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import gomem
from gomem.units import BYTE_UNITS
from gomem.views.json.report import report_json
from tests.builders import FIXTURES
from tools.laboratory.evidence import are_shown, readings_of
from tools.said_bounds import bounds_said, cpu_bounds_said

if TYPE_CHECKING:
    from collections.abc import Mapping

LABORATORY = FIXTURES / "laboratory"
WITHIN = 0.10  # a size within this share of the true one is right
LIVE = "live"  # the program's own measure of its live heap, if the rest of the heap is headroom
GROWN_TO = re.compile(r"(?:, to|reached) ([\d.]+) ([KMG]iB)")


@cache
def truth() -> dict[str, Any]:
    """Return what was done to each process, by the capture's name."""
    return json.loads((LABORATORY / "truth.json").read_text())


def sets() -> list[int]:
    """Return the numbers of the sets; every set is newer than the rules it was first judged by."""
    return sorted({told["set"] for told in truth().values()})


def names_of(number: int | None = None) -> list[str]:
    """Return the names of the captures of one set, or of all."""
    return [name for name, told in truth().items() if number in (None, told["set"])]


def path_of(name: str) -> Path:
    return LABORATORY / "captures" / f"{name}.tar.gz"


@dataclass(frozen=True)
class Size:
    """A finding's size compared with the measured one.

    Attributes:
        code: The cause.
        what: What was measured; the unit if the finding has no size.
        off: The relative error of the size; None if the finding has no size.
        bounded: Whether the title calls the size a bound, and the measured size is beyond it.
        settled: Whether the title of heap growth has the heap's true size: the runtime's count
            after two collections at the end. A program's own count covers only what it keeps
            itself; the runtime's includes libraries and maps.
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
    """gomem's findings for one capture, with the truth."""

    name: str
    findings: list[dict[str, Any]]
    sentence: str
    # of each sort, as in `evidence.SHOWN_BY`
    readings: Mapping[str, int] = field(default_factory=dict)

    @property
    def true_codes(self) -> list[str]:
        return [cause["code"] for cause in truth()[self.name]["causes"]]

    @property
    def healthy(self) -> bool:
        return truth()[self.name]["healthy"]

    @property
    def mechanisms(self) -> list[dict[str, Any]]:
        """The findings about the process, without those about the data."""
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
        """Other codes that the truth accepts for the first cause."""
        return truth()[self.name].get("also_right", [])

    @property
    def right(self) -> bool:
        """Whether a healthy process has no warning, or a faulty one has a true first finding."""
        if self.healthy:
            return not self.warnings
        return self.first.strip("()") in {*self.true_codes, *self.also_right}

    @property
    def measured(self) -> set[str]:
        """The causes, and what else was measured, such as a long pause."""
        return {*self.true_codes, *self.also_right, *truth()[self.name]["beside"]}

    @property
    def missed(self) -> list[str]:
        found = {mechanism["code"] for mechanism in self.mechanisms}
        return [code for code in self.true_codes if code not in found]

    @property
    def is_shown(self) -> bool:
        """Whether the capture has what it takes to see every true cause."""
        return are_shown(self.true_codes, self.readings)

    @property
    def confidently_wrong(self) -> list[str]:
        """False warnings that are certain or likely."""
        return [
            f"{warning['code']} ({warning['confidence']})"
            for warning in self.warnings
            if warning["code"] not in self.measured and warning["confidence"] != "possible"
        ]

    @property
    def sizes(self) -> list[Size]:
        """Compare the size of each cause found with the measured one.

        If several measures apply (what a leak holds, how much it grew), the nearest counts. If a
        finding's title calls its size a minimum or a maximum, it is compared as a bound.
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
    """Whether the title of heap growth has the heap's size after two collections at the end."""
    heap = told["settled"].get("heap_alloc", 0)
    to = _in_title(GROWN_TO, named[0]) if named and named[0]["code"] == "heap-growth" else None
    return bool(heap and to and abs(to / heap - 1) <= WITHIN)


def _in_title(pattern: re.Pattern[str], finding: dict[str, Any]) -> float | None:
    """Return a size in the title."""
    found = pattern.search(finding["title"])
    return None if found is None else float(found[1]) * BYTE_UNITS[found[2]]


def _said(finding: dict[str, Any], unit: str, what: str) -> float:
    """Return a finding's size: its live heap or all free slots, if that was measured."""
    if what == LIVE:
        return next(iter(_live_said(finding).values()), 0)
    return _free_slots(finding) or finding[unit]


def _free_slots(finding: dict[str, Any]) -> float | None:
    """Return all free slots, by the evidence of heap-fragmentation."""
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
    """Return the live heap in the evidence of heap-headroom, by field."""
    return {
        row["field"]: row["value"]
        for row in finding["evidence"]
        if row["field"] in {"heap_live_p50_bytes", "/gc/heap/live:bytes", "inuse_space, at most"}
    }


def ask(name: str, *, half: bool = False) -> Answer:
    """Return gomem's report on a capture, compared with its baseline if it has one."""
    baseline = truth()[name]["baseline"]
    with tempfile.TemporaryDirectory() as folder:
        capture = half_of(name, Path(folder)) if half else path_of(name)
        diagnosis = gomem.diagnose(capture, baseline and path_of(baseline))
        report = report_json(diagnosis)
        readings = readings_of(diagnosis)
    sentence = (report.get("verdict") or {}).get("sentence", "")
    return Answer(name, report["findings"], sentence, readings)


def ask_half(name: str) -> Answer:
    return ask(name, half=True)


def half_of(name: str, folder: Path) -> Path:
    """Unpack a capture without half of its files; always the same half."""
    with tarfile.open(path_of(name)) as tar:
        members = sorted(
            tar.getmembers(),
            key=lambda member: hashlib.sha256(f"{name}/{member.name}".encode()).digest(),
        )
        tar.extractall(folder, members[len(members) // 2 :], filter="data")
    return folder
