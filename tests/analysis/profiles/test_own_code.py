"""Each sample is counted where its stack first leaves the standard library."""

from gomem.analysis.profiles.own_code import own_code
from gomem.inputs.pprof.read import read_pprof
from tests.builders import FIXTURES

SPIKE = FIXTURES / "captures/spiky-go1.27.3/settled/heap.pb.gz"


def test_what_the_library_allocates_is_its_callers_and_nothing_is_lost():
    """
    io.ReadAll has the bytes by pprof; main.unpack called it.
    """
    profile = read_pprof(SPIKE)

    rows = own_code(profile, "inuse_space").set_index("function")["value"]

    flat = profile.top("inuse_space").set_index("function")["flat"]
    assert rows["main.unpack"] >= flat["io.ReadAll"]
    assert profile.total("inuse_space") == rows.sum()
    assert rows.is_monotonic_decreasing
