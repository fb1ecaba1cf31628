"""Rows and lines with sizes, in forms that no tool is known by."""

import pytest

import gomem
from gomem.inputs.looks_like import looks_like
from gomem.inputs.mentions import mentioned
from gomem.inputs.sized_rows import rows_with_sizes
from gomem.inputs.told import told_in

OVER_TIME = """After a day:

| metric | start | +1d |
|---|---|---|
| `requests_total` | 404 | 66644 |
| `go_memstats_heap_inuse_bytes` | 21.5 MB | 20.1 MB (min 19.8) |
| **RSS** | ~41 MB | 44 MB |
| kills | - | 0 |
"""


def said(text):
    tables = [f"{told.what}" for told in told_in(text.encode())]
    return "; ".join([*tables, *filter(None, [f"{rows_with_sizes(text.encode())}"])])


def test_a_table_in_markdown_with_named_sizes_over_time():
    assert said(OVER_TIME) == (
        "has a table of sizes: go_memstats_heap_inuse_bytes 21.5 MB (start), 20.1 MB (+1d); "
        "RSS 41 MB (start), 44 MB (+1d)"
    )
    assert "RSS 41 MB" in f"{looks_like(OVER_TIME.encode(), 'a.md').what}"


@pytest.mark.parametrize("name", ["disk", "requests", "binary size"])
def test_a_table_of_other_sizes_is_none_of_memory(name):
    other = OVER_TIME.replace("**RSS**", name).replace("go_memstats_heap_inuse_bytes", "files")

    assert "" == said(other)


OWN_TOP = "".join(
    f"{name}:{name:<16} {pid}   0.{pid % 7}%   {size}MB (0.{pid % 5}%)\n"
    for name, pid, size in (
        ("api", 41, 24.0),
        ("db", 42, 152.5),
        ("web", 43, 9.1),
        ("log", 44, 3.4),
    )
)


def test_a_programs_own_table_names_the_largest_first():
    assert "4 rows with a size each, the largest: db:db 152.5MB, api:api 24.0MB" in said(OWN_TOP)
    assert "" == said("\n\n".join(OWN_TOP.splitlines()))  # rows are below each other


def test_a_loop_of_a_shell_has_the_largest_size_also_with_many_decimals():
    loop = "".join(
        f"{2 * n}s:{size} Gi\n" for n, size in enumerate([0.0105362, 0.24, 1.46246, 1.4617])
    )
    loop = loop + "8s:1.46176 Gi <<< stays\n9s:1.46170 Gi\n10s:1.4617 Gi\n"
    command = "$ cat /sys/fs/cgroup/memory/memory.usage_in_bytes\n"

    assert "7 lines with a time and a size each: from 0.0105362 Gi to 1.4617 Gi" in said(loop)
    assert "at most 1.46246 Gi" in said(loop)
    assert "cgroup" not in said(loop)
    assert "of a cgroup's usage" in said(command + loop)


def test_lines_with_the_same_words_have_their_sizes_in_order():
    line = '  * level=info msg="Memory: {} samples, avg is {}MB, max is {}MB"\n'
    text = line.format(670, 583.0, 1429.6) + "then\n" + line.format(1674, 346.4, 718.2)

    assert "" == said(text)  # two are no series
    text += line.format(1203, 385.9, 836.9) + line.format(566, 462.0, 1460.9)
    assert "avg 583.0MB, 346.4MB, 385.9MB, 462.0MB" in said(text)
    assert "max 1429.6MB, 718.2MB, 836.9MB, 1460.9MB" in said(text)
    assert "670" not in f"{looks_like(text.encode(), 'a.md').what}"  # a number of samples


def test_an_exponent_is_no_size():
    text = b"the usage is 61.5 MiB, the limit 8.58993e+09 GiB\n"

    assert "61.5 MiB" in f"{mentioned(text).what}"
    assert "09 GiB" not in f"{mentioned(text).what}"


@pytest.mark.parametrize(
    ("column", "unit", "said_unit"),
    [("RSS", " MB", ""), ("RSS (KB)", "", ""), ("RSS", "", ", without a unit")],
)
def test_a_table_in_markdown_with_a_row_for_each_version(column, unit, said_unit):
    rows = f"| Before (8e09b5) | 9376{unit} | 12 |\n| After | ~5248{unit} | 12 |\n"
    table = f"|   | {column} | threads |\n|---|---|---|\n{rows}"

    assert f"a table of sizes{said_unit}: {column} 9376{unit} (Before), 5248" in said(table)
    assert "12" not in said(table)
    assert "" == said(table.replace("RSS", "requests"))


def test_a_table_beside_what_is_read_is_told(tmp_path):
    top = "| PID | RSS | COMMAND |\n|---|---|---|\n| 7 | 51200 | api |\n"
    own = "| version | RSS | PSS |\n|---|---|---|\n| 1.2 | 9376 | 5644 |\n"
    (tmp_path / "a.md").write_text(f"These are the numbers of it:\n\n{own}\nand ps says\n\n{top}")

    capture = gomem.load(tmp_path / "a.md")

    assert capture.told_beside[0].startswith("has a table of sizes, without a unit: RSS 9376")
    assert () == capture.unused_sizes
