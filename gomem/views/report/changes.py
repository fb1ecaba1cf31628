"""The report's changes: from moment to moment, and since the baseline."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.text import File, MomentName, Text, text
from gomem.units import format_change, is_unknown, minus
from gomem.views.document import Block, Cell, Figure, Folded, Notes, Paragraph, Section, in_one_fold
from gomem.views.figures.ledger_change import plot_ledger_change
from gomem.views.report.shown import with_tables
from gomem.views.tables import BLANK, Row, change, shown_by, size, table, words
from gomem.views.values import bytes_cell, change_cell
from gomem.views.words import minus_signs, part_name

if TYPE_CHECKING:
    import pandas as pd

    from gomem.diagnosis.changes import Change
    from gomem.diagnosis.diagnosis import Diagnosis

LARGEST = 12  # mappings per change
FIGURES = 4  # changes that get a figure; each is about 10 kB of SVG
CAPTION = "Each bar is the change of one part; together they add up to the change in RSS."
MIN_BYTES = 64 << 10  # mappings with a smaller change explain nothing


def _from_to(step: Change) -> Text:
    return text("{} to {}", MomentName(step.before), MomentName(step.after))


def _sides(step: Change) -> Text:
    """The compared snapshots: two of this capture, or a baseline's and one of this capture."""
    if not step.of_baseline:
        return _from_to(step)
    if step.before == step.after:
        return text("{}, baseline → this capture", MomentName(step.after))
    sides = MomentName(step.before), MomentName(step.after)
    return text("{} of the baseline → {} of this capture", *sides)


def _which(row: Row) -> Cell:
    """The kind, with the file's name or the address, if both processes have it."""
    path = str(row["path"]).rsplit("/", 1)[-1]
    named = path or is_unknown(row["start"])
    return Cell(row["kind"], note=File(path) if named else f"{row['start']:x}-{row['end']:x}")


STEPS = (
    words("interval", _from_to),
    change("RSS change", lambda step: step.ledger.rss_change_bytes),
    words("what changed", lambda step: minus_signs(step.between)),
)
PARTS = (
    words("part", lambda row: part_name(row["part"])),
    size("before", "before_bytes"),
    size("after", "after_bytes"),
    change("change", "change_bytes"),
    words("why", "layer"),
)
MAPPINGS = (
    shown_by(_which, "<")("kind", lambda row: row),
    words("state", "state"),
    size("mapped before", "before_size_bytes"),
    size("after", "after_size_bytes"),
    size("RSS before", "before_rss_bytes"),
    size("after", "after_rss_bytes"),
    change("change", "change_bytes"),
)


def changes_section(diagnosis: Diagnosis) -> Section | None:
    """The change since the baseline first, if there is one; then each step between moments."""
    blocks: list[Block] = []
    against, overall = diagnosis.change_against_baseline, diagnosis.change_over_all
    steps = diagnosis.changes
    if against is not None:
        blocks += _change_blocks(against, "change-baseline", CAPTION)
    if steps:
        blocks.append(table("From snapshot to snapshot", STEPS, steps))
    drawn = sorted(steps, key=_moved, reverse=True)[:FIGURES]
    with_their_own = with_tables([step.after for step in steps], diagnosis)
    caption = CAPTION
    if len(drawn) < len(steps):
        caption += (
            f" Only the {len(drawn)} of {len(steps)} intervals with the largest changes are drawn."
        )
    each = [
        Folded(
            text("{}: RSS {}", _from_to(step), minus(format_change(step.ledger.rss_change_bytes))),
            _change_blocks(step, f"change-{place}", caption if step in drawn else ""),
        )
        for place, step in enumerate(steps, start=1)
        if step in drawn or step.after in with_their_own
    ]
    blocks += in_one_fold(each, f"each of the {len(each)} intervals")
    if not blocks:
        return None
    told = against or overall or steps[-1]
    rss = minus(format_change(told.ledger.rss_change_bytes))
    gist = text("RSS {}: {}", rss, _sides(told))
    return Section("changes", "What changed", tuple(blocks), gist=gist)


def _moved(step: Change) -> int:
    """Bytes that moved between parts, appeared or vanished, even if RSS did not change."""
    return int(step.ledger.parts["change_bytes"].dropna().abs().sum())


def _change_blocks(step: Change, name: str, caption: str) -> tuple[Block, ...]:
    """The verdict, the figure if it has a caption, and the tables of one change."""
    place = _sides(step)
    blocks: list[Block] = [Paragraph(minus_signs(step.sentence))]
    if caption:
        drawn = {"change": step.ledger, "name": name, "before": MomentName(step.before),
                 "after": MomentName(step.after)}  # fmt: skip
        blocks.append(Figure(caption, plot_ledger_change, lambda: drawn))
    # Parts that are 0 on both sides are left out.
    parts, rss = step.ledger.parts, step.ledger.rss_change_bytes
    moved = parts[(parts[["before_bytes", "after_bytes"]].fillna(1) != 0).any(axis=1)]
    sums = [None if rss is None else int(parts[f"{side}_bytes"].sum())
            for side in ("before", "after")]  # fmt: skip
    total = (Cell("RSS"), *map(bytes_cell, sums), change_cell(rss), BLANK)
    exact = table(text("Changes by part, {}", place), PARTS, moved, (total,))
    blocks.append(Folded("Part by part, to the byte", (exact,)))
    if step.mappings is not None:
        blocks += _mappings(step.mappings, place)
    return tuple(blocks)


def _mappings(mappings: pd.DataFrame, place: Text) -> list[Block]:
    """Matched mappings, largest change first: grew, shrank, new, gone."""
    moved = mappings[mappings["change_bytes"].abs() >= MIN_BYTES]
    if moved.empty:
        return []
    shown: list[Block] = [
        table(text("Changes by mapping, {}", place), MAPPINGS, moved.head(LARGEST))
    ]
    if len(moved) > LARGEST:
        rest = int(moved["change_bytes"].iloc[LARGEST:].sum())
        more = f"{len(moved) - LARGEST} further mappings moved by {format_change(rest)} net"
        shown.append(Notes((minus(more),)))
    return shown
