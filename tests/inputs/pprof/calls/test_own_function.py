"""Whose a function is: the standard library's, or a program's own, as far as names tell."""

import pytest

from gomem.inputs.pprof.calls.names import in_standard_library, of_others, own_function
from gomem.inputs.pprof.calls.stacks import caller_of
from tests.heap_profiles import heap, turned_over


@pytest.mark.parametrize(
    ("function", "is_standard"),
    [
        ("io.ReadAll", True),
        ("strings.(*Builder).grow", True),
        ("internal/bytealg.MakeNoZero", True),
        ("vendor/golang.org/x/net/http2/hpack.NewDecoder", True),
        ("slices.Grow[go.shape.[]example.com/a.T,go.shape.int]", True),
        ("runtime.malg", True),
        ("encoding/json.(*Decoder).Decode", True),
        ("net/http.(*conn).serve.func1", True),
        ("main.main", False),
        ("github.com/me/runtime.Run", False),
        ("go.uber.org/zap.New", False),
        ("golang.org/x/sync/errgroup.(*Group).Go", False),
        ("example.com/shop/io.ReadAll", False),
        ("shop/io.ReadAll", False),
        ("iot.Read", False),
    ],
)
def test_names_tell_the_standard_library(function, is_standard):
    assert is_standard == in_standard_library(function)


def test_the_innermost_of_the_programs_own_is_named():
    stack = ["bytes.growSlice", "bytes.(*Buffer).Write", "example.com/m/log.Line", "main.main"]

    assert "example.com/m/log.Line" == own_function(stack)
    assert "" == own_function(["runtime.malg", "runtime.newproc1"])


@pytest.mark.parametrize(
    ("main", "file", "others"),
    [
        ("/src/shop/main.go", "/home/ci/go/pkg/mod/example.com/lib@v1.2.3/lib.go", True),
        ("shop/main.go", "example.com/lib@v1.2.3/lib.go", True),
        ("/src/shop/main.go", "/src/shop/vendor/example.com/lib/lib.go", True),
        ("/src/shop/main.go", "/src/shop/store/store.go", False),
        ("/gopath/src/shop/main.go", "/gopath/src/example.com/lib/lib.go", False),
        ("/go/pkg/mod/example.com/lib@v1.2.3/main.go",
         "/go/pkg/mod/example.com/lib@v1.2.3/lib.go", False),
        ("/go/pkg/mod/example.com/shop@v1.0.0/main.go",
         "/go/pkg/mod/example.com/lib@v1.2.3/lib.go", True),
        ("/src/shop/main.go",
         "/go/pkg/mod/golang.org/toolchain@v0.0.1-go1.24.2.linux-amd64/src/io/io.go", False),
        ("/src/shop/main.go", "", False),
    ],
)  # fmt: skip
def test_files_tell_whose_module_a_function_is_of(main, file, others):
    functions = ("main.main", "example.com/lib.New")

    found = of_others(functions, (main, file))

    assert (frozenset({"example.com/lib.New"}) if others else frozenset()) == found


def test_a_module_of_others_is_named_where_nothing_else_is():
    stack = ["bytes.growSlice", "example.com/lib.grow", "example.com/lib.New", "main.fill"]
    others = frozenset({"example.com/lib.grow", "example.com/lib.New"})

    assert "main.fill" == own_function(stack, others)
    assert "example.com/lib.grow" == own_function(stack[:3], others)
    assert "example.com/lib.grow" == own_function(stack)


def test_the_caller_for_which_most_was_allocated():
    """
    io.ReadAll for main.large has twice what it has for main.small.
    """
    names = ("io.ReadAll", "main.small", "main.large")
    profile = heap(
        turned_over(10, 10, 4096, root=2), turned_over(20, 20, 4096, root=3), names=names
    )

    assert "main.large" == caller_of(profile, "io.ReadAll", "inuse_space")
    assert "" == caller_of(profile, "fmt.Sprint", "inuse_space")
