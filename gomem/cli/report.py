"""`gomem report CAPTURE…`: where did the memory of this process go?"""

from __future__ import annotations

import os
from enum import StrEnum
from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gomem.cli import output as out
from gomem.cli.options import Force, Output, Release  # noqa: TC001 - typer reads the annotations
from gomem.cli.progress import reading_progress
from gomem.cli.terminal import terminal_summary, terminal_text, written_as
from gomem.errors import CaptureError
from gomem.sources.listing import ARCHIVE_SUFFIXES
from gomem.sources.packaged import packaged
from gomem.sources.paths import no_such_path

if TYPE_CHECKING:
    from typing import TypeAlias

    from gomem.causes.thresholds import Thresholds
    from gomem.diagnosis.diagnosis import Diagnosis

    Side: TypeAlias = Path | list[Path] | None  # a path, several files of one moment, or nothing

DEMO, DEMO_BASELINE = "demo", "demo-baseline"
MORE = "The page has the rest, and so does --full."


# What `--format` takes. Without it: a summary on the terminal and HTML in a file.
Format = StrEnum("Format", "html text json md ipynb")

Level = StrEnum("Level", "info warning critical")  # what `--fail-on` takes


def report(
    captures: Annotated[list[Path] | None, typer.Argument(metavar="CAPTURE…")] = None,
    *,
    demo: Annotated[bool, typer.Option("--demo")] = False,
    baseline: Path | None = None,
    output: Output = None,
    output_format: Annotated[Format | None, typer.Option("--format")] = None,
    go_version: Release = None,
    fail_on: Level | None = None,
    threshold: Annotated[list[str] | None, typer.Option(metavar="NAME=VALUE")] = None,
    redact: Annotated[bool, typer.Option("--redact")] = False,
    full: Annotated[bool, typer.Option("--full")] = False,
    force: Force = False,
) -> None:
    """Say where the memory of a Go process went.

    Without --format: a screen of it on a terminal, or all of it where standard output is none, and
    the whole report as one HTML file named after the capture; the last line printed is its path.
    With --format text, json or md: only that, on standard output or in the file that -o names.
    With --format ipynb: a notebook that shows the report, and can be run again.

    Examples:
        gomem report --demo
        gomem report captures/api --baseline captures/api-before
        gomem report capture.tar.gz --format json --fail-on warning

    Args:
        captures: A folder, an archive, or files of one moment.
        demo: Use the capture, and its baseline, gomem ships with.
        baseline: A capture to compare this one with.
        output_format: Write only this format.
        fail_on: Exit with 1 on a finding at least this severe.
        threshold: Where a finding begins, such as pause_seconds=0.001; can be repeated. A wrong
            name lists them all.
        redact: Hide folder names.
        full: On a terminal, print all and not a screen of it.
    """
    groups = _groups(captures or [], demo=demo)
    if output is not None and len(groups) > 1:
        raise CaptureError(f"-o names one file, but there are {len(groups)} captures; name one")
    if demo and baseline is None:
        baseline = packaged(DEMO_BASELINE)
    from gomem.causes.finding import Severity
    from gomem.causes.thresholds import Thresholds
    from gomem.views.names import hidden

    limits, worst = Thresholds.of(threshold or []), list[Severity]()
    for group in groups:
        target = output
        if output is None and output_format in {None, Format.html, Format.ipynb}:
            name = DEMO if demo else str(group[0])
            target = out.file_named_after(name, f".gomem.{output_format or Format.html}")
        inputs = group if baseline is None else [*group, baseline]
        out.check_writable(target, force=force, inputs=inputs)
        diagnosis = _diagnose(group, baseline, go_version, limits)
        # Redacted, since whoever keeps the report keeps what could not be read, too.
        shown = hidden(diagnosis, redact=True).text if redact else str
        out.tell_damage(diagnosis.capture.damaged, shown)
        sides = (group[0] if len(group) == 1 else group, baseline)
        _write(diagnosis, output_format, target, sides, redact=redact, full=full)
        if target is not None:
            out.tell_where(target)
        worst += [finding.severity for finding in diagnosis.findings]
    if fail_on is not None and any(severity >= Severity[fail_on.upper()] for severity in worst):
        raise typer.Exit(1)


def _groups(captures: list[Path], *, demo: bool) -> list[list[Path]]:
    """The captures asked for: each folder or archive is one; loose files together are one."""
    if demo:
        if captures:
            raise CaptureError("--demo brings its own capture; leave out the other")
        return [[packaged(DEMO)]]
    if not captures:
        raise CaptureError("no capture named; wanted a folder, an archive or files, or --demo")
    for path in captures:
        if not path.exists():
            raise no_such_path(path)
    whole = [path for path in captures if _is_whole(path)]
    loose = [path for path in captures if not _is_whole(path)]
    return [*([path] for path in whole), *([loose] if loose else [])]


def _is_whole(path: Path) -> bool:
    return path.is_dir() or path.name.lower().endswith(ARCHIVE_SUFFIXES)


def _diagnose(
    paths: list[Path], baseline: Path | None, go_version: str | None, limits: Thresholds
) -> Diagnosis:
    from gomem.capture.load import load
    from gomem.diagnosis.diagnosis import diagnose

    with reading_progress() as progress:
        capture = load(*paths, go_version=go_version, progress=progress)
        against = None if baseline is None else load(baseline, progress=progress)
    return diagnose(capture, against, thresholds=limits)


def _write(
    diagnosis: Diagnosis, chosen: Format | None, target: Path | None, sides: tuple[Side, Side], *,
    redact: bool, full: bool,
) -> None:  # fmt: skip
    """The report in the format asked for; without one the page, and its summary for a terminal."""
    if chosen is Format.json:
        from gomem.views.json.report import render_json_report

        out.write(render_json_report(diagnosis, redact=redact), target)
        return
    from gomem.views.report.report import report_document

    document = report_document(diagnosis, redact=redact)
    if chosen is Format.ipynb:
        from gomem.views.writers.report_notebook import write_notebook

        assert target is not None
        found = (_beside(side, target, redact=redact) for side in sides)
        out.write(write_notebook(document, *found), target)
        return
    out.write(written_as(chosen or Format.html, document, target), target)
    if chosen is None and target is not None and not out.is_device(target):
        out.write(terminal_text(document) if full else terminal_summary(document, MORE), None)


def _beside(side: Side, target: Path, *, redact: bool) -> Any:
    """Where a notebook finds its captures: from where it lies."""
    from gomem.views.share import UNNAMED

    def named(path: Path) -> str:
        if redact:
            return UNNAMED if _is_whole(path) else path.name
        return os.path.relpath(path, target.parent)

    return [named(path) for path in side] if isinstance(side, list) else side and named(side)
