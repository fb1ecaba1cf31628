"""What a comparison comes down to, in a sentence: what changed, by how much, why, and is it noise?

The sentence is made of the change of the ledger, of the collector's share of the CPU, of the
benchmarks, and of the causes that are new or gone. One capture a side has no p; what it can tell
is in `gomem.comparison.direction`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gomem.causes.finding import Severity
from gomem.comparison.direction import direction, together
from gomem.comparison.load_values import REQUEST_RATE
from gomem.comparison.samples import (
    BENCHMARK,
    BETTER,
    EQUIVALENT,
    NO_CLAIM,
    NO_WORSE,
    NOTHING_MEASURED,
    SAME,
    TOO_FEW,
    WORSE,
    Judgement,
)
from gomem.comparison.single_values import GC_CPU, HEAP, LEAST_CPU, RSS
from gomem.diagnosis.findings import OF_DATA
from gomem.inputs.schema import Column, build_rows, rows_of
from gomem.statistics.rank_tests import ALPHA, most_by_chance
from gomem.units import format_bytes, format_fraction, format_relative, is_unknown

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from gomem.analysis.memory.ledger_change import LedgerChange
    from gomem.causes.finding import Finding
    from gomem.comparison.samples import Comparison
    from gomem.diagnosis.diagnosis import Diagnosis

NEW, GONE = "new", "gone"
STATES = (NEW, GONE, SAME)
FINDINGS = (
    Column("code", "str", "", "The cause."),
    Column("state", "str", "", "new, gone, or same: on both sides."),
    Column("severity", "str", "", "How much it matters; before, if it is gone."),
    Column("title", "str", "", "It in plain words, with its number; before, if it is gone."),
)
LEAST_COLLECTIONS = 20  # none of a start-up's, for the collector's share of the CPU to count
OF_RUNS = (
    "Memory and collector are of one capture a side, which cannot say how much two runs of one "
    "program differ: give more of each."
)
_NO_CHANGE = {TOO_FEW: "too few runs can tell", SAME: "too small a change to matter"}
_VERB = {BETTER: "fell", WORSE: "rose"}


def findings_compared(before: Diagnosis, after: Diagnosis) -> pd.DataFrame:
    """Which causes are new, gone, or on both sides; see `FINDINGS`. Those about data are left out.

    Args:
        before: The answers about one side.
        after: Those about the other, held against it.
    """
    old, new = (_causes(one) for one in (before, after))
    rows = [_row(new[code], NEW if code not in old else SAME) for code in new]
    rows += [_row(old[code], GONE) for code in old if code not in new]
    return build_rows(rows, FINDINGS)


def _causes(diagnosis: Diagnosis) -> dict[str, Finding]:
    return {one.code: one for one in diagnosis.findings if not one.code.startswith(OF_DATA)}


def _row(finding: Finding, state: str) -> tuple[str, str, str, str]:
    return finding.code, state, str(finding.severity), finding.title


def judge(
    comparison: Comparison,
    before: Sequence[Diagnosis] = (),
    after: Sequence[Diagnosis] = (),
) -> Judgement:
    """What a comparison comes down to.

    Args:
        comparison: Its numbers.
        before: The captures of one side; none if benchmark files were compared.
        after: Those of the other.
    """
    memory = _memory(comparison, before, after)
    parts = [
        part
        for part in (
            memory,
            _benchmarks(comparison),
            _load(comparison),
            _collector(comparison, None if memory is None else memory[0]),
            _findings(comparison),
        )
        if part is not None
    ]
    if not parts:
        return NOTHING_MEASURED
    verdict = together([one for one, _ in parts])
    said = [sentence for _, sentence in sorted(parts, key=lambda part: part[0] in {SAME, TOO_FEW})]
    single = bool(before) and len(before) + len(after) == 2
    details = (*said[1:], *_margin(comparison), *([OF_RUNS] if single else []))
    return Judgement(verdict, said[0], details)


_Part = tuple[str, str]  # a verdict of one layer, and its sentence


def _memory(
    comparison: Comparison, before: Sequence[Diagnosis], after: Sequence[Diagnosis]
) -> _Part | None:
    """RSS with what moved it; heap objects where no file on one side says how much is resident."""
    row = _metric(comparison, RSS)
    if row is None:
        row = _metric(comparison, HEAP)
        return None if row is None else _heap(row)
    series = [
        [facts.rss_bytes for facts in side[0].moments if facts.rss_bytes is not None]
        for side in (before, after)
    ]
    verdict = row["verdict"]
    if verdict == TOO_FEW:
        verdict = direction(
            row["before_median"],
            row["after_median"],
            before_series=series[0],
            after_series=series[1],
        )
    return _of_metric(verdict), _rss_sentence(row, verdict, comparison.change)


def _rss_sentence(row: dict[str, Any], verdict: str, change: LedgerChange | None) -> str:
    sizes = [format_bytes(row[f"{side}_median"]) for side in ("before", "after")]
    several = "" if row["before_n"] + row["after_n"] == 2 else " (medians)"
    if verdict in {SAME, NO_CLAIM}:
        return f"RSS is about the same: {sizes[0]} before, {sizes[1]} after{several}."
    span = f"from {sizes[0]} to {sizes[1]} ({format_relative(row['change'])}){several}"
    known = change is not None and change.verdict != "unknown"
    if change is None or several or not known:
        of_middle = f" In the middle runs, {change.sentence}." if change and known else ""
        return f"RSS {'rose' if row['difference'] > 0 else 'fell'} {span}.{of_middle}"
    return f"F{span[1:]}, {change.sentence}."


def _heap(row: dict[str, Any]) -> _Part:
    verdict = row["verdict"]
    if verdict == TOO_FEW:
        verdict = direction(row["before_median"], row["after_median"])
    sizes = [format_bytes(row[f"{side}_median"]) for side in ("before", "after")]
    sentence = (
        f"Heap objects take {sizes[1]}, and took {sizes[0]} before; RSS is not on both sides."
    )
    return _of_metric(verdict), sentence


def _of_metric(verdict: str) -> str:
    """A metric's verdict as one of a comparison: what may be noise is no change."""
    return SAME if verdict == NO_CLAIM else verdict


def _load(comparison: Comparison) -> _Part | None:
    """How many requests were answered a second, where a load test is on both sides."""
    row = _metric(comparison, REQUEST_RATE)
    if row is None:
        return None
    verdict = row["verdict"]
    if verdict == TOO_FEW:
        verdict = direction(row["after_median"], row["before_median"], least=0.0)
    rates = [f"{row[f'{side}_median']:.3g}" for side in ("before", "after")]
    if verdict not in {BETTER, WORSE}:
        sides = f"{rates[0]} before, {rates[1]} after"
        why = _NO_CHANGE.get(verdict, "no change beyond noise")
        return _of_metric(verdict), f"Requests a second: {sides}; {why}."
    verb = "rose" if verdict == BETTER else "fell"
    change = format_relative(row["change"])
    return verdict, f"Requests a second {verb} from {rates[0]} to {rates[1]} ({change})."


def _collector(comparison: Comparison, memory: str | None) -> _Part | None:
    """The collector's share of the CPU, where it means anything, with what RSS paid for it."""
    row = _metric(comparison, GC_CPU)
    if row is None or GC_CPU in comparison.too_little:
        return None
    verdict = row["verdict"]
    if verdict == TOO_FEW:
        verdict = direction(row["before_median"], row["after_median"], least=LEAST_CPU)
    if verdict not in _VERB:
        return None
    shares = [format_fraction(row[f"{side}_median"]) for side in ("before", "after")]
    price = _price(comparison, verdict, memory)
    return verdict, f"GC CPU {_VERB[verdict]} from {shares[0]} to {shares[1]}{price}."


def _price(comparison: Comparison, verdict: str, memory: str | None) -> str:
    """What RSS did the other way."""
    rss = _metric(comparison, RSS)
    if rss is None or {verdict, memory} != {BETTER, WORSE}:
        return ""
    more = "more" if rss["difference"] > 0 else "less"
    return f" for {format_bytes(abs(rss['difference']))} {more} RSS"


def _benchmarks(comparison: Comparison) -> _Part | None:
    metrics = comparison.metrics
    measured = metrics[metrics["layer"] == BENCHMARK]
    if measured.empty:
        return None
    counts = measured["verdict"].value_counts()
    found = [f"{counts[one]} {one}" for one in (BETTER, WORSE, "changed") if one in counts]
    rest = [
        f"{counts[one]} {words}"
        for one, words in (
            (SAME, f"the same but for less than {format_fraction(comparison.least_change)}"),
            (NO_CLAIM, "may be noise"),
            (TOO_FEW, "measured too few times to tell"),
        )
        if one in counts
    ]
    noun = "benchmark metric" if len(measured) == 1 else "benchmark metrics"
    verdicts = [one for one in (BETTER, WORSE) if one in counts and _is_no_chance(measured, one)]
    by_chance = "" if verdicts or not found else ", no more than chance alone makes"
    sentence = f"{len(measured)} {noun}: {', '.join([*found, *rest])}{by_chance}"
    unsure = [TOO_FEW] if TOO_FEW in counts or by_chance else []
    return together([*verdicts, *unsure]), f"{sentence}{_largest(comparison)}."


def _is_no_chance(metrics: pd.DataFrame, verdict: str) -> bool:
    """Whether some of these changes stand for the whole table, or they are too many for chance.

    See `beyond_chance`; of these rows one has to stand for the table.
    """
    rows = metrics[metrics["verdict"] == verdict]
    if ((rows["p_adjusted"] <= ALPHA) | rows["p_value"].isna()).any():
        return True
    return len(rows) > most_by_chance(int(metrics["p_value"].notna().sum()))


def _largest(comparison: Comparison) -> str:
    row = comparison.largest_claim
    if row is None:
        return ""
    return f"; the largest change is {row['name']}, {row['unit']}, {format_relative(row['change'])}"


def _margin(comparison: Comparison) -> list[str]:
    """Of how many metrics it is shown that they are no worse than was asked."""
    if comparison.margin is None:
        return []
    asked = comparison.metrics["equivalence"].dropna()
    if asked.empty:
        return []
    shown = asked.isin([NO_WORSE, EQUIVALENT]).sum()
    equal = (asked == EQUIVALENT).sum()
    within = format_fraction(comparison.margin)
    of_them = f" ({equal} equivalent)" if equal else ""
    return [f"No worse than {within}: shown for {shown} of {len(asked)} metrics{of_them}."]


def _findings(comparison: Comparison) -> _Part | None:
    """Warnings that are new, or gone."""
    found = comparison.findings
    if found.empty:
        return None
    warns = found[found["severity"] != str(Severity.INFO)]
    new, gone = (warns.loc[warns["state"] == state, "code"].tolist() for state in (NEW, GONE))
    words = [f"new: {', '.join(new)}"] * bool(new) + [f"gone: {', '.join(gone)}"] * bool(gone)
    if not words:
        return None
    verdict = together([WORSE] * bool(new) + [BETTER] * bool(gone))
    return verdict, f"Warnings {'; '.join(words)}."


def _metric(comparison: Comparison, name: str) -> dict[str, Any] | None:
    """A level that both sides have."""
    metrics = comparison.metrics
    rows = rows_of(metrics[(metrics["name"] == name) & (metrics["layer"] != BENCHMARK)])
    known = (row for row in rows if not is_unknown(row["difference"]))
    return next(known, None)
