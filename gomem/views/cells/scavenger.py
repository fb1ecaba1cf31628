"""What the runtime keeps and gives back, moment by moment: figure, table, sentences."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import pandas as pd

from gomem.errors import CaptureError
from gomem.units import MIB, format_bytes, is_unknown
from gomem.views.document import Cell, Table
from gomem.views.figures.heap_return import plot_heap_return
from gomem.views.values import bytes_cell
from gomem.views.writers.notebook_cells import Shown, sentences

if TYPE_CHECKING:
    from collections.abc import Mapping

    from gomem.diagnosis.diagnosis import Diagnosis
    from gomem.views.figures.figure import Drawing

STEPS_TOLD = 8
WORTH_A_WORD = MIB  # a smaller difference is not worth a sentence
# Heading, and column of `heap_return_frame`.
COLUMNS = {
    "HeapInuse": "HeapInuse",
    "idle, kept": "idle_kept_bytes",
    "HeapReleased": "HeapReleased",
    "LazyFree": "LazyFree",
    "goal": "goal_bytes",
    "Rss of the heap": "heap_Rss",
    "RSS": "RSS",
}


def heap_return_frame(diagnosis: Diagnosis) -> pd.DataFrame:
    """One row a moment: what is drawn, in bytes; missing where no file says.

    Raises:
        CaptureError: No moment has MemStats or runtime/metrics.
    """
    heap = diagnosis.heap
    if heap.empty:
        name = PurePath(diagnosis.capture.name).name
        raise CaptureError(
            f"{name}: no moment has MemStats, so what the heap keeps is unknown; "
            "write runtime.ReadMemStats as JSON beside the profile"
        )
    rss = [diagnosis.ledgers[name].rss_bytes for name in heap["moment"]]
    return pd.DataFrame(
        {
            "moment": heap["moment"],
            "HeapInuse": heap["HeapInuse"],
            "idle_kept_bytes": heap["idle_kept_bytes"],
            "HeapReleased": heap["HeapReleased"],
            "LazyFree": heap["lazy_free_bytes"],
            "goal_bytes": heap["goal_bytes"],
            "heap_Rss": heap["arena_rss_bytes"],
            "RSS": pd.Series(rss, dtype="Int64"),
        }
    )


def plot_scavenger(diagnoses: Mapping[str, Diagnosis], *, name: str = "scavenger") -> Drawing:
    """Draw what is kept and given back at each moment, a panel for each capture, on one scale.

    Args:
        diagnoses: Captures by what their panels are called.
        name: Unique on its page.
    """
    frames = {title: heap_return_frame(diagnosis) for title, diagnosis in diagnoses.items()}
    return plot_heap_return(frames, name=name)


def scavenger_table(diagnosis: Diagnosis) -> Shown:
    """The numbers of the figure."""
    caption = (
        "What each moment keeps and has given back; the goal is where the background scavenger "
        "stops. There is none before Go 1.13, and none with GOGC=off and no GOMEMLIMIT."
    )
    rows = tuple(
        (Cell(row["moment"]), *(_cell(column, row[column]) for column in COLUMNS.values()))
        for row in heap_return_frame(diagnosis).to_dict("records")
    )
    return Shown((Table(caption, ("moment", *COLUMNS), "<" + ">" * len(COLUMNS), rows),))


def _cell(column: str, value: int) -> Cell:
    """A missing goal is no unknown one: there is none."""
    if column == "goal_bytes" and is_unknown(value):
        return Cell("none")
    return bytes_cell(value)


def rss_by_capture_table(diagnoses: Mapping[str, Diagnosis], caption: str) -> Shown:
    """RSS at each moment, a row for each capture."""
    ledgers = {title: diagnosis.ledgers for title, diagnosis in diagnoses.items()}
    moments = list(dict.fromkeys(name for each in ledgers.values() for name in each))
    rows = tuple(
        (
            Cell(title),
            *(bytes_cell(each[name].rss_bytes if name in each else None) for name in moments),
        )
        for title, each in ledgers.items()
    )
    return Shown((Table(caption, ("capture", *moments), "<" + ">" * len(moments), rows),))


def scavenger_sentences(diagnosis: Diagnosis) -> Shown:
    """What happened from each moment to the next, and what the last one still holds.

    Of many steps those are told in which the heap in use changed most.

    Raises:
        CaptureError: No moment has MemStats or runtime/metrics.
    """
    last = heap_return_frame(diagnosis).iloc[-1]
    steps = diagnosis.heap_steps
    by_size = steps["inuse_change_bytes"].abs().sort_values(ascending=False, kind="stable")
    told = steps.loc[by_size.index[:STEPS_TOLD]].sort_index()
    left_out = len(steps) - len(told)
    return sentences(
        *map(_step, told.to_dict("records")),
        f"{left_out} more steps changed less; the table has them." if left_out else "",
        _at_the_end(last),
    )


def _step(step: dict[str, Any]) -> str:
    words = [_moved("the heap in use", step["inuse_change_bytes"], "grew", "shrank")]
    words.append(_moved("what is given back", step["released_change_bytes"], "grew", "shrank"))
    if not is_unknown(step["rss_change_bytes"]):
        words.append(_moved("RSS", step["rss_change_bytes"], "rose", "fell"))
    return f"From {step['before']} to {step['after']}: {', '.join(words)}."


def _moved(what: str, change: int, up: str, down: str) -> str:
    if abs(change) < WORTH_A_WORD:
        return f"{what} hardly changed"
    return f"{what} {up if change > 0 else down} by {format_bytes(abs(change))}"


def _at_the_end(last: pd.Series) -> str:
    kept = f"At {last['moment']}, {format_bytes(last['idle_kept_bytes'])} are idle and kept"
    lazy = last["LazyFree"]
    if is_unknown(lazy):
        return f"{kept}; without smaps, nobody knows how much of the rest is still resident."
    return f"{kept}, and {format_bytes(lazy)} are given back and still resident."
