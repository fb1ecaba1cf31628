"""The age that ps prints (ELAPSED) orders readings of a process, and can date them."""

import pytest

from gomem.capture.load import load
from gomem.diagnosis.diagnosis import diagnose
from gomem.inputs.processes.dates import seconds_elapsed

HEAD = "  PID USER     %CPU %MEM    VSZ   RSS     ELAPSED NLWP COMMAND\n"
ROW = " 3646 api       8.3  0.5 1759976 {rss} {age:>11}    5 /srv/api :7113\n"
YOUNG, OLD = ROW.format(rss=145928, age="00:11"), ROW.format(rss=244360, age="01:26")
TABLE = """File: api
Type: inuse_space
Time: 2026-11-28 01:{at} UTC
Showing nodes accounting for {size}MB, 100% of {size}MB total
      flat  flat%   sum%        cum   cum%
  {cache}MB 77.03% 77.03%   {cache}MB 77.03%  main.(*Cache).grow
  {kept}MB 14.34% 91.37%    {kept}MB 14.34%  main.(*Trail).Note
"""
EARLY = TABLE.format(at="39:20", size="161.07", cache="158.57", kept="2.50")
LATE = TABLE.format(at="40:35", size="188.10", cache="158.57", kept="29.53")


def fenced(*pastes, between="\nWhat I see of it now:\n\n"):
    return "Memory of api climbs.\n\n" + between.join(f"```\n{paste}```\n" for paste in pastes)


@pytest.fixture
def ticket(tmp_path):
    def loaded(text):
        (tmp_path / "ticket.md").write_text(text)
        return load(tmp_path / "ticket.md")

    return loaded


def rss_of(capture):
    return [int(moment.processes["rss_bytes"].iloc[-1]) >> 10 for moment in capture.values()]


@pytest.mark.parametrize(
    ("printed", "seconds"),
    [(b"01:26", 86), (b"02:00:01", 7201), (b"3-01:00:00", 262800), (b"86", 86), (b"Nov26", None)],
)
def test_an_age_is_read_as_ps_prints_it(printed, seconds):
    assert seconds == seconds_elapsed(printed)


def test_two_ages_as_far_apart_as_two_profiles_date_their_readings(ticket):
    """The newer profile stands first, and both readings of ps next to the older one."""
    capture = ticket(fenced(LATE, EARLY, HEAD + YOUNG + OLD))

    assert ["01:39:20", "01:40:35"] == list(capture)
    assert [145928, 244360] == rss_of(capture)


@pytest.mark.parametrize("between", ["\nand later\n\n", "\n"])
def test_a_date_next_to_a_reading_does_not_turn_its_order_round(ticket, between):
    """Only the last reading has a dated paste next to it: the age says when the first was."""
    capture = ticket(fenced(HEAD + YOUNG, HEAD + OLD, LATE, between=between))

    assert [145928, 244360] == rss_of(capture)


def test_readings_without_any_date_are_in_the_order_of_their_ages(ticket):
    capture = ticket(fenced(HEAD + OLD, HEAD + YOUNG))

    assert [145928, 244360] == rss_of(capture)


def test_several_readings_take_no_date_from_a_paste_next_to_them(ticket):
    """Of two without an age, the last is of the last profile, not of that above it."""
    rows = (ROW.format(rss=size, age="-") for size in (145928, 244360))

    capture = ticket(fenced(LATE, EARLY, HEAD + "".join(rows)))

    assert [244360] == rss_of_known(capture)
    assert "01:40:35" == diagnose(capture).facts.account.last.moment


def rss_of_known(capture):
    tables = (moment.processes for moment in capture.values() if len(moment.processes))
    return [int(table["rss_bytes"].iloc[-1]) >> 10 for table in tables]


def test_two_tables_are_two_snapshots_of_which_one_says_what_grew(ticket):
    """The largest row of both stays: its share hides that another grew twelvefold."""
    said = " ".join(map(str, diagnose(ticket(fenced(LATE, EARLY, HEAD + OLD))).verdict.whose))

    assert "From 01:39:20 to 01:40:35, main.(*Trail).Note (from 2.5 MiB to 30 MiB) grew." in plain(
        said
    )
    assert "main.(*Cache).grow, the largest, did not" in plain(said)


@pytest.mark.parametrize("kept", ["2.50", "4.00"])
def test_a_row_that_differs_by_chance_did_not_grow(ticket, kept):
    late = TABLE.format(at="40:35", size="162.57", cache="158.57", kept=kept)

    said = " ".join(map(str, diagnose(ticket(fenced(late, EARLY, HEAD + OLD))).verdict.whose))

    assert "grew" not in said


def test_a_live_heap_far_above_rss_is_of_another_time(ticket):
    reading = HEAD + ROW.format(rss=36216, age="00:18")

    said = " ".join(map(str, diagnose(ticket(fenced(reading, LATE))).verdict.whose))

    assert "of RSS" not in said


def plain(words):
    return words.replace("\u202f", " ").replace("\u00a0", " ")
