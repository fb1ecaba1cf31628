"""A document as one HTML file: nothing loaded, everything foreign escaped.

It is whole without scripts. Where there is a flame graph, one script of our own adds zoom, search
and keys; the page's policy names it by its digest, so that no other can run.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

from gomem.errors import printable
from gomem.views.figures.flame_graph import FlameGraph
from gomem.views.references import address_of
from gomem.views.writers.flame_script import SCRIPT, script_source
from gomem.views.writers.tone_marks import MARKS

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

    from gomem.views.document import Cell, Document, Figure


def write_html(document: Document) -> str:
    """Write a page that can be opened anywhere, printed, and attached to a postmortem."""
    return environment().get_template("document.html.jinja").render(document=document)


@cache
def environment() -> Environment:
    """What every page is made with: all is escaped, and a name that is missing is an error."""
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    made = Environment(
        loader=PackageLoader("gomem.views.writers"),
        autoescape=True,
        finalize=_visible,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters["kind"] = lambda block: type(block).__name__
    made.filters["linked"] = _linked
    made.filters["breakable"] = _breakable
    made.filters["cell"] = _cell
    made.globals["drawn"] = _drawn
    made.globals["marks"] = MARKS
    made.globals["flame_script"] = Markup(SCRIPT)  # noqa: S704 - our own
    made.globals["flame_script_source"] = Markup(script_source())  # noqa: S704 - a digest
    return made


def _visible(value: Any) -> Any:
    """Every text on its way into the page; markup is our own, and escaped where it was made."""
    return printable(value) if type(value) is str else value


def _linked(reference: str) -> Markup:
    """A reference as a link, where it has an address."""
    from markupsafe import Markup, escape

    address, shown = address_of(reference), escape(printable(reference))
    if not address:
        return shown
    return Markup('<a href="{}" rel="noreferrer">{}</a>').format(address, shown)


def _cell(cell: Cell) -> Markup:
    """What is in a cell; here and not in the template, as a page can have ten thousand of them."""
    from markupsafe import Markup

    shown = _escaped(cell.text)
    if cell.code:
        shown = f"<code>{_breakable(cell.text)}</code>"
    elif cell.exact:
        shown = f'<span title="{_escaped(cell.exact)}">{shown}</span>'
    note = f"<small>{_escaped(cell.note)}</small>" if cell.note else ""
    return Markup(f"{shown}{note}".strip())  # noqa: S704 - each text was escaped


def _escaped(text: str) -> str:
    from markupsafe import escape

    return str(escape(printable(text)))


def _breakable(name: str) -> Markup:
    """A long name that may break after its separators."""
    from markupsafe import Markup

    return Markup(re.sub(r"([/._)])(?=\w)", r"\1<wbr>", _escaped(name)))  # noqa: S704 - escaped


def _drawn(figure: Figure) -> Markup:
    """A figure's SVG; its words were escaped when it was made."""
    from markupsafe import Markup

    drawing = figure.draw()
    text = drawing.html() if isinstance(drawing, FlameGraph) else drawing.svg()
    return Markup(text)  # noqa: S704 - who makes them escapes text
