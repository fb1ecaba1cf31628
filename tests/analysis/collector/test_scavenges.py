"""The scavenger's lines on the collector's clock."""

import pandas as pd

from gomem.analysis.collector.timeline import gc_scavenges
from gomem.units import KIB
from tests.gc_logs import log_of

OLD = "scav 64 KiB work, 128 KiB total, 75% util\n"
NEW = "scav 64 KiB work (bg), 32 KiB work (eager), 128 KiB now, 75% util"


def placed(*changes):
    log = log_of(*changes)
    return gc_scavenges(log.cycles, log.scavenges)


def test_a_line_lies_between_two_collections():
    """
    It stands after the second of three, which begin a second apart.
    """
    (row,) = placed({}, {"after": f"\n{NEW}"}, {}).to_dict("records")

    assert (2, 2.0, 3.0) == (row["after_cycle"], row["log_seconds"], row["until_seconds"])
    assert 128 * KIB == row["released_total_bytes"]


def test_work_in_parts_is_summed():
    """
    Since 1.21 the line has background and eager work apart: together 96 KiB.
    """
    (row,) = placed({"after": f"\n{NEW}"}).to_dict("records")

    assert 96 * KIB == row["released_bytes"]


def test_what_was_released_so_far():
    frame = placed({"after": f"\n{NEW}"}, {"after": f"\n{NEW}"})

    assert [96 * KIB, 192 * KIB] == list(frame["released_so_far_bytes"])


def test_a_line_before_the_first_collection_has_no_time():
    (row,) = placed({"before": OLD}).to_dict("records")

    assert pd.isna(row["log_seconds"])
    assert 64 * KIB == row["released_bytes"]


def test_a_log_without_scavtrace_has_none():
    assert placed({}, {}).empty
