"""What stands between the outputs of commands in one text: names, rules and times."""

import re
from datetime import UTC, datetime

import pytest

import gomem
from gomem.inputs.processes.dates import is_date, time_of, time_of_day
from gomem.inputs.separators import is_rule, is_separator, time_in
from tests.builders import FIXTURES

AT = datetime(2026, 11, 27, 7, 55, 27, tzinfo=UTC)


@pytest.mark.parametrize(
    "line",
    [
        b"Fri Nov 27 07:55:27 UTC 2026",
        b"Fri Nov 27 07:55:27 AM UTC 2026",
        b"Fri 27 Nov 2026 07:55:27 AM UTC",
        b"Fri 27 Nov 07:55:27 GMT 2026",
        b"Fri, 27 Nov 2026 07:55:27 +0000",
        b"2026-11-27T07:55:27+00:00",
        b"2026-11-27 08:55:27+01:00",
        b"1795766127",
        b"1795766127.000000000",
    ],
)
def test_each_form_of_date_is_the_same_time(line):
    assert is_date(line)
    assert AT == time_of(line)
    assert line == time_in(b"=== " + line + b" ===")
    assert line == time_in(b"### heap of api " + line)


def test_noon_and_midnight_of_twelve_hours():
    noon, midnight = (b"Fri 27 Nov 2026 12:00:01 %s UTC" % half for half in (b"PM", b"AM"))

    assert (12, 0) == tuple(at.hour for at in map(time_of, (noon, midnight)) if at)


@pytest.mark.parametrize("line", [b"Fri 27 Nov 2026 07:55:27 CET", b"Fri Nov 27 07:55:27 CET 2026"])
def test_of_another_zone_only_the_time_of_day_is_known(line):
    assert is_date(line)
    assert None is time_of(line)
    assert "07:55:27" == time_of_day(line)


@pytest.mark.parametrize("line", [b"### goroutine", b"=== ps", b"--- queue 3 ---", b"** heap **"])
def test_a_decorated_name_separates(line):
    assert is_separator(line)


@pytest.mark.parametrize(
    "line",
    [
        b"# runtime.MemStats", b"#\t0x69b76b\tmain.main+0x1", b"=== RUN   TestA", b"----",
        b"--- FAIL: TestA (0.00s)", b"--- a/heap.go", b"-1", b"", b"| --- | --- |", b"--- | ---",
    ],
)  # fmt: skip
def test_other_lines_do_not_separate(line):
    assert not is_separator(line)
    assert b"" == time_in(line)


def test_a_rule_has_no_name():
    assert is_rule(b"-----\r")
    assert not is_rule(b"--- x")


@pytest.mark.parametrize("line", [b"# TotalAlloc = 1526150912", b"# LastGC = 1795677228"])
def test_a_number_in_a_comment_is_no_time(line):
    assert b"" == time_in(line)


def test_a_heap_profile_in_text_with_gigabytes_allocated_is_one_file(tmp_path):
    """Between 1 and 2 GB, what was allocated looks like seconds since 1970."""
    text = (FIXTURES / "profiles" / "go1.27.3" / "heap-b.txt").read_text()
    allocated = re.sub(r"(?m)^# TotalAlloc = \d+", "# TotalAlloc = 1526150912", text)
    (tmp_path / "heap").write_text(allocated)

    assert 1 == len(gomem.load(tmp_path / "heap").files)
