"""`gomem schema DOCUMENT`: what the JSON of a command holds, as JSON Schema."""

from __future__ import annotations

import json
from enum import StrEnum
from importlib import import_module
from typing import Annotated

import typer

from gomem.cli.output import write


class Document(StrEnum):
    """Documents that have a schema: a command's, or that of `compare` on more than two sides."""

    report = "report"
    compare = "compare"
    compare_builds = "compare-builds"
    top = "top"
    what_if = "what-if"


def schema(
    document: Annotated[Document, typer.Argument(help="The command that writes it.")],
) -> None:
    """Print the JSON Schema of what a command writes with --format json."""
    module = import_module(f"gomem.schemas.{document.name.removesuffix('_builds')}")
    made = getattr(module, f"{document.name}_schema")()
    write(json.dumps(made, indent=2, ensure_ascii=False) + "\n", None)
