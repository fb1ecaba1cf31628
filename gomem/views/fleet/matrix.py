"""A matrix of builds as a document: one row per build, one column per answer, with each change."""

from __future__ import annotations

from functools import partial
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from gomem.analysis.fleet.builds import DIFFERS
from gomem.analysis.fleet.quantities import BY_NAME
from gomem.charts.look import BLUE, ORANGE
from gomem.inputs.schema import rows_of
from gomem.numbered import Build, Service
from gomem.text import joined
from gomem.units import is_unknown
from gomem.views import tables
from gomem.views.document import (
    Bar,
    Bars,
    Cell,
    Document,
    Notes,
    Part,
    Piece,
    Section,
    Verdict,
    sections_of,
)
from gomem.views.fleet.document import BUILDS, BUILDS_LEGEND, FAILED, SHOWN
from gomem.views.measurements import format_level
from gomem.views.share import Hidden, share
from gomem.views.tables import Column, table
from gomem.views.values import NOTHING
from gomem.views.words import how_many

if TYPE_CHECKING:
    import pandas as pd

    from gomem.fleets.matrix import Matrix
    from gomem.views.document import Block

KIND = "Go builds"
DRAWN = ("rss_bytes", "live_heap", "heap_idle", "runtime_metadata", "native", "goroutines",
         "threads", "gc_cpu_fraction", "stw_p99_seconds")  # fmt: skip
MARK = "▲"  # marks a difference from the previous build
MAX_BARS = 24


def matrix_document(matrix: Matrix, hidden: Hidden = SHOWN) -> Document:
    """Build the document; `hidden` says what to leave out, see `share`."""
    tone, label = ("warning", "differs") if len(matrix.differing) else ("good", "no difference")
    services = joined(", ", map(Service, sorted(set(matrix.fleet.captures["service"]) - {""})))
    document = Document(
        kind=KIND,
        title=services or how_many(len(matrix.builds), "build"),
        facts=(("Builds", joined(", ", map(Build, matrix.builds))),),
        verdict=Verdict(tone, label, matrix.sentence),  # type: ignore[arg-type]
        sections=sections_of(SECTIONS, matrix),
        opening=_opening(matrix),
        made_by=f"gomem {version('gomem')}",
    )
    return share(document, hidden)


def _opening(matrix: Matrix) -> tuple[Block, ...]:
    """RSS of each build; builds that differ from the previous one have another colour."""
    rows = rows_of(matrix.compared[matrix.compared["name"] == "rss_bytes"])[:MAX_BARS]
    longest = max((row["median"] for row in rows), default=0) or 1.0
    bars = tuple(
        Bar(
            row["build"],
            format_level(row["median"], "B"),
            (Piece(row["median"] / longest, ORANGE if row["verdict"] == DIFFERS else BLUE),),
        )
        for row in rows
    )
    return (
        (Bars("RSS by build; an orange build differs from the build above", bars),) if bars else ()
    )


def _side_by_side(matrix: Matrix) -> Section | None:
    frame = matrix.compared
    names = [name for name in DRAWN if name in set(frame["name"])]
    by_place = {(row["build"], row["name"]): row for row in rows_of(frame)}
    columns = [tables.words("build", Build)]
    columns += [Column(BY_NAME[name].words, partial(_cell, by_place, name)) for name in names]
    rows: Any = list(matrix.builds)
    legend = f"medians with 95 % intervals; {MARK} marks a difference from the build above"
    shown = table("Each build", columns, rows)
    return Section("matrix", "Build by build", (shown, Notes((legend,))), opened=True,
                   gist=how_many(len(rows), "build"))  # fmt: skip


def _cell(by_place: dict[tuple[str, str], dict[str, Any]], name: str, build: str) -> Cell:
    row = by_place.get((build, name))
    if row is None or is_unknown(row["median"]):
        return NOTHING
    mark = f"{MARK} " if row["verdict"] == DIFFERS else ""
    low, high = (row[end] for end in ("low", "high"))
    note = "" if is_unknown(low) else " to ".join(format_level(x, row["unit"]) for x in (low, high))
    return Cell(f"{mark}{format_level(row['median'], row['unit'])}", f"{row['median']:g}", note)


def _rows(name: str, heading: str, of: str, matrix: Matrix) -> Section | None:
    frame: pd.DataFrame = getattr(matrix, of)
    if frame.empty:
        return None
    blocks = (table(heading, BUILDS, frame), Notes((BUILDS_LEGEND,)))
    gist = joined(", ", map(Build, dict.fromkeys(frame["build"])))
    return Section(name, heading, blocks, gist=gist, brief=name == "differs")


def _failed(matrix: Matrix) -> Section | None:
    if matrix.failed.empty:
        return None
    shown = table("Captures that could not be read", FAILED, matrix.failed)
    return Section("failed", "Not read", (shown,), gist=how_many(len(matrix.failed), "capture"))


SECTIONS: tuple[Part[Matrix], ...] = (
    Part("differs", partial(_rows, "differs", "First differing build", "differing"),
         "No build differs from the previous build"),
    Part("matrix", _side_by_side, "No capture has a size"),
    Part("all", partial(_rows, "all", "Every quantity", "compared"), "No capture has a size"),
    Part("failed", _failed, "Every capture was read"),
)  # fmt: skip
