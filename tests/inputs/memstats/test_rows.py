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
        ("`heap_alloc` (live)", "pods"),
        ("| 41.5 MiB |", "| unknown |"),
        ("| --- | --- | --- |\n", ""),
    ],
)
def test_another_table_stays_as_it_is(old, new):
    text = TABLE.replace(old, new).encode()

    assert text == with_rows_in_words(text)


def test_lines_keep_their_numbers():
    assert TABLE.count("\n") == with_rows_in_words(TABLE.encode()).count(b"\n")
