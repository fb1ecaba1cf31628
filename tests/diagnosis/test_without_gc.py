"""No GC between the last MemStats: what rose is unknown, and nothing is healthy."""

import json

import pytest

import gomem
from gomem.diagnosis.live_by_fields import was_as_large_before
from gomem.units import MIB
from gomem.views.report.verdict import verdict
from tests.builders import FIXTURES

HEAP = FIXTURES / "emptied/emptied-go1.24.2/2-night/heap.pb.gz"
ROLLUP = "Rss: {rss} kB\nPss: {rss} kB\nAnonymous: {rss} kB\n"


def snapshot(folder, in_use, gcs):
    stats = {
        "Alloc": in_use, "HeapAlloc": in_use, "HeapInuse": in_use, "HeapIdle": 560 * MIB - in_use,
        "HeapReleased": 0, "HeapSys": 560 * MIB, "Sys": 570 * MIB, "NumGC": gcs,
        "NextGC": 900 * MIB, "LastGC": 1795789898912320815, "StackInuse": 0, "StackSys": 0,
        "MSpanInuse": 0, "MSpanSys": 0, "MCacheInuse": 0, "MCacheSys": 0, "BuckHashSys": 0,
        "GCSys": 8 * MIB, "OtherSys": 2 * MIB, "TotalAlloc": 700 * MIB, "Mallocs": 9, "Frees": 1,
        "PauseTotalNs": 9000, "NumForcedGC": 0, "HeapObjects": 8, "Lookups": 0,
    }  # fmt: skip
    folder.mkdir()
    (folder / "vars.json").write_text(json.dumps({"memstats": stats}))
    head = "00400000-7fff0000 ---p 00000000 00:00 0 [rollup]\n"
    (folder / "smaps_rollup").write_text(head + ROLLUP.format(rss=570 * 1024))
    (folder / "heap.pb.gz").write_bytes(HEAP.read_bytes())


@pytest.mark.parametrize(
    ("sizes", "gcs", "is_said"),
    [
        pytest.param((440, 550), (8, 8), True, id="it rose without a GC"),
        pytest.param((440, 550), (8, 9), False, id="a GC ran"),
        pytest.param((540, 545), (8, 8), False, id="it did not rise"),
    ],
)
def test_a_rise_that_no_gc_has_looked_at_is_not_healthy(tmp_path, sizes, gcs, is_said):
    for name, size, count in zip("12", sizes, gcs, strict=True):
        snapshot(tmp_path / name, size * MIB, count)

    diagnosis = gomem.diagnose(tmp_path)

    said = " ".join(diagnosis.verdict.whose)
    assert is_said == ("No GC ran from snapshot 1 to snapshot 2 (NumGC 8 at both)" in said)
    assert is_said == ("HeapInuse rose from 440 MiB to 550 MiB" in said)
    assert is_said == ("heap?gc=1" in diagnosis.verdict.next_step)
    assert is_said == ("healthy" not in verdict(diagnosis).label)


@pytest.mark.parametrize(("last", "is_said"), [(3, True), (4, False)], ids=["none", "one"])
def test_a_rise_after_which_no_gc_ran_says_so(tmp_path, last, is_said):
    for name, size, count in zip("123", (20, 540, 545), (2, 3, last), strict=True):
        snapshot(tmp_path / name, size * MIB, count)

    said = " ".join(gomem.diagnose(tmp_path).verdict.whose)

    words = (
        "No GC ran from snapshot 2 to snapshot 3 (NumGC 3 at both): HeapInuse is 545 MiB, "
        "and how much of it is live is unknown until the next GC (heap goal 900 MiB)."
    )
    assert is_said == (words in said)


@pytest.mark.parametrize(("before", "is_open"), [(560, False), (500, True)], ids=["as high", "low"])
def test_a_rise_to_less_than_a_gc_has_freed_is_no_ongoing_growth(tmp_path, before, is_open):
    for name, size, count in zip("1234", (100, before, 440, 550), (6, 7, 8, 8), strict=True):
        snapshot(tmp_path / name, size * MIB, count)

    diagnosis = gomem.diagnose(tmp_path)

    assert "how much of the rise is live is unknown" in " ".join(diagnosis.verdict.whose)
    assert is_open == (not was_as_large_before(diagnosis))


PS = "  PID USER     %CPU %MEM    VSZ   RSS     ELAPSED NLWP COMMAND\n"
PROCESS = "  611 root      3.1  0.4 1670128 {}      00:{} 6 bin/store\n"


@pytest.mark.parametrize(
    ("fields", "is_open"),
    [
        pytest.param({"HeapAlloc": 100, "NextGC": 130}, True, id="35 MiB since the last GC"),
        pytest.param({"HeapAlloc": 80, "NextGC": 130}, False, id="15 MiB"),
        pytest.param({"HeapAlloc": 140, "NextGC": 130}, False, id="a goal that is reached"),
        pytest.param({"HeapAlloc": 100}, False, id="no goal"),
    ],
)
def test_what_was_allocated_since_the_last_gc_can_be_garbage(tmp_path, fields, is_open):
    rows = (PROCESS.format(kib, at) for at, kib in ((15, 90000), (30, 100000), (45, 114000)))
    sizes = "".join(f"# {name} = {size * MIB}\n" for name, size in fields.items())
    page = f"{sizes}# HeapSys = {150 * MIB}\n# NumGC = 5\n"
    (tmp_path / "mail.txt").write_text(f"{PS}{''.join(rows)}\nand its page:\n\n{page}")

    diagnosis = gomem.diagnose(tmp_path / "mail.txt")

    said = " ".join(map(str, (diagnosis.verdict.sentence, *diagnosis.verdict.whose)))
    assert is_open == ("heap reaches its goal of 130 MiB" in said)
    assert is_open == ("still growing" not in said)
    assert "healthy" not in verdict(diagnosis).label
