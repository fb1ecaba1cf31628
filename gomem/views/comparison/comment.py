"""A comparison as a comment on a pull request: the verdict, what changed, and one fold.

It begins with a mark that no reader sees, by which a bot finds the comment that it wrote before.
Nobody reads a comment of two hundred lines, so it has at most 40; the page has the rest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.comparison.settings import settings_words
from gomem.comparison.single_values import GC_CPU, REQUEST_RATE, RSS
from gomem.views.comparison import tables
from gomem.views.comparison.document import builds_title, sides_words, verdict_of
from gomem.views.comparison.words import changed_metrics, changed_sites, groups_of, pair_of
from gomem.views.document import Folded, Notes, Section
from gomem.views.share import Hidden, share
from gomem.views.tables import table
from gomem.views.writers.markdown import escaped, section_lines, verdict_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

    from gomem.comparison.builds import BuildComparison
    from gomem.comparison.samples import Comparison
    from gomem.views.document import Block, Verdict

MARK = "<!-- gomem compare -->"
MAX_CHANGED, MAX_BUDGETS, MAX_SITES, MAX_DETAILS = 6, 6, 4, 4
FIRST = (RSS, GC_CPU, REQUEST_RATE)
MAX_CHARACTERS = 60_000  # GitHub takes 65 536


def render_comment(comparison: Comparison, *, before: str, after: str) -> str:
    """The comparison as Markdown for a pull request; `before` and `after` name its sides."""
    settings = settings_words(comparison.settings)
    title = sides_words(before, after, settings)
    sections = [*_budgets(comparison.budgets), *_changed(changed_metrics(comparison))]
    return _written(title, verdict_of(comparison, settings), sections, _folded(comparison))


def render_builds_comment(compared: BuildComparison) -> str:
    """The same of several builds: a line a build, and no table."""
    title, sections = builds_title(compared), [*_budgets(compared.budgets)]
    return _written(title, verdict_of(compared, compared.settings_words), sections, ())


def _written(
    title: str, verdict: Verdict, sections: list[Section], folded: tuple[Block, ...]
) -> str:
    title, verdict, sections, folded = share((title, verdict, sections, folded), Hidden())
    first, *details = verdict_lines(verdict)
    # One list, for a paragraph each would take twice the lines.
    more = len(details) - MAX_DETAILS
    lines = [*details[:MAX_DETAILS], *([f"{more} more in the page"] if more > 0 else [])]
    listed = "\n".join(f"- {line}" for line in lines)
    blocks = [MARK, f"**{escaped(title)}**", first, listed]
    blocks += [line for section in sections for line in section_lines(section)]
    if folded:
        blocks += section_lines(Section("more", "", folded))[1:]
    return "\n\n".join(block for block in blocks if block)[:MAX_CHARACTERS] + "\n"


def _budgets(budgets: pd.DataFrame) -> Iterator[Section]:
    if len(budgets):
        set_here = tables.budget_blocks(budgets.head(MAX_BUDGETS))[0]
        yield Section("budgets", "Budgets", (set_here, *_more(len(budgets), MAX_BUDGETS)))


def _changed(metrics: pd.DataFrame) -> Iterator[Section]:
    """The metrics that changed: those of the verdict, then the largest."""
    if len(metrics):
        sizes = metrics["change"].abs().fillna(float("inf")).astype(float)
        sizes = sizes.mask(metrics["name"].isin(FIRST), float("inf"))
        largest = metrics.loc[sizes.sort_values(ascending=False, kind="stable").index]
        changed = table("What changed", tables.CHANGED, largest.head(MAX_CHANGED))
        yield Section("changed", "What changed", (changed, *_more(len(metrics), MAX_CHANGED)))


def _more(count: int, shown: int) -> tuple[Block, ...]:
    return (Notes((f"{count - shown} more in the page",)),) if count > shown else ()


def _folded(comparison: Comparison) -> tuple[Block, ...]:
    """RSS by owner, and the sites that changed most."""
    blocks: list[Block] = []
    pair = pair_of(comparison, "of_metrics")
    if pair is not None and len(groups := groups_of(comparison, pair)):
        blocks.append(tables.groups_table(groups, pair, noted=False))
    in_use = comparison.sites
    if len(in_use):
        in_use = changed_sites(in_use[in_use["sample_type"] == "inuse_space"])
    if len(in_use):
        blocks.append(tables.sites_table(in_use.head(MAX_SITES), "inuse_space"))
    return (Folded("RSS by owner, allocation sites", tuple(blocks)),) if blocks else ()
