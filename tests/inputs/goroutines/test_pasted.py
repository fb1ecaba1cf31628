"""Goroutines as people paste them: what nothing was lost of is read whole, the rest says what."""

import pytest

import gomem
from gomem.inputs.kinds import kind_of
from tests.builders import FIXTURES

PASTED = FIXTURES / "pasted" / "goroutines"
RELEASES = ["go1.20.14", "go1.27.1"]
WHOLE = ["with-spaces", "without-indentation", "journal", "syslog", "forwarded", "quoted", "fenced"]


def stacks_of(read):
    """The goroutines of the program, by all that a dump says of them."""
    return read.goroutines[~read.goroutines["of_the_runtime"]].to_csv()


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("way", WHOLE)
def test_a_dump_loses_nothing_with_its_tabulators(release, way):
    path = PASTED / f"{release}-dump-{way}.txt"

    read = gomem.read_goroutines(path)

    assert "goroutines" == kind_of(path.read_bytes(), path.name).name
    assert () == read.damaged
    assert stacks_of(gomem.read_goroutines(PASTED / f"{release}-dump.txt")) == stacks_of(read)
    assert {"main.report", "main.(*batch).start"} <= set(read.goroutines["created_by"])


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("way", ["with-spaces", "forwarded"])
def test_a_crash_with_registers_behind_it_loses_nothing(release, way):
    read = gomem.read_goroutines(PASTED / f"{release}-quit-{way}.txt")

    assert () == read.damaged
    assert stacks_of(gomem.read_goroutines(PASTED / f"{release}-quit.txt")) == stacks_of(read)


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize(
    ("way", "said", "count"),
    [
        pytest.param("cut-in-a-header", "header is torn or cut", 2, id="cut within a header"),
        pytest.param("with-a-torn-header", "header is torn or cut", 8, id="another line in one"),
        pytest.param("shortened", "dots stand for", 2, id="dots for the rest"),
    ],
)
def test_what_a_dump_lost_is_damage_at_its_line(release, way, said, count):
    """
    All three begin to lack something in line 21, where the third goroutine is.
    """
    read = gomem.read_goroutines(PASTED / f"{release}-dump-{way}.txt")

    (damage,) = read.damaged
    assert said in damage.what
    assert "line 21" == damage.where
    assert count == read.goroutines["goroutines"].sum()


def test_dots_within_a_stack_stand_for_frames():
    dump = (
        b"goroutine 7 [select]:\nmain.read(0x1)\n\t/a.go:1 +0x1\n...\n"
        b"created by main.start in goroutine 1\n\t/a.go:2 +0x1\n"
    )

    read = gomem.read_goroutines(dump)

    (row,) = read.goroutines.to_dict("records")
    assert ("main.read", "main.start") == (row["stack"], row["created_by"])
    assert read.goroutines["elided"].isna().all()
    assert ["line 4"] == [damage.where for damage in read.damaged]


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize(
    "way", ["with-spaces", "without-indentation", "journal", "quoted", "fenced", "as-markdown"]
)
def test_counts_lose_nothing_with_their_tabulators_and_marks(release, way):
    whole = gomem.read_pprof(PASTED / f"{release}-counts.txt")

    read = gomem.read_pprof(PASTED / f"{release}-counts-{way}.txt")

    assert () == read.damaged
    assert whole.top().to_dict("list") == read.top().to_dict("list")
    assert (1001, 1001) == (read.total(), read.header_total)


@pytest.mark.parametrize("release", RELEASES)
def test_an_excerpt_has_the_number_of_its_header(release):
    read = gomem.read_pprof(PASTED / f"{release}-counts-largest.txt")

    assert (700, 1001) == (read.total(), read.header_total)
    (damage,) = read.damaged
    assert "an excerpt: its records count 700, and its header says 1001" == damage.what


@pytest.mark.parametrize("release", RELEASES)
def test_counts_without_their_head_are_goroutines_of_which_there_may_be_more(release):
    path = PASTED / f"{release}-counts-without-head.txt"

    read = gomem.read_pprof(path)

    assert "count_text" == kind_of(path.read_bytes(), path.name).name
    assert ("goroutine", 1001, None) == (read.kind, read.total(), read.header_total)
    assert ["line 1"] == [damage.where for damage in read.damaged]


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(b"3 @ 0x1 0x2\n", id="no frame"),
        pytest.param(b"3 7 @ 0x1\n#\t0x1\tmain.a+0x1\t/a.go:1\n", id="a profile of contention"),
        pytest.param(b"1: 8 [1: 8] @ 0x1\n#\t0x1\tmain.a+0x1\t/a.go:1\n", id="of a heap"),
        pytest.param(b"3 @ home\n#\t0x1\tmain.a+0x1\t/a.go:1\n", id="no address"),
    ],
)
def test_what_only_resembles_a_record_is_no_profile_of_counts(text):
    kind = kind_of(text, "paste.txt")
    assert kind is None or "heap_text" == kind.name


WITH_ANCESTORS = b"""goroutine 21 [select, 9 minutes]:
net/http.(*persistConn).writeLoop(0xc1)
\t/go/src/net/http/transport.go:2410 +0xf2
created by net/http.(*Transport).dialConn
\t/go/src/net/http/transport.go:1766 +0x17
[originating from goroutine 20]:
net/http.(*Transport).dialConn(...)
\t/go/src/net/http/transport.go:1767 +0x17
created by net/http.(*Transport).queueForDial
\t/go/src/net/http/transport.go:1425 +0x3e
[originating from goroutine 1]:
net/http.(*Transport).queueForDial(...)
\t/go/src/net/http/transport.go:1426 +0x3e
example.org/engine.newClient.func1(...)
\t/app/engine.go:9 +0x3e
created by main.main
\t/app/main.go:3 +0x3e
"""


def test_ancestors_are_no_goroutines_and_no_damage():
    read = gomem.read_goroutines(
        WITH_ANCESTORS + b"\ngoroutine 1 [sleep]:\nmain.main()\n\t/a.go:1 +0x1\n"
    )
    child, main = read.goroutines.to_dict("records")

    assert () == read.damaged
    assert ("net/http.(*persistConn).writeLoop", "net/http.(*Transport).dialConn") == (
        child["stack"], child["created_by"]
    )  # fmt: skip
    assert "example.org/engine.newClient.func1" == child["ancestry"].split(";")[-1]
    assert "" == main["ancestry"]
    cut = gomem.read_goroutines(WITH_ANCESTORS[:-30])
    assert ["line 1"] == [damage.where for damage in cut.damaged]


ABOVE = (
    b"runtime.growslice(0x66, {0xc0?, 0x6b?, 0x73?}, 0x0?)\n\t/go/src/runtime/slice.go:290 +0x4\n"
    b"main.list.add(...)\n\t/app/list.go:29\nmain.main()\n\t/app/main.go:40 +0x6\n"
    b"runtime.main()\n\t/go/src/runtime/proc.go:250 +0x2\n"
    b"runtime.goexit()\n\t/go/src/runtime/asm.s:1594 +0x1\n"
)
PARKED = (
    b"goroutine 2 [force gc (idle)]:\nruntime.gopark(0x0?)\n\t/go/src/runtime/proc.go:363 +0xd6\n"
)


@pytest.mark.parametrize("between", [b"", b"\n"])
def test_a_stack_above_the_first_header_is_told_and_not_counted(between):
    read = gomem.read_goroutines(ABOVE + between + PARKED)

    assert ("runtime.growslice", "main.list.add", "main.main") == read.headless[:3]
    assert read.goroutines["of_the_runtime"].all()
    assert "begins within a goroutine" in read.damaged[0].what


def test_the_runtimes_stack_above_goroutines_is_not_one_of_them():
    crash = b"fatal error: runtime: out of memory\n\nruntime stack:\n" + ABOVE + b"\n" + PARKED

    assert () == gomem.read_goroutines(crash).headless


@pytest.mark.parametrize("cut", [b" in goroutine 7", b" in goro", b" in", b""])
def test_a_creator_that_is_cut_behind_its_name_is_that_name(cut):
    dump = b"goroutine 7 [select]:\nmain.read(0x1)\n\t/a.go:1 +0x1\ncreated by main.start" + cut

    assert ["main.start"] == gomem.read_goroutines(dump).goroutines["created_by"].tolist()


def test_what_follows_a_whole_stack_does_not_tear_it():
    dump = (
        b" Goroutine 70 in state select, with main.run on top of the stack:\nmain.run(0xc0)\n"
        b"        /app/run.go:24 +0xe5\ncreated by main.start in goroutine 7\n"
        b"        /app/run.go:17 +0x16\n```\n\n### 4. Which version?\n"
    )
    read = gomem.read_goroutines(dump)

    assert ((), "goleak") == (read.damaged, read.leak_test)
