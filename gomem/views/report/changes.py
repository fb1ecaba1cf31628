"""What changed, in the report: from moment to moment, and against the baseline."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.inputs.schema import rows_of
from gomem.text import File, MomentName, Text, text
from gomem.units import format_change, is_unknown, minus
from gomem.views.document import (
    Block,
    Cell,
    Figure,
    Folded,
    Notes,
    Paragraph,
    Section,
    Table,
    in_one_fold,
)
from gomem.views.figures.ledger_change import plot_ledger_change
from gomem.views.values import bytes_cell, change_cell
from gomem.views.words import minus_signs, part_name

if TYPE_CHECKING:
    import pandas as pd

    from gomem.diagnosis.changes import Change
    from gomem.diagnosis.diagnosis import Diagnosis

LARGEST = 12  # mappings shown for each change
FIGURES = 4  # changes drawn; each is some 10 kB of SVG
CAPTION = "The change of each part; together they make up the change in RSS."
LEAST_BYTES = 64 << 10  # a mapping that moved by less explains nothing


def changes_section(diagnosis: Diagnosis) -> Section | None:
    """Against the baseline first, where there is one; then each step from moment to moment."""
    blocks: list[Block] = []
    against = diagnosis.change_against_baseline
    if against is not None:
        blocks += _change_blocks(against, "change-baseline", CAPTION, words="the baseline's ")
    steps = diagnosis.changes
    overall = diagnosis.change_over_all
    if steps:
        blocks.append(_steps_table([*([] if overall is None else [overall]), *steps]))
    drawn = _largest(steps)
    caption = CAPTION
    each: list[Folded] = []
    if len(drawn) < len(steps):
        caption += f" Drawn for the {len(drawn)} of {len(steps)} steps in which most moved."
    for place, step in enumerate(steps, start=1):
        draw = caption if step in drawn else ""
        own = _change_blocks(step, f"change-{place}", draw)
        change = minus(format_change(step.ledger.rss_change_bytes))
        each.append(Folded(text("{}: RSS {}", _from_to(step), change), own))
    blocks += in_one_fold(each, f"each of the {len(each)} steps")
    if not blocks:
        return None
    told = against or overall or steps[-1]
    return Section("changes", "What changed", tuple(blocks), gist=_gist(told))


def _gist(change: Change) -> str:
    rss = minus(format_change(change.ledger.rss_change_bytes))
    return text("RSS {} from {}", rss, _from_to(change))


def _largest(steps: tuple[Change, ...]) -> list[Change]:
    return sorted(steps, key=lambda step: -_moved(step))[:FIGURES]


def _moved(step: Change) -> int:
    """Bytes that moved between parts, or came or went, whether RSS moved or not."""
    return int(step.ledger.parts["change_bytes"].dropna().abs().sum())


def _from_to(step: Change) -> Text:
    return text("{} to {}", MomentName(step.before), MomentName(step.after))


def _steps_table(steps: list[Change]) -> Table:
    """A row a step: RSS, and the verdict in words."""
    rows = tuple(
        (
            Cell(_from_to(step)),
            change_cell(step.ledger.rss_change_bytes),
            Cell(minus_signs(step.sentence)),
        )
        for step in steps
    )
    return Table("What changed from moment to moment", ("step", "RSS", "what moved"), "<><", rows)


def _change_blocks(
    change: Change, name: str, caption: str, *, words: str = ""
) -> tuple[Block, ...]:
    """The verdict, the figure if it has a caption, and the tables of one change."""
    place = text("From {}{}", words, _from_to(change))
    blocks: list[Block] = [Paragraph(minus_signs(text("{}: {}", place, change.sentence)))]
    if caption:
        names = {
            "name": name,
            "before": MomentName(change.before),
            "after": MomentName(change.after),
        }
        blocks.append(
            Figure(caption, plot_ledger_change, lambda: {"change": change.ledger, **names})
        )
    blocks.append(Folded("Part by part, to the byte", (_parts_table(change, place),)))
    if change.mappings is not None:
        moved = change.mappings[change.mappings["change_bytes"].abs() >= LEAST_BYTES]
        if len(moved):
            blocks.append(_mappings_table(moved.head(LARGEST), place))
        if len(moved) > LARGEST:
            rest = int(moved["change_bytes"].iloc[LARGEST:].sum())
            more = f"{len(moved) - LARGEST} further mappings moved by {format_change(rest)} net"
            blocks.append(Notes((minus(more),)))
    return tuple(blocks)


def _parts_table(change: Change, place: Text) -> Table:
    """Each part before and after; parts that are 0 on both sides are left out."""
    frame = change.ledger.parts
    moved = frame[(frame[["before_bytes", "after_bytes"]].fillna(1) != 0).any(axis=1)]
    rows = tuple(
        (
            Cell(part_name(row["part"])),
            bytes_cell(row["before_bytes"]),
            bytes_cell(row["after_bytes"]),
            change_cell(row["change_bytes"]),
            Cell(row["layer"]),
        )
        for row in rows_of(moved)
    )
    known = change.ledger.rss_change_bytes is not None
    sums = [int(frame[side].sum()) if known else None for side in ("before_bytes", "after_bytes")]
    total = (
        Cell("RSS"),
        *map(bytes_cell, sums),
        change_cell(change.ledger.rss_change_bytes),
        Cell(""),
    )
    columns = ("part", "before", "after", "change", "of")
    return Table(place + ", by part", columns, "<>>><", rows, (total,))


def _mappings_table(moved: pd.DataFrame, place: Text) -> Table:
    """Matched mappings, those that moved most first: grew, shrank, new, gone."""
    rows = tuple(
        (
            Cell(row["kind"], note=_which(row)),
            Cell(row["state"]),
            bytes_cell(row["before_size_bytes"]),
            bytes_cell(row["after_size_bytes"]),
            bytes_cell(row["before_rss_bytes"]),
            bytes_cell(row["after_rss_bytes"]),
            change_cell(row["change_bytes"]),
        )
        for row in rows_of(moved)
    )
    columns = ("kind", "state", "mapped before", "after", "resident before", "after", "change")
    return Table(place + ", by mapping", columns, "<<>>>>>", rows)


def _which(row: dict[str, object]) -> str:
    """The file's name, or the place; between two processes neither may be there."""
    path = str(row["path"]).rsplit("/", 1)[-1]
    if path or is_unknown(row["start"]):
        return File(path)
    return f"{row['start']:x}-{row['end']:x}"
