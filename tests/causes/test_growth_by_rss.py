"""RSS over time says more of a rise between a few heap profiles: is it over, does it go on?"""

from datetime import datetime, timedelta

import pytest

import gomem
from gomem.causes.finding import Severity
from gomem.facts.told_beside import ended_well
from tools.laboratory.captures import path_of

BEGIN = datetime(2026, 11, 23, 8, 37, 38)  # of the first profile
PS = "{time:%a %b %d %H:%M:%S} UTC 2026\n  PID   RSS    VSZ COMMAND\n4711 {kib} 1696976 aquad\n"
READ = "read 3/{0}\nread 6/{0}\nread 9/{0}\nsorting\n"
GC = (
    "gc {0} @{0}.1s 0%: 0.01+1+0.01 ms clock, 0.02+0/1/0+0.02 ms cpu, 9->9->8 MB, 16 MB goal, 2 P\n"
)
LOADED = "".join(f"file {n} loaded\n{GC.format(n)}" for n in range(1, 4))
TIME_SAYS = "\tMaximum resident set size (kbytes): 118000\n\tExit status: {status}\n"


@pytest.fixture(scope="module")
def profiles():
    """Five heap profiles, six seconds apart: 15, 28, 40, 49 and 57 MiB in use."""
    heaps = [moment.heap_profile for moment in gomem.load(path_of("aquad-e")).values()]
    names = {heap.source for heap in heaps}
    files = gomem.load(path_of("aquad-e")).files
    return [file.source.stored or file.source.data for file in files if file.source.name in names]


def diagnosed(folder, profiles, sizes, apart):
    for place, data in enumerate(profiles):
        (folder / f"heap_{place}").write_bytes(data)
    times = (BEGIN + timedelta(seconds=apart * place) for place in range(len(sizes)))
    rows = (PS.format(time=time, kib=size << 10) for time, size in zip(times, sizes, strict=True))
    (folder / "ps.txt").write_text("".join(rows))
    return gomem.diagnose(folder)


def growth_in(diagnosis):
    return [finding for finding in diagnosis.findings if finding.code == "heap-growth"]


@pytest.mark.parametrize(
    ("sizes", "is_told"),
    [
        pytest.param([33, 116, *[116] * 18], False, id="RSS is level since"),
        pytest.param([33, 60, 116, 130, *[40] * 16], False, id="RSS fell"),
        pytest.param([*range(33, 113, 4)], True, id="RSS rises to the end"),
        pytest.param([33, 116, 116], True, id="too few readings of RSS"),
    ],
)
def test_a_step_between_two_profiles_is_over_if_rss_has_long_been_level(
    sizes, is_told, profiles, tmp_path
):
    diagnosis = diagnosed(tmp_path, [profiles[0], profiles[-1]], sizes, apart=4)

    assert is_told is bool(growth_in(diagnosis))


def test_profiles_that_rise_with_rss_are_told_although_their_own_rise_slows(profiles, tmp_path):
    diagnosis = diagnosed(tmp_path, profiles, [33, 56, 72, 96, 116], apart=6)

    (finding,) = growth_in(diagnosis)

    assert (Severity.WARNING, "possible") == (finding.severity, finding.confidence)
    assert (
        "RSS grows by 3.4 MiB/s and has reached 116 MiB; nearly all of the growth is from"
        in f"{finding.title}"
    )
    assert "--base" in f"{finding.next_step}"


@pytest.mark.parametrize(
    ("text", "severity"),
    [
        pytest.param(TIME_SAYS.format(status=0), Severity.INFO, id="with success"),
        pytest.param(TIME_SAYS.format(status=2), Severity.WARNING, id="with an error"),
        pytest.param("etl.service: Succeeded.\n", Severity.INFO, id="says systemd"),
        pytest.param("done\n", Severity.WARNING, id="nobody says"),
        pytest.param(READ.format(9), Severity.INFO, id="all its input was read"),
        pytest.param(READ.format(12), Severity.WARNING, id="not all its input"),
        pytest.param(READ.format(9) + "gc 9 @9.1s 0%: \n", Severity.WARNING, id="a GC after that"),
        pytest.param("on 2026/10/10\n" * 3, Severity.WARNING, id="dates"),
        pytest.param(LOADED + "load finished\n", Severity.INFO, id="its result is last"),
        pytest.param(LOADED + "file 4 loaded\n", Severity.WARNING, id="one more of its lines"),
        pytest.param(LOADED + "fatal error: no memory\n", Severity.WARNING, id="it crashed"),
        pytest.param(LOADED + "it is hot\n" + GC.format(4), Severity.WARNING, id="a GC is last"),
        pytest.param(
            LOADED + "42 done\n" + GC.format(4).replace("\n", " (forced)\n"),
            Severity.INFO,
            id="a forced GC after it, for the profile",
        ),
        pytest.param(
            "".join(f"GET /{name}\n" for name in "abcdef") + LOADED + "GET /g\n",
            Severity.WARNING,
            id="of many kinds of lines a new one is nothing new",
        ),
    ],
)
def test_what_a_program_held_as_it_ended_with_success_is_its_work(
    text, severity, profiles, tmp_path
):
    (tmp_path / "run.log").write_text(f"loading\n{text}")
    diagnosis = diagnosed(tmp_path, profiles, [33, 56, 72, 96, 116], apart=6)

    (finding,) = growth_in(diagnosis)

    assert severity == finding.severity
    assert ("run.log" if severity is Severity.INFO else "") == ended_well(diagnosis.capture)


@pytest.mark.parametrize(
    ("sizes", "is_noted"),
    [
        pytest.param([76, 122, 174, 218, 272, 285, 344, 362, 367, 379, 404], True, id="to the end"),
        pytest.param([76, 200, 330, 390, 400, 402, 404, 404, 404, 404, 404], False, id="level"),
    ],
)
def test_a_rise_that_slows_but_goes_on_is_a_note(sizes, is_noted, profiles, tmp_path):
    """One profile names who has most in use; a cache that fills looks the same."""
    found = growth_in(diagnosed(tmp_path, profiles[-1:], sizes, apart=10))

    assert is_noted is bool(found)
    for finding in found:
        assert (Severity.INFO, "possible") == (finding.severity, finding.confidence)
        assert "RSS grows from 76 MiB to 404 MiB, slowing; nearly all of inuse" in finding.title
