"""What the collector prints, release by release, whole, torn and broken."""

import numpy as np
import pytest

from gomem.inputs.gctrace import parse as gctrace
from gomem.inputs.gctrace.grammar import GRAMMARS
from gomem.inputs.gctrace.mixed_lines import has_own_line
from gomem.inputs.gctrace.parse import parse_pieces
from gomem.inputs.gctrace.torn_lines import Patience, mend, shape
from gomem.units import KIB, MIB
from tests.builders import FIXTURES
from tests.gc_logs import parse_gctrace
from tests.gctrace_pieces import join_pieces

MALFORMED = FIXTURES / "malformed" / "gctrace"

GO_1_5 = (
    b"gc 1 @0.004s 14%: 0.12+0.054+0.001+1.7+0.30 ms clock, "
    b"0.25+0.054+0+0.006/1.0/1.6+0.60 ms cpu, 6->7->7 MB, 4 MB goal, 2 P\n"
)
GO_1_12 = (
    b"gc 12 @0.107s 7%: 0.032+2.3+0.001 ms clock, 0.064+0/0.018/4.5+0.002 ms cpu, "
    b"64->64->64 MB, 128 MB goal, 2 P (forced)\n"
)
GO_1_27 = (
    b"gc 3 @0.010s 4%: 0.027+4.2+0.058 ms clock, 0.054+0.26/0.063/4.1+0.11 ms cpu, "
    b"14->20->19 MB, 16 MB goal, 1 MB stacks, 2 MB globals, 2 P\n"
)
LEAK_CHECK = (
    b"gc 1 @0.010s 0% (checking for goroutine leaks): 0.040+0.15+0.004 ms clock, "
    b"0.080+0/0.052/0.047+0.008 ms cpu, 0->0->0 MB, 4 MB goal, 0 MB stacks, 0 MB globals, 2 P "
    b"(forced)\n"
)
REQUEST = b"2026/11/20 03:53:49 request %d handled\n"
REQUESTS = b"".join(REQUEST % number for number in range(20))


def parse(log):
    return parse_gctrace(log, source="app.stderr")


def cycles(log):
    columns, damage = parse(log)
    assert [] == damage
    return columns.cycles


def numbered(line, number, at="0.010"):
    """The 1.27 line as another collection's."""
    return line.replace(b"gc 3 @0.010s", b"gc %d @%ss" % (number, at.encode()))


def test_sizes_become_bytes_and_times_seconds():
    columns = cycles(GO_1_27)

    assert [3] == list(columns["number"])
    assert [0.010] == list(columns["at_seconds"])
    assert [0.04] == list(columns["gc_cpu_since_start_fraction"])
    assert [0.000027] == list(columns["sweep_termination_seconds"])
    assert [0.0042] == list(columns["mark_seconds"])
    assert [0.000058] == list(columns["mark_termination_seconds"])
    assert [0.00026] == list(columns["cpu_assist_seconds"])
    assert [0.000063] == list(columns["cpu_background_seconds"])
    assert [0.0041] == list(columns["cpu_idle_seconds"])
    assert [14 * MIB] == list(columns["heap_at_start_bytes"])
    assert [20 * MIB] == list(columns["heap_at_mark_end_bytes"])
    assert [19 * MIB] == list(columns["heap_live_bytes"])
    assert [16 * MIB] == list(columns["heap_goal_bytes"])
    assert [1 * MIB] == list(columns["stacks_bytes"])
    assert [2 * MIB] == list(columns["globals_bytes"])
    assert [2] == list(columns["gomaxprocs"])


def test_go_1_5_has_five_phases():
    columns = cycles(GO_1_5)

    assert [0.00012] == list(columns["sweep_termination_seconds"])
    assert [0.000054] == list(columns["scan_seconds"])
    assert [0.000001] == list(columns["write_barrier_seconds"])
    assert [0.0017] == list(columns["mark_seconds"])
    assert [0.0003] == list(columns["mark_termination_seconds"])
    assert [0.000006] == list(columns["cpu_assist_seconds"])
    assert [0.0006] == list(columns["cpu_mark_termination_seconds"])


def test_a_field_that_the_release_does_not_print_is_unknown():
    columns = cycles(GO_1_12 + numbered(GO_1_27, 13, "0.110"))

    assert [None, 1 * MIB] == columns["stacks_bytes"].tolist()
    assert "scan_seconds" not in columns


def test_forced_and_leak_checks_are_marked():
    columns = cycles(LEAK_CHECK + numbered(GO_1_27, 2))

    assert [True, False] == list(columns["forced"])
    assert [True, False] == list(columns["leak_check"])


def test_no_goal_is_unknown_and_not_a_size():
    columns = cycles(GO_1_27.replace(b"16 MB goal", b"8532210231535 MB goal"))

    assert [None] == columns["heap_goal_bytes"].tolist()


@pytest.mark.parametrize(
    ("line", "frame", "name", "unit", "least"),
    [
        pytest.param(
            GO_1_12.replace(b"128 MB goal", b"SIZE MB goal"), "cycles", "heap_goal_bytes", MIB,
            1 << 40, id="MB",
        ),
        pytest.param(
            b"scav SIZE KiB work, 54632 KiB total, 75% util\n", "scavenges", "released_bytes", KIB,
            1 << 50, id="KiB",
        ),
        pytest.param(
            b"pacer: 44% CPU (25 exp.) for SIZE+0+0 B work (1 B exp.) in 2 B -> 3 B "
            b"(\xe2\x88\x86goal 4, cons/mark 0.5)\n", "pacer", "heap_work_bytes", 1,
            1 << 60, id="B",
        ),
    ],
)  # fmt: skip
def test_a_size_of_an_exbibyte_is_none(line, frame, name, unit, least):
    """
    No goal, or a difference below zero, printed as the large number that its bits are.
    """
    largest, none = (
        getattr(parse(line.replace(b"SIZE", b"%d" % size))[0], frame)[name]
        for size in (least - 1, least)
    )

    assert (least - 1) * unit == largest[0]
    assert none[0] is np.ma.masked


def test_a_line_of_its_own_marks_the_next_collection_periodic():
    log = GO_1_27 + b"GC forced\n" + numbered(GO_1_27, 4, "120.0") + numbered(GO_1_27, 5, "121.0")
    log = log.replace(b"120.0s", b"120.000s").replace(b"121.0s", b"121.000s")

    assert [False, True, False] == list(cycles(log)["periodic"])


def test_numbers_that_go_back_begin_a_run():
    log = numbered(GO_1_27, 1) + numbered(GO_1_27, 2) + numbered(GO_1_27, 1)

    assert [1, 1, 2] == list(cycles(log)["run"])


def test_a_clock_that_goes_back_begins_a_run():
    log = GO_1_27.replace(b"gc 3", b"gc 1") + LEAK_CHECK.replace(b"gc 1 @0.010s", b"gc 2 @0.001s")
    columns, damage = parse(log)

    assert [1, 2] == list(columns.cycles["run"])
    assert ["collection 1 of run 2 not found before this line"] == [one.what for one in damage]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            b"scav 2256 KiB work, 54632 KiB total, 75% util\n",
            {"released_bytes": 2256 * KIB, "released_total_bytes": 54632 * KIB, "forced": False},
        ),
        (
            b"scav 1 0 KiB work, 55520 KiB total, 100% util\n",
            {"generation": 1, "released_bytes": 0, "utilisation_fraction": 1.0},
        ),
        (
            b"scav 49152 KiB work, 53928 KiB total, 1% util [controller reset]\n",
            {"released_bytes": 49152 * KIB, "controller_reset": True},
        ),
        (
            b"scav 0 KiB work (bg), 80416 KiB work (eager), 153920 KiB now, 75% util (forced)\n",
            {
                "released_background_bytes": 0,
                "released_eager_bytes": 80416 * KIB,
                "released_total_bytes": 153920 * KIB,
                "forced": True,
            },
        ),
        (b"scvg: 8 KB released\n", {"released_bytes": 8 * KIB, "forced": False}),
        (b"forced scvg: 8 KB released\n", {"released_bytes": 8 * KIB, "forced": True}),
        (b"scvg0: 0 MB released\n", {"generation": 0, "released_bytes": 0, "forced": False}),
        (b"scvg-1: 190 MB released\n", {"released_bytes": 190 * MIB, "forced": True}),
        (b"forced scvg: 136 MB released\n", {"released_bytes": 136 * MIB, "forced": True}),
        (
            b"scvg: inuse: 65, idle: 126, sys: 191, released: 50, consumed: 141 (MB)\n",
            {
                "heap_inuse_bytes": 65 * MIB,
                "heap_idle_bytes": 126 * MIB,
                "heap_sys_bytes": 191 * MIB,
                "released_total_bytes": 50 * MIB,
                "consumed_bytes": 141 * MIB,
            },
        ),
    ],
    ids=[
        "1.14",
        "1.15",
        "1.19",
        "1.21",
        "1.13-beta",
        "1.13-beta-forced",
        "1.12",
        "1.12-forced",
        "1.13-forced",
        "1.13-heap",
    ],
)
def test_every_form_of_the_scavengers_lines(line, expected):
    columns, damage = parse(line)

    assert [] == damage
    assert expected == {name: columns.scavenges[name].tolist()[0] for name in expected}


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            "pacer: assist ratio=+2.566910e-001 (scan 0 MB in 3->4 MB) workers=0++2.500000e-001\n",
            {"kind": "assist", "assist_ratio": 0.2566910, "fractional_workers": 0.25},
        ),
        (
            "pacer: assist ratio=1.5 (scan 0 MB in 1->2 MB) workers=0+0.25\n",
            {"assist_ratio": 1.5, "heap_goal_bytes": 2 * MIB, "dedicated_workers": 0},
        ),
        (
            (
                "pacer: H_m_prev=2236962 h_t=+4.750000e-001 H_T=3299518 h_a=+5.893556e-001 "
                "H_a=3555328 h_g=+5.000000e-001 H_g=3355443 u_a=+2.973899e-001 u_g=+2.500000e-001 "
                "W_a=315888 goalΔ=+2.500000e-002 actualΔ=+1.143556e-001 u_a/u_g=+1.189560e+000\n"
            ),
            {"kind": "goal", "H_m_prev": 2236962, "goalΔ": 0.025, "u_a_over_u_g": 1.189560},
        ),
        (
            (
                "pacer: sweep done at heap size 3MB; allocated 1MB during sweep; swept 434 pages "
                "at +0.000000e+000 pages/byte\n"
            ),
            {"kind": "sweep", "heap_live_bytes": 3 * MIB, "swept_pages": 434},
        ),
        (
            (
                "pacer: 42% CPU (25 exp.) for 160688+16384+223824 B work (240208 B exp.) in "
                "2097152 B -> 2228224 B (∆goal -32768, cons/mark +1.000000e-001)"
                "[controller reset]\n"
            ),
            {
                "kind": "cycle",
                "cpu_fraction": 0.42,
                "globals_work_bytes": 223824,
                "goal_miss_bytes": -32768,
                "controller_reset": True,
            },
        ),
    ],
    ids=["assist", "assist-1.26", "goal", "sweep", "cycle"],
)
def test_every_kind_of_the_pacers_lines(line, expected):
    columns, damage = parse(line.encode())

    assert [] == damage
    assert expected == {name: columns.pacer[name].tolist()[0] for name in expected}


def test_the_programs_own_lines_are_counted_and_are_no_damage():
    columns, damage = parse(b"listening on :8080\nrunning gc now\n" + GO_1_27 + b"bye\n")

    assert [] == damage
    assert {"program": 3} == columns.others


def test_text_without_a_newline_may_stand_in_front():
    assert [3] == list(cycles(b"progress 2%\r" + GO_1_27)["number"])


def test_text_without_a_newline_may_stand_behind():
    assert [3] == list(cycles(GO_1_27[:-1] + b"progress 3%\n")["number"])


def test_an_announcement_with_text_behind_it_may_be_the_first_of_a_log():
    columns, damage = parse(b"GC forcedlistening on :8080\n" + GO_1_27)

    assert [] == damage
    assert [True] == list(columns.cycles["periodic"])


def test_a_number_with_too_many_decimals_is_told_where_its_line_alone_has_the_form():
    """
    Of three lines only the middle one could be a collection's.
    """
    columns, damage = parse(b"hello\n" + GO_1_27.replace(b"4.2", b"0.1234567890") + b"hello\n")

    assert [] == list(columns.cycles["number"])
    assert ["line 2"] == [one.where for one in damage]


@pytest.mark.parametrize(("line", "forced"), [(b"forced scvg", True), (b"scvg", False)])
def test_a_forced_line_of_the_scavengers_is_one_behind_other_text_too(line, forced):
    columns, damage = parse(b"progress 2%\r" + line + b": 136 MB released\n")

    assert [] == damage
    assert [forced] == columns.scavenges["forced"].tolist()


def test_windows_line_ends_are_line_ends():
    assert [True] == list(cycles(GO_1_12.replace(b"\n", b"\r\n"))["forced"])


def test_the_last_line_needs_no_newline():
    assert [3] == list(cycles(GO_1_27[:-1])["number"])


@pytest.mark.parametrize("line", [GO_1_5, GO_1_12, GO_1_27, LEAK_CHECK], ids=lambda line: line[:9])
def test_a_line_torn_anywhere_reads_like_the_whole_one(line):
    """
    The program's lines may stand between any two pieces that the runtime writes; here at every
    third place of the newest form, and every seventh of the others.
    """
    whole = cycles(line)
    form = next(one for one in GRAMMARS if one.pattern.fullmatch(line.rstrip()))
    match = form.pattern.fullmatch(line.rstrip())
    ends = {match.end(group) for group in range(1, len(form.fields) + 1)}
    starts = {match.start(group) for group in range(1, len(form.fields) + 1)}

    places = sorted(ends | starts)[:: 3 if line is GO_1_27 else 7]
    apart = REQUESTS * 4  # further than a torn line reaches

    log = b"".join(apart + line[:place] + REQUEST % 470 + line[place:] + apart for place in places)
    columns, damage = parse(log)

    assert {"program": 161 * len(places)} == columns.others
    assert all(one.what.endswith("not found before this line") for one in damage)
    assert list(range(81, 162 * len(places), 162)) == list(columns.cycles["line"])
    for name in set(whole) - {"line", "run"}:
        assert whole[name].tolist() * len(places) == columns.cycles[name].tolist(), name


def test_a_line_may_be_torn_many_times():
    line = GO_1_27
    torn = line.replace(b"+", b"+" + REQUEST % 1).replace(b"->", REQUEST % 2 + b"->")
    columns, damage = parse(REQUESTS + torn + REQUESTS)

    assert [] == damage
    assert [19 * MIB] == list(columns.cycles["heap_live_bytes"])
    assert {"program": 46} == columns.others


@pytest.mark.parametrize(
    ("before", "behind"),
    [(b"", b"\r"), (b"> ", b""), (b"    ", b""), (b"> ", b"\r")],
    ids=["windows", "quoted", "indented", "quoted, windows"],
)
def test_a_line_may_be_torn_and_pasted(before, behind):
    log = REQUESTS + GO_1_27.replace(b"%", b"nights 4\n%", 1) + REQUESTS
    lines = log.splitlines()
    pasted = b"".join(before + line + behind + b"\n" for line in lines)
    columns, damage = parse(pasted)

    assert [] == damage
    assert [19 * MIB] == list(columns.cycles["heap_live_bytes"])


def test_what_stands_before_a_torn_line_alone_is_the_programs():
    """
    Its rest begins a line, behind which nobody quotes.
    """
    columns, damage = parse(REQUESTS + b"done: " + GO_1_27.replace(b"%", b"nights 4\n%", 1))

    assert [] == damage
    assert [19 * MIB] == list(columns.cycles["heap_live_bytes"])


def test_of_two_readings_the_one_with_the_fewest_lines_of_other_text_counts():
    """
    A goal of 16 MB, and one line further down its processors; not of 1 MB, with the next line's
    goal behind a 6 of the program's.
    """
    line, later = numbered(GO_1_27, 1), numbered(GO_1_27, 2, "0.020")
    goal, processors = later.index(b" MB goal"), line.index(b"2 P")
    torn = line[:processors] + REQUEST % 1 + line[processors:]
    torn_later = later[:goal] + REQUEST % 2 + later[goal:]

    columns, damage = parse(REQUESTS + torn + torn_later + REQUESTS)

    assert [] == damage
    assert [16 * MIB, 16 * MIB] == list(columns.cycles["heap_goal_bytes"])


def test_a_log_made_to_be_read_slowly_is_given_up_where_it_is_torn():
    """
    Eight beginnings, and after them pieces that fit together in millions of ways, but for the last
    one. What is given up is damage with its place, and the next whole line is read.
    """
    begin = b"gc 1 @0.001s 1%: 0.11111\n"
    clock = b"+1.11111\n" * 20 + b" ms clock, 1.11111\n" * 3
    cpu = b"+1.11111\n" * 4 + b"/1.11111\n" * 8 + b"+1.11111\n" * 6 + b" ms cpu, 1111\n"
    heap = b"->1111\n" * 2 + b" MB, 1111\n MB goal, 1\n MB stacks, 1\n MB globals, 2\n P?\n"

    columns, damage = parse(begin * 8 + clock + cpu + heap + GO_1_27)

    assert [3] == list(columns.cycles["number"])
    assert [f"line {line}" for line in range(1, 9)] == [one.where for one in damage]


def test_a_torn_line_is_read_only_as_long_as_there_is_patience():
    torn = GO_1_27.replace(b"->", b"->" + REQUEST % 2)
    form = next(one for one in GRAMMARS if one.pattern.fullmatch(GO_1_27.rstrip()))
    little, much = Patience(10), Patience()

    assert None is mend((torn, 0, len(torn)), form, {shape(REQUEST % 2)}, little)
    mended = mend((torn, 0, len(torn)), form, {shape(REQUEST % 2)}, much)

    assert 0 == little.steps
    assert 0 < much.steps < Patience().steps
    assert form.pattern.fullmatch(GO_1_27.rstrip()).groups() == mended.numbers


def test_patience_is_the_number_of_places_where_pieces_are_looked_for():
    """
    Here one for each of two texts, the number between them, and the newline; with one less it is
    given up.
    """
    line = b"scan: total 7 objs\n"
    form = next(one for one in GRAMMARS if one.pattern.fullmatch(line.rstrip()))
    enough, less = Patience(4), Patience(3)

    assert (b"7",) == mend((line, 0, len(line)), form, set(), enough).numbers
    assert None is mend((line, 0, len(line)), form, set(), less)
    assert 0 == enough.steps == less.steps


def test_a_torn_line_across_chunks_is_one(monkeypatch):
    monkeypatch.setattr(gctrace, "CHUNK_BYTES", 1000)
    monkeypatch.setattr(gctrace, "WINDOW_BYTES", 400)
    torn = GO_1_27.replace(b" ms clock", REQUEST % 1 + b" ms clock")

    for before in range(0, 40, 3):
        log = REQUESTS + b".\n" * before + torn + REQUESTS
        columns, damage = parse(log)
        assert [] == damage
        assert [21 + before] == list(columns.cycles["line"])
        assert {"program": 41 + before} == columns.others


def test_the_places_of_a_chunk_fit_32_bits():
    """
    A piece's lines, and the longest beginning of one that was held back.
    """
    assert gctrace.CHUNK_BYTES + gctrace.MAX_LINE_BYTES < 1 << 31


def test_chunks_do_not_change_what_is_read(monkeypatch):
    log = b"".join(numbered(GO_1_27, number) + REQUEST % number for number in range(1, 200))
    whole = cycles(log)
    monkeypatch.setattr(gctrace, "CHUNK_BYTES", 777)
    monkeypatch.setattr(gctrace, "WINDOW_BYTES", 400)
    pieces = cycles(log)

    assert list(range(1, 400, 2))[:199] == list(pieces["line"])
    for name, values in whole.items():
        assert values.tolist() == pieces[name].tolist()


PACED = (
    b"pacer: assist ratio=+2.093277e+000 (scan 1 MB in 6->7 MB) workers=0++2.500000e-001\n"
    b"pacer: 29% CPU (25 exp.) for 960192+2008+2256914 B work (3215994 B exp.) in 3793552 B -> "
    b"5395856 B (\xe2\x88\x86goal 547926, cons/mark +1.141782e-001)\n"
)
SCAVENGED = (
    b"scav 0 8 KiB work, 3264 KiB total, 99% util\nscav 1 0 KiB work, 3264 KiB total, 99% util\n"
)


@pytest.mark.parametrize(
    ("log", "event", "whole", "torn"),
    [
        (PACED, "pacer", b"(scan 1 MB", b"(scan ? MB"),
        (PACED, "pacer", b"assist ratio=+2.093277e+000 (scan", b"assist"),
        (PACED, "pacer", b"pacer: assist ratio=+2.093277e+000 (scan 1 MB in 6->7 MB)", b""),
        (SCAVENGED, "scavenges", b"scav 0 8 KiB", b"8 KiB"),
        (SCAVENGED, "scavenges", b"scav 0 8 KiB work, 3264 KiB total, 99% util", b"scav 0"),
        (SCAVENGED, "scavenges", b"scav 0 8 KiB work, 3264", b"scav 0 8 KiB work, ?"),
    ],
)
def test_a_torn_line_takes_nothing_from_the_line_behind_it(log, event, whole, torn):
    """
    It is damage with its place, and the next line keeps its own.
    """
    columns, damage = parse(log.replace(whole, torn, 1))

    assert [2] == list(getattr(columns, event)["line"])
    assert [("line 1", UNREADABLE)] == [(one.where, one.what) for one in damage]


UNREADABLE = "a line of the collector's that is torn, or of no known release"


@pytest.mark.parametrize(
    ("name", "numbers", "expected"),
    [
        ("cut-short", [1, 2], [("line 3", UNREADABLE)]),
        ("unknown-ending", [1, 3], [("line 2", UNREADABLE)]),
        ("digit-inside-a-word", [1, 3], [("line 2", UNREADABLE)]),
        ("number-left-out", [1, 3], [("line 2", UNREADABLE)]),
        (
            "lines-lost",
            [1, 4],
            [("line 2", "collections 2 to 3 of run 1 not found before this line")],
        ),
        ("torn-by-text-without-newline", [1, 3], [("line 2", UNREADABLE)]),
        ("torn-with-two-readings", [1, 3], [("line 3", UNREADABLE)]),
        (
            "negative-duration",
            [1, 2],
            [("line 1", "mark_seconds is more than 1000000 s; left unknown")],
        ),
        ("broken-scav-and-pacer", [1], [("line 2", UNREADABLE), ("line 3", UNREADABLE)]),
        ("cri-part-without-end", [1], [("line 2", UNREADABLE)]),
        ("nul-bytes-inside", [1, 3], [("line 2", UNREADABLE)]),
        ("number-too-long", [1, 3], [("line 2", UNREADABLE)]),
        ("two-lines-in-one", [1, 3, 4], [("line 2", UNREADABLE)]),
        (
            "journald-record-without-message",
            [1, 2],
            [("line 2", "JSON without 'MESSAGE', as journald-json writes it")],
        ),
        (
            "docker-record-cut",
            [1, 3],
            [
                ("line 2", "not a JSON object as docker writes it"),
                ("line 3", "collection 2 of run 1 not found before this line"),
            ],
        ),
        (
            "two-beginnings-in-the-longest-line",
            [1, 4],
            [("line 2", UNREADABLE), ("line 2", UNREADABLE)],
        ),
        ("before-go1.5", [], []),
    ],
)
def test_what_cannot_be_read_is_kept_with_its_place(name, numbers, expected):
    """
    It is damage, named once; what stands around it still parses.
    """
    columns, damage = parse((MALFORMED / f"{name}.log").read_bytes())

    assert numbers == list(columns.cycles.get("number", []))
    assert expected == [(one.where, one.what) for one in damage]


def test_every_malformed_log_has_its_expectation():
    names = {path.stem for path in MALFORMED.glob("*.log")}
    parameters = test_what_cannot_be_read_is_kept_with_its_place.pytestmark[0].args[1]

    assert names == {name for name, _, _ in parameters}


def test_a_damaged_line_keeps_its_text():
    _, damage = parse(GO_1_27[:40] + b"\n")

    assert [GO_1_27[:40].decode()] == [one.text for one in damage]


def test_releases_are_what_all_forms_have_in_common():
    columns, _ = parse(GO_1_12 + b"scvg-1: 190 MB released\n")

    assert ((1, 6), (1, 12)) == columns.go_releases


@pytest.mark.parametrize("form", GRAMMARS, ids=lambda form: form.text[:40])
def test_a_form_can_be_told_from_every_other(form):
    """
    A line of a form is read as that form, or as one with the same meaning and releases.
    """
    line = form.text.replace("¦", "").encode()
    samples = {"s": b"0.010", "ms": b"0.12", "x": b"0.5"}
    for part in form.fields:
        field = b"{%s:%s}" % (part.name.encode(), part.kind.encode())
        line = line.replace(field, samples.get(part.kind, b"1"), 1)

    fitting = [one for one in GRAMMARS if one.pattern.fullmatch(line)]

    assert [form] == fitting


@pytest.mark.parametrize(
    "data",
    [b"", b"hello\n", b"running gc 1 @home\n", b"\x1f\x8b\x00", b"{}", b"scav is a word\n"],
)
def test_other_text_does_not_look_like_it(data):
    assert not has_own_line(data)


def test_a_wrapped_line_looks_like_it():
    assert has_own_line(b'{"log":"gc 1 @0.002s 3%: 0.075+1.0","stream":"stderr"}')


def test_a_log_without_any_line_of_the_collector_is_empty():
    columns, damage = parse(b"hello\n")

    assert [] == damage
    assert 0 == len(columns.cycles["line"])
    assert {"program": 1} == columns.others


def test_every_line_is_an_event_or_damage_or_counted():
    """
    Whatever bytes a log has lost, the lines read, broken and passed over are all of its lines.
    """
    random = np.random.default_rng(1)
    for _ in range(50):
        log = bytearray(GO_1_27 + GO_1_12 + b"scav 2256 KiB work, 54632 KiB total, 75% util\n")
        for place in random.integers(0, len(log), 5):
            if log[place] != ord("\n"):
                log[place] = random.integers(11, 256)
        columns, damage = parse(bytes(log))
        read = len(columns.cycles["line"]) + len(columns.scavenges["line"])
        assert 3 == read + sum(columns.others.values())
        assert len(damage) >= columns.others.get("broken", 0)


@pytest.mark.parametrize(
    ("number", "at", "run"),
    [
        pytest.param(3, "1.000", 1, id="goes on"),
        pytest.param(3, "0.500", 1, id="in the same millisecond"),
        pytest.param(3, "0.499", 2, id="the clock goes back"),
        pytest.param(2, "1.000", 2, id="the number stays"),
    ],
)
def test_a_piece_goes_on_with_the_run_of_the_one_before(number, at, run):
    pieces = [numbered(GO_1_27, 1) + numbered(GO_1_27, 2, "0.500"), numbered(GO_1_27, number, at)]

    joined, _ = join_pieces(parse_pieces(pieces, source="app.stderr"))

    assert [1, 1, run] == list(joined.cycles["run"])
    assert list(parse(b"".join(pieces))[0].cycles["run"]) == list(joined.cycles["run"])


@pytest.mark.parametrize("size", [300, 777, 2000])
def test_runs_announcements_and_gaps_reach_over_pieces(size):
    """
    A restart, a `GC forced` and a missing collection are found wherever the log is cut.
    """
    log = b"".join(numbered(GO_1_27, n, f"0.{n:03d}") for n in [*range(1, 20), *range(1, 9), 12])
    log += b"GC forced\n" + numbered(GO_1_27, 13, "9.000") + b"scvg-1: 190 MB released\n"
    whole, expected = parse(log)
    pieces = [log[start : start + size] for start in range(0, len(log), size)]

    joined, damage = join_pieces(parse_pieces(pieces, source="app.stderr"))

    assert ["collections 9 to 11 of run 2 not found before this line"] == [o.what for o in expected]
    assert expected == damage
    for name in ("number", "run", "periodic", "line"):
        assert list(whole.cycles[name]) == list(joined.cycles[name])
    assert [13] == list(joined.scavenges["after_cycle"])
    assert [2] == list(joined.scavenges["run"])


def test_a_line_without_end_is_cut_and_the_next_ones_are_read(monkeypatch):
    monkeypatch.setattr(gctrace, "MAX_LINE_BYTES", 1000)
    monkeypatch.setattr(gctrace, "CHUNK_BYTES", 500)

    columns, _ = parse(GO_1_12 + b"x" * 100_000 + b"\n" + GO_1_27)

    assert [12, 3] == list(columns.cycles["number"])
