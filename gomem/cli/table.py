"""`gomem table ARTEFACT`: any artefact as a table, for a spreadsheet or another tool."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gomem.cli.gc_log import (
    STREAMED_FRAMES,
    csv_pieces,
    is_long_log,
    openmetrics_pieces,
    trace_pieces,
)
from gomem.cli.output import check_writable, tell_damage, write, write_pieces
from gomem.errors import CaptureError

if TYPE_CHECKING:
    import pandas as pd


class Format(StrEnum):
    """What `--format` takes."""

    csv = "csv"
    parquet = "parquet"
    json = "json"
    trace = "trace"
    openmetrics = "openmetrics"


# The first frame of each kind is what `gomem table` prints unless --frame names another.
FRAMES = {
    "cgroup": ("cgroup",),
    "gctrace": ("cycles", "scavenges", "pacer", "other", "damage"),
    "escapes": ("verdicts", "damage"),
    "gobench": ("results", "config", "units", "damage"),
    "heap_text": ("samples", "stacks", "functions", "mappings", "labels", "damage"),
    "limits": ("limits",),
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
    """Print an artefact as a table: CSV or JSON on standard output, Parquet to a file.

    A GC log also as what other tools read: trace (for Perfetto) and openmetrics (its costs).
    """
    if output_format is Format.parquet and output is None:
        raise CaptureError("Parquet is not text; name a file with -o FILE.parquet")
    check_writable(output, force=force)
    if output_format in (Format.trace, Format.openmetrics):
        export = trace_pieces if output_format is Format.trace else openmetrics_pieces
        write_pieces(export(artefact), output)
        return
    wanted = frame or FRAMES["gctrace"][0]
    if output_format is Format.csv and wanted in STREAMED_FRAMES and is_long_log(artefact):
        write_pieces(csv_pieces(artefact, wanted), output)
        return
    rows = _frame(artefact, frame)
    if output_format is Format.parquet:
        rows.to_parquet(output, index=False)
    elif output_format is Format.json:
        write(rows.to_json(orient="records", date_format="iso", date_unit="ns", indent=1), output)
    else:
        write(rows.to_csv(index=False), output)


def _frame(artefact: Path, name: str | None) -> pd.DataFrame:
    from gomem.inputs.kinds import kind_of, not_an_artefact
    from gomem.sources.artefact import open_source

    source = open_source(artefact)
    kind = kind_of(source.data, source.name)
    if kind is None or kind not in FRAMES:
        raise CaptureError(str(not_an_artefact(source.data, source.name)))
    frames = FRAMES[kind]
    name = name or frames[0]
    if name not in frames:
        raise CaptureError(f"{artefact}: a {kind} has no table {name}; it has {', '.join(frames)}")
    parsed = _read(kind, source)
    tell_damage(getattr(parsed, "damaged", ()) or getattr(parsed, "attrs", {}).get("damage", ()))
    return parsed if frames == (kind,) or name == "status" else getattr(parsed, name)


def _read(kind: str, source: Any) -> Any:
    from gomem.inputs import read

    readers = {
        "cgroup": read.read_cgroup,
        "gctrace": read.read_gctrace,
        "escapes": read.read_escapes,
        "gobench": read.read_bench,
        "limits": read.read_limits,
        "memstats": read.read_memstats,
        "metrics": read.read_metrics,
        "pprof": read.read_pprof,
        "heap_text": read.read_pprof,
        "statm": read.read_status,
        "status": read.read_status,
    }
    return readers.get(kind, read.read_smaps)(source)
