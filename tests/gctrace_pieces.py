"""A gctrace log that was parsed in pieces, as the columns that one piece would give."""

from collections import Counter
from itertools import chain

import numpy as np

from gomem.inputs.gctrace.columns import GcTraceColumns


def join_pieces(pieces):
    """The whole of a log that was parsed in pieces: columns, and what is damaged."""
    columns, damage = zip(*pieces, strict=True)
    return join(columns), list(chain.from_iterable(damage))


def join(pieces):
    """The columns of a log whose pieces were laid out one after the other; takes them apart."""
    # One column after the other is joined and let go of: a long log is not twice in memory.
    if len(pieces) == 1:
        return pieces[0]
    others = Counter()
    for piece in pieces:
        others.update(piece.others)
    cycles = join_events([piece.cycles for piece in pieces])
    scavenges = join_events([piece.scavenges for piece in pieces])
    pacer = join_events([piece.pacer for piece in pieces])
    return GcTraceColumns(cycles, scavenges, pacer, dict(others), pieces[-1].go_releases)


def join_events(pieces):
    filled = [events for events in pieces if len(events["line"])] or list(pieces[:1])
    names = dict.fromkeys(name for events in filled for name in events)
    lengths = [len(events["line"]) for events in filled]
    joined = {}
    for name in names:
        like = next(events[name] for events in filled if name in events)
        parts = [
            events.pop(name) if name in events else _unknown(like, length)
            for events, length in zip(filled, lengths, strict=True)
        ]
        concatenate = np.ma.concatenate if isinstance(like, np.ma.MaskedArray) else np.concatenate
        joined[name] = concatenate(parts)
    return joined


def _unknown(like, length):
    """What stands for a column that a piece does not have."""
    if isinstance(like, np.ma.MaskedArray):
        return np.ma.array(np.zeros(length, np.int64), mask=np.ones(length, bool))
    if like.dtype.kind == "f":
        return np.full(length, np.nan)
    return np.zeros(length, like.dtype) if like.dtype.kind == "b" else np.full(length, None)
