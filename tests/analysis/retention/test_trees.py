"""Sums over trees of dominators, against the plain way to sum."""

import numpy as np
import pytest

from gomem.analysis.retention.dominators import _subtree_sums, _tops


def tree(seed, *, is_list):
    """Of 60 nodes each parent, -1 if not reached, and those reached, parents first; 59 is root."""
    random = np.random.default_rng(seed)
    root, by = 59, np.full(60, -1)
    placed = [root]
    by[root] = root
    for node in random.permutation(root)[: random.integers(0, 60)].tolist():
        by[node] = placed[-1 if is_list else random.integers(len(placed))]
        placed.append(node)
    return by, placed


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("is_list", [True, False])
def test_sums_and_tops_are_those_of_one_node_after_the_other(seed, is_list):
    by, placed = tree(seed, is_list=is_list)
    root = placed[0]
    values = np.random.default_rng(seed).integers(1, 1 << 40, len(by)).astype(float)
    sums, tops = values.astype(int), np.full(len(by), -1)
    for node in placed[:0:-1]:
        sums[by[node]] += sums[node]
    for node in placed[1:]:
        tops[node] = node if by[node] == root else tops[by[node]]

    assert sums.tolist() == _subtree_sums(by, root, values).tolist()
    assert tops.tolist() == _tops(by, root).tolist()
