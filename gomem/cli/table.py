"""`gomem table ARTEFACT`: an artefact as a table, for a spreadsheet or another tool."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import TYPE_CHECKING, Annotated

import typer

from gomem.cli import gc_log
from gomem.cli.options import (  # noqa: TC001 - typer reads the annotations
    Force,
    Output,
    Patterns,
    Redact,
)
from gomem.cli.output import check_writable, tell_damage, write, write_pieces, written
from gomem.cli.redaction import hide
from gomem.errors import CaptureError, did_you_mean
from gomem.inputs.runtime_lines.patterns import patterns_added
from gomem.text import File, Quoted, text

if TYPE_CHECKING:
    import pandas as pd


Format = StrEnum("Format", "csv parquet json trace openmetrics")  # values of `--format`


def table(
    artefact: Path,
    *,
    frame: str | None = None,
    output_format: Annotated[Format, typer.Option("--format")] = Format.csv,
    output: Output = None,
    pattern: Patterns = None,
    redact: Redact = False,
    force: Force = False,
) -> None:
    """Print an artefact as a table: CSV or JSON on standard output, Parquet to a file.

    A GC log can also be exported: trace for Perfetto, openmetrics for its costs.

    Examples:
        gomem table gctrace.log --format csv
        gomem table smaps --frame totals --format json

    Args:
        artefact: One file: a profile, a log, a dump, smaps.
        frame: The table to print, if the artefact has several.
        output_format: The format to write.
    """
    if output_format is Format.parquet and output is None:
        raise CaptureError("Parquet is not text; name a file with -o FILE.parquet")
    check_writable(output, force=force, inputs=[artefact])
    if output_format in (Format.trace, Format.openmetrics):
        export = gc_log.trace_pieces if output_format is Format.trace else gc_log.openmetrics_pieces
        write_pieces(export(artefact), output)
        return
    wanted = frame or gc_log.STREAMED_FRAMES[0]
    if (
        output_format is Format.csv
        and wanted in gc_log.STREAMED_FRAMES
        and gc_log.is_long_log(artefact)
    ):
        write_pieces(gc_log.csv_pieces(artefact, wanted), output)
        return
    with patterns_added(pattern or []):
        rows = _frame(artefact, frame)
    if redact:
        from gomem.views.share import Hidden, share

        rows = share(rows, hide(Hidden(redact=True)))
    if output_format is Format.parquet:
        assert output is not None
        with written(output) as file:
            rows.to_parquet(file, index=False)
    elif output_format is Format.json:
        from gomem.views.json.table import render_rows

        write(render_rows(rows), output)
    else:
        from gomem.views.spreadsheet import render_csv

        write(render_csv(rows), output)


def _frame(artefact: Path, name: str | None) -> pd.DataFrame:
    from gomem.inputs.kinds import kind_of
    from gomem.inputs.read import not_an_artefact, read_artefact
    from gomem.sources.artefact import open_source

    source = open_source(artefact)
    kind = kind_of(source.data, source.name)
    if kind is None:
        raise CaptureError(not_an_artefact(source.data, source.name).message)
    name = name or kind.frames[0]
    if name not in kind.frames:
        has, near = ", ".join(kind.frames), did_you_mean(name, kind.frames)
        what = text("{} has no table {}; it has {}{}", kind.wanted, Quoted(name), has, near)
        raise CaptureError(text("{}: {}", File(artefact), what))
    parsed = read_artefact(kind, source)
    tell_damage(parsed.damaged)
    return getattr(parsed, name)
