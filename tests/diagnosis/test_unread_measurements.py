"""Files that are not read, although they name sizes of memory, or hold a series of them."""

import pytest

import gomem
from gomem.inputs.measurements import has_series, size_named
from gomem.views.report.verdict import verdict

ROWS = "".join(f"2026-11-27 07:37:{n} {n * 300} 1527472 5\n" for n in range(29, 45, 3))


def _plain(words):
    return f"{words}".replace("\u00a0", " ")


def _capture(folder, **texts):
    for number, rss in enumerate((40000, 40100, 40050, 40080)):
        at = folder / str(number)
        at.mkdir()
        (at / "status").write_text(f"Name:\tapi\nPid:\t7\nVmHWM:\t50000 kB\nVmRSS:\t{rss} kB\n")
    for name, content in texts.items():
        (folder / name.replace("_", ".")).write_text(content)
    return gomem.diagnose(folder)


def test_a_file_that_was_not_read_does_not_count(tmp_path):
    diagnosis = _capture(tmp_path, app_log="GET /export.csv tenant=hoffmann\nexport done\n")

    said = verdict(diagnosis)

    assert "no steady growth (4 of 5 files read)" == _plain(said.label)
    assert "app.log not read (text of no known kind)" in _plain(said.further)


def test_a_series_that_was_not_read_bars_a_verdict(tmp_path):
    diagnosis = _capture(tmp_path, rss_txt=ROWS)

    said = verdict(diagnosis)

    assert ("neutral", "no verdict") == (said.tone, f"{said.label}")
    details = " ".join(map(str, said.details))
    assert "rss.txt has a series of sizes that gomem does not read" in details
    assert "rss.txt not read (6 rows of a time and numbers that no line names)" in _plain(
        said.further
    )


def test_a_text_that_names_a_size_is_said(tmp_path):
    diagnosis = _capture(tmp_path, ISSUE_md="# slow\n\nIt has a RSS of 216800 kB by now.\n")

    said = verdict(diagnosis)

    assert (
        "ISSUE.md not read (a document in Markdown: it names RSS in a sentence (216800 kB)"
        in _plain(said.further)
    )
    assert "no steady growth (4 of 5 files read)" == _plain(said.label)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b"a RSS of 216800 kB and", "RSS of 216800 kB"),
        (b"heap_bytes=123456", "heap_bytes=123456"),
        (b"memory: 12.5 MiB used", "memory: 12.5 MiB"),
        (b"members 12345", None),
        (b"rss 12 feeds", None),
        (b"no size", None),
    ],
)
def test_a_size_near_a_word_of_memory_is_found(text, words):
    assert words == (None if (said := size_named(text)) is None else f"{said}")


def test_a_series_has_rows_of_one_shape_whose_sizes_change():
    assert has_series(ROWS.encode(), "rss-api.txt")
    assert not has_series(ROWS.encode(), "orders.txt")
    assert not has_series(b"a 12345\n" * 5, "rss.txt")
    assert has_series(b"at rss now\n1 12345\n2 12346\n3 12399\n", "orders.txt")


def test_a_heading_above_a_series_can_have_numbers():
    assert has_series(b"rss of prod-3, every 8s:\n1 12345\n2 12346\n3 12399\n", "notes.txt")


def test_of_two_shapes_that_alternate_one_of_memory_is_enough_in_any_order():
    pairs = [(f"rss {12345 + at}\n", f"orders {67890 + at}\n") for at in range(4)]

    for texts in (pairs, [(order, size) for size, order in pairs]):
        assert has_series("".join(line for pair in texts for line in pair).encode(), "notes.txt")
