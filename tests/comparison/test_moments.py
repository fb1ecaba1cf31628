"""Which moments are compared, and where the resident bytes are at each."""

import pandas as pd

from gomem.comparison.moments import compared_ledgers, compared_moments
from gomem.units import MIB
from tests.comparison.runs import moment, run, side


def test_pairs_of_moments_and_what_is_of_them():
    """
    Metrics are of the last pair, sites of the last that have profiles.
    """
    old = side(run(moment("1", 3), moment("2", 4)), run(moment("1", 5), moment("2", 4)))
    new = side(run(moment("1", 7), moment("2", 9)))

    table = compared_moments(old, new, [("1", "1"), ("2", "2")], [("1", "1")])
    alone = compared_moments(old, new, [("1", "1")], [("x", "2")])

    assert [4 * MIB, 4 * MIB] == table["before_rss_bytes"].tolist()
    assert [3 * MIB, 5 * MIB] == table["change_bytes"].tolist()
    assert [[False, True], [True, False]] == [
        table[name].tolist() for name in ("of_metrics", "of_sites")
    ]
    assert [("1", "1"), ("x", "2")] == list(zip(alone["before"], alone["after"], strict=True))
    assert alone.loc[1, ["before_rss_bytes", "after_rss_bytes", "change_bytes"]].isna().all()
    assert [[True, False], [False, True]] == [
        alone[name].tolist() for name in ("of_metrics", "of_sites")
    ]


def test_parts_are_of_the_run_in_the_middle_and_what_nobody_tells_is_unknown():
    mapped = pd.DataFrame({"kind": []})
    old = side(*(run(moment("1", size)) for size in (3, 4, 8)))
    new = side(run(moment("1", 6, mappings=mapped)))

    parts = compared_ledgers(old, new, [("1", "1")]).set_index("part")

    assert [4 * MIB, 6 * MIB, 2 * MIB] == parts.loc[
        "heap_objects", ["before", "after", "change"]
    ].tolist()
    assert 0 == parts.loc["native_heap", "after"]
    assert parts.loc["native_heap", ["before", "change"]].isna().all()
    assert "heap_idle" not in parts.index
