"""What a program's own log says of its memory."""

import pandas as pd
import pytest

from gomem.analysis.memory.ledger import reconcile_rss
from gomem.analysis.memory.logged import Logged, logged_reading
from gomem.analysis.memory.totals import resident_totals
from gomem.inputs.runtime_lines.table import READINGS
from gomem.inputs.schema import build_rows
from tests.builders import memstats_row

NOTHING = dict.fromkeys((column.name for column in READINGS), None)


def log(*rows: dict) -> pd.DataFrame:
    whole = NOTHING | {"program": "db", "line": 1}
    return build_rows((tuple((whole | row).values()) for row in rows), READINGS)


def logged(**sizes: int) -> Logged:
    return Logged("db", sizes, 1024)


def test_the_last_reading_is_told_with_what_it_says():
    found = logged_reading(
        log(
            {"rss_bytes": 900, "gcs": 3, "step_bytes": 100},
            {"rss_bytes": 800, "goroutines": 0, "step_bytes": 50, "program": "web"},
        )
    )

    assert ("web", {"rss": 800, "goroutines": 0}, 50) == (
        found.program, found.sizes, found.step_bytes,
    )  # fmt: skip


def test_a_log_without_a_reading_says_nothing():
    assert logged_reading(log()) is None


def test_sizes_of_unknown_rounding_are_taken_to_the_byte():
    assert 1 == logged_reading(log({"rss_bytes": 900})).step_bytes


def test_rss_is_unknown_unless_the_line_has_it():
    assert (900, None) == (logged(rss=900).rss_bytes, logged(go_alloc=5).rss_bytes)


@pytest.mark.parametrize(
    ("sizes", "claims"),
    [
        pytest.param({"go_alloc": 50, "go_idle": 20, "go_total": 80}, (50, 20, 10), id="a rest"),
        pytest.param({"go_alloc": 50, "go_idle": 30, "go_total": 80}, (50, 30, 0), id="no rest"),
        pytest.param({"go_alloc": 50, "go_idle": 40, "go_total": 80}, (50, 40, 0), id="below it"),
        pytest.param({"go_alloc": 0, "go_idle": 0, "go_total": 0}, (0, 0, 0), id="zeros"),
        pytest.param({"go_idle": 20, "go_total": 80}, None, id="no objects"),
        pytest.param({"go_alloc": 50, "go_total": 80}, None, id="no idle heap"),
        pytest.param({"go_alloc": 50, "go_idle": 20}, None, id="no total"),
    ],
)
def test_a_line_with_all_three_tells_what_go_has_reserved(sizes, claims):
    assert claims == logged(**sizes).go_claims


def parts_of(ledger) -> dict[str, int]:
    return dict(zip(ledger.parts["part"], ledger.parts["bytes"].tolist(), strict=True))


LINE = {"rss": 130, "go_alloc": 50, "go_idle": 20, "go_total": 80, "cgo_total": 30}


def test_a_line_alone_makes_a_ledger_that_adds_up():
    """
    Of 130 Go has 80 and C 30; 20 are of nobody.
    """
    ledger = reconcile_rss(logged=logged(**LINE))

    assert 130 == ledger.rss_bytes
    assert {
        "heap_objects": 50,
        "heap_idle": 20,
        "runtime_metadata": 10,
        "native_heap": 30,
        "heap_untouched": 0,
        "anonymous_other": 20,
    } == parts_of(ledger)
    claimed = ledger.parts.set_index("part")["claimed_bytes"]
    assert [50, 20, 10] == claimed.dropna().tolist()


def test_what_go_and_c_claim_beyond_rss_was_never_touched():
    ledger = reconcile_rss(logged=logged(**LINE | {"rss": 100}))

    assert (-10, 0, 30) == tuple(
        parts_of(ledger)[part] for part in ("heap_untouched", "anonymous_other", "native_heap")
    )


def test_memstats_are_better_than_a_line():
    row = memstats_row(HeapAlloc=40, HeapInuse=45)

    ledger = reconcile_rss(None, row, logged=logged(**LINE))

    assert (40, 5, 55) == tuple(
        parts_of(ledger)[part] for part in ("heap_objects", "heap_slack", "anonymous_other")
    )


@pytest.mark.parametrize(("rss", "native", "rest"), [(130, 30, 100), (30, 30, 0), (20, 20, 0)])
def test_a_c_heap_without_go_is_at_most_rss(rss, native, rest):
    parts = parts_of(reconcile_rss(logged=logged(rss=rss, cgo_total=30)))

    assert {"native_heap": native, "anonymous_other": rest} == parts


def test_a_line_without_rss_leaves_it_to_the_cgroup():
    silent, told = logged(go_alloc=5), logged(rss=90)

    assert 40 == resident_totals(cgroup={"anon": 40}, logged=silent).rss_bytes
    assert 90 == resident_totals(cgroup={"anon": 40}, logged=told).rss_bytes
    assert resident_totals(logged=silent) is None
