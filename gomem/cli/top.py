"""`gomem top PROFILE`: who has the most, as pprof counts, and how sure the numbers are."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import Annotated

import typer

from gomem.cli.output import check_writable, write
from gomem.errors import CaptureError


class Format(StrEnum):
    """What `--format` takes."""

    text = "text"
    csv = "csv"
    json = "json"


class Granularity(StrEnum):
    """What `--granularity` takes."""

    functions = "functions"
    filefunctions = "filefunctions"
    files = "files"
    lines = "lines"
    addresses = "addresses"
    packages = "packages"


SHOWN = 30  # rows of text, unless -n asks for another number; CSV and JSON have all


def top(
    profile: Annotated[Path, typer.Argument(help="A pprof profile, gzipped or not.")],
    *,
    sample_type: Annotated[
        str | None, typer.Option(help="Which of its values, such as alloc_space.")
    ] = None,
    granularity: Annotated[
        Granularity, typer.Option(help="What a row stands for.")
    ] = Granularity.functions,
    cum: Annotated[bool, typer.Option("--cum", help="Order by cum rather than by flat.")] = False,
    n: Annotated[
        int | None, typer.Option("-n", min=1, help=f"Rows; {SHOWN} of text, else all.")
    ] = None,
    output_format: Annotated[Format, typer.Option("--format", help="What to write.")] = Format.text,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Write to this file.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the output.")] = False,
) -> None:
    """Show the functions that allocate most in a profile, with 95 % intervals."""
    check_writable(output, force=force)
    from gomem.analysis.allocations import top_sites
    from gomem.read import read_pprof
    from gomem.views.top import render_top_csv, render_top_json, render_top_text

    read = read_pprof(profile)
    for damage in read.damaged:
        print(f"gomem: {damage}", file=sys.stderr)
    if n is None and output_format is Format.text:
        n = SHOWN
    try:
        sites = top_sites(read, sample_type, n, granularity, cum=cum)
    except ValueError as error:
        raise CaptureError(f"{profile}: {error}") from error
    render = {
        Format.text: render_top_text,
        Format.csv: render_top_csv,
        Format.json: render_top_json,
    }[output_format]
    write(render(sites), output)
