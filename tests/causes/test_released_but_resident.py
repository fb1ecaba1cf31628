"""MADV_FREE: given back, still resident; told where it is much, and nowhere else."""

from dataclasses import replace

import pandas as pd
import pytest

from gomem.analysis.memory.ledger import reconcile_rss
from gomem.causes.released_but_resident import CAUSE, find
from gomem.releases import known_version
from gomem.units import MIB
from tests.builders import CAPTURES, FIXTURES, diagnosed
from tests.causes.situations import answers, facts


def lazily_freed(mib: int):
    """A heap of 10 MiB of objects, and so many that were given back and stay."""
    return facts(heap_mib=10 + mib, lazy_mib=mib, HeapAlloc=10, HeapInuse=10,
                 HeapIdle=54, HeapReleased=54)  # fmt: skip


def test_lazy_free_memory_is_the_finding_and_its_bytes():
    diagnosis = diagnosed(FIXTURES / "captures/cache-shrink-go1.12.17")

    first = diagnosis.findings[0]

    assert (CAUSE.code, "4-freed") == (first.code, first.moment)
    assert (
        int(diagnosis.capture.smaps.query("moment == '4-freed'")["LazyFree"].sum()) == first.bytes
    )
    assert "madvdontneed=1" in first.next_step


@pytest.mark.parametrize(("mib", "severity"), [(30, "warning"), (8, "info")])
def test_it_is_a_warning_where_it_is_most_of_rss(mib, severity):
    (finding,) = find(answers(lazily_freed(mib)))

    assert severity == str(finding.severity)


@pytest.mark.parametrize("path", CAPTURES, ids=lambda path: path.name)
def test_only_the_releases_with_madv_free_have_it(path):
    codes = [finding.code for finding in diagnosed(path).findings]

    assert ("1.12" in path.name) == (CAUSE.code in codes)


@pytest.mark.parametrize(
    ("release", "told", "not_told"),
    [
        ("go1.11.13", "madvdontneed=1", "Remove madvdontneed"),
        (
            "go1.12",
            "as Go 1.16 and later do, so that RSS drops at once: GODEBUG=madvdontneed=1",
            "Remove madvdontneed",
        ),
        (
            "go1.15.15",
            "as Go 1.16 and later do, so that RSS drops at once: GODEBUG=madvdontneed=1",
            "Remove madvdontneed",
        ),
        ("go1.16", "Remove madvdontneed=0 from GODEBUG", "from Go 1.16 on"),
        ("go1.27.3", "Remove madvdontneed=0 from GODEBUG", "from Go 1.16 on"),
        (
            None,
            "as Go 1.16 and later do, so that RSS drops at once: GODEBUG=madvdontneed=1",
            "Remove madvdontneed",
        ),
    ],
)
def test_the_way_out_is_of_the_release_and_the_finding_of_the_kernels_count(
    release, told, not_told
):
    """
    LazyFree is what proves it, whatever the release.
    """
    version = None if release is None else known_version(release, "test")

    (finding,) = find(answers(lazily_freed(40), version=version))

    assert (40 * MIB, "certain") == (finding.bytes, finding.confidence)
    assert told in finding.next_step
    assert not_told not in finding.next_step


def test_the_kernels_rollup_says_so_too():
    """
    It counts LazyFree of all mappings, so it need not be Go's.
    """
    moment = lazily_freed(40)
    rollup = pd.Series({"Rss": moment.rss_bytes, "Anonymous": 41 * MIB, "LazyFree": 40 * MIB})
    ledger = reconcile_rss(None, moment.memstats, rollup=rollup)
    paths = {"smaps_rollup": "1/smaps_rollup", "memstats": "1/memstats.json"}

    (finding,) = find(answers(replace(moment, mappings=None, ledger=ledger, paths=paths)))

    assert (40 * MIB, "likely") == (finding.bytes, finding.confidence)
    assert {"1/smaps_rollup", "1/memstats.json", "Go release"} == {
        one.artefact for one in finding.evidence
    }
