"""`gomem matrix WHERE…`: compare builds of a program, and find the first build that differs."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from gomem.cli.options import Force, Output, Redact  # noqa: TC001 - typer reads the annotations
from gomem.cli.output import check_writable, chosen_format, tell_about, tell_where, write
from gomem.cli.progress import captures_progress
from gomem.cli.redaction import hide
from gomem.cli.terminal import written_as

Format = StrEnum("Format", "text html json md")
ENDINGS = {
    "html": Format.html, "htm": Format.html, "json": Format.json, "md": Format.md,
    "txt": Format.text, "text": Format.text,
}  # fmt: skip


def matrix(
    where: Annotated[list[str], typer.Argument(metavar="WHERE…")],
    *,
    output: Output = None,
    labels: str = "",
    label_table: Path | None = None,
    order: str = "",
    workers: Annotated[int | None, typer.Option(min=0)] = None,
    output_format: Annotated[Format | None, typer.Option("--format")] = None,
    redact: Redact = False,
    force: Force = False,
) -> None:
    """Show what each build of a program needs, and the first build that differs.

    Captures are runs of the same program under several releases or settings. Each
    row is a build, each column a measurement with its 95 % interval. Each build is compared with
    the previous one. With one run per build, only changes far beyond noise count; several runs per
    build show smaller ones.

    Examples:
        gomem matrix 'captures/zeroing-*' --format html -o matrix.html
        gomem matrix runs/ --labels '{build}/{}' --order gogc-50,gogc-100,gogc-200

    Args:
        where: Folders of captures, archives, quoted patterns.
        labels: How paths name builds, such as {build}/{}; default: the module version or Go release
            that a capture names.
        label_table: A CSV with the columns capture and build.
        order: Builds in order, joined by commas; default: by release and number.
        workers: Worker processes on this machine; default: one per CPU.
        output_format: Default: by the ending of -o, else text.
    """
    from gomem.fleets.fleet import fleet
    from gomem.fleets.matrix import matrix_of
    from gomem.views.fleet.hidden import hidden_of

    chosen = chosen_format(output, output_format, ENDINGS) or Format.text
    check_writable(output, force=force, inputs=[Path(path) for path in where])
    with captures_progress() as progress:
        read = fleet(
            *where, labels=labels, label_table=label_table, workers=workers, progress=progress
        )
    hide(hidden_of(read, redact=redact))
    for name, what in zip(read.failed["capture"], read.failed["what"], strict=True):
        tell_about(name, what)
    found = matrix_of(read, [build for build in order.split(",") if build])
    hidden = hide(hidden_of(read, found.builds, redact=redact))
    if chosen is Format.json:
        from gomem.views.json.fleet import render_matrix_json

        made = render_matrix_json(found, hidden)
    else:
        from gomem.views.fleet.matrix import matrix_document

        made = written_as(chosen.value, matrix_document(found, hidden), output)
    write(made, output)
    if output is not None:
        tell_where(output)
