"""Each sample is counted where its stack first leaves the standard library."""

import pytest

from gomem.analysis.profiles.own_code import is_standard, own_code
from gomem.inputs.pprof.read import read_pprof
from tests.builders import FIXTURES

SPIKE = FIXTURES / "captures/spiky-go1.27.3/settled/heap.pb.gz"


@pytest.mark.parametrize(
    ("function", "standard"),
    [
        ("runtime.mallocgc", True),
        ("io.ReadAll", True),
        ("strings.(*Builder).grow", True),
        ("encoding/json.(*Decoder).Decode", True),
        ("net/http.(*conn).serve.func1", True),
        ("vendor/golang.org/x/net/http2.(*Framer).ReadFrame", True),
        ("slices.Grow[go.shape.[]uint8,go.shape.uint8]", True),
        ("slices.Grow[github.com/me/app.T]", True),
        ("main.fill", False),
        ("github.com/me/runtime.Run", False),
        ("go.uber.org/zap.New", False),
        ("golang.org/x/sync/errgroup.(*Group).Go", False),
        ("myapp/server.Handle", False),
    ],
)
def test_the_standard_library_is_known_by_its_paths(function, standard):
    assert standard == is_standard(function)


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
