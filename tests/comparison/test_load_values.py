"""What a load test measured, as levels to compare."""

import pandas as pd
import pytest

from gomem.comparison.single_values import load_levels, load_values

RUN = {"requests": 200, "errors": 5, "requests_per_second": 50.0, "mean_seconds": 0.1,
       "max_seconds": 0.9, "seconds": 4.0}  # fmt: skip
LATENCIES = ((0.5, 0.1), (0.9, 0.2), (0.95, 0.3), (0.99, 0.4), (0.75, 0.15))


def values(latencies=LATENCIES, **about):
    return load_values(
        pd.DataFrame([RUN | about]), pd.DataFrame(latencies, columns=["quantile", "seconds"])
    )


def test_what_it_says_is_told_by_name():
    assert {
        "requests_per_second": 50.0, "latency_mean_seconds": 0.1, "latency_max_seconds": 0.9,
        "error_fraction": 0.025, "load_requests": 200, "load_seconds": 4.0,
        "latency_p50_seconds": 0.1, "latency_p90_seconds": 0.2, "latency_p95_seconds": 0.3,
        "latency_p99_seconds": 0.4,
    } == values()  # fmt: skip


@pytest.mark.parametrize(
    ("requests", "told"),
    [(100, "p50 p90 p95 p99"), (99, "p50 p90 p95"), (20, "p50 p90 p95"), (19, "p50 p90"),
     (10, "p50 p90"), (9, "p50"), (2, "p50"), (1, ""), (0, ""), (None, "")],
)  # fmt: skip
def test_a_quantile_needs_a_request_beyond_it(requests, told):
    found = values(requests=requests)

    names = [name for name in found if name.startswith("latency_p")]
    assert [f"latency_{word}_seconds" for word in told.split()] == names


@pytest.mark.parametrize(
    ("quantile", "told"), [(0.9499996, "p95"), (0.9500004, "p95"), (0.949999, ""), (0.950001, "")]
)
def test_a_quantile_is_known_by_six_digits(quantile, told):
    found = values(((quantile, 0.3),))

    assert told == "".join(word for word in ("p95",) if f"latency_{word}_seconds" in found)


@pytest.mark.parametrize(
    "about", [{"requests": 0}, {"requests": None}, {"errors": None}, {"errors": float("nan")}]
)
def test_a_share_of_errors_needs_both_counts(about):
    assert "error_fraction" not in values(**about)


def test_what_it_does_not_say_is_left_out():
    assert {} == values((), **dict.fromkeys(RUN))


def test_levels_have_their_units_and_ways():
    told = {"requests_per_second": 50.0, "latency_p99_seconds": 0.4, "load_requests": 200.0,
            "alloc_bytes_per_request": 7.0, "other": 1.0}  # fmt: skip

    levels = load_levels(told)

    assert [
        ("requests_per_second", "requests/s", "load", "higher", 50.0),
        ("latency_p99_seconds", "s", "load", "lower", 0.4),
        ("load_requests", "count", "load", "neither", 200.0),
        ("alloc_bytes_per_request", "B/request", "load", "lower", 7.0),
    ] == list(levels.itertuples(index=False, name=None))
