"""A comparison as a comment on a pull request: what decides first, the rest folded away.

It begins with a mark that no reader sees, by which a bot finds the comment that it wrote before.
Hosts take no comment longer than 65 536 characters; what does not fit is left out, and said.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.views.comparison.document import comparison_document
from gomem.views.comparison.tables import changed_table
from gomem.views.comparison.words import changed_metrics
from gomem.views.document import Section
from gomem.views.writers.markdown import escaped, section_lines, verdict_lines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gomem.comparison.samples import Comparison
    from gomem.views.document import Document

MARK = "<!-- gomem compare -->"
LONGEST = 60_000  # characters; GitHub takes 65 536
OPEN = ("budgets",)  # sections that are not folded
LEFT_OUT = "More than a comment holds was left out: {}."


def render_comment(comparison: Comparison, *, before: str, after: str) -> str:
    """The comparison as Markdown for a pull request.

    Args:
        comparison: The answer.
        before: What was compared, by name.
        after: With what, by name.
    """
    changed = changed_metrics(comparison)
    first = Section("changed", "What changed", (changed_table(changed),))
    document = comparison_document(comparison, before=before, after=after)
    return render_document(document, section_lines(first) if len(changed) else [])


def render_document(document: Document, first: Sequence[str] = ()) -> str:
    """A document with a verdict as a comment, what is open below that first."""
    assert document.verdict is not None
    sides = " → ".join(escaped(value) for _, value in document.facts)
    blocks = [MARK, *verdict_lines(document.verdict), sides, *first]
    left: list[str] = []
    for section in document.sections:
        lines = section_lines(section)
        if section.name not in OPEN:
            lines = [
                f"<details><summary>{escaped(section.heading)}</summary>",
                *lines[1:],
                "</details>",
            ]
        if sum(map(len, [*blocks, *lines])) + 2 * len([*blocks, *lines]) > LONGEST:
            left.append(section.heading)
        else:
            blocks += lines
    blocks += [LEFT_OUT.format(escaped(", ".join(left)))] if left else []
    blocks.append(f"Made by {escaped(document.made_by)}.")
    return "\n\n".join(blocks) + "\n"
