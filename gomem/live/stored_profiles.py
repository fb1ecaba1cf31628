"""Fetch heap profiles from a server that stores profiles; each process becomes a capture.

Such a server stores each value of a profile separately: `inuse_space` and `inuse_objects` are two
series, and each scrape is a point of both. For a time range, the server returns the sum of the
scrapes, which for in-use bytes is a number that the process never had. So each value is requested
separately at the time of one scrape, and the values are combined into one profile.

    <service>/<instance>/<end of the range>/gomem.json
    <service>/<instance>/<end of the range>/<time of the scrape>.heap.pb.gz
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from gomem.capture.manifest import MANIFEST, MANIFEST_SCHEMA
from gomem.errors import CaptureError, FormatError
from gomem.inputs.pprof.calls.merge import merged
from gomem.inputs.pprof.columns import PprofColumns, ValueType
from gomem.inputs.pprof.parse import parse_pprof
from gomem.inputs.pprof.protobuf.write import write_pprof
from gomem.live.api import Silent
from gomem.live.endpoints import MAX_ANSWER_BYTES
from gomem.live.folder import stamp
from gomem.live.instances import Instance, Labels, instances_of
from gomem.numbered import Address
from gomem.numbered import Instance as Named
from gomem.sources.artefact import open_source
from gomem.sources.bounds import Bounds
from gomem.sources.names import readable_name
from gomem.text import File, Quoted, Text, text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from gomem.live.span import Span

LABELS = "{service}/{pod}/{time}"  # naming scheme of the folders
STEPS = 6  # between profiles of an instance, by default
# Values of Go's heap profile, in this order.
UNITS = {
    "alloc_objects": "count",
    "alloc_space": "bytes",
    "inuse_objects": "count",
    "inuse_space": "bytes",
}
TYPES = tuple(UNITS)
IN_USE = "inuse_space"


class Store(Protocol):
    """A server that stores profiles."""

    @property
    def base(self) -> str:
        """The server's address."""

    @property
    def types(self) -> Sequence[str]:
        """The values of a heap profile that the server stores as the process counted them."""

    def scrapes(self, span: Span) -> Mapping[Labels, Sequence[datetime]]:
        """Return the times of each process's scrapes: about one per step of the span."""

    def profile(self, instance: Instance, at: datetime, sample_type: str) -> PprofColumns | None:
        """Fetch one value of the profile at a scrape; None if the server does not have it."""


@dataclass(frozen=True)
class Fetched:
    """The result of fetching from a server."""

    captures: tuple[Path, ...]  # a folder per instance
    missing: tuple[Text, ...]  # what could not be fetched, and why


def fetched(store: Store, span: Span, folder: Path) -> Fetched:
    """Write a capture for each process for which a server has heap profiles.

    A profile that cannot be fetched is reported and skipped; fetching ends if the server stops
    answering.

    Args:
        store: The server.
        span: The time range.
        folder: The parent folder of the captures, which are named by `LABELS`.

    Raises:
        CaptureError: The server does not answer, refuses, or has no heap profile in this time
            range.
    """
    scrapes = store.scrapes(span)
    captures, missing = [], []
    for instance in instances_of(map(dict, scrapes), store.base):
        capture = _Capture(folder / instance.service / instance.name / f"{span.end:%Y%m%dT%H%M%SZ}")
        is_silent = False
        for at in scrapes[instance.labels]:
            try:
                capture.add(at, heap_of(_values(store, instance, at), at))
            except (CaptureError, ValueError) as error:
                why = getattr(error, "message", None) or Quoted(error)
                missing.append(text("{} at {}: {}", Named(instance.name), stamp(at), why))
                if is_silent := isinstance(error, Silent):
                    break
        if capture.moments:
            captures.append(capture.done())
        if is_silent:
            break
    if not captures:
        what = "{}: no heap profile of a Go process; give a longer --range or another --query"
        raise CaptureError(missing[0] if missing else text(what, Address(store.base)))
    return Fetched(tuple(captures), tuple(missing))


def type_of(sample_type: str) -> str:
    """Return the name that both kinds of server give to a value of a heap profile."""
    return f"memory:{sample_type}:{UNITS[sample_type]}:space:bytes"


def _values(store: Store, instance: Instance, at: datetime) -> dict[str, PprofColumns]:
    """The values that a server has for a scrape; raises ValueError without in-use bytes."""
    found = {name: store.profile(instance, at, name) for name in store.types}
    values = {name: columns for name, columns in found.items() if columns is not None}
    if IN_USE not in values:
        raise ValueError(f"no {IN_USE}")
    return values


def heap_of(values: Mapping[str, PprofColumns], at: datetime) -> PprofColumns:
    """Combine the profiles of one scrape, each with one value, into a single profile.

    Raises ValueError if a profile has other values, or a different sampling rate.
    """
    names = [name for name in UNITS if name in values]
    types = tuple(ValueType(name, UNITS[name]) for name in names)
    parts = []
    for column, name in enumerate(names):
        own = values[name]
        if own.sample_types != (types[column],):
            told = ", ".join(kind.type for kind in own.sample_types)
            raise ValueError(f"has {told}, wanted {name}")
        value = np.zeros((len(own.value), len(names)), np.int64)
        value[:, column] = own.value[:, 0]
        parts.append(replace(own, sample_types=types, value=value))
    nanos = int(at.timestamp()) * 10**9 + at.microsecond * 1000
    return replace(merged(parts), time_nanos=nanos, duration_nanos=0, default_sample_type=IN_USE)


def columns_of(data: bytes, name: str) -> PprofColumns | None:
    """Parse a profile from a server, compressed or not; None if it has no samples.

    Raises FormatError if the profile is incomplete.
    """
    if not data:
        return None
    source = open_source(data, name=name, bounds=Bounds(artefact_bytes=MAX_ANSWER_BYTES))
    columns, damage = parse_pprof(source.data, source=name)
    for cause in (*source.damage, *damage):
        raise FormatError(cause.source, cause.where, cause.what)
    return columns if len(columns.value) else None


class _Capture:
    """The folder of one instance while it is written."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.moments: list[dict[str, Any]] = []

    def add(self, at: datetime, profile: PprofColumns) -> None:
        name = f"{at:%Y%m%dT%H%M%S}.{at.microsecond // 1000:03}Z.heap.pb.gz"
        self._write(name, write_pprof(profile))
        artefact = {"heap": {"path": name, "time": stamp(at)}}
        number = len(self.moments) + 1
        self.moments.append(
            {"name": f"{number}-{at:%H%M%S}", "time": stamp(at), "artefacts": artefact}
        )

    def done(self) -> Path:
        """Complete the folder and return its path."""
        content = {
            "schema": MANIFEST_SCHEMA,
            "collector": f"gomem {version('gomem')}",
            "moments": self.moments,
        }
        self._write(MANIFEST, (json.dumps(content, indent=1) + "\n").encode())
        return self.path

    def _write(self, name: str, data: bytes) -> None:
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            (self.path / name).write_bytes(data)
        except OSError as error:
            named, why = File(readable_name(str(self.path))), error.strerror or Quoted(error)
            raise CaptureError(text("{}: cannot be written: {}", named, why)) from error
