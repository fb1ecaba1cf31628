"""The runtime settings of a capture, each with its source; only this module computes them.

runtime/metrics have the current settings. Without them, the process's initial environment is used,
from an environment file or the manifest; an unset variable means the default. A description of the
container names only variables that it sets itself. A program can change a setting later
(`debug.SetGCPercent`). So heap goals override an environment that they contradict, and the setting
says so. If no file has GOGC, heap goals bound it, and 100 is assumed if it is within the bounds. A
setting that a text names counts if the goals of a log agree with it, or do not contradict it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pandas as pd

from gomem.analysis.collector.gogc import AGREEING_FRACTION, goals_allow, goals_confirm
from gomem.analysis.collector.gogc_bounds import GogcBounds, gogc_bounds
from gomem.analysis.collector.steps import pieces_of
from gomem.analysis.collector.triggers import STATED, gc_triggers
from gomem.analysis.memory.live_heap import DEFAULT_GOGC
from gomem.capture.manifest import MANIFEST
from gomem.facts.live_heap import stats_of
from gomem.facts.moment import GOGC as GOGC_METRIC
from gomem.facts.moment import GOMAXPROCS as GOMAXPROCS_METRIC
from gomem.facts.moment import GOMEMLIMIT as LIMIT_METRIC
from gomem.facts.moment import NO_GOMEMLIMIT
from gomem.facts.told_beside import texts_beside
from gomem.inputs.environ.containers import container_settings
from gomem.inputs.environ.parse import (
    GODEBUG,
    GOGC,
    GOMAXPROCS,
    GOMEMLIMIT,
    KEPT,
    OFF,
    gogc_fraction,
    memory_limit_bytes,
    settings_stated,
)
from gomem.releases import Fact
from gomem.units import BYTE_UNITS, is_digits

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from gomem.capture.capture import Capture
    from gomem.facts.capture import CaptureFacts
    from gomem.facts.collector import CollectorFacts
    from gomem.facts.moment import MomentFacts
    from gomem.inputs.gctrace.table import GcLog

METRICS, ENVIRONMENT, LOG, GOALS, ASSUMED = "metrics", "environment", "log", "goals", "assumed"
KNOWN_BY = (METRICS, ENVIRONMENT, LOG, GOALS, ASSUMED)
NONE = "none"
# Fields of MemStats before and after NextGC: if all are there, so would NextGC be.
BESIDE_GOAL = ["HeapReleased", "GCSys", "OtherSys", "PauseTotalNs", "NumGC"]
HEAP_TEXT, NOT_IN_TEXT = "heap_text", "PauseTotalNs"  # heap?debug=1 prints single pauses
NEAR_LIMIT = 0.8  # of a limit: its goal leaves room for the memory beside the heap
AT_LIVE = 0.02  # of the live heap: room of a goal that a limit below the live heap sets
GOGC_OFF = 1e10  # per cent: runtime/metrics print 2^64 - 1 for off


@dataclass(frozen=True)
class Setting:
    """One setting of the runtime."""

    name: str  # GOGC, GOMEMLIMIT, GOMAXPROCS or GODEBUG
    # GOGC as a fraction, 1.0 for 100, infinite for off; GOMEMLIMIT in bytes, infinite for none;
    # GOMAXPROCS as a count; GODEBUG as it is set.
    value: float | str
    known_by: str  # `metrics`, `environment`, `log` or `goals`; `assumed` if no file has it
    source: str = ""  # the file that has it; empty if none does
    low: float = math.nan  # lower bound of a GOGC that is inferred or assumed
    high: float = math.nan  # upper bound; infinite if nothing bounds it
    # Whether the environment sets it, if the environment is known; otherwise it is the default.
    is_set: bool = True
    # Other values, at other snapshots or in the environment, and their sources.
    others: tuple[tuple[str, str], ...] = ()

    @property
    def is_stated(self) -> bool:
        """Whether a file states the setting."""
        return self.known_by in (METRICS, ENVIRONMENT)

    @property
    def is_inferred(self) -> bool:
        """Whether the setting is inferred from goals, with bounds."""
        return self.known_by in (LOG, GOALS)

    @property
    def is_constant(self) -> bool:
        """Whether all snapshots that have the setting agree."""
        return not any(source == METRICS for _, source in self.others)

    @property
    def text(self) -> str:
        """The value as the variable would be set: `40`, `off`, `512MiB`, `none`."""
        return text_of(self.name, self.value)


def text_of(name: str, value: float | str) -> str:
    """Return a setting's value as its variable would be set."""
    if isinstance(value, str):
        return value
    if math.isinf(value):
        return OFF if name == GOGC else NONE
    if name == GOMEMLIMIT:
        unit = next(unit for unit in ("GiB", "MiB", "B") if value % BYTE_UNITS[unit] == 0)
        return f"{int(value) // BYTE_UNITS[unit]}{unit}"
    return f"{100 * value if name == GOGC else value:.0f}"


@dataclass(frozen=True)
class Environment:
    """The runtime's variables that a process was started with."""

    variables: Mapping[str, str]  # the variables that are set, by name
    source: str  # the file that has them
    is_whole: bool = True  # whether a variable that it does not name is unset

    @property
    def gogc(self) -> float:
        """GOGC as a fraction; infinite for off; NaN if unknown."""
        return gogc_fraction(self.variables) if self.states(GOGC) else math.nan

    @property
    def memory_limit(self) -> float:
        """GOMEMLIMIT in bytes; infinite for none."""
        return memory_limit_bytes(self.variables)

    def states(self, name: str) -> bool:
        """Whether it says how a variable is set, or that it is not."""
        return self.is_whole or name in self.variables


def environment_of(capture: Capture) -> Environment | None:
    """Return the environment of a capture's process, from a file or the manifest; or None."""
    if capture.environs:
        path, environ = list(capture.environs.items())[-1]
        return Environment(environ.variables, path)
    noted = capture.manifest.fact("environment")
    if not isinstance(noted, dict):
        return _described(capture)
    kept = {name: noted[name] for name in KEPT if isinstance(noted.get(name), str)}
    return Environment(kept, MANIFEST)


def _described(capture: Capture) -> Environment | None:
    """The variables that the only description of a container sets; None without any."""
    found = {name: container_settings(data) for name, data in texts_beside(capture).items()}
    named = [(name, variables) for name, variables in found.items() if variables]
    if len(named) != 1:
        return None
    ((source, variables),) = named
    return Environment(variables, source, is_whole=False)


def sets_limit(limit: Setting | None) -> bool:
    """Return whether a GOMEMLIMIT is known, and limits memory."""
    return limit is not None and math.isfinite(float(limit.value))


@dataclass(frozen=True)
class Settings:
    """The settings of a capture's process; None if all are unknown."""

    gogc: Setting  # GOGC, by default assumed
    memory_limit: Setting | None = None  # GOMEMLIMIT
    gomaxprocs: Setting | None = None  # GOMAXPROCS
    godebug: Setting | None = None  # GODEBUG

    @property
    def known(self) -> tuple[Setting, ...]:
        """All known settings."""
        every = (self.gogc, self.memory_limit, self.gomaxprocs, self.godebug)
        return tuple(setting for setting in every if setting is not None)


@dataclass(frozen=True)
class Stated:
    """The settings that files state; None where none does."""

    environment: Environment | None  # the environment at the process's start
    gogc: Setting | None  # GOGC
    # GOMEMLIMIT; infinite, without a file, if the release does not have it.
    memory_limit: Setting | None
    told: frozenset[str] = frozenset()  # those of a text's sentences, as they are written


def settings_written(facts: CaptureFacts) -> tuple[str, ...]:
    """Return the settings that a text, or a container's description in it, has, as written."""
    environment = facts.settings_stated.environment
    known = {} if environment is None or environment.is_whole else environment.variables
    described = (f"{name}={value}" for name, value in known.items())
    return (*dict.fromkeys((*facts.capture.unused_settings, *described)),)


def stated_settings(facts: CaptureFacts) -> Stated:
    """Return the GOGC and GOMEMLIMIT that files state.

    GOGC comes from the environment, unless the goals of a log contradict it.
    """
    capture, moments = facts.capture, facts.moments
    environment = environment_of(capture)
    gogc = _of_metrics(GOGC, GOGC_METRIC, moments)
    limit = _of_metrics(GOMEMLIMIT, LIMIT_METRIC, moments)
    if environment is not None:
        if environment.states(GOMEMLIMIT):
            limit = limit or _started(environment, GOMEMLIMIT, environment.memory_limit)
        if environment.states(GOGC):
            gogc = gogc or _started(environment, GOGC, environment.gogc)
    if not capture.go_version.possibly(Fact.MEMORY_LIMIT):
        limit = Setting(GOMEMLIMIT, math.inf, ASSUMED)
    told = _told(capture)
    by_name = {each.name: each for each in told.values()}
    gogc, limit = gogc or by_name.get(GOGC), limit or by_name.get(GOMEMLIMIT)
    if gogc is not None and gogc.known_by == ENVIRONMENT and capture.gc is not None:
        is_limited = sets_limit(limit)
        if not goals_allow(capture.gc.cycles, float(gogc.value), is_limited=is_limited):
            gogc = None
    return Stated(environment, gogc, limit, frozenset(told))


def _told(capture: Capture) -> dict[str, Setting]:
    """Return the settings that a text names and nothing measured contradicts, as written.

    A sentence can also ask for advice, or name what was tried before. So goals of a log decide
    where they can; else a value counts if the text says that it is set. Of several values that fit,
    none counts.
    """
    named = dict(capture.unused_settings)
    sources = (*capture.passed_over, *(file.source for file in capture.files if named))
    texts = {source.text_name: source for source in sources if source.text_name in named.values()}
    stated = {each for source in texts.values() for each in settings_stated(source.whole_text)}
    found = {}
    for setting, source in named.items():
        name, _, said = setting.partition("=")
        value = (memory_limit_bytes if name == GOMEMLIMIT else gogc_fraction)({name: said})
        decided = None if capture.gc is None else _confirmed(capture.gc, name, value)
        if decided or (decided is None and setting in stated):
            found[setting] = Setting(name, value, ENVIRONMENT, source, value, value)
    names = [setting.name for setting in found.values()]
    return {said: each for said, each in found.items() if names.count(each.name) == 1}


def _confirmed(log: GcLog, name: str, value: float) -> bool | None:
    """Whether the goals of a log confirm a setting; None if they neither do nor contradict it.

    A limit that sets most goals is just above them, or below the live heap, which they then equal.
    """
    triggers = gc_triggers(log.cycles)
    limited, paced = triggers.of("limit"), triggers.of("pacer")
    by_limit = limited["cycles"] > AGREEING_FRACTION * triggers.counts["cycles"].sum()
    if name == GOGC and math.isfinite(value):
        return None if by_limit else goals_confirm(log.cycles, value)
    if name == GOGC or not by_limit:
        return by_limit if name == GOGC or paced["heap_goal_p50_bytes"] > value else None
    goal = limited["heap_goal_p50_bytes"]
    is_below = limited["room_p50_fraction"] <= AT_LIVE and value <= goal
    return bool(is_below or NEAR_LIMIT * value <= goal <= value)


def _of_metrics(name: str, metric: str, moments: Sequence[MomentFacts]) -> Setting | None:
    """Return the last values in runtime/metrics, and the earlier values."""
    told = [moment for moment in moments if metric in moment.metrics]
    if not told:
        return None
    values = dict.fromkeys(_value(name, moment.metrics[metric]) for moment in reversed(told))
    last, *before = values
    others = tuple((text_of(name, value), METRICS) for value in before)
    return Setting(name, last, METRICS, told[-1].path("metrics"), last, last, others=others)


def _value(name: str, metric: float) -> float:
    """Return a metric's value in the setting's unit."""
    if name == GOGC:
        return math.inf if metric >= GOGC_OFF else metric / 100
    return math.inf if name == GOMEMLIMIT and metric >= NO_GOMEMLIMIT else metric


def _started(environment: Environment, name: str, value: float | str) -> Setting:
    is_set = name in environment.variables
    ends = (value, value) if isinstance(value, float) else (math.nan, math.nan)
    return Setting(name, value, ENVIRONMENT, environment.source, *ends, is_set=is_set)


def settings_of(facts: CaptureFacts) -> Settings:
    """Return the settings of the runtime, with their sources."""
    limit = facts.settings_stated.memory_limit
    return Settings(
        _gogc(facts),
        None if limit is None or limit.known_by == ASSUMED else limit,
        _gomaxprocs(facts),
        _godebug(facts.settings_stated.environment),
    )


def _gogc(facts: CaptureFacts) -> Setting:
    stated = facts.settings_stated
    if stated.gogc is not None and stated.gogc.known_by == METRICS:
        return _beside(stated.gogc, stated.environment)
    if (off := _without_goal(facts.moments)) is not None:
        if stated.gogc is not None and stated.gogc.value == off.value:
            return stated.gogc
        return _beside(off, stated.environment)
    bounds = gogc_bounds(
        stats_of(facts.of_last_process, facts.profiles.of_last_process),
        stacks_count=facts.go_version.possibly(Fact.STACKS_COUNT),
        is_limited=sets_limit(stated.memory_limit),
    )
    if stated.gogc is not None and (bounds.is_empty or bounds.has(float(stated.gogc.value))):
        return stated.gogc
    by_log = None if facts.collector is None else _by_log(facts.collector)
    return _beside(by_log or _by_goals(bounds, facts.moments), stated.environment)


def _without_goal(moments: Sequence[MomentFacts]) -> Setting | None:
    """Return GOGC=off if complete MemStats have no goal: NextGC near 2^64 is read as none."""
    for moment in reversed(moments):
        stats = moment.memstats
        if stats is None or moment.path("memstats") == moment.paths.get("metrics"):
            continue
        is_text = moment.path("memstats") == moment.paths.get(HEAP_TEXT)
        beside = [name for name in BESIDE_GOAL if not (is_text and name == NOT_IN_TEXT)]
        if stats.reindex(beside).notna().all():
            is_off = pd.isna(stats["NextGC"])
            path = moment.path("memstats")
            return Setting(GOGC, math.inf, GOALS, path, math.inf, math.inf) if is_off else None
    return None


def _by_log(collector: CollectorFacts) -> Setting | None:
    """Return the GOGC that most of the log's goals agree on, in the longest run."""
    if collector.cycles.empty or collector.longest_run is None:
        return None
    told = collector.triggers.gogc.set_index("run")
    told = told[~told["known_from"].isin(STATED)].dropna(subset=["gogc_fraction"])
    if collector.longest_run.run not in told.index:
        return None
    row = told.loc[collector.longest_run.run]
    value, low, high = (float(row[name]) for name in ("gogc_fraction", "low", "high"))
    return Setting(GOGC, value, LOG, collector.path, low, high)


def _by_goals(bounds: GogcBounds, moments: Sequence[MomentFacts]) -> Setting:
    """Return 100, or the GOGC that the snapshots' goals allow instead."""
    if bounds.is_empty:
        return Setting(GOGC, DEFAULT_GOGC, ASSUMED)
    if bounds.has(DEFAULT_GOGC):
        return Setting(GOGC, DEFAULT_GOGC, ASSUMED, "", bounds.low, bounds.high)
    source = next(
        moment.path("memstats") for moment in reversed(moments) if moment.any_memstats is not None
    )
    return Setting(GOGC, bounds.likeliest, GOALS, source, bounds.low, bounds.high)


def _beside(setting: Setting, environment: Environment | None) -> Setting:
    """Add the environment's GOGC, if it differs."""
    if environment is None or not environment.states(GOGC) or environment.gogc == setting.value:
        return setting
    others = (*setting.others, (text_of(GOGC, environment.gogc), environment.source))
    return replace(setting, others=others)


def _gomaxprocs(facts: CaptureFacts) -> Setting | None:
    """Return GOMAXPROCS from the best source: runtime/metrics, manifest, log, or environment."""
    by_metrics = _of_metrics(GOMAXPROCS, GOMAXPROCS_METRIC, facts.moments)
    if by_metrics is not None:
        return by_metrics
    collector, environment = facts.collector, facts.settings_stated.environment
    noted: Any = facts.capture.manifest.fact("gomaxprocs")
    if type(noted) is int:
        return Setting(GOMAXPROCS, float(noted), ENVIRONMENT, MANIFEST)
    if collector is not None:
        pieces = pieces_of(collector.cycles, ["gomaxprocs"])
        procs = [n for piece in pieces for n in piece["gomaxprocs"].dropna().unique().tolist()]
        if procs:
            last, *before = dict.fromkeys(float(n) for n in reversed(procs))
            others = tuple((text_of(GOMAXPROCS, n), LOG) for n in before)
            return Setting(GOMAXPROCS, last, LOG, collector.path, others=others)
    if environment is None or not is_digits(environment.variables.get(GOMAXPROCS, "")):
        return None
    return _started(environment, GOMAXPROCS, float(environment.variables[GOMAXPROCS]))


def _godebug(environment: Environment | None) -> Setting | None:
    if environment is None or not environment.variables.get(GODEBUG):
        return None
    return _started(environment, GODEBUG, environment.variables[GODEBUG])
