"""Findings: one per cause, ranked by their current cost.

A rule looks at the snapshots in order and gives at most one finding for each. Readers want to know
what is wrong, not how often it was seen. So all findings of a cause are merged into one, dated to
the last snapshot where the cause holds. A finding that is resolved by the last snapshot is in the
past tense and gives its peak. If the last snapshot does not have the files that would show the
cause, its present state is unknown. The finding is then dated to the last snapshot that has the
files.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from gomem.causes import CAUSES
from gomem.causes.evidence import COMPUTED, RELEASE
from gomem.causes.finding import Finding, Severity
from gomem.causes.thresholds import Thresholds
from gomem.inputs.schema import Column, build_rows
from gomem.text import Bytes, MomentName, Number, Text, Words, text

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import pandas as pd

    from gomem.analysis.memory.account import Account
    from gomem.facts.capture import CaptureFacts

DATA_PREFIX = "data-"
SAME = dict.fromkeys(("memstats", "metrics", "metrics-page", "heap_text"), "runtime")


FINDINGS = (
    Column("code", "str", "", "The cause's fixed name.", Words),
    Column("severity", "str", "", "critical, warning or info.", Words),
    Column("confidence", "str", "", "certain, likely or possible.", Words),
    Column(
        "moment",
        "str",
        "",
        "Last snapshot with the finding; missing for the whole capture.",
        MomentName,
    ),
    Column("now", "bool", "", "Whether the finding holds at the last snapshot."),
    Column("bytes", "Int64", "B", "Memory that the finding explains."),
    Column("cpu_fraction", "float64", "fraction", "CPU cost, as a share of GOMAXPROCS."),
    Column("title", "object", "", "The finding in words, with its number.", Text),
    Column("next_step", "object", "", "What to do.", Text),
)


class Findings(tuple["Finding", ...]):
    """Findings, the most costly first; `frame` has a row per finding."""

    __slots__ = ()

    @property
    def frame(self) -> pd.DataFrame:
        """A row per finding; see `FINDINGS`."""
        names = [column.name for column in FINDINGS]
        rows = [
            [
                str(finding.severity) if name == "severity" else getattr(finding, name)
                for name in names
            ]
            for finding in self
        ]
        return build_rows(rows, FINDINGS)

    def _repr_html_(self) -> str:
        shown = self.frame[["severity", "moment", "title", "next_step"]]
        return shown.to_html(escape=True, index=False, na_rep="")

    def __repr__(self) -> str:
        return f"<Findings: {', '.join(finding.code for finding in self) or 'none'}>"


@dataclass(frozen=True)
class Scale:
    """The data for ranking and dating findings."""

    # The paths of each moment's artefacts by kind, in order of moments.
    moments: Mapping[str, Mapping[str, str]]
    # RSS by moment, if known.
    rss_bytes: Mapping[str, int] = field(default_factory=dict)
    # What the shares of bytes relate to: the last known RSS, the limit, or another size of the
    # process; None if all are unknown.
    whole_bytes: float | None = None
    # Which resolved findings were large, and which memory counts as released.
    thresholds: Thresholds = field(default_factory=Thresholds)
    # The last moment with facts, by which causes date what holds to the end; profiles alone have
    # none, so other moments can follow it.
    end: str | None = None

    @classmethod
    def of(cls, facts: CaptureFacts, thresholds: Thresholds) -> Scale:
        """Return the scale of a capture."""
        rss = {
            moment.name: moment.rss_bytes
            for moment in facts.moments
            if moment.rss_bytes is not None
        }
        return cls(
            {moment.name: moment.paths for moment in facts.capture.by_moment.values()},
            rss,
            next(reversed(rss.values()), None) or _whole_without_rss(facts),
            thresholds,
            facts.moments[-1].name if facts.moments else None,
        )

    @property
    def last(self) -> str:
        """The last moment."""
        return list(self.moments)[-1]

    def is_of_last(self, finding: Finding) -> bool:
        """Whether a finding holds at the last moment, or is about the whole capture."""
        return not self._later(finding)

    def is_over(self, finding: Finding) -> bool:
        """Whether a later moment with the same kinds of artefact does not have the finding."""
        later = self._later(finding)
        return bool(later) and any(
            self._kinds(finding) <= _told(self.moments[name]) for name in later
        )

    def _later(self, finding: Finding) -> list[str]:
        """The moments after the finding's."""
        names = list(self.moments)
        if finding.moment in {None, self.end} or finding.moment not in names:
            return []
        return names[names.index(finding.moment) + 1 :]

    def _kinds(self, finding: Finding) -> set[str]:
        """The kinds of artefact in the evidence."""
        assert finding.moment is not None
        cited = {path for evidence in finding.evidence for path in evidence.artefact.split(", ")}
        return _told(kind for kind, path in self.moments[finding.moment].items() if path in cited)

    def share(self, finding: Finding) -> float:
        """The cost of a finding: its larger share, of memory or of CPU; 0 if both are unknown."""
        of_memory = (finding.bytes or 0) / self.whole_bytes if self.whole_bytes else 0.0
        return max(of_memory, finding.cpu_fraction or 0.0)

    def given_back_by(self, finding: Finding) -> str | None:
        """The last moment, if the finding's memory is no longer resident there."""
        if finding.moment is None or not finding.bytes or not self.is_over(finding):
            return None
        known = list(self.rss_bytes)
        then = [self.rss_bytes[name] for name in finding.moments if name in self.rss_bytes]
        if not known or not then:
            return None
        fell = max(then) - self.rss_bytes[known[-1]]
        least = self.thresholds.given_back_fraction * finding.bytes
        return known[-1] if fell >= least else None

    def is_past(self, finding: Finding) -> bool:
        """Whether the finding is resolved, and nothing shows that its memory is still resident."""
        is_known = bool(self.moments) and self.last in self.rss_bytes
        return self.is_over(finding) and not (is_known and self.given_back_by(finding) is None)


def _whole_without_rss(facts: CaptureFacts) -> float | None:
    """The size of the process if no file gives RSS: from its limit, MemStats or profiles."""
    for moment in reversed(facts.moments):
        if moment.cgroup_use is not None and moment.cgroup_use.limit_bytes is not None:
            return float(moment.cgroup_use.limit_bytes)
        if moment.ledger is not None:
            return float(moment.ledger.heap_claimed_bytes) or None
    if facts.profiles.heap_series is not None:
        return float(facts.profiles.heap_series.totals.iloc[-1]) or None
    if facts.collector is not None and facts.collector.longest_run is not None:
        return float(facts.collector.longest_run.last_bytes) or None
    return None


def _told(kinds: Iterable[str]) -> set[str]:
    return {SAME.get(kind, kind) for kind in kinds}


def without_cut_sums(found: Iterable[Finding], facts: CaptureFacts) -> Iterator[Finding]:
    """Drop findings that rest on incomplete mappings."""
    cut = {
        path
        for moment in facts.moments
        if moment.ledger is not None and moment.ledger.is_least and moment.mappings is not None
        for path in (COMPUTED, moment.path("smaps"))
    }
    for finding in found:
        rests_on = {evidence.artefact for evidence in finding.evidence}
        if finding.code.startswith(DATA_PREFIX) or cut.isdisjoint(rests_on):
            yield finding


def one_a_cause(found: Iterable[Finding], scale: Scale) -> Findings:
    """Merge the findings of each cause into one, and rank them."""
    by_cause: dict[tuple[str, Severity | None], list[Finding]] = defaultdict(list)
    for finding in found:
        # Certain and possible damage of different moments are kept apart.
        apart = finding.severity if finding.code.startswith(DATA_PREFIX) else None
        by_cause[finding.code, apart].append(finding)
    merged = [finding for same in by_cause.values() for finding in _merged(same, scale)]
    return Findings(sorted(merged, key=lambda finding: _rank(finding, scale)))


def without_double_claims(findings: Findings, account: Account | None) -> Findings:
    """Mark findings whose bytes overlap with those of a more costly finding."""
    if account is None:
        return findings
    return Findings(
        _beside(finding, findings[:place], account) for place, finding in enumerate(findings)
    )


def _beside(finding: Finding, earlier: Sequence[Finding], account: Account) -> Finding:
    groups = CLAIMS.get(finding.code, frozenset())
    rivals = [
        rival for rival in earlier if CLAIMS.get(rival.code, frozenset()) & groups and rival.bytes
    ]
    snapshot = account.of(finding.moment or "") or account.last
    if not rivals or not finding.bytes or not (finding.now and rivals[0].now):
        return finding
    every = groups.union(*(CLAIMS[rival.code] for rival in rivals))
    claimed = finding.bytes + sum(rival.bytes or 0 for rival in rivals)
    if claimed <= snapshot.likely.together(every).high:
        return finding
    rival = max(rivals, key=lambda rival: rival.bytes or 0)
    has_room = len(Text(finding.title).of(Number)) < MAX_NUMBERS
    if finding.bytes == rival.bytes:
        same = text("{}; {} counts the same memory", finding.title, rival.code)
        return replace(finding, title=same)
    counted = text("{} counts part of this memory", rival.code)
    if has_room:
        words = "the {} of {} include part of this memory"
        counted = text(words, Bytes(rival.bytes), rival.code)
    return replace(finding, title=text("{}; {}", finding.title, counted))


CLAIMS = {cause.code: cause.claims for cause in CAUSES if cause.claims}


def _rank(finding: Finding, scale: Scale) -> tuple[bool, int, bool, bool, float, float]:
    """Sort key: data findings last; then severity, release-only, resolved, and cost.

    If nothing says how large the process is, bytes rank what has no share.
    """
    return (
        finding.code.startswith(DATA_PREFIX),
        -int(finding.severity),
        is_of_release(finding),
        not finding.now,
        -scale.share(finding) * SURETY[finding.confidence],
        -(finding.bytes or 0) * SURETY[finding.confidence] * (scale.whole_bytes is None),
    )


# measured fraction of such findings that are correct
SURETY = {"certain": 1.0, "likely": 0.9, "possible": 0.7}


def is_of_release(finding: Finding) -> bool:
    """Whether the finding rests only on the Go release, without a measurement."""
    by_release = any(evidence.artefact == RELEASE for evidence in finding.evidence)
    return finding.confidence == "possible" and by_release


def _merged(same: Sequence[Finding], scale: Scale) -> list[Finding]:
    """Merge one cause's findings about moments; keep those about the whole capture."""
    places = {name: place for place, name in enumerate(scale.moments)}
    whole = [finding for finding in same if finding.moment is None]
    of_moments = [finding for finding in same if finding.moment is not None]
    of_moments.sort(key=lambda finding: places.get(finding.moment or "", len(places)))
    return [*whole, *([_of_all(of_moments, scale)] if of_moments else [])]


def _of_all(same: Sequence[Finding], scale: Scale) -> Finding:
    """The finding of the last moment at which the cause holds, with its current severity.

    If it no longer holds, or no file shows it, with its maximum severity.
    """
    last = same[-1]
    moments = tuple(dict.fromkeys(name for finding in same for name in finding.moments))
    now, over = scale.is_of_last(last), scale.is_over(last)
    severity = last.severity if now else max(finding.severity for finding in same)
    merged = replace(last, moments=moments, severity=severity, now=now, over=over)
    if scale.is_past(merged):
        merged = replace(merged, severity=Severity.INFO)
    peak = max(same, key=lambda finding: finding.bytes or 0)
    if over:
        return _over(merged, peak, scale)
    if not now:
        seen = MomentName(merged.moment or "")
        merged = replace(merged, title=text(_EARLIER_TITLE, merged.title, seen))
    if peak.bytes and peak.bytes >= scale.thresholds.peak_ratio * (last.bytes or 0):
        return replace(merged, title=merged.title + _peak_words(merged.title, peak))
    return merged


def _peak_words(title: str, peak: Finding) -> Text:
    """The snapshot of the peak, and its size if the title has room for a number."""
    at = MomentName(peak.moment or "")
    if len(Text(title).of(Number)) >= MAX_NUMBERS:
        return text(" (higher at {})", at)
    return text(" (peak {} at {})", Bytes(peak.bytes), at)


def _over(finding: Finding, peak: Finding, scale: Scale) -> Finding:
    """Put a resolved finding in the past tense, with its peak.

    The finding becomes a note if its memory was never a large part of RSS.
    """
    was, last = PAST[finding.code], MomentName(scale.last)
    if not was or not peak.bytes:
        return finding
    title = text("{} of {} at {}", Bytes(peak.bytes), was, MomentName(peak.moment or ""))
    if peak.moment != finding.moment:
        title += text(", {} at {}", Bytes(finding.bytes), MomentName(finding.moment or ""))
    is_released = scale.given_back_by(finding) is not None
    rss = scale.rss_bytes.get(peak.moment or "", 0)
    was_large = peak.bytes >= scale.thresholds.large_rss_fraction * rss
    return replace(
        finding,
        missing_call=None,
        severity=finding.severity if was_large else min(finding.severity, Severity.INFO),
        title=title + text(_RELEASED if is_released else _PASSED, last),
        next_step=text(_NOTHING_NOW, MomentName(peak.moment or "")),
    )


MAX_NUMBERS = 3  # per title
_EARLIER_TITLE = "{} (last seen at {})"
PAST = {cause.code: cause.past for cause in CAUSES}
_RELEASED = "; released before {}"
_PASSED = "; no longer significant at {}"  # of a larger whole, it can be as many bytes
_NOTHING_NOW = (
    "Nothing to do now. If the peak matters for a memory limit or for cost, see what ran before {}."
)
