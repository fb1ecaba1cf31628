"""What `go tool pprof` printed of a profile, read as a profile."""

import re

import numpy as np
import pytest

import gomem
from gomem.errors import FormatError
from gomem.inputs.kinds import kind_of
from gomem.inputs.looks_like import looks_like
from gomem.inputs.pprof.printed.lines import amount_of, fraction_of, nanoseconds_of
from gomem.inputs.pprof.printed.parse import looks_like_printed, parse_printed
from gomem.inputs.pprof.read import read_pprof
from gomem.inputs.pprof.sites import top_sites
from tests.builders import FIXTURES

TABLES = FIXTURES / "pasted" / "pprof-tables"
PROFILE = FIXTURES / "profiles" / "go1.27.3" / "heap-b.pb.gz"
GOLDEN = sorted((FIXTURES / "golden" / "pprof").glob("*/*/*.top.txt"))
HEAD = "Showing nodes accounting for 30MB, 75% of 40MB total\n"
LEGEND = "      flat  flat%   sum%        cum   cum%\n"
ROWS = (
    "      20MB 50.00% 50.00%       30MB 75.00%  main.fill\n"
    "      10MB 25.00% 75.00%       10MB 25.00%  bufio.NewReaderSize (inline)\n"
)
KIB, MIB = 1 << 10, 1 << 20


def read(text):
    return read_pprof(text.encode())


def rows(profile, **options):
    frame = profile.top(**options)
    return list(frame[[frame.columns[0], "flat", "cum"]].itertuples(index=False, name=None))


@pytest.mark.at_most(8)
@pytest.mark.parametrize(
    "moment",
    sorted({path.parent for path in GOLDEN}),
    ids=lambda path: f"{path.parent.name}-{path.name}",
)
def test_a_table_has_what_its_profile_has(moment):
    """
    Every -top that pprof printed of the recorded profiles is read as that profile's own top.
    """
    wrong = []
    for golden in sorted(moment.glob("*.top.txt")):
        name, sample_type, *_ = golden.name.split(".")
        text = golden.read_text()
        if not re.search(r"\d%  \S", text):
            continue
        own = read_pprof(FIXTURES / "captures" / moment.parent.name / moment.name / f"{name}.pb.gz")
        printed = read(text)
        kind = printed.default_sample_type
        off = printed.printed.rounding[kind]
        pairs = dict(
            zip(own.top(sample_type)["function"], rows(own, sample_type=sample_type), strict=True)
        )
        differs = [
            row
            for row in rows(printed)
            if max(abs(row[1] - pairs[row[0]][1]), abs(row[2] - pairs[row[0]][2])) > off
        ]
        if differs or abs(printed.total() - own.total(sample_type)) > off or printed.damaged:
            wrong.append((golden.name, differs))

    assert [] == wrong


@pytest.mark.parametrize(
    ("name", "kind", "sample_types"),
    [
        ("top", "heap", ["inuse_space"]),
        ("top-alloc", "allocs", ["alloc_space"]),
        ("top-objects", "heap", ["inuse_objects"]),
        ("top-cum", "heap", ["inuse_space"]),
        ("top-lines", "heap", ["inuse_space"]),
        ("base", "difference", ["inuse_space"]),
        ("tree", "heap", ["inuse_space"]),
        ("peek", "heap", ["inuse_space"]),
        ("list", "bytes", ["space"]),
        ("traces", "heap", ["inuse_space"]),
        ("top-goroutine", "goroutine", ["goroutine"]),
        ("top-cpu", "cpu", ["cpu"]),
        ("top-delay", "block", ["delay"]),
        ("session", "heap", ["inuse_space", "alloc_space"]),
        ("quoted", "heap", ["inuse_space"]),
        ("fenced", "bytes", ["space"]),
        ("rows", "bytes", ["space"]),
    ],
)
def test_every_form_is_known_and_says_what_it_counts(name, kind, sample_types):
    path = TABLES / f"{name}.txt"

    found = read_pprof(path)

    assert "pprof_text" == kind_of(path.read_bytes(), path.name).name
    assert (kind, sample_types, ()) == (found.kind, found.sample_type_names, found.damaged)


@pytest.mark.parametrize(
    "name",
    ["top", "top-cum", "top-lines", "tree", "peek", "list", "traces", "quoted", "fenced", "rows"],
)
def test_every_form_of_one_profile_has_its_total_and_its_largest_function(name):
    own = read_pprof(PROFILE)

    found = read_pprof(TABLES / f"{name}.txt")

    slack = found.printed.total_rounding[found.default_sample_type]
    assert abs(own.total("inuse_space") - found.total()) <= slack
    flat = {function: flat for function, flat, _ in rows(found)}
    put, fill = (
        dict(zip(own.top("inuse_space")["function"], own.top("inuse_space")["flat"], strict=True))[
            function
        ]
        for function in ("main.(*store).put", "main.newNode")
    )
    for function, size in (("main.newNode", fill), ("main.(*store).put", put)):
        if name != "peek" and not (name == "top-cum" and function.endswith("put")):
            assert abs(size - flat[function]) <= 12 * 5243, function


def test_rounding_is_half_of_the_last_digit_and_the_sampling_is_unknown():
    found = read(f"Type: inuse_space\n{HEAD}{LEGEND}{ROWS}")

    assert 5243 == found.printed.rounding["inuse_space"]
    assert found.top()["flat_low"].isna().all()
    assert found.top()["cum_high"].isna().all()
    sites = top_sites(found)
    assert "±5.12 KiB" in sites.note


def test_what_no_row_is_of_is_a_sample_without_a_stack():
    found = read(f"Type: inuse_space\n{HEAD}{LEGEND}{ROWS}")

    assert [("main.fill", 20 * MIB, 30 * MIB), ("bufio.NewReaderSize", 10 * MIB, 10 * MIB)] == rows(
        found
    )
    assert 40 * MIB == found.total() == found.values().sum()
    assert 10 * MIB == found.values()[found.samples["frames"] == 0].sum()


def test_a_session_has_one_profile_with_two_sample_types():
    """
    At the prompt, top, top -cum and peek are of one type; `alloc_space` begins another.
    """
    found = read_pprof(TABLES / "session.txt")

    cum = {function: cum for function, _, cum in rows(found, sample_type="inuse_space")}
    assert cum["main.main"] >= cum["main.start"] > 0
    assert found.total("alloc_space") > found.total("inuse_space")
    assert found.printed.saved.endswith("inuse_space.001.pb.gz")
    assert 2026 == found.time.year


def test_a_difference_is_one():
    assert read_pprof(TABLES / "base.txt").is_difference
    assert min(read_pprof(TABLES / "base.txt").values()) < 0


@pytest.mark.parametrize(
    "before",
    [
        "$ go tool pprof -base a.pb.gz b.pb.gz\n",
        "$ go tool pprof --diff_base=a.pb.gz b.pb.gz\n",
        "Fetching profile over HTTP from http://h/debug/pprof/heap?seconds=30\n",
        "Type: inuse_space\nDuration: 30s, Total samples = 40MB\n",
    ],
)
def test_a_difference_is_one_by_how_it_was_asked_for(before):
    found = read(f"{before}{HEAD}{LEGEND}{ROWS}")

    assert ("difference", True) == (found.kind, found.is_difference)


@pytest.mark.parametrize(
    ("before", "kind"),
    [
        ("Fetching profile over HTTP from http://h/debug/pprof/heap\n", "inuse_space"),
        ("Fetching profile over HTTP from http://h/debug/pprof/allocs\n", "alloc_space"),
        ("$ go tool pprof -alloc_space http://h/debug/pprof/heap\n", "alloc_space"),
        ("(pprof) sample_index=alloc_space\n(pprof) top\n", "alloc_space"),
        ("(pprof) top\n", "space"),
        ("", "space"),
    ],
)
def test_the_sample_type_is_that_of_the_command_and_else_unknown(before, kind):
    assert [kind] == read(f"{before}{HEAD}{LEGEND}{ROWS}").sample_type_names


def test_callers_of_a_function_that_calls_nothing_are_its_stacks():
    text = (TABLES / "peek.txt").read_text()

    found = read(text)

    stack = found.stacks[found.stacks["sample"] == 0]["function"].tolist()
    assert ["main.(*store).put", "main.work"] == stack


def test_lines_of_a_list_are_lines():
    found = read_pprof(TABLES / "list.txt")

    lines = {row[0]: row[2] for row in rows(found, granularity="lines")}
    assert found.total() > lines["main.(*store).put profiles/main.go:33"] > 9 * MIB


def test_stacks_of_traces_are_those_of_the_profile():
    own, found = read_pprof(PROFILE), read_pprof(TABLES / "traces.txt")

    for granularity in ("functions", "packages"):
        cums = dict(
            zip(
                *own.top("inuse_space", granularity=granularity).iloc[:, [0, 5]].to_numpy().T,
                strict=True,
            )
        )
        for function, _, cum in rows(found, granularity=granularity):
            assert abs(cums[function] - cum) <= 120 * 5243, function
    assert found.has_stacks


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (f"{HEAD}{LEGEND}{ROWS}      10MB 25.00% 99\n", "a row that is cut"),
        (f"{HEAD}{LEGEND}{ROWS.splitlines()[0]}\n", "some are missing"),
        (f"1MB of 40MB total (98.68%)\n{LEGEND}{ROWS}", "contradicts itself"),
        (f"{HEAD}{LEGEND}{ROWS}{HEAD.replace('40MB', '50MB')}{LEGEND}{ROWS}", "another profile"),
        (f"{HEAD}{LEGEND}{ROWS}Type: alloc_space\n{HEAD}{LEGEND}", "without its rows"),
    ],
)
def test_what_is_cut_or_of_another_profile_is_damage(text, what):
    assert any(what in damage.what for damage in read(text).damaged)


TRACES = (
    f"(pprof) traces main.fill\n-----------+{55 * '-'}\n"
    "     bytes:  1kB\n       5MB   main.fill\n             main.main\n"
)


def test_traces_behind_a_table_are_of_its_profile():
    """
    Some stacks have less than all; in another session they are another profile's.
    """
    same = read(f"(pprof) top\n{HEAD}{LEGEND}{ROWS}{TRACES}")
    other = read(f"(pprof) top\n{HEAD}{LEGEND}{ROWS}$ go tool pprof heap2.pb.gz\n{TRACES}")

    assert (40 * MIB, ()) == (same.total(), same.damaged)
    assert any("another profile" in damage.what for damage in other.damaged)


def test_a_name_on_the_next_line_is_of_the_row_before():
    """
    A narrow terminal breaks long rows before the name.
    """
    first, second = ROWS.splitlines()
    place = first.index("main.fill")

    found = read(f"{HEAD}{LEGEND}{first[:place].rstrip()}\n{first[place:]}\n{second}\n")

    assert "main.fill" == rows(found)[0][0]


def test_older_releases_and_perl_say_the_total_in_their_own_ways():
    old = read(f"30MB of 40MB total (75.00%)\n{LEGEND}{ROWS}")
    perl = read(
        "Total: 4.0 MB\n     3.0  75.0%  75.0%      3.5  87.5% main.fill\n"
        "     1.0  25.0% 100.0%      1.0  25.0% main.new\n"
    )

    assert (40 * MIB, ()) == (old.total(), old.damaged)
    assert (4 * MIB, 3 * MIB) == (perl.total(), rows(perl)[0][1])
    assert 0.05 * MIB == pytest.approx(perl.printed.rounding["space"], rel=0.01)


def test_a_document_with_a_table_in_it_is_none():
    prose = "This is a paragraph.\n" * 40

    assert not looks_like_printed(f"{prose}{HEAD}{LEGEND}{ROWS}".encode())
    assert not looks_like_printed(b"cpu 99% of 100% busy\n")
    assert not looks_like_printed(PROFILE.read_bytes())


def test_a_row_below_its_legend_is_a_table_between_words():
    """
    As people quote the one row that they ask about.
    """
    row = ROWS.splitlines()[0]
    text = f"I see this one\n{LEGEND}{row}\n.......\nand its lines\n.....\nof some code\n"

    assert looks_like_printed(text.encode())
    assert not looks_like_printed(text.replace(LEGEND, "").encode())


def test_no_row_is_an_error():
    with pytest.raises(FormatError, match="no row of a table"):
        parse_printed(b"Type: inuse_space\n", source="x")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("134.51MB", (round(134.51 * MIB), 5243)),
        ("25MB", (25 * MIB, 5243)),
        ("-2kB", (-2 * KIB, 5)),
        ("240B", (240, 0)),
        ("0", (0, 0)),
        ("32768", (32768, 0)),
        ("1.50s", (1_500_000_000, 5_000_000)),
        (".", (0, 0)),
    ],
)
def test_an_amount_has_its_unit_and_its_rounding(text, expected):
    amount = amount_of(text)

    assert expected == (amount.value, amount.rounding)


@pytest.mark.parametrize(
    ("text", "fraction", "off"),
    [
        ("94.53%", 0.9453, 5e-5),
        ("0.0075%", 7.5e-5, 5e-7),
        ("100%", 1, 5e-4),
        ("9e-05%", 9e-7, 5e-8),
    ],
)
def test_a_share_says_how_precise_it_is(text, fraction, off):
    assert pytest.approx((fraction, off)) == fraction_of(text)


@pytest.mark.parametrize(
    ("text", "iso"),
    [
        ("2026-11-20 07:03:21 UTC", "2026-11-20T07:03:21"),
        ("Apr 22, 2023 at 6:09pm (+03)", "2023-04-22T15:09:00"),
        ("Jul 29, 2020 at 5:33am (UTC)", "2020-07-29T05:33:00"),
        ("Mar 10, 2024 at 11:44pm (KST)", None),
        ("2026-02-31 07:03:21 UTC", None),
    ],
)
def test_a_time_is_known_where_its_zone_is(text, iso):
    expected = 0 if iso is None else np.datetime64(iso, "ns").astype(int)

    assert expected == nanoseconds_of(text)


def test_two_tables_subtract_and_a_table_and_a_profile_do_not():
    after, before = (
        read(f"Type: inuse_space\n{HEAD}{LEGEND}{ROWS}"),
        read(
            f"Type: inuse_space\n{HEAD}{LEGEND}{ROWS}".replace("20MB", "15MB").replace(
                "30MB 75.00%  main", "22MB 55.00%  main"
            )
        ),
    )

    change = after - before

    assert [("main.fill", 5 * MIB, 8 * MIB)] == rows(change)
    assert 2 * 5243 == change.printed.rounding["inuse_space"]
    with pytest.raises(ValueError, match="only two tables compare"):
        after.diff(read_pprof(PROFILE))
    with pytest.raises(ValueError, match="leaves rows out"):
        after.merge(before)
    with pytest.raises(ValueError, match="has no stacks"):
        after.tree()


def test_a_package_has_at_least_what_its_functions_have():
    found = read(f"Type: inuse_space\n{HEAD}{LEGEND}{ROWS}")

    assert [("main", 20 * MIB, 30 * MIB), ("bufio", 10 * MIB, 10 * MIB)] == rows(
        found, granularity="packages"
    )


def test_numbers_without_a_unit_are_counts_whatever_names_the_type():
    rows = (TABLES / "top-objects.txt").read_text().partition("Showing")
    saved = "Saved profile in /home/ana/pprof/pprof.api.inuse_objects.inuse_space.002.pb.gz\n"

    profile = read_pprof(f"{saved}{''.join(rows[1:])}".encode())

    assert ("count", "count") == (profile.sample_type().type, profile.sample_type().unit)
    assert 2_194_160 == profile.total()


@pytest.mark.parametrize(
    ("rows", "unit", "total"),
    [
        (((12.5, "25.0%"), (10.0, "20.0%")), "bytes", 50 * MIB),
        (((0.125, "25.0%"), (0.1, "20.0%")), "nanoseconds", 500_000_000),
        (((125, "25.0%"), (100, "20.0%")), "count", 500),
    ],
    ids=["memory", "contention", "counts"],
)
@pytest.mark.parametrize("total_line", [False, True])
def test_decimals_say_what_rows_without_a_unit_count(rows, unit, total, total_line):
    """
    Perl's pprof prints MB with one decimal, seconds with three, and counts with none.
    """
    digits = {"bytes": 1, "nanoseconds": 3, "count": 0}[unit]
    text = "Total: {:.{}f}\n".format(4 * rows[0][0], digits) * total_line
    for number, (flat, share) in enumerate(rows):
        text += f"  {flat:.{digits}f} {share} {share}  {flat:.{digits}f} {share} main.f{number}\n"

    profile = read_pprof(text.encode())

    assert unit == profile.sample_type().unit
    assert total == profile.total()


@pytest.mark.parametrize(
    ("command", "first"),
    [
        ("(pprof) alloc_space\n", "inuse_space"),
        ("(pprof) sample_index=alloc_space\n", "inuse_space"),
        ("(pprof) inuse_space\n", "alloc_space"),
        ("(pprof) alloc_objects\n", "space"),
        ("$ go tool pprof -alloc_space http://a/debug/pprof/heap\n", "space"),
    ],
)
def test_who_asks_for_the_other_type_in_bytes_saw_the_first_one(command, first):
    head = "Showing nodes accounting for {0}, 100% of {0} total\n" + LEGEND
    row = "  {0}  100%  100%  {0}  100%  main.fill\n"
    table = head + row
    text = f"(pprof) top\n{table.format('3MB')}{command}(pprof) top\n{table.format('90MB')}"

    profile = read_pprof(text.encode())

    assert 3 * MIB == profile.total(first)


def test_a_head_that_alone_is_quoted_has_the_total():
    """
    Markdown needs the mark of a quote in its first line only.
    """
    head = "> Showing nodes accounting for 30MB, 75.00% of 40MB total\n"

    profile = read_pprof(f"{head}{LEGEND}  30MB 75.00% 75.00%  30MB 75.00%  main.f\n".encode())

    assert 40 * MIB == profile.total()


def test_a_wrapped_command_that_asks_for_objects_names_the_type():
    rows = (TABLES / "top-objects.txt").read_text().partition("Showing")
    command = "bug/pprof/heapol pprof -inuse_objects ./api http://127.0.0.1/de\n"

    assert (
        "inuse_objects" == read_pprof(f"{command}{''.join(rows[1:])}".encode()).sample_type().type
    )


def test_a_share_is_as_printed_and_not_of_rounded_sizes():
    row = "    1.72GB 52.47% 52.47%     1.72GB 52.47%  main.fill\n"
    profile = read_pprof(f"Type: inuse_space\nTotal: 3.27GB\n{LEGEND}{row}".encode())

    assert 0.5247 == pytest.approx(profile.printed.share_of("inuse_space", "main.fill", 0.0))
    assert 0.25 == profile.printed.share_of("inuse_space", "main.none", 0.25)


STACKS = (
    "     700   runtime.gopark\n             runtime.chansend\n             main.deliver\n"
    "             main.serve (inline)\n\n"
    "         1   runtime.gopark\n             runtime.chanrecv\n             main.main\n"
)


def test_stacks_without_their_rules_are_traces_of_goroutines_where_they_are_parked():
    profile = read_pprof(STACKS.encode())

    assert looks_like_printed(STACKS.encode())
    assert ("goroutine", 701) == (profile.sample_type().type, profile.total())
    assert {"main.serve", "main.main"} <= set(profile.stacks["function"])


def test_dots_for_stacks_are_no_frame_and_no_damage():
    rule = "-----------+-------------------------------------------------------\n"
    text = f"Type: inuse_space\n{rule}         0   main.fill\n             main.main\n{rule}...\n"

    profile = read_pprof(text.encode())

    assert () == profile.damaged
    assert profile.printed.is_elided
    assert {"main.fill", "main.main"} == set(profile.stacks["function"])


@pytest.mark.parametrize("path", ["<...>/vendor/", "<omitted>/", "example.org/<my repo>/"])
def test_a_name_whose_path_was_left_out_keeps_its_row(path):
    head = (
        "0 of 1932512 total (    0%)\nShowing top 2 nodes out of 30 (cum >= 1389497)\n"
        "      flat  flat%   sum%        cum   cum%\n"
    )
    rows = (
        "         0     0%     0%    1929781 99.86%  runtime.goexit\n"
        f"         0     0%     0%    1453748 75.23%  {path}a/b.(*client).establish\n"
    )
    read = gomem.read_pprof((head + rows).encode())

    cums = dict(read.top()[["function", "cum"]].itertuples(index=False))
    assert {"runtime.goexit": 1929781, f"{path}a/b.(*client).establish": 1453748} == cums


def test_heads_without_rows_are_named_with_their_sizes():
    heads = (
        "store\nShowing nodes accounting for 3072.17kB, 37.50% of 8193.17kB total\n"
        "api/v1\nShowing nodes accounting for -290.14MB, 0.15% of 190493.35MB total\n"
        "cmd\nShowing nodes accounting for 0, 0% of 0 total\n"
    )
    said = f"{looks_like(heads.encode(), 'paste.txt').what}"

    assert "3 heads of go tool pprof without rows, of differences" in said
    assert "api/v1 -290.14MB of 190493.35MB, store 3072.17kB of 8193.17kB" in said
    positive = heads.replace("-290", "290")
    assert "difference" not in f"{looks_like(positive.encode(), 'paste.txt').what}"


NAMED_ROWS = {
    "github.com/a/b/tsdb.newMemSeries": "  238.55MB 10.77% 25.68%   238.55MB 25.68%  ",
    "github.com/a/b/tsdb/chunks.(*stream).write": "   92.58MB  4.18% 65.35%    92.58MB  4.18%  ",
}

WHOLE = "Showing nodes accounting for 331.13MB, 15% of 2215.54MB total\n"


@pytest.mark.parametrize("width", [60, 70, 75, 76])
def test_names_that_a_mail_wraps_are_joined(width):
    rows = (numbers + name for name, numbers in NAMED_ROWS.items())
    wrapped = "".join(f"{row[:width]}\n{row[width:]}\n" for row in rows)

    functions = read_pprof((WHOLE + LEGEND + wrapped).encode()).functions

    assert set(NAMED_ROWS) == set(functions["name"].dropna())


def test_half_a_name_at_the_end_is_damage_and_no_function():
    rows = "".join(f"{numbers}{name}\n" for name, numbers in NAMED_ROWS.items())

    profile = read_pprof((WHOLE + LEGEND + rows[:-10]).encode())

    assert ["github.com/a/b/tsdb.newMemSeries"] == list(profile.functions["name"].dropna())
    assert any("a row that is cut" in fault.what for fault in profile.damaged)
