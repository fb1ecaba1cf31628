"""Known bytes: each program says what it put where, and the ledger has to find it there.

The programs are in fixtures/programs/injected. Each injection is an entry of the capture's
truth.json, written by the program itself; what was injected is the difference between the
ledger of its moment and that of the moment before.
"""

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pandas as pd
import pytest

from gomem.analysis.mappings.arenas import work_buffer_bytes
from gomem.analysis.mappings.kinds import ClassifiedMappings, classify_mappings
from gomem.analysis.mappings.runtime import UNCOUNTED, metadata_bytes
from gomem.analysis.memory.ledger import Ledger, reconcile_rss
from gomem.inputs.memstats.table import read_memstats
from gomem.inputs.smaps.table import read_smaps
from gomem.inputs.status.table import read_status
from gomem.units import KIB, MIB
from tests.builders import FIXTURES

INJECTED = FIXTURES / "injected"
SMAPS = sorted(
    path for path in FIXTURES.rglob("smaps") if path.is_file() and "malformed" not in path.parts
)
MOMENTS = [path.parent for path in SMAPS]
TOGETHER = [path for path in MOMENTS if not path.parent.name.startswith("skewed")]

PART_THAT_HOLDS = {
    "anonymous-mmap": "anonymous_other",
    "dev-shm": "shared_memory",
    "free-slots": "heap_slack",
    "goroutine-stacks": "stacks",
    "malloc": "native_heap",
    "malloc-large": "anonymous_other",  # glibc maps each such block by itself
    "mapped-file": "mapped_files",
    "memfd": "shared_memory",
    "objects": "heap_objects",
    "shared-anonymous": "shared_memory",
    "thread-stacks": "thread_stacks",
}


@dataclass(frozen=True)
class Injection:
    """What one moment of a capture brought in, by the ledger's parts."""

    capture: Path
    moment: str
    expected: dict[str, int]


def truth(capture: Path) -> list[dict[str, object]]:
    return json.loads((capture.parent / f"{capture.name}.truth.json").read_text())


def part_of(capture: Path, what: str) -> str:
    """musl's malloc takes even small blocks from mmap, which no name tells from the program's."""
    if what == "malloc" and "musl" in capture.name:
        return "anonymous_other"
    return PART_THAT_HOLDS.get(what, "")


def injections() -> list[Injection]:
    found = []
    for capture in CAPTURES:
        expected: dict[str, dict[str, int]] = {}
        for one in truth(capture):
            if one["what"] in PART_THAT_HOLDS:
                part = part_of(capture, one["what"])
                parts = expected.setdefault(one["moment"], {})
                parts[part] = parts.get(part, 0) + one["bytes"]
        found += [Injection(capture, moment, parts) for moment, parts in expected.items()]
    return found


CAPTURES = sorted(path.parent for path in INJECTED.glob("*/gomem.json"))


def name_of(path: Path) -> str:
    return f"{path.parent.name}/{path.name}"


@cache
def memstats_of(moment: Path) -> pd.Series:
    return read_memstats(moment / "memstats.json").stats.iloc[-1]


@cache
def mappings_of(moment: Path) -> pd.DataFrame:
    return read_smaps(moment / "smaps").mappings


@cache
def classified(moment: Path) -> ClassifiedMappings:
    return classify_mappings(mappings_of(moment), memstats_of(moment))


@cache
def ledger(moment: Path) -> Ledger:
    rollup = int(read_smaps(moment / "smaps_rollup").totals["Rss"])
    status = read_status(moment / "status").status.iloc[0]
    return reconcile_rss(classified(moment), memstats_of(moment), status, rollup)


def grown(capture: Path, moment: str, part: str) -> int:
    """By how much a part grew since the moment before."""
    moments = sorted(path.parent for path in capture.glob("*/smaps"))
    now = next(number for number, path in enumerate(moments) if path.name == moment)
    return ledger(moments[now]).part(part) - ledger(moments[now - 1]).part(part)


@pytest.mark.at_most(10)
@pytest.mark.parametrize(
    "injected", injections(), ids=lambda one: f"{one.capture.name}/{one.moment}"
)
def test_the_part_that_holds_injected_bytes_has_them(injected):
    """
    Within 1 %, or 1 MiB where that is more.
    """
    for part, expected in injected.expected.items():
        found = grown(injected.capture, injected.moment, part)

        assert abs(found - expected) <= max(0.01 * abs(expected), MIB), part


MEMORY = [capture for capture in CAPTURES if capture.name.startswith("memory")]


@pytest.mark.parametrize("capture", MEMORY, ids=lambda path: path.name)
def test_objects_that_were_never_touched_are_objects_and_not_resident(capture):
    """
    64 MiB: objects grow by them, and what is idle or claimed but untouched falls by as much. (Both
    together, as Go before 1.13 counts memory as idle that it mapped and never used.)
    """
    absent = sum(grown(capture, "2-untouched", part) for part in ("heap_idle", "heap_untouched"))

    assert abs(grown(capture, "2-untouched", "heap_objects") - 64 * MIB) <= MIB
    assert abs(absent + 64 * MIB) <= MIB


@pytest.mark.parametrize(
    ("release", "resident_bytes"),
    [("1.21.0", 64 * MIB), ("1.24.6", 32 * 4 * KIB), ("1.27.3", 32 * 4 * KIB)],
)
def test_a_byte_in_each_2_mib_makes_all_resident_where_the_heap_is_in_huge_pages(
    release, resident_bytes
):
    """
    64 MiB in 32 huge pages or 32 pages of 4 KiB. Go 1.21.0 asks for huge pages, others do not; so
    with it nothing of the 64 MiB is untouched, and the kernel counts them as AnonHugePages.
    """
    capture = INJECTED / f"huge-go{release}"
    untouched = grown(capture, "2-sparsely-written", "heap_untouched")
    frame = classified(capture / "2-sparsely-written").mappings
    huge = int(frame.loc[frame["kind"] == "go-heap", "AnonHugePages"].sum())

    assert abs(grown(capture, "2-sparsely-written", "heap_objects") - 64 * MIB) <= MIB
    assert abs(untouched + 64 * MIB - resident_bytes) <= MIB
    assert (resident_bytes == 64 * MIB) == (huge >= 64 * MIB)


@pytest.mark.at_most(20)
@pytest.mark.parametrize("moment", MOMENTS, ids=name_of)
def test_every_ledger_adds_up_to_the_kernels_own_sum(moment):
    rollup = int(read_smaps(moment / "smaps_rollup").totals["Rss"])

    assert rollup == int(ledger(moment).parts["bytes"].sum())
    assert rollup == ledger(moment).rss_bytes


def foreign_until(moment: Path) -> int:
    """Anonymous bytes that the program mapped past the runtime and past malloc's own heaps."""
    capture = moment.parent
    if capture not in CAPTURES:
        return 0
    return sum(
        one["bytes"]
        for one in truth(capture)
        if one["moment"] <= moment.name and part_of(capture, one["what"]) == "anonymous_other"
    )


@pytest.mark.at_most(60)
@pytest.mark.parametrize("moment", MOMENTS, ids=name_of)
def test_nothing_is_left_over_but_what_is_foreign(moment):
    """
    `anonymous_other` is 1 % of RSS at most beyond what the program mapped by itself; without such
    mappings not a single one of more than 256 KiB resident is left to it.
    """
    foreign = foreign_until(moment)
    frame = classified(moment).mappings
    left_over = frame[(frame["kind"] == "anonymous-other") & (frame["Rss"] > 256 * KIB)]

    assert ledger(moment).part("anonymous_other") - foreign <= 0.01 * ledger(moment).rss_bytes
    assert foreign or [] == list(left_over["rule"])


@pytest.mark.at_most(9)
@pytest.mark.parametrize(
    "moment",
    [
        path
        for path in MOMENTS
        if not foreign_until(path) and not path.parent.name.startswith("profiled")
    ],
    ids=name_of,
)
def test_smaps_alone_leave_nothing_over_either(moment):
    """
    Without MemStats the shapes decide; they agree about what is in the arenas. The profiler's table
    of `profiled` is one large mapping, which has the shape of anybody's.
    """
    alone = classify_mappings(mappings_of(moment)).kinds().set_index("kind")
    with_memstats = classified(moment).kinds().set_index("kind")

    assert "anonymous-other" not in alone.index
    assert with_memstats.loc["go-heap", "rss_bytes"] == alone.loc["go-heap", "rss_bytes"]


@pytest.mark.at_most(20)
@pytest.mark.parametrize("moment", TOGETHER, ids=name_of)
def test_the_arenas_are_what_memstats_counts(moment):
    """
    Two sources, one number: arenas in smaps = HeapSys + StackInuse + work buffers.
    """
    assert work_buffer_bytes(classified(moment).mappings, memstats_of(moment)) is not None


@pytest.mark.at_most(20)
@pytest.mark.parametrize("moment", TOGETHER, ids=name_of)
def test_the_runtimes_own_mappings_are_what_memstats_counts(moment):
    """
    Two sources, one number: the size of `go-runtime` in smaps, and MSpanSys + MCacheSys + GCSys +
    BuckHashSys + OtherSys with the 32 MiB of the heap index, to 256 KiB.
    """
    frame = classified(moment).mappings
    own = frame[(frame["kind"] == "go-runtime") & (frame["perms"] != "---p")]

    assert abs(int(own["Size"].sum()) - metadata_bytes(frame, memstats_of(moment))) <= UNCOUNTED


def test_which_rule_took_which_bytes_is_said(record_rules):
    """
    Every resident byte of every fixture is taken by a rule; the table stands below the results.
    """
    frames = [classified(moment).mappings.assign(rows=1) for moment in MOMENTS]
    together = pd.concat(frames, ignore_index=True)
    by_rule = together.groupby(["kind", "rule"])[["rows", "Size", "Rss"]].sum()

    record_rules(by_rule.sort_values("Rss", ascending=False))

    assert int(together["Rss"].sum()) == int(by_rule["Rss"].sum())
    assert "" not in set(together["rule"])
