"""The result of a comparison in a sentence: what improved, what it cost, and is it noise?

Settings that differ come first, because they explain more than any line of code. One sentence then
gives the improvement and its cost. It always mentions a rise in RSS of more than 10 %. An
improvement with a cost of 20 % or more makes the verdict "mixed", even with one run per side, where
normal variation of the heap could explain the cost.

With one capture per side there is no p-value. `gomem.comparison.direction` covers that case.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.causes.finding import Severity
from gomem.comparison.causes import GONE, NEW, NOT_COMPARABLE
from gomem.comparison.direction import together
from gomem.comparison.live_heap import live_heap_words
from gomem.comparison.quantities import Quantity, capital, quantities
from gomem.comparison.samples import (
    BENCHMARK,
    BETTER,
    CHANGED,
    CLAIMS,
    NO_CHANGE_SHOWN,
    NO_CLAIM,
    NOTHING_MEASURED,
    SAME,
    TOO_FEW,
    WORSE,
    Judgement,
)
from gomem.comparison.settings import GOGC, GOMEMLIMIT, settings_words
from gomem.diagnosis.same_work import same_work_words
from gomem.inputs.schema import rows_of
from gomem.numbered import Metric, Unit
from gomem.statistics.rank_tests import (
    ALPHA,
    EQUIVALENT,
    MIN_INTERVAL_VALUES,
    MIN_VALUES,
    NO_WORSE,
    most_by_chance,
)
from gomem.text import Count, Text, joined, text
from gomem.units import format_fraction, format_relative

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from gomem.comparison.samples import Comparison
    from gomem.diagnosis.diagnosis import Diagnosis

ONE_RUN = (
    "With one run per side, only large changes of memory and GC stand out from noise. To test "
    f"smaller changes, use {MIN_VALUES} or more runs per side ({MIN_INTERVAL_VALUES} or more for "
    "95 % intervals)."
)

_Part = tuple[str, str]  # one layer's verdict and its sentence
NO_CHANGE_FOR_A_VERDICT = "Of the metrics on both sides ({}), none decides the comparison."
NOT_JUDGED = "The numbers are shown side by side, without a verdict."


def judge(
    comparison: Comparison, before: Sequence[Diagnosis] = (), after: Sequence[Diagnosis] = ()
) -> Judgement:
    """Summarise a comparison; benchmark files have no captures."""
    if comparison.unlike:
        return Judgement(TOO_FEW, comparison.unlike, (NOT_JUDGED,))
    numbers = quantities(comparison, before, after)
    benchmarks, findings = _benchmarks(comparison), _findings(comparison)
    verdicts = {part[0] for part in (benchmarks, findings) if part is not None}
    if BETTER in verdicts | {number.verdict for number in numbers}:
        numbers = [number.as_cost() for number in numbers]
    parts = [
        *((number.verdict, number.sentence) for number in numbers if number.is_memory),
        *([] if benchmarks is None else [benchmarks]),
        *((number.verdict, number.sentence) for number in numbers if not number.is_memory),
        *([] if findings is None else [findings]),
    ]
    aside = _not_comparable(comparison)
    if not parts:
        both = comparison.metrics.dropna(subset=["before_median", "after_median"])["name"]
        words = text(NO_CHANGE_FOR_A_VERDICT, joined(", ", map(Metric, both)))
        said = NOTHING_MEASURED.sentence if both.empty else words
        return Judgement(TOO_FEW, said, tuple(aside))
    first, *others = _said(parts, numbers)
    words = settings_words(comparison.settings)
    live = live_heap_words(comparison.settings, before, after)
    is_said = comparison.settings["name"].isin([GOGC, GOMEMLIMIT]).any()
    paced = same_work_words(before, after) if before and after and not is_said else Text()
    is_single = bool(before) and len(before) + len(after) == 2
    aside += [ONE_RUN] if is_single else []
    return Judgement(
        together([verdict for verdict, _ in parts]),
        text("{}: {}", words, first) if words else first,
        (*filter(None, (live, paced)), *others, *_margin(comparison), *aside),
        has_other_work=bool(live),
    )


def _said(parts: Sequence[_Part], numbers: Sequence[Quantity]) -> list[str]:
    """The sentences: first the trade, then decided changes, then the rest."""
    ranked = sorted(parts, key=lambda part: part[0] in {SAME, TOO_FEW})
    said = [sentence for _, sentence in ranked]
    if trade := _trade(numbers):
        whole = {f"{capital(number.clause)}." for number in numbers if _says(trade, number.clause)}
        said = [trade, *(sentence for sentence in said if sentence not in whole)]
    said = [_with_rise(said[0], numbers), *said[1:]]
    found = parts[-1]
    first = ranked[0][0]
    is_mixed = first in {WORSE, BETTER} and found[0] not in {first, SAME, TOO_FEW}
    if not trade and said[1:] and is_mixed and found[1] in said:
        said.remove(found[1])  # the other side of a mixed verdict
        also = f"{found[1][:1].lower()}{found[1][1:]}"
        said[0] = text("{}; {}", Text(said[0]).removesuffix("."), also)
    return said


def _trade(numbers: Sequence[Quantity]) -> str:
    """The gain and its cost: `GC CPU fell from 31.8 % to 10.5 % for 245 MiB more RSS`.

    Empty without a gain or without a cost.
    """
    gains = [number for number in numbers if number.verdict == BETTER]
    costs = [
        number
        for number in numbers
        if number.verdict == WORSE or (number.has_risen and number not in gains)
    ]
    if not gains or not costs:
        return ""
    gained = " and ".join(gain.clause for gain in gains)
    price = "".join(cost.price for cost in costs)
    worse = " and ".join(cost.clause for cost in costs if not cost.price)
    return f"{capital(gained)}{price}{f', but {worse}' if worse else ''}."


def _says(sentence: str, words: str) -> bool:
    return words.lower() in sentence.lower()


def _with_rise(sentence: str, numbers: Sequence[Quantity]) -> str:
    """Append a rise of memory to the first sentence if it is not mentioned there."""
    unsaid = [
        number.clause
        for number in numbers
        if number.has_risen
        and not _says(sentence, number.clause)
        and not _says(sentence, number.price)
    ]
    if not unsaid:
        return sentence
    return text("{}; {}.", Text(sentence).removesuffix("."), "; ".join(unsaid))


def _benchmarks(comparison: Comparison) -> _Part | None:
    metrics = comparison.metrics
    measured = metrics[metrics["layer"] == BENCHMARK]
    if measured.empty:
        return None
    counts = dict(measured["verdict"].value_counts())
    verdicts = [
        verdict
        for verdict in (BETTER, WORSE)
        if verdict in counts and _is_no_chance(measured, verdict)
    ]
    is_claimed = any(verdict in counts for verdict in CLAIMS)
    by_chance = ", no more than expected by chance" if is_claimed and not verdicts else ""
    unsure = [TOO_FEW] if TOO_FEW in counts or by_chance else []
    sentence = text("{}{}{}.", _counted(counts, comparison), by_chance, _largest(comparison))
    return together([*verdicts, *unsure]), sentence


def _counted(counts: dict[str, int], comparison: Comparison) -> Text:
    """How many benchmark metrics have each verdict."""
    small = f"changed by less than {format_fraction(comparison.least_change)}"
    words = {  # of one metric, of several
        BETTER: ("is better", "are better"),
        WORSE: ("is worse", "are worse"),
        CHANGED: ("changed", "changed"),
        SAME: (small, small),
        NO_CLAIM: ("shows no significant change", "show no significant change"),
        TOO_FEW: ("has too few runs", "have too few runs"),
    }
    said = [
        (count, words[verdict][int(count > 1)])
        for verdict in words
        if (count := counts.get(verdict))
    ]
    (count, first), *others = said
    whole = str(Count(sum(counts.values()), "benchmark metric"))
    begin = f"{count} of {whole}" if others else f"All {whole}" if count > 1 else whole
    *most, last = [f"{begin} {first}", *(f"{count} {rest}" for count, rest in others)]
    return joined(" and ", (joined(", ", most), last) if most else [last])


def _is_no_chance(metrics: pd.DataFrame, verdict: str) -> bool:
    """Whether these changes stand for the whole table, or are too many for chance.

    See `beyond_chance`; at least one of these rows must stand for the table.
    """
    rows = metrics[metrics["verdict"] == verdict]
    if ((rows["p_adjusted"] <= ALPHA) | rows["p_value"].isna()).any():
        return True
    return len(rows) > most_by_chance(int(metrics["p_value"].notna().sum()))


def _largest(comparison: Comparison) -> str:
    row = comparison.largest_claim
    if row is None:
        return ""
    change = format_relative(row["change"], brief=True)
    metrics = comparison.metrics
    alike = (metrics["layer"] == row["layer"]) & (metrics["change"] == row["change"])
    others = int((alike & ~metrics["verdict"].isin(NO_CHANGE_SHOWN)).sum()) - 1
    more = f" and {others} more" if others else ""
    said = "; the largest change is {} ({} {}{})"
    return text(said, change, Metric(row["name"]), Unit(row["unit"]), more)


def _margin(comparison: Comparison) -> list[str]:
    """For how many metrics non-inferiority within the margin is shown."""
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
    """The verdict on new and resolved warnings."""
    new, gone = (_warnings(comparison, state) for state in (NEW, GONE))
    if not new and not gone:
        return None
    noun = "warning" if len(new or gone) == 1 else "warnings"
    if new:
        words = f"New {noun}: {', '.join(new)}{'; gone: ' * bool(gone)}{', '.join(gone)}."
    else:
        words = f"{noun.capitalize()} gone: {', '.join(gone)}."
    verdict = together([WORSE] * bool(new) + [BETTER] * bool(gone))
    return verdict, words


def _not_comparable(comparison: Comparison) -> list[str]:
    """Warnings of one side for which the other side has no evidence."""
    codes = ", ".join(_warnings(comparison, NOT_COMPARABLE))
    said = f"Not comparable: {codes}. Only one side has the files for this."
    return [said] if codes else []


def _warnings(comparison: Comparison, state: str) -> list[str]:
    """The codes of the warnings in a state."""
    return [
        row["code"]
        for row in rows_of(comparison.findings)
        if row["state"] == state and row["severity"] != str(Severity.INFO)
    ]
