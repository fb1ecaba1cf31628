"""What a paste shows beside its main number: address space, descriptors, a run's first GC."""

import pytest

import gomem
from tests.builders import as_text

PS = (
    "USER PID %CPU %MEM VSZ RSS TTY STAT START TIME COMMAND\n"
    "app 4711 0.5 0.2 {} 12000 ? Ssl 09:12 0:11 /usr/bin/api -v\n"
)
TOP = """\
      flat  flat%   sum%        cum   cum%
   9500MB 95.00% 95.00%     9500MB 95.00%  main.newBuffer
    {}MB  2.00% 97.00%      {}MB  2.00%  runtime.malg
"""
CYCLE = (
    "gc {} @{}s 9%: 0.02+1.1+0.01 ms clock, 0.02+0.1/1.0/0+0.01 ms cpu, {}->{}->{} MB, "
    "{} MB goal, 1 P\n"
)


def said(tmp_path, text):
    path = tmp_path / "pasted.txt"
    path.write_text(text)
    return " ".join(as_text(gomem.diagnose(path)).split())


@pytest.mark.parametrize(("mapped", "is_said"), [(1979544, True), (24000, False)])
def test_vsz_far_above_rss_is_called_address_space(tmp_path, mapped, is_said):
    assert is_said == ("is address space" in said(tmp_path, PS.format(mapped)))


@pytest.mark.parametrize(("size", "is_said"), [(200, True), (20, False)])
def test_many_descriptors_are_explained_also_in_a_small_share(tmp_path, size, is_said):
    words = said(tmp_path, TOP.format(size, size))

    assert is_said == ("Goroutine descriptors are reused and never freed" in words)


def test_the_first_gc_of_a_run_counts_as_where_its_heap_came_from(tmp_path):
    marked = [2, 3, 5, 6]
    rows = (
        CYCLE.format(n, f"0.{n}00", size + 2, size + 2, size, max(4, 2 * size))
        for n, size in enumerate(marked, start=1)
    )

    assert "6 MiB after the last GC, up from 2 MiB" in said(tmp_path, "".join(rows))
