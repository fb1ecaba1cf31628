"""What the GC costs by the few lines or numbers that people quote, and what is not healthy then."""

import pytest

import gomem
from gomem.diagnosis.healthy import can_be_healthy
from gomem.text import Share, Text
from gomem.units import MIB
from gomem.views.report.verdict import verdict

LINE = (
    "gc {number} @{at:.3f}s {share}%: 0.1+60+0.1 ms clock, 0.2+1/{mark}/80+0.2 ms cpu, "
    "{start}->{start}->{live} MB, {goal} MB goal, 0 MB stacks, 0 MB globals, 2 P\n"
)
CRAMPED = {"share": 22, "mark": 55, "start": 92, "live": 91, "goal": 91}
TICKET = "The pod is slow since we set GOMEMLIMIT. The end of its log:\n\n{}\nIs it a leak?\n"
PAGE = """go_info{{version="go1.23.4"}} 1
go_gc_duration_seconds_sum {paused}
go_gc_duration_seconds_count {cycles}
go_goroutines 20
go_memstats_alloc_bytes {alloc}
go_memstats_alloc_bytes_total {total}
go_memstats_buck_hash_sys_bytes 1400000
go_memstats_frees_total 645722
go_memstats_gc_sys_bytes 3100000
go_memstats_heap_alloc_bytes {alloc}
go_memstats_heap_idle_bytes {idle}
go_memstats_heap_inuse_bytes {inuse}
go_memstats_heap_objects 255387
go_memstats_heap_released_bytes 9600000
go_memstats_heap_sys_bytes {sys}
go_memstats_last_gc_time_seconds {at}
go_memstats_mallocs_total 901109
go_memstats_mcache_inuse_bytes 2400
go_memstats_mcache_sys_bytes 15600
go_memstats_mspan_inuse_bytes 2000000
go_memstats_mspan_sys_bytes 2400000
go_memstats_next_gc_bytes {goal}
go_memstats_other_sys_bytes 730000
go_memstats_stack_inuse_bytes 590000
go_memstats_stack_sys_bytes 590000
go_memstats_sys_bytes {whole}
process_cpu_seconds_total {cpu}
process_resident_memory_bytes {rss}
process_start_time_seconds 1795803000
"""


def ticket(folder, count=8, first=900, every=0.12, **change):
    """A few lines from the end of a long log, in a text."""
    lines = (
        LINE.format(number=number, at=every * number, **CRAMPED | change)
        for number in range(first, first + count)
    )
    path = folder / "ticket.txt"
    path.write_text(TICKET.format("".join(lines)))
    return gomem.diagnose(path)


def pages(folder, goal_mib, sizes_mib, per_second=8.0, cpus=0.7, grown_mib=1.5, top_mib=0):
    """Scrapes a minute apart; between two collections the program allocates so much.

    Below `top_mib`, what the heap has grown to stays resident.
    """
    step, released = 60.0, 9_600_000
    for place, size in enumerate(sizes_mib):
        cycles, alloc = 100 + round(place * step * per_second), round(size * MIB)
        free = max(0, round(top_mib * MIB) - alloc)
        heap = alloc + 3 * MIB + free
        numbers = {
            "paused": 0.001 * cycles, "cycles": cycles, "alloc": alloc, "inuse": alloc + 3 * MIB,
            "sys": heap + released, "whole": heap + 10 * MIB + released, "idle": free + released,
            "total": alloc + round(cycles * grown_mib * MIB), "at": 1795803100 + place * step,
            "goal": round(goal_mib * MIB), "cpu": 5 + place * step * cpus, "rss": heap + 11 * MIB,
        }  # fmt: skip
        (folder / f"metrics_{place}.prom").write_text(PAGE.format(**numbers))
    return gomem.diagnose(folder)


def found(diagnosis):
    codes = [finding for finding in diagnosis.findings if finding.code != "data-missing"]
    return [(finding.code, f"{finding.severity}", finding.confidence) for finding in codes]


def test_a_few_lines_of_a_long_run_have_its_cost_since_the_start(tmp_path):
    """
    900 collections in 108 s, 22 % of the CPU by each line: 47 s of CPU.
    """
    diagnosis = ticket(tmp_path)

    assert [("memory-limit-thrash", "warning", "likely")] == found(diagnosis)
    assert "a leak" not in f"{diagnosis.verdict.headline}"


def test_of_a_quarter_of_the_cpu_and_a_stated_limit_few_lines_say_as_much_as_many(tmp_path):
    text = TICKET.replace("GOMEMLIMIT.", "the variable:\n\n    GOMEMLIMIT=93MiB ./quota\n\n")
    lines = [LINE.format(number=n, at=0.12 * n, **CRAMPED | {"share": 27, "mark": 65})
             for n in range(900, 932)]  # fmt: skip
    said = []
    for count in (9, 32):
        path = tmp_path / f"{count}.txt"
        path.write_text(text.format("".join(lines[:count])))
        said.append(found(gomem.diagnose(path)))

    assert ["memory-limit-thrash"] * 2 == [first[0] for (first, *_) in said]
    assert ["critical"] * 2 == [first[1] for (first, *_) in said]


def test_if_the_run_was_cheap_so_far_few_lines_decide_nothing_and_nothing_is_healthy(tmp_path):
    diagnosis = ticket(tmp_path, count=12, share=1)

    assert [("data-thin", "info", "possible")] == found(diagnosis)
    assert not can_be_healthy(diagnosis)
    assert "healthy" not in f"{verdict(diagnosis).label}"
    (thin,) = [each for each in diagnosis.findings if each.code == "data-thin"]
    assert "A short run" not in f"{thin.mechanism}"


def test_a_few_lines_of_a_run_with_room_stay_healthy(tmp_path):
    diagnosis = ticket(tmp_path, every=2.0, share=0, mark=5, start=38, live=20, goal=40)

    assert [] == found(diagnosis)
    assert can_be_healthy(diagnosis)


def test_pages_that_always_meet_a_collection_show_a_limit(tmp_path):
    diagnosis = pages(tmp_path, 100, [101, 100.5, 101])

    assert [("memory-limit-thrash", "warning", "possible")] == found(diagnosis)
    said = f"{diagnosis.verdict.headline}"
    assert "as a memory limit leaves it: the goal is 1.5 MiB above 98 MiB of live heap" in said
    assert "a GC every 125 ms on average; the process uses 70 % of a CPU" in said


@pytest.mark.parametrize(
    "change",
    [
        pytest.param({"sizes_mib": [101, 99, 101]}, id="one page is below the goal"),
        pytest.param({"cpus": 0.05}, id="hardly any CPU is used"),
        pytest.param({"goal_mib": 140, "sizes_mib": [70, 80, 75]}, id="forced ones have room"),
    ],
)
def test_other_pages_show_none(tmp_path, change):
    diagnosis = pages(tmp_path, **{"goal_mib": 100, "sizes_mib": [101, 100.5, 101]} | change)

    assert [] == found(diagnosis)


@pytest.mark.parametrize(
    ("cpus", "per_second", "is_healthy"),
    [
        pytest.param(0.7, 12.0, False, id="nothing says what they cost"),
        pytest.param(0.03, 12.0, True, id="the whole process costs little"),
        pytest.param(0.7, 1.0, True, id="they are few"),
    ],
)
def test_frequent_collections_of_unknown_cost_are_not_called_healthy(
    tmp_path, cpus, per_second, is_healthy
):
    diagnosis = pages(tmp_path, 100, [70, 75, 72], cpus=cpus, per_second=per_second, grown_mib=45)

    assert [] == found(diagnosis)
    assert is_healthy == can_be_healthy(diagnosis)


def test_pages_do_not_say_whether_gogc_or_a_limit_set_a_goal_that_stays(tmp_path):
    diagnosis = pages(tmp_path, 263, [64, 150, 35, 110], per_second=0.1, grown_mib=240, top_mib=255)

    assert "heap-headroom" == diagnosis.verdict.code
    assert "If GOMEMLIMIT sets it, lower GOMEMLIMIT instead." in f"{diagnosis.verdict.next_step}"
    assert "Halve GOGC" not in f"{diagnosis.verdict.next_step}"


@pytest.mark.parametrize(("share", "is_said"), [(30, True), (2, False)])
def test_a_share_since_the_start_far_above_the_lines_own_is_said_and_not_healthy(
    tmp_path, share, is_said
):
    """
    A collection in 10 s, each of 0.05 s of two Ps: under 1 % now.
    """
    calm = {"mark": 50, "start": 180, "live": 90, "goal": 180}
    diagnosis = ticket(tmp_path, share=share, every=10, **calm)

    assert is_said == (0.30 in [part.value for part in Text(diagnosis.verdict.sentence).of(Share)])
    assert can_be_healthy(diagnosis) is not is_said
