"""What sentences and lists say of sizes and goroutines is named, with what to collect."""

import pytest

import gomem
from gomem.inputs.mentions import mentioned
from gomem.inputs.named_sizes import said_of_sizes, without_limits
from gomem.inputs.size_series import series_of_sizes


def said(text):
    return f"{mentioned(text.encode()).sentence}".replace("\u202f", " ")


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        pytest.param(
            "RSS has grown by 70MB in a week, while go_memstats_heap_inuse_bytes remained flat.",
            ["RSS grows while Go's heap stays", "outside of the heap", "(70MB)", "--every 10m"],
            id="RSS grows, the heap does not",
        ),
        pytest.param(
            "With GOMEMLIMIT=90MiB the only one that grows is go_memstats_buck_hash_sys_bytes.",
            ["go_memstats_buck_hash_sys_bytes grows: the profiler's table", "GOMEMLIMIT=90MiB"],
            id="a metric that grows, and a limit",
        ),
        pytest.param(
            "- RSS: about **2.5 GiB**\n- live heap: **910.5 MiB**\n"
            "- cumulative allocations: 81,300 MiB\n",
            ["RSS 2.5 GiB, live heap 910.5 MiB, cumulative allocations 81,300 MiB", "since the"],
            id="bullets",
        ),
        pytest.param(
            "- Min: 210MB, at night\n- Max: 3.2GB\n- First sample: 1.1GB - Last sample: 2.3GB\n",
            ["Min 210MB, Max 3.2GB, First sample 1.1GB, Last sample 2.3GB"],
            id="the ends of a series",
        ),
        pytest.param(
            "We leak 2 goroutines every 15s.",
            ["2 goroutines are added every 15 s, which are 11 520 a day", "goroutine?debug=2"],
            id="a rate",
        ),
        pytest.param(
            "800 goroutines wait to read and 1900 goroutines to write:\n\n"
            "goroutine 9 [select, 3 minutes]: 4 times\nkv.(*Conn).flush(0x1, 0x2)\n",
            ["it names 1900 goroutines and 800 goroutines", "kv.(*Conn).flush (select, 3 minutes)"],
            id="two groups and a stack",
        ),
    ],
)  # fmt: skip
def test_words_are_named_with_their_quantity(words, parts):
    found = said(words)

    assert all(part in found for part in parts), found


@pytest.mark.parametrize(
    "words",
    [
        "RSS grows by 70MB, and so does the heap.",
        "The heap is flat at 70MB.",
        "It leaks. See 70MB.",
    ],
)
def test_growth_beside_a_flat_heap_needs_both(words):
    assert "outside of the heap" not in said(words)


def test_a_limit_is_no_size_in_use():
    assert "GOMEMLIMIT=90MiB), and no size in use" in said("I set GOMEMLIMIT=90MiB and it dies.")
    assert b"it uses 40MiB with  set" == without_limits(b"it uses 40MiB with GOMEMLIMIT=90MiB set")


def test_records_below_a_line_without_a_blank_are_read(tmp_path):

    (tmp_path / "issue.md").write_text(
        "# It leaks\n\nposted by me, today 2026\n"
        "31 @ 0x10309cf 0x103fae8 0x105b771\n0x103fae7\tmain.poll+0x10f\t/src/main.go:12\n\n"
        "7 @ 0x10309cf 0x103fae8 0x105b771\n0x103fae7\tmain.wait+0x10f\t/src/main.go:31\n"
    )

    verdict = gomem.diagnose(gomem.load(tmp_path / "issue.md")).verdict.sentence

    assert "38 goroutines; 31 wait in main.poll" in f"{verdict}".replace("\u202f", " ")


def test_an_even_rise_of_eight_lines_has_two_equal_halves():
    """
    Lines 1 to 4 rise by three steps of 100 kB, and so do lines 5 to 8.
    """
    log = "".join(f"VmRSS: {1000 + 100 * n} kB\n" for n in range(8)).encode()

    words = str(series_of_sizes(log, "").what)

    assert "from 1000 kB to 1700 kB; of the rise of 700 kB the first half" in words
    assert words.endswith("of the lines has 300 kB, the second 300 kB")


def test_a_name_of_two_lists_has_both_sizes():
    text = b"RSS: 837 MiB\nSwap: 670 MiB\n\nThe host has:\n\nRAM: 1.67 GiB\nSwap: 1.94 GiB\n"

    (named,) = said_of_sizes(text)

    assert "Swap 670 MiB" in named
    assert "Swap 1.94 GiB" in named
