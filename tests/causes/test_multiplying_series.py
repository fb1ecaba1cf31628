"""A label with ever more values: its series are what the process grows by."""

import pytest

import gomem

PAGE = (
    "go_memstats_heap_alloc_bytes {heap}e+06\ngo_memstats_heap_inuse_bytes {heap}e+06\n"
    "go_memstats_heap_idle_bytes 1e+06\ngo_memstats_heap_released_bytes 0\n"
    "go_memstats_heap_sys_bytes {sys}e+06\ngo_memstats_sys_bytes {sys}e+06\n"
    "process_resident_memory_bytes {sys}e+06\n"
)


def diagnosed(folder, pages):
    for at, (series, heap) in enumerate(pages):
        (folder / f"{at}-at").mkdir()
        rows = "".join(f'scans_total{{badge="b{n}"}} 1\n' for n in range(series))
        (folder / f"{at}-at" / "metrics.txt").write_text(
            PAGE.format(heap=heap, sys=heap + 1) + rows
        )
    return gomem.diagnose(folder)


def test_series_that_multiply_are_said_first_with_their_label(tmp_path):
    verdict = diagnosed(tmp_path, [(1500, 20), (4500, 60)]).verdict

    assert ("heap-growth", "warning", "possible") == (
        verdict.code, str(verdict.severity), verdict.confidence,
    )  # fmt: skip
    assert verdict.headline.startswith("scans_total has ever more series: 4\u202f500, up from 1")
    assert "Take the label badge (4\u202f500 values) off" in verdict.next_step
    assert not any("keeps every series" in words for words in verdict.whose)


@pytest.mark.parametrize(
    "pages",
    [
        pytest.param([(4500, 20), (4500, 60)], id="as many series"),
        pytest.param([(1500, 20), (4500, 80)], id="they cannot hold half of the growth"),
        pytest.param([(1500, 60), (4500, 60)], id="the process did not grow"),
        pytest.param([(900, 20), (4500, 60)], id="few at first, so that nothing counted them"),
        pytest.param([(4500, 60)], id="one page"),
    ],
)
def test_each_guard_alone_silences_it(pages, tmp_path):
    headline = diagnosed(tmp_path, pages).verdict.headline

    assert "ever more series" not in headline
