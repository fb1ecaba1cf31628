"""A GC log on the command line: as CSV piece by piece, as a trace, as OpenMetrics."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.cli.output import DamageReport, tell_damage
from gomem.cli.progress import bytes_progress
from gomem.errors import CaptureError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from gomem.inputs.gctrace.table import GcLog

STREAMED_FROM_BYTES = 1 << 23  # shorter logs are read whole, like any other artefact
STREAMED_FRAMES = ("cycles", "scavenges", "pacer")  # the others are only known at the end


def is_long_log(artefact: Path) -> bool:
    """Whether a file begins as a GC log and is too long to be read whole without need."""
    from gomem.inputs.kinds import BY_NAME, kind_of
    from gomem.sources.long import open_stream

    if not artefact.is_file() or artefact.stat().st_size < STREAMED_FROM_BYTES:
        return False
    return kind_of(next(open_stream(artefact).pieces()), str(artefact)) is BY_NAME["gctrace"]


def csv_pieces(artefact: Path, frame: str) -> Iterator[str]:
    """A table of a log of any length as CSV, in the memory of a few pieces of the log."""
    from gomem.inputs.gctrace.read import iter_gctrace

    damage = DamageReport()
    with bytes_progress(artefact.name) as progress:
        for number, log in enumerate(iter_gctrace(artefact, progress=progress)):
            damage.tell(log.damaged)
            yield getattr(log, frame).to_csv(index=False, header=number == 0)
    damage.end()


def trace_pieces(artefact: Path) -> Iterator[str]:
    """A log as a trace for Perfetto."""
    from gomem.analysis.collector.scavenges import gc_scavenges
    from gomem.analysis.collector.steps import log_seconds
    from gomem.views.exports.trace import render_trace

    log = _read(artefact)
    scavenges = gc_scavenges(log.cycles, log.scavenges)
    yield from render_trace(log.cycles, log_seconds(log.cycles), scavenges)


def openmetrics_pieces(artefact: Path) -> Iterator[str]:
    """What the collector cost, as OpenMetrics text."""
    from gomem.analysis.collector.gc_cost import cost_of_collection
    from gomem.views.exports.openmetrics import render_openmetrics

    yield render_openmetrics(cost_of_collection(_read(artefact).cycles))


def _read(artefact: Path) -> GcLog:
    from gomem.inputs.gctrace.read import read_gctrace

    with bytes_progress(artefact.name) as progress:
        log = read_gctrace(artefact, progress=progress)
    if log.cycles.empty and log.scavenges.empty and log.pacer.empty:
        raise CaptureError(f"{artefact}: no line of the collector; wanted a GODEBUG=gctrace=1 log")
    tell_damage(log.damaged)
    return log
