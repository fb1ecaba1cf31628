"""RSS that grows far above all that Go ever took from the OS, each in a file of its own."""

import pytest

import gomem

PS = (
    "Fri Nov 27 12:53:{at:02} UTC 2026\n  PID   RSS    VSZ COMMAND\n 8461 {kib} 1696976 radarfeed\n"
)
SYSLOG = (
    "Nov 27 {hour}:{minute}:{at:02} edge-4 radarfeed[8461]: mem: heap_alloc=2MB heap_inuse=3MB "
    "sys={sys}MB goroutines=3 numgc=4\n"
)
GROWING = [53 + 40 * n for n in range(8)]


def found(folder, *, sizes=GROWING, sys=(12,) * 8, hour=14, minute=16):
    (folder / "ps.txt").write_text(
        "".join(PS.format(at=6 * n, kib=size << 10) for n, size in enumerate(sizes))
    )
    (folder / "syslog.txt").write_text(
        "".join(
            SYSLOG.format(hour=hour, minute=minute, at=6 * n, sys=size)
            for n, size in enumerate(sys)
        )
    )
    diagnosis = gomem.diagnose(folder)
    return [finding for finding in diagnosis.findings if finding.code == "native-memory"], diagnosis


def test_a_level_sys_of_another_clock_proves_that_the_growth_is_not_gos(tmp_path):
    (finding,), _ = found(tmp_path)

    assert "RSS reached 333 MiB, and Go never reserved more than 12 MiB (Sys)" in finding.title
    assert "possible" == finding.confidence
    assert ["ps.txt", "ps.txt", "syslog.txt"] == [row.artefact for row in finding.evidence]


@pytest.mark.parametrize(
    "given",
    [
        pytest.param({"sizes": [53] * 8}, id="level RSS"),
        pytest.param({"sys": [40 + 38 * n for n in range(8)]}, id="Sys grows as well"),
        pytest.param({"sys": [12, 12]}, id="two readings of Sys"),
        pytest.param({"hour": 12, "minute": 53, "sys": [12] * 4}, id="a log that ended before"),
    ],
)
def test_what_go_may_have_taken_proves_nothing(tmp_path, given):
    assert [] == found(tmp_path, **given)[0]


@pytest.mark.parametrize(
    ("sizes", "is_found"),
    [
        pytest.param([45, 333], True, id="many times as much"),
        pytest.param([45, 70], False, id="little more than Go can have"),
        pytest.param([333, 400], False, id="not twice as much"),
    ],
)
def test_of_two_readings_a_large_step_is_told_as_of_the_live_heap(tmp_path, sizes, is_found):
    findings, _ = found(tmp_path, sizes=sizes)

    assert is_found is bool(findings)
    assert {"possible"} >= {finding.confidence for finding in findings}


TICKET = """rss of podcastd from the monitoring:

| time | RSS kB |
|---|---|
| 18:02:48 | 21148 |
| 18:03:23 | 66692 |
| 18:04:28 | 142788 |
| 18:05:34 | 218848 |
| 18:06:50 | 306604 |

/debug/vars at 18:03:21: HeapAlloc 2517560, HeapSys 8036352, Sys 12604680, NumGC 1
/debug/vars at {last}: HeapAlloc 2557400, HeapSys 8036352, Sys 12932360, NumGC 7
"""


@pytest.mark.parametrize(
    ("last", "codes"),
    [
        pytest.param("18:07:26", ["native-memory"], id="after the last RSS"),
        pytest.param("18:04:02", [], id="in between: what Go took later is unknown"),
    ],
)
def test_a_reading_of_sys_bounds_what_go_had_before_it(tmp_path, last, codes):
    (tmp_path / "ticket.txt").write_text(TICKET.format(last=last))
    findings = gomem.diagnose(tmp_path / "ticket.txt").findings

    assert codes == [each.code for each in findings if each.code == "native-memory"]
    if codes:
        assert (
            "RSS reached 299 MiB, and Go never reserved more than 12 MiB (Sys)" in findings[0].title
        )


def test_a_stamp_without_a_year_is_of_the_day_of_the_dated_readings(tmp_path):
    (finding,), diagnosis = found(tmp_path, hour=12, minute=53)

    assert 8 == len(diagnosis.capture.by_moment)
    assert "Memory outside Go (C or mmap) grows by" in finding.title


def test_a_stamp_that_no_dated_reading_agrees_with_has_no_date(tmp_path):
    _, diagnosis = found(tmp_path)
    times = diagnosis.capture.times

    assert [None] * 8 == [at for name, at in times.items() if name.startswith("syslog")]


TWICE = """first:

```
  PID   RSS    VSZ COMMAND
 8461 45644 1096364 bin/sign
```
HeapAlloc 812800, HeapSys 7995392, HeapInuse 1458176, Sys 17888520, NumGC 1

100 seconds later:

```
  PID   RSS    VSZ COMMAND
 8461 {kib} 1409012 bin/sign
```
HeapAlloc 541760, HeapSys 7798784, HeapInuse 1474560, Sys {sys}, NumGC 10
"""


@pytest.mark.parametrize(
    ("kib", "sys", "is_beyond"),
    [(340544, 18216200, True), (58000, 18216200, False), (340544, 300_000_000, False)],
)
def test_two_sizes_show_what_is_not_gos_of_their_difference(kib, sys, is_beyond, tmp_path):
    (tmp_path / "ticket.md").write_text(TWICE.format(kib=kib, sys=sys))
    findings = gomem.diagnose(tmp_path / "ticket.md").findings
    found = [finding for finding in findings if finding.code == "native-memory"]

    assert is_beyond == bool(found)
    for finding in found:
        assert ("possible", (kib - 45644) * 1024 - sys) == (finding.confidence, finding.bytes)


@pytest.mark.parametrize(
    ("said", "is_mapped"), [("CGO_ENABLED=0", True), ("CGO_ENABLED=1", False), ("", False)]
)
def test_without_cgo_it_is_mapped(tmp_path, said, is_mapped):
    (tmp_path / "build.txt").write_text(f"We build it with {said} go build, as always.\n")

    (finding,), _ = found(tmp_path)

    assert is_mapped is ("Munmap" in finding.next_step)
    assert is_mapped is ("C.malloc" not in finding.next_step)
    assert is_mapped is ("C or mmap" not in finding.title)
