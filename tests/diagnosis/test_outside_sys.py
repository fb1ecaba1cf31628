"""RSS beyond Sys is outside Go's runtime; a growth that ended is not called growing."""

import pytest

import gomem
from tests.builders import as_text


def log(*readings):
    line = (
        "Time: {}s  Resident size: {:.1f}MB  MemStats.Sys: {:.1f}MB  MemStats.Alloc: 22.0MB  "
        "MemStats.TotalAlloc: {}.0MB\n"
    )
    rows = (line.format(50 * n, rss, of, 90 + n) for n, (rss, of) in enumerate(readings))
    return "".join(rows)


def said(tmp_path, *readings):
    path = tmp_path / "log.txt"
    path.write_text(log(*readings))
    return " ".join(as_text(gomem.diagnose(path)).split())


def test_rss_beyond_sys_is_told_with_the_growth_that_is_not_gos(tmp_path):
    words = said(tmp_path, (60, 80), (190, 90), (400, 96), (620, 96))

    assert "At least 524 MiB (85 %) is outside Go's runtime: RSS beyond Sys." in words
    assert "Of the growth since capture-1, at least 464 MiB is not Go's" in words


def test_growth_that_go_can_have_is_not_called_anothers(tmp_path):
    words = said(tmp_path, (60, 80), (70, 84), (90, 85), (100, 88))

    assert "is outside Go's runtime" in words
    assert "is not Go's" not in words
    assert "outside Go's runtime" not in said(tmp_path, (60, 80), (62, 84), (64, 90))


@pytest.mark.parametrize(
    ("last", "goes_on"), [([(90, 120), (110, 130)], True), ([(101, 120), (101.5, 130)], False)]
)
def test_a_growth_that_ended_in_a_stable_rss_is_not_still_growing(tmp_path, last, goes_on):
    words = said(tmp_path, (30, 80), (50, 90), (70, 100), *last)

    assert goes_on == ("still growing" in words)
