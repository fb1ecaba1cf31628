"""Compare each build with the previous build: where does a quantity first differ?

A comparison with one baseline cannot say in which build a change began. Builds in order can: of
1.23.4, 1.24.2 and 1.24.6, RSS first differs at 1.24.2 and changes again at 1.24.6. `gomem matrix`
gives the same answer for the same captures.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.analysis.fleet.builds import BUILDS, by_build, differing
from gomem.analysis.fleet.population import CURRENT
from gomem.analysis.fleet.quantities import BY_NAME
from gomem.diagnosis.diagnosis import Diagnosis
from gomem.diagnosis.levels import level_rows
from gomem.inputs.schema import build_rows, dictionary_of, rows_of
from gomem.text import Count, Text, joined, number, text
from gomem.units import format_relative, is_unknown, minus

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

    import pandas as pd

STEPS = tuple(column for column in BUILDS if column.name != "service")
MAX_NAMED = 2  # quantities in the sentence, RSS first
BEFORE_OTHERS = ("rss_bytes", "gc_cpu_fraction", "goroutines")


def steps(builds: Mapping[str, Sequence[Any]]) -> pd.DataFrame:
    """Compare each quantity build by build, in the given order; see `STEPS`.

    Args:
        builds: The runs of each build. Runs that are not diagnoses, such as benchmark results, are
            ignored.
    """
    rows = (row for build, runs in builds.items() for row in _current(build, runs))
    found = by_build(build_rows(rows, CURRENT), list(builds)).drop(columns="service")
    found.attrs["columns"] = dictionary_of(STEPS)
    return found


def _current(build: str, runs: Sequence[Any]) -> Iterator[tuple[Any, ...]]:
    """Rows of `CURRENT`; each run is a separate instance."""
    for place, run in enumerate(runs):
        if isinstance(run, Diagnosis):
            for name, unit, n, _, last, *_ in level_rows(run):
                yield run.capture.name, str(place), "", build, None, name, unit, n, last


def steps_words(compared: pd.DataFrame) -> Text:
    """The first build that differs in RSS, and where RSS changes back; then other quantities.

    Empty if no build differs from the previous build.
    """
    found = differing(compared)
    names = list(dict.fromkeys(found["name"]))
    names.sort(key=lambda name: (name not in BEFORE_OTHERS, name != "rss_bytes"))
    said = [_on(name, rows_of(found[found["name"] == name])) for name in names[:MAX_NAMED]]
    more = len(names) - MAX_NAMED
    rest = (
        text(" Also different: {}.", Count(more, "other quantity", "other quantities"))
        if more > 0
        else Text()
    )
    return joined(" ", said) + rest


def _on(name: str, rows: Sequence[dict[str, Any]]) -> Text:
    """Format `RSS first differs at go1.24.2: 170 MiB (×18.9); it changes again at go1.24.6: …`."""
    told = []
    for row in rows:
        relative = row["change"]
        change = "" if is_unknown(relative) else f" ({minus(format_relative(relative))})"
        told.append(text("at {}: {}{}", row["build"], number(row["median"], row["unit"]), change))
    words = BY_NAME[name].words
    first = text("{} first differs {}", words[:1].upper() + words[1:], told[0])
    again = text("; it changes again {}", joined(", ", told[1:])) if told[1:] else Text()
    return first + again + Text(".")
