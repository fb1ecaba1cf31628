"""How the runtime of a capture was set: by its metrics, the manifest, the build, or its log.

A setting is taken from what knows it best: runtime/metrics of the moments, then the environment in
the manifest, then the log. A manifest that holds the environment and not the variable means the
default.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from gomem.analysis.collector.steps import pieces_of
from gomem.comparison.settings import (
    DIFFERING,
    GO_RELEASE,
    GODEBUG,
    GOGC,
    GOMAXPROCS,
    GOMEMLIMIT,
    INFERRED,
    LOG,
    MEM_PROFILE_RATE,
    OFF,
    Setting,
    setting_row,
)
from gomem.facts.what_if import inferred_gogc
from gomem.inputs.schema import build_rows
from gomem.units import MIB

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import pandas as pd

    from gomem.diagnosis.diagnosis import Diagnosis
    from gomem.releases import GoVersion

    Row = tuple[str, str, str, str]

METRIC_OF = {
    GOGC: "/gc/gogc:percent",
    GOMEMLIMIT: "/gc/gomemlimit:bytes",
    GOMAXPROCS: "/sched/gomaxprocs:threads",
}
DEFAULTS = {GOGC: "100", GOMEMLIMIT: "none"}
UNSET = "unset"
NO_LIMIT_BYTES = 1 << 62
# GODEBUG's words that make the runtime print, and change nothing that is measured.
PRINTING = frozenset(
    {"gctrace", "gcpacertrace", "scavtrace", "schedtrace", "scheddetail", "inittrace"}
)
METRICS, MANIFEST, NOT_SET = "runtime/metrics", "gomem.json", "gomem.json, not set"
BUILD, HEAP_PROFILE = "build info", "heap profile"


def differing_settings(before: Sequence[Diagnosis], after: Sequence[Diagnosis]) -> pd.DataFrame:
    """The settings that differ between the captures of two sides; see `DIFFERING`."""
    return build_rows(_rows(before, after), DIFFERING)


def _rows(before: Sequence[Diagnosis], after: Sequence[Diagnosis]) -> Iterator[Row]:
    yield from _release_row(before, after)
    for name, read in READERS.items():
        sides = [[one for run in side for one in read(run)] for side in (before, after)]
        yield from setting_row(name, *sides)
    for read in (_environment_godebug, _default_godebug):
        sides = [[one for run in side for one in read(run)] for side in (before, after)]
        yield from setting_row(GODEBUG, *sides)


def _release_row(before: Sequence[Diagnosis], after: Sequence[Diagnosis]) -> Iterator[Row]:
    """The Go release, where it cannot be the same."""
    sides = [[one.capture.go_version for one in side] for side in (before, after)]
    is_exact = all(version.exact is not None for side in sides for version in side)
    if is_exact or not any(_may_be_one(old, new) for old in sides[0] for new in sides[1]):
        yield from setting_row(
            GO_RELEASE,
            *([Setting(str(one), _release_source(one.evidence)) for one in side] for side in sides),
        )


def _may_be_one(old: GoVersion, new: GoVersion) -> bool:
    """Whether some release can be both."""
    is_older = old.high is not None and new.low is not None and old.high < new.low
    is_newer = new.high is not None and old.low is not None and new.high < old.low
    return not is_older and not is_newer


def _release_source(evidence: str) -> str:
    return MANIFEST if evidence.startswith(MANIFEST) else evidence


def _gogc(diagnosis: Diagnosis) -> Iterator[Setting]:
    known = [*_of_metrics(diagnosis, GOGC, _percent)] or [*_of_environment(diagnosis, GOGC)]
    if not known and diagnosis.collector is not None:
        fraction = inferred_gogc(diagnosis.collector)
        known = [] if fraction is None else [Setting(_percent(100 * fraction), INFERRED)]
    yield from known


def _memory_limit(diagnosis: Diagnosis) -> Iterator[Setting]:
    by_metrics = [*_of_metrics(diagnosis, GOMEMLIMIT, _limit)]
    yield from by_metrics or _of_environment(diagnosis, GOMEMLIMIT)


def _gomaxprocs(diagnosis: Diagnosis) -> Iterator[Setting]:
    if told := list(_of_metrics(diagnosis, GOMAXPROCS, _count)):
        yield from told
        return
    noted = diagnosis.capture.manifest.fact("gomaxprocs")
    if type(noted) is int:
        yield Setting(str(noted), MANIFEST)
    elif diagnosis.collector is not None:
        pieces = pieces_of(diagnosis.collector.cycles, ["gomaxprocs"])
        procs = {int(n) for piece in pieces for n in piece["gomaxprocs"].dropna().unique()}
        yield from (Setting(str(n), LOG) for n in sorted(procs))


def _mem_profile_rate(diagnosis: Diagnosis) -> Iterator[Setting]:
    for profile in diagnosis.capture.heap_profiles.values():
        if profile.period and profile.period_type.type == "space":
            yield Setting(str(profile.period), HEAP_PROFILE)


READERS: dict[str, Callable[[Diagnosis], Iterator[Setting]]] = {
    GOGC: _gogc,
    GOMEMLIMIT: _memory_limit,
    GOMAXPROCS: _gomaxprocs,
    MEM_PROFILE_RATE: _mem_profile_rate,
}


def _of_metrics(
    diagnosis: Diagnosis, name: str, words: Callable[[float], str]
) -> Iterator[Setting]:
    """What runtime/metrics say at the moments that have it, each value once."""
    metric = METRIC_OF[name]
    values = [facts.metrics[metric] for facts in diagnosis.moments if metric in facts.metrics]
    yield from (Setting(words(value), METRICS) for value in dict.fromkeys(values))


def _of_environment(diagnosis: Diagnosis, name: str) -> Iterator[Setting]:
    """What the manifest's environment says; the default where it says nothing of it."""
    environment = _environment(diagnosis)
    if environment is None:
        return
    value = environment.get(name)
    if value is not None:
        yield Setting(str(value), MANIFEST)
    elif name in DEFAULTS:
        yield Setting(DEFAULTS[name], NOT_SET)


def _environment(diagnosis: Diagnosis) -> Mapping[str, Any] | None:
    environment = diagnosis.capture.manifest.fact("environment")
    return environment if isinstance(environment, dict) else None


def _environment_godebug(diagnosis: Diagnosis) -> Iterator[Setting]:
    environment = _environment(diagnosis)
    if environment is not None:
        yield Setting(_changing(str(environment.get(GODEBUG, ""))), MANIFEST)


def _default_godebug(diagnosis: Diagnosis) -> Iterator[Setting]:
    """What the build set as the default, by the main module's go line and `//go:debug`."""
    for build in diagnosis.capture.builds.values():
        told = build.settings.set_index("name")["value"]
        yield Setting(_changing(str(told.get("DefaultGODEBUG", ""))), BUILD)


def _changing(godebug: str) -> str:
    """GODEBUG without what only prints, in one order."""
    words = {word.strip() for word in godebug.split(",")} - {""}
    kept = sorted(word for word in words if word.partition("=")[0] not in PRINTING)
    return ",".join(kept) or UNSET


def _percent(value: float) -> str:
    return OFF if math.isinf(value) else f"{value:.0f}"


def _limit(value: float) -> str:
    if math.isinf(value) or value >= NO_LIMIT_BYTES:
        return DEFAULTS[GOMEMLIMIT]
    return f"{int(value) // MIB}MiB" if value % MIB == 0 else f"{int(value)}B"


def _count(value: float) -> str:
    return f"{value:.0f}"
