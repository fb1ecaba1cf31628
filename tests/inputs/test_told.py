"""What a text says in forms of its own: tables of sizes, and changes in sentences."""

import pytest

from gomem.inputs.mentions import mentioned
from gomem.inputs.told import told_in


def said(text):
    return [f"{told.what}" for told in told_in(text.encode())]


def test_a_unit_in_the_label_of_a_row_is_of_its_bare_numbers():
    table = "| | v3 | v4 (64) |\n|-|:--:|:---:|\n|RSS GiB | 4.5 | 6.25 |\n| clients | 12 | 12 |\n"

    assert ["has a table of sizes: RSS GiB 4.5 (v3), 6.25 (v4 (64))"] == said(table)


def test_sizes_as_top_prints_them_are_of_its_columns():
    table = (
        "| build | `VIRT` | `top RES` | age |\n|---|---|---|---|\n| old | `91.5m` | 2.5g | 3m |\n"
    )

    assert ["has a table of sizes: VIRT 91.5m (old); top RES 2.5g (old)"] == said(table)


DASHES = (
    "Files   Memory (MB)   Step (MB)\n-----   -----------   ---------\n0       31.5          ---\n"
    "200     88.25         56.7\n900     Killed!       ---\n\n7 8 9\n"
)
BARS = "Files | Memory (MB)\n------+------------\n 0 | 31.5\n 200 | 88.25\n"
BOX = "┌──┬──┐\n│ Files │ Memory (MB) │\n├──┼──┤\n│ 0 │ 31.5 │\n│ 200 │ 88.25 │\n└──┴──┘\n"


@pytest.mark.parametrize("table", [DASHES, BARS, BOX])
def test_a_table_is_told_however_it_is_ruled(table):
    assert ["has a table of sizes: Memory (MB) 31.5 (0), 88.25 (200)"] == said(table)


@pytest.mark.parametrize(
    ("sentence", "change"),
    [
        ("All went from 3-5MB to 21-26MB of resident memory.", "RSS grew from 3-5MB to 21-26MB"),
        ("RSS: 2.5 GB (old) -> 900MB (new) here.", "RSS fell from 2.5 GB (old) to 900MB (new)"),
        ("Memory usage climbs from about 1 GiB up to ~4 GiB.", "memory grew from 1 GiB to 4 GiB"),
        ("The heap shrank from 900 MB to `300 MB`.", "the heap fell from 900 MB to 300 MB"),
    ],
)  # fmt: skip
def test_a_change_in_a_sentence_has_both_sizes(sentence, change):
    assert [f"says that {change}"] == said(f"{sentence}\n")


@pytest.mark.parametrize(
    "sentence",
    [
        "We raised the memory limit from 1 GiB to 4 GiB.",
        "I increased its memory from 96Mi to 300Mi.",
        "The memory is read from 1 GB files.\nThey go to 4 GB disks.",
        "Traffic went from 1 GB to 4 GB.",
        "memory stays from 4 GB to 4 GB",
    ],
)
def test_a_raised_limit_and_other_sizes_are_no_change_of_memory(sentence):
    assert [] == said(f"{sentence}\n")


def test_a_change_with_an_upgrade_asks_for_both_builds():
    text = b"Since the upgrade RSS went from 30-50MB to 210-260MB.\n"

    assert "gomem compare BEFORE AFTER" in f"{mentioned(text).way_out}"
    assert "--every" in f"{mentioned(text.replace(b'the upgrade', b'noon')).way_out}"


@pytest.mark.parametrize(
    ("around", "unit"),
    [("It saves 30 MB.", " (the others in the text are in MB)"), ("It is 3 MB of 2 GB.", "")],
)
def test_bare_numbers_of_a_row_have_the_unit_of_the_text(around, unit):
    head = "| what | old | new |\n|---|---|---|\n"
    rows = f"{head}| RSS median | 2100 | **1900** |\n| heap objects | 7 | 9 |\n"

    words = f"a table of sizes, without a unit{unit}: RSS median 2100 (old), 1900 (new)"
    assert [f"has {words}"] == said(f"{around}\n\n{rows}")
