"""A log too long to lie in memory is answered as one that does, in bounded memory a collection."""

import numpy as np
import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

from gomem.analysis.collector.cost import CostSoFar
from gomem.analysis.collector.steps import overlapping
from gomem.facts.collector import CollectorFacts
from gomem.inputs.gctrace.parse import parse_pieces
from gomem.inputs.gctrace.table import gctrace_tables, iter_gctrace, packed_log, read_gctrace
from gomem.inputs.packed import PackedFrame
from tests.builders import FIXTURES
from tests.gc_logs import GCLOGS

LOGS = (
    GCLOGS / "restarted-go1.27.3.log",
    GCLOGS / "limit-go1.27.3.log",
    GCLOGS / "all-go1.12.17.log",
    FIXTURES / "captures/alloc-pressure-before-go1.27.3/gctrace.log",
)
CUT_BYTES = 1700  # about ten lines: steps, runs and windows lie across
PIECES = 13  # at most: a long log's cuts are no others than a short one's
EXACTLY = 1e-9  # sums in another order


def in_pieces(path):
    data = path.read_bytes()
    size = max(CUT_BYTES, -(-len(data) // PIECES))
    cut = [data[start : start + size] for start in range(0, len(data), size)]
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("gomem.inputs.gctrace.table.MIN_ROWS", 1)
        return packed_log(gctrace_tables(*one) for one in parse_pieces(cut, source=path.name))


@pytest.fixture(scope="module", params=LOGS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def both(request):
    """The answers about a log as it is, and packed in many pieces."""
    return (
        CollectorFacts(read_gctrace(request.param), "log"),
        CollectorFacts(in_pieces(request.param), "log"),
    )


def test_packed_collections_come_out_as_they_were(both):
    whole, packed = both

    assert isinstance(packed.cycles, PackedFrame)
    assert len(list(packed.cycles.pieces())) > 2
    assert_frame_equal(whole.cycles, packed.cycles.whole())
    assert_frame_equal(whole.cycles[["number"]], packed.cycles["number"].to_frame())


@pytest.mark.at_most(4)
@pytest.mark.parametrize(
    "answer",
    [
        pytest.param(lambda one: one.pauses.quantiles, id="quantiles"),
        pytest.param(lambda one: one.pauses.histogram, id="histogram"),
        pytest.param(lambda one: one.utilization.curve.drop(columns="at_seconds"), id="mmu"),
        pytest.param(lambda one: one.triggers.counts, id="triggers"),
        pytest.param(lambda one: one.triggers.gogc, id="gogc"),
        pytest.param(lambda one: one.pacing.summary, id="pacing"),
        pytest.param(lambda one: pd.DataFrame([one.pacing.usual]), id="usual-room"),
        pytest.param(lambda one: one.phases, id="phases"),
        pytest.param(lambda one: one.timeline, id="timeline"),
        pytest.param(lambda one: one.timeline_table, id="timeline-table"),
        pytest.param(lambda one: one.scavenges, id="scavenges"),
        pytest.param(lambda one: pd.DataFrame([one.cost.values]).astype(float), id="cost"),
        pytest.param(lambda one: pd.DataFrame(list(one.live)), id="live"),
    ],
)
def test_it_has_the_same_answers(both, answer):
    whole, packed = (answer(one) for one in both)

    assert_frame_equal(whole, packed, rtol=EXACTLY, check_dtype=False)


def test_its_longest_stop_is_the_same(both):
    whole, packed = both

    assert whole.longest_stop["line"] == packed.longest_stop["line"]
    assert whole.utilization.mean_fraction == pytest.approx(packed.utilization.mean_fraction)


LINE = (
    b"gc %d @%d.%03ds 7%%: 0.0%d+2.%d+0.001 ms clock, 0.064+0/0.0%d/4.5+0.002 ms cpu, "
    b"%d->%d->%d MB, %d MB goal, 0 MB stacks, 0 MB globals, 2 P\n"
)
MANY = 6_000
PIECE_BYTES = 200_000
MOST_BYTES_A_CYCLE = (
    44  # of 14 million collections, a log of 2 GB, 620 MB; a frame takes 200 of each
)


def long_log(count):
    random = np.random.default_rng(3).integers(10, 99, (count, 4)).tolist()
    return b"".join(
        LINE % (n, n // 100, n % 100 * 10, a, b % 10, c, 50 + d, 52 + d, 30 + d % 7, 60 + d % 14)
        for n, (a, b, c, d) in enumerate(random, start=1)
    )


@pytest.fixture(scope="module")
def long_pieces():
    log = long_log(MANY)
    cuts = range(0, len(log), PIECE_BYTES)
    return [log[start : start + PIECE_BYTES] for start in cuts]


def logs(pieces):
    return (gctrace_tables(*one) for one in parse_pieces(pieces, source="log"))


def test_a_collection_of_a_long_log_takes_a_bounded_room(long_pieces, monkeypatch):
    """
    Of numbers that are as random as they come; of a real log it is half of that or less.
    """
    monkeypatch.setattr("gomem.inputs.gctrace.table.MIN_ROWS", 1)
    packed = packed_log(logs(long_pieces)).cycles

    assert len(list(packed.pieces())) > 3
    assert packed.stored_bytes < MOST_BYTES_A_CYCLE * len(packed)


def test_the_cost_of_a_stream_is_that_of_the_whole(tmp_path):
    """
    Openmetrics takes a log as it comes, and keeps none of it.
    """
    path = tmp_path / "gc.log"
    path.write_bytes(long_log(40_000))  # more than one piece of 4 MiB
    so_far, last, rows, pieces = CostSoFar(), None, 0, 0
    for log in iter_gctrace(path):
        cycles = log.cycles.set_index(log.cycles.index + rows)
        so_far.add(cycles if last is None else pd.concat([last, cycles]), int(last is not None))
        rows, last, pieces = rows + len(cycles), cycles.tail(1), pieces + 1

    whole = CollectorFacts(read_gctrace(path), "log").cost.values
    streamed = so_far.cost.values

    assert pieces > 1
    assert whole == pytest.approx(streamed, rel=EXACTLY)


def test_overlapping_pieces_have_each_step_once():
    packed = in_pieces(LOGS[0])

    own = [piece.iloc[before:]["line"] for piece, before in overlapping(packed.cycles)]

    assert pd.concat(own).tolist() == packed.cycles["line"].tolist()


def test_logs_of_which_one_is_packed_are_joined_packed():
    packed, whole = in_pieces(LOGS[0]), read_gctrace(LOGS[1])

    joined = whole.joined([packed])

    assert isinstance(joined.cycles, PackedFrame)
    assert [1, 2, 3] == sorted(set(joined.cycles["run"]))
    assert len(whole.cycles) + len(packed.cycles) == len(joined.cycles)
    expected = read_gctrace(LOGS[1]).joined([read_gctrace(LOGS[0])])
    assert_frame_equal(expected.cycles, joined.cycles.whole())
