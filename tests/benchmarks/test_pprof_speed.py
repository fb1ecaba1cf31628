"""How fast profiles are read: against pprof's own package and command, and as they grow.

Run by hand, on a quiet machine:  pytest -o addopts= tests/benchmarks
The peer is fetched from the module proxy, with the caller's own settings.
"""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from statistics import median

import pandas as pd
import pytest

from gomem.inputs.pprof.read import read_pprof
from tests.benchmarks.large_profiles import large_profile, raw

PEER = Path(__file__).parent / "pprof_peer"
SAMPLES = 200_000
ROUNDS = 6  # the best of them: on a shared machine most are disturbed
PROFILES = 1000
NEEDS_GO = pytest.mark.skipif(
    shutil.which("go") is None, reason="the peer is a Go program: no go here"
)


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """Paths of one profile, not compressed and compressed."""
    folder = tmp_path_factory.mktemp("large")
    packed = large_profile(SAMPLES)
    (folder / "heap.pb.gz").write_bytes(packed)
    (folder / "heap.pb").write_bytes(raw(packed))
    return {"raw": folder / "heap.pb", "gzip": folder / "heap.pb.gz"}


@pytest.fixture(scope="module")
def peer(tmp_path_factory):
    binary = tmp_path_factory.mktemp("peer") / "peer"
    environment = {**os.environ, "GOFLAGS": "-mod=mod"}
    subprocess.run(["go", "build", "-o", binary, "."], cwd=PEER, check=True, env=environment)
    return binary


def seconds_of(work):
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def output(*command):
    done = subprocess.run(command, capture_output=True, check=True, text=True)
    return [int(word) for word in done.stdout.split()]


@pytest.mark.go
@NEEDS_GO
@pytest.mark.parametrize("form", ["raw", "gzip"])
def test_a_profile_is_read_in_less_time_than_pprofs_parse_takes(form, large, peer, benchmark):
    """
    Three tenths of it is the aim: reached by medians (0.27 to 0.29 on two idle cores, 0.40 in one
    run of eight), not by the least times (0.39 to 0.48), which are compared here because they vary
    less: how long a parse takes depends on when Go collects.
    """
    theirs, ours = [], []
    for _ in range(ROUNDS):
        theirs += [each / 1e9 for each in output(peer, "parse", large[form], "3")]
        ours += [seconds_of(lambda: read_pprof(large[form])) for _ in range(3)]
    ratio = min(ours) / min(theirs)
    benchmark.extra_info["ratio"] = ratio
    benchmark.extra_info["ratio_of_medians"] = median(ours) / median(theirs)
    benchmark.pedantic(read_pprof, args=(large[form],), rounds=1)

    assert ratio <= 0.55, f"{form}: read_pprof / profile.Parse = {ratio:.2f}"


@pytest.mark.go
@NEEDS_GO
def test_the_command_takes_a_fifth_of_the_time_of_pprofs(large, benchmark):
    """
    Both as processes, from start to end, on the compressed profile.
    """
    ours = [sys.executable, "-m", "gomem", "top", large["gzip"]]
    theirs = ["go", "tool", "pprof", "-top", large["gzip"]]

    def run(command):
        subprocess.run(command, capture_output=True, check=True)

    run(ours)
    run(theirs)
    best = {"ours": 1e9, "theirs": 1e9}
    for _ in range(ROUNDS):
        best["ours"] = min(best["ours"], seconds_of(lambda: run(ours)))
        best["theirs"] = min(best["theirs"], seconds_of(lambda: run(theirs)))
    ratio = best["ours"] / best["theirs"]
    benchmark.extra_info["ratio"] = ratio
    benchmark.pedantic(run, args=(ours,), rounds=1)

    assert ratio <= 0.2, f"gomem top / go tool pprof -top = {ratio:.2f}"


@pytest.mark.go
@NEEDS_GO
def test_a_thousand_profiles_become_one_frame_in_about_the_time_of_go(peer, tmp_path, benchmark):
    """
    Each has 100 KB when decompressed, as periodic profiles of a service have. As fast as Go is the
    aim: 0.78 to 1.03 on two cores that were busy with other work as well.
    """
    paths = []
    for number in range(PROFILES):
        path = tmp_path / f"heap-{number:04}.pb.gz"
        if number < 20:
            path.write_bytes(large_profile(1200, locations=900, functions=450, seed=number))
        else:
            path.write_bytes(paths[number % 20].read_bytes())
        paths.append(path)

    def frame():
        tops = [read_pprof(path).top() for path in paths]
        return pd.concat(tops, keys=range(len(tops)), names=["profile"])

    ours, theirs = [], []
    for _ in range(3):
        ours.append(seconds_of(frame))
        nanoseconds, rows = output(peer, "table", *paths)
        theirs.append(nanoseconds / 1e9)
    ratio = min(ours) / min(theirs)
    benchmark.extra_info["ratio"] = ratio
    benchmark.pedantic(frame, rounds=1)
    size = len(raw(paths[0].read_bytes()))

    assert rows == len(frame())
    assert 80_000 < size < 120_000
    assert ratio <= 1.25, f"{PROFILES} profiles of {size} bytes: gomem / Go = {ratio:.2f}"


def test_time_grows_with_the_profile(benchmark):
    """
    At 4 and 16 times the samples, a sample takes no longer than half as much again.
    """
    read_pprof(large_profile(100))
    data = {times: raw(large_profile(12_500 * times)) for times in (1, 4, 16)}
    each = {
        times: min(seconds_of(lambda one=one: read_pprof(one).top()) for _ in range(5)) / times
        for times, one in data.items()
    }
    benchmark.extra_info["seconds_each"] = each
    benchmark.pedantic(read_pprof, args=(data[1],), rounds=1)

    assert each[4] <= 1.5 * each[1], each
    assert each[16] <= 1.5 * each[1], each


# VmHWM, because ru_maxrss of a child begins with its parent's.
MEASURE = """
import re, sys
import gomem

def peak_kib():
    return int(re.search(r"VmHWM:\\s+(\\d+) kB", open("/proc/self/status").read())[1])

gomem.read_pprof(sys.argv[1]).top()
before = peak_kib()
gomem.read_pprof(sys.argv[2]).top()
print((peak_kib() - before) * 1024)
"""


@pytest.mark.parametrize("form", ["raw", "gzip"])
def test_memory_is_at_most_twelve_times_the_raw_size(form, large, tmp_path, benchmark):
    """
    The peak of reading and of `top`, past the imports.
    """
    small = tmp_path / "small.pb.gz"
    small.write_bytes(large_profile(100))
    (grown,) = output(sys.executable, "-c", MEASURE, small, large[form])
    times = grown / large["raw"].stat().st_size
    benchmark.extra_info["times_the_raw_size"] = times
    benchmark.pedantic(read_pprof, args=(large[form],), rounds=1)

    assert times <= 12, f"{form}: {times:.1f} times the raw size"
