"""A table in Markdown with a field in each row has a snapshot in each column."""

import pytest

import gomem
from gomem.inputs.memstats.rows import with_rows_in_words
from gomem.units import MIB

TABLE = """\
The numbers of our controller:

| `go_memstats` | before the sweep | after it |
| --- | --- | --- |
| `heap_alloc` (live) | 310.5 MiB | 20-25 MiB, flat |
| `next_gc` | 620 MiB | 41.5 MiB |
| `heap_released` | 50 MiB | 300 MiB |
| `process_resident_memory_bytes` | 440 MiB | 90.5 MiB, flat |

It is idle otherwise.
"""


def test_columns_are_snapshots(tmp_path):
    path = tmp_path / "table.md"
    path.write_text(TABLE)
    capture = gomem.load(path)
    stats = capture.memstats

    assert [310.5 * MIB, 25 * MIB] == [*stats["HeapAlloc"]]
    assert [620 * MIB, 41.5 * MIB] == [*stats["NextGC"]]
    assert [440 * MIB, 90.5 * MIB] == [
        moment.rss_bytes for moment in gomem.diagnose(capture).moments
    ]


def test_snapshots_are_called_by_their_columns(tmp_path):
    path = tmp_path / "table.md"
    path.write_text(TABLE)
    capture = gomem.load(path)

    assert ["before-the-sweep", "after-it"] == [*capture.by_moment]


@pytest.mark.parametrize(
    ("first", "second"), [("cache on", "cache off"), ("before the fix", "after the fix")]
)
def test_columns_of_two_settings_or_builds_are_compared_and_no_growth(first, second, tmp_path):
    path = tmp_path / "table.md"
    text = TABLE.replace("before the sweep", first).replace("after it", second)
    path.write_text(text)
    capture = gomem.load(path)

    (run,) = capture.other_runs
    assert (first, second, 25 * MIB) == run.labels
    assert (310.5 * MIB, [25 * MIB]) == (run.last_bytes, [*capture.memstats["HeapAlloc"]])


def test_each_of_several_settings_is_a_run_of_its_own(tmp_path):
    path = tmp_path / "table.md"
    cells = TABLE.replace(" |\n", " | 15 MiB |\n").replace("after it | 15 MiB", "40 pods | none")
    path.write_text(
        cells.replace("before the sweep", "900 pods").replace("| --- | 15 MiB", "|---|--")
    )
    capture = gomem.load(path)

    assert ["900 pods", "40 pods"] == [run.said for run in capture.other_runs]
    assert "HeapAlloc is 25 MiB in the run '40 pods'" in " ".join(
        gomem.diagnose(path).verdict.whose
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("after it", "change"),
        ("`heap_", "`pool_"),
        ("| 41.5 MiB |", "| unknown |"),
        ("| --- | --- | --- |\n", ""),
    ],
)
def test_another_table_stays_as_it_is(old, new):
    text = TABLE.replace(old, new).encode()

    assert text == with_rows_in_words(text)


def test_lines_keep_their_numbers():
    assert TABLE.count("\n") == with_rows_in_words(TABLE.encode()).count(b"\n")


RUNS = """\
| | old build | new build (hot) | new build (cold) |
|:--:|:--|---|---|
| sys | 480.25MB (503578624 bytes) | 1.41GB (1513975808 bytes) | 1.41GB (1513975808 bytes) |
| lookups | 0 | 0 | 0 |
| heap-alloc | 388.5MB (407371776 bytes) | 805.2MB (844314214 bytes) | 512MB (536870912 bytes) |
"""


def diagnosed(tmp_path, text):
    (tmp_path / "table.md").write_text(text)
    return gomem.diagnose(tmp_path / "table.md")


def test_bytes_beside_a_size_in_a_cell_are_its_exact_value(tmp_path):
    verdict = diagnosed(tmp_path, RUNS).verdict

    assert [536870912] == [*gomem.load(tmp_path / "table.md").memstats["HeapAlloc"]]
    assert "10⁹" not in verdict.sentence


def test_sys_of_each_run_is_told_beside_that_of_the_last(tmp_path):
    verdict = diagnosed(tmp_path, RUNS).verdict
    words = " ".join(verdict.whose)

    assert "Sys is 480 MiB there, and 1.41 GiB in the run 'new build (cold)', 201 % more" in words
    assert "Sys is 1.41 GiB there, as in the run 'new build (cold)'" in words
    assert "One reading" not in verdict.sentence + words  # of three columns


def test_a_cell_that_the_end_of_the_text_cuts_is_no_size(tmp_path):
    diagnosis = diagnosed(tmp_path, RUNS[: RUNS.index("512MB") + 2])

    assert [] == [*diagnosis.capture.memstats["HeapAlloc"].dropna()]
    assert [1513975808] == [*diagnosis.capture.memstats["Sys"]]


TWO_ROWS = """\
| | start | after 2 h | after 4 h | after 6 h | after 8 h |
|---|---|---|---|---|---|
| HeapAlloc | 110 MB | 220 MB | 330 MB | 440 MB | 550 MB |
| RSS | 210 MB | 320 MB | 430 MB | 540 MB | 650 MB |
"""
BARS = str.maketrans({"|": "  "})


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("is_barred", [True, False])
def test_one_row_of_a_field_is_enough(count, is_barred, tmp_path):
    path = tmp_path / "table.md"
    lines = TWO_ROWS.splitlines()[: 2 + count]
    text = "\n".join(lines if is_barred else [lines[0], *lines[2:]]) + "\n"
    path.write_text(text if is_barred else text.translate(BARS).replace("     ", "  "))
    capture = gomem.load(path)

    assert [n * 110 * MIB for n in range(1, 6)] == [*capture.memstats["HeapAlloc"]]
    last = gomem.diagnose(capture).moments[-1]
    assert (650 * MIB if count > 1 else None) == last.rss_bytes


def test_a_size_is_the_same_in_both_orientations(tmp_path):
    (path := tmp_path / "t.md").write_text(
        "| when | HeapAlloc | Sys |\n|---|---|---|\n| start | 110 MB | 130 MB |\n"
        "| end | 220 MB | 260 MB |\n"
    )
    assert [110 * MIB, 220 * MIB] == [*gomem.load(path).logged["go_alloc_bytes"]]
