"""A container's readings say how they ended: still growing, with a rate if dated, or level."""

import pytest

import gomem

TOP = "POD   NAME   CPU(cores)   MEMORY(bytes)\napi   api    3m           {size}Mi\n"


def said(folder, sizes, *, is_dated):
    dates = (f"Fri Nov 27 14:{28 + n}:21 UTC 2026\n" for n in range(len(sizes)))
    tables = (TOP.format(size=size) for size in sizes)
    rows = (date * is_dated + table for date, table in zip(dates, tables, strict=True))
    (folder / "loop.txt").write_text("".join(rows))
    return gomem.diagnose(folder).verdict


@pytest.mark.parametrize(
    ("sizes", "is_dated", "words"),
    [
        (
            [22, 36, 48, 58, 71, 79, 93, 106],
            True,
            "8 readings, and over these 7 min it grows by 200 KiB/s.",
        ),
        ([22, 36, 48, 58, 71, 79, 93, 106], False, "8 readings, and it grows."),
        ([32, 81, 127, 169, 207, 208, 208, 208], True, "8 readings, and is level in the last 4."),
        ([32, 90], True, "2 readings."),
    ],
)
def test_the_working_set_says_how_it_ended(tmp_path, sizes, is_dated, words):
    assert words in said(tmp_path, sizes, is_dated=is_dated).sentence


def test_a_working_set_that_rises_no_longer_is_no_note(tmp_path):
    assert said(tmp_path, [32, 207, 208, 208, 208, 208], is_dated=True).severity is None
