"""Frames lie below their callers, side by side, the widest first."""

import numpy as np

from gomem.analysis.profiles.call_tree import flame_layout


def test_calls_stand_side_by_side_below_their_caller_the_widest_first():
    """
    The whole (10) calls 1 (3) and 2 (6); 2 calls 3 (4). So 2 begins at 0, 1 behind it at 0.6.
    """
    parent, depth = np.array([-1, 0, 0, 2]), np.array([0, 1, 1, 2])

    placed = flame_layout(parent, depth, np.array([10.0, 3.0, 6.0, 4.0]))

    assert [0.0, 0.6, 0.0, 0.0] == placed["start"].tolist()
    assert [1.0, 0.3, 0.6, 0.4] == placed["width"].tolist()
    assert [0, 2, 3, 1] == placed["order"].tolist()


def test_a_profile_of_nothing_has_no_width():
    placed = flame_layout(np.array([-1]), np.array([0]), np.array([0.0]))

    assert [0.0] == placed["width"].tolist()
