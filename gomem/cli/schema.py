"""`gomem schema DOCUMENT`: the JSON Schema of a command's output."""

from __future__ import annotations

import json
from enum import StrEnum
from typing import Annotated

import typer

from gomem.cli.output import write
from gomem.views.json.schemas import SCHEMAS, schema_of

# Written out for mypy.
Document = StrEnum("Document", {name.replace("-", "_"): name for name in SCHEMAS})  # type: ignore[misc]


def schema(
    document: Annotated[Document, typer.Argument()],
) -> None:
    """Print the JSON Schema of what a command writes with --format json.

    Examples:
        gomem schema report

    Args:
        document: The command that writes it.
    """
    write(json.dumps(schema_of(document.value), indent=2, ensure_ascii=False) + "\n", None)
