"""A heap profile without a snapshot of its own bounds the heap of the snapshots before it."""

import gomem
from gomem.units import MIB
from tests.heap_profiles import bucket, heap_bytes

STATUS = "Name:\tapi\nVmSize:\t 900000 kB\nVmRSS:\t {rss} kB\nRssAnon:\t {anon} kB\n"
FILES = "RssFile:\t 6000 kB\nRssShmem:\t 0 kB\nThreads:\t5\n"


def test_rss_beyond_all_that_was_allocated_is_not_freed_heap(tmp_path):
    """
    From 49 to 249 MiB, of which Go has allocated one.
    """
    for place, rss in (("1", 49), ("2", 249)):
        kib = rss * 1024
        (tmp_path / f"status.{place}").write_text(STATUS.format(rss=kib, anon=kib - 6000) + FILES)
    (tmp_path / "heap.pb.gz").write_bytes(heap_bytes(bucket(2, MIB), rate=1, seconds=1_790_000_000))

    diagnosis = gomem.diagnose(tmp_path)

    assert [0.0] != [*diagnosis.facts.profiles.heap_at_most.values()]
    assert "native-memory" in {finding.code for finding in diagnosis.findings}
    said = " ".join(diagnosis.verdict.whose)
    assert "by all it allocated" in said
    assert "freed heap" not in said
    assert 25 * MIB > diagnosis.facts.profiles.heap_at_most["2"]
