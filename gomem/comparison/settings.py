"""Which runtime settings differ between two sides: GOGC, GOMEMLIMIT and the like?

A change of GOGC explains more of a comparison than any line of code, so differing settings come
first. A setting counts as different only if both sides record its value. Assumed values, and bounds
from heap goals, do not count. Settings come from `facts.settings`, the build and the profiles. If
no file has GOGC, it is inferred from the heap goals in the log and marked as inferred.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from gomem.capture.manifest import MANIFEST
from gomem.facts import settings as facts
from gomem.facts.settings import environment_of
from gomem.inputs.schema import Column, build_rows, rows_of
from gomem.numbered import Value
from gomem.text import Text, Words, joined, text
from gomem.units import is_unknown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    import pandas as pd

    from gomem.diagnosis.diagnosis import Diagnosis
    from gomem.inputs.gobench.table import Bench
    from gomem.releases import GoVersion


DIFFERING = (
    Column(
        "name",
        "str",
        "",
        "GOGC, GOMEMLIMIT, GOMAXPROCS, GODEBUG, MemProfileRate, Go release.",
        Words,
    ),
    Column("before", "str", "", "Value before.", Value),
    Column("after", "str", "", "Value after.", Value),
    Column(
        "source", "object", "", "Source of the setting; of each side if the sources differ.", Text
    ),
)
GOGC, GOMEMLIMIT, GOMAXPROCS, GODEBUG = "GOGC", "GOMEMLIMIT", "GOMAXPROCS", "GODEBUG"
MEM_PROFILE_RATE, GO_RELEASE = "MemProfileRate", "Go release"
MACHINE = ("goos", "goarch", "cpu", "pkg")  # of benchmarks; each can explain the whole difference
OFF = "off"
LOG, INFERRED, BENCHMARKS = "GC log", "inferred from the GC log", "benchmark file"
MAX_INFERRED_ERROR = 0.1  # of GOGC: goals are printed in whole MiB
ARROW = "\N{RIGHTWARDS ARROW}"
_Row = tuple[str, str, str, str]
UNSET = "unset"
# GODEBUG settings that only print and do not affect measurements.
PRINTING = frozenset(
    {"gctrace", "gcpacertrace", "scavtrace", "schedtrace", "scheddetail", "inittrace"}
)
# The source of a setting, in words; for the environment, the file.
SAID_BY = {facts.METRICS: "runtime/metrics", facts.LOG: LOG, facts.ENVIRONMENT: ""}
BUILD, HEAP_PROFILE = "build info", "heap profile"


@dataclass(frozen=True, slots=True)
class Setting:
    """The value of a setting on one side, and its source."""

    value: str
    source: str


def settings_words(settings: pd.DataFrame) -> Text:
    """Format differences: `GOGC 100 → 400, GOMEMLIMIT none → 160MiB`; empty if none differ."""
    return changed_words(rows_of(settings))


def changed_words(settings: Iterable[Mapping[str, Any]]) -> Text:
    """Format rows as `settings_words` does; the values can be texts."""
    return joined(", ", map(_words, settings))


def _words(row: Mapping[str, Any]) -> Text:
    named = "" if row["name"] == GO_RELEASE else f"{row['name']} "
    inferred = " (inferred)" if INFERRED in row["source"] else ""
    return text("{}{} {} {}{}", named, row["before"], ARROW, row["after"], inferred)


def differing_bench_settings(before: Bench, after: Bench) -> pd.DataFrame:
    """Differences between the runs of two benchmark files: the machine, GOMAXPROCS."""
    rows: list[_Row] = []
    for key in MACHINE:
        rows += setting_row(key, *(_of_config(bench, key) for bench in (before, after)))
    rows += setting_row(GOMAXPROCS, *(_procs(bench) for bench in (before, after)))
    return build_rows(rows, DIFFERING)


def setting_row(name: str, before: Sequence[Setting], after: Sequence[Setting]) -> Iterator[_Row]:
    """Yield the row of a setting if both sides' runs record it and the values differ."""
    values = [list(dict.fromkeys(setting.value for setting in side)) for side in (before, after)]
    if not all(values) or set(values[0]) == set(values[1]):
        return
    if name == GOGC and _within_inference(before, after):
        return
    yield name, ", ".join(values[0]), ", ".join(values[1]), _source(before, after)


def _source(before: Sequence[Setting], after: Sequence[Setting]) -> Text:
    sources = [
        joined(", ", dict.fromkeys(setting.source for setting in side)) for side in (before, after)
    ]
    return sources[0] if sources[0] == sources[1] else text("{} (before); {} (after)", *sources)


def _within_inference(before: Sequence[Setting], after: Sequence[Setting]) -> bool:
    """Whether values inferred from a log's goals differ by less than their error."""
    told = [*before, *after]
    if all(setting.source != INFERRED for setting in told) or any(
        setting.value == OFF for setting in told
    ):
        return False
    values = [float(setting.value) for setting in told]
    return max(values) - min(values) <= MAX_INFERRED_ERROR * max(values)


def _of_config(bench: Bench, key: str) -> list[Setting]:
    values = bench.config.loc[bench.config["key"] == key, "value"]
    known = sorted({str(value) for value in values if not is_unknown(value)})
    return [Setting(value, BENCHMARKS) for value in known]


def _procs(bench: Bench) -> list[Setting]:
    """GOMAXPROCS, which benchmark names omit if it is 1."""
    counts = sorted({int(procs) for procs in bench.results["procs"].fillna(1)})
    return [Setting(str(count), BENCHMARKS) for count in counts]


def differing_settings(before: Sequence[Diagnosis], after: Sequence[Diagnosis]) -> pd.DataFrame:
    """The settings that differ between the captures of two sides; see `DIFFERING`."""
    return build_rows(_rows(before, after), DIFFERING)


def _rows(before: Sequence[Diagnosis], after: Sequence[Diagnosis]) -> Iterator[_Row]:
    yield from _release_row(before, after)
    for name, read in READERS:
        sides = [[setting for run in side for setting in read(run)] for side in (before, after)]
        yield from setting_row(name, *sides)


def _release_row(before: Sequence[Diagnosis], after: Sequence[Diagnosis]) -> Iterator[_Row]:
    """The Go release, if it certainly differs."""
    sides = [[run.capture.go_version for run in side] for side in (before, after)]
    is_exact = all(version.exact is not None for side in sides for version in side)
    if is_exact or not any(_may_be_one(old, new) for old in sides[0] for new in sides[1]):
        yield from setting_row(
            GO_RELEASE, *([_release(version) for version in side] for side in sides)
        )


def _may_be_one(old: GoVersion, new: GoVersion) -> bool:
    """Whether one release can match both versions."""
    is_older = old.high is not None and new.low is not None and old.high < new.low
    is_newer = new.high is not None and old.low is not None and new.high < old.low
    return not is_older and not is_newer


def _release(version: GoVersion) -> Setting:
    said = version.evidence
    return Setting(str(version), MANIFEST if said.startswith(MANIFEST) else said)


def _of(name: str) -> Callable[[Diagnosis], Iterator[Setting]]:
    """Return a function that yields a capture's distinct values of one of its `Settings`."""

    def read(diagnosis: Diagnosis) -> Iterator[Setting]:
        known = getattr(diagnosis.facts.settings, name)
        if known is None or known.known_by not in SAID_BY:
            return
        source = SAID_BY[known.known_by] or _file(known.source)
        if known.name == GOGC and known.known_by == facts.LOG:
            source = INFERRED
        yield Setting(known.text, source if known.is_set else text("{}, not set", source))
        yield from (Setting(value, source) for value, said in known.others if said in SAID_BY)

    return read


def _file(source: str) -> str:
    """The manifest, or the side's file of the environment."""
    return MANIFEST if source == MANIFEST else "environ"


def _mem_profile_rate(diagnosis: Diagnosis) -> Iterator[Setting]:
    for profile in diagnosis.capture.heap_profiles.values():
        if profile.period and profile.period_type.type == "space":
            yield Setting(str(profile.period), HEAP_PROFILE)


def _environment_godebug(diagnosis: Diagnosis) -> Iterator[Setting]:
    environment = environment_of(diagnosis.capture)
    if environment is not None and environment.states(GODEBUG):
        yield Setting(_changing(environment.variables.get(GODEBUG, "")), _file(environment.source))


def _default_godebug(diagnosis: Diagnosis) -> Iterator[Setting]:
    """The default GODEBUG of the build, from the main module's go line and `//go:debug`."""
    for build in diagnosis.capture.builds.values():
        told = build.settings.set_index("name")["value"]
        yield Setting(_changing(str(told.get("DefaultGODEBUG", ""))), BUILD)


READERS: tuple[tuple[str, Callable[[Diagnosis], Iterator[Setting]]], ...] = (
    (GOGC, _of("gogc")),
    (GOMEMLIMIT, _of("memory_limit")),
    (GOMAXPROCS, _of("gomaxprocs")),
    (MEM_PROFILE_RATE, _mem_profile_rate),
    (GODEBUG, _environment_godebug),
    (GODEBUG, _default_godebug),
)


def _changing(godebug: str) -> str:
    """GODEBUG without print-only settings, sorted."""
    words = {word.strip() for word in godebug.split(",")} - {""}
    kept = sorted(word for word in words if word.partition("=")[0] not in PRINTING)
    return ",".join(kept) or UNSET
