"""A profile as frames, and its top against what `go tool pprof -top` printed."""

import os
import re
import shutil
import subprocess
from functools import cache
from inspect import signature
from itertools import groupby

import numpy as np
import pandas as pd
import pytest

import gomem
from gomem.capture.capture import Capture
from gomem.errors import FormatError
from gomem.inputs.pprof.calls.names import NO_PACKAGE, clean_path, module_of, package_of, shown_name
from gomem.inputs.pprof.frames import FUNCTIONS, LABELS, MAPPINGS, SAMPLES, STACKS
from gomem.inputs.pprof.parse import parse_pprof
from gomem.inputs.pprof.read import read_pprof
from gomem.inputs.pprof.sites import SITES
from gomem.inputs.pprof.table import Profile
from gomem.inputs.schema import UNITS
from tests.builders import FIXTURES
from tests.pprof_messages import (
    field,
    function,
    location,
    message,
    number,
    packed,
    profile,
    sample,
    strings,
)

GOLDEN = sorted((FIXTURES / "golden" / "pprof").glob("*/*/*.top.txt"))
PROFILES = sorted((FIXTURES / "captures").glob("*/*/*.pb.gz"))
HEAP = FIXTURES / "captures" / "zeroing-go1.24.2" / "2-loaded" / "heap.pb.gz"

TOTAL = re.compile(r"Showing nodes accounting for .* of (-?\d+)\S* total")
ROW = re.compile(r" *(-?\d+)\S* +\S+% +\S+% +(-?\d+)\S* +\S+%  (.*?)(?: \((?:partial-)?inline\))?")


def _moment(folder):
    return "/".join(folder.parts[-2:])


def made(*samples, **parts):
    columns, damage = parse_pprof(profile(*samples, **parts), source="made.pb")
    return Profile("made.pb", columns, tuple(damage))


def top(read, **options):
    frame = read.top(**options)
    return list(frame[[frame.columns[0], "flat", "cum"]].itertuples(index=False, name=None))


def printed(text):
    """The rows and the total of `go tool pprof -top -unit=B`."""
    rows = [match for line in text.splitlines() if (match := ROW.fullmatch(line))]
    total = next((int(match[1]) for line in text.splitlines() if (match := TOTAL.match(line))), 0)
    return [(match[3], int(match[1]), int(match[2])) for match in rows], total


def neighbours_sorted(rows):
    """The rows in their order, but for those of one name that stand together."""
    together = groupby(rows, key=lambda row: row[0])
    return [row for _, same in together for row in sorted(same)]


@pytest.mark.at_most(20)
@pytest.mark.parametrize("moment", sorted({path.parent for path in GOLDEN}), ids=_moment)
def test_top_is_what_pprof_printed(moment):
    """
    Every function's flat and cum, in its order, and the total, for every sample type of every
    profile. Nearly all of them have rows of equal values.
    """
    read = cache(read_pprof)
    wrong = []

    for golden in sorted(moment.glob("*.top.txt")):
        name, sample_type, *_ = golden.name.split(".")
        profile = read(FIXTURES / "captures" / _moment(moment) / f"{name}.pb.gz")
        rows, total = printed(golden.read_text())
        if (rows, total) != (top(profile, sample_type=sample_type), profile.total(sample_type)):
            wrong.append(golden.name)

    assert [] == wrong


def test_there_are_golden_files_for_all_four_heap_sample_types():
    types = {path.name.split(".")[1] for path in GOLDEN if path.name.startswith("heap.")}

    assert {"alloc_objects", "alloc_space", "inuse_objects", "inuse_space"} == types


@pytest.mark.at_most(3)
@pytest.mark.go
@pytest.mark.skipif(shutil.which("go") is None, reason="there is no go on the PATH")
@pytest.mark.parametrize(
    "granularity", ["functions", "filefunctions", "files", "lines", "addresses"]
)
@pytest.mark.parametrize("order", ["flat", "cum"])
@pytest.mark.parametrize("name", ["heap", "goroutine"])
def test_top_is_what_pprof_prints_now(granularity, order, name, tmp_path):
    """
    At every granularity that pprof has, row by row; neighbours of one name may be in any order.
    """
    path = HEAP.with_name(f"{name}.pb.gz")
    command = ["go", "tool", "pprof", "-top", f"-{granularity}", "-unit=B", "-nodecount=1000000"]
    command += [f"-{order}", "-nodefraction=0", "-edgefraction=0", "-symbolize=none", str(path)]
    environment = {**os.environ, "PPROF_TMPDIR": str(tmp_path)}
    text = subprocess.run(
        command, capture_output=True, text=True, check=True, env=environment
    ).stdout

    own = top(read_pprof(path), granularity=granularity, cum=order == "cum")
    assert neighbours_sorted(printed(text)[0]) == neighbours_sorted(own)


def test_top_counts_a_function_once_for_each_stack():
    """
    A function that calls itself has its samples once in cum: 5, not 10.
    """
    read = made(sample(1, 1, 2, value=5))

    assert [("main.leaf", 5, 5), ("main.root", 0, 5)] == top(read)


def test_inlined_calls_are_frames_and_the_innermost_is_flat():
    read = made(sample(1, value=5), locations=location(1, 1, 2))

    assert [("main.leaf", 5, 5), ("main.root", 0, 5)] == top(read)


def test_top_is_ordered_by_magnitude_then_by_name():
    """
    pprof orders by the absolute value, so what shrank stands among what grew.
    """
    read = made(sample(1, value=-9), sample(2, value=4))

    assert [("main.leaf", -9, -9), ("main.root", 4, 4)] == top(read)
    assert 13 == read.total()


def test_rows_that_are_0_are_left_out():
    assert [("main.root", 3, 3)] == top(made(sample(1, value=0), sample(2, value=3)))


def test_a_sample_without_a_stack_is_in_the_total_only():
    read = made(sample(value=3), sample(1, value=1))

    assert ([("main.leaf", 1, 1)], 4) == (top(read), read.total())


def test_sums_beyond_what_a_float_holds_are_exact():
    big = 2**53

    assert [("main.leaf", big + 1, big + 1)] == top(made(sample(1, value=big), sample(1, value=1)))


def test_fractions_are_of_the_total():
    frame = made(sample(1, 2, value=1), sample(2, value=3)).top(cum=True)

    assert [("main.root", 0.75, 1.0), ("main.leaf", 0.25, 0.25)] == list(
        frame[["function", "flat_fraction", "cum_fraction"]].itertuples(index=False, name=None)
    )


def test_n_keeps_the_first_rows():
    assert [("main.root", 4, 4)] == top(made(sample(1, value=1), sample(2, value=4)), n=1)


def test_packages_are_a_granularity_of_their_own():
    assert [("main", 5, 5)] == top(made(sample(1, 2, value=5)), granularity="packages")


def test_a_frame_without_a_function_is_called_after_its_binary():
    mapping = message(3, field(1, 1), field(5, 5))
    bare = message(4, field(1, 1), field(2, 1), field(3, 0x1234))

    read = made(sample(1, value=5), locations=bare + mapping)

    assert [("[main.go]", 5, 5)] == top(read)
    assert [("0000000000001234 [main.go]", 5, 5)] == top(read, granularity="addresses")


def test_a_frame_of_which_nothing_is_known_is_unknown():
    read = made(sample(1, value=5), locations=message(4, field(1, 1)))

    assert [("<unknown>", 5, 5)] == top(read)
    assert [(NO_PACKAGE, 5, 5)] == top(read, granularity="packages")


def test_a_very_deep_stack_is_counted():
    read = made(message(2, field(1, 1) * 100_000, packed(2, 7)))

    assert [("main.leaf", 7, 7)] == top(read)


def test_a_sample_type_that_is_not_there_is_named_with_those_that_are():
    with pytest.raises(ValueError, match="sample type 'cpu', the profile has inuse_space"):
        made().top("cpu")


def test_an_unknown_granularity_is_refused():
    with pytest.raises(ValueError, match="granularity 'classes', wanted one of functions"):
        made().top(granularity="classes")


def test_the_default_sample_type_is_the_profiles_own_or_its_last():
    allocs = FIXTURES / "captures" / "alloc-pressure-before-go1.27.3" / "2-loaded" / "allocs.pb.gz"

    assert "inuse_space" == read_pprof(HEAP).default_sample_type
    assert "alloc_space" == read_pprof(allocs).default_sample_type


def test_samples_have_a_column_for_each_sample_type():
    frame = read_pprof(HEAP).samples

    assert [
        *("alloc_objects", "alloc_space", "inuse_objects", "inuse_space"),
        *("frames", "object_bytes"),
    ] == list(frame.columns)


def test_stacks_have_a_row_a_frame_innermost_first():
    read = made(sample(1, 2, value=5), locations=location(1, 1, 2) + location(2, 2))

    frame = read.stacks.astype({"function": "str", "file": "str"})

    expected = pd.DataFrame(
        {
            "sample": np.array([0, 0, 0], np.int32),
            "depth": np.array([0, 1, 2], np.int32),
            "function": ["main.leaf", "main.root", "main.root"],
            "file": ["/app/main.go"] * 3,
            "line": pd.array([10, 20, 20], "Int64"),
            "inlined": [True, False, False],
        }
    )
    pd.testing.assert_frame_equal(expected, frame)


@pytest.mark.at_most(25)
@pytest.mark.parametrize("path", PROFILES, ids=lambda path: "/".join(path.parts[-3:]))
def test_the_frames_of_a_recorded_profile_agree(path):
    """
    Stacks are as long as the samples say, and labels belong to samples.
    """
    read = read_pprof(path)

    assert (
        read.samples["frames"]
        == read.stacks.groupby("sample").size().reindex(read.samples.index, fill_value=0)
    ).all()
    assert read.labels["sample"].isin(read.samples.index).all()
    assert 0 == len(read.damage)


@pytest.mark.parametrize(
    ("name", "schema"),
    [("stacks", STACKS), ("functions", FUNCTIONS), ("mappings", MAPPINGS), ("labels", LABELS)],
)
@pytest.mark.parametrize("read", [made(), read_pprof(HEAP)], ids=["empty", "full"])
def test_frames_have_the_columns_and_types_of_their_schema(read, name, schema):
    frame = getattr(read, name)

    assert [(column.name, column.dtype) for column in schema] == [
        (column, str(dtype)) for column, dtype in frame.dtypes.items()
    ]


@pytest.mark.parametrize("schema", [SAMPLES, STACKS, FUNCTIONS, MAPPINGS, LABELS, SITES])
def test_every_column_has_a_unit_and_a_sentence(schema):
    assert all(column.unit in UNITS and column.means.endswith(".") for column in schema)


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("zeroing-go1.24.2/2-loaded/heap.pb.gz", "heap"),
        ("zeroing-go1.24.2/2-loaded/goroutine.pb.gz", "goroutine"),
        ("alloc-pressure-before-go1.27.3/2-loaded/allocs.pb.gz", "allocs"),
    ],
)
def test_the_kind_is_known_from_the_sample_types(path, kind):
    assert kind == read_pprof(FIXTURES / "captures" / path).kind


@pytest.mark.parametrize(("leaf", "kind"), [("sync.(*Mutex).Unlock", "mutex"), ("x.wait", "block")])
def test_mutex_and_block_profiles_are_told_apart_by_who_is_named(leaf, kind):
    texts = ("", "contentions", "count", leaf, "delay", "nanoseconds")
    types = message(1, field(1, 1), field(2, 2)) + message(1, field(1, 4), field(2, 5))
    one = message(2, packed(1, 1), packed(2, 1, 9))
    raw = types + one + location(1, 1) + function(1, 3, file=0) + strings(*texts)

    assert kind == Profile("", parse_pprof(raw, source="")[0]).kind


def test_the_release_is_in_the_paths_of_the_standard_library():
    for path in PROFILES:
        release = path.parts[-3].partition("-go")[2]
        assert read_pprof(path).go_version in {f"go{release}", None}, path
    assert "go1.24.2" == read_pprof(HEAP).go_version


@pytest.mark.parametrize(
    ("file", "release"),
    [
        ("/usr/local/go1.24.2/src/runtime/proc.go", "go1.24.2"),
        (
            "/m/golang.org/toolchain@v0.0.1-go1.26.0.linux-amd64/src/runtime/proc.go",
            "go1.26.0",
        ),
        ("/opt/go1.27rc1/src/fmt/print.go", "go1.27rc1"),
        ("/usr/local/go/src/runtime/proc.go", None),
        ("/src/go1.24/main.go", None),
    ],
)
def test_a_release_is_read_from_a_path(file, release):
    raw = message(1, field(1, 1), field(2, 1)) + function(1, 2, file=3)

    columns, _ = parse_pprof(raw + strings("", "space", "f", file), source="")

    assert release == Profile("", columns).go_version


def test_the_time_is_utc_to_the_nanosecond():
    columns, _ = parse_pprof(profile() + field(9, 1_700_000_000_123_456_789), source="")

    assert "2023-11-14T22:13:20.123456789+00:00" == Profile("", columns).time.isoformat()
    assert made().time is None


def test_a_gzip_stream_that_is_cut_is_named_as_the_cause(tmp_path):
    path = tmp_path / "heap.pb.gz"
    path.write_bytes(HEAP.read_bytes()[:700])

    with pytest.raises(FormatError, match=r"heap\.pb\.gz: byte 700: gzip stream ends early"):
        read_pprof(path)


def test_a_profile_whose_gzip_trailer_is_missing_is_read_with_damage(tmp_path):
    """
    All of its bytes are there; only the proof that they are right is not.
    """
    path = tmp_path / "heap.pb.gz"
    path.write_bytes(HEAP.read_bytes()[:-8])

    read = read_pprof(path)

    assert ["gzip stream ends early"] == [one.what.split(",")[0] for one in read.damaged]
    assert read_pprof(HEAP).total() == read.total()


def test_html_of_a_hostile_profile_is_escaped():
    texts = ("", "<script>", "count")
    raw = message(1, field(1, 1), field(2, 1)) + strings(*texts)

    shown = Profile("", parse_pprof(raw, source="")[0])._repr_html_()

    assert "&lt;script&gt;" in shown
    assert "<script>" not in shown


@pytest.mark.parametrize(
    ("function_name", "package"),
    [
        ("main.main", "main"),
        ("main.main.func1", "main"),
        ("runtime.(*mcache).refill", "runtime"),
        ("compress/flate.(*Writer).Close", "compress/flate"),
        ("github.com/a/b.(*T).M-fm", "github.com/a/b"),
        ("gopkg.in/yaml%2ev3.Unmarshal", "gopkg.in/yaml.v3"),
        ("example.com/m/pkg.Map[go.shape.int]", "example.com/m/pkg"),
        ("main.Map[github.com/x/y.T].func1", "main"),
        (
            "app/vendor/golang.org/x/net/http2.(*Framer).ReadFrame",
            "app/vendor/golang.org/x/net/http2",
        ),
        ("malloc", NO_PACKAGE),
        ("", NO_PACKAGE),
    ],
)
def test_a_functions_package_is_read_from_its_name(function_name, package):
    assert package == package_of(function_name)


@pytest.mark.parametrize(
    ("name", "file", "module"),
    [
        ("main.main", "/app/main.go", "main"),
        ("runtime.mallocgc", "/usr/local/go/src/runtime/malloc.go", "std"),
        ("net/http.(*Server).Serve", "/usr/local/go/src/net/http/server.go", "std"),
        ("fmt.Print", "/g/pkg/mod/golang.org/toolchain@v0.0.1-go1.26.0.l/src/fmt/print.go", "std"),
        ("a.b/c.F", "/go/pkg/mod/a.b/!c@v1.2.3/sub/f.go", "a.b/C"),
        ("example.com/m/sub.F", "example.com/m@v0.1.0/sub/f.go", "example.com/m"),
        ("github.com/a/b/c/d.F", "/src/f.go", "github.com/a/b"),
        ("github.com/a/b/v2/d.F", "/src/f.go", "github.com/a/b/v2"),
        ("app/vendor/golang.org/x/net/http2.F", "/src/f.go", "golang.org/x/net"),
        ("example.com/m/sub.F", "/src/f.go", "example.com/m/sub"),
        ("malloc", "", NO_PACKAGE),
    ],
)
def test_a_functions_module_is_read_from_its_file_or_its_name(name, file, module):
    assert module == module_of(name, file)


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("main.(*T).Get", "main.(*T).Get"),
        ("main.(*List[go.shape.int]).Push", "main.(*List[go.shape.int]).Push"),
        ("main.Map[...]", "main.Map[...]"),
        ("std::vector<int>::push_back(int&&)", "std::vector::push_back"),
        ("a::f(b(c), d)::g<h<i>>", "a::f::g"),
        ("a::operator>", "a::operator>"),
        ("max<int>(int, int)", "max"),
        ("copy[abi:cxx11](char*)", "copy[abi:cxx11]"),
        ("printf(char const*)", "printf(char const*)"),
    ],
)
def test_names_are_shown_as_pprof_shows_them(name, shown):
    assert shown == shown_name(name, name)


def test_a_name_that_the_producer_made_readable_stays():
    assert "f(int)::g" == shown_name("f(int)::g", "_Z1f")


@pytest.mark.parametrize(
    ("path", "clean"), [("", ""), ("//a/b", "/a/b"), ("/a/../b/./c", "/b/c"), ("./a.go", "a.go")]
)
def test_paths_are_cleaned_as_go_cleans_them(path, clean):
    assert clean == clean_path(path)


def test_the_encoder_of_these_tests_writes_negative_numbers_in_ten_bytes():
    assert b"\xff" * 9 + b"\x01" == number(-1)


def test_top_of_a_profile_and_of_a_capture_take_the_same_arguments():
    of_profile, of_capture = (
        list(signature(one.top).parameters.values())[1:] for one in (Profile, Capture)
    )

    assert [one.name for one in of_profile] == [one.name for one in of_capture]
    assert [one.kind for one in of_profile] == [one.kind for one in of_capture]


@pytest.mark.parametrize(
    ("granularity", "name"),
    [
        ("functions", "function"), ("filefunctions", "function"), ("files", "file"),
        ("lines", "line"), ("addresses", "address"), ("packages", "package"),
        ("modules", "module"),
    ],
)  # fmt: skip
def test_the_first_column_is_named_for_what_a_row_is(granularity, name):
    top = made(sample(1, value=1)).top(granularity=granularity)

    assert [name, "flat"] == list(top.columns[:2])
    assert gomem.columns(top)["means"].iloc[0]


@pytest.mark.parametrize("n", ["packages", 1.5, True])
def test_a_number_of_rows_of_another_type_is_named(n):
    with pytest.raises(TypeError, match="wanted a number of rows"):
        made(sample(1, value=1)).top(None, n)
    with pytest.raises(TypeError, match="did you mean granularity='packages'"):
        made(sample(1, value=1)).top(None, "packages")


@pytest.mark.parametrize("wrong", [{"sample_type": 3}, {"granularity": 5}])
def test_a_name_of_another_type_says_which_there_are(wrong):
    with pytest.raises(ValueError, match=str(*wrong.values())):
        made(sample(1, value=1)).top(**wrong)


def test_one_profile_less_another_is_their_difference():
    later, earlier = made(sample(1, value=7)), made(sample(1, value=4))

    assert [3] == (later - earlier).top()["flat"].tolist()
    with pytest.raises(TypeError, match="unsupported operand"):
        later - 4
