"""`gomem report CAPTURE…`: where did the memory of this process go?"""

from __future__ import annotations

import os
from enum import StrEnum
from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gomem.cli import output as out
from gomem.cli.options import (  # noqa: TC001 - typer reads the annotations
    Force,
    Output,
    Patterns,
    Redact,
    Release,
)
from gomem.cli.progress import Stages, stages
from gomem.cli.redaction import hide
from gomem.cli.rss import SUFFIX as RSS_SUFFIX
from gomem.cli.rss import rendered as rendered_rss
from gomem.cli.running import captured_now, running_named
from gomem.cli.terminal import terminal_summary, terminal_text, written_as
from gomem.errors import CaptureError, counted_places
from gomem.inputs.runtime_lines.patterns import patterns_added
from gomem.sources.packaged import DEMO, DEMO_BASELINE, recorded
from gomem.sources.paths import is_capture, no_such_path
from gomem.text import Quoted, Text, Words, joined, text

if TYPE_CHECKING:
    from typing import TypeAlias

    from gomem.causes.thresholds import Thresholds
    from gomem.diagnosis.diagnosis import Diagnosis
    from gomem.views.document import Document

    Side: TypeAlias = Path | list[Path] | None  # a path, several files of one moment, or nothing

NAME_OF_DEMO = "demo"  # of the page
MORE = "The page and --full show the rest."


# Values of `--format`. Without it: a summary on the terminal and HTML in a file.
Format = StrEnum("Format", "html text json md ipynb summary png pprof")
TO_FILES = (
    None,
    Format.html,
    Format.ipynb,
    Format.png,
    Format.pprof,
)  # written to a file named after the capture without -o
WITH_PAGES = (None, Format.html, Format.png)  # formats that a browser shows
# The format for a suffix of -o; None is the page, with its summary on the terminal.
ENDINGS = {
    "html": None, "htm": None, "txt": Format.text, "text": Format.text, "json": Format.json,
    "md": Format.md, "ipynb": Format.ipynb, "png": Format.png, "gz": Format.pprof,
}  # fmt: skip

Level = StrEnum("Level", "info warning critical")  # values of `--fail-on`


def report(
    captures: Annotated[list[Path] | None, typer.Argument(metavar="CAPTURE|PID|URL…")] = None,
    *,
    demo: Annotated[bool, typer.Option("--demo")] = False,
    baseline: Path | None = None,
    output: Output = None,
    output_format: Annotated[Format | None, typer.Option("--format")] = None,
    go_version: Release = None,
    fail_on: Level | None = None,
    threshold: Annotated[list[str] | None, typer.Option(metavar="NAME=VALUE")] = None,
    redact: Redact = False,
    full: Annotated[bool, typer.Option("--full")] = False,
    opened: Annotated[bool, typer.Option("--open")] = False,
    pattern: Patterns = None,
    force: Force = False,
) -> None:
    """Show where the memory of a Go process went.

    Without --format, the report is written as one HTML file named after the capture. A terminal
    also shows its first screen; a pipe gets the whole report as text. The last line printed is the
    path. --format text, json or md writes only that format, to standard output or to the file of
    -o: ipynb is a notebook that can be run again, summary is eight lines for a chat, png is the
    first picture, and pprof is RSS as one profile, as gomem rss writes it. For a PID or a URL,
    gomem first captures one snapshot to a folder named after the process.

    Examples:
        gomem report --demo
        gomem report 4711 --open
        gomem report captures/api --baseline captures/api-before
        gomem report capture.tar.gz --format json --fail-on warning
        xclip -o | gomem report -

    Args:
        captures: A folder, an archive, files of one snapshot, or a running process; - is standard
            input. A text with several pastes, such as a ticket, is read part by part.
        demo: Use the demo capture and its baseline, which come with gomem.
        baseline: A capture to compare this one with.
        output_format: Write only this format.
        fail_on: Exit with 1 on a finding at least this severe.
        threshold: Override a threshold, such as pause_seconds=0.001; can be repeated.
            `gomem explain thresholds` lists them all.
        full: On a terminal, print the whole report, not just the first screen.
        opened: Show the page in a browser.
    """
    output_format = out.chosen_format(output, output_format, ENDINGS)
    if opened and (output_format not in WITH_PAGES or out.is_standard_output(output)):
        raise CaptureError("--open shows a page; leave out --format, or -o -")
    out.check_writable(output, force=force, inputs=())
    groups = _groups(
        out.input_paths(captures or [], again=output_format is Format.ipynb),
        demo=demo,
        redact=redact,
    )
    if output is not None and len(groups) > 1:
        raise CaptureError(f"-o names one file, but there are {len(groups)} captures; name one")
    if demo and baseline is None and output_format is not Format.pprof:
        baseline = recorded(DEMO_BASELINE)
    from gomem.causes.finding import Severity
    from gomem.causes.thresholds import Thresholds
    from gomem.views.names import hidden

    limits, worst = Thresholds.of(threshold or []), list[Severity]()
    for number, group in enumerate(groups, start=1):
        target = output
        if output is None and output_format in TO_FILES:
            name = NAME_OF_DEMO if demo else str(group[0])
            apart = f"-{number}" * (redact and len(groups) > 1)  # redacted captures have no names
            target = out.file_named_after(name, apart + _suffix(output_format))
        inputs = group if baseline is None else [*group, baseline]
        out.check_writable(target, force=force, inputs=inputs)
        sides = (group[0] if len(group) == 1 else group, baseline)
        with stages() as at, patterns_added(pattern or []):
            diagnosis = _diagnose(group, baseline, go_version, limits, at)
            hide(hidden(diagnosis, redact=redact))
            made, document = _made(diagnosis, output_format, target, sides, at, redact=redact)
        out.write(made, target)
        if output_format is None and document is not None and not out.is_standard_output(target):
            shown = terminal_text(document) if full else terminal_summary(document, MORE)
            out.write(shown, None)
        _tell_doubts(diagnosis, target)
        if target is not None:
            out.tell_where(target)
            if opened:
                out.open_page(target)
        worst += [finding.severity for finding in diagnosis.findings]
    if fail_on is not None and any(severity >= Severity[fail_on.upper()] for severity in worst):
        raise typer.Exit(1)


def _groups(captures: list[Path], *, demo: bool, redact: bool) -> list[list[Path]]:
    """Group the arguments to captures: each folder or archive is one; loose files together are one.

    PIDs and URLs together name one process, of which a snapshot is captured.
    """
    if demo:
        if captures:
            raise CaptureError("--demo has its own capture; leave out the other")
        return [[recorded(DEMO)]]
    if not captures:
        raise CaptureError(
            "no capture named; wanted a folder, an archive or files, a PID or a URL, or --demo"
        )
    if running := running_named(captures):
        if len(running) < len(captures):
            both = text("{}: a running process beside captures", Quoted(running[0]))
            raise CaptureError(
                text("{}; give either a process or captures, or use --baseline CAPTURE", both)
            )
        return [[captured_now(running, redact=redact)]]
    for path in captures:
        if not path.exists():
            raise no_such_path(path)
    whole = [path for path in captures if is_capture(path)]
    loose = [path for path in captures if not is_capture(path)]
    return [*([path] for path in whole), *([loose] if loose else [])]


def _suffix(chosen: Format | None) -> str:
    """The suffix of a file named after the capture."""
    return RSS_SUFFIX if chosen is Format.pprof else f".gomem.{chosen or Format.html}"


def _diagnose(
    paths: list[Path], baseline: Path | None, go_version: str | None, limits: Thresholds, at: Stages
) -> Diagnosis:
    from gomem.capture.load import load
    from gomem.diagnosis.diagnosis import diagnose

    capture = load(*paths, go_version=go_version, progress=at.reading)
    against = None if baseline is None else load(baseline, progress=at.reading)
    at.now("analysing")
    return diagnose(capture, against, thresholds=limits)


def _made(
    diagnosis: Diagnosis, chosen: Format | None, target: Path | None, sides: tuple[Side, Side],
    at: Stages, *, redact: bool,
) -> tuple[str | bytes, Document | None]:  # fmt: skip
    """The report in the requested format, and the document of a report that a terminal shows."""
    if chosen is Format.json:
        from gomem.views.json.report import render_json_report

        return render_json_report(diagnosis, redact=redact), None
    if chosen is Format.pprof:
        return rendered_rss(diagnosis, redact=redact), None
    from gomem.views.names import hidden
    from gomem.views.report.report import whole_report
    from gomem.views.share import share

    whole = whole_report(diagnosis, redact=redact)
    document = share(whole, hidden(diagnosis, redact=redact))
    if chosen is Format.summary:
        from gomem.views.writers.chat import write_chat

        return write_chat(document), None
    if chosen is Format.png:
        return _picture(diagnosis, document, redact=redact), None
    if target is not None:
        at.now(text("writing {}", out.file_part(target)))
    if chosen is Format.ipynb:
        from gomem.views.writers.report_notebook import write_notebook

        assert target is not None
        found = (_beside(side, target, redact=redact) for side in sides)
        return write_notebook(document, *found), None
    is_shown = chosen is None or target is None
    here = share(whole, hidden(diagnosis, redact=redact, here=True)) if is_shown else document
    return written_as(chosen or Format.html, here if target is None else document, target), here


def _picture(diagnosis: Diagnosis, document: Document, *, redact: bool) -> bytes:
    from gomem.views.report.picture import picture
    from gomem.views.writers.chat import write_chat
    from gomem.views.writers.png import write_png

    title, *_ = write_chat(document).splitlines()
    drawing = picture(diagnosis, redact=redact)
    return write_png(drawing, title=title, made_by=document.made_by)


def _tell_doubts(diagnosis: Diagnosis, target: Path | None) -> None:
    """Print a line about damage, and a line if the Go release is unknown."""
    capture = diagnosis.capture
    if against := capture.go_version.against:
        out.tell(text("--go-version {}, but {}", str(capture.go_version), against))
    if len(capture.damaged) == 1:
        out.tell(capture.damaged[0].message)
    elif capture.damaged:
        where: Text = Words("the report")
        if target is not None and not out.is_standard_output(target):
            where = out.file_part(target)
        out.tell(text("{}: {} lists them", joined(", ", counted_places(capture.damaged)), where))


def _beside(side: Side, target: Path, *, redact: bool) -> Any:
    """The paths of captures relative to a notebook."""
    from gomem.views.share import UNNAMED

    def named(path: Path) -> str:
        if redact:
            return UNNAMED if is_capture(path) else path.name
        return os.path.relpath(path, target.parent)

    return [named(path) for path in side] if isinstance(side, list) else side and named(side)
