"""A document as one HTML file that loads nothing and escapes all foreign text.

It is complete without scripts. A script adds sorting; pages with a flame graph have another for
zoom, search and keys. The page's policy lists both by digest, so no other script can run.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

from markupsafe import Markup, escape

from gomem.errors import printable
from gomem.views.document import MARKS, Cell, Choice, Document, Figure, Folded, Option
from gomem.views.figures.flame_graph import FlameGraph
from gomem.views.references import address_of
from gomem.views.writers.scripts import flame_script, page_script, source_of

if TYPE_CHECKING:
    from jinja2 import Environment


HATCHES = {"/": "rising", "\\": "falling", "|": "upright", "-": "level", "x": "crossed"}


def write_html(document: Document) -> str:
    """Write a page that opens anywhere, prints, and can be attached to a postmortem."""
    return environment().get_template("document.html.jinja").render(document=document)


@cache
def environment() -> Environment:
    """Return the template environment: everything is escaped, and undefined names are errors."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    made = Environment(
        loader=PackageLoader("gomem.views.writers"), autoescape=True, finalize=_visible,
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
        keep_trailing_newline=True,
    )  # fmt: skip
    made.filters |= {
        "kind": lambda block: type(block).__name__, "linked": _linked, "breakable": _breakable,
        "cell": _cell, "hatched": lambda hatch: f"hatch {HATCHES[hatch[0]]}" if hatch else "",
        "choosable": _choosable, "panels": _panels,
    }  # fmt: skip
    made.globals |= {"drawn": _drawn, "marks": MARKS}
    for name, script in (("page", page_script()), ("flame", flame_script())):
        made.globals[f"{name}_script"] = Markup(script)  # noqa: S704 - our own
        made.globals[f"{name}_script_source"] = Markup(source_of(script))  # noqa: S704
    return made


def _visible(value: Any) -> Any:
    """Make control characters visible in a text; markup is gomem's own and already escaped."""
    return printable(value) if type(value) is str else value


def _linked(reference: str) -> Markup:
    """A reference as a link, if it has a URL."""
    address, shown = address_of(reference), escape(printable(reference))
    if not address:
        return shown
    return Markup('<a href="{}" rel="noreferrer">{}</a>').format(address, shown)


def _cell(cell: Cell) -> Markup:
    """The content of a cell; not in the template, because a page can have ten thousand cells."""
    shown = _escaped(cell.text)
    if cell.code:
        shown = f"<code>{_breakable(cell.text)}</code>"
    elif cell.exact:
        shown = f'<span title="{_escaped(cell.exact)}">{shown}</span>'
    if cell.link:
        shown = f'<a href="{_escaped(cell.link)}">{shown}</a>'
    note = f"<small>{_escaped(cell.note)}</small>" if cell.note else ""
    return Markup(f"{shown}{note}".strip())  # noqa: S704 - each text was escaped


def _escaped(text: str) -> str:
    return str(escape(printable(text)))


def _breakable(name: str) -> Markup:
    """A long name that can break after its separators."""
    return Markup(re.sub(r"([/._)])(?=\w)", r"\1<wbr>", _escaped(name)))  # noqa: S704 - escaped


def _choosable(document: Document) -> list[str]:
    """The moments to choose from, in order; empty if a choice has no others."""
    there: set[str] = set()
    blocks = [block for section in document.sections for block in section.blocks]
    while blocks:
        block = blocks.pop()
        if isinstance(block, Folded):
            blocks += block.blocks
        elif isinstance(block, Choice) and len(block.options) > 1:
            there |= {option.name for option in block.options}
    return [name for name in document.moments if name in there]


def _panels(choice: Choice, moments: list[str]) -> list[tuple[Option, str, bool]]:
    """Each option, the indices of the moments for which it is shown, and whether it is the first.

    The first option is also shown for moments without content.
    """
    own = [moments.index(option.name) + 1 for option in choice.options]
    lacking = [place for place in range(1, len(moments) + 1) if place not in own]
    panels = []
    for number, (option, place) in enumerate(zip(choice.options, own, strict=True)):
        is_first = number == choice.first
        places = [place, *lacking] if is_first else [place]
        panels.append((option, " ".join(map(str, places)), is_first))
    return panels


def _drawn(figure: Figure) -> Markup:
    """A figure's SVG; its text was escaped when it was made."""
    drawing = figure.draw()
    # `draw` escapes text.
    return Markup(drawing.html() if isinstance(drawing, FlameGraph) else drawing.svg())  # noqa: S704
