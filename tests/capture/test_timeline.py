"""Files, readings and names that have a time lie on one timeline."""

import pytest

import gomem
from gomem.capture import timeline
from gomem.capture.place import are_repeated as seen
from tests.builders import FIXTURES, memstats_json

SPIKY = FIXTURES / "captures/healthy-go1.27.3"
STATUS = "Name:\tapi\nPid:\t7\nVmRSS:\t{} kB\nRssAnon:\t{} kB\nRssFile:\t5000 kB\nRssShmem:\t0 kB\n"
LISTING = "  PID   RSS COMMAND\n    7 {} api\n"
ROLLUP = (
    "00400000-7ffc12d27000 ---p 00000000 00:00 0                              [rollup]\n"
    "Rss:               {} kB\nPss:               {} kB\nAnonymous:         {} kB\n"
    "LazyFree:              0 kB\n"
)


def written(folder, **files):
    """A folder with these files."""
    for name, content in files.items():
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def rss_of(folder):
    """RSS in KiB by snapshot."""
    diagnosis = gomem.diagnose(gomem.load(folder))
    return {m.name: m.rss_bytes >> 10 for m in diagnosis.moments if m.rss_bytes is not None}


def test_each_dated_reading_joins_the_nearest_snapshot_and_the_others_stay(tmp_path):
    """
    A loop of ps every five seconds, and a file of /proc each ten, a second later.
    """
    times = [f"Fri Nov 27 04:00:{second:02} UTC 2026\n" for second in range(0, 25, 5)]
    sizes = [40_000, 60_000, 80_000, 100_000, 120_000]
    loop = "".join(t + LISTING.format(size) for t, size in zip(times, sizes, strict=True))
    stats = memstats_json(HeapAlloc=9, HeapSys=9, HeapInuse=9, Sys=9)
    beside = {f"memstats-20261127T0400{second}.json": stats for second in ("01", "11")}

    assert {
        "20261127T040001": 40_000, "04:00:05": 60_000, "20261127T040011": 80_000,
        "04:00:15": 100_000, "04:00:20": 120_000,
    } == rss_of(written(tmp_path, **{"ps.log": loop}, **beside))  # fmt: skip


def test_two_dated_series_are_joined_by_their_times(tmp_path):
    """
    The program's own log of MemStats, and a loop of ps that began before it.
    """
    log = "".join(
        f"2026-11-27T04:00:{second:02}Z level=info msg=memstats Alloc={n}000000 "
        f"HeapInuse={n}500000 HeapIdle=9000000 HeapReleased=8000000 Sys={n}9000000 NumGC={n}\n"
        for n, second in enumerate((6, 11, 16), start=1)
    )  # fmt: skip
    loop = "".join(
        f"Fri Nov 27 04:00:{second:02} UTC 2026\n{LISTING.format(40_000 + second)}"
        for second in (0, 5, 10, 15)
    )
    moments = gomem.load(written(tmp_path, **{"ps.log": loop, "app.log": log})).by_moment

    kinds = [sorted(file.kind.name for file in moment.artefacts) for moment in moments.values()]
    assert [["processes"], *[["memstats", "processes"]] * 3] == kinds


def test_a_time_of_day_in_a_name_gets_the_date_of_the_others(tmp_path):
    folder = written(
        tmp_path,
        **{
            "heap-20261127T035727.pb.gz": (SPIKY / "1-start/heap.pb.gz").read_bytes(),
            "heap-20261127T035752.pb.gz": (SPIKY / "3-later/heap.pb.gz").read_bytes(),
            "ps-035727.txt": LISTING.format(30_000),
            "ps-035739.txt": LISTING.format(80_000),
            "ps-035752.txt": LISTING.format(130_000),
        },
    )

    names = ["20261127T035727", "035739", "20261127T035752"]
    assert names == list(gomem.load(folder).by_moment)
    assert dict(zip(names, (30_000, 80_000, 130_000), strict=True)) == rss_of(folder)


def test_digits_that_are_no_time_or_of_another_zone_stay_as_they_are(tmp_path):
    """
    An hour later: a local time beside one in UTC.
    """
    folder = written(
        tmp_path,
        **{
            "heap-20261127T035727.pb.gz": (SPIKY / "1-start/heap.pb.gz").read_bytes(),
            "ps-045727.txt": LISTING.format(30_000),
            "ps-045752.txt": LISTING.format(60_000),
        },
    )

    assert {"20261127T035727", "045727", "045752"} == set(gomem.load(folder).by_moment)


@pytest.mark.parametrize("separator", ["Fri Nov 27 04:00:{:02} UTC 2026", "== 1795752{:03} =="])
def test_a_loop_of_cat_is_a_series_with_its_times(separator, tmp_path):
    sizes = [44_000, 75_000, 107_000, 139_000]
    loop = "".join(
        f"{separator.format(5 * n)}\n{ROLLUP.format(size, size, size - 6000)}"
        f"VmHWM:\t{size} kB\nVmRSS:\t{size} kB\n"
        for n, size in enumerate(sizes)
    )  # fmt: skip
    capture = gomem.load(written(tmp_path, **{"rollup-loop.txt": loop}))

    rise = gomem.diagnose(capture).facts.rss_level.rise
    assert (4, 15.0, 44_000 << 10, 139_000 << 10) == (
        rise.readings, rise.seconds, rise.first, rise.last,
    )  # fmt: skip
    assert {"smaps_rollup", "status"} == {file.kind.name for file in capture.files}
    assert capture.files[1].source.name.endswith(":7")


def test_a_loop_without_times_begins_anew_where_its_first_line_comes_again(tmp_path):
    loop = "".join(STATUS.format(size, size - 5000) for size in (44_000, 75_000, 107_000))

    assert [44_000, 75_000, 107_000] == [*rss_of(written(tmp_path, **{"x.log": loop})).values()]


def test_damage_in_a_loop_is_placed_in_the_file(tmp_path):
    broken = ROLLUP.format(44_000, 44_000, 38_000).replace("Pss:", "Pss: what")
    loop = f"Fri Nov 27 04:00:00 UTC 2026\n{ROLLUP.format(9, 9, 9)}Fri Nov 27 04:00:05 UTC 2026\n"
    capture = gomem.load(written(tmp_path, **{"x.log": loop + broken}))

    assert [("x.log:8", "line 10")] == [(one.source, one.where) for one in capture.damaged]


def test_top_gives_the_time_of_day_and_a_profile_the_date(tmp_path):
    profile = (SPIKY / "3-later/heap.pb.gz").read_bytes()
    taken = gomem.read_pprof(profile).time
    head = "top - {} up  3:34,  0 user,  load average: 7.05, 6.07, 4.48\n\n"
    row = (
        "    PID USER      PR  NI    VIRT    RES    SHR S  %CPU  %MEM     TIME+ COMMAND\n"
        "      7 root      25   5 1604268  {}   7108 R  43.8   0.1   0:02.37 api\n\n"
    )
    near = [second for second in range(60) if abs(second - taken.second) < 7]
    log = "".join(
        head.format(f"{taken:%H:%M}:{second:02}") + row.format(30_000 + second)
        for second in near[::3]
    )

    rise = gomem.diagnose(
        gomem.load(written(tmp_path, **{"top.log": log, "heap.pb.gz": profile}))
    ).facts.rss_level.rise

    assert 3.0 * (rise.readings - 1) == rise.seconds


def test_what_goes_beyond_sys_is_not_gos(tmp_path):
    """
    12 MiB of Sys, and RSS from 44 to 264 MiB of which 5 are files: C memory, most likely.
    """
    for n in range(8):
        rss = 44_000 + 32_000 * n
        stats = {"Alloc": 700_000, "HeapInuse": 2_000_000, "Sys": 12_670_216, "NumGC": n + 1}
        words = " ".join(f"{name}={value}" for name, value in stats.items())
        stamp = f"20261127T0400{5 * n:02}"
        (tmp_path / f"status-{stamp}").write_text(STATUS.format(rss, rss - 5000))
        (tmp_path / f"memstats-{stamp}.txt").write_text(words + "\n")

    found = gomem.diagnose(gomem.load(tmp_path)).findings[0]

    assert ("native-memory", "possible") == (found.code, found.confidence)
    assert found.bytes >= (44_000 + 32_000 * 7 - 5000 - 4096 - 1024) * 1024 - 12_670_216


def test_what_go_released_and_rss_still_has(tmp_path):
    """
    A heap of 281 MiB is released, and RSS does not fall: with MADV_FREE. Where it falls, nothing.
    """
    mib = 1 << 20
    sizes = [(281, 1), (0, 12), (0, 282), (0, 282)]
    for folder, last_rss in (("kept", 290_000), ("fell", 12_000)):
        (tmp_path / folder).mkdir()
        for n, (in_use, released) in enumerate(sizes):
            stamp = f"20261127T0400{5 * n:02}"
            rss = last_rss if n > 1 else 290_000
            row = {"HeapInuse": in_use * mib, "HeapReleased": released * mib, "Sys": 296 * mib}
            words = " ".join(f"{name}={value}" for name, value in row.items())
            (tmp_path / folder / f"memstats-{stamp}.txt").write_text(f"{words} NumGC={n + 1}\n")
            (tmp_path / folder / f"status-{stamp}").write_text(STATUS.format(rss, rss - 5000))

    kept, fell = (
        {f.code: f.confidence for f in gomem.diagnose(gomem.load(tmp_path / name)).findings}
        for name in ("kept", "fell")
    )

    assert "possible" == kept["released-but-resident"]
    assert "released-but-resident" not in fell


def test_twice_as_many_readings_are_compared_twice_as_often(tmp_path, monkeypatch):
    """
    A loop of cat and a log: each reading is held against those near in time alone.
    """
    compared = []
    for count in (20, 40):
        times = [f"2026-11-27T04:{n // 12:02}:{5 * n % 60:02}Z" for n in range(count)]
        folder = tmp_path / str(count)
        folder.mkdir()
        written(
            folder,
            **{
                "loop.log": "".join(f"{at}\n{STATUS.format(n, n)}" for n, at in enumerate(times)),
                "ps.log": "".join(f"{at}\n{LISTING.format(n)}" for n, at in enumerate(times)),
            },
        )
        calls = []
        monkeypatch.setattr(
            timeline, "are_repeated", lambda files, calls=calls: calls.append(1) or seen(files)
        )
        assert count == len(gomem.load(folder).by_moment)
        compared.append(len(calls))

    few, many = compared
    assert few > 0
    assert many <= 2.2 * few


def test_a_dated_series_stays_beside_undated_snapshots_that_know_their_last_gc(tmp_path):
    """
    A loop of ps, and MemStats as JSON that a person called early and late.
    """
    times = [f"Fri Nov 27 04:00:{second:02} UTC 2026\n" for second in range(0, 25, 5)]
    loop = "".join(t + LISTING.format(40_000 + 1_000 * n) for n, t in enumerate(times))
    stats = {"HeapAlloc": 9, "HeapSys": 9, "HeapInuse": 9, "Sys": 9, "NumGC": 1}
    noon = 1795752000 * 10**9  # 04:00:00 UTC
    vars_ = {
        f"vars.{name}.json": memstats_json(**stats, LastGC=noon + second * 10**9)
        for name, second in (("early", 1), ("late", 19))
    }

    assert [40_000 + 1_000 * n for n in range(5)] == [
        *rss_of(written(tmp_path, **{"ps.log": loop}, **vars_)).values()
    ]


TOP_LINES = """top - {at} up 10:39,  0 user,  load average: 1.18, 0.89, 1.36

  PID USER      PR  NI    VIRT    RES    SHR S  %CPU  %MEM     TIME+ COMMAND
27474 root      30  10 2896652  {kib}   6856 S   0.0   0.0   0:00.03 api
"""
CLOCKS = ("23:59:48", "23:59:58", "00:00:08", "00:00:18")


@pytest.mark.parametrize("beside", [(), ("status.end",), ("status",)])
def test_times_of_day_alone_have_intervals(beside, tmp_path):
    """No file has a date: the intervals are known all the same, also over midnight."""
    listings = (TOP_LINES.format(at=at, kib=20000 * n) for n, at in enumerate(CLOCKS, start=1))
    (tmp_path / "top.txt").write_text("".join(listings))
    for name in beside:
        (tmp_path / name).write_text("Name:\tapi\nVmRSS:\t   80000 kB\n")

    diagnosis = gomem.diagnose(tmp_path)

    assert 30.0 == diagnosis.facts.rss_level.rise.seconds
    assert 4 == len(diagnosis.capture)
    assert "in 30 s" in diagnosis.verdict.sentence
    assert "1970" not in str(diagnosis)


def test_loops_of_one_name_in_two_folders_stay_apart(tmp_path):
    for at, folder in enumerate(("before", "after")):
        (tmp_path / folder).mkdir()
        rows = (
            f"2026/11/27 12:5{at}:0{n} Alloc = {10 * at + n} MiB Sys = 40 MiB NumGC = {n}\n"
            for n in range(1, 5)
        )
        (tmp_path / folder / "api.log").write_text("".join(rows))

    capture = gomem.load(tmp_path)

    names = [f"{folder}/api-{n}" for folder in ("before", "after") for n in range(1, 5)]
    assert names == list(capture)


def test_a_comment_that_ends_with_a_date_begins_a_page(tmp_path):
    page = "# scraped 2026-11-27T12:53:{}+00:00\n# TYPE go_goroutines gauge\ngo_goroutines {}\n"
    pages = (page.format(40 + at, 900 + at) for at in range(4))
    (tmp_path / "dump.txt").write_text("".join(pages))

    times = [moment.time.second for moment in gomem.load(tmp_path).values()]

    assert [40, 41, 42, 43] == times
