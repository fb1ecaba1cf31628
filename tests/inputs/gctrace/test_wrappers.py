"""What log collectors put around a line, taken off; and the time they knew."""

import numpy as np
import pytest

from gomem.inputs.gctrace.parse import parse_pieces
from gomem.inputs.gctrace.unwrap import parse_stamp, unwrap, wrapper_of
from tests.gc_logs import parse_gctrace
from tests.gctrace_pieces import join_pieces

LINE = (
    "gc 1 @0.002s 3%: 0.075+1.0+0.023 ms clock, 0.15+0.22/0.21/0.58+0.061 ms cpu, "
    "3->4->4 MB, 4 MB goal, 2 P"
)
ESCAPED = LINE.replace(">", "\\u003e")
STAMP = "2026-11-20T03:53:49.470512345Z"
TIME = np.datetime64("2026-11-20T03:53:49.470512345", "ns")
NONE = np.datetime64("NaT")


@pytest.mark.parametrize(
    ("wrapper", "wrapped", "time"),
    [
        ("docker", f'{{"log":"{ESCAPED}\\n","stream":"stderr","time":"{STAMP}"}}', TIME),
        ("cri", f"{STAMP} stderr F {LINE}", TIME),
        ("timestamps", f"{STAMP} {LINE}", TIME),
        (
            "journald-json",
            f'{{"__REALTIME_TIMESTAMP":"1795146829470512","MESSAGE":"{LINE}","_PID":"12"}}',
            np.datetime64("2026-11-20T03:53:49.470512", "ns"),
        ),
        (
            "journald",
            f"2026-11-20T04:53:49+0100 web-1 api[12]: {LINE}",
            np.datetime64("2026-11-20T03:53:49", "ns"),
        ),
        (
            "syslog",
            f"<30>1 2026-11-20T03:53:49.470Z web-1 api 12 - - {LINE}",
            np.datetime64("2026-11-20T03:53:49.470", "ns"),
        ),
        ("syslog-rfc3164", f"Nov 20 03:53:49 web-1 api[12]: {LINE}", NONE),
        ("syslog-rfc3164", f"Nov 20 03:53:49.470512 web-1 api[12]: {LINE}", NONE),
        ("syslog-rfc3164", f"Fri 2026-11-20 03:53:49 UTC web-1 api[12]: {LINE}", NONE),
        ("syslog-rfc3164", f"1795146829.470512 web-1 api[12]: {LINE}", NONE),
        ("klog", f"I1120 03:53:49.470512      12 run.go:33] {LINE}", NONE),
        ("bare-stamps", f"2026/11/20 03:53:49 {LINE}", NONE),
        ("bare-stamps", f"2026-11-20 03:53:49,470 {LINE}", NONE),
        ("bare-stamps", f"[{STAMP}] {LINE}", TIME),
        (
            "bare-stamps",
            f"2026-11-20 04:53:49+01:00 {LINE}",
            np.datetime64("2026-11-20T03:53:49", "ns"),
        ),
        ("kubectl", f"[pod/api-7d9f/api] {LINE}", NONE),
        ("compose", f"api-1  | {LINE}", NONE),
    ],
)
def test_a_wrapped_line_reads_like_a_bare_one(wrapper, wrapped, time):
    """
    Its numbers are the same, and its time is the wrapper's where that says its zone.
    """
    log = f"{wrapped}\n{wrapped.replace('gc 1 ', 'gc 2 ')}\n".encode()

    columns, damage = parse_gctrace(log, source="app.log")

    assert wrapper == wrapper_of(log)
    assert [] == damage
    assert [1, 2] == list(columns.cycles["number"])
    assert [1, 2] == list(columns.cycles["line"])
    np.testing.assert_array_equal([time, time], columns.cycles["time"])


@pytest.mark.parametrize("before", ["web-1 api[12]: ", "api[12]: ", "web-1 "])
def test_the_tag_of_a_line_is_no_name_of_a_program(before):
    """
    Behind a stamp without a host, too: the runtime's own lines begin with it.
    """
    lines = (
        "scvg7: 3 MB released",
        "scvg7: inuse: 200, idle: 90, sys: 290, released: 30, consumed: 260 (MB)",
        "GC forced",
        LINE,
        "scvg8: inuse: 210, idle: 80, sys: 290, released: 30, consumed: 260 (MB)",
    )
    log = "".join(f"Nov 20 03:53:49 {before}{line}\n" for line in lines).encode()

    columns, damage = parse_gctrace(log, source="app.log")

    assert [] == damage
    assert [1] == list(columns.cycles["number"])
    assert [7, 7, 8] == list(columns.scavenges["generation"])


def test_a_bare_log_has_no_wrapper():
    assert wrapper_of(f"{LINE}\n2026/11/20 03:53:49 hello\n".encode()) is None


@pytest.mark.parametrize("stamp", ["2026/11/20 03:53:49", STAMP, f"[{STAMP}]"])
def test_stamps_of_the_programs_own_are_no_wrapper(stamp):
    """
    However many of its lines have one: the collector's have none, and they decide.
    """
    own = f"{stamp} request handled\n" * 60

    assert wrapper_of(own.encode()) is None
    assert wrapper_of(f"{own}{LINE}\n{own}".encode()) is None


def test_a_wrapper_is_told_by_the_first_lines_of_the_collectors():
    """
    A long preface of another shape does not hide it, nor a first piece without such a line.
    """
    preface = b"-- Logs begin at Fri 2026-11-20. --\n" * 200
    log = f"2026/11/20 03:53:49 {LINE}\n".encode()

    columns, damage = join_pieces(parse_pieces([preface, preface, log], source="app.log"))

    assert "bare-stamps" == wrapper_of(preface + log)
    assert [] == damage
    assert [1] == list(columns.cycles["number"])


@pytest.mark.parametrize(("wrapped", "wrapper"), [(2, None), (3, "bare-stamps")])
def test_a_wrapper_is_that_of_most_lines_of_the_collectors(wrapped, wrapper):
    """
    Two of four are not most; three of five are.
    """
    log = f"2026/11/20 03:53:49 {LINE}\n" * wrapped + f"{LINE}\n" * 2

    assert wrapper == wrapper_of(log.encode())


@pytest.mark.parametrize("prefix", ["2026/11/20 03:53:49 ", "api-1  | ", "[pod/a/b] "])
def test_a_torn_line_behind_a_prefix_is_put_together(prefix):
    lines = [LINE[:60], "request 12 handled", LINE[60:], LINE.replace("gc 1 ", "gc 2 ")]
    log = "".join(f"{prefix}{line}\n" for line in lines).encode()

    columns, damage = parse_gctrace(log, source="app.log")

    assert [] == damage
    assert [1, 2] == list(columns.cycles["number"])


def test_a_programs_own_json_is_no_wrapper():
    assert wrapper_of(b'{"level":"info","msg":"hello"}\n{"level":"info","msg":"bye"}\n') is None


def test_pieces_of_a_long_docker_line_are_joined():
    """
    Docker splits above 16 KiB: a record whose text has no newline goes on in the next.
    """
    log = (
        f'{{"log":"{ESCAPED[:60]}","stream":"stderr","time":"{STAMP}"}}\n'
        f'{{"log":"{ESCAPED[60:]}\\n","stream":"stderr","time":"{STAMP}"}}\n'
        f'{{"log":"bye\\n","stream":"stderr","time":"{STAMP}"}}\n'
    ).encode()

    unwrapped = unwrap(log, source="app.log")

    assert f"{LINE}\nbye\n".encode() == unwrapped.text
    assert [1, 3] == list(unwrapped.numbers[[0, 1]])


@pytest.mark.parametrize(("begin", "end"), [("```json", "```"), ("{noformat}", "{noformat}")])
def test_the_block_around_records_is_no_damage(begin, end):
    record = f'{{"log":"{ESCAPED}\\n","stream":"stderr","time":"{STAMP}"}}'

    columns, damage = parse_gctrace(f"{begin}\n{record}\n{end}\n".encode(), source="app.log")

    assert [] == damage
    assert [1] == list(columns.cycles["number"])


def test_partial_cri_lines_are_joined():
    log = f"{STAMP} stderr P {LINE[:60]}\n{STAMP} stderr F {LINE[60:]}\n".encode()

    assert f"{LINE}\n".encode() == unwrap(log, source="app.log").text


def test_a_line_without_the_prefix_stays():
    log = f"{STAMP} stderr F one\n{STAMP} stderr F two\nthree\n".encode()

    assert b"one\ntwo\nthree\n" == unwrap(log, source="app.log").text


def test_a_record_that_is_not_json_is_damage():
    log = f'{{"log":"one\\n","time":"{STAMP}"}}\n{{"log":"t\n{{"log":"three\\n"}}\n'.encode()

    unwrapped = unwrap(log, source="app.log")

    assert b"one\nthree\n" == unwrapped.text
    assert ["app.log: line 2"] == [one.place for one in unwrapped.damage]


@pytest.mark.parametrize(
    ("stamp", "expected"),
    [
        ("2026-11-20T03:53:49Z", np.datetime64("2026-11-20T03:53:49", "ns")),
        ("2026-11-20T03:53:49.5-08:00", np.datetime64("2026-11-20T11:53:49.5", "ns")),
        ("2026-13-20T03:53:49Z", NONE),
        ("yesterday", NONE),
        (None, NONE),
    ],
)
def test_stamps_become_utc(stamp, expected):
    np.testing.assert_array_equal(expected, parse_stamp(stamp))


def wrapped_log(wrapper: str) -> bytes:
    """Cycles between other lines, a torn one among them, as a collector stores them."""
    lines = [LINE.replace("gc 1 @0.002s", f"gc {n} @{n}.002s") for n in range(1, 40)]
    lines[5:6] = [lines[5][:60], "request 12 handled", lines[5][60:]]
    lines = [text for line in lines for text in ("request 11 handled", line)]
    log = []
    for number, text in enumerate(lines):
        stamp = f"2026-11-20T03:53:{number % 60:02d}.5Z"
        if wrapper == "docker":
            escaped = text.replace(">", "\\u003e")
            log.append(f'{{"log":"{escaped}\\n","stream":"stderr","time":"{stamp}"}}\n')
        elif wrapper == "cri-with-parts":
            log += [f"{stamp} stderr P {text[:9]}\n", f"{stamp} stderr F {text[9:]}\n"]
        else:
            log.append({"bare": "", "cri": f"{stamp} stderr F "}[wrapper] + text + "\n")
    return "".join(log).encode()


@pytest.mark.parametrize("wrapper", ["bare", "docker", "cri", "cri-with-parts"])
@pytest.mark.parametrize("size", [700, 1511, 4096])
def test_a_log_in_pieces_reads_like_the_whole(wrapper, size):
    """
    Wherever it is cut, numbers, line numbers, wall times and what is counted stay the same.
    """
    log = wrapped_log(wrapper)
    whole, _ = parse_gctrace(log, source="app.log")
    pieces = [log[start : start + size] for start in range(0, len(log), size)]

    joined, damage = join_pieces(parse_pieces(pieces, source="app.log"))

    assert [] == damage
    assert 39 == len(whole.cycles["number"])
    for name in ("number", "line", "run", "heap_live_bytes"):
        assert list(whole.cycles[name]) == list(joined.cycles[name])
    np.testing.assert_array_equal(whole.cycles["time"], joined.cycles["time"])
    assert whole.others == joined.others


def test_lines_that_are_kept_for_the_next_piece_keep_their_times():
    """
    A collection whose line is torn between two pieces of the log is of the time it began at.
    """
    lines = [f"{STAMP} stderr F {text}\n" for text in (LINE[:60], "request", LINE[60:])]
    pieces = [lines[0].encode(), "".join(lines[1:]).encode()]

    joined, _ = join_pieces(parse_pieces(pieces, source="app.log"))

    assert [1] == list(joined.cycles["number"])
    assert [TIME] == list(joined.cycles["time"])


def test_records_read_together_and_one_by_one_are_the_same():
    """
    One broken record makes the piece around it be read one by one, and nothing else changes.
    """
    log = wrapped_log("docker")
    together = unwrap(log, source="app.log")
    one_by_one = unwrap(log + b"{broken\n", source="app.log")

    assert together.text == one_by_one.text
    assert list(together.numbers) == list(one_by_one.numbers)
    lines = np.arange(len(together.numbers))
    np.testing.assert_array_equal(together.times_of(lines), one_by_one.times_of(lines))
    assert ["line 83"] == [one.where for one in one_by_one.damage]
