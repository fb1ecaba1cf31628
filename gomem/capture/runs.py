"""Which readings of MemStats belong to an earlier process? One text can have several runs.

The runtime's counters never fall while a process lives: bytes and objects allocated, collections,
memory obtained from the OS. Readings before such a fall belong to another run. So do those above a
line such as `With the fix:` between two series. Earlier readings are reported separately, and never
joined with the last run into one trend.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, cast

import pandas as pd

from gomem.capture.ages import in_order_of_age
from gomem.capture.clock import BESIDE
from gomem.errors import Damage, excerpt
from gomem.inputs.markdown import FENCE
from gomem.inputs.memstats.rows import ANOTHER_RUN, titles_of_columns
from gomem.units import is_digits

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from gomem.capture.moment import Artefact

COUNTS = ("NumGC", "Mallocs", "Frees", "PauseTotalNs")  # exact if known
GROWING = ("TotalAlloc", "Sys")  # a text can round these, with different units on different lines
WITHOUT_THEM = ("HeapSys",)  # used without them; a small part, stacks, is taken out of HeapSys
MIN_FALL = 0.1  # of a rounded size
LEVELS = ("HeapAlloc", "HeapInuse", "HeapSys", "Sys")  # the first known field describes a run
GOROUTINES = "number of goroutines"  # describes a run without any of them

MIN_RUNS = 2
MAX_BYTES = 1 << 21  # a person's table is in a shorter text
MIN_SERIES = 3  # readings of each run that only words set apart
# What a person calls the run below: `Old:`, `## after`, `* GOGC=50:`.
_LABEL = re.compile(
    rb"[ \t>]*(?:#{1,6} |[-*+] )?[*_`]{0,3}([A-Za-z][A-Za-z0-9_.=% -]{0,30}?)[*_`]{0,3}:"
    rb"[*_]{0,3}\s*"
)


@dataclass(frozen=True)
class OtherRun:
    """Readings that no frame has, from the same file as the last reading.

    Attributes:
        path: The file.
        places: The locations of the first and the last of these readings.
        readings: The number of these readings.
        level: The field of MemStats that describes the run, or GOROUTINES.
        first_bytes: That field, or number, at the first of these readings.
        last_bytes: That field at the last of these readings.
        swing_bytes: The smallest and the largest value of that field if it both rose and fell, so
            that its first and last value are no trend; else None.
        labels: What the text calls this run and the last, and that field at its only reading; None
            if it does not name both, or if there are more.
        sys_bytes: Sys of its only reading; None if unknown, or if `level` is Sys.
        last_sys: The last run's column's name, and its Sys; None if either is unknown.
        said: Their column's name, or the line above them on another build or setting, or the label
            above their table, if there is one; else empty.
        beside_a_container: Whether this is a process, and the last reading is of a container.
        is_same_process: Whether they are further readings of the process of the last reading.
        is_earlier: Whether they are all earlier, as far as known, than the last reading.
        process: Program and PID from a table of processes; None for MemStats.
        is_pod: Whether it is a pod, not a container.
    """

    path: str
    places: tuple[str, ...]
    readings: int
    level: str
    first_bytes: int
    last_bytes: int
    is_same_process: bool = False
    beside_a_container: bool = False
    process: tuple[str, int | None] | None = None
    is_pod: bool = False
    swing_bytes: tuple[int, int] | None = None
    labels: tuple[str, str, int] | None = None
    sys_bytes: int | None = None
    last_sys: tuple[str, int] | None = None
    said: str = ""
    is_earlier: bool = True


def of_last_run(artefacts: list[Artefact]) -> tuple[list[Artefact], tuple[OtherRun, ...]]:
    """Separate the artefacts of one text from readings of earlier runs.

    Returns the remaining artefacts, and the earlier runs.
    """
    readings = in_order([file for file in artefacts if _stats(file) is not None])
    begins = [at for at, pair in enumerate(pairwise(readings), start=1) if _fell(*pair)]
    begins = begins or _set_apart(readings)
    is_said = any(any(getattr(file.parsed, "begins", ())) for file in readings)
    is_newest_first = len(begins) > 1 and len(begins) == len(readings) - 1 and not is_said
    if not begins or is_newest_first:
        return artefacts, ()
    runs = [readings[start:stop] for start, stop in pairwise([0, *begins])]
    earlier = {id(file) for run in runs for file in run}
    left = [file for file in artefacts if id(file) not in earlier]
    others = tuple(filter(None, map(_other_run, runs)))
    if (title := title_of(readings[-1])) and (whole := _sys_of(readings[-1])) is not None:
        others = tuple(replace(run, last_sys=(title, whole)) for run in others)
    if len(readings) == MIN_RUNS == len(others) + 1:
        others = (_labelled(others[0], *readings),)
    return left, others


def _set_apart(readings: Sequence[Artefact]) -> list[int]:
    """Where a series begins below a line on another build or setting; empty for short ones."""
    begins = [at for at, pair in enumerate(pairwise(readings), start=1) if _is_otherwise(*pair)]
    runs = pairwise([0, *begins, len(readings)])
    return begins if all(stop - start >= MIN_SERIES for start, stop in runs) else []


def _is_otherwise(before: Artefact | None, after: Artefact) -> bool:
    """Whether the last line above a reading, below another, is on another build or setting."""
    if after.time is not None:
        return False
    above = _lines_above(after)[0 if before is None else len(_lines_above(before)) + 1 :]
    said = _last_filled(above)
    is_a_persons = said.rstrip().endswith(b":") or any(map(FENCE.fullmatch, above))
    return is_a_persons and ANOTHER_RUN.search(said) is not None


def _labelled(run: OtherRun, before: Artefact, after: Artefact) -> OtherRun:
    """Return a run of one reading with the names that the text has above it and the last."""
    names, stats = [_label_above(file) for file in (before, after)], _stats(after)
    if stats is None or pd.isna(stats[run.level]) or not all(names) or names[0] == names[1]:
        return run
    return replace(run, labels=(names[0], names[1], int(stats[run.level])))


def _label_above(file: Artefact) -> str:
    """Return the label of a reading's column, or above it, as in `Old:`; empty without one."""
    if title := title_of(file):
        return title
    return label_above(_lines_above(file))


def label_above(lines: Sequence[bytes]) -> str:
    """Return the label that the last of some lines is; empty if it is none."""
    label = _LABEL.fullmatch(_last_filled(lines))
    return "" if label is None else label[1].decode("ascii")


def title_of(file: Artefact) -> str:
    """What a reading's column is called in a person's table; empty if it is from none."""
    text, number = file.source.whole_text, _place(file).removeprefix("line ")
    is_short = len(text) <= MAX_BYTES and is_digits(number)
    return titles_of_columns(text).get(int(number), "") if is_short else ""


def _last_filled(lines: Sequence[bytes]) -> bytes:
    """The last line that is neither blank nor a fence; empty without one."""
    filled = (line for line in reversed(lines) if line.strip() and not FENCE.fullmatch(line))
    return next(filled, b"")


def _lines_above(file: Artefact) -> list[bytes]:
    """The lines of the text above a reading; none if its place is unknown."""
    text, number = file.source.whole_text, _place(file).removeprefix("line ")
    is_short = len(text) <= MAX_BYTES and is_digits(number)
    return _lines_of(text)[: int(number) - 1] if is_short else []


@lru_cache(maxsize=1)
def _lines_of(text: bytes) -> list[bytes]:
    return text.split(b"\n")


def _place(file: Artefact) -> str:
    stats = _stats(file)
    place = "" if stats is None else str(stats["place"])
    return file.source.placed(Damage(file.source.name, place, "")).where


def runs_of_series(file: Artefact) -> tuple[OtherRun, ...]:
    """Return what a file with several readings has besides its last, which the snapshot uses.

    The last reading in the text can be older than others, as a full one pasted below a log: a
    counter that falls in the text's order, but not in that of the clock, is of one process.
    """
    readings = [replace(file, parsed=dump) for dump in file.parsed.dumps]
    by_clock = [replace(reading, time=_time_of(reading)) for reading in readings]
    left, runs = of_last_run(by_clock)
    if runs:
        left, runs = of_last_run(readings)
    known = [reading for reading in left if _stats(reading) is not None]
    if len(known) < MIN_RUNS:
        return runs
    used, ordered = known[-1], in_order(known)
    own = _other_run([reading for reading in ordered if reading is not used])
    if own is None:
        return runs
    return (*runs, replace(own, is_same_process=True, is_earlier=ordered[-1] is used))


def _time_of(reading: Artefact) -> datetime | None:
    """The time of one reading of a file; of one without, that of what stands beside it."""
    beside = reading.time if reading.time_source == BESIDE else None
    return getattr(reading.parsed, "time", None) or beside


def _stats(file: Artefact) -> pd.Series | None:
    """The fields of an artefact's last dump; None without a dump."""
    frame = getattr(file.parsed, "stats", None)
    return None if frame is None or frame.empty or "TotalAlloc" not in frame else frame.iloc[-1]


def in_order(readings: Sequence[Artefact]) -> list[Artefact]:
    """Sort readings by times, last collections or ages if all have one; else keep the order."""
    for time in (lambda file: file.time, _last_gc):
        times = [time(file) for file in readings]
        if all(known is not None for known in times):
            placed = sorted(
                enumerate(readings), key=lambda item: (cast("datetime", times[item[0]]), item[0])
            )
            return [file for _, file in placed]
    return [file for [file] in in_order_of_age([[file] for file in readings])]


def _last_gc(file: Artefact) -> datetime | None:
    stats = _stats(file)
    ended = None if stats is None else stats["LastGC"]
    return None if pd.isna(ended) else cast("datetime", ended)


def _fell(before: Artefact, after: Artefact) -> bool:
    """Whether a counter fell, or the text says that another process began."""
    if any(getattr(after.parsed, "begins", ())):
        return True
    old, new = _stats(before), _stats(after)
    assert old is not None
    assert new is not None

    def known(names: Sequence[str]) -> list[str]:
        return [name for name in names if pd.notna(old[name]) and pd.notna(new[name])]

    if exact := known(COUNTS):
        return any(new[name] < old[name] for name in exact)
    names = known(GROWING) or known(WITHOUT_THEM)
    return any(new[name] < (1 - MIN_FALL) * old[name] for name in names)


def _other_run(run: Sequence[Artefact]) -> OtherRun | None:
    first, last = run[0], run[-1]
    known = (name for name in (*LEVELS, GOROUTINES) if pd.notna(_level(first, name)))
    level = next((name for name in known if pd.notna(_level(last, name))), None)
    if level is None:
        return None
    levels = (_level(file, level) for file in run)
    sizes = [float(size) if pd.notna(size) else -1.0 for size in levels]
    places, ends = (_place(first), _place(last)), (int(sizes[0]), int(sizes[-1]))
    above = _last_filled(_lines_above(first)) if _is_otherwise(None, first) else b""
    said = title_of(first) or excerpt(above.strip().rstrip(b" :"))
    return OtherRun(
        first.source.name, places, len(run), level, *ends, swing_bytes=_swing(sizes), said=said,
        sys_bytes=_sys_of(first) if level != "Sys" and first is last else None,
    )  # fmt: skip


def _sys_of(file: Artefact) -> int | None:
    """What Go reserved by one reading; None if unknown."""
    size = _level(file, "Sys")
    return None if pd.isna(size) else int(size)


def _level(file: Artefact, name: str) -> Any:
    """A field of MemStats, or the number of goroutines, of one reading; missing if unknown."""
    if name == GOROUTINES:
        readings = getattr(file.parsed, "readings", None)
        return pd.NA if readings is None else readings["goroutines"].iloc[-1]
    stats = _stats(file)
    return pd.NA if stats is None else stats[name]


def _swing(sizes: Sequence[float]) -> tuple[int, int] | None:
    """The least and the most of sizes that both rise and fall by more than rounding."""
    known = [size for size in sizes if size >= 0]
    has_risen = any(new * (1 - MIN_FALL) > old for old, new in pairwise(known))
    has_fallen = any(new < old * (1 - MIN_FALL) for old, new in pairwise(known))
    return (int(min(known)), int(max(known))) if has_risen and has_fallen else None
