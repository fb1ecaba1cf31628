"""`gomem fleet WHERE…`: read many captures, and find instances that are unlike the others."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path  # noqa: TC003 - typer reads the annotations
from typing import TYPE_CHECKING, Annotated

import typer

from gomem.cli.access import PASSWORD
from gomem.cli.fleet_servers import SERVERS, Query, from_server
from gomem.cli.options import Force, Redact  # noqa: TC001 - typer reads the annotations
from gomem.cli.output import check_writable, file_part, tell, tell_about, tell_where, write
from gomem.cli.progress import captures_progress, stages
from gomem.cli.redaction import hide
from gomem.cli.terminal import terminal_text, written_as
from gomem.errors import CaptureError
from gomem.text import text
from gomem.views.words import how_many

if TYPE_CHECKING:
    from gomem.fleets.fleet import Fleet
    from gomem.views.share import Hidden

Format = StrEnum("Format", "text html json md")
Engine = StrEnum("Engine", "local dask")
PAGE = "fleet.html"
OUTLIERS_REPORTED = 20
TOLD_FAILURES = 5


def fleet(
    where: Annotated[list[str] | None, typer.Argument(metavar="WHERE…")] = None,
    *,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Folder for the dataset and its page.")
    ] = None,
    labels: str = "",
    label_table: Path | None = None,
    engine: Engine = Engine.local,
    workers: Annotated[int | None, typer.Option(min=0)] = None,
    scheduler: str | None = None,
    output_format: Annotated[Format | None, typer.Option("--format")] = None,
    reports: bool = False,
    redact: Redact = False,
    query: str = "",
    time_range: Annotated[str, typer.Option("--range")] = "1h",
    step: str = "",
    header: list[str] | None = None,
    user: Annotated[
        str | None,
        typer.Option(help=f"For basic auth; password from {PASSWORD} or a prompt."),
    ] = None,
    force: Force = False,
) -> None:
    """Read many captures, and show which instances are unlike the others.

    Each capture is read and diagnosed on its own. -o names a folder for fleet.html and for a
    dataset of Parquet files. A later run adds to the dataset and skips captures that it already
    has. Without -o, the verdict goes to standard output and nothing is kept. Without WHERE, the
    dataset of -o is shown as it is. WHERE can also be `prometheus URL`, `pyroscope URL` or
    `parca URL`: then metrics or heap profiles of each process come from that server.

    Examples:
        gomem fleet captures/ -o fleet
        gomem fleet 'captures/*.tar.gz' --labels '{service}-{pod}-{time}.tar.gz' -o fleet
        gomem fleet s3://bucket/captures --labels '{service}/{pod}/{time}' -o fleet
        gomem fleet prometheus http://127.0.0.1:9090 --query '{job="api"}' --range 7d -o fleet
        gomem fleet pyroscope http://127.0.0.1:4040 --query '{service_name="api"}' -o fleet
        gomem fleet parca http://127.0.0.1:7070 --query '{job="api"}' --range 1d -o fleet

    Args:
        where: Folders of captures, archives, quoted patterns, URLs of object storage.
        labels: How paths name captures: {service}, {pod}, {build} and {time}, as in
            {service}/{pod}/{time}.
        label_table: A CSV with a column capture, and any of instance, service, build, time.
        engine: local for processes on this machine, dask for a cluster.
        workers: Worker processes on this machine; default: one per CPU.
        scheduler: Address of dask's scheduler, such as tcp://10.0.0.1:8786.
        output_format: Default: fleet.html in the folder of -o, and a summary here.
        reports: Also write the report of each instance that is unlike the others.
        query: For a server: which series, such as {job="api"}.
        time_range: For a server: how far back.
        step: For a server: time between two readings; default: a 120th of the range, a 6th for
            heap profiles.
        header: For a server: 'Name: value' for each request, or @FILE with one header per line.
    """
    places = where or []
    if not places and output is None:
        raise CaptureError("no captures named; wanted folders, archives, patterns or URLs")
    page = None if output is None else output / PAGE
    if page is not None and page.exists():
        check_writable(page, force=force, inputs=())
    if places and places[0] in SERVERS:
        asked = Query(places[0], query, time_range, step, header or [], user)
        found = from_server(places[1:], output, asked, workers)
    else:
        from gomem.fleets.fleet import fleet as read

        with captures_progress() as progress:
            found = read(
                *places, into=output, labels=labels, label_table=label_table, engine=engine.value,
                workers=workers, scheduler=scheduler, progress=progress,
            )  # fmt: skip
    from gomem.views.fleet.hidden import hidden_of

    hidden = hide(hidden_of(found, redact=redact))
    _tell_run(found)
    if reports:
        _write_reports(found, hidden)
    _write(found, page, output_format, hidden)
    if redact and output is not None:
        tell(text("{}: the dataset keeps all names; share only {}", file_part(output), PAGE))


def _write(fleet: Fleet, page: Path | None, chosen: Format | None, hidden: Hidden) -> None:
    """Write the page beside the dataset, and print the result."""
    from gomem.views.fleet.document import fleet_document

    if chosen is Format.json:
        from gomem.views.json.fleet import render_fleet_json

        write(render_fleet_json(fleet, hidden), None)
        return
    document = fleet_document(fleet, hidden)
    if chosen is not None and (chosen is not Format.html or page is None):
        write(written_as(chosen.value, document, None), None)
        return
    if page is None:
        write(terminal_text(document), None)
        return
    write(written_as("html", document, page), page)
    write(hidden.text(fleet.verdict.sentence), None)
    tell_where(page)


def _tell_run(fleet: Fleet) -> None:
    """Report what was read and what could not be, in a few lines."""
    if fleet.run is not None and fleet.run.skipped:
        tell(f"{how_many(fleet.run.skipped, 'capture')} done before, {fleet.run.read} read now")
    failed = fleet.failed
    for name, what in zip(failed["capture"].head(TOLD_FAILURES), failed["what"], strict=False):
        tell_about(name, what)
    if len(failed) > TOLD_FAILURES:
        tell(f"and {len(failed) - TOLD_FAILURES} more captures could not be read")


def _write_reports(fleet: Fleet, hidden: Hidden) -> None:
    """Write the report of each outlier's capture to the dataset's folder `reports`.

    With redaction, file names have the instance's number instead of the capture's name.
    """
    from gomem.capture.load import load
    from gomem.diagnosis.diagnosis import diagnose
    from gomem.fleets.reports import report_name
    from gomem.inputs.schema import rows_of
    from gomem.sources.captures import Place, at_hand
    from gomem.views.report.report import report_document
    from gomem.views.writers.html import write_html

    folder = fleet.dataset.reports
    folder.mkdir(exist_ok=True)
    unlike = fleet.outliers.head(OUTLIERS_REPORTED)
    paths = fleet.captures.drop_duplicates("capture", keep="last").set_index("capture")["path"]
    with stages() as at:
        for capture, row in {row["capture"]: row for row in rows_of(unlike)}.items():
            at.now(text("writing the report of {}", capture))
            try:
                with at_hand(Place(paths[capture], str(capture))) as path:
                    diagnosis = diagnose(load(path))
            except CaptureError as error:  # it may have been deleted
                tell(error.message)
                continue
            named = hidden.text(row["instance"]) if hidden.redact else str(capture)
            page = write_html(report_document(diagnosis, redact=hidden.redact))
            write(page, folder / report_name(named))
