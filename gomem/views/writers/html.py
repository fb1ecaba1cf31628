"""The report as one HTML file: nothing loaded, everything from the capture escaped.

It is whole without scripts. Where there is a flame graph, one script of our own adds zoom, search
and keys; the page's policy names it by its digest, so that no other can run.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from gomem.views.figures.flame_graph import FlameGraph
from gomem.views.report.report import build_report
from gomem.views.share import shareable
from gomem.views.writers.flame_script import SCRIPT, script_source

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

    from gomem.diagnosis.diagnosis import Diagnosis
    from gomem.views.document import Report
    from gomem.views.figures.figure import Drawing

_GO_ISSUE = re.compile(r"\bgolang/go#(\d+)\b")


def render_html_report(diagnosis: Diagnosis, *, redact: bool = False) -> str:
    """Write a report that can be opened anywhere, printed, and attached to a postmortem.

    Args:
        diagnosis: The answers.
        redact: Whether to hide folder and moment names; see `shareable`.
    """
    return html_of(build_report(shareable(diagnosis, redact=redact)))


def html_of(report: Report) -> str:
    """A report as one page."""
    return environment().get_template("report.html.jinja").render(report=report)


@cache
def environment() -> Environment:
    """What every page is made with: all is escaped, and a name that is missing is an error."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    made = Environment(
        loader=PackageLoader("gomem.views.writers"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters["kind"] = lambda block: type(block).__name__
    made.filters["linked"] = _linked
    made.filters["breakable"] = _breakable
    made.globals["inline"] = _inline
    made.globals["flame_script"] = Markup(SCRIPT)  # noqa: S704 - our own
    made.globals["flame_script_source"] = Markup(script_source())  # noqa: S704 - a digest
    return made


def _linked(reference: str) -> Markup:
    """A reference with its Go issue as a link; all else is escaped."""
    from markupsafe import Markup, escape

    return Markup(  # noqa: S704 - escaped first; only digits go into the link
        _GO_ISSUE.sub(
            r'<a href="https://github.com/golang/go/issues/\1" rel="noreferrer">golang/go#\1</a>',
            str(escape(reference)),
        )
    )


def _breakable(name: str) -> Markup:
    """A long name that may break after its separators."""
    from markupsafe import Markup, escape

    return Markup(re.sub(r"([/._)])(?=\w)", r"\1<wbr>", str(escape(name))))  # noqa: S704


def _inline(drawing: Drawing | FlameGraph) -> Markup:
    """A figure's SVG; its words were escaped when it was made."""
    from markupsafe import Markup

    text = drawing.html() if isinstance(drawing, FlameGraph) else drawing.svg()
    return Markup(text)  # noqa: S704 - who makes them escapes text
