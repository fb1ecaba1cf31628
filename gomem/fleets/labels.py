"""The labels of each capture: instance, service, build and time.

Labels come from a CSV, else from the path by a pattern such as `{service}/{pod}/{time}`, else from
the capture's manifest. Without a pattern, a path that ends in a time gives the label `time`. A
capture without any label is a separate instance.
"""

from __future__ import annotations

import csv
import hashlib
import io
import re
from dataclasses import dataclass, field
from functools import cache
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import pandas as pd

from gomem.capture.clock import ISO, time_in_name
from gomem.errors import CaptureError, did_you_mean
from gomem.sources.times import parse_time
from gomem.text import File, Quoted, text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gomem.diagnosis.diagnosis import Diagnosis
    from gomem.sources.captures import Place

# Synonyms of labels, in patterns and in CSV headers.
NAMES = {
    "instance": "instance", "pod": "instance", "host": "instance", "node": "instance",
    "container": "instance", "service": "service", "app": "service", "program": "service",
    "job": "service", "build": "build", "version": "build", "release": "build", "image": "build",
    "time": "time", "timestamp": "time", "date": "time",
}  # fmt: skip
CAPTURE = "capture"
_FIELD = re.compile(r"\{(\w*)\}")
MAX_VERSION = 40  # characters of a pseudo-version


@dataclass(frozen=True)
class Labelled:
    """A capture with its labels; unknown labels are empty."""

    place: Place
    labels: Mapping[str, str] = field(default_factory=dict)  # by the names in `KEYS`
    digest: str = ""  # of its files

    @property
    def path(self) -> str:
        """The path of the capture."""
        return self.place.path

    @property
    def key(self) -> str:
        """A digest of the files and the labels, because two instances can have equal files."""
        said = "\0".join(f"{name}={self.labels[name]}" for name in sorted(self.labels))
        name = "" if self.labels else self.place.name
        return hashlib.sha256(f"{self.digest}\0{name}\0{said}".encode()).hexdigest()[:32]

    def keys(
        self, diagnosis: Diagnosis | None = None
    ) -> tuple[str, str, str, str, pd.Timestamp | None]:
        """Return the values of `KEYS`: from the labels, or else from the capture."""
        name = self.place.name
        return (
            name,
            self.labels.get("instance") or self.place.stem,
            self.labels.get("service") or ("" if diagnosis is None else _service(diagnosis)),
            self.labels.get("build") or ("" if diagnosis is None else _build(diagnosis)),
            self._time(diagnosis),
        )

    def _time(self, diagnosis: Diagnosis | None) -> pd.Timestamp | None:
        if told := self.labels.get("time"):
            found = parse_time(told) or time_in_name(told)
            if found is not None:
                return pd.Timestamp(found)
        if diagnosis is None:
            return None
        times = diagnosis.capture.moments["time"].dropna()
        return None if times.empty else times.max()


def _service(diagnosis: Diagnosis) -> str:
    program = diagnosis.capture.manifest.fact("program")
    return PurePosixPath(program).name if isinstance(program, str) else ""


def _build(diagnosis: Diagnosis) -> str:
    """The main module's version, else the Go release; empty if both are unknown."""
    main = diagnosis.capture.manifest.fact("main")
    _, _, told = main.partition(" ") if isinstance(main, str) else ("", "", "")
    if told and not told.startswith("(") and len(told) <= MAX_VERSION:
        return told
    return diagnosis.capture.go_version.text or ""


@dataclass(frozen=True)
class Labels:
    """A rule that labels captures: a pattern of paths, and the rows of a CSV."""

    pattern: str = ""  # of the path below the named folder; empty for none
    # rows of the CSV, by capture
    rows: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check the pattern's names; raises CaptureError."""
        for name in _FIELD.findall(self.pattern):
            if name and name not in NAMES:
                near = did_you_mean(name, NAMES)
                wanted = "instance, service, build or time"
                label = Quoted(f"{{{name}}}")
                raise CaptureError(text("{}: unknown label; wanted {}{}", label, wanted, near))

    @property
    def depth(self) -> int | None:
        """The number of levels from the named folder to the captures; None without a pattern."""
        return self.pattern.strip("/").count("/") + 1 if self.pattern else None

    def of(self, place: Place) -> dict[str, str]:
        """Return a capture's labels, from the CSV or else its path."""
        found = self._by_path(place)
        names = place.name, place.stem, PurePosixPath(place.name).name
        row = next((self.rows[name] for name in names if name in self.rows), {})
        return found | {name: value for name, value in row.items() if value}

    def _by_path(self, place: Place) -> dict[str, str]:
        if not self.pattern:
            return _usual(place)
        for name in (place.name, place.stem):
            if found := _shape_of(self.pattern).fullmatch(name):
                return {label: value for label, value in found.groupdict().items() if value}
        return {}


def _usual(place: Place) -> dict[str, str]:
    """Labels by `{service}/{pod}/{time}` if the path ends in a time; else none."""
    *folders, last = PurePosixPath(place.stem).parts
    found = ISO.fullmatch(last)
    if found is None or not folders:
        return {}
    labels = {"instance": folders[-1], "time": last}
    return labels | ({"service": folders[-2]} if len(folders) > 1 else {})


@cache
def _shape_of(pattern: str) -> re.Pattern[str]:
    """Convert a pattern to a regular expression; of several names for a label, the first counts."""
    pieces: list[str] = []
    used: set[str] = set()
    for piece in re.split(r"(\{\w*\})", pattern.strip("/")):
        found = _FIELD.fullmatch(piece)
        label = NAMES.get(found[1], "") if found else ""
        if label and label not in used:
            used.add(label)
            pieces.append(f"(?P<{label}>[^/]+?)")
        else:
            pieces.append("[^/]+?" if found else re.escape(piece))
    return re.compile("".join(pieces))


def labels_of(pattern: str = "", table: bytes | None = None, source: str = "labels") -> Labels:
    """Return the rule of a pattern, and of a CSV whose first column is `capture`.

    Raises:
        CaptureError: The pattern has an unknown label, or the CSV has no column `capture`.
    """
    if table is None:
        return Labels(pattern)
    reader = csv.DictReader(io.StringIO(table.decode("utf-8-sig", "replace")))
    names = reader.fieldnames or []
    if CAPTURE not in names:
        found = Quoted(", ".join(names)) or "nothing"
        said = "{}: line 1: found {}, wanted a column {}"
        raise CaptureError(text(said, File(source), found, CAPTURE))
    rows = {}
    for row in reader:
        told = {NAMES[name]: value for name, value in row.items() if name in NAMES and value}
        rows[str(row[CAPTURE])] = told
    return Labels(pattern, rows)
