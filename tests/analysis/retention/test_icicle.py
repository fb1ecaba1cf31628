"""Retained bytes as frames of a figure."""

import numpy as np
import pytest

from gomem.analysis.retention.icicle import WHOLE, icicle_of
from gomem.views.figures.flame_graph import draw_flame
from tests.analysis.retention.test_keepers import recorded
from tests.heap_dumps import RELEASES


@pytest.mark.parametrize("release", RELEASES)
def test_what_hangs_below_a_frame_lies_within_it(release):
    retention = recorded(release)
    frames = icicle_of(retention).frames
    start, end = frames["start"], frames["start"] + frames["width"]

    assert (WHOLE, retention.live_bytes) == (frames["name"][0], frames["value"][0])
    inner = frames.index[1:]
    parent = frames["parent"][inner]
    assert (start[inner].to_numpy() >= start[parent].to_numpy() - 1e-9).all()
    assert (end[inner].to_numpy() <= end[parent].to_numpy() + 1e-9).all()
    below = frames.groupby("parent")["value"].sum().drop(-1)
    assert (below.to_numpy() <= frames["value"][below.index].to_numpy()).all()
    assert (frames["depth"][inner].to_numpy() == frames["depth"][parent].to_numpy() + 1).all()


def test_the_keepers_come_first_and_many_small_objects_are_one_frame():
    frames = icicle_of(recorded("1.24.13")).frames
    keepers = frames[frames["depth"] == 1]

    assert ["main.cache", "main.magic", "main.serve"] == keepers["name"].head(3).tolist()
    assert np.isclose(keepers["width"].sum(), 1, atol=0.02)
    assert "400 × 1.05 KiB" in frames["name"].tolist()


def test_it_is_drawn_without_intervals():
    drawn = draw_flame(icicle_of(recorded("1.24.13")), name="kept").svg()

    assert "main.visitors" in drawn
    assert "retained: 438 KiB" in drawn
    assert "95 %" not in drawn
