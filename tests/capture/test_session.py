"""A ticket of commands and output: a paste without a clock has that of the one next to it."""

import pytest

from gomem.capture.load import load
from gomem.diagnosis.diagnosis import diagnose

PS = "USER       PID %CPU %MEM    VSZ   RSS TTY      STAT START   TIME COMMAND\n"
ROW = "api      30848  6.1  0.1 1603568 {rss} ?       SNl  12:51   0:00 /srv/api\n"
TABLE = """File: api
Type: inuse_space
Time: 2026-11-27 12:{at} UTC
Showing nodes accounting for {size}MB, 100% of {size}MB total
      flat  flat%   sum%        cum   cum%
   {size}MB   100%   100%    {size}MB   100%  main.(*Previews).keep
"""
USAGE = (
    "2026/11/27 12:{at} Alloc = {used} MiB\tTotalAlloc = {total} MiB\tSys = 90 MiB\tNumGC = {gc}\n"
)
LOGGED = "".join(
    USAGE.format(at=f"51:{24 + 3 * n:02}", used=10 + 5 * n, total=20 + 16 * n, gc=5 + n)
    for n in range(12)
)


def session(at_first, at_last):
    parts = (
        "Memory of api climbs since the release\n\n$ ps aux | grep [a]pi\n",
        PS,
        ROW.format(rss=28404),
        "\n$ go tool pprof -top http://localhost:6060/debug/pprof/heap\n",
        TABLE.format(at=at_first, size="14.55"),
        "\nhalf a minute later it was this:\n\n$ ps aux | grep [a]pi\n",
        ROW.format(rss=92480),
        "$ go tool pprof -top http://localhost:6060/debug/pprof/heap\n",
        TABLE.format(at=at_last, size="43.50"),
        f"\nlog of the pod:\n{LOGGED}\nCan anyone say what grows here?\n",
    )
    return "".join(parts)


@pytest.mark.parametrize("name", ["INC-4471.txt", "."])
def test_listings_profiles_and_a_log_in_one_text_are_on_one_timeline(name, tmp_path):
    (tmp_path / "INC-4471.txt").write_text(session("51:30", "51:57"))

    capture = load(tmp_path / name)

    assert 12 == len(capture) == len(capture.memstats)
    with_rss = {m.name: m for m in capture.values() if len(m.processes)}
    assert [28404 << 10, 92480 << 10] == [
        m.processes["rss_bytes"].iloc[0] for m in with_rss.values()
    ]
    assert ["51:30", "51:57"] == [f"{m.time:%M:%S}" for m in with_rss.values()]
    kinds = ({file.kind.name for file in m.artefacts} for m in with_rss.values())
    assert [{"processes", "pprof_text", "memstats"}] * 2 == list(kinds)
    assert "heap-growth" == diagnose(capture).findings[0].code


def test_readings_of_a_log_take_no_name_of_another_snapshot(tmp_path):
    """Its rows lie between the two profiles: none of them is a snapshot of another time."""
    (tmp_path / "ticket.txt").write_text(session("50:01", "53:59"))

    capture = load(tmp_path / "ticket.txt")

    assert 14 == len(capture)
    assert all(1 == len(m.memstats) + len(m.processes) for m in capture.values())


def test_a_date_above_a_paste_is_its_time(tmp_path):
    reading = "$ date; grep -E 'VmHWM|VmRSS' /proc/7/status\nFri Nov 27 12:52:{at} UTC 2026\n"
    status = "VmHWM:\t   {peak} kB\nVmRSS:\t   {rss} kB\n"
    readings = (
        reading.format(at=at) + status.format(peak=rss, rss=rss)
        for at, rss in ((22, 11248), (28, 11256), (34, 11260))
    )
    log = "".join(
        f"2026/11/27 12:52:{at} Alloc = 1 MiB\tTotalAlloc = 4 MiB\tSys = 11 MiB\tNumGC = 1\n"
        for at in (24, 27, 30, 33)
    )
    text = "A customer says that it eats memory. What I have:\n\n" + "".join(readings)
    (tmp_path / "ticket.txt").write_text(f"{text}\n$ docker logs api | tail\n{log}")

    capture = load(tmp_path / "ticket.txt")

    times = [file.time.second for file in capture.files if file.kind.name == "status"]
    assert [11248 << 10, 11256 << 10, 11260 << 10] == list(capture.status["VmRSS"])
    assert ([22, 28, 34], 4) == (times, len(capture.memstats))
