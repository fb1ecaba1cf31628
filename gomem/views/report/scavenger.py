"""The report's section on memory returned to the OS, and why not more."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from gomem.inputs.schema import rows_of
from gomem.releases import Fact
from gomem.text import MomentName, text
from gomem.units import format_bytes, format_count, format_fraction, format_seconds
from gomem.views.document import Block, Folded, Notes, Paragraph, Section
from gomem.views.figures.retention import plot_release, plot_retention
from gomem.views.report.shown import with_numbers
from gomem.views.tables import (
    clock,
    count,
    moment,
    noted,
    rate,
    seconds,
    share,
    size,
    table,
    words,
)

if TYPE_CHECKING:
    from gomem.analysis.scavenger.scavenger import Scavenger
    from gomem.diagnosis.diagnosis import Diagnosis
    from gomem.releases import GoVersion

MIN_READINGS = 3  # with two, a line shows no more than the table
EPISODES = 16  # rows of the table; if there are more, the longest
BRIEF_ROWS = 6
TABLE_ROWS = 24  # of a figure's numbers
OVER_TIME = (
    "The heap over time: heap in use, idle heap above it, the scavenger's goals, and RSS. Ticks at "
    "the bottom are scavenger lines of the log, each placed at the GC before it."
)


AT_MOST = (
    "the scavenger's goal depends on HeapInuse at the last GC and on the NextGC before that GC; "
    "where no file has both, the goal is an upper bound: 1.1 × (NextGC + HeapInuse - HeapAlloc)"
)
RELEASE_DECIDES = "the Go release, which is not known exactly, decides which of these rules apply"
UNUSED = "released (HeapReleased) includes new heap that was never used"
APPLIES = {"yes": "applies", "not yet": "does not apply yet", "unknown": "might apply"}
NO_RELEASE = "unknown/no-release"
VERDICTS = {
    "as-intended/little": "little to release",
    "as-intended/going-back": "being released",
    "kept-for-goal": "kept for reuse",
    "waiting": "not due yet",
    "starved": "scavenger does not run",
    "not-go-memory": "not Go heap",
    "madv-free": "released with MADV_FREE",
    NO_RELEASE: "depends on the release",
}
RELEASE_WANTED = (
    "the rule depends on the Go release: pass --go-version, or add the output of go version -m to "
    "the capture"
)
EPISODE = (
    moment("from", "before"),
    moment("to", "after"),
    clock("start", "from_seconds"),
    seconds("duration", "seconds"),
    words("verdict", lambda row: _verdict_words(row["code"], row["rule"])),
    size("returned (net)", "returned_bytes"),
    words("why", "sentence"),
)
RETENTION = (
    moment("reading", "moment"),
    clock("at", "seconds"),
    size("in use", "HeapInuse"),
    size("idle spans kept", "idle_kept_bytes"),
    size("retained", "retained_bytes"),
    size("scavenger's goal", "goal_bytes"),
    size("released", "HeapReleased"),
    size("released but resident", "lazy_free_bytes"),
    size("RSS", "rss_bytes"),
    share("in use / retained", "utilisation_fraction"),
)
FREED = (
    count("GC", "number"),
    size("returned", "released_bytes"),
    seconds("pause", "stopped_seconds"),
    seconds("marking", "mark_seconds"),
    seconds("GC CPU", "cpu_seconds"),
)
RATE = (
    moment("snapshot", "moment"),
    clock("at", "seconds"),
    rate("returned", "release_bytes_per_second"),
    size("over the goal", "above_goal_bytes"),
    seconds("time to goal", "seconds_to_goal"),
)


def _verdict_words(code: str, rule: str) -> str:
    """A verdict in two or three words."""
    return VERDICTS.get(f"{code}/{rule}") or VERDICTS.get(code) or code.replace("-", " ")


def scavenger_section(diagnosis: Diagnosis) -> Section | None:
    """Retained and released memory over time, the goals, and why more was not released."""
    answer = diagnosis.scavenger
    if answer is None:
        return None
    version = diagnosis.capture.go_version
    blocks = (
        *_verdict(answer, _word(diagnosis)), *_over_time(answer, version),
        *_goals(answer, version), *_freeing(answer), *_rate(answer), *_cpu(answer),
    )  # fmt: skip
    return Section("scavenger", "Returning memory to the OS", blocks, gist=_gist(answer))


def _gist(answer: Scavenger) -> str:
    """The heap retained at the end, and why more is not released."""
    last = rows_of(answer.episodes.tail(1))
    if answer.lazy_free_bytes and any(row["code"] == "madv-free" for row in last):
        return f"{format_bytes(answer.lazy_free_bytes)} released with MADV_FREE, still in RSS"
    kept = answer.retention["retained_bytes"].dropna()
    said = [f"{format_bytes(int(kept.iloc[-1]))} retained at the end"] if len(kept) else []
    said += [_verdict_words(row["code"], row["rule"]) for row in last]
    return ", ".join(said) or "nothing measured"


def _word(diagnosis: Diagnosis) -> str:
    """What the rows are: a log alone has readings in its lines."""
    return "snapshot" if diagnosis.moments else "reading"


def _verdict(answer: Scavenger, word: str) -> tuple[Block, ...]:
    """The last verdict in a sentence, and all verdicts in a table."""
    episodes = answer.episodes
    if episodes.empty:
        return ()
    longest = episodes["seconds"].fillna(0).sort_values(ascending=False, kind="stable")
    chosen = episodes.loc[sorted(longest.index[:EPISODES])]
    caption = "Memory returned, and why not more" if len(chosen) > 1 else "Memory returned"
    if len(chosen) < len(episodes):
        caption += f": the {len(chosen)} longest of {format_count(len(episodes))} times"
    said = episodes["sentence"].iloc[-1]
    end, ends = episodes["after"].iloc[-1], set(answer.retention["moment"].tail(1))
    is_last = end in ends or not ends
    at = text("At the last {}", word) if is_last else text("At {}", MomentName(end))
    last = Paragraph(text("{}, {}{}", at, said[:1].lower(), said[1:]))
    columns = EPISODE if len(chosen) > 1 else EPISODE[:-1]  # the sentence above has the reason
    is_open = (episodes["code"] + "/" + episodes["rule"]).eq(NO_RELEASE).any()
    notes = (Notes((RELEASE_WANTED,)),) if is_open else ()
    return last, table(caption, columns, chosen, brief_rows=BRIEF_ROWS), *notes


def timed_readings(answer: Scavenger) -> pd.DataFrame:
    """Readings with a time; empty if there are too few for a line."""
    rows = answer.retention
    known = rows[rows["seconds"].notna()]
    times = known["seconds"][known["retained_bytes"].notna()]
    return known if times.nunique() >= MIN_READINGS else known.iloc[:0]


def marks_of(answer: Scavenger) -> pd.DataFrame:
    """The log lines about released memory: `seconds` and `released_bytes`."""
    lines = answer.lines
    if lines is None:
        return pd.DataFrame({"seconds": [], "released_bytes": []}, dtype=float)
    parts = lines[["released_background_bytes", "released_eager_bytes"]].sum(axis=1, min_count=1)
    released = lines["released_bytes"].fillna(parts)
    return lines.assign(released_bytes=released)[released.fillna(0) > 0]


def _few(rows: pd.DataFrame) -> pd.DataFrame:
    """Evenly spaced rows of a long table, including the first and the last."""
    if len(rows) <= TABLE_ROWS:
        return rows
    places = {round(place * (len(rows) - 1) / (TABLE_ROWS - 1)) for place in range(TABLE_ROWS)}
    return rows.iloc[sorted(places)]


def _over_time(answer: Scavenger, version: GoVersion) -> tuple[Block, ...]:
    known = answer.retention[answer.retention["retained_bytes"].notna()]
    if not any(goal.applies in ("yes", "not yet") for goal in answer.goals):
        known = known.assign(goal_bytes=pd.NA)  # of an unknown release
    caption = "Heap retained and released"
    if len(shown := _few(known)) < len(known):
        caption += f", {len(shown)} of {format_count(len(known))} snapshots"
    below = table(caption, RETENTION, shown, brief_rows=BRIEF_ROWS)
    is_bound = (known["paced_by"] == "steady") & known["goal_bytes"].notna()
    # Retained and released memory both rise if the runtime reserves more of the address space.
    counts_unused = not version.certainly(Fact.IDLE_SPANS_AGE)
    has_grown = counts_unused & known[["HeapReleased", "retained_bytes"]].diff().gt(0).all(axis=1)
    said = [words for words, rows in ((AT_MOST, is_bound), (UNUSED, has_grown)) if rows.any()]
    note = (Notes(tuple(said)),) if said else ()
    timed = timed_readings(answer)
    if timed.empty:
        return (below, *note) if len(known) else ()
    numbers = {"retention": timed, "marks": marks_of(answer)}
    return *with_numbers(OVER_TIME, plot_retention, lambda: numbers, below), *note


def _goals(answer: Scavenger, version: GoVersion) -> tuple[Block, ...]:
    """The goals that apply, or may apply; others are folded."""
    rule = noted("rule", lambda goal: (goal.formula, goal.note))
    columns = (
        rule,
        words("status", lambda goal: APPLIES[goal.applies]),
        size("goal for retained heap", answer.goal_bytes),
    )
    here = [goal for goal in answer.goals if goal.applies != "no"]
    others = [goal for goal in answer.goals if goal.applies == "no"]
    rest = table("Rules that do not apply here", (rule,), others)
    folded = Folded("Rules of other Go versions and of a memory limit", (rest,))
    caption = "When the runtime releases idle heap (sizes exclude goroutine stacks)"
    notes = (Notes((RELEASE_DECIDES,)),) if version.exact is None and here[1:] else ()
    return table(caption, columns, here), *notes, *((folded,) if others else ())


def _freeing(answer: Scavenger) -> tuple[Block, ...]:
    """The effect of debug.FreeOSMemory, expected and logged, and madvdontneed."""
    lines = []
    if answer.would_free_bytes is not None and answer.in_use_bytes is not None:
        idle, in_use = map(format_bytes, (answer.would_free_bytes, answer.in_use_bytes))
        lines.append(
            f"debug.FreeOSMemory would release up to {idle} of idle heap, and the garbage that its "
            f"GC finds in the {in_use} in use."
        )
    if answer.lazy_free_bytes:
        lines.append(
            f"With GODEBUG=madvdontneed=1, RSS would be {format_bytes(answer.lazy_free_bytes)} "
            "lower: that much was released with MADV_FREE."
        )
    notes = (Notes(tuple(lines)),) if lines else ()
    if answer.freed.empty:
        return notes
    caption = "Calls to debug.FreeOSMemory in the log"
    return *notes, table(caption, FREED, answer.freed.head(TABLE_ROWS))


def _rate(answer: Scavenger) -> tuple[Block, ...]:
    """The release rate, if memory was released."""
    timed = timed_readings(answer)
    going = timed[timed["release_bytes_per_second"].fillna(0) > 0]
    if going.empty:
        return ()
    has_goal = timed["seconds_to_goal"].fillna(0).gt(0).any()
    caption = "The rate at which memory returns to the OS"
    caption += ", and the time to the goal at that rate." if has_goal else "."
    below = table("Snapshots with memory returned", RATE, _few(going))
    return with_numbers(caption, plot_release, lambda: {"retention": timed}, below)


def _cpu(answer: Scavenger) -> tuple[Block, ...]:
    cpu = answer.cpu
    if cpu is None or cpu.fraction is None:
        return ()
    spent = format_seconds(cpu.background_seconds), format_seconds(cpu.assist_seconds)
    said = (
        f"Returning memory took {spent[0]} of CPU in the background and {spent[1]} in allocating "
        f"goroutines: {format_fraction(cpu.fraction)} of the available CPU, by the runtime's "
        "estimate."
    )
    return (Paragraph(said),)
