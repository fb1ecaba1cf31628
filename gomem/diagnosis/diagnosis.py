"""A capture and its diagnosis, shared by reports, JSON, notebooks and comparisons.

`facts` has the facts of the capture. This module adds what needs thresholds or a baseline.
Everything is computed on first use, and only once.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from html import escape
from itertools import pairwise
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import pandas as pd

from gomem.analysis.collector.cost import COSTS
from gomem.capture.capture import Capture
from gomem.capture.load import load
from gomem.capture.ordered import in_order
from gomem.causes.allocation_spike import is_far_above_the_usual, why_no_spike
from gomem.causes.cause import Case
from gomem.causes.limit_risk import growth_is_bounded
from gomem.causes.thresholds import Thresholds
from gomem.diagnosis.changes import Change, change_between, mappings_between
from gomem.diagnosis.findings import (
    Findings,
    Scale,
    one_a_cause,
    without_cut_sums,
    without_double_claims,
)
from gomem.diagnosis.limits import Limits, limits_of
from gomem.diagnosis.observations import Observation, observations
from gomem.diagnosis.owners import Owners, owners_of
from gomem.diagnosis.pairing import counterpart_of, counterparts
from gomem.diagnosis.rules import found_by_rules
from gomem.diagnosis.verdict import Verdict, telling_moment, verdict_of
from gomem.errors import CaptureError
from gomem.facts.capture import CaptureFacts
from gomem.facts.frames import cycles_frame
from gomem.facts.one_process import halves
from gomem.facts.profiles import ProfileFacts, has_samples
from gomem.text import CaptureName, MomentName, text

if TYPE_CHECKING:
    from collections.abc import Callable
    from os import PathLike

    from gomem.analysis.memory.ledger import Ledger
    from gomem.analysis.profiles.allocation_spikes import Spike
    from gomem.analysis.profiles.call_tree import CallTree
    from gomem.facts.collector import CollectorFacts
    from gomem.facts.moment import MomentFacts
    from gomem.inputs.pprof.table import Profile

_Answer = TypeVar("_Answer")

REPORT_ONLY = frozenset(
    {
        "baseline_ledger", "baseline_moment", "baseline_profile", "case", "change_from_baseline",
        "change_tree", "collection_cost", "facts", "logged", "scale", "shown_first", "sites_first",
    }
)  # fmt: skip
SITE_CODES = frozenset({"heap-growth", "allocation-spike"})  # findings that name allocation sites


class _Fact(Generic[_Answer]):
    """A property of the facts, under the same name."""

    def __init__(
        self, fact: cached_property[_Answer] | Callable[[Any], _Answer], *, of: str = "facts"
    ) -> None:
        self._of, self.__doc__ = of, fact.__doc__

    def __set_name__(self, _: type, name: str) -> None:
        self._said_by = attrgetter(f"{self._of}.{name}")

    def __get__(self, diagnosis: Diagnosis, _: type) -> _Answer:
        said: _Answer = self._said_by(diagnosis)
        return said


@dataclass(frozen=True)
class Diagnosis:
    """The answers about one capture.

    Attributes:
        facts: The facts of the capture.
        baseline: The diagnosis of the baseline capture, if there is one.
        thresholds: The reporting threshold of each finding.
    """

    facts: CaptureFacts
    baseline: Diagnosis | None = None
    thresholds: Thresholds = field(default_factory=Thresholds)

    def with_baseline(self, baseline: Diagnosis) -> Diagnosis:
        """Return the diagnosis of the same facts with a baseline."""
        return replace(self, baseline=baseline)

    # Results

    @cached_property
    def findings(self) -> Findings:
        """Known causes, one finding per cause, ranked by their current cost to the process.

        `findings.frame` has a row per finding.
        """
        found = without_cut_sums(found_by_rules(self.case), self.facts)
        ranked = one_a_cause(found, self.scale)
        return without_double_claims(ranked, self.facts.account)

    @cached_property
    def observations(self) -> tuple[Observation, ...]:
        """Observations, whether or not anything is wrong."""
        return observations(self.case)

    @cached_property
    def verdict(self) -> Verdict:
        """The verdict in one or two sentences."""
        return verdict_of(self)

    @cached_property
    def owners(self) -> Owners | None:
        """What RSS consists of at the first and the last snapshot; None if unknown."""
        return owners_of(self)

    @property
    def case(self) -> Case:
        """The input of the rules."""
        if self.baseline is None:
            return Case(self.facts, self.thresholds)
        old = self.baseline.by_moment
        pairs = {new: old[name] for name, new in counterparts(list(old), list(self.by_moment))}
        return Case(self.facts, self.thresholds, self.baseline.facts, pairs)

    @property
    def scale(self) -> Scale:
        """The data for ranking and dating findings: moments, RSS and total size."""
        return Scale.of(self.facts, self.thresholds)

    @property
    def limits(self) -> Limits | None:
        """How far the last moment is from its limits; None if unknown."""
        return limits_of(self.moments, bounded=growth_is_bounded(self.case))

    @property
    def shown_first(self) -> str | None:
        """The moment that the verdict describes, shown first; see `telling_moment`."""
        facts = telling_moment(self)
        return None if facts is None else facts.name

    @property
    def sites_first(self) -> str | None:
        """The moment whose sites are shown first; None without a heap profile.

        It is the moment of the first finding that names a site; else `shown_first` if it has a
        profile; else the last moment with a profile.
        """
        named = (finding.moment for finding in self.findings if finding.code in SITE_CODES)
        profiles = self.capture.heap_profiles
        wanted = [*named, self.shown_first, *reversed(list(profiles))]
        return next((name for name in wanted if name in profiles), None)

    # Compared with the baseline

    @cached_property
    def change_against_baseline(self) -> Change | None:
        """The change from the baseline to the capture: the last pair of matching moments."""
        old = [] if self.baseline is None else list(self.baseline.ledgers)
        pairs = counterparts(old, list(self.ledgers))
        return self.change_from_baseline(*pairs[-1]) if pairs else None

    def change_from_baseline(self, before: str, after: str) -> Change | None:
        """The change from a baseline's moment to a moment of the capture; None without ledgers."""
        if self.baseline is None:
            return None
        accounts = self.baseline.facts.account, self.facts.account
        moments = self.baseline.by_moment.get(before), self.by_moment.get(after)
        return change_between(*moments, accounts, of_baseline=True)

    def baseline_ledger(self, moment: str) -> Ledger | None:
        """The baseline's ledger to compare with a moment's; None if there is none."""
        name = self.baseline_moment(moment)
        return None if name is None or self.baseline is None else self.baseline.ledgers[name]

    def baseline_moment(self, moment: str) -> str | None:
        """The baseline's moment whose ledger is compared with a moment's; None if there is none."""
        if self.baseline is None:
            return None
        return counterpart_of(moment, list(self.baseline.ledgers), list(self.ledgers))

    def baseline_profile(self, moment: str) -> Profile | None:
        """The baseline's heap profile to compare with a moment's; None if there is none."""
        if self.baseline is None:
            return None
        old = self.baseline.capture.heap_profiles
        name = counterpart_of(moment, list(old), list(self.capture.heap_profiles))
        return None if name is None else old[name]

    def change_tree(self, moment: str, sample_type: str) -> CallTree | None:
        """The call tree compared with the baseline; None if a side lacks the sample type."""
        base = self.baseline_profile(moment)
        if base is None or not has_samples(base, sample_type):
            return None
        return self.facts.profiles.call_tree(moment, sample_type, base)

    # Answers that raise an error if their file is missing

    def cycles(self) -> pd.DataFrame:
        """Return a row per collection, with its `pause_seconds`, and its `time` if known.

        Raises:
            CaptureError: There is no log, or the log is too long for memory; use
                `gomem.iter_gctrace` to read it in pieces.
        """
        cycles = self.logged.cycles
        if not isinstance(cycles, pd.DataFrame):
            raise CaptureError("the log is too long for one frame; see gomem.iter_gctrace")
        return cycles_frame(self.capture, cycles)

    def timeline(self) -> pd.DataFrame:
        """Return the log in time windows, a row each; columns in `gomem.columns`.

        Raises:
            CaptureError: There is no log, or it has no collections.
        """
        return self.logged.timeline_table

    @property
    def logged(self) -> CollectorFacts:
        """The facts of the GC log.

        Raises:
            CaptureError: There is no log with collections.
        """
        name, how = CaptureName(self.capture.file_name), "run it with GODEBUG=gctrace=1"
        if self.collector is None:
            raise CaptureError(text("{} has no gctrace log; {}", name, how))
        if not len(self.collector.cycles):
            raise CaptureError(text("{}: the log has no collection", name))
        return self.collector

    @property
    def collection_cost(self) -> dict[str, int | float | None]:
        """The cost of the collector, by the names in `COSTS`; all None without a log."""
        unknown: dict[str, int | float | None] = {column.name: None for column in COSTS}
        return unknown if self.collector is None else unknown | self.collector.cost.values

    def line_reasons(self) -> pd.DataFrame:
        """Return why lines allocate, at `sites_first` or the last moment with escape analysis.

        Raises:
            CaptureError: There is no escape analysis, or no heap profile.
        """
        reasons = self.facts.profiles.reasons
        for moment in (self.sites_first, *reversed(reasons)):
            if moment is not None and moment in reasons:
                return reasons[moment]
        what = (
            "{}: nothing says why lines allocate; put what go build -gcflags=-m=2 prints into the "
            "capture, beside a heap profile"
        )
        raise CaptureError(text(what, CaptureName(self.capture.file_name)))

    def spike_sites(self, at: str | pd.Timestamp | None = None) -> pd.DataFrame:
        """Return the excess allocation by site in one interval, largest first; `at` as in `spike`.

        Raises CaptureError if there are no two profiles with times, or no interval stands out.
        """
        found = self.spike(at)
        if found is None:
            raise CaptureError(why_no_spike(self.facts.profiles, self.capture.file_name))
        return found.allocated

    # The facts under names of this class

    moments = _Fact(CaptureFacts.moments)
    by_moment = _Fact(CaptureFacts.by_moment)
    ledgers = _Fact(CaptureFacts.ledgers)
    scavenger = _Fact(CaptureFacts.scavenger)
    collector = _Fact(CaptureFacts.collector)
    what_if = _Fact(CaptureFacts.what_if)
    kept = _Fact(CaptureFacts.kept)
    sites = _Fact(ProfileFacts.sites, of="facts.profiles")
    growth = _Fact(ProfileFacts.growth, of="facts.profiles")

    @property
    def capture(self) -> Capture:
        """The parsed capture."""
        return self.facts.capture

    @cached_property
    def ledger(self) -> pd.DataFrame:
        """All ledgers: `moment`, `time`, then each part with its bytes and source."""
        return in_order(self.facts.ledger, self.capture.times)

    @cached_property
    def kinds(self) -> pd.DataFrame:
        """Mappings by kind: `moment`, `time`, then their number and sizes."""
        return in_order(self.facts.kinds, self.capture.times)

    @cached_property
    def smaps(self) -> pd.DataFrame:
        """The mappings of all moments with `kind` and `rule`, the rule that determined the kind."""
        return in_order(self.facts.smaps, self.capture.times)

    @cached_property
    def levels(self) -> pd.DataFrame:
        """One wide row per moment, by time: RSS, the ledger's parts, and all counters."""
        return in_order(self.facts.levels, self.capture.times, is_timed=False)

    @cached_property
    def heap(self) -> pd.DataFrame:
        """Heap in use, retained, released and still resident; a row per moment with MemStats."""
        return in_order(self.facts.heap, self.capture.times)

    @cached_property
    def heap_steps(self) -> pd.DataFrame:
        """The heap's changes from each moment to the next; `time` is that of `after`."""
        return in_order(self.facts.heap_steps, self.capture.times, "before", "after")

    @cached_property
    def changes(self) -> tuple[Change, ...]:
        """The changes from each moment with a ledger to the next."""
        accounts = self.facts.account, self.facts.account
        return tuple(Change(*pair, accounts) for pair in pairwise(self._with_ledger))

    def mapping_changes(self, before: str, after: str) -> pd.DataFrame:
        """Return mappings that grew, shrank, appeared or vanished between moments, largest first.

        Raises:
            KeyError: There is no such moment.
            CaptureError: A moment has no smaps.
        """
        sides = [self.by_moment.get(self.capture[name].name) for name in (before, after)]
        if (found := mappings_between(*sides)) is None:
            name, moments = CaptureName(self.capture.file_name), map(MomentName, (before, after))
            raise CaptureError(text("{}: {} or {} has no smaps", name, *moments))
        return found

    @cached_property
    def change_over_all(self) -> Change | None:
        """The change from the first moment to the last, if there are at least three."""
        known, accounts = self._with_ledger, (self.facts.account, self.facts.account)
        return Change(known[0], known[-1], accounts) if len(known) > 2 else None

    @property
    def _with_ledger(self) -> list[MomentFacts]:
        return [moment for moment in self.moments if moment.ledger is not None]

    def spike(self, at: str | pd.Timestamp | None = None) -> Spike | None:
        """Return who allocated in the interval between two profiles that ends at `at`.

        Without `at`, the interval that stands out; None if none does.
        """
        found = self.facts.profiles.spike_at(at)
        shown = found is None or at is not None or is_far_above_the_usual(found, self.thresholds)
        return found if shown else None

    def __dir__(self) -> list[str]:
        """List the public questions; other attributes exist for reports."""
        return [name for name in super().__dir__() if name not in REPORT_ONLY]

    def _repr_html_(self) -> str:
        return f"<p>{escape(self.verdict.sentence)}</p>{self.findings._repr_html_()}"

    def __repr__(self) -> str:
        return f"<Diagnosis of {self.capture.name}: {len(self.findings)} findings>"


def diagnose(
    capture: Capture | str | PathLike[str],
    baseline: Capture | str | PathLike[str] | None = None,
    *,
    thresholds: Thresholds | None = None,
) -> Diagnosis:
    """Diagnose a capture; each answer is computed when it is first read.

    Args:
        capture: A capture, or a path to load one from.
        baseline: A capture to compare with, such as one of the previous release. Without one, the
            folder `before` of a capture that also has `after`, if the two are of two processes.
        thresholds: The reporting thresholds of findings; default values if None.

    Raises CaptureError if a path has nothing that gomem can read.
    """
    limits, facts = thresholds or Thresholds(), _facts(capture)
    earlier = None if baseline is None else _facts(baseline)
    two = halves(facts) if earlier is None else None
    if two is not None:
        earlier, facts = map(CaptureFacts, two)
    against = None if earlier is None else Diagnosis(earlier, thresholds=limits)
    return Diagnosis(facts, against, limits)


def _facts(capture: Capture | str | PathLike[str]) -> CaptureFacts:
    return CaptureFacts(capture if isinstance(capture, Capture) else load(capture))
