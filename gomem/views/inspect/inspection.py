"""A capture's contents as a document: moments, files, Go release, unreadable files."""

from __future__ import annotations

from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from gomem.errors import counted_places
from gomem.inputs.schema import rows_of
from gomem.text import CaptureName, File, MomentName, Seconds, Text, joined, text
from gomem.units import is_unknown
from gomem.views.collecting import collecting_sections
from gomem.views.damage import damage_section
from gomem.views.document import Cell, Document, Section, Table, Verdict
from gomem.views.share import Hidden, share
from gomem.views.tables import Column, Row, code, size, table
from gomem.views.values import kind_cell, time_cell
from gomem.views.words import how_many

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

    from gomem.capture.capture import Capture

KIND = "Contents of a capture"
SHOWN = Hidden()  # hides only home directories


def inspection_document(capture: Capture, hidden: Hidden = SHOWN) -> Document:
    """List the files of each moment, then those of the whole capture; for `hidden` see `share`."""
    release = capture.go_version
    facts = (
        ("Go release", text("{} ({})", str(release), release.evidence)),
        ("Moments", str(len(capture.moments))),
        ("Files", str(len(capture.artefacts))),
    )
    document = Document(
        kind=KIND,
        title=CaptureName(capture.name) if hidden.redact else File(capture.name),
        facts=facts,
        verdict=_verdict(capture),
        sections=tuple(_sections(capture)),
        made_by=f"gomem {version('gomem')}",
    )
    return share(document, hidden)


def _verdict(capture: Capture) -> Verdict:
    if not capture.damaged:
        return Verdict("good", "no damage", "No damage.")
    places = text("{}.", joined(", ", counted_places(capture.damaged)))
    if all(place.is_excerpt for place in capture.damaged):
        return Verdict("neutral", "excerpt", places)
    return Verdict("warning", "damage", places)


def _sections(capture: Capture) -> Iterator[Section]:
    files = capture.artefacts
    columns = files_columns(capture)

    def listed(rows: pd.DataFrame) -> tuple[Table]:
        return (table(how_many(len(rows), "file"), columns, rows),)

    for place, moment in enumerate(rows_of(capture.moments), start=1):
        of_moment = files[files["moment"] == moment["moment"]]
        yield Section(f"moment-{place}", _heading(moment), listed(of_moment))
    whole = files[files["moment"] == ""]
    if len(whole):
        yield Section("whole", "Files of the whole capture", listed(whole))
    unread = damage_section(capture.damaged)
    if unread is not None:
        yield unread
    yield from collecting_sections(capture)


def _heading(moment: dict[str, Any]) -> Text:
    """A moment's name, with its files' time if known."""
    name = MomentName(moment["moment"])
    if is_unknown(moment["time"]):
        return name
    when = text("{}: {}", name, time_cell(moment["time"]).text)
    if is_unknown(moment["skew_seconds"]):
        return when
    return text("{}, within {}", when, Seconds(moment["skew_seconds"]))


def files_columns(capture: Capture) -> tuple[Column, ...]:
    """Columns of file tables: path, kind (or what an unread file looks like), size."""

    def kind(row: Row) -> Cell:
        return kind_cell(row["kind"], capture.looks.get(row["path"], ""))

    path = code("file", lambda row: File(row["path"]))
    return path, Column("kind", kind, "<"), size("size", "bytes")
