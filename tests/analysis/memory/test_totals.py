"""What is resident where no mapping is known: the coarser ledgers, against the whole one."""

import pandas as pd
import pytest

from gomem.analysis.mappings.kinds import classify_mappings
from gomem.analysis.memory.ledger import Ledger, reconcile_rss
from gomem.analysis.memory.listed import Listed
from gomem.analysis.memory.totals import (
    checks_of,
    disagreements,
    fits,
    resident_totals,
    skew_notes,
)
from gomem.inputs.cgroup.table import read_cgroup
from gomem.inputs.memstats.table import read_memstats
from gomem.inputs.smaps.table import read_smaps
from gomem.inputs.status.table import read_status
from gomem.text import Bytes
from gomem.units import KIB, MIB
from tests.builders import FIXTURES, mappings, memstats_row, smaps_entry

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
    assert "RSS is the cgroup's" in ledger.notes[-1]


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
    assert "no file in this snapshot gives RSS" in ledger.notes


def test_a_group_that_says_only_what_is_charged_says_nothing_of_rss():
    """
    The charge holds page cache and the kernel's own memory; calling it RSS would be wrong.
    """
    assert resident_totals(cgroup={"memory.current": 90 * MIB}) is None


# ---- which file says it, and what each leaves open

ROLLUP = pd.Series({"Rss": 100, "Anonymous": 70, "LazyFree": 5})
STATUS = pd.Series({"VmRSS": 90, "RssFile": 20, "RssShmem": 3})
STATM = pd.Series({"resident": 8, "shared": 2})
SCRAPED = {"process_resident_memory_bytes": 60.0}
GROUP = {"anon": 40, "file_mapped": 7}
ALL = {"rollup": ROLLUP, "status": STATUS, "statm": STATM, "scraped": SCRAPED, "cgroup": GROUP}


def told(**about):
    return resident_totals(**{**ALL, **about})


def test_the_finest_total_is_taken():
    """
    One after another is taken away.
    """
    gone = {}
    found = []
    for name in ("rollup", "status", "statm", "scraped", "cgroup"):
        totals = told(**gone)
        found.append((totals.source, totals.rss_bytes))
        gone[name] = None

    assert [
        ("smaps_rollup Rss", 100),
        ("status VmRSS", 90),
        ("statm resident", 8 * 4096),
        ("metrics-page process_resident_memory_bytes", 60),
    ] == found[:4]
    assert 47 == found[4][1]
    assert told(**gone) is None


def test_a_file_that_does_not_say_it_is_passed_over():
    unknown = pd.Series({"Rss": pd.NA, "VmRSS": pd.NA})

    assert "status VmRSS" == told(rollup=unknown).source
    assert "statm resident" == told(rollup=None, status=unknown).source
    assert 47 == told(rollup=None, status=None, statm=None, scraped={"other": 1.0}).rss_bytes


def test_of_files_status_says_more_than_a_rollup():
    """
    A rollup does not tell shared memory from files, and says so where it is alone.
    """
    both, alone = told(), told(status=None)

    assert ((20, 3), ()) == ((both.of_files[0], both.of_shared_memory[0]), both.notes)
    assert ((30, "smaps_rollup Rss - Anonymous"), None) == (alone.of_files, alone.of_shared_memory)
    assert 1 == len(alone.notes)
    assert (5, 5) == (both.lazy_free[0], alone.lazy_free[0])


@pytest.mark.parametrize("lacking", ["RssFile", "RssShmem"])
def test_a_kernel_that_prints_one_of_two_has_told_neither(lacking):
    """
    Before Linux 4.5 none is there.
    """
    old = STATUS.drop(lacking)

    assert (None, None) == (
        told(rollup=None, status=old).of_files,
        told(rollup=None, status=old).of_shared_memory,
    )
    assert "smaps_rollup Rss - Anonymous" == told(status=old).of_files[1]


def test_what_a_rollup_does_not_print_is_unknown():
    bare = told(rollup=ROLLUP[["Rss"]], status=None)
    empty = told(rollup=pd.Series({"Rss": 1, "Anonymous": pd.NA, "LazyFree": pd.NA}), status=None)

    for totals in (bare, empty):
        assert (None, None, ()) == (totals.of_files, totals.lazy_free, totals.notes)


def test_pages_are_taken_for_4_kib_where_nothing_says_their_size():
    about = {"rollup": None, "status": None}
    assumed, known = told(**about), told(**about, page_bytes=65536)

    assert (8 * 4096, 2 * 4096, 2) == (assumed.rss_bytes, assumed.of_files[0], len(assumed.notes))
    assert (8 * 65536, 2 * 65536, 1) == (known.rss_bytes, known.of_files[0], len(known.notes))


def test_a_groups_total_is_its_anonymous_memory_and_mapped_files():
    """
    By the names of both versions; without anonymous memory nothing is told.
    """

    def of_group(**group):
        return resident_totals(cgroup=group)

    assert (47, 7) == (of_group(**GROUP).rss_bytes, of_group(**GROUP).of_files[0])
    assert 12 == of_group(total_rss=8, total_mapped_file=4).rss_bytes
    assert 40 == of_group(anon=40).rss_bytes
    assert of_group(file_mapped=7) is None
    assert of_group(anon=None) is None


@pytest.mark.parametrize(
    ("fields", "files", "shared"),
    [
        pytest.param({"RssAnon": 70}, 30, None, id="anonymous memory alone: the rest is both"),
        pytest.param({"RssAnon": 70, "RssFile": 20}, 20, 10, id="without shared memory"),
        pytest.param({"RssAnon": 70, "RssShmem": 20}, 10, 20, id="without files"),
        pytest.param({"RssFile": 20}, None, None, id="files alone"),
        pytest.param({"RssAnon": 101}, 0, None, id="counters that do not add up"),
    ],
)
def test_what_status_lacks_follows_from_what_it_has(fields, files, shared):
    totals = resident_totals(status=pd.Series({"VmRSS": 100, **fields}))
    found = (totals.of_files, totals.of_shared_memory)

    assert (files, shared) == tuple(None if known is None else known[0] for known in found)


def test_swap_and_rounding_are_noted():
    status = pd.Series({"VmRSS": 5 << 20, "VmSwap": 3 << 20, "step_bytes": 1 << 20})

    rounding, swap = resident_totals(status=status).notes
    assert [1 << 20] == [part.value for part in rounding.of(Bytes)]
    assert [3 << 20] == [part.value for part in swap.of(Bytes)]


def row_of(**fields) -> Listed:
    """A process in a table, of which only RSS is known."""
    nothing = dict.fromkeys(Listed.__dataclass_fields__, None)
    return Listed(**nothing | {"tool": "ps", "rss_bytes": 50, "step_bytes": 1024} | fields)


def test_a_table_says_rss_and_the_oom_killer_says_files_too():
    plain = resident_totals(cgroup=GROUP, listed=row_of())
    killed = resident_totals(listed=row_of(tool="OOM killer", file_bytes=8, shmem_bytes=3))
    cut = resident_totals(listed=row_of(file_bytes=8))

    assert (50, "processes ps RSS", None, None) == (
        plain.rss_bytes, plain.source, plain.of_files, plain.of_shared_memory,
    )  # fmt: skip
    assert (8, 3) == (killed.of_files[0], killed.of_shared_memory[0])
    assert (8, 0) == (cut.of_files[0], cut.of_shared_memory[0])


def test_a_container_without_rss_leaves_it_to_the_cgroup():
    assert 47 == resident_totals(cgroup=GROUP, listed=row_of(rss_bytes=None)).rss_bytes
    assert resident_totals(listed=row_of(rss_bytes=None)) is None


def test_a_cgroup_without_mapped_files_has_at_least_its_anonymous_memory():
    least, whole = resident_totals(cgroup={"anon": 40}), resident_totals(cgroup=GROUP)

    assert (40, None, True, 2) == (
        least.rss_bytes, least.of_files, least.is_least, len(least.notes),
    )  # fmt: skip
    assert (False, 1) == (whole.is_least, len(whole.notes))
    assert reconcile_rss(cgroup={"anon": 40}).is_least
    assert not reconcile_rss(cgroup=GROUP).is_least


def test_other_totals_are_compared_with_rss():
    status = pd.Series({"VmRSS": 90})

    checks = checks_of(100, status, 105, {"process_resident_memory_bytes": 60.0, "other": 1.0})

    assert [
        ("smaps_rollup Rss", 105, 5),
        ("status VmRSS", 90, -10),
        ("metrics-page process_resident_memory_bytes", 60, -40),
    ] == list(checks.itertuples(index=False, name=None))
    assert checks_of(None, status, 105, {}).empty
    assert checks_of(100, None, None, {}).empty


@pytest.mark.parametrize(
    ("total", "off", "is_told"),
    [
        pytest.param(MIB, 64 * KIB, False, id="64 KiB"),
        pytest.param(MIB, 64 * KIB + 1, True, id="more than 64 KiB"),
        pytest.param(MIB, -64 * KIB - 1, True, id="more than 64 KiB less"),
        pytest.param(100 * MIB, MIB, False, id="a hundredth"),
        pytest.param(100 * MIB, MIB + 1, True, id="more than a hundredth"),
    ],
)
def test_a_total_that_is_off_by_more_than_it_may_be_is_told(total, off, is_told):
    checks = checks_of(total - off, None, total, {})

    (difference,) = checks["difference_bytes"]

    notes = disagreements(checks, "status VmRSS")

    assert (off, is_told) == (difference, bool(notes))
    assert all("the sum of smaps" not in note and "status VmRSS" in note for note in notes)


@pytest.mark.parametrize(
    ("seconds", "collections", "told"),
    [
        (None, None, 0),
        (0.999, None, 0),
        (1.0, None, 1),
        (0.5, 0, 0),
        (1.0, 0, 1),
        (0.0, 1, 1),
        (None, 1, 1),
        (None, 0, 0),
    ],
)
def test_a_second_or_a_collection_between_two_files_is_told(seconds, collections, told):
    assert told == len(skew_notes(seconds, collections))


@pytest.mark.parametrize(
    ("heap_sys", "fit"), [(4 * MIB, True), (3 * MIB, True), (2 * MIB, False), (5 * MIB, False)]
)
def test_arenas_fit_memstats_with_work_buffers_of_no_more_than_the_collector_has(heap_sys, fit):
    """
    4 MiB of arenas; the collector has 1 MiB, of which some may be in them.
    """
    row = memstats_row(HeapSys=heap_sys, HeapInuse=heap_sys, GCSys=MIB)
    heap = 0xC000000000
    table = mappings(
        smaps_entry(heap, heap + 4 * MIB, rss_kib=4096),
        smaps_entry(heap + 4 * MIB, heap + 64 * MIB, "---p"),
    )

    assert fit is fits(classify_mappings(table, row), row)


def test_what_cannot_be_compared_fits():
    table = mappings(smaps_entry(0x400000, 0x500000, "r-xp", "/app/api", rss_kib=1024))
    row = memstats_row(HeapSys=MIB)

    assert fits(None, row)
    assert fits(classify_mappings(table), None)
    assert fits(classify_mappings(table, row), row)
