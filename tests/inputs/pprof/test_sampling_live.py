"""A real Go program of known live bytes, run again and again: how often the intervals hold them."""

import shutil
import subprocess

import pytest

from gomem.inputs.pprof.read import read_pprof
from gomem.inputs.pprof.sites import top_sites

RUNS = 200
# Sizes that are size classes, so that what is asked for is what is allocated; and how many.
OBJECTS = {96: 60_000, 1024: 5_000, 8192: 600, 65536: 70, 1 << 20: 5}
LIVE = {f"main.make{size}": size * count for size, count in OBJECTS.items()}
SITE = """
//go:noinline
func make{size}() []byte {{ return make([]byte, {size}) }}
"""
PROGRAM = """package main

import (
	"os"
	"runtime"
	"runtime/pprof"
)

var kept [{total}][]byte // static: holding the objects allocates nothing
{sites}
func main() {{
	n := 0
	{calls}
	runtime.GC()
	if err := pprof.Lookup("heap").WriteTo(os.Stdout, 0); err != nil {{
		panic(err)
	}}
	runtime.KeepAlive(&kept)
}}
"""
CALL = "for i := 0; i < {count}; i++ {{ kept[n] = make{size}(); n++ }}"


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    """The program, built by the Go that is present."""
    if shutil.which("go") is None:
        pytest.skip("no go on the PATH to build a program with")
    folder = tmp_path_factory.mktemp("known")
    source = PROGRAM.format(
        total=sum(OBJECTS.values()),
        sites="".join(SITE.format(size=size) for size in OBJECTS),
        calls="\n\t".join(CALL.format(size=size, count=n) for size, n in OBJECTS.items()),
    )
    folder.joinpath("main.go").write_text(source)
    folder.joinpath("go.mod").write_text("module known\n\ngo 1.21\n")
    subprocess.run(["go", "build", "-o", "known", "."], cwd=folder, check=True)
    return folder / "known"


@pytest.mark.go
@pytest.mark.at_most(0)
def test_of_a_real_program_95_of_100_intervals_hold_its_live_bytes(program):
    """
    8 to 11 sightings a site but one, whose 5 objects of 1 MiB are seen with a probability of 86 %.
    So hardly a site goes unseen, and 955 of 1000 are expected inside, give or take 7.
    """
    inside = {site: [] for site in LIVE}
    for _ in range(RUNS):
        profile = subprocess.run([program], capture_output=True, check=True).stdout
        for row in top_sites(read_pprof(profile), "inuse_space").rows():
            truth = LIVE.get(row["function"])
            if truth is not None:
                inside[row["function"]].append(row["flat_low"] <= truth <= row["flat_high"])

    checked = sum(map(len, inside.values()))
    assert 0.98 * RUNS * len(LIVE) <= checked
    assert 0.92 <= sum(map(sum, inside.values())) / checked <= 0.98
