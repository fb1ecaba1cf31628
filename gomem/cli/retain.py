"""`gomem retain CAPTURE|DUMP`: what retains the heap?"""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import TYPE_CHECKING, Annotated

import typer

from gomem.cli.options import Force, Output, Redact  # noqa: TC001 - typer reads the annotations
from gomem.cli.output import (
    check_writable,
    chosen_format,
    file_named_after,
    tell_damage,
    tell_where,
    write,
)
from gomem.cli.progress import stages
from gomem.cli.redaction import hide
from gomem.cli.terminal import written_as
from gomem.errors import CaptureError, did_you_mean
from gomem.text import CaptureName, File, Function, Quoted, text

if TYPE_CHECKING:
    import pandas as pd

    from gomem.analysis.retention.described import Keeper
    from gomem.capture.capture import Capture
    from gomem.facts.keepers import Kept

Format = StrEnum("Format", "text html json csv md")  # values of `--format`
ENDINGS = {**Format.__members__, "htm": Format.html, "txt": Format.text}


def retain(
    capture: Annotated[Path, typer.Argument(metavar="CAPTURE|DUMP")],
    *,
    path: str | None = None,
    executable: Path | None = None,
    symbols: Path | None = None,
    output: Output = None,
    output_format: Annotated[Format | None, typer.Option("--format")] = None,
    redact: Redact = False,
    force: Force = False,
) -> None:
    """Show who keeps the heap, from a heap dump of runtime/debug.WriteHeapDump.

    For each variable, and for the goroutines of each function: the bytes that would become garbage
    without it, who allocated them, and the path to where they fan out. For a capture with several
    dumps, also which keepers grew. Variables are named by the symbols in the capture, or by those
    of the executable. HTML goes to a file named after the capture, everything else to standard
    output, unless -o names a file.

    Examples:
        gomem retain heap.dump --executable ./api
        gomem retain heap.dump --path main.cache

    Args:
        capture: A capture with a heap dump, or the dump.
        path: Only this keeper: its path, and who allocated what it keeps.
        executable: The executable that wrote the dump; a stripped one names functions only.
        symbols: The output of go tool nm -size, or the executable.
        output_format: Default: as -o names it, else text.
    """
    from gomem.capture.load import load
    from gomem.views.share import Hidden, share

    if executable is not None and symbols is not None:
        raise CaptureError("--executable and --symbols: both name variables; give one of the two")
    chosen = chosen_format(output, output_format, ENDINGS) or Format.text
    target = output
    if output is None and chosen is Format.html:
        target = file_named_after(str(capture), ".retain.html")
    check_writable(target, force=force, inputs=[capture])
    named = _symbols(executable or symbols)
    with stages() as at:
        read = load(capture, progress=at.reading)
        hidden = hide(Hidden.of(read, redact=redact))
        kept = _kept(read, named, executable or symbols)
    tell_damage(read.damaged)
    asked = () if path is None else _named(kept, path)
    if chosen is Format.json:
        from gomem.views.json.retain import render_retain_json

        rendered = render_retain_json(kept, hidden, asked)
    elif chosen is Format.csv:
        from gomem.views.spreadsheet import render_csv

        keepers = kept.retention.keepers.drop(columns="node")
        rendered = render_csv(share(keepers, hidden) if redact else keepers)
    else:
        from gomem.views.retain.document import retain_document

        rendered = written_as(chosen, retain_document(read, kept, hidden, asked), target)
    write(rendered, target)
    if target is not None:
        tell_where(target)


def _symbols(file: Path | None) -> pd.DataFrame | None:
    from gomem.inputs.symbols.table import read_symbols

    return None if file is None else read_symbols(file).symbols


def _kept(capture: Capture, symbols: pd.DataFrame | None, file: Path | None) -> Kept:
    from gomem.analysis.retention.keepers import NotWhole
    from gomem.analysis.retention.variables import WrongSymbols
    from gomem.facts.keepers import kept_of

    try:
        kept = kept_of(capture, symbols)
    except NotWhole as error:
        raise CaptureError(text("{}: {}", CaptureName(capture.name), Quoted(error))) from error
    except WrongSymbols as error:
        raise CaptureError(text("{}: {}", File(file), Quoted(error))) from error
    if kept is None:
        what = "has no heap dump; wanted what runtime/debug.WriteHeapDump writes"
        raise CaptureError(text("{}: {}", CaptureName(capture.name), what))
    return kept


def _named(kept: Kept, name: str) -> tuple[Keeper, ...]:
    rows = kept.retention.named(name)
    if not rows:
        near = did_you_mean(name, kept.retention.keepers["name"], Function)
        raise CaptureError(text("--path: {} keeps nothing in this dump{}", Quoted(name), near))
    return tuple(kept.keepers[row] for row in rows)
