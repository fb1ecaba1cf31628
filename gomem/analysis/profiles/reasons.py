"""Why does a site allocate? The lines that allocate, with the compiler's reasons.

A heap profile has the line that allocated an object. The compiler knows which expressions in that
line escape to the heap, and why. Profile and compiler output are joined by file and line. Paths in
the profile are absolute, unless the build used -trimpath; the compiler's paths are relative to the
build's directory. Two paths match if one ends with the other. If several paths match, the file in
the function's package counts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from gomem.analysis.profiles.changes import sampled_interval
from gomem.inputs.pprof.calls.names import package_of
from gomem.inputs.schema import Column, build, rows_of
from gomem.text import File, Function, Quoted

if TYPE_CHECKING:
    from gomem.inputs.pprof.table import Profile

REASONS = (
    Column("function", "str", "", "Who allocates, as pprof prints it.", Function),
    Column("file", "str", "", "Its source file, as in the profile.", File),
    Column("line", "int64", "", "Line of the file; 0 if the profile does not say."),
    Column("flat", "int64", "", "Allocated there; in the unit of the sample type."),
    Column("flat_low", "float64", "", "Lower end of flat's 95 % interval."),
    Column("flat_high", "float64", "", "Upper end of flat's 95 % interval."),
    Column("why", "str", "", "What escapes to the heap there, and why; empty if unknown.", Quoted),
)
MAIN = "main"  # the package name of a program in profiles, whatever its import path


def site_reasons(
    profile: Profile, verdicts: pd.DataFrame, sample_type: str | None = None, n: int | None = None
) -> pd.DataFrame:
    """Join the allocation lines of a heap profile to the compiler's reasons, the largest first.

    `verdicts` are `EscapeAnalysis.on_the_heap`; for the rows see `REASONS`. `why` is empty if the
    compiler printed nothing about a line. That happens for code built without -m, such as the
    standard library (which `-gcflags=all=-m` includes), and if the source has changed. Raises
    ValueError if there is no such sample type.
    """
    sites = _lines(profile, sample_type).head(len(profile.values()) if n is None else n)
    by_line = dict(list(verdicts.groupby("line")))
    why = [_why(site, by_line.get(site["line"])) for site in rows_of(sites)]
    return build({**{name: sites[name] for name in sites}, "why": why}, REASONS)


def _lines(profile: Profile, sample_type: str | None) -> pd.DataFrame:
    """Sum allocations by line of each function, the most first."""
    nodes = profile.nodes("lines")
    flat = nodes.flat(profile.values(sample_type))
    rows = np.flatnonzero(flat != 0)
    rows = rows[np.lexsort((rows, -np.abs(flat[rows])))]
    chosen = profile.sample_type(sample_type).type
    low, high = sampled_interval(profile, chosen, flat[rows], lambda part: nodes.flat(part)[rows])
    names, files, lines = (nodes.keys[rows, column].tolist() for column in range(3))
    return pd.DataFrame(
        {
            "function": [nodes.texts[name] for name in names],
            "file": [nodes.texts[file] for file in files],
            "line": lines,
            "flat": flat[rows],
            "flat_low": low,
            "flat_high": high,
        }
    )


def _why(site: dict[str, Any], candidates: pd.DataFrame | None) -> str:
    """Return the compiler's messages for a line, without duplicates."""
    if candidates is None:
        return ""
    same = candidates[[_is_same_file(site["file"], file) for file in candidates["file"]]]
    package = package_of(site["function"])
    own = same[[package in {MAIN, candidate} for candidate in same["package"]]]
    told = same if own.empty and len(set(same["file"])) == 1 else own
    alike: dict[tuple[str, str], dict[str, None]] = {}
    for row in rows_of(told):
        alike.setdefault((row["kind"], row["reason"]), {})[row["subject"]] = None
    texts = (_words(*key, list(subjects)) for key, subjects in alike.items())
    return "; ".join(texts)


def _words(kind: str, reason: str, subjects: list[str]) -> str:
    """Say what goes to the heap for one reason."""
    names = ", ".join(subjects)
    verb = "escapes" if len(subjects) == 1 else "escape"
    text = f"moved to heap: {names}" if kind == "moved" else f"{names} {verb} to heap"
    return f"{text}: {reason}" if reason else text


def _is_same_file(in_profile: str, printed: str) -> bool:
    """Return whether two paths can be one file: equal, or one ends with the whole of the other."""
    printed = printed.lstrip("./") if printed.startswith("../") else printed
    return in_profile == printed or in_profile.endswith(f"/{printed}")
