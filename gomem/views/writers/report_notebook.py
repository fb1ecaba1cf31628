"""Write a report as a notebook: each section, with the line of code that shows it.

The outputs come from the report, so writing or reading the notebook needs no kernel. In JupyterLab
it can be run, changed and extended.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gomem.views.document import Block, Document, Paragraph, unchosen
from gomem.views.json.table import written
from gomem.views.writers.markdown import escaped
from gomem.views.writers.notebook_cells import Shown

if TYPE_CHECKING:
    from collections.abc import Iterator


IMPORTS = "from gomem.notebook import open_capture, section, verdict"
KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}


def write_notebook(document: Document, capture: str | list[str], baseline: str | None) -> str:
    """Write a notebook of a report; the paths must be valid from the notebook's location."""
    cells = [
        {"id": f"cell-{place}", **cell}
        for place, cell in enumerate(_cells(document, capture, baseline))
    ]
    made_by = {"made_by": document.made_by}
    # Before the cells: JupyterLab then treats the notebook as the user's.
    notebook = {
        "metadata": {
            "gomem": made_by, "kernelspec": KERNEL, "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
        "cells": cells,
    }  # fmt: skip
    return written(notebook, indent=1)


def _cells(
    document: Document, capture: str | list[str], baseline: str | None
) -> Iterator[dict[str, Any]]:
    yield _words(f"# {escaped(document.title)}: {escaped(document.kind)}")
    settings = [f"CAPTURE = {capture!r}", f"BASELINE = {baseline!r}"]
    opened = "diagnosis = open_capture(CAPTURE, BASELINE)"
    yield _code("\n".join([IMPORTS, "", *settings, opened]), (), 1)
    said = document.verdict
    if said is not None:
        yield _code("verdict(diagnosis)", tuple(map(Paragraph, said.paragraphs)), 2)
    for number, section in enumerate(document.sections, start=3):
        yield _words(f"## {escaped(section.heading)}")
        name = section.name.replace("-", "_")
        yield _code(f'section(diagnosis, "{name}")', tuple(unchosen(section.blocks)), number)


def _words(text: str) -> dict[str, Any]:
    return {"cell_type": "markdown", "metadata": {}, "source": text}


def _code(source: str, blocks: tuple[Block, ...], number: int) -> dict[str, Any]:
    """A cell with its output."""
    shown = Shown(blocks)
    data = {"text/html": shown.html, "text/plain": repr(shown)}
    result = {
        "data": data, "execution_count": number, "metadata": {}, "output_type": "execute_result",
    }  # fmt: skip
    return {
        "cell_type": "code", "execution_count": number, "metadata": {},
        "outputs": [result] if blocks else [], "source": source,
    }  # fmt: skip
