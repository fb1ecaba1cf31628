"""A comparison as a comment on a pull request: the verdict, the changes, and one fold.

It begins with an invisible marker, by which a bot finds its earlier comment. A comment has at most
40 lines, because longer ones are not read; the HTML page has the rest.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gomem.comparison.budgets import BROKEN, CANNOT_TELL, MET
from gomem.comparison.settings import settings_words
from gomem.comparison.single_values import RSS
from gomem.inputs.schema import rows_of
from gomem.views.comparison import tables
from gomem.views.comparison.document import (
    OUTCOMES,
    SHOWN,
    builds_title,
    sides_words,
    verdict_of,
)
from gomem.views.comparison.opening import changed_table
from gomem.views.comparison.sites import sites_table
from gomem.views.comparison.words import changed_metrics, changed_sites, groups_of, of_all, pair_of
from gomem.views.document import Block, Folded, Table, Verdict
from gomem.views.share import Hidden, share
from gomem.views.tables import table
from gomem.views.writers.markdown import block_lines, escaped, verdict_lines

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd

    from gomem.comparison.builds import BuildComparison
    from gomem.comparison.samples import Comparison

MARK = "<!-- gomem compare -->"
MAX_LINES, MAX_FOLDED = 40, 15  # of the comment, and of the fold with its blank lines
MAX_DETAILS, MAX_BUDGETS, MAX_BUILDS, MAX_OWNERS, MAX_SITES = 4, 4, 10, 4, 3
STATES = (BROKEN, CANNOT_TELL, MET)  # of budgets, in order of display
MAX_CHARACTERS = 60_000  # GitHub's limit is 65 536
WHOLE_PAGE = "The whole page: `gomem compare {} -o compare.html`"


def render_comment(
    comparison: Comparison, *, before: str, after: str, hidden: Hidden = SHOWN
) -> str:
    """Write the comparison as Markdown for a pull request; `before` and `after` name the sides."""
    settings = settings_words(comparison.settings)
    title = sides_words(before, after, settings)
    shown = [*_budgets(comparison.budgets), *changed_table(changed_metrics(comparison))]
    verdict = verdict_of(comparison, settings)
    finished = share((title, verdict, shown, _folded(comparison)), hidden)
    return _written(*finished, "BEFORE AFTER")


def render_builds_comment(compared: BuildComparison, *, hidden: Hidden = SHOWN) -> str:
    """Write a comparison of several builds as Markdown, with a table row per build."""
    verdict = verdict_of(compared, compared.settings_words)
    shown = [*_budgets(compared.budgets), *_builds(compared)]
    finished = share((builds_title(compared), verdict, shown), hidden)
    return _written(*finished, (), "BASELINE BUILD…")


def _written(
    title: str, verdict: Verdict, shown: Sequence[Table], folded: Sequence[Table], sides: str
) -> str:
    first, *details = verdict_lines(verdict)
    # A list, because paragraphs would take twice as many lines.
    more = len(details) - MAX_DETAILS
    lines = [*details[:MAX_DETAILS], *([f"{more} more on the page"] if more > 0 else [])]
    blocks = [MARK, f"**{escaped(title)}**", first, "\n".join(f"- {line}" for line in lines)]
    for block in shown:
        blocks += [f"**{escaped(block.caption)}**", *block_lines([block])]
    last = WHOLE_PAGE.format(sides)
    room = MAX_LINES - _height([*blocks, last])
    blocks += [*block_lines(_fitting(folded, min(room, MAX_FOLDED))), last]
    return "\n\n".join(block for block in blocks if block)[:MAX_CHARACTERS] + "\n"


def _height(blocks: Sequence[str]) -> int:
    """The number of lines of blocks, with blank lines between them."""
    return sum(block.count("\n") + 2 for block in blocks if block)


def _fitting(folded: Sequence[Table], room: int) -> tuple[Block, ...]:
    """As many tables as fit into one fold; empty if the first does not fit."""
    for count in range(len(folded), 0, -1):
        shown = tuple(folded[:count])
        fold = Folded(" and ".join(block.caption for block in shown), shown)
        if _height(block_lines([fold])) <= room:
            return (fold,)
    return ()


def _budgets(budgets: pd.DataFrame) -> list[Table]:
    """The budgets, broken ones first."""
    if budgets.empty:
        return []
    ranked = sorted(rows_of(budgets), key=lambda row: STATES.index(row["state"]))
    shown = tables.budget_table(ranked[:MAX_BUDGETS], has_builds="build" in budgets)
    return [replace(shown, caption=of_all("Budgets", MAX_BUDGETS, len(ranked)))]


def _builds(compared: BuildComparison) -> list[Table]:
    """Each build's RSS and verdict; builds with a verdict first."""
    metrics = compared.metrics
    rss = rows_of(metrics[metrics["name"] == RSS])
    if not rss:
        return []
    baseline, *builds = rss
    order = list(OUTCOMES)
    said = {name: comparison.judgement.verdict for name, comparison in compared.comparisons.items()}
    ranked = sorted(builds, key=lambda row: order.index(said[row["build"]]))
    rows = [
        row | {"said": OUTCOMES[said[row["build"]]][1] if row["build"] in said else "baseline"}
        for row in [baseline, *ranked]
    ]
    caption = of_all("RSS by build", MAX_BUILDS, len(rows))
    return [table(caption, tables.BUILD_RSS, rows[:MAX_BUILDS])]


def _folded(comparison: Comparison) -> list[Table]:
    """RSS by owner, and the sites that changed most."""
    folded: list[Table] = []
    pair = pair_of(comparison, "of_metrics")
    if pair is not None and len(groups := groups_of(comparison, pair)):
        moved = (groups["change_low"] + groups["change_high"]).abs().to_numpy(float)
        most = groups.iloc[(-moved).argsort(kind="stable")].head(MAX_OWNERS)
        folded.append(tables.groups_table(most, pair, noted=False))
    in_use = comparison.sites
    if len(in_use):
        in_use = changed_sites(in_use[in_use["sample_type"] == "inuse_space"])
    if len(in_use):
        folded.append(sites_table(in_use.head(MAX_SITES), "allocation sites, inuse_space"))
    return folded
