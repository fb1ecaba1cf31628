"""How the settings of two sides differ: those of `facts.settings`, the build, the profiles.

A setting that is only assumed, or that only moments' goals bound, differs from none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.capture.manifest import MANIFEST
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
    Setting,
    setting_row,
)
from gomem.facts import settings as facts
from gomem.facts.settings import environment_of
from gomem.inputs.schema import build_rows

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    import pandas as pd

    from gomem.diagnosis.diagnosis import Diagnosis
    from gomem.releases import GoVersion

    Row = tuple[str, str, str, str]

UNSET = "unset"
# GODEBUG's words that make the runtime print, and change nothing that is measured.
PRINTING = frozenset(
    {"gctrace", "gcpacertrace", "scavtrace", "schedtrace", "scheddetail", "inittrace"}
)
# What says a setting, in words; of the environment it is the file.
SAID_BY = {facts.METRICS: "runtime/metrics", facts.LOG: LOG, facts.ENVIRONMENT: ""}
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


def _of(name: str) -> Callable[[Diagnosis], Iterator[Setting]]:
    """What a capture says of one of its `Settings`, each value once."""

    def read(diagnosis: Diagnosis) -> Iterator[Setting]:
        known = getattr(diagnosis.facts.settings, name)
        if known is None or known.known_by not in SAID_BY:
            return
        source = SAID_BY[known.known_by] or _file(known.source)
        if known.name == GOGC and known.known_by == facts.LOG:
            source = INFERRED
        yield Setting(known.text, source if known.is_set else f"{source}, not set")
        yield from (Setting(value, source) for value, said in known.others if said in SAID_BY)

    return read


def _file(source: str) -> str:
    """The manifest, or whatever file of the environment a side has."""
    return MANIFEST if source == MANIFEST else "environ"


def _mem_profile_rate(diagnosis: Diagnosis) -> Iterator[Setting]:
    for profile in diagnosis.capture.heap_profiles.values():
        if profile.period and profile.period_type.type == "space":
            yield Setting(str(profile.period), HEAP_PROFILE)


READERS: dict[str, Callable[[Diagnosis], Iterator[Setting]]] = {
    GOGC: _of("gogc"),
    GOMEMLIMIT: _of("memory_limit"),
    GOMAXPROCS: _of("gomaxprocs"),
    MEM_PROFILE_RATE: _mem_profile_rate,
}


def _environment_godebug(diagnosis: Diagnosis) -> Iterator[Setting]:
    environment = environment_of(diagnosis.capture)
    if environment is not None:
        yield Setting(_changing(environment.variables.get(GODEBUG, "")), _file(environment.source))


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
