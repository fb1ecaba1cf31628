"""A comparison as one HTML file: nothing loaded, everything from the inputs escaped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.views.comparison.document import build_comparison_page
from gomem.views.writers.html import environment

if TYPE_CHECKING:
    from gomem.analysis.comparison.before_after import Comparison


def render_compare_html(comparison: Comparison, *, before: str, after: str) -> str:
    """Write a page that can be opened anywhere, printed, and attached to a pull request.

    Args:
        comparison: The answer.
        before: What was compared, by name.
        after: With what, by name.
    """
    page = build_comparison_page(comparison, before=before, after=after)
    return environment().get_template("compare.html.jinja").render(page=page)
