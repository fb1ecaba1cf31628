"""Predictions for other GOGC and GOMEMLIMIT values, as blocks for the command and the report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.text import Text, joined
from gomem.units import BYTE_UNITS, format_bytes, format_fraction, is_unknown
from gomem.views.document import Block, Cell, Figure, Folded, Notes, Paragraph, Table
from gomem.views.figures.what_if_grid import plot_what_if_grid
from gomem.views.figures.what_if_trade import plot_what_if_trade
from gomem.views.report.limits import advice_table
from gomem.views.tables import Column, Row, table, words
from gomem.views.values import NOTHING, bytes_cell
from gomem.views.what_if.words import (
    advice_reasons,
    advice_words,
    backtest_words,
    bought_words,
    digits,
    gogc_word,
    limit_word,
    risk_words,
    today_words,
)
from gomem.views.words import minus_signs

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gomem.analysis.what_if.what_if import PodAdvice, WhatIf

BOUNDS = {"gogc": "GOGC", "limit": "the limit", "live heap": "no room left"}
BOUNDS |= {"timer": "every 2 min", "program": "runtime.GC"}
EACH_SETTING = (
    "Predicted GC rate, GC CPU and highest heap; intervals are for a run as long as the log"
)
TRADE_CAPTION = (
    "Each point is a GOGC, with its highest heap and its GC CPU; bars are intervals. GOGC=off "
    "without a limit would lie far to the right."
)
GRID_CAPTION = (
    "Each cell is a setting, with its GCs per second and its highest heap. Darker cells take more "
    "CPU, the frame marks today's setting, and hatching means that the limit leaves no room."
)


def what_if_blocks(answer: WhatIf, *, opened: bool = False) -> tuple[Block, ...]:
    """The whole answer; if there is none, the sentence that says why.

    With `opened`, what the first screen already has is left out.
    """
    if answer.refused is not None:
        return (Paragraph(f"No estimate of other settings. {Text(answer.refused).sentence()}"),)
    return (
        *(() if opened else _first_screen(answer)),
        *_advised(answer.advice, is_said=opened),
        table(EACH_SETTING, GRID, answer.grid),
        Folded(
            "Map of the predictions, GOMEMLIMIT by GOGC",
            (Figure(GRID_CAPTION, plot_what_if_grid, lambda: {"grid": answer.grid}),),
        ),
        Folded("CPU left to the program, and memory retained", (memory_table(answer),)),
        Paragraph(backtest_words(answer)),
        Notes(tuple(minus_signs(assumed) for assumed in answer.assumptions)),
    )


def trade_figure(answer: WhatIf) -> Figure:
    """Heap size against GC CPU."""
    return Figure(TRADE_CAPTION, plot_what_if_trade, lambda: {"grid": answer.grid})


def _first_screen(answer: WhatIf) -> tuple[Block, ...]:
    said = filter(None, (today_words(answer.present), bought_words(answer)))
    return (trade_figure(answer), *map(Paragraph, said))


def _advised(advice: PodAdvice | None, *, is_said: bool) -> tuple[Block, ...]:
    """The advised settings for the container, with computation and risk."""
    if advice is None:
        return ()
    caption = f"A GOMEMLIMIT for a container of {format_bytes(advice.container_bytes)}"
    steps = advice_table(caption, advice.steps, advice.gomemlimit_bytes)
    sentences = () if is_said else (advice_words(advice), *advice_reasons(advice))
    risk = risk_words(advice)
    return (
        *([Paragraph(joined(" ", sentences))] if sentences else []),
        steps,
        *([Notes(risk)] if risk else []),
    )


def _setting(row: Row) -> str:
    return f"{gogc_word(row['gogc'])}{' today' if row['is_present'] else ''}"


def _ends(heading: str, name: str, words: Callable[[Sequence[float]], Sequence[str]]) -> Column:
    """A column with a value and its interval, each formatted."""

    def cell(row: Row) -> Cell:
        if is_unknown(row[name]):
            return NOTHING
        ends = [float(row[f"{name}{end}"]) for end in ("", "_low", "_high")]
        value, low, high = words(ends)
        exact = f"{ends[0]:g}, {ends[1]:g} to {ends[2]:g}"
        return Cell(f"{value} ({low}\N{EN DASH}{high})", exact)

    return Column(heading, cell)


def _plain(values: Sequence[float]) -> Sequence[str]:
    return [digits(values[0], 3), *(digits(value, 2) for value in values[1:])]


def _millicores(values: Sequence[float]) -> Sequence[str]:
    return _plain([1000 * value for value in values])


def _shares(values: Sequence[float]) -> Sequence[str]:
    return [format_fraction(values[0]), *(f"{100 * value:.1f}" for value in values[1:])]


def _sizes(values: Sequence[float]) -> Sequence[str]:
    """Bytes, the interval in the value's unit."""
    number, unit = format_bytes(values[0]).split(" ")
    return [f"{number} {unit}", *(digits(value / BYTE_UNITS[unit], 3) for value in values[1:])]


def _rate(row: Row) -> Cell:
    """Collections per second, or that only the timer starts them."""
    if row["bound_by"] == "timer":
        return Cell("every 2 min", f"{row['cycles_per_second']:g}")
    return _ends("", "cycles_per_second", _plain).cell(row)


def _headroom(row: Row) -> Cell:
    """The memory left in the container, or `12 MiB over` the limit."""
    size = row["headroom_bytes"]
    if is_unknown(size) or size >= 0:
        return bytes_cell(size)
    return Cell(f"{format_bytes(-size)} over")


SETTING = (
    words("GOGC", _setting),
    Column("limit", lambda row: Cell(limit_word(row["memory_limit_bytes"]))),
)
GRID = (
    *SETTING,
    Column("GC/s", _rate),
    _ends("millicores", "gc_cpu_cores", _millicores),
    _ends("highest heap", "peak_heap_bytes", _sizes),
)
MEMORY = (
    *SETTING,
    words("decided by", lambda row: BOUNDS[row["bound_by"]]),
    _ends("CPU left", "mutator_utilization_fraction", _shares),
    _ends("heap kept", "retained_bytes", _sizes),
    _ends("RSS", "rss_bytes", _sizes),
    Column("headroom", _headroom),
)


def memory_table(answer: WhatIf) -> Table:
    """CPU left to the program, and memory of the process."""
    return table(
        "Predicted CPU and memory by setting, and what sets the heap goal", MEMORY, answer.grid
    )
