"""A capture is a mapping of its moments, and frames of many moments have them in their order."""

import pandas as pd
import pytest

import gomem
from tests.builders import FIXTURES

CAPTURES = FIXTURES / "captures"
SPIKY = CAPTURES / "spiky-go1.27.3"


@pytest.fixture(scope="module")
def capture():
    return gomem.load(SPIKY)


def test_a_capture_is_a_mapping_of_its_moments(capture):
    assert list(capture.by_moment) == list(capture) == list(capture.keys())
    assert 25 == len(capture)
    assert ("settled", capture["settled"]) == list(capture.items())[-1]
    assert capture["settled"] in capture.values()
    assert "settled" in capture
    assert "settled" in capture._ipython_key_completions_()
    assert capture.get("nobody") is None


@pytest.mark.parametrize("key", [0, None, 1.5])
def test_a_key_of_another_type_is_no_moment(capture, key):
    assert key not in capture
    with pytest.raises(KeyError, match=f"has no moment {key}"):
        capture[key]


def test_a_capture_of_a_log_alone_has_no_moment_and_is_one():
    log = gomem.load(CAPTURES / "healthy-go1.27.3/gctrace.log")

    assert 0 == len(log)
    assert log


def test_a_pivot_has_moments_in_the_capture_s_order(tmp_path):
    """
    By text `10-late` would come before `9-early`.
    """
    for name in ("10-late", "9-early"):
        (tmp_path / name).mkdir()
        stats = (SPIKY / "scrape-01/memstats.json").read_bytes()
        (tmp_path / name / "memstats.json").write_bytes(stats)

    frame = gomem.load(tmp_path).memstats

    assert ["9-early", "10-late"] == list(frame.groupby("moment").size().index)


def test_frames_of_many_moments_say_when_each_was(capture):
    diagnosis = gomem.diagnose(capture)
    frames = (
        capture.memstats, capture.pauses, capture.top("inuse_space"), capture.goroutines,
        diagnosis.ledger, diagnosis.smaps, diagnosis.kinds, diagnosis.heap,
    )  # fmt: skip

    for frame in frames:
        assert ["moment", "time"] == list(frame.columns[:2])
        assert frame["moment"].cat.ordered
        assert [capture[name].time for name in frame["moment"]] == list(frame["time"])
    steps = diagnosis.heap_steps
    assert [capture[name].time for name in steps["after"]] == list(steps["time"])


def test_what_counts_bytes_is_whole_whatever_is_missing(capture):
    """
    Of the 25 moments one alone has smaps, and not all have MemStats of their own.
    """
    for levels in (capture.levels, gomem.diagnose(capture).levels):
        units = gomem.columns(levels).set_index("column")
        of_bytes = units.index[units["unit"] == "B"].difference(["/gc/gomemlimit:bytes"])
        assert len(of_bytes) > 40
        assert {"Int64"} == {str(levels[name].dtype) for name in of_bytes}
    assert capture.levels["Rss"].isna().any()


@pytest.mark.parametrize("name", ["smaps", "heap", "heap_steps", "levels", "ledger", "kinds"])
def test_every_column_says_what_it_means(capture, name):
    told = gomem.columns(getattr(gomem.diagnose(capture), name))

    assert [] == told.loc[told["means"] == "", "column"].tolist()
    assert pd.Series(["moment", "time"]).isin(told["column"]).any()


def test_windows_of_a_log_say_what_their_columns_mean(capture):
    told = gomem.columns(gomem.diagnose(capture).timeline())

    assert [] == told.loc[told["means"] == "", "column"].tolist()


@pytest.mark.parametrize("value", ["18446744073709551615", "1.5"])
def test_a_metric_that_64_bits_do_not_hold_as_a_whole_number_is_a_fraction(tmp_path, value):
    """
    The heap goal of a collector that is off is the largest number of 64 bits without a sign.
    """
    metrics = f'{{"/gc/heap/goal:bytes": {value}, "/gc/heap/live:bytes": 4096}}'
    (tmp_path / "runtime-metrics.json").write_text(metrics, encoding="utf-8")

    levels = gomem.load(tmp_path).levels

    assert float(value) == levels["/gc/heap/goal:bytes"].iloc[0]
    assert "float64" == levels["/gc/heap/goal:bytes"].dtype
    assert "Int64" == levels["/gc/heap/live:bytes"].dtype
