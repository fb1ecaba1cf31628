"""What log collectors put around a line, taken off; and the time they knew."""

import numpy as np
import pytest

from gomem.formats.gctrace import parse_gctrace
from gomem.formats.log_wrappers import parse_stamp, unwrap, wrapper_of

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
        ("klog", f"I1120 03:53:49.470512      12 run.go:33] {LINE}", NONE),
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


def test_a_bare_log_has_no_wrapper():
    assert wrapper_of(f"{LINE}\n2026/11/20 03:53:49 hello\n".encode()) is None


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
    assert [1, 3] == list(unwrapped.line_numbers_of(np.array([0, 1])))


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
