"""`gomem inspect CAPTURE`: list a capture's contents by snapshot, and damage."""

from __future__ import annotations

from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import Annotated

import typer

from gomem.cli.options import Patterns, Redact  # noqa: TC001 - typer reads the annotations
from gomem.cli.output import input_paths, write
from gomem.cli.progress import stages
from gomem.cli.redaction import hide
from gomem.cli.terminal import terminal_text
from gomem.inputs.runtime_lines.patterns import patterns_added


def inspect(
    captures: Annotated[list[Path], typer.Argument(metavar="CAPTURE…")],
    *,
    pattern: Patterns = None,
    redact: Redact = False,
) -> None:
    """List the contents of a capture: files with kind and snapshot, skew, and damage.

    Examples:
        gomem inspect captures/api

    Args:
        captures: A folder, an archive, or files; - is standard input.
    """
    from gomem.capture.load import load
    from gomem.views.inspect.inspection import inspection_document
    from gomem.views.share import Hidden

    with stages() as at, patterns_added(pattern or []):
        capture = load(*input_paths(captures), progress=at.reading)
    hidden = hide(Hidden.of(capture, redact=redact))
    write(terminal_text(inspection_document(capture, hidden)), None)
