"""The order of pprof's rows, which a test that sorts both sides does not hold."""

from types import SimpleNamespace

import numpy as np
import pytest

from gomem.inputs.pprof.calls.nodes import top_of

ROWS = {  # node: name, flat, cum
    "small": ("f", 1, 90),
    "b, large": ("b", 5, 5),
    "a, large": ("a", 5, 5),
    "negative": ("c", -7, -7),
    "nothing": ("d", 0, 0),
    "a, above": ("a", 5, 80),
    "of what it calls": ("e", 0, 90),
}


def order(rows=ROWS, **options):
    """Which rows, from the top."""
    nodes = SimpleNamespace(names=[name for name, _, _ in rows.values()])
    flat, cum = (np.array([row[n] for row in rows.values()], np.int64) for n in (1, 2))
    top = top_of(nodes, flat, cum, **options)
    assert top.function == [nodes.names[one] for one in top.node]
    assert (flat[top.node] == top.flat).all()
    assert (cum[top.node] == top.cum).all()
    return [list(rows)[one] for one in top.node]


def test_by_flat_then_by_name_then_by_cum():
    """
    By magnitude: a difference below 0 counts as much as one above. What has nothing is none.
    """
    assert [
        "negative", "a, above", "a, large", "b, large", "small", "of what it calls",
    ] == order()  # fmt: skip


def test_by_cum_then_by_name_then_by_flat():
    assert [
        "of what it calls", "small", "a, above", "negative", "a, large", "b, large",
    ] == order(by_cum=True)  # fmt: skip


@pytest.mark.parametrize("n", [0, 1, 2, 6, 9])
def test_so_many_from_the_top(n):
    assert order()[:n] == order(n=n)


def test_of_no_nodes_there_is_no_row():
    assert [] == order({})
