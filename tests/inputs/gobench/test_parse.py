"""The output of `go test -bench`."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gomem.errors import Damage, FormatError
from gomem.inputs.gobench.parse import looks_like_gobench, parse_gobench, tidy_unit

RESULT = "BenchmarkHandle-8   \t    1000\t     12.50 ns/op\t     112 B/op\t       2 allocs/op"


def parse(*lines):
    return parse_gobench("\n".join([*lines, ""]).encode(), source="bench.txt")


def measured(bench):
    of = bench.measurements
    return list(zip(of.name, of.unit, of.value.tolist(), of.line.tolist(), strict=True))


def test_a_line_gives_one_measurement_for_each_unit():
    bench, damage = parse(RESULT)

    assert [
        ("Handle", "sec/op", pytest.approx(12.5e-9), 1),
        ("Handle", "B/op", 112.0, 1),
        ("Handle", "allocs/op", 2.0, 1),
    ] == measured(bench)
    assert [1000, 1000, 1000] == bench.measurements.iterations.tolist()
    assert [] == damage


@pytest.mark.parametrize("number", ["1000", "12.50"])
def test_a_number_in_digits_of_another_alphabet_is_damage(number):
    bench, damage = parse(RESULT.replace(number, "\u0663\u0660"), RESULT)

    assert [2, 2, 2] == bench.measurements.line.tolist()[-3:]
    assert ["line 1"] == [one.where for one in damage]


def test_what_was_printed_stands_beside_the_base_unit():
    bench, _ = parse("BenchmarkCopy  100  3000 ns/op  341.33 MB/s")

    assert ["sec/op", "B/s"] == bench.measurements.unit
    assert ["ns/op", "MB/s"] == bench.measurements.printed_unit
    assert [3000.0, 341.33] == bench.measurements.printed_value.tolist()
    assert [3e-6, 341.33e6] == pytest.approx(bench.measurements.value.tolist())


@pytest.mark.parametrize(
    ("printed", "base", "factor"),
    [
        ("ns/op", "sec/op", 1e-9),
        ("MB/s", "B/s", 1e6),
        ("B/op", "B/op", 1.0),
        ("p99-ns", "p99-sec", 1e-9),
        ("peak-MB", "peak-B", 1e6),
        ("cycles/ns", "cycles/ns", 1.0),
        ("ns*MB/op", "sec*B/op", 1e-3),
        ("widgets/op", "widgets/op", 1.0),
    ],
)
def test_only_what_is_above_the_bar_is_scaled(printed, base, factor):
    assert (base, pytest.approx(factor)) == tidy_unit(printed)


@pytest.mark.parametrize(
    ("printed", "name", "procs"),
    [
        ("BenchmarkHandle-8", "Handle", 8),
        ("BenchmarkHandle", "Handle", None),
        ("BenchmarkHandle/size=1-KiB-16", "Handle/size=1-KiB", 16),
        ("BenchmarkHandle/small-fast", "Handle/small-fast", None),
    ],
)
def test_the_number_behind_the_last_dash_is_gomaxprocs(printed, name, procs):
    bench, _ = parse(f"{printed} 1 5 ns/op")

    assert [name] == bench.measurements.name
    assert [procs] == bench.measurements.procs.tolist()


def test_configuration_holds_until_it_is_set_again():
    bench, _ = parse(
        "pkg: a",
        "cpu: AMD EPYC",
        "BenchmarkOne 1 5 ns/op",
        "pkg: b",
        "cpu:",
        "BenchmarkTwo 1 5 ns/op",
    )

    assert [{"pkg": "a", "cpu": "AMD EPYC"}, {"pkg": "b"}] == bench.configurations
    assert [0, 1] == bench.measurements.config.tolist()


def test_unit_lines_say_what_is_better_and_what_is_exact():
    bench, _ = parse("Unit ns/op better=lower", "Unit hits better=higher assume=exact", RESULT)

    assert [
        ("sec/op", "better", "lower", 1),
        ("hits", "better", "higher", 2),
        ("hits", "assume", "exact", 2),
    ] == [(note.unit, note.key, note.value, note.line) for note in bench.units]


@pytest.mark.parametrize(
    "line",
    [
        "PASS",
        "FAIL",
        "ok  \texample.com/app\t1.284s",
        "exit status 1",
        "Unit",
        "    app_test.go:7: logged",
        "Benchmarking is fun",
        "Benchmarking 100 files in 3 s",
        "Benchmarking",
        "    BenchmarkHandle-8 1000 fast ns/op",
        "    BenchmarkHandle-8",
        "Benchmarking 100 5 times",
        "BenchmarkHandle-8",
        "--- BENCH: BenchmarkHandle-8",
        "",
    ],
)
def test_lines_that_are_no_results_are_passed_over(line):
    bench, damage = parse(line, RESULT)

    assert {2} == {at for *_, at in measured(bench)}
    assert [] == damage


@pytest.mark.parametrize(
    ("line", "what"),
    [
        pytest.param(RESULT[:29], "no measurement behind the iteration count", id="only-a-count"),
        pytest.param(
            "BenchmarkHandle-8 \tlistening on :80",
            "no iteration count behind the benchmark's name",
            id="no-count",
        ),
        pytest.param(RESULT[:-10], "the last measurement has no unit", id="cut-before-the-unit"),
        pytest.param(
            "BenchmarkHandle-8 1000 fast ns/op",
            "'fast' where a measurement is wanted",
            id="not-a-number",
        ),
        pytest.param(
            "BenchmarkHandle-8 \t--- FAIL: BenchmarkHandle-8",
            "the benchmark failed, so it has no result",
            id="failed",
        ),
        pytest.param(
            "--- FAIL: BenchmarkHandle-8",
            "BenchmarkHandle-8 failed, so it has no result",
            id="failed-of-its-own-line",
        ),
        pytest.param(
            "    1000\t     12.50 ns/op", "numbers of a benchmark without its name", id="no-name"
        ),
        pytest.param("Unit hits upwards", "upwards where key=value is wanted", id="unit-line"),
    ],
)
def test_a_line_that_cannot_be_read_is_kept_with_its_place(line, what):
    """
    It comes back whole, with its line, and the lines after it still parse.
    """
    bench, damage = parse("goos: linux", line, RESULT)

    assert [Damage("bench.txt", "line 2", what, line)] == damage
    assert {3} == {at for *_, at in measured(bench)}


def test_numbers_cut_off_from_their_name_by_output_are_joined_with_it():
    """
    The testing package writes the name, runs the benchmark, and only then writes the numbers.
    """
    bench, damage = parse(
        "BenchmarkPrints-2      \thello 1",
        "hello 1000",
        "    1000\t        18.21 ns/op",
        RESULT,
    )

    assert ("Prints", "sec/op", pytest.approx(18.21e-9), 3) == measured(bench)[0]
    assert [] == damage


def test_a_measurement_that_is_not_finite_is_damage_and_its_neighbours_stay():
    bench, damage = parse("BenchmarkHandle-8 1000 12.5 ns/op +Inf MB/s")

    assert [("Handle", "sec/op", pytest.approx(12.5e-9), 1)] == measured(bench)
    assert ["BenchmarkHandle-8: not a finite number of MB/s"] == [one.what for one in damage]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "bench.txt: no benchmark result, wanted the output of: go test"),
        (b"PASS\nok  \tapp\t0.01s\n", "bench.txt: no benchmark result"),
        (b"BenchmarkHandle-8 1000 12.5\n", "bench.txt: line 1: the last measurement has no unit"),
    ],
)
def test_a_file_without_a_result_is_an_error_that_says_why(data, message):
    with pytest.raises(FormatError, match=message.replace(".", r"\.")):
        parse_gobench(data, source="bench.txt")


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (f"goos: linux\n{RESULT}\n".encode(), True),
        (RESULT.replace("\n", "\r\n").encode(), True),
        (b"Benchmarking 100 5 times\n", False),
        (b"gc 1 @0.1s 1%: 0+0+0 ms clock\n", False),
        (b"\x1f\x8b\x08\x00", False),
        (b"", False),
    ],
)
def test_a_benchmark_file_is_known_by_a_result(data, expected):
    assert expected == looks_like_gobench(data)


@given(st.binary(max_size=400) | st.text(max_size=400).map(str.encode))
def test_no_bytes_make_the_parser_fail_otherwise(noise):
    """
    Whatever stands in a file, a good line in it is read, and the rest is passed over or damage.
    """
    bench, _ = parse_gobench(noise + b"\n" + RESULT.encode() + b"\n", source="noise")

    assert ["Handle"] * 3 == bench.measurements.name[-3:]


@given(
    st.lists(
        st.tuples(
            st.from_regex(r"[A-Z][A-Za-z/=]{0,9}", fullmatch=True),
            st.integers(1, 64),
            st.integers(1, 10**12),
            st.floats(0, 1e12),
        ),
        min_size=1,
    )
)
def test_what_is_written_is_read_back(results):
    lines = [
        f"Benchmark{name}-{procs} {count} {value!r} x/op" for name, procs, count, value in results
    ]

    bench, damage = parse(*lines)

    of = bench.measurements
    read = zip(of.name, of.procs.tolist(), of.iterations.tolist(), of.value.tolist(), strict=True)
    assert results == list(read)
    assert [] == damage


@pytest.mark.parametrize("blank", ["", " ", "    ", "\t"])
@pytest.mark.parametrize("name", ["Benchmarkhandle-8", "Benchmark-8", "Benchmark_x", "Benchmarkß"])
def test_whole_results_are_read_however_they_are_named_and_indented(blank, name):
    """
    x/perf's benchfmt takes any name; what is indented beside others must not vanish.
    """
    bench, damage = parse(RESULT, f"{blank}{name}   1000  12 ns/op", RESULT)

    assert [1, 2, 3] == sorted(set(bench.measurements.line.tolist()))
    assert name.removeprefix("Benchmark").removesuffix("-8") in bench.measurements.name
    assert [] == damage
    assert looks_like_gobench(f"{blank}{name}   1000  12 ns/op\n".encode())


def test_a_word_that_is_no_result_leaves_a_torn_one_waiting():
    """
    The program's own line between a name and its numbers does not take them from it.
    """
    bench, damage = parse("BenchmarkHandle-8", "Benchmarking is fun", RESULT)

    assert [3] == sorted(set(bench.measurements.line.tolist()))
    assert [] == damage


def test_a_unit_line_without_a_unit_is_damage():
    _, damage = parse("Unit ", RESULT)

    assert ["a Unit line without a unit"] == [one.what for one in damage]


@pytest.mark.parametrize(
    ("line", "is_result"),
    [
        ("  BenchmarkRead-8 1000 12.5 ns/op", True),
        ("\tBenchmarkRead-8 1000 12.5 ns/op", True),
        ("  total: 1000 12.5 ns/op", False),
        ("  BenchmarkRead-8 took 12.5 ns/op", False),
        ("Benchmarking 1000 12.5 times", False),
        ("Benchmarking-8 1000 12.5 ns/op", True),
        ("  ", False),
    ],
)
def test_an_indented_line_is_a_result_where_it_is_a_whole_one(line, is_result):
    """
    And so is one whose name goes on in lower case: a word of prose has no unit with a stroke.
    """
    parsed, _ = parse_gobench(f"BenchmarkA-8 1 2 ns/op\n{line}\n".encode(), source="b")

    assert (2 if is_result else 1) == len(parsed.measurements.name)


@pytest.mark.parametrize(
    ("line", "is_result"),
    [
        ("Benchmarkuber_zap_total 1 10149055 total-bytes", True),
        ("Benchmarkkanzi 1 2.5 build-real-sec 12 build-user-sec", True),
        ("Benchmarking 100 5 times", False),
        ("Benchmarking 100 5 minutes - done", False),
    ],
)
def test_a_lower_case_name_is_read_by_a_unit_that_is_no_word(line, is_result):
    """
    golang.org/x/benchmarks' bent writes sizes of programs so.
    """
    assert is_result == looks_like_gobench(f"{line}\n".encode())
    bench, damage = parse(RESULT, line)
    assert (is_result, []) == (2 in bench.measurements.line.tolist(), damage)


@pytest.mark.parametrize("delta", ["+33.73%", "-9.76%", "~", "1.34x", "+0.00%"])
def test_a_line_of_benchcmp_is_no_result(delta):
    """
    Its old number is no iteration count, its new one no measurement, its delta no unit.
    """
    line = f"BenchmarkFlate-8     88082     117794     {delta}"

    assert not looks_like_gobench(f"benchmark  old ns/op  new ns/op  delta\n{line}\n".encode())
    bench, damage = parse(RESULT, line)
    assert ({1}, []) == (set(bench.measurements.line.tolist()), damage)
    with pytest.raises(FormatError):
        parse_gobench(f"{line}\n".encode(), source="bench.txt")


PRINTED = b"goos: linux\npkg: example.com/api\n"
MEASURED = b"BenchmarkParse-8  1000  125 ns/op  64 B/op\n"


@pytest.mark.parametrize("headline", [b"After this change:", b"### With the patch", b"after:"])
def test_two_runs_with_a_headline_between_are_two(headline):
    text = PRINTED + MEASURED + b"PASS\n```\n" + headline + b"\n```\n" + PRINTED + MEASURED

    parsed, _ = parse_gobench(text, source="x")

    assert ["1", "2"] == [known["run"] for known in parsed.configurations]
    assert [0, 0, 1, 1] == parsed.measurements.config.tolist()


@pytest.mark.parametrize("between", [b"", b"it is up\n", b"PASS\nok  example.com/api 1s\n"])
def test_runs_without_a_headline_are_one(between):
    parsed, _ = parse_gobench(PRINTED + MEASURED + between + PRINTED + MEASURED, source="x")

    assert [{"goos": "linux", "pkg": "example.com/api"}] == parsed.configurations


@pytest.mark.parametrize(
    ("cut", "kept"),
    [(b"  125 n", ["sec/op", "B/op"]), (b"  125 ns/op  64 B/", ["sec/op", "B/op", "sec/op"])],
)
def test_a_unit_that_is_cut_is_damage_and_no_unit(cut, kept):
    parsed, damage = parse_gobench(MEASURED + b"BenchmarkParse-8  1000" + cut, source="x")

    assert kept == parsed.measurements.unit
    assert ["line 2"] == [place.where for place in damage]


def test_a_unit_of_ones_own_is_no_cut_one():
    parsed, damage = parse_gobench(MEASURED + b"BenchmarkParse-8  1000  3 rows/s", source="x")

    assert ["sec/op", "B/op", "rows/s"] == parsed.measurements.unit
    assert [] == damage


def test_a_cut_unit_is_told_by_the_first_unit_above_that_begins_so():
    text = b"BenchmarkA-8  10  5 bytes/op  6 byte/op\nBenchmarkA-8  10  5 by"
    _, damage = parse_gobench(text, source="x")

    assert ["the last line is cut: by of bytes/op"] == [str(place.what) for place in damage]


ENDED = ("PASS", "ok  \texample.com/api\t4.633s")


@pytest.mark.parametrize("between", ["then I pooled the buffers", "```", "$ git stash pop"])
def test_another_line_below_the_end_of_a_run_tells_two_runs_apart(between):
    parsed, damage = parse(RESULT, *ENDED, "", between, "", RESULT, *ENDED)

    assert [] == damage
    assert ["1", "2"] == [known["run"] for known in parsed.configurations]


@pytest.mark.parametrize("between", ["", "?  a [no test files]"])
def test_repetitions_of_one_run_are_its_samples(between):
    parsed, _ = parse(RESULT, *ENDED, between, RESULT, *ENDED)

    assert [{}] == parsed.configurations


def test_runs_without_a_benchmark_in_common_need_not_be_told_apart():
    other = RESULT.replace("Handle", "Decode")

    parsed, _ = parse(RESULT, *ENDED, "and of the decoder", other, *ENDED)

    assert all("run" not in known for known in parsed.configurations)
