"""Nodes: each in a sample once, whatever is sorted at a time, and sums that are exact."""

import numpy as np
import pytest

from gomem.inputs.pprof.calls import nodes as module
from gomem.inputs.pprof.calls.graph import edges_of, tree_of
from gomem.inputs.pprof.calls.nodes import nodes_of
from gomem.inputs.pprof.parse import parse_pprof
from tests.pprof_messages import field, function, location, message, profile, sample

INLINED = location(1, 1, 2) + location(2, 2) + message(4, field(1, 3), field(3, 0x40))
SAMPLES = [
    sample(1, 2, value=1),  # leaf, inlined into root, which root called
    sample(2, value=2),
    sample(3, 2, 3, value=4),  # without a name
    sample(value=8),
    sample(2, 1, 1, 3, value=16),
]


def columns_of(*samples, locations=INLINED, **parts):
    return parse_pprof(profile(*samples, locations=locations, **parts), source="made.pb")[0]


def sums_of(columns, granularity="functions"):
    nodes, weights = nodes_of(columns, granularity), columns.value[:, 0]
    flat, cum = nodes.flat(weights).tolist(), nodes.cum(weights).tolist()
    return dict(zip(nodes.names, zip(flat, cum, strict=True), strict=True))


EXPECTED = {"main.leaf": (1, 17), "main.root": (18, 23), "<unknown>": (4, 20)}


@pytest.mark.parametrize("frames", [1, 2, 3, 5, 6, 100])
def test_a_node_counts_once_for_each_sample_however_many_are_sorted_at_a_time(frames, monkeypatch):
    monkeypatch.setattr(module, "CHUNK_FRAMES", frames)
    columns = columns_of(*SAMPLES)

    runs = list(nodes_of(columns).runs())

    assert EXPECTED == sums_of(columns)
    assert [0, *(last for _, last in runs)] == [*(first for first, _ in runs), len(SAMPLES)]
    assert all(first < last for first, last in runs)
    offsets = columns.stack_offsets
    assert all(
        last == first + 1 or offsets[last] - offsets[first] <= frames for first, last in runs
    )


@pytest.mark.parametrize("frames", [1, 100])
def test_calls_are_the_same_however_many_are_sorted_at_a_time(frames, monkeypatch):
    monkeypatch.setattr(module, "CHUNK_FRAMES", frames)
    columns = columns_of(*SAMPLES)
    nodes = nodes_of(columns)

    edges = edges_of(nodes, columns.value[:, 0])

    names = nodes.names
    assert {
        ("main.root", "main.leaf", 17, True),
        ("main.root", "<unknown>", 4, False),
        ("<unknown>", "main.root", 20, False),
        ("main.leaf", "main.root", 16, False),
    } == {
        (names[caller], names[callee], weight, inlined)
        for caller, callee, weight, inlined in zip(
            edges.caller.tolist(), edges.callee.tolist(), edges.weight.tolist(),
            edges.inlined.tolist(), strict=True,
        )
    }  # fmt: skip


def test_a_trees_fractions_are_of_the_total_and_of_the_node():
    columns = columns_of(*SAMPLES)
    nodes = nodes_of(columns)

    tree = tree_of(nodes, columns.value[:, 0], np.arange(len(nodes)), 31, "leaf")

    rows = list(zip(tree["relation"], tree["other"], tree["cum"].tolist(), strict=True))
    assert [("caller", "main.root", 17), ("self", "main.leaf", 17)] == rows[:2]
    assert [1.0, 17 / 31] == tree["cum_fraction"].tolist()[:2]


@pytest.mark.parametrize("most", [(1 << 53) - 1, 1 << 53, (1 << 53) + 1, (1 << 62) + 1])
def test_sums_are_exact_though_a_float_is_not(most):
    columns = columns_of(sample(1, value=most), sample(1, value=2), sample(2, value=-1))

    sums = sums_of(columns)

    assert (most + 2, most + 2) == sums["main.leaf"]
    assert (-1, most + 1) == sums["main.root"]


@pytest.mark.parametrize(
    ("granularity", "expected"),
    [
        ("functions", {"main.f": 7}),
        ("filefunctions", {"main.f /app/main.go": 3, "main.f inuse_space": 4}),
        ("files", {"/app/main.go": 3, "inuse_space": 4}),
        ("lines", {
            "main.f /app/main.go:10": 1, "main.f /app/main.go:20": 2, "main.f inuse_space:30": 4,
        }),
        ("addresses", {
            "0000000000000010 main.f /app/main.go:10:5": 1,
            "0000000000000020 main.f /app/main.go:20": 2,
            "0000000000000030 main.f inuse_space:30": 4,
        }),
        ("packages", {"main": 7}),
        ("modules", {"main": 7}),
    ],
)  # fmt: skip
def test_what_tells_nodes_apart(granularity, expected):
    """
    Two functions of one name in two files, one of them at two places.
    """

    def place(identity, of, line, column=0):
        lines = message(4, field(1, of), field(2, line), field(3, column))
        return message(4, field(1, identity), field(3, 0x10 * identity), lines)

    places = place(1, 1, 10, 5) + place(2, 1, 20) + place(3, 2, 30)
    functions = function(1, 3, file=5) + function(2, 3, file=1)
    columns = columns_of(
        *(sample(one, value=value) for one, value in ((1, 1), (2, 2), (3, 4))),
        locations=places,
        functions=functions,
    )
    columns.strings[3] = "main.f"

    assert expected == {name: flat for name, (flat, _) in sums_of(columns, granularity).items()}
