"""HeapAlloc over time, without any count of collections, bounds the live heap."""

import pytest

import gomem

MIB = 1 << 20
HEAD = '"Time","go_memstats_heap_alloc_bytes"\n'


def growth(tmp_path, sizes):
    rows = (f"2026-11-27 14:28:{5 * at:02},{size * MIB}\n" for at, size in enumerate(sizes))
    (tmp_path / "export.csv").write_text(HEAD + "".join(rows))
    return [found for found in gomem.diagnose(tmp_path).findings if found.code == "heap-growth"]


def test_more_than_garbage_can_be_is_growth_and_its_size_a_bound(tmp_path):
    (finding,) = growth(tmp_path, [11, 20, 34, 42, 50, 63, 71, 80, 88])

    assert "possible" == finding.confidence
    assert "the live heap grows by about 1" in finding.title
    assert finding.title.endswith("has reached 44 MiB to 88 MiB")


def test_a_printed_table_is_no_base_for_a_profile(tmp_path):
    """
    The next profiles have stacks, and a table of `go tool pprof` has none.
    """
    (tmp_path / "top.txt").write_text(
        "Type: inuse_space\nShowing nodes accounting for 30MB, 100% of 30MB total\n"
        "      flat  flat%   sum%        cum   cum%\n"
        "      30MB   100%   100%       30MB   100%  shop/cache.Put\n"
    )

    (finding,) = growth(tmp_path, [11, 20, 34, 42, 50, 63, 71, 80, 88])

    assert "gomem top LAST --base FIRST --cum" in finding.next_step
    assert "top.txt" not in finding.next_step


@pytest.mark.parametrize(
    "sizes",
    [
        pytest.param([69, 75, 81, 87, 93, 99], id="all of it can be garbage"),
        pytest.param([40, 71, 52, 79, 46, 66, 41, 78], id="collections take it away"),
        pytest.param([9, 44, 71, 80, 82, 81, 83, 82], id="full"),
    ],
)
def test_what_can_be_garbage_or_has_stopped_is_none(sizes, tmp_path):
    assert [] == growth(tmp_path, sizes)
