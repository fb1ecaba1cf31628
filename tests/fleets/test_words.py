"""Every quantity by which an instance can be unlike the others has words."""

from gomem.analysis.fleet.outliers import RATE_ORDER
from gomem.analysis.fleet.quantities import QUANTITIES
from gomem.fleets.verdict import DOES


def test_each_part_count_and_rate_that_is_judged_has_words():
    judged = {quantity.name for quantity in QUANTITIES if quantity.what in {"part", "count"}}

    assert judged | set(RATE_ORDER) | {"rss_bytes"} <= set(DOES)
