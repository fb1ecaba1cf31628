"""Goroutines that come and go with the load are no leak, and their stacks are of all since a GC."""

import gomem

MIB = 1 << 20
PAGE = (
    "# TYPE go_goroutines gauge\ngo_goroutines {count}\n"
    "# TYPE go_memstats_stack_inuse_bytes gauge\ngo_memstats_stack_inuse_bytes {stacks}\n"
    "# TYPE go_memstats_last_gc_time_seconds gauge\n"
    "go_memstats_last_gc_time_seconds {last_gc}\n"
    "# TYPE go_memstats_sys_bytes gauge\ngo_memstats_sys_bytes 260000000\n"
    "# TYPE process_resident_memory_bytes gauge\nprocess_resident_memory_bytes 240000000\n"
)
BEGIN = 1_795_802_700  # 2026-11-27 18:05:00 UTC


def codes(tmp_path, counts, stacks, last_gcs):
    readings = zip(counts, stacks, last_gcs, strict=True)
    for at, (count, stack, last_gc) in enumerate(readings):
        page = PAGE.format(count=count, stacks=stack * MIB, last_gc=BEGIN + last_gc)
        (tmp_path / f"scrape-20261127T18{5 + at:02}00Z.prom").write_text(page)
    found = gomem.diagnose(tmp_path).findings
    return {finding.code: (f"{finding.severity}", finding.title) for finding in found}


def test_a_number_that_fell_far_and_rose_again_is_no_leak(tmp_path):
    found = codes(
        tmp_path,
        counts=(146, 1735, 2037, 1073, 334, 749),
        stacks=(9, 108, 145, 145, 73, 73),
        last_gcs=(0, 50, 110, 110, 190, 190),
    )

    assert "goroutine-leak" not in found
    assert "warning" != found.get("stack-growth", ("",))[0]


def test_one_that_rises_to_the_end_is(tmp_path):
    found = codes(
        tmp_path,
        counts=(146, 735, 1437, 2073, 2734, 3349),
        stacks=(1, 5, 9, 13, 17, 21),
        last_gcs=(0, 50, 110, 170, 230, 290),
    )

    assert "goroutine-leak" in found


def test_stacks_are_of_all_goroutines_since_the_last_gc(tmp_path):
    found = codes(
        tmp_path,
        counts=(1073, 1073, 1073, 1073, 1073, 334),
        stacks=(145, 145, 145, 145, 145, 145),
        last_gcs=(0, 50, 110, 170, 190, 190),
    )

    title = found["stack-growth"][1].replace("\u202f", " ").replace("\u00a0", " ")
    assert "1 073 goroutines with 138 KiB on average" in title
