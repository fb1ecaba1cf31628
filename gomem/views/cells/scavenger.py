"""What the runtime keeps and gives back, moment by moment: figure, table, sentences.

A column is the heap's address space (HeapSys), divided by what the runtime says of it: in use, idle
and kept, given back. What was given back with MADV_FREE and is still resident is hatched. The line
is what the kernel counts in these mappings: it follows the kept part, or it does not.
"""

from __future__ import annotations

from itertools import pairwise
from math import ceil
from typing import TYPE_CHECKING, Any

import pandas as pd

from gomem.errors import CaptureError
from gomem.units import MIB, format_bytes, is_unknown
from gomem.views.figures.figure import INK, Drawing, draw_byte_axis, new_figure, style
from gomem.views.figures.look import LOOK
from gomem.views.writers.cells import BYTES, Shown, sentences, table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from matplotlib.axes import Axes

    from gomem.diagnosis.diagnosis import Diagnosis

WIDTH = 7.4  # inches, as all lengths here
PANEL, LEGEND, TITLE, FOOT = 2.3, 0.4, 0.44, 0.3
SCALE, GAP = 0.72, 0.22  # left of the panels, and between two of them
BAR = 0.66  # of a moment's room
PANELS = 2  # in a row
CHARACTERS = 16  # so many stand beside one another on an inch
NAME_CHARACTERS, VALUE_CHARACTERS = 16, 11  # of a moment's name, and of the RSS above its column
STEPS_TOLD = 8
WORTH_A_WORD = MIB  # a smaller difference is not worth a sentence
COLUMNS = (
    "HeapInuse",
    "idle_kept_bytes",
    "HeapReleased",
    "LazyFree",
    "goal_bytes",
    "heap_Rss",
    "RSS",
)
LAYERS = {
    "in use": LOOK["heap_objects"],
    "idle, kept": LOOK["heap_idle"],
    "given back, still resident": LOOK["heap_released_resident"],
    "given back": ("none", ""),
}


def heap_return_frame(diagnosis: Diagnosis) -> pd.DataFrame:
    """One row a moment: what is drawn, in bytes; missing where no file says.

    Raises:
        CaptureError: No moment has MemStats or runtime/metrics.
    """
    heap = diagnosis.heap
    if heap.empty:
        raise CaptureError(
            f"{diagnosis.capture.name}: no MemStats in any moment, so what the heap keeps is not "
            "known; write runtime.ReadMemStats as JSON beside the profile"
        )
    rss = [diagnosis.ledgers[name].rss_bytes for name in heap["moment"]]
    return pd.DataFrame(
        {
            "moment": heap["moment"],
            "HeapInuse": heap["HeapInuse"],
            "idle_kept_bytes": heap["HeapIdle"] - heap["HeapReleased"],
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
    high = max(int(_tops(frame).max()) for frame in frames.values())
    rows = -(-len(frames) // PANELS)
    height = LEGEND + rows * (TITLE + PANEL + FOOT)
    with style():
        figure = new_figure(WIDTH, height)
        for place, (title, frame) in enumerate(frames.items()):
            axes = figure.add_axes(_box(place, len(frames), height))
            _draw_panel(axes, title, frame, high, labelled=place % PANELS == 0)
            _draw_names(axes, frame, _width(len(frames)))
        _draw_legend(figure.axes[0], figure)
    description = " ".join(f"{title}: {_describe(frame)}" for title, frame in frames.items())
    return Drawing(name, "Heap in use, kept and given back", description, figure)


def scavenger_table(diagnosis: Diagnosis) -> Shown:
    """The numbers of the figure."""
    caption = "What each moment keeps and has given back; the goal is where the scavenger stops."
    return table(heap_return_frame(diagnosis), caption, {"heap_Rss": BYTES, "RSS": BYTES})


def rss_by_capture_table(diagnoses: Mapping[str, Diagnosis], caption: str) -> Shown:
    """RSS at each moment, a row for each capture."""
    rows = [
        {"capture": title, **{name: ledger.rss_bytes for name, ledger in diagnosis.ledgers.items()}}
        for title, diagnosis in diagnoses.items()
    ]
    frame = pd.DataFrame(rows)
    return table(frame, caption, dict.fromkeys(frame.columns[1:], BYTES))


def read_scavenger(diagnosis: Diagnosis) -> Shown:
    """What happened from each moment to the next, and what the last one still holds.

    Of many steps those are told in which the heap in use changed most.
    """
    moments = heap_return_frame(diagnosis).to_dict("records")
    steps = list(pairwise(moments))
    told = sorted(range(len(steps)), key=lambda place: -_change(steps[place]))[:STEPS_TOLD]
    left_out = len(steps) - len(told)
    return sentences(
        *(_step(*steps[place]) for place in sorted(told)),
        f"{left_out} more steps changed less; the table has them." if left_out else "",
        _at_the_end(moments[-1]),
    )


def _change(step: tuple[dict[str, Any], dict[str, Any]]) -> int:
    before, after = step
    return abs(int(after["HeapInuse"] - before["HeapInuse"]))


def _step(before: dict[str, Any], after: dict[str, Any]) -> str:
    inuse = after["HeapInuse"] - before["HeapInuse"]
    released = after["HeapReleased"] - before["HeapReleased"]
    words = [_moved("the heap in use", inuse, "grew", "shrank")]
    words.append(_moved("what is given back", released, "grew", "shrank"))
    if not is_unknown(before["RSS"]) and not is_unknown(after["RSS"]):
        words.append(_moved("RSS", after["RSS"] - before["RSS"], "rose", "fell"))
    return f"From {before['moment']} to {after['moment']}: {', '.join(words)}."


def _moved(what: str, change: int, up: str, down: str) -> str:
    if abs(change) < WORTH_A_WORD:
        return f"{what} hardly changed"
    return f"{what} {up if change > 0 else down} by {format_bytes(abs(change))}"


def _at_the_end(last: dict[str, Any]) -> str:
    kept = f"At {last['moment']}, {format_bytes(last['idle_kept_bytes'])} are idle and kept"
    lazy = last["LazyFree"]
    if is_unknown(lazy):
        return f"{kept}; without smaps it is not known how much of the rest is still resident."
    return f"{kept}, and {format_bytes(lazy)} are given back and still resident."


def _tops(frame: pd.DataFrame) -> pd.Series:
    columns = frame["HeapInuse"] + frame["idle_kept_bytes"] + frame["HeapReleased"]
    return pd.concat([columns, frame["RSS"]], axis=1).max(axis=1)


def _box(place: int, panels: int, height: float) -> tuple[float, float, float, float]:
    """Where a panel stands: rows of two below the legend, as parts of the figure."""
    width = _width(panels)
    row, column = divmod(place, PANELS)
    bottom = height - LEGEND - (row + 1) * (TITLE + PANEL + FOOT) + FOOT
    left = SCALE + column * (width + GAP)
    return left / WIDTH, bottom / height, width / WIDTH, PANEL / height


def _width(panels: int) -> float:
    in_row = min(panels, PANELS)
    return (WIDTH - SCALE - GAP * (in_row - 1)) / in_row


def _draw_panel(axes: Axes, title: str, frame: pd.DataFrame, high: int, *, labelled: bool) -> None:
    places = range(len(frame))
    lazy = frame["LazyFree"].fillna(0)
    sizes = (frame["HeapInuse"], frame["idle_kept_bytes"], lazy, frame["HeapReleased"] - lazy)
    reached = pd.Series(0, index=frame.index, dtype="Int64")
    for (label, (colour, hatch)), size in zip(LAYERS.items(), sizes, strict=True):
        dotted = ":" if colour == "none" else "-"
        axes.bar(
            places, size.astype(float), BAR, bottom=reached.astype(float), color=colour,
            hatch=hatch, edgecolor=INK, lw=0.6, ls=dotted, label=label,
        )  # fmt: skip
        reached = reached + size
    _draw_lines(axes, frame)
    axes.set_xlim(-0.6, len(frame) - 0.4)
    axes.set_ylim(0, high * 1.02)
    axes.set_title(title, loc="left", fontsize=8.5, weight="bold", y=1.0, pad=16)
    draw_byte_axis(axes, 0, high, along="y")
    if not labelled:
        axes.tick_params(labelleft=False)


def _draw_names(axes: Axes, frame: pd.DataFrame, width_inches: float) -> None:
    """The moments below, and the RSS of each above, as many as there is room for."""
    names = [_short(str(name)) for name in frame["moment"]]
    longest = max(VALUE_CHARACTERS, *map(len, names)) + 1
    every = max(1, ceil(len(frame) * longest / (CHARACTERS * width_inches)))
    rows = frame.iloc[::every]
    axes.set_xticks(list(rows.index), names[::every])
    for place, size in rows["RSS"].dropna().items():
        axes.annotate(
            format_bytes(size), (place, 1), (0, 3), xycoords=axes.get_xaxis_transform(),
            textcoords="offset points", ha="center", va="bottom", weight="bold",
        )  # fmt: skip


def _draw_lines(axes: Axes, frame: pd.DataFrame) -> None:
    for place, goal in enumerate(frame["goal_bytes"]):
        if not is_unknown(goal) and goal:
            ends = [place - BAR / 2 - 0.06, place + BAR / 2 + 0.06]
            axes.plot(ends, [goal, goal], color=INK, lw=1.2, ls="--", label="scavenger's goal")
    known = frame[frame["RSS"].notna()]
    if len(known):
        axes.plot(
            list(known.index), known["RSS"].astype(float), color=INK, lw=1.4, marker="o", ms=4,
            label="RSS of the process",
        )  # fmt: skip


def _short(moment: str) -> str:
    return moment if len(moment) <= NAME_CHARACTERS else f"{moment[: NAME_CHARACTERS - 1]}…"


def _draw_legend(axes: Axes, figure: Any) -> None:
    handles, labels = axes.get_legend_handles_labels()
    by_label = dict(zip(labels, handles, strict=True))
    order = [
        label for label in (*LAYERS, "scavenger's goal", "RSS of the process") if label in by_label
    ]
    figure.legend(
        [by_label[label] for label in order], order, loc="upper left", ncols=3,
        bbox_to_anchor=(SCALE / WIDTH, 1), borderaxespad=0, handlelength=1.8,
    )  # fmt: skip


def _describe(frame: pd.DataFrame) -> str:
    each = [
        f"{row['moment']} {format_bytes(row['HeapInuse'])} in use, "
        f"{format_bytes(row['idle_kept_bytes'])} idle and kept, "
        f"{format_bytes(row['HeapReleased'])} given back, RSS {format_bytes(row['RSS'])}"
        for row in frame.to_dict("records")
    ]
    return "; ".join(each) + "."
