"""A log of the collector, whole or piece by piece, to a `GcLog`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gomem.inputs.gctrace.parse import join_pieces, parse_pieces
from gomem.inputs.gctrace.table import gctrace_tables, packed_log
from gomem.sources.bounds import Bounds
from gomem.sources.long import open_stream

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gomem.inputs.gctrace.table import GcLog
    from gomem.sources.artefact import Readable
    from gomem.sources.long import Progress


def read_gctrace(
    readable: Readable, *, progress: Progress | None = None, packed: bool = False
) -> GcLog:
    """Read a GODEBUG=gctrace=1 log, as the program wrote it or as a log collector wrapped it.

    A log without any line of the collector gives empty frames. The log itself is never whole in
    memory, only what is read of it; a very long log must be kept `packed`. `progress` is called
    with the stored bytes read and how many there are.
    """
    if packed:
        return packed_log(iter_gctrace(readable, progress=progress))
    stream = open_stream(readable)
    pieces = stream.pieces(progress)
    columns, damage = join_pieces(parse_pieces(pieces, source=stream.name))
    return gctrace_tables(columns, [*stream.damage, *damage])


def iter_gctrace(readable: Readable, *, progress: Progress | None = None) -> Iterator[GcLog]:
    """Read a gctrace log of any length in the memory of a few pieces of it.

    Logs of 4 MiB each, at least one, that together are the whole: runs, line numbers, and what came
    before go on from one to the next. `progress` is called as by `read_gctrace`.
    """
    stream = open_stream(readable, bounds=Bounds.of_a_stream())
    for columns, damage in parse_pieces(stream.pieces(progress), source=stream.name):
        noted = [*stream.damage, *damage]
        stream.damage.clear()
        yield gctrace_tables(columns, noted)
