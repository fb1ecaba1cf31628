"""Export a GC log: as CSV in pieces, as a trace, as OpenMetrics."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.cli.output import DamageReport
from gomem.cli.progress import bytes_progress
from gomem.errors import CaptureError
from gomem.text import File, text

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pandas as pd

    from gomem.inputs.gctrace.table import GcLog

STREAMED_FROM_BYTES = 1 << 23  # shorter logs are read whole, like any other artefact
STREAMED_FRAMES = ("cycles", "scavenges", "pacer")  # other frames need the whole log


def is_long_log(artefact: Path) -> bool:
    """Return whether a file is a GC log that is long enough to be read in pieces."""
    from gomem.inputs.kinds import BY_NAME, kind_of
    from gomem.sources.long import open_stream

    if not artefact.is_file() or artefact.stat().st_size < STREAMED_FROM_BYTES:
        return False
    return kind_of(next(open_stream(artefact).pieces()), str(artefact)) is BY_NAME["gctrace"]


def csv_pieces(artefact: Path, frame: str) -> Iterator[str]:
    """Yield a table of a GC log as CSV; only a few pieces of a long log are in memory."""
    from gomem.views.spreadsheet import render_csv

    for number, log in enumerate(_pieces(artefact)):
        yield render_csv(getattr(log, frame), header=number == 0)


def trace_pieces(artefact: Path) -> Iterator[str]:
    """Yield a GC log as a trace for Perfetto; only a few pieces of a long log are in memory."""
    from gomem.views.exports.trace import render_trace

    yield from render_trace(_placed(artefact))


def _placed(artefact: Path) -> Iterator[tuple[pd.DataFrame, pd.Series, pd.DataFrame]]:
    """Yield a log in pieces: collections and scavenger lines on one clock for all runs."""
    import pandas as pd

    from gomem.analysis.collector.steps import LogClock
    from gomem.analysis.collector.timeline import gc_scavenges

    clock, last = LogClock(), None
    for log, cycles, before in _logs(artefact):
        begins = clock.seconds(cycles.iloc[before:])
        all_begins = begins if last is None else pd.concat([last, begins])
        yield cycles.iloc[before:], begins, gc_scavenges(cycles, log.scavenges, all_begins)
        last = all_begins.tail(1) if len(all_begins) else last


def openmetrics_pieces(artefact: Path) -> Iterator[str]:
    """Yield the cost of GC as OpenMetrics; only a few pieces of a long log are in memory."""
    from gomem.analysis.collector.cost import CostSoFar
    from gomem.views.exports.openmetrics import render_openmetrics

    so_far = CostSoFar()
    for _, cycles, before in _logs(artefact):
        so_far.add(cycles, before)
    yield render_openmetrics(so_far.cost)


def _logs(artefact: Path) -> Iterator[tuple[GcLog, pd.DataFrame, int]]:
    """Yield a log in pieces, with collections as a frame.

    The frame begins with the last collection of the previous piece; the number is 1 if there is
    one, else 0.
    """
    import pandas as pd

    last, rows, events = None, 0, 0
    for log in _pieces(artefact):
        assert isinstance(log.cycles, pd.DataFrame)
        cycles = log.cycles.set_index(log.cycles.index + rows)
        yield log, cycles if last is None else pd.concat([last, cycles]), int(last is not None)
        rows += len(cycles)
        events += len(cycles) + len(log.scavenges) + len(log.pacer)
        last = cycles.tail(1) if len(cycles) else last
    if not events:
        what = "{}: no gctrace line; wanted a GODEBUG=gctrace=1 log"
        raise CaptureError(text(what, File(artefact)))


def _pieces(artefact: Path) -> Iterator[GcLog]:
    """Yield a log in pieces, with progress, and report damage."""
    from gomem.inputs.gctrace.table import iter_gctrace

    damage = DamageReport()
    with bytes_progress(artefact.name) as progress:
        for log in iter_gctrace(artefact, progress=progress):
            damage.tell(log.damaged)
            yield log
    damage.end()
