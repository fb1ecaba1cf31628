"""A file of many MemStats is a series; what was taken once beside it is of the last dump."""

import json

import pandas as pd
import pytest

import gomem
from tests.builders import FIXTURES, memstats_json

SPIKY = FIXTURES / "captures/healthy-go1.27.3"
DUMPS = [
    json.loads(path.read_bytes()) for path in sorted(SPIKY.glob("*/memstats.json"))
]  # of three moments of one process


def lines(dumps):
    return b"\n".join(json.dumps(dump).encode() for dump in dumps)


@pytest.mark.parametrize("text", [lines(DUMPS), json.dumps(DUMPS).encode(), lines(reversed(DUMPS))])
def test_each_dump_is_a_moment_in_the_order_of_their_last_collections(text, tmp_path):
    """
    JSON Lines or an array; written backwards, LastGC puts them right.
    """
    (tmp_path / "memstats.jsonl").write_bytes(text)

    capture = gomem.load(tmp_path)

    assert 3 == len(capture.by_moment)
    assert [dump["HeapAlloc"] for dump in DUMPS] == capture.levels["HeapAlloc"].to_list()
    assert ["memstats.jsonl"] == capture.artefacts["path"].to_list()
    assert DUMPS[-1]["NumGC"] == len(capture.pauses)
    assert {"capture-1", "capture-2", "capture-3"} == set(capture.by_moment)
    assert 61 == len(capture["capture-1"].size_classes)


def test_a_series_of_dumps_is_reported_over_its_moments(tmp_path):
    (tmp_path / "memstats.jsonl").write_bytes(lines(DUMPS))

    ledgers = gomem.diagnose(tmp_path).ledgers

    assert [dump["HeapAlloc"] for dump in DUMPS] == [
        one.part("heap_objects") for one in ledgers.values()
    ]


def test_what_was_taken_once_is_of_the_last_dump(tmp_path):
    """
    A name without a number and no clock: most likely taken at the end, and said to be assumed.
    """
    (tmp_path / "memstats.jsonl").write_bytes(lines(reversed(DUMPS)))
    (tmp_path / "smaps.txt").write_bytes((SPIKY / "3-later/smaps").read_bytes())

    diagnosis = gomem.diagnose(tmp_path)

    assert ["capture-1", "capture-2", "capture-3"] == list(diagnosis.capture.by_moment)
    assert ("smaps.txt",) == diagnosis.capture["capture-3"].assumed
    last = diagnosis.moments[-1]
    assert DUMPS[-1]["HeapAlloc"] == last.memstats["HeapAlloc"]
    assert last.mappings is not None
    assert all(moment.mappings is None for moment in diagnosis.moments[:-1])


@pytest.mark.parametrize("name", ["smaps-1", "2/smaps", "smaps-before"])
def test_beside_a_file_with_a_place_of_its_own_the_last_dump_counts(name, tmp_path):
    (tmp_path / "memstats.jsonl").write_bytes(lines(DUMPS))
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_bytes((SPIKY / "3-later/smaps").read_bytes())

    of_dumps = [m for m in gomem.diagnose(tmp_path).moments if m.memstats is not None]

    assert [DUMPS[-1]["HeapAlloc"]] == [moment.memstats["HeapAlloc"] for moment in of_dumps]


def test_levels_without_a_clock_have_no_time(tmp_path):
    (tmp_path / "memstats.jsonl").write_bytes(lines(DUMPS))

    assert gomem.load(tmp_path).levels.index.isna().all()
    assert pd.DatetimeIndex is type(gomem.load(tmp_path).levels.index)


def test_a_loop_with_times_of_day_is_a_series_beside_files_without_a_time(tmp_path):
    listing = "07:14:0{}\n  PID   RSS COMMAND\n    7 {} api\n"
    sizes = (26_000, 54_000, 92_000)
    (tmp_path / "rss.txt").write_text(
        "".join(listing.format(place, size) for place, size in enumerate(sizes))
    )
    for name in ("vars1.json", "vars2.json"):
        (tmp_path / name).write_bytes(memstats_json(HeapAlloc=9, HeapSys=9, HeapInuse=9, Sys=9))

    diagnosis = gomem.diagnose(tmp_path)

    assert () == diagnosis.capture.other_runs
    sizes = [moment.rss_bytes for moment in diagnosis.moments if moment.rss_bytes is not None]
    assert [26_000 << 10, 54_000 << 10, 92_000 << 10] == sizes
    assert 92_000 << 10 == diagnosis.verdict.rss_bytes


def test_a_series_of_a_loop_stays_beside_what_was_taken_at_its_end(tmp_path):
    """
    A profile called `end`, with a clock of its own, beside readings that have no date.
    """
    listing = "07:14:0{}\n  PID   RSS COMMAND\n    7 {} api\n"
    sizes = (26_000, 54_000, 92_000)
    (tmp_path / "rss.txt").write_text(
        "".join(listing.format(place, size) for place, size in enumerate(sizes))
    )
    (tmp_path / "heap_end.pprof").write_bytes((SPIKY / "3-later/heap.pb.gz").read_bytes())

    diagnosis = gomem.diagnose(tmp_path)

    rss = [moment.rss_bytes for moment in diagnosis.moments if moment.rss_bytes is not None]
    assert [size << 10 for size in sizes] == rss
    assert "RSS grows from 25 MiB" in f"{diagnosis.verdict.headline}"
