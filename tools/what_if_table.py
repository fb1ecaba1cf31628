"""What `what-if` predicts from one recording, compared with what the others measured.

    python -m tools.what_if_table            print the table
    python -m tools.what_if_table --write    write it into docs/what-if.md

Each log of `fixtures/what-if/` is used to predict all others with its load and release.
"""

import gzip
import json
import math
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pandas as pd

import gomem
from gomem.analysis.collector.steps import CPU_PARTS, ROUNDING_BYTES
from gomem.analysis.collector.triggers import gc_triggers
from gomem.analysis.what_if.backtest import goal_check
from gomem.analysis.what_if.pacer import Era
from gomem.analysis.what_if.watched import OFF
from gomem.analysis.what_if.what_if import Asked, WhatIf, what_if
from gomem.releases import GoVersion, known_version
from gomem.units import MIB
from tests.gc_logs import GCLOGS

ROOT = Path(__file__).parent.parent
LOGS = ROOT / "fixtures" / "what-if"
PAGE = ROOT / "docs" / "what-if.md"
MARK = "<!-- made by python -m tools.what_if_table --write -->"
NAME = re.compile(
    r"(?P<load>\w+)-(?P<release>go[\d.]+)-gogc-(?P<gogc>\w+?)(?:-limit-(?P<limit>\d+)MiB)?\.log\.gz"
)
METRICS = ("cycles_per_second", "gc_cpu_cores", "peak_heap_bytes", "retained_bytes")
START_UP_SECONDS = 1.0  # until the program's table is filled
SETTLED_SECONDS = 3.0
MIN_RUNS = 4  # of a release; releases with fewer only count for the goals
GOAL_RELEASES = (16, 18, 19, 22, 24, 27)


@dataclass(frozen=True)
class Run:
    """One recording: its settings, and what it measured.

    Attributes:
        load: `steady` or `bursty`.
        version: Its release.
        gogc: GOGC in per cent; -1 for off.
        limit: GOMEMLIMIT; infinite if not set.
        path: The log.
    """

    load: str
    version: GoVersion
    gogc: int
    limit: float
    path: Path

    @property
    def setting(self) -> str:
        word = "off" if self.gogc == OFF else str(self.gogc)
        return word if math.isinf(self.limit) else f"{word}, {self.limit / MIB:.0f} MiB"

    @property
    def minor(self) -> int:
        assert self.version.low is not None
        return self.version.low.minor

    @property
    def cycles(self) -> pd.DataFrame:
        return cycles_of(self.path)

    @property
    def measured(self) -> dict[str, float] | None:
        """The values after the table is filled; None for a log without collections."""
        return measured_in(self.path)


@cache
def cycles_of(path: Path) -> pd.DataFrame:
    return gomem.read_gctrace(path).cycles


@cache
def measured_in(path: Path) -> dict[str, float] | None:
    cycles = cycles_of(path)
    rows = cycles[cycles["at_seconds"] > START_UP_SECONDS]
    if len(rows) < 2:
        return None
    seconds = float(rows["at_seconds"].iloc[-1] - rows["at_seconds"].iloc[0])
    cpu = rows[list(CPU_PARTS)].sum(axis=1).to_numpy()[:-1].sum()
    peak = float(rows["heap_at_mark_end_bytes"].max()) + ROUNDING_BYTES / 2
    values = ((len(rows) - 1) / seconds, float(cpu) / seconds, peak, _retained_bytes(path))
    return dict(zip(METRICS, values, strict=True))


def _retained_bytes(path: Path) -> float:
    """Return the maximum in the program's own MemStats after the scavenger has settled."""
    noted = json.loads(gzip.decompress(path.with_suffix("").with_suffix(".json.gz").read_bytes()))
    told = [sample for sample in noted["samples"] if sample["Seconds"] > SETTLED_SECONDS]
    return float(
        max(sample["HeapInuse"] + sample["HeapIdle"] - sample["HeapReleased"] for sample in told)
    )


@cache
def runs() -> tuple[Run, ...]:
    """Return all recordings, in order."""
    return tuple(_run(path) for path in sorted(LOGS.glob("*.log.gz")))


def _run(path: Path) -> Run:
    name = NAME.fullmatch(path.name)
    assert name is not None, path.name
    version = known_version(name["release"], "its name")
    assert version is not None
    gogc = OFF if name["gogc"] == "off" else int(name["gogc"])
    limit = math.inf if name["limit"] is None else float(int(name["limit"]) * MIB)
    return Run(name["load"], version, gogc, limit, path)


def others_of(run: Run) -> list[Run]:
    """Return the other runs with the same load and release that have measurements."""
    return [
        other
        for other in runs()
        if (other.load, other.version.text) == (run.load, run.version.text) and other.measured
    ]


@cache
def answer_of(run: Run) -> WhatIf:
    """Return the prediction from the run's log for the settings of all others."""
    others = others_of(run)
    asked = Asked(
        gogc=sorted({other.gogc for other in others} | {OFF}),
        limits=sorted({other.limit for other in others}),
    )
    percent = math.inf if run.gogc == OFF else run.gogc / 100
    return what_if(
        run.cycles,
        run.version,
        gogc_fraction=percent,
        memory_limit_bytes=run.limit,
        asked=asked,
    )


@cache
def foretold(*sources: str) -> pd.DataFrame:
    """Return a row for each metric of each run predicted from another log.

    Args:
        sources: The settings whose logs are used; all by default.
    """
    return pd.DataFrame(_foretold(sources))


def _foretold(sources: tuple[str, ...]) -> Iterator[dict[str, object]]:
    for source in runs():
        if sources and source.setting not in sources:
            continue
        answer = answer_of(source)
        if answer.refused is not None or len(others_of(source)) < MIN_RUNS:
            continue
        for other in others_of(source):
            limit = None if math.isinf(other.limit) else other.limit
            cell, measured = answer.cell(other.gogc, limit), other.measured
            if cell is None or measured is None or other is source:
                continue
            for metric in METRICS:
                low, high = float(cell[f"{metric}_low"]), float(cell[f"{metric}_high"])
                yield {
                    "load": source.load,
                    "release": source.version.text,
                    "source": source.setting,
                    "of_limit": math.isfinite(source.limit),
                    "setting": other.setting,
                    "limited": math.isfinite(other.limit),
                    "met": cell["bound_by"] == "live heap",
                    "metric": metric,
                    "value": float(cell[metric]),
                    "low": low,
                    "high": high,
                    "measured": measured[metric],
                    "error": float(cell[metric]) / measured[metric] - 1,
                    "covered": low <= measured[metric] <= high,
                }


@cache
def goals_checked(*minors: int) -> pd.DataFrame:
    """Return how many goals of pacer cycles match the formula, per release; all by default."""
    counts = []
    for path, minor, percent in _logs_of_known_gogc():
        if minors and minor not in minors:
            continue
        cycles = cycles_of(path)
        named = gc_triggers(cycles, percent, math.inf).cycles
        checked = goal_check(cycles, dict.fromkeys(cycles["run"].unique(), percent), Era.of(minor))
        both = checked.merge(named, on=["run", "number"])
        both = both[both["trigger"] == "pacer"]
        counts.append({"minor": minor, "goals": len(both), "agree": int(both["agrees"].sum())})
    return pd.DataFrame(counts).groupby("minor").sum()


def _logs_of_known_gogc() -> Iterator[tuple[Path, int, float]]:
    """Yield logs without a memory limit, with the GOGC that they were recorded with."""
    for path in sorted(GCLOGS.glob("*.log*")):
        story, _, release = path.name.partition("-go1.")
        if story not in {"gogc-off", "limit"}:
            percent = 0.01 if story == "gogc-1" else 1.0
            yield path, int(release.split(".")[0]), percent
    for run in runs():
        if run.gogc != OFF and math.isinf(run.limit):
            yield run.path, run.minor, run.gogc / 100


def page() -> str:
    """Return the tables as Markdown."""
    goals = goals_checked()
    lines = [
        MARK,
        "",
        "| Go | goals of pacer cycles | equal to the formula |",
        "|---|--:|--:|",
    ]
    for minor, row in goals.iterrows():
        share = row["agree"] / row["goals"]
        lines.append(f"| 1.{minor} | {row['goals']} | {row['agree']} ({100 * share:.1f} %) |")
    lines += ["", *_summary(), "", *_details()]
    return "\n".join(lines) + "\n"


def _summary() -> list[str]:
    rows = foretold()
    lines = [
        (
            "| load | predicted settings | numbers | largest error: cycles/s | GC CPU | "
            "highest heap | heap kept | inside the interval |"
        ),
        "|---|---|--:|--:|--:|--:|--:|--:|",
    ]
    for load in ("steady", "bursty"):
        for words, which in (
            ("GOGC 50 to 400", ~rows["limited"] & ~rows["of_limit"]),
            ("under a limit", rows["limited"] & ~rows["met"] & ~rows["of_limit"]),
            ("from logs under a limit", rows["of_limit"] & ~rows["met"]),
            ("live heap and limit meet", rows["met"]),
        ):
            part = rows[(rows["load"] == load) & which]
            if len(part):
                worst = part.assign(error=part["error"].abs()).groupby("metric")["error"].max()
                errors = " | ".join(f"{100 * worst[metric]:.0f} %" for metric in METRICS)
                lines.append(
                    f"| {load} | {words} | {len(part)} | {errors} | "
                    f"{100 * part['covered'].mean():.0f} % |"
                )
    return lines


def _details() -> list[str]:
    """Return the predictions from the log of GOGC=100 for all others."""
    rows = foretold()
    rows = rows[rows["source"] == "100"]
    head = "From the log of GOGC=100: predicted, its interval, measured"
    lines = [f"### {head}", ""]
    lines += [
        (
            "| load, Go | setting | cycles/s | GC CPU, millicores | highest heap, MiB | "
            "heap kept, MiB |"
        ),
        "|---|---|--:|--:|--:|--:|",
    ]
    scale = dict(zip(METRICS, (1.0, 1e-3, float(MIB), float(MIB)), strict=True))
    for (load, release, setting), part in rows.groupby(["load", "release", "setting"], sort=False):
        cells = part.set_index("metric")
        words = [_cell(cells.loc[metric], scale[metric]) for metric in METRICS]
        lines.append(f"| {load}, {release} | {setting} | {' | '.join(words)} |")
    return lines


def _cell(row: pd.Series, unit: float) -> str:
    value, low, high, measured = (
        float(row[name]) / unit for name in ("value", "low", "high", "measured")
    )
    missed = "" if row["covered"] else " ✗"
    return f"{value:.3g} ({low:.3g}\N{EN DASH}{high:.3g}), {measured:.3g}{missed}"


def main() -> None:
    """Print the tables, or write them into the page, after the mark."""
    if "--write" in sys.argv[1:]:
        kept = PAGE.read_text().partition(MARK)[0]
        PAGE.write_text(kept + page())
    else:
        sys.stdout.write(page())


if __name__ == "__main__":
    main()
