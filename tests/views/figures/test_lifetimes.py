"""Mean lifetimes by site, on an axis of decades; and which functions the report advises to pool."""

import gomem
from gomem.charts.chart import Line
from gomem.views.figures.lifetimes import MIN_SECONDS, SITES, plot_lifetimes
from tests.builders import FIXTURES, as_html

RECORDED = FIXTURES / "lifetimes" / "go1.27.3.tar.gz"


def test_each_site_has_a_mark_and_an_interval_within_the_axis():
    lives = gomem.diagnose(RECORDED).facts.lifetimes
    drawing = plot_lifetimes(lives)
    (panel,) = drawing.chart.panels
    lines = [mark for mark in panel.marks if isinstance(mark, Line)]
    rows = lives.largest(SITES)

    assert rows["lifetime_seconds"].notna().sum() == sum(len(line.x) == 1 for line in lines)
    ends = [end for line in lines if len(line.x) == 2 for end in line.x.tolist()]
    assert min(ends) == MIN_SECONDS == panel.x.scale.low
    assert max(ends) == panel.x.scale.high  # the leak goes on
    assert "main.leak: " in drawing.description
    assert " or more, kept" in drawing.description


def test_the_report_says_where_a_pool_pays_and_what_is_kept():
    """
    It is folded, so text leaves it out.
    """
    page = as_html(gomem.diagnose(RECORDED))

    assert "Object lifetimes: candidates for a sync.Pool" in page
    assert "Candidates for a sync.Pool: " in page
    assert "main.leak stayed in use during the capture" in page
