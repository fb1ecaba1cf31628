"""A file of many MemStats is a series; beside other files, its last dump counts."""

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


def test_beside_smaps_the_last_dump_counts(tmp_path):
    (tmp_path / "memstats.jsonl").write_bytes(lines(DUMPS))
    (tmp_path / "smaps").write_bytes((SPIKY / "3-later/smaps").read_bytes())

    diagnosis = gomem.diagnose(tmp_path)

    assert ["capture"] == list(diagnosis.capture.by_moment)
    assert DUMPS[-1]["HeapAlloc"] == diagnosis.moments[0].memstats["HeapAlloc"]


def test_levels_without_a_clock_have_no_time(tmp_path):
    (tmp_path / "memstats.jsonl").write_bytes(lines(DUMPS))

    assert gomem.load(tmp_path).levels.index.isna().all()
    assert pd.DatetimeIndex is type(gomem.load(tmp_path).levels.index)


def test_of_a_table_beside_other_files_the_readings_before_its_last_are_told(tmp_path):
    listing = "07:14:0{}\n  PID   RSS COMMAND\n    7 {} api\n"
    sizes = (26_000, 54_000, 92_000)
    (tmp_path / "rss.txt").write_text(
        "".join(listing.format(place, size) for place, size in enumerate(sizes))
    )
    for name in ("vars1.json", "vars2.json"):
        (tmp_path / name).write_bytes(memstats_json(HeapAlloc=9, HeapSys=9, HeapInuse=9, Sys=9))

    diagnosis = gomem.diagnose(tmp_path)

    (run,) = diagnosis.capture.other_runs
    assert (2, 26_000 << 10, 54_000 << 10, True) == (
        run.readings, run.first_bytes, run.last_bytes, run.is_same_process,
    )  # fmt: skip
    assert 92_000 << 10 == diagnosis.verdict.rss_bytes
    said = [str(words) for words in diagnosis.verdict.whose]
    assert any(words.startswith("rss.txt has 2 readings before") for words in said)
