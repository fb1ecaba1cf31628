"""Goroutines with their stacks in text: every release's form, the runtime's marks, cut dumps."""

import gzip

import pandas as pd
import pytest

import gomem
from gomem.errors import FormatError
from gomem.inputs.kinds import BY_NAME, kind_of
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


def test_goroutines_that_are_alike_are_one_row():
    dump = b"\n".join([ONE, ONE.replace(b"0xc000112000", b"0xc000112777"), ONE])

    assert [3] == gomem.read_goroutines(dump).goroutines["goroutines"].to_list()


@pytest.mark.parametrize("left_out", [9, 25, 90, len(ONE) - 60])
def test_a_dump_that_ends_within_a_goroutine_is_cut(left_out):
    """
    net/http/pprof stops at 64 MB, wherever that is.
    """
    dump = b"\n".join([ONE, ONE])[: -left_out - 1]

    assert [True] == [
        "ends within a goroutine: it is cut" in one.what
        for one in gomem.read_goroutines(dump).damaged
    ]


def test_a_count_below_the_headers_is_a_cut_text():
    text = text_of("go1.27.3", "goroutine-1")

    (damage,) = gomem.read_pprof(text[: text.index(b"\n\n1 @") + 2]).damaged

    assert "counts 10, and its header says 21" in damage.what


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

    assert "from 2 000 to 10 000" in finding.title.replace("\u202f", " ").replace(",", " ")
    fields = {one.field: one.value for one in finding.evidence}
    assert 10_000 == fields["in state chan receive"]
    assert 300.0 == fields["longest wait, at least"]


def test_a_dump_alone_is_told_in_a_sentence(tmp_path):
    (tmp_path / "stacks.txt").write_bytes(text_of("go1.24.2", "goroutine-2"))

    sentence = gomem.diagnose(tmp_path).verdict.sentence

    assert "21 goroutines, 10 of them in main.receives (chan receive)." == sentence
