"""A comparison as one HTML file: nothing loaded, everything from the inputs escaped."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.views.comparison.document import BETTER, WORSE, build_comparison_page
from gomem.views.document import Document, Verdict
from gomem.views.writers.html import write_html

if TYPE_CHECKING:
    from gomem.analysis.comparison.before_after import Comparison
    from gomem.views.document import Tone


def render_compare_html(comparison: Comparison, *, before: str, after: str) -> str:
    """Write a page that can be opened anywhere, printed, and attached to a pull request.

    Args:
        comparison: The answer.
        before: What was compared, by name.
        after: With what, by name.
    """
    page = build_comparison_page(comparison, before=before, after=after)
    tones: dict[str, Tone] = {WORSE: "warning", BETTER: "good"}
    document = Document(
        kind="Go memory comparison",
        title=page.after,
        facts=(("Before", page.before), ("After", page.after)),
        verdict=Verdict(
            tones.get(page.outcome, "neutral"), page.outcome, page.sentence, page.beside
        ),
        sections=page.sections,
        made_by=page.made_by,
    )
    return write_html(document)
