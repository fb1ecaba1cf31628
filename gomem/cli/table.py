"""`gomem table ARTEFACT`: any artefact as a table, for a spreadsheet or another tool."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gomem.cli.output import check_writable, write
from gomem.errors import CaptureError

if TYPE_CHECKING:
    import pandas as pd


class Format(StrEnum):
    """What `--format` takes."""

    csv = "csv"
    parquet = "parquet"
    json = "json"


# The first frame of each kind is what `gomem table` prints unless --frame names another.
FRAMES = {
    "gctrace": ("cycles", "scavenges", "pacer", "other", "damage"),
    "gobench": ("results", "config", "units", "damage"),
    "heap_text": ("samples", "stacks", "functions", "mappings", "labels", "damage"),
    "maps": ("mappings", "damage"),
    "memstats": ("stats", "pauses", "size_classes", "damage"),
    "metrics": ("values", "histograms", "damage"),
    "pprof": ("samples", "stacks", "functions", "mappings", "labels", "damage"),
    "smaps": ("mappings", "damage"),
    "smaps_rollup": ("mappings", "damage"),
    "statm": ("status",),
    "status": ("status",),
}


def table(
    artefact: Annotated[Path, typer.Argument(help="One file: a profile, a log, a dump, smaps.")],
    *,
    frame: Annotated[str | None, typer.Option(help="Which of its tables.")] = None,
    output_format: Annotated[Format, typer.Option("--format", help="What to write.")] = Format.csv,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Write to this file.")
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the output.")] = False,
) -> None:
    """Print an artefact as a table: CSV or JSON on standard output, Parquet to a file."""
    if output_format is Format.parquet and output is None:
        raise CaptureError("Parquet is not text; name a file with -o FILE.parquet")
    check_writable(output, force=force)
    rows = _frame(artefact, frame)
    if output_format is Format.parquet:
        rows.to_parquet(output, index=False)
    elif output_format is Format.json:
        write(rows.to_json(orient="records", date_format="iso", date_unit="ns", indent=1), output)
    else:
        write(rows.to_csv(index=False), output)


def _frame(artefact: Path, name: str | None) -> pd.DataFrame:
    from gomem.formats.kinds import kind_of, not_an_artefact
    from gomem.sources import open_source

    source = open_source(artefact)
    kind = kind_of(source.data)
    if kind is None or kind not in FRAMES:
        raise CaptureError(str(not_an_artefact(source.data, source.name)))
    frames = FRAMES[kind]
    name = name or frames[0]
    if name not in frames:
        raise CaptureError(f"{artefact}: a {kind} has no table {name}; it has {', '.join(frames)}")
    parsed = _read(kind, source)
    for one in getattr(parsed, "damaged", ()) or getattr(parsed, "attrs", {}).get("damage", ()):
        print(f"gomem: {one}", file=sys.stderr)
    return parsed if name == "status" else getattr(parsed, name)


def _read(kind: str, source: Any) -> Any:
    from gomem import read

    readers = {
        "gctrace": read.read_gctrace,
        "gobench": read.read_bench,
        "memstats": read.read_memstats,
        "metrics": read.read_metrics,
        "pprof": read.read_pprof,
        "heap_text": read.read_pprof,
        "statm": read.read_status,
        "status": read.read_status,
    }
    return readers.get(kind, read.read_smaps)(source)
