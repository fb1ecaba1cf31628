"""Options with the same meaning in several commands."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from gomem.cli.output import output_path

Output = Annotated[
    Path | None,
    typer.Option(
        "-o", "--output", callback=output_path, help="Write to this file; - is standard output."
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Overwrite a file that gomem did not write.")]
Redact = Annotated[
    bool,
    typer.Option(
        "--redact",
        help="Hide folders, names of captures and snapshots, labels, and text from files.",
    ),
]
Patterns = Annotated[
    list[str] | None,
    typer.Option(
        "--pattern",
        metavar="REGEX",
        help="A pattern of log lines, with groups such as (?P<rss>…); can be repeated.",
    ),
]
Release = Annotated[str | None, typer.Option(help="The Go release, such as go1.24.2.")]
