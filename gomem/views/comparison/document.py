"""A comparison as a document: first the result, then the numbers behind it."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from gomem.capture.wanted import GC_LOG
from gomem.comparison.budgets import MET
from gomem.comparison.causes import STATES
from gomem.comparison.settings import ARROW, settings_words
from gomem.comparison.sites import REQUEST, RUNS_NOTE, SAMPLING_NOTE, SECONDS_NOTE
from gomem.errors import counted_places
from gomem.inputs.schema import rows_of
from gomem.numbered import Build
from gomem.text import MomentName, Text, joined, text
from gomem.units import format_bytes, format_fraction, format_seconds, is_unknown
from gomem.views.comparison import tables, words
from gomem.views.comparison.opening import opening, size_of
from gomem.views.comparison.sites import LEGEND, site_change, sites_table
from gomem.views.damage import damage_section
from gomem.views.document import (
    Document,
    Figure,
    Folded,
    Notes,
    Paragraph,
    Part,
    Section,
    Verdict,
    sections_of,
)
from gomem.views.figures.benchmarks import have_multiples, plot_benchmarks
from gomem.views.figures.dumbbells import plot_dumbbells
from gomem.views.figures.ledger_change import plot_ledger_change
from gomem.views.figures.site_changes import plot_site_changes
from gomem.views.report.flames import change_flames
from gomem.views.share import Hidden, share
from gomem.views.tables import table
from gomem.views.titles import field_title
from gomem.views.words import how_many, minus_signs

if TYPE_CHECKING:
    import pandas as pd

    from gomem.comparison.builds import BuildComparison
    from gomem.comparison.samples import Comparison
    from gomem.views.document import Block, Tone

KIND = "Go memory comparison"
DUMBBELLS = (
    "Each metric as a multiple of its value before, on a log scale: ×2 and ×0.5 are equally far."
)
MAX_TITLE = 60  # characters of settings in the title; longer settings are only in the sentence
NOISE_SHOWN = 20  # sites within noise, with the largest differences
SITES_SHOWN = 10  # changed sites; the others are summed up in a row
NAMED = 3  # sites in a note
NO_LEDGER = "No file here says where memory is; add /proc/PID/smaps on each side"
NO_BENCHMARK = "No benchmark here; run go test -bench=. -count=10 on each side"
NO_MEMORY = "No capture has the size of the process; add /proc/PID/smaps or runtime.MemStats"
NO_LOG = f"No gctrace log here; run {GC_LOG.command()} on each side"
NO_LOAD = "No load test here; add what ab, hey, wrk or vegeta printed to each capture"
ALL_READ = "Everything was read"
SHOWN = Hidden()  # hides only home directories
NOTHING_SAID = Text()
# Document titles.
OUTCOMES: dict[str, tuple[Tone, str]] = {
    "worse": ("warning", "worse"),
    "mixed": ("warning", "mixed"),
    "better": ("good", "better"),
    "same": ("neutral", "no change"),
    "?": ("neutral", "undecided"),
}


def comparison_document(
    comparison: Comparison, *, before: str, after: str, hidden: Hidden = SHOWN
) -> Document:
    """Build the document; `before` and `after` name the sides; see `share` for `hidden`."""
    settings = settings_words(comparison.settings)
    titled = Text() if comparison.judgement.has_other_work else settings
    document = Document(
        kind=KIND,
        title=title_of(before, after, titled, comparison.process_seconds),
        facts=words.covered(comparison, before, after),
        verdict=replace(verdict_of(comparison, titled), size=size_of(comparison)),
        sections=sections_of(SECTIONS, comparison),
        made_by=f"gomem {version('gomem')}",
        opening=opening(comparison, before, after),
    )
    return share(document, hidden)


def title_of(before: str, after: str, settings: str, process_seconds: float | None = None) -> str:
    """Title of the difference: releases or settings; else the names of the sides.

    One process at two times (`process_seconds` apart) is named with this time.
    """
    if process_seconds is not None:
        apart = format_seconds(abs(process_seconds), brief=True)
        earlier = ", the second capture is the earlier one" if process_seconds < 0 else ""
        return f"{before} {ARROW} {after}: the same process, {apart} apart{earlier}"
    return settings if 0 < len(settings) <= MAX_TITLE else f"{before} {ARROW} {after}"


def sides_words(before: str, after: str, settings: Text) -> Text:
    """The sides and the settings that differ: `old → new: GOGC 100 → 400`."""
    sides = Text(f"{before} {ARROW} {after}")
    return text("{}: {}", sides, settings) if settings else sides


def builds_title(compared: BuildComparison) -> Text:
    """The builds, the baseline and the settings that differ."""
    count, settings = how_many(len(compared.comparisons), "build"), compared.settings_words
    builds = text("{} compared with {}", count, Build(compared.baseline))
    return text("{}: {}", builds, settings) if settings else builds


def verdict_of(comparison: Comparison | BuildComparison, titled: Text = NOTHING_SAID) -> Verdict:
    """The judgement, with budgets and the number of unreadable places.

    Settings that are already in the title (`titled`) are not repeated.
    """
    judgement = comparison.judgement
    tone, label = OUTCOMES[judgement.verdict]
    sentence = Text(judgement.sentence)
    if titled and sentence.startswith(f"{titled}: "):
        sentence = sentence.removeprefix(text("{}: ", titled)).capitalised()
    details = [*filter(None, [comparison.budgets_summary]), *judgement.details]
    details += [text("{}.", places) for places in counted_places(comparison.damaged)]
    return Verdict(tone, label, minus_signs(sentence), tuple(map(minus_signs, details)))


def _budgets_section(comparison: Comparison) -> Section | None:
    if comparison.budgets.empty:
        return None
    is_open = (comparison.budgets["state"] != MET).any()
    return Section(
        "budgets",
        "Budgets",
        tables.budget_blocks(comparison.budgets),
        gist=minus_signs(comparison.budgets_summary.removesuffix(".")),
        opened=bool(is_open),
    )


def _findings_section(comparison: Comparison) -> Section | None:
    if comparison.findings.empty:
        return None
    gist = "; ".join(
        f"{tables.state_word(state)}: {', '.join(rows['code'])}"
        for state in STATES
        if len(rows := comparison.findings[comparison.findings["state"] == state])
    )
    has_several = bool(words.of_runs(comparison))
    found = tables.findings_table(comparison.findings, has_several=has_several)
    return Section("findings", "Findings", (found,), gist=gist)


def _benchmarks_section(comparison: Comparison) -> Section | None:
    benchmarks = words.metrics_of(comparison, "")
    if benchmarks.empty:
        return None
    blocks = tables.benchmark_blocks(comparison)
    if have_multiples(benchmarks).any():
        caption = "Medians with 95 % intervals, as multiples of the median before."
        blocks = (Figure(caption, plot_benchmarks, lambda: {"metrics": benchmarks}), *blocks)
    is_alone = comparison.change is None
    return Section("benchmarks", "Benchmarks", blocks, gist=_counted(benchmarks), opened=is_alone)


def _levels_section(layer: str, heading: str, comparison: Comparison) -> Section | None:
    """A layer's section: dumbbells of the changes, and a table of all metrics."""
    metrics = words.metrics_of(comparison, layer)
    if metrics.empty:
        return None
    pair = words.pair_of(comparison, "of_metrics") if layer == words.MEMORY else None
    blocks: tuple[Block, ...] = ()
    for label, rows in _labelled(metrics, layer, pair, comparison):
        blocks += tables.level_blocks(rows, label) if len(rows) else ()
    moved = metrics[have_multiples(metrics) & (metrics["change"].fillna(0).abs() >= words.SEEN)]
    if len(moved):
        titles = {name: field_title(name) for name in moved["name"]}
        named = {"metrics": moved, "titles": titles, "name": f"dumbbells-{layer}"}
        blocks = (Figure(DUMBBELLS, plot_dumbbells, lambda: named), *blocks)
    return Section(layer, _heading(heading, pair), blocks, gist=_counted(metrics))


def _labelled(
    metrics: pd.DataFrame, layer: str, pair: words.Pair | None, comparison: Comparison
) -> tuple[tuple[str, pd.DataFrame], ...]:
    """A layer's metrics with a label; GC metrics split into counters and the whole log."""
    if layer == words.MEMORY:
        return ((_heading("memory", pair), metrics),)
    if layer == words.LOAD:
        return (("load", metrics),)
    is_counted = metrics["name"].isin(comparison.by_counters)
    between = words.between_moments(comparison)
    of_log = "GC over the whole log", metrics[~is_counted]
    return (text("GC {}", between), metrics[is_counted]), of_log


def _ledger_section(comparison: Comparison) -> Section | None:
    """RSS and its parts at all moments; folded, except at the moment of the metrics."""
    pair, known = words.pair_of(comparison, "of_metrics"), comparison.moments
    if pair is None or known.empty:
        return None
    blocks: list[Block] = []
    if comparison.change is not None:
        sides = {"before": MomentName(pair.before), "after": MomentName(pair.after)}
        moved = {"change": comparison.change.ledger, **sides}
        of = words.of_runs(comparison)
        caption = (
            f"Parts that rose are on the right, parts that fell on the left. Their sum is the "
            f"change of RSS{of}."
        )
        blocks.append(Figure(caption, plot_ledger_change, lambda: moved))
    by_snapshot = "RSS by snapshot, medians" if words.of_runs(comparison) else "RSS by snapshot"
    blocks += [table(by_snapshot, tables.MOMENTS, known)] if len(known) > 1 else []
    blocks += _parts(comparison, pair)
    for row in rows_of(known[known["change_bytes"].notna() & ~known["of_metrics"]]):
        at, sizes = words.Pair(row["before"], row["after"]), _rss(row)
        if parts := _parts(comparison, at):
            blocks.append(Folded(text("{}: RSS {} before, {} after", at.words, *sizes), parts))
    if not blocks:
        return None
    gist = f" {ARROW} ".join(_rss(rows_of(known[known["of_metrics"]])[0]))
    return Section("ledger", "RSS", tuple(blocks), gist=gist)


def _rss(moment: dict[str, Any]) -> list[str]:
    return [format_bytes(moment[f"{side}_rss_bytes"]) for side in tables.SIDES]


def _parts(comparison: Comparison, pair: words.Pair) -> tuple[Block, ...]:
    parts, groups = words.ledger_of(comparison, pair), words.groups_of(comparison, pair)
    runs = words.of_runs(comparison)
    whose = (tables.groups_table(groups, pair, runs),) if len(groups) else ()
    if parts.empty:
        return whose
    exact = table(text("RSS by part at {}{}", pair.words, runs), tables.PARTS, parts)
    return (*whose, Folded("Part by part, to the byte", (exact,)))


def _sites_section(comparison: Comparison) -> Section | None:
    sites, pair = comparison.sites, words.pair_of(comparison, "of_sites")
    if sites.empty:
        return None
    blocks: list[Block] = []
    allocated = words.of_type(comparison.sites, words.ALLOCATED)
    is_covered = not (allocated["note"] != "").any() if len(allocated) else True
    if len(allocated) and is_covered:
        caption = "Bytes allocated since the start, by the sites that changed most."
        blocks.append(Figure(caption, plot_site_changes, lambda: {"sites": allocated}))
    means = ", mean of the runs" if words.of_runs(comparison) else ""
    why_rates = Paragraph(Text(SECONDS_NOTE).sentence())
    for name in words.SAMPLE_TYPES:
        shown = _site_blocks(words.of_type(comparison.sites, name), f"{name}{means}")
        if len(rates := words.of_type(comparison.site_rates, name)):
            per = rates["per"].iloc[0]
            rates = rates.assign(unit=rates["unit"] + ("/s" if per == "second" else f"/{per}"))
            by_rate = _site_blocks(rates, f"{name} per {per}, estimated from heap profiles")
            if per == REQUEST:
                shown = [*by_rate, Folded(f"{name}, since the start", tuple(shown))]
            else:
                is_said = any(block == why_rates for block in blocks)
                shown += [*([] if is_said else [why_rates]), *by_rate]
        blocks += shown
    if _has_changed_sites(comparison):
        blocks.append(Notes((LEGEND,)))
    else:
        named = [block for block in blocks if not isinstance(block, Paragraph)]
        noise = "No allocation site changed beyond sampling noise."
        said = noise if is_covered else "The profiles do not show which allocation sites changed."
        blocks = [Paragraph(said), *named]
    blocks += change_flames(comparison.change_trees) if is_covered else ()
    gist = words.states_counted(allocated) if len(allocated) else ""
    return Section("allocations", _heading("Allocation sites", pair), tuple(blocks), gist=gist)


def _has_changed_sites(comparison: Comparison) -> bool:
    known = (rows for rows in (comparison.sites, comparison.site_rates) if len(rows))
    return any(len(words.changed_sites(rows)) for rows in known)


def _site_blocks(sites: pd.DataFrame, sample_type: str) -> list[Block]:
    """Changed sites, with rows that sum to the total; sites within noise are folded."""
    if sites.empty:
        return []
    changed = words.changed_sites(sites)
    noise = sites[(sites["state"] == words.NO_CLAIM) & (sites["note"] == "")]
    counted = f"{sample_type}: {words.states_counted(sites)}"
    if changed.empty:
        blocks: list[Block] = [Paragraph(counted)]
    else:
        caption = f"{sample_type}, sites that changed"
        blocks = [Paragraph(counted), sites_table(changed, caption, sites, SITES_SHOWN)]
        if len(changed) > SITES_SHOWN:
            every = sites_table(changed, f"{caption}, all")
            blocks.append(Folded(f"{sample_type}: all {len(changed)} that changed", (every,)))
    # Sites that changed beyond sampling noise but are not reported, with the reason.
    moved, lines = sites[(sites["state"] == words.NO_CLAIM) & (sites["note"] != "")], []
    for note, rows in moved.groupby("note", sort=False):
        first = rows_of(rows.head(NAMED))
        named: list[str] = [text("{} {}", row["function"], site_change(row)) for row in first]
        named += [f"{len(rows) - NAMED} more"] if len(rows) > NAMED else []
        said = text("{}, not compared: {} ({})", sample_type, joined(", ", named), note)
        lines.append(minus_signs(said))
    blocks += [Notes(tuple(lines))] if lines else []
    if len(noise):
        largest = noise.head(NOISE_SHOWN)
        within = sites_table(largest, f"{sample_type}, within sampling noise")
        more = f", the largest {NOISE_SHOWN}" if len(noise) > NOISE_SHOWN else ""
        summary = f"{sample_type}: {len(noise)} within sampling noise{more}"
        blocks.append(Folded(summary, (within, Notes((LEGEND,)))))
    return blocks


def _notes_section(comparison: Comparison) -> Section | None:
    unused = set() if _has_changed_sites(comparison) else {SAMPLING_NOTE, RUNS_NOTE}
    unused |= {SECONDS_NOTE}  # which is said where the rates are
    known = [note for note in dict.fromkeys(comparison.notes) if not is_unknown(note)]
    notes = [note for note in known if note not in unused]
    read = rows_of(comparison.settings)
    notes += [text("{}: from {}", row["name"], row["source"]) for row in read]
    gist = how_many(len(notes), "note")
    return Section("notes", "Notes", (Notes(tuple(notes)),), gist=gist) if notes else None


def unread_section(comparison: Comparison | BuildComparison) -> Section | None:
    """Unreadable files, folded."""
    section, count = damage_section(comparison.damaged), len(comparison.damaged)
    return None if section is None else replace(section, gist=how_many(count, "place"))


def _counted(metrics: pd.DataFrame) -> str:
    """The number of metrics, and how many changed; with one run per side, how many moved."""
    said = how_many(len(metrics), "metric")
    if changed := int((~metrics["verdict"].isin(words.NO_CHANGE)).sum()):
        return f"{said}, {changed} changed"
    if words.are_single(metrics):
        moved = int((metrics["change"].abs().fillna(0) >= words.MOVED).sum())
        return (
            f"{said}, {moved or 'none'} moved by {format_fraction(words.MOVED, brief=True)} or more"
        )
    return f"{said}, none changed beyond noise"


def _heading(what: str, pair: words.Pair | None) -> Text:
    return text("{} at {}", what, pair.words) if pair else Text(what)


SECTIONS: tuple[Part[Comparison], ...] = (
    Part("budgets", _budgets_section, "No budget was set; see --fail-on"),
    Part("findings", _findings_section, "No known cause fits either side"),
    Part("ledger", _ledger_section, NO_LEDGER),
    Part("benchmarks", _benchmarks_section, NO_BENCHMARK),
    Part("memory", partial(_levels_section, words.MEMORY, "Memory"), NO_MEMORY),
    Part("collector", partial(_levels_section, words.COLLECTOR, "GC"), NO_LOG),
    Part("load", partial(_levels_section, words.LOAD, "Load test"), NO_LOAD),
    Part("sites", _sites_section, "No heap profile on both sides; add one to each"),
    Part("notes", _notes_section, "No notes"),
    Part("damage", unread_section, ALL_READ),
)
