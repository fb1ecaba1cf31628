"""Goroutines with their stacks in text: every release's form, the runtime's marks, cut dumps."""

import gzip
import re

import pandas as pd
import pytest

import gomem
from gomem.errors import FormatError
from gomem.inputs.goroutines.parse import looks_like_goroutines, parse_goroutines
from gomem.inputs.kinds import BY_NAME, kind_of
from gomem.text import Count
from tests.builders import FIXTURES

DOORS = FIXTURES / "doors"
RELEASES = sorted(path.name for path in DOORS.iterdir())
COUNTED = 21  # that the program began, with the first one
ONE = b"""goroutine 35 [chan receive, 5 minutes, locked to thread]:
main.(*client).deliver(0xc000112000, {0x1, 0x2})
\t/app/main.go:26 +0x85
created by main.serve in goroutine 1
\t/app/main.go:91 +0xa5
"""


def text_of(release, name):
    return gzip.decompress((DOORS / release / f"{name}.txt.gz").read_bytes())


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("name", ["goroutine-2", "panic", "quit"])
def test_a_dump_of_any_release_counts_what_the_profile_counts(release, name):
    """
    The program begins the same goroutines in every release; the runtime's own do not count.
    """
    read = gomem.read_goroutines(text_of(release, name))

    rows = read.goroutines[~read.goroutines["of_the_runtime"]]
    assert () == read.damaged
    assert COUNTED == rows["goroutines"].sum()
    profile = gomem.read_pprof(DOORS / release / "goroutine.pb.gz")
    assert COUNTED == profile.total()


def test_a_function_is_at_the_lines_of_its_calls_with_as_many_goroutines_as_are_there():
    """
    The position of `created by` is not one of the stack; what a call offset is does not count.
    """
    other = ONE.replace(b"main.go:26 +0x85", b"main.go:31 +0x9c fp=0xc00006 sp=0xc00005 pc=0x4a1")
    rows = gomem.read_goroutines(b"\n".join([ONE, other, ONE])).positions

    named = rows[["function", "file", "line", "goroutines"]].itertuples(index=False, name=None)
    assert [
        ("main.(*client).deliver", "/app/main.go", 26, 2),
        ("main.(*client).deliver", "/app/main.go", 31, 1),
    ] == [*named]


@pytest.mark.parametrize("release", RELEASES)
def test_a_dump_of_any_release_has_the_lines_of_the_profile(release):
    """
    Of every function of the program that waits; the two that run go on in between.
    """
    rows = gomem.read_goroutines(text_of(release, "goroutine-2")).positions
    stacks = gomem.read_pprof(DOORS / release / "goroutine.pb.gz").stacks

    of_dump, of_profile = (
        {*frame[["function", "line"]].itertuples(index=False, name=None)}
        for frame in (rows, stacks)
    )
    running = {"main.main", "main.spins"}
    waiting = {at for at in of_profile if at[0].startswith("main.") and at[0] not in running}
    assert len(waiting) > 5
    assert waiting <= of_dump


@pytest.mark.parametrize("release", RELEASES)
def test_a_dump_says_what_they_wait_for_since_when_and_who_began_them(release):
    """
    What the program does stands in its source: seven receive, three more within a closure.
    """
    rows = gomem.read_goroutines(text_of(release, "goroutine-2")).goroutines
    by_function = rows[rows["stack"].str.endswith("main.receives")].iloc[0]

    assert (7, "chan receive", 60.0, "main.start") == tuple(
        by_function[["goroutines", "state", "wait_seconds", "created_by"]]
    )
    states = set(rows["state"])
    assert {"select", "select (no cases)", "chan receive (nil chan)", "IO wait", "sleep"} <= states
    assert states & {"semacquire", "sync.Mutex.Lock"}
    assert ["main.isLocked"] == rows["function"][rows["locked"]].to_list()
    deep = rows[rows["stack"].str.contains("main.deep")].iloc[0]
    assert pd.isna(deep["elided"]) or deep["elided"] > 50


@pytest.mark.parametrize("release", RELEASES)
def test_the_text_with_counts_has_the_profiles_frames(release):
    """
    Every function that the text names has the cumulative count that the protobuf profile has.
    """
    text = gomem.read_pprof(text_of(release, "goroutine-1"))
    profile = gomem.read_pprof(DOORS / release / "goroutine.pb.gz")

    assert () == text.damaged
    assert ("goroutine", COUNTED) == (text.kind, text.total())
    mine, theirs = (
        {row["function"]: row["cum"] for row in one.top().to_dict("records")}
        for one in (text, profile)
    )
    # The first one was writing the profile itself, which is another function for each form.
    own = {name: count for name, count in mine.items() if name.startswith("main.")}
    assert own
    assert own == {name: theirs[name] for name in own}


def test_a_header_is_taken_apart():
    (row,) = gomem.read_goroutines(ONE).goroutines.to_dict("records")

    assert ("chan receive", 300.0, True) == (row["state"], row["wait_seconds"], row["locked"])
    assert ("main.(*client).deliver", "main.serve") == (row["function"], row["created_by"])


@pytest.mark.parametrize(
    ("header", "state", "leaked"),
    [
        (b"goroutine 9 [running]:", "running", False),
        (b"goroutine 9 [chan receive (leaked), 3 minutes]:", "chan receive", True),
        (b"goroutine 9 [select (durable), synctest bubble 1]:", "select", False),
        (b"goroutine 9 [GC worker (idle) (scan)]:", "GC worker (idle)", False),
        (b"goroutine 9 gp=0xc000002380 m=0 mp=0x1 [semacquire]:", "semacquire", False),
    ],
)
def test_marks_are_no_states(header, state, leaked):
    dump = ONE.replace(ONE.splitlines()[0], header)

    (row,) = gomem.read_goroutines(dump).goroutines.to_dict("records")

    assert (state, leaked) == (row["state"], row["leaked"])


def dump_of(*functions, created="created by main.serve in goroutine 1", state="select"):
    """One goroutine with these functions on its stack, innermost first."""
    frames = "".join(f"{function}(...)\n\t/a.go:1 +0x1\n" for function in functions)
    begun = f"{created}\n\t/a.go:2 +0x1\n" if created else ""
    return f"goroutine 7 [{state}]:\n{frames}{begun}".encode()


def only(dump):
    (row,) = gomem.read_goroutines(dump).goroutines.to_dict("records")
    return row


@pytest.mark.parametrize(
    ("functions", "created", "of_the_runtime"),
    [
        (("runtime.gopark", "runtime.bgsweep"), "created by runtime.gcenable", True),
        (("runtime.gopark", "runtime.bgsweep", "runtime.goexit"), "", True),
        (("runtime.gopark", "runtime.main"), "", False),
        (("runtime.gopark", "runtime.handleAsyncEvent"), "", False),
        (("runtime.gopark", "main.work"), "created by runtime.x", False),
        ((), "created by runtime.gcenable", True),
        ((), "created by main.start", False),
    ],
)
def test_a_goroutine_that_the_runtime_began_is_its_own(functions, created, of_the_runtime):
    """
    By the outermost function, or who began it where the stack has none.
    """
    found, _ = parse_goroutines(dump_of(*functions, created=created), source="x")

    assert [of_the_runtime] == [one.of_the_runtime for one in found.goroutines]


@pytest.mark.parametrize(
    ("depth", "created", "elided"),
    [
        (97, "created by main.a", 0),
        (98, "created by main.a", None),
        (98, "created by main.a in goroutine 1", 0),
    ],
)
def test_a_deep_stack_of_an_old_release_may_lack_frames(depth, created, elided):
    found = only(dump_of(*["main.deep"] * depth, "runtime.goexit", created=created))["elided"]

    assert (elided is None and pd.isna(found)) or elided == found


@pytest.mark.parametrize(
    ("line", "elided"),
    [("...23 frames elided...", 23), ("...additional frames elided...", None)],
)
def test_frames_that_a_dump_left_out_are_counted_if_it_says_how_many(line, elided):
    dump = dump_of("main.a", created="") + line.encode() + b"\n" + dump_of("main.b")[22:]

    row = only(dump)

    assert "main.a;main.b" == row["stack"]
    assert (elided is None and pd.isna(row["elided"])) or elided == row["elided"]


@pytest.mark.parametrize(
    ("functions", "innermost"),
    [
        (("runtime.gopark", "main.wait", "main.main"), "main.wait"),
        (("runtime.gopark", "runtime.main"), "runtime.gopark"),
        ((), ""),
    ],
)
def test_the_function_is_the_innermost_outside_the_runtime(functions, innermost):
    assert innermost == only(dump_of(*functions))["function"]


@pytest.mark.parametrize(
    ("state", "leaked", "locked"),
    [
        ("select", False, False),
        ("select (leaked)", True, False),
        ("select, leaked", True, False),
        ("select, 2 minutes, locked to thread", False, True),
    ],
)
def test_marks_behind_the_state(state, leaked, locked):
    row = only(dump_of("main.a", state=state))

    assert ("select", leaked, locked) == (row["state"], row["leaked"], row["locked"])
    assert pd.isna(row["wait_seconds"]) != locked


def test_a_threads_own_stack_is_no_goroutine():
    dump = dump_of("main.a").replace(b"goroutine 7", b"goroutine 0") + b"\n" + dump_of("main.b")

    assert ["main.b"] == gomem.read_goroutines(dump).goroutines["function"].to_list()


def test_one_that_runs_on_another_thread_has_no_stack_and_is_whole():
    dump = b"goroutine 7 [running]:\ngoroutine running on other thread; stack unavailable\n"
    read = gomem.read_goroutines(dump + b"created by main.a in goroutine 1\n\t/a.go:1\n\n" + ONE)

    assert ["main.a", "main.serve"] == read.goroutines["created_by"].to_list()
    assert () == read.damaged


def test_what_is_no_line_of_a_stack_is_damage_before_it_and_passed_over_behind_it():
    """
    Registers and the like follow a stack.
    """
    dump = b"goroutine 7 [running]:\n?\nmain.a()\n\t/a.go:1\nrax 0x0\nmain.b()\n\n" + ONE

    found, damage = parse_goroutines(dump, source="x")

    assert [("main.a",), ("main.(*client).deliver",)] == [one.stack for one in found.goroutines]
    assert [("line 2", "?")] == [(one.where, one.text) for one in damage]


def test_a_cut_line_is_told_once():
    """
    As the end of the dump, beside what was damaged before.
    """
    dump = b"goroutine 6 [running]:\n?\n\ngoroutine 7 [running]:\nmai"

    _, damage = parse_goroutines(dump, source="x")

    assert ["line 2", "line 4"] == [one.where for one in damage]
    assert "last goroutine is cut" in damage[1].what


@pytest.mark.parametrize(("length", "cut"), [(64 << 20, 1), ((64 << 20) - 1, 0)])
def test_a_dump_of_64_mib_is_cut(length, cut):
    """
    There net/http/pprof stops; what is shorter by a byte has its end.
    """

    class Long(bytes):
        def __len__(self):
            return length

    assert cut == len(parse_goroutines(Long(ONE), source="x")[1])


@pytest.mark.parametrize(("further", "known"), [(0, True), (1, False)])
def test_a_dump_begins_within_the_first_64_kib(further, known):
    header = b"goroutine 1 [running]:\n"
    message = b"panic: " + b"x" * ((64 << 10) - len(header) - 8 + further) + b"\n"

    assert known == looks_like_goroutines(message + header)


def test_goroutines_that_are_alike_are_one_row():
    dump = b"\n".join([ONE, ONE.replace(b"0xc000112000", b"0xc000112777"), ONE])

    assert [3] == gomem.read_goroutines(dump).goroutines["goroutines"].to_list()


@pytest.mark.parametrize(("kinds", "shown"), [(20, 20), (21, 20)])
def test_a_notebook_shows_twenty_rows(kinds, shown):
    dump = b"\n".join(ONE.replace(b"main.", b"main.%c" % (97 + n)) for n in range(kinds))
    html = gomem.read_goroutines(dump)._repr_html_()

    rows = re.findall(r"<td>chan receive</td>", html)
    assert (shown, kinds > shown) == (len(rows), "<td>...</td>" in html)


@pytest.mark.parametrize("left_out", [9, 25, 90, len(ONE) - 60])
def test_a_dump_that_ends_within_a_goroutine_is_cut(left_out):
    """
    net/http/pprof stops at 64 MB, wherever that is.
    """
    dump = b"\n".join([ONE, ONE])[: -left_out - 1]

    assert [True] == [
        "its last goroutine is cut" in one.what for one in gomem.read_goroutines(dump).damaged
    ]


def test_a_count_below_the_headers_is_a_cut_text():
    text = text_of("go1.27.3", "goroutine-1")

    (damage,) = gomem.read_pprof(text[: text.index(b"\n\n1 @") + 2]).damaged

    assert "count 10, and its header says 21" in damage.what


def test_labels_of_a_count_are_kept():
    text = (
        b"goroutine profile: total 2\n"
        b'2 @ 0x10 0x20\n# labels: {"tenant":"eu"}\n#\t0xf\tmain.work+0x1\t/app/main.go:3\n'
    )

    assert ["eu"] == gomem.read_pprof(text).labels["text"].to_list()


def test_a_crash_without_stacks_is_named_as_what_it_is():
    assert kind_of(b"panic: runtime error: index out of range [3] with length 3\n") is None
    with pytest.raises(FormatError, match="as it crashed"):
        gomem.read(b"panic: runtime error: index out of range [3] with length 3\n")


def test_a_wrapped_dump_is_read():
    wrapped = b"".join(
        b"2026-11-20T03:53:49.470512345Z stderr F " + line + b"\n" for line in ONE.splitlines()
    )

    assert kind_of(wrapped) is BY_NAME["goroutines"]
    assert [1] == gomem.read_goroutines(wrapped).goroutines["goroutines"].to_list()


def test_a_capture_says_what_its_goroutines_wait_for(tmp_path):
    """
    The stacks in text beside the profile: one moment, its count, and the states.
    """
    for name in ("goroutine.pb.gz", "goroutine-1.txt.gz", "goroutine-2.txt.gz"):
        (tmp_path / name).write_bytes((DOORS / "go1.24.2" / name).read_bytes())

    capture = gomem.load(*sorted(tmp_path.iterdir()))

    assert (
        COUNTED
        == capture.goroutines["goroutines"].groupby(capture.goroutines["moment"]).sum().max()
    )
    assert "chan receive" in set(capture.goroutines["state"].dropna())


def test_a_stack_without_names_is_counted(tmp_path):
    """
    A goroutine that has not run yet has an address alone.
    """
    text = b"goroutine profile: total 3\n2 @ 0x47bae1\n\n1 @ 0x20\n#\t0x1f\tmain.f+0x1\t/a.go:3\n"
    (tmp_path / "goroutine.txt").write_bytes(text)

    frame = gomem.load(tmp_path).goroutines

    assert [2, 1] == frame["goroutines"].to_list()
    assert ["", "main.f"] == frame["function"].to_list()


def test_a_leak_names_what_they_wait_for(tmp_path):
    """
    Five moments of goroutines that only grow, in text alone.
    """
    for number in range(1, 6):
        dump = b"\n".join([ONE] * (2000 * number))
        (tmp_path / f"goroutine-{number}.txt").write_bytes(dump)

    (finding,) = (one for one in gomem.diagnose(tmp_path).findings if one.code == "goroutine-leak")

    assert "2 000 → 10 000" in finding.title.replace("\u202f", " ").replace(",", " ")
    fields = {one.field: one.value for one in finding.evidence}
    assert 10_000 == fields["goroutines in state chan receive"]
    assert 300.0 == fields["longest wait, at least"]


def test_a_dump_alone_is_told_in_a_sentence(tmp_path):
    (tmp_path / "stacks.txt").write_bytes(text_of("go1.24.2", "goroutine-2"))

    sentence = gomem.diagnose(tmp_path).verdict.sentence

    waiting = "10 wait in main.receives (chan receive at main.go:40), started by main.start."
    assert f"21 goroutines; {waiting}" == sentence


def test_arguments_that_are_wrapped_are_one_call():
    whole = b"main.call(0xc000112000, 0xc000014080,"
    dump = dump_of("main.wait").replace(b"main.wait(...)", whole + b"\n0x1, 0x2)")

    row = only(dump)

    assert ("main.call", "main.serve", "main.call") == (
        row["function"], row["created_by"], row["stack"]
    )  # fmt: skip
    assert () == gomem.read_goroutines(dump).damaged


def test_a_call_that_is_cut_within_its_arguments_keeps_its_name():
    dump = b"goroutine 7 [syscall]:\nmain.call(0xe8,"

    read = gomem.read_goroutines(dump)

    assert ["main.call"] == read.goroutines["function"].to_list()
    assert ["its last goroutine is cut, and more can be missing"] == [
        fault.what for fault in read.damaged
    ]


def test_a_stack_that_is_cut_within_the_runtimes_frames_is_not_the_runtimes_own():
    frames = "runtime.gopark(0x1, 0x2)\n\t/go/proc.go:398 +0xce fp=0xc000 sp=0xc001\n"
    cut = f"goroutine 7 [chan receive, 1 minutes]:\n{frames}runtime.chanrecv(0x1)\n\t/go/cha"

    assert not only(cut.encode())["of_the_runtime"]
    whole = dump_of("runtime.gopark", "runtime.bgsweep", "runtime.goexit", created="")
    assert only(whole)["of_the_runtime"]


def test_the_highest_number_says_how_many_were_started(tmp_path):
    dump = dump_of("main.wait").replace(b"goroutine 7 ", b"goroutine 15531918 ")
    (tmp_path / "dump.txt").write_bytes(dump)

    said = gomem.diagnose(tmp_path / "dump.txt").verdict.sentence

    assert 15531918 == gomem.read_goroutines(dump).highest
    assert f"The highest goroutine ID is {Count(15531918)}: about so many" in said
    (tmp_path / "dump.txt").write_bytes(dump_of("main.wait"))
    assert "highest number" not in gomem.diagnose(tmp_path / "dump.txt").verdict.sentence


def test_goleaks_list_is_its_own_word_for_a_leak(tmp_path):
    head = b"goleak: Errors on successful test run: found unexpected goroutines:\n"
    (tmp_path / "test.log").write_bytes(head + dump_of("main.wait"))

    said = gomem.diagnose(tmp_path / "test.log").verdict.sentence

    assert "goleak reported it as leaked when the test ended." in said


# Headers that are torn

STACK = (
    "main.f()\n\t/app/main.go:12 +0x1d\n"
    "created by main.main in goroutine 1\n\t/app/main.go:9 +0x1d\n"
)


@pytest.mark.parametrize(
    "header",
    ["goroutine x [sleep]:", "goroutin7 [sleep]:", "goroutine 7 [sleep, 2 minutes", "7 [sleep]:"],
)
def test_a_stack_whose_header_is_torn_is_damage(header):
    dump = "\n".join([f"goroutine {n} [sleep]:\n{STACK}" for n in (1, 2)])
    torn = dump + f"\n{header}\n{STACK}" + f"\ngoroutine 9 [sleep]:\n{STACK}"

    read = gomem.read_goroutines(torn.encode())

    assert 3 == read.goroutines["goroutines"].sum()
    (damage,) = read.damaged
    assert "line 13" == damage.where
    assert damage.what.endswith("not counted")
    assert header in damage.text


def test_each_torn_header_is_told():
    dump = "\n".join(f"goroutine {n if n % 2 else 'x'} [sleep]:\n{STACK}" for n in range(1, 9))

    read = gomem.read_goroutines(dump.encode())

    assert 4 == read.goroutines["goroutines"].sum() == len(read.damaged)


def test_a_creator_that_is_torn_is_damage_and_the_goroutine_is_counted():
    whole = f"goroutine 1 [sleep]:\n{STACK}"
    dump = whole.replace("created by", "creatd by") + f"\n{whole}"

    read = gomem.read_goroutines(dump.encode())

    assert {"": 1, "main.main": 1} == dict(read.goroutines["created_by"].value_counts())
    assert ["line 4"] == [damage.where for damage in read.damaged]


def test_a_wait_that_is_torn_is_damage_and_unknown():
    read = gomem.read_goroutines(f"goroutine 1 [sleep, 2 minuteszz]:\n{STACK}".encode())

    assert read.goroutines["wait_seconds"].isna().all()
    assert ["line 1"] == [damage.where for damage in read.damaged]


def test_what_a_second_crash_prints_is_no_torn_header():
    crash = "fatal error: out\n\nruntime stack:\nruntime.throw()\n\t/go/panic.go:7 +0x4d\n\n"

    read = gomem.read_goroutines(
        f"goroutine 1 [sleep]:\n{STACK}\n{crash}goroutine 2 [sleep]:\n{STACK}".encode()
    )

    assert () == read.damaged


@pytest.mark.parametrize(
    ("path", "release"),
    [
        ("/usr/local/go1.22.12/src/runtime/proc.go", "go1.22.12"),
        (
            "/go/pkg/mod/golang.org/toolchain@v0.0.1-go1.17.13.linux-amd64/src/net/fd.go",
            "go1.17.13",
        ),
        ("/usr/local/go/src/runtime/proc.go", None),
    ],
)
def test_the_release_is_in_the_paths_of_the_library(path, release):
    begin = f"goroutine 1 [select]:\nnet/http.serve()\n\t{path}:7 +0x1\n"
    text = f"{begin}main.main()\n\t/src/m.go:3 +0x1\n"

    assert release == gomem.read_goroutines(text.encode()).go_version
