"""What is resident where no mapping is known: the coarser ledgers, against the whole one."""

import pandas as pd
import pytest

from gomem.analysis.memory.mapping_kinds import classify_mappings
from gomem.analysis.memory.resident_totals import resident_totals
from gomem.analysis.memory.rss_vs_heap import Ledger, reconcile_rss
from gomem.inputs.cgroup.table import read_cgroup
from gomem.inputs.memstats.table import read_memstats
from gomem.inputs.smaps.table import read_smaps
from gomem.inputs.status.table import read_status
from gomem.units import MIB
from tests.builders import FIXTURES, memstats_row

FREED = FIXTURES / "injected/contained-go1.12.17/4-freed"
FILLED = FIXTURES / "injected/contained-go1.27.3/2-filled"
HEAP = {"heap_objects", "heap_slack", "heap_idle", "stacks", "heap_untouched"}


def rollup_of(moment) -> pd.Series:
    return read_smaps(moment / "smaps_rollup").mappings.iloc[0]


def memstats_of(moment) -> pd.Series:
    return read_memstats(moment / "memstats.json").stats.iloc[-1]


def status_of(moment) -> pd.Series:
    return read_status(moment / "status").status.iloc[0]


def group_of(moment) -> dict[str, int]:
    rows = read_cgroup(moment / "memory.stat").cgroup
    return dict(zip(rows["name"], rows["value"], strict=True))


def whole(moment) -> Ledger:
    memstats = memstats_of(moment)
    return reconcile_rss(
        classify_mappings(read_smaps(moment / "smaps").mappings, memstats), memstats
    )


def parts_of(ledger: Ledger) -> set[str]:
    return {row.part for row in ledger.parts.itertuples() if row.bytes}


@pytest.mark.parametrize("moment", [FREED, FILLED], ids=["freed", "filled"])
@pytest.mark.parametrize(
    "sources",
    [
        pytest.param({"rollup": rollup_of}, id="smaps_rollup"),
        pytest.param({"status": status_of}, id="status"),
        pytest.param({"rollup": rollup_of, "status": status_of}, id="both"),
        pytest.param({"cgroup": group_of}, id="cgroup"),
    ],
)
@pytest.mark.parametrize("with_memstats", [True, False], ids=["MemStats", "without"])
def test_every_coarser_ledger_adds_up(moment, sources, with_memstats):
    """
    To the total that it names, which is within 5 MiB of RSS: a cgroup leaves out files' pages.
    """
    given = {name: read(moment) for name, read in sources.items()}
    ledger = reconcile_rss(None, memstats_of(moment) if with_memstats else None, **given)

    assert ledger.rss_bytes == int(ledger.parts["bytes"].sum())
    assert abs(whole(moment).rss_bytes - ledger.rss_bytes) < 5 * MIB
    assert with_memstats == ledger.has("heap_objects")


def test_smaps_rollup_alone_tells_what_was_given_back_and_is_still_resident():
    """
    As much as whole smaps tell: 64 MiB after FreeOSMemory in Go 1.12.
    """
    ledger = reconcile_rss(None, memstats_of(FREED), rollup=rollup_of(FREED))

    assert whole(FREED).part("heap_released_resident") == ledger.part("heap_released_resident")
    assert abs(64 * MIB - ledger.part("heap_released_resident")) < MIB


def test_smaps_rollup_alone_tells_files_from_anonymous_memory():
    """
    The files of status: RssFile of the same moment, but for private pages that were written.
    """
    totals = resident_totals(rollup_of(FILLED))
    expected = int(status_of(FILLED)["RssFile"])

    assert totals.of_files == (expected, "smaps_rollup Rss - Anonymous")


def test_a_control_group_alone_tells_anonymous_memory_from_mapped_files():
    """
    Version 2's names, made up after the kernel's cgroup-v2.rst: 60 anonymous, 4 MiB of files.
    """
    group = {"anon": 60 * MIB, "file": 300 * MIB, "file_mapped": 4 * MIB}

    ledger = reconcile_rss(None, None, cgroup=group)

    assert 64 * MIB == ledger.rss_bytes
    assert {"mapped_files", "anonymous_other"} == parts_of(ledger)
    assert 60 * MIB == ledger.part("anonymous_other")
    assert "RSS is the control group's" in ledger.notes[-1]


def test_a_control_group_beside_memstats_leaves_what_go_does_not_claim():
    """
    50 MiB of objects, 60 MiB anonymous: 10 are of nobody.
    """
    memstats = memstats_row(HeapAlloc=50 * MIB, HeapInuse=50 * MIB)

    ledger = reconcile_rss(None, memstats, cgroup={"anon": 60 * MIB, "file_mapped": 0})

    assert 10 * MIB == ledger.part("anonymous_other")


def test_memstats_alone_tell_claims_and_no_rss():
    ledger = reconcile_rss(None, memstats_of(FILLED))

    assert ledger.rss_bytes is None
    assert parts_of(ledger) <= HEAP | {"runtime_metadata"}
    assert "nothing at this moment says how much is resident" in ledger.notes


def test_a_group_that_says_only_what_is_charged_says_nothing_of_rss():
    """
    The charge holds page cache and the kernel's own memory; calling it RSS would be wrong.
    """
    assert resident_totals(cgroup={"memory.current": 90 * MIB}) is None
