"""What a load test adds to a comparison: requests a second, latencies, what a request cost."""

import pytest

from gomem.comparison.comparison import compare
from tests.builders import FIXTURES

LOADS, CHANGES = FIXTURES / "loadtest", FIXTURES / "changes"


def runs(change, side):
    return sorted((CHANGES / change / side).glob("*.tar.gz"))


def metric(comparison, name):
    return comparison.metrics.set_index("name").loc[name]


@pytest.fixture(scope="module")
def pooled():
    return compare(runs("buffers", "each"), runs("buffers", "pooled"))


@pytest.fixture(scope="module")
def gogc():
    return compare(runs("buffers", "pooled"), runs("buffers", "gogc-1000"))


def test_pooling_gives_the_articles_table(pooled):
    """
    A buffer of 10 MiB for each request, then one from a pool: what ab, the counters and MemStats
    say of it, four runs a side in turns.
    """
    verdicts = pooled.metrics.set_index("name")["verdict"]
    names = ["requests_per_second", "latency_p50_seconds", "latency_p99_seconds", "TotalAlloc"]
    names += ["alloc_bytes_per_request", "gc_cpu_seconds_per_request", "gc_cpu_fraction"]

    assert ["better"] * len(names) == [verdicts[name] for name in names]
    assert pooled.judgement.sentence == (
        "Requests per second rose from 54.3 to 295 (×5.4) and GC CPU fell from 25 % to 8 % "
        "for 18 MiB more RSS."
    )


def test_a_request_costs_what_the_program_allocates(pooled):
    """
    10 MiB, and 10 000 lines of 24 bytes each with a text of about as many, in both variants.
    """
    row = metric(pooled, "alloc_bytes_per_request")

    assert row["before_median"] - row["after_median"] == pytest.approx(10 << 20, rel=0.02)
    assert metric(pooled, "mallocs_per_request")["before_median"] == pytest.approx(20_000, rel=0.01)


def test_gogc_1000_has_its_price(gogc):
    assert "mixed" == gogc.judgement.verdict
    assert gogc.judgement.sentence == (
        "GOGC 100 → 1000: GC CPU fell from 8 % to <1 % for 253 MiB more RSS."
    )
    assert gogc.judgement.details[0] == (
        "RSS rose from 67 MiB to 320 MiB (×4.8, medians); in the median run of each side: free "
        "Go heap +143 MiB, allocated since the last GC +98 MiB."
    )
    assert "~" == metric(gogc, "requests_per_second")["verdict"]
    assert any("no change beyond noise" in line for line in gogc.judgement.details)


def test_load_tests_alone_are_compared():
    compared = compare(LOADS / "ab.txt", LOADS / "hey.txt")

    assert {"load"} == set(compared.metrics["layer"])
    assert "better" == compared.judgement.verdict
    assert compared.judgement.sentence.startswith("Requests per second rose from 150 to 340")
    assert "the load generator is ab with 2 connections before, and hey after" in compared.notes


def test_several_load_tests_of_one_capture_are_none(tmp_path):
    for side in ("before", "after"):
        (tmp_path / side).mkdir()
        for name in ("ab.txt", "wrk.txt"):
            (tmp_path / side / name).write_bytes((LOADS / name).read_bytes())

    compared = compare(tmp_path / "before", tmp_path / "after")

    assert compared.metrics.empty
    assert (
        "before side: 2 load tests in a capture; no load test is compared, because one is needed"
        in compared.notes
    )


def test_requests_can_be_given_where_no_load_test_says_so():
    sides = [runs("alloc-pressure", side)[0] for side in ("before", "after")]

    given, without = compare(*sides, requests=200_000), compare(*sides)

    assert metric(given, "alloc_bytes_per_request")["before_median"] == pytest.approx(
        67.2 * 1024, rel=0.03
    )
    assert "alloc_bytes_per_request" not in set(without.metrics["name"])


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        (
            "go1.23.4",
            "go1.24.2",
            "in the median run of each side: 160 MiB more of the Go heap is resident, ",
        ),
        ("go1.24.2", "go1.24.6", "RSS fell from 170 MiB to 9.5 MiB (-94 %, medians); "),
    ],
)
def test_the_releases_in_their_sentences(before, after, said):
    """
    Six runs a side in turns; the medians, and what moved RSS in the middle runs.
    """
    judgement = compare(runs("releases", before), runs("releases", after)).judgement

    assert ("worse" if after == "go1.24.2" else "better") == judgement.verdict
    assert said in judgement.sentence


def test_alloc_pressure_of_several_runs():
    """
    38 seconds against 5. That both answered as many requests, no file says: until somebody does,
    what counts up is not compared; a share of the CPU is.
    """
    sides = runs("alloc-pressure", "before"), runs("alloc-pressure", "after")
    untold, told = compare(*sides), compare(*sides, requests=200_000)

    assert "better" == metric(told, "TotalAlloc")["verdict"]
    assert "better" == metric(told, "gc_cpu_fraction")["verdict"]
    assert "better" == metric(untold, "gc_cpu_fraction")["verdict"]
    assert "?" == metric(untold, "TotalAlloc")["verdict"]
    assert "the runs differ in length" in metric(untold, "TotalAlloc")["note"]


@pytest.mark.parametrize("side", ["buffers/pooled", "releases/go1.24.2"])
def test_a_capture_with_itself_is_no_change(side):
    change, _, name = side.partition("/")
    one, all_of_them = runs(change, name)[0], runs(change, name)

    for compared in (compare(one, one), compare(all_of_them, all_of_them)):
        assert set(compared.metrics["verdict"]) <= {"~", "?"}
        assert {"~"} == set(compared.sites["state"])
        assert "same" == compared.judgement.verdict
