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
from gomem.causes.case import Case
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
SITE_CODES = frozenset({"heap-growth", "allocation-spike"})  # findings that name who allocates


class _Fact(Generic[_Answer]):
    """What the facts say, by the same name."""

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
        facts: What is known of it.
        baseline: The answers about the capture it is compared with, if there is one.
        thresholds: The value above which each finding is reported.
    """

    facts: CaptureFacts
    baseline: Diagnosis | None = None
    thresholds: Thresholds = field(default_factory=Thresholds)

    def with_baseline(self, baseline: Diagnosis) -> Diagnosis:
        """The same capture, and the same facts, against a baseline."""
        return replace(self, baseline=baseline)

    # What it comes down to

    @cached_property
    def findings(self) -> Findings:
        """Known causes, one finding a cause, ranked by what they cost the process now.

        `findings.frame` has a row each.
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
        """What it comes down to, in a sentence or two."""
        return verdict_of(self)

    @cached_property
    def owners(self) -> Owners | None:
        """What RSS consists of at the first snapshot and the last; None where nothing says."""
        return owners_of(self)

    @property
    def case(self) -> Case:
        """What rules look at."""
        if self.baseline is None:
            return Case(self.facts, self.thresholds)
        old = self.baseline.by_moment
        pairs = {new: old[name] for name, new in counterparts(list(old), list(self.by_moment))}
        return Case(self.facts, self.thresholds, self.baseline.facts, pairs)

    @property
    def scale(self) -> Scale:
        """What findings are ranked and dated by."""
        return Scale.of(self.facts, self.thresholds)

    @property
    def limits(self) -> Limits | None:
        """How far the last moment is from its limits; None if nothing says."""
        return limits_of(self.moments, bounded=growth_is_bounded(self.case))

    @property
    def shown_first(self) -> str | None:
        """The moment to look at first, which the verdict speaks of; see `telling_moment`."""
        facts = telling_moment(self)
        return None if facts is None else facts.name

    @property
    def sites_first(self) -> str | None:
        """The moment whose sites to look at first; None without a heap profile.

        That of the first finding that names a site; else the one that is shown first, if it has a
        profile; else the last.
        """
        named = (finding.moment for finding in self.findings if finding.code in SITE_CODES)
        profiles = self.capture.heap_profiles
        wanted = [*named, self.shown_first, *reversed(list(profiles))]
        return next((name for name in wanted if name in profiles), None)

    # Against the baseline

    @cached_property
    def change_against_baseline(self) -> Change | None:
        """From the baseline to the capture: the last pair of matching moments."""
        old = [] if self.baseline is None else list(self.baseline.ledgers)
        pairs = counterparts(old, list(self.ledgers))
        return self.change_from_baseline(*pairs[-1]) if pairs else None

    def change_from_baseline(self, before: str, after: str) -> Change | None:
        """From a moment of the baseline to one of the capture; None without a ledger of both."""
        if self.baseline is None:
            return None
        accounts = self.baseline.facts.account, self.facts.account
        moments = self.baseline.by_moment.get(before), self.by_moment.get(after)
        return change_between(*moments, accounts, of_baseline=True)

    def baseline_ledger(self, moment: str) -> Ledger | None:
        """The baseline's ledger that a moment's is compared with; None if there is none."""
        name = self.baseline_moment(moment)
        return None if name is None or self.baseline is None else self.baseline.ledgers[name]

    def baseline_moment(self, moment: str) -> str | None:
        """The baseline's moment whose ledger a moment's is compared with; None if there is none."""
        if self.baseline is None:
            return None
        return counterpart_of(moment, list(self.baseline.ledgers), list(self.ledgers))

    def baseline_profile(self, moment: str) -> Profile | None:
        """The baseline's heap profile that a moment's is compared with; None if there is none."""
        if self.baseline is None:
            return None
        old = self.baseline.capture.heap_profiles
        name = counterpart_of(moment, list(old), list(self.capture.heap_profiles))
        return None if name is None else old[name]

    def change_tree(self, moment: str, sample_type: str) -> CallTree | None:
        """Who calls whom, compared with the baseline; None if a side has no such value."""
        base = self.baseline_profile(moment)
        if base is None or not has_samples(base, sample_type):
            return None
        return self.facts.profiles.call_tree(moment, sample_type, base)

    # What cannot be shown without the file that says it

    def cycles(self) -> pd.DataFrame:
        """A row per collection, with its `pause_seconds`, and its `time` where that is known.

        Raises:
            CaptureError: There is no log, or one too long to lie in memory; `gomem.iter_gctrace`
                reads that in pieces.
        """
        cycles = self.logged.cycles
        if not isinstance(cycles, pd.DataFrame):
            raise CaptureError("the log is too long for one frame; see gomem.iter_gctrace")
        return cycles_frame(self.capture, cycles)

    def timeline(self) -> pd.DataFrame:
        """The log over time in windows, a row each; `gomem.columns` says what it has.

        Raises:
            CaptureError: There is no log, or no collection in it.
        """
        return self.logged.timeline_table

    @property
    def logged(self) -> CollectorFacts:
        """What a log with collections in it says.

        Raises:
            CaptureError: There is none.
        """
        name = CaptureName(self.capture.file_name)
        if self.collector is None:
            how = "run it with GODEBUG=gctrace=1"
            raise CaptureError(text("{} has no gctrace log; {}", name, how))
        if not len(self.collector.cycles):
            raise CaptureError(text("{}: the log has no collection", name))
        return self.collector

    @property
    def collection_cost(self) -> dict[str, int | float | None]:
        """The numbers of its cost by their names in `COSTS`; None throughout without a log."""
        unknown: dict[str, int | float | None] = {column.name: None for column in COSTS}
        return unknown if self.collector is None else unknown | self.collector.cost.values

    def line_reasons(self) -> pd.DataFrame:
        """Why lines allocate, of the moment whose sites to look at first, or the last that says.

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
        """Who allocated in one interval between two profiles, beyond the usual, the most first.

        Args:
            at: As for `spike`.

        Raises:
            CaptureError: There are no two profiles that have a time, or no interval stands out.
        """
        found = self.spike(at)
        if found is None:
            raise CaptureError(why_no_spike(self.facts.profiles, self.capture.file_name))
        return found.allocated

    # The facts, by names of their own

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
        """What was read."""
        return self.facts.capture

    @cached_property
    def ledger(self) -> pd.DataFrame:
        """All ledgers: `moment`, `time`, then a part, its bytes and its source."""
        return in_order(self.facts.ledger, self.capture.times)

    @cached_property
    def kinds(self) -> pd.DataFrame:
        """Mappings by kind: `moment`, `time`, then how many there are, and their sizes."""
        return in_order(self.facts.kinds, self.capture.times)

    @cached_property
    def smaps(self) -> pd.DataFrame:
        """The mappings of all moments with `kind`, and `rule`, by which it was told."""
        return in_order(self.facts.smaps, self.capture.times)

    @cached_property
    def levels(self) -> pd.DataFrame:
        """One wide row a moment, by time: RSS, the ledger's parts, and all that files count."""
        return in_order(self.facts.levels, self.capture.times, is_timed=False)

    @cached_property
    def heap(self) -> pd.DataFrame:
        """Heap in use, kept, released and still resident, a row per moment with MemStats."""
        return in_order(self.facts.heap, self.capture.times)

    @cached_property
    def heap_steps(self) -> pd.DataFrame:
        """What of it changed from each moment to the next; `time` is that of `after`."""
        return in_order(self.facts.heap_steps, self.capture.times, "before", "after")

    @cached_property
    def changes(self) -> tuple[Change, ...]:
        """What moved from each moment with a ledger to the next."""
        accounts = self.facts.account, self.facts.account
        return tuple(Change(*pair, accounts) for pair in pairwise(self._with_ledger))

    def mapping_changes(self, before: str, after: str) -> pd.DataFrame:
        """Which mappings grew, shrank, came or went from one moment to another, largest first.

        Raises:
            KeyError: There is no such moment.
            CaptureError: One of them has no smaps.
        """
        sides = [self.by_moment.get(self.capture[name].name) for name in (before, after)]
        if (found := mappings_between(*sides)) is None:
            name, moments = CaptureName(self.capture.file_name), map(MomentName, (before, after))
            raise CaptureError(text("{}: {} or {} has no smaps", name, *moments))
        return found

    @cached_property
    def change_over_all(self) -> Change | None:
        """What moved from the first of them to the last, if there are three or more."""
        known, accounts = self._with_ledger, (self.facts.account, self.facts.account)
        return Change(known[0], known[-1], accounts) if len(known) > 2 else None

    @property
    def _with_ledger(self) -> list[MomentFacts]:
        return [moment for moment in self.moments if moment.ledger is not None]

    def spike(self, at: str | pd.Timestamp | None = None) -> Spike | None:
        """Who allocated in the interval between two profiles that ends at a moment, or a time.

        If none is named, it is the one that stands out; None where none does.
        """
        found = self.facts.profiles.spike_at(at)
        shown = found is None or at is not None or is_far_above_the_usual(found, self.thresholds)
        return found if shown else None

    def __dir__(self) -> list[str]:
        """What a question is asked by; the rest is for reports, which are made of it."""
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
        baseline: A capture to compare it with, such as one under the previous release.
        thresholds: The values above which findings are reported; the usual ones if None.

    Raises:
        CaptureError: A path holds nothing that gomem can read.
    """
    limits = thresholds or Thresholds()
    against = None if baseline is None else Diagnosis(_facts(baseline), thresholds=limits)
    return Diagnosis(_facts(capture), against, limits)


def _facts(capture: Capture | str | PathLike[str]) -> CaptureFacts:
    return CaptureFacts(capture if isinstance(capture, Capture) else load(capture))
