"""A comparison as Markdown, to be pasted into a pull request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.views.comparison.document import build_comparison_page
from gomem.views.writers.markdown import escaped, section_lines

if TYPE_CHECKING:
    from gomem.analysis.comparison.before_after import Comparison


def render_compare_markdown(comparison: Comparison, *, before: str, after: str) -> str:
    """Write all that the HTML page says, without its figures.

    Args:
        comparison: The answer.
        before: What was compared, by name.
        after: With what, by name.
    """
    page = build_comparison_page(comparison, before=before, after=after)
    blocks = [
        f"# {escaped(after)} against {escaped(before)}",
        f"**{escaped(page.sentence)}**",
        *map(escaped, page.beside),
    ]
    for section in page.sections:
        blocks += section_lines(section)
    blocks.append(f"Made by {page.made_by}.")
    return "\n\n".join(blocks) + "\n"
