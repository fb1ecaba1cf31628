"""What goes back to the kernel, and why not more, as a section of the report."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pandas as pd

from gomem.inputs.schema import rows_of
from gomem.text import MomentName
from gomem.units import format_bytes, format_count, format_fraction, format_seconds, is_unknown
from gomem.views.document import Block, Cell, Figure, Folded, Notes, Paragraph, Section, Table
from gomem.views.figures.retention import plot_release, plot_retention
from gomem.views.values import bytes_cell, count_cell, fraction_cell, rate_cell, seconds_cell

if TYPE_CHECKING:
    from gomem.analysis.scavenger.scavenger import Scavenger
    from gomem.diagnosis.diagnosis import Diagnosis

NUMBERS = "The numbers of this figure"
LEAST_READINGS = 3  # a line through two says no more than the table
EPISODES = 16  # rows of the table; of more, those that last longest
BRIEF_ROWS = 6
TABLE_ROWS = 24  # of a figure's numbers
APPLIES = {"yes": "yes", "no": "no", "unknown": "not known"}
VALUES = {  # of a goal, at the last moment
    "paced": "paced_goal_bytes",
    "paced-by-goal": "paced_goal_bytes",
    "limit-background": "limit_goal_bytes",
    "limit-allocation": "limit_bytes",
}


def scavenger_section(diagnosis: Diagnosis) -> Section | None:
    """What is kept and given back over time, against which goals, and why no more went back."""
    answer = diagnosis.scavenger
    if answer is None:
        return None
    blocks: tuple[Block, ...] = (
        *_verdict(answer),
        *_over_time(answer),
        *_goals(answer),
        *_freeing(answer),
        *_rate(answer),
        *_cpu(answer),
    )
    return Section("scavenger", "What goes back to the kernel", blocks, gist=_gist(answer))


def _gist(answer: Scavenger) -> str:
    """What the heap keeps at the end, and why no more goes back."""
    kept = answer.retention["retained_bytes"].dropna()
    said = [f"{format_bytes(int(kept.iloc[-1]))} retained at the end"] if len(kept) else []
    if len(answer.episodes):
        said.append(str(answer.episodes.iloc[-1]["code"]))
    return ", ".join(said) or "nothing measured"


def _verdict(answer: Scavenger) -> tuple[Block, ...]:
    """The last verdict in a sentence, and all in a table."""
    episodes = answer.episodes
    if episodes.empty:
        return ()
    last = episodes.iloc[-1]
    paragraph = Paragraph(f"At the end: {last['sentence']}")
    longest = episodes["seconds"].fillna(0).sort_values(ascending=False, kind="stable")
    chosen = episodes.loc[sorted(longest.index[:EPISODES])]
    caption = "Why no more went back"
    if len(chosen) < len(episodes):
        caption += f": the {len(chosen)} longest of {format_count(len(episodes))} times"
    rows = tuple(_episode(row) for row in rows_of(chosen))
    columns = ("from", "lasting", "verdict", "given back", "why")
    return paragraph, Table(caption, columns, "<><><", rows, brief_rows=BRIEF_ROWS)


def _episode(row: dict[str, Any]) -> tuple[Cell, ...]:
    begin = row["from_seconds"]
    return (
        Cell(MomentName(row["before"]) if is_unknown(begin) else format_seconds(begin)),
        seconds_cell(row["seconds"]),
        Cell(row["code"], code=True),
        bytes_cell(_at_least_none(row["released_change_bytes"])),
        Cell(row["sentence"]),
    )


def _at_least_none(change: int | None) -> int | None:
    """What went back, less what was taken again; where more was taken, none did."""
    return None if is_unknown(change) or change is None else max(0, change)


def timed_readings(answer: Scavenger) -> pd.DataFrame:
    """Readings with a time, as far as there are enough for a line."""
    rows = answer.retention
    known = rows[rows["seconds"].notna()]
    times = known["seconds"][known["retained_bytes"].notna()]
    return known if times.nunique() >= LEAST_READINGS else known.iloc[:0]


def _over_time(answer: Scavenger) -> tuple[Block, ...]:
    timed = timed_readings(answer)
    table = _retention_table(answer)
    if timed.empty:
        return (table,) if answer.retention["retained_bytes"].notna().any() else ()
    caption = (
        "Heap kept and given back: in use, on top of it what is idle and kept, the goals that the "
        "scavenger works to, and RSS. A mark at the foot is a line of the log that tells of memory "
        "given back, at the time of the collection before it."
    )
    numbers = {"retention": timed, "marks": marks_of(answer)}
    return (Figure(caption, plot_retention, lambda: numbers), Folded(NUMBERS, (table,)))


def marks_of(answer: Scavenger) -> pd.DataFrame:
    lines = answer.lines
    if lines is None:
        return pd.DataFrame({"seconds": [], "released_bytes": []}, dtype=float)
    parts = lines[["released_background_bytes", "released_eager_bytes"]].sum(axis=1, min_count=1)
    released = lines["released_bytes"].fillna(parts)
    return lines.assign(released_bytes=released)[released.fillna(0) > 0]


def _few(rows: pd.DataFrame) -> pd.DataFrame:
    """Evenly many of a long table, the first and the last among them."""
    if len(rows) <= TABLE_ROWS:
        return rows
    places = {round(place * (len(rows) - 1) / (TABLE_ROWS - 1)) for place in range(TABLE_ROWS)}
    return rows.iloc[sorted(places)]


def _retention_table(answer: Scavenger) -> Table:
    known = answer.retention[answer.retention["retained_bytes"].notna()]
    shown = _few(known)
    rows = tuple(
        (
            Cell(MomentName(row["moment"])),
            seconds_cell(row["seconds"]),
            bytes_cell(row["HeapInuse"]),
            bytes_cell(row["idle_kept_bytes"]),
            bytes_cell(row["retained_bytes"]),
            bytes_cell(row["goal_bytes"]),
            bytes_cell(row["HeapReleased"]),
            bytes_cell(row["lazy_free_bytes"]),
            bytes_cell(row["rss_bytes"]),
            fraction_cell(row["utilisation_fraction"]),
        )
        for row in rows_of(shown)
    )
    columns = (
        "moment", "at", "in use", "idle, kept", "retained", "goal", "given back",
        "still resident", "RSS", "in use of retained",
    )  # fmt: skip
    caption = "What the heap keeps and has given back"
    if len(shown) < len(known):
        caption += f", {len(shown)} of {format_count(len(known))} moments"
    return Table(caption, columns, "<" + ">" * 9, rows, brief_rows=BRIEF_ROWS)


def _goals(answer: Scavenger) -> tuple[Block, ...]:
    """The rules that hold, or may; those of other releases and settings are folded away."""
    here = [one for one in answer.goals if one.applies != "no"]
    others = [one for one in answer.goals if one.applies == "no"]
    columns = ("rule", "holds here", "retained heap, at the end")
    known = answer.retention[answer.retention["retained_bytes"].notna()]
    last = {} if known.empty else known.iloc[-1].to_dict()
    rows = tuple(
        (
            Cell(goal.formula, note=goal.note),
            Cell(APPLIES[goal.applies]),
            bytes_cell(last.get(VALUES.get(goal.name, ""))),
        )
        for goal in here
    )
    table = Table("The rules by which heap goes back", columns, "<<>", rows)
    elsewhere = tuple((Cell(goal.formula, note=goal.note),) for goal in others)
    rest = Table("Rules that do not hold here", ("rule",), "<", elsewhere)
    return table, *(
        (Folded("Of other releases, and of a memory limit", (rest,)),) if others else ()
    )


def _freeing(answer: Scavenger) -> tuple[Block, ...]:
    """What debug.FreeOSMemory would do and did, and madvdontneed."""
    lines = []
    if answer.would_free_bytes is not None:
        lines.append(
            f"debug.FreeOSMemory would give back the {format_bytes(answer.would_free_bytes)} that "
            f"is idle, and what its collection finds dead of the rest of the "
            f"{format_bytes(answer.may_free_bytes)} retained."
        )
    if answer.lazy_free_bytes:
        lines.append(
            f"With GODEBUG=madvdontneed=1, {format_bytes(answer.lazy_free_bytes)} less would be "
            "resident: it was given back with MADV_FREE."
        )
    notes = (Notes(tuple(lines)),) if lines else ()
    if answer.freed.empty:
        return notes
    rows = tuple(
        (
            count_cell(row["number"]),
            bytes_cell(row["released_bytes"]),
            seconds_cell(row["stopped_seconds"]),
            seconds_cell(row["mark_seconds"]),
            seconds_cell(row["cpu_seconds"]),
        )
        for row in rows_of(answer.freed.head(TABLE_ROWS))
    )
    columns = ("collection", "gave back", "stopped the world", "marked", "CPU of the collection")
    return *notes, Table("Calls of debug.FreeOSMemory in the log", columns, "<>>>>", rows)


def _rate(answer: Scavenger) -> tuple[Block, ...]:
    """How fast it goes back, if any did."""
    timed = timed_readings(answer)
    going = timed[timed["release_bytes_per_second"].fillna(0) > 0]
    if going.empty:
        return ()
    rows = tuple(
        (
            Cell(MomentName(row["moment"])),
            seconds_cell(row["seconds"]),
            rate_cell(row["release_bytes_per_second"]),
            bytes_cell(row["above_goal_bytes"]),
            seconds_cell(row["seconds_to_goal"]),
        )
        for row in rows_of(_few(going))
    )
    columns = ("moment", "at", "given back", "above the goal", "time to the goal")
    caption = "How fast memory went back, and how far away the goal is at that rate."
    return (
        Figure(caption, plot_release, lambda: {"retention": timed}),
        Folded(NUMBERS, (Table("Moments at which it went back", columns, "<>>>>", rows),)),
    )


def _cpu(answer: Scavenger) -> tuple[Block, ...]:
    cpu = answer.cpu
    if cpu is None or cpu.fraction is None:
        return ()
    spent = format_seconds(cpu.background_seconds), format_seconds(cpu.assist_seconds)
    return (
        Paragraph(
            f"Giving memory back took {spent[0]} of CPU in the background and {spent[1]} of those "
            f"who allocate: {format_fraction(cpu.fraction)} of what was available, as the runtime "
            "estimates it."
        ),
    )
