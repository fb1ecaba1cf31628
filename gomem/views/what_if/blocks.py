"""What other GOGC and GOMEMLIMIT would do, in blocks: for the command and for the report."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from gomem.units import (
    BYTE_UNITS,
    format_bytes,
    format_count,
    format_fraction,
    format_relative,
    format_seconds,
    is_unknown,
)
from gomem.views.document import Block, Cell, Figure, Folded, Notes, Paragraph, Table
from gomem.views.figures.what_if_grid import plot_what_if_grid
from gomem.views.report.limits import advice_table
from gomem.views.tables import Column, Row, table, words
from gomem.views.values import NOTHING, bytes_cell
from gomem.views.words import minus_signs

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from gomem.analysis.what_if.watched import Present
    from gomem.analysis.what_if.what_if import PodAdvice, WhatIf

OFF = -1  # GOGC=off in the grid
BOUNDS = {"gogc": "GOGC", "limit": "the limit", "live heap": "no room left"}
BOUNDS |= {"timer": "every 2 min", "program": "runtime.GC"}
EACH_SETTING = "Under each setting, with the interval for a run as long as the log"
GRID_CAPTION = (
    "Each setting: collections a second and the highest heap. Darker is more CPU; the frame is "
    "today's setting, hatching stands where the limit leaves no room."
)
HIGHEST = 400  # the GOGC that people ask about
UNEVEN = 0.3  # an error of the back-test from which on the intervals are the message


def what_if_blocks(answer: WhatIf, *, advised: bool = False) -> tuple[Block, ...]:
    """All of the answer; where it is refused, the sentence that says why.

    What to set is left out where it is `advised` above.
    """
    if answer.refused is not None:
        return (Paragraph(f"What other settings would do cannot be told: {answer.refused}."),)
    return (
        Paragraph(today_words(answer.present)),
        *_bought(answer),
        *_advised(answer.advice, said=advised),
        table(EACH_SETTING, GRID, answer.grid),
        Figure(GRID_CAPTION, plot_what_if_grid, lambda: {"grid": answer.grid}),
        Folded("CPU of the program and memory kept", (memory_table(answer),)),
        Paragraph(backtest_words(answer)),
        Notes(tuple(minus_signs(one) for one in answer.assumptions)),
    )


def gogc_word(gogc: int | None) -> str:
    """GOGC as it is set."""
    return "?" if gogc is None else "off" if gogc == OFF else str(gogc)


def limit_word(limit: float | None) -> str:
    """GOMEMLIMIT as people read it."""
    known = limit is not None and not is_unknown(limit) and not math.isinf(limit)
    return format_bytes(limit) if known else "none"


def limit_setting(limit: float) -> str:
    """GOMEMLIMIT as the runtime reads it."""
    mib = 1 << 20
    return f"{int(limit) // mib}MiB" if int(limit) % mib == 0 else f"{int(limit)}B"


def rate_words(per_second: float) -> str:
    """Collections a second, or where they are rare how far apart."""
    if per_second >= 0.1:
        return f"{_digits(per_second, 3)} collections a second"
    return f"a collection every {format_seconds(1 / per_second)}" if per_second > 0 else "none"


def cores_words(cores: float) -> str:
    """CPU a second, small amounts in thousandths as schedulers count them."""
    if cores >= 0.1:
        return f"{_digits(cores, 3)} cores"
    return f"{_digits(1000 * cores, 3)} millicores"


def today_words(present: Present) -> str:
    """What the log shows, in a sentence or two."""
    set_to = f"GOGC={gogc_word(present.gogc)}" if present.gogc is not None else "GOGC is not known"
    limit = present.memory_limit_bytes
    if limit is not None and not math.isinf(limit):
        set_to += f", GOMEMLIMIT={limit_setting(limit)}"
    return (
        f"Today ({set_to}): {rate_words(present.cycles_per_second or 0.0)} taking "
        f"{cores_words(present.gc_cpu_cores or 0.0)} on {present.gomaxprocs:g} Ps, and a heap of "
        f"{format_bytes(present.peak_heap_bytes)} at its highest, of which "
        f"{format_bytes(present.live_bytes)} live. The program allocates "
        f"{format_bytes(present.allocation_bytes_per_second)}/s; a collection costs "
        f"{format_seconds(present.mark_cpu_seconds_per_cycle)} of CPU. Seen in "
        f"{format_count(present.cycles)} collections over {format_seconds(present.seconds)}."
    )


def _bought(answer: WhatIf) -> tuple[Block, ...]:
    """What a higher GOGC would buy; nothing where today's is not known, or as high."""
    present = answer.present
    limit = present.memory_limit_bytes
    limit = None if limit is None or math.isinf(limit) else limit
    now = None if present.gogc is None else answer.cell(present.gogc, limit)
    finite = [one for one in answer.grid["gogc"] if one != OFF]
    wanted = HIGHEST if HIGHEST in finite else max(finite, default=OFF)
    then = answer.cell(wanted)
    if now is None or then is None or now["gogc"] in (OFF, wanted):
        return ()
    less = float(now["gc_cpu_cores"] - then["gc_cpu_cores"])
    more = int(then["peak_heap_bytes"] - now["peak_heap_bytes"])
    rate = float(then["cycles_per_second"] / now["cycles_per_second"]) - 1
    verb = "give back" if less >= 0 else "cost"
    memory = f"{format_bytes(abs(more))} {'more' if more >= 0 else 'less'} heap at its highest"
    said = (
        f"GOGC={wanted} would {verb} {cores_words(abs(less))} ({format_relative(rate)} "
        f"collections) for {memory}: {rate_words(float(then['cycles_per_second']))}, "
        f"{cores_words(float(then['gc_cpu_cores']))}, {format_bytes(int(then['peak_heap_bytes']))}."
    )
    return (Paragraph(minus_signs(said)),)


def _advised(advice: PodAdvice | None, *, said: bool) -> tuple[Block, ...]:
    """What to set for the container, with its arithmetic and its risk."""
    if advice is None:
        return ()
    caption = f"A GOMEMLIMIT for a container of {format_bytes(advice.container_bytes)}"
    steps = advice_table(caption, advice.steps, advice.gomemlimit_bytes)
    words = () if said else (Paragraph(minus_signs(advice_words(advice))),)
    risk = risk_words(advice)
    return (*words, steps, *((Notes(risk),) if risk else ()))


def advice_words(advice: PodAdvice) -> str:
    """What to set, and what comes of it."""
    pod = format_bytes(advice.container_bytes)
    left = int(advice.steps["bytes"].sum())
    if left <= 0:
        return f"A container of {pod} leaves nothing for Go's memory."
    set_to = advice.gomemlimit_bytes
    limit = "" if set_to is None else f" with GOMEMLIMIT={limit_setting(set_to)}"
    if advice.gogc is None or advice.expected is None:
        return (
            f"A container of {pod} is too small for this load: even GOGC=25 would hold more than "
            f"the {format_bytes(left)} that are left for Go. Under{limit or ' a limit'} it would "
            "collect far more often; give it more memory, or let it hold less."
        )
    row = advice.expected
    return (
        f"For a container of {pod}: GOGC={advice.gogc}{limit}. Go would hold up to "
        f"{format_bytes(advice.held_bytes)} of the {format_bytes(left)}, with "
        f"{rate_words(float(row['cycles_per_second']))} taking "
        f"{cores_words(float(row['gc_cpu_cores']))}. It is the largest GOGC tried that stays below "
        "at the upper end of its interval."
    )


def risk_words(advice: PodAdvice) -> tuple[str, ...]:
    """How far the live heap may grow, and what happens then."""
    if advice.met_bytes is None or advice.limit_decides_bytes is None:
        return ()
    if advice.gomemlimit_bytes is None:
        return ("this release knows no GOMEMLIMIT: nothing holds a growing heap back",)
    decides, met = format_bytes(advice.limit_decides_bytes), format_bytes(advice.met_bytes)
    risk = (
        f"the live heap is {format_bytes(advice.live_bytes)}; above {decides} the limit decides "
        "instead of GOGC, and collections come more and more often"
    )
    worst = (
        f"at {met} live heap and limit meet: collecting then takes up to half of the CPU, the heap "
        "goes past the limit, and the kernel may kill"
    )
    return risk, worst


def _setting(row: Row) -> str:
    return f"{gogc_word(row['gogc'])}{' today' if row['is_present'] else ''}"


def _digits(value: float, digits: int) -> str:
    """So many significant digits, and never an exponent: `550`, `0.0036`."""
    return np.format_float_positional(
        value, precision=digits, unique=False, fractional=False, trim="-"
    )


def _ends(heading: str, name: str, words: Callable[[Sequence[float]], Sequence[str]]) -> Column:
    """A value with its interval behind it, each in words."""

    def cell(row: Row) -> Cell:
        if is_unknown(row[name]):
            return NOTHING
        ends = [float(row[f"{name}{end}"]) for end in ("", "_low", "_high")]
        value, low, high = words(ends)
        exact = f"{ends[0]:g}, {ends[1]:g} to {ends[2]:g}"
        return Cell(f"{value} ({low}\N{EN DASH}{high})", exact)

    return Column(heading, cell)


def _plain(values: Sequence[float]) -> Sequence[str]:
    return [_digits(values[0], 3), *(_digits(one, 2) for one in values[1:])]


def _millicores(values: Sequence[float]) -> Sequence[str]:
    return _plain([1000 * one for one in values])


def _shares(values: Sequence[float]) -> Sequence[str]:
    return [format_fraction(values[0]), *(f"{100 * one:.1f}" for one in values[1:])]


def _sizes(values: Sequence[float]) -> Sequence[str]:
    """Bytes, the interval in the value's own unit."""
    number, unit = format_bytes(values[0]).split(" ")
    return [f"{number} {unit}", *(_digits(one / BYTE_UNITS[unit], 3) for one in values[1:])]


def _rate(row: Row) -> Cell:
    """Collections a second; where only the timer starts them, that it does."""
    if row["bound_by"] == "timer":
        return Cell("every 2 min", f"{row['cycles_per_second']:g}")
    return _ends("", "cycles_per_second", _plain).cell(row)


def _headroom(row: Row) -> Cell:
    """What is left to the container; no person meets a negative number."""
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
    """What the program keeps of its CPU, and what the process keeps of memory."""
    return table("The same: what decides, CPU and memory", MEMORY, answer.grid)


def backtest_words(answer: WhatIf) -> str:
    """How well the log's earlier part foretells its later one."""
    test = answer.backtest
    if test.cycles_per_second_error is None:
        return (
            "No back-test: the GOGC that the log was made with is not known, so 10 % are taken for "
            "the replay's own error."
        )
    words = ["Back-test on the log itself:"]
    if test.goal_error_p95 is not None:
        words.append(
            f"{format_count(test.cycles)} goals foretold from the collection before, "
            f"{format_fraction(test.goals_agree_fraction)} of them right within the log's "
            "rounding;"
        )
    if test.interval_error_p50 is not None:
        words.append(
            "the distance to the next collection is off by "
            f"{format_fraction(test.interval_error_p50)} in the median;"
        )
    words.append(
        f"the replay is off by {format_fraction(test.cycles_per_second_error)} in collections a "
        f"second, {format_fraction(test.gc_cpu_cores_error)} in CPU and "
        f"{format_fraction(test.peak_heap_bytes_error)} in the highest heap."
    )
    if max(test.cycles_per_second_error, test.peak_heap_bytes_error or 0.0) > UNEVEN:
        words.append("The load is too uneven for a log of this length: log a longer time.")
    return " ".join(words)
