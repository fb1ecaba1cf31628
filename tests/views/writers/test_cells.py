"""Tables and sentences of a notebook: units, exact numbers, nothing that becomes markup."""

import pandas as pd

from gomem.views.writers.cells import COUNT, NOTHING, sentences, table, unit_of


def test_the_name_of_a_column_says_its_unit():
    """
    Ours end in the unit; Go's and the kernel's stand in the data dictionary.
    """
    assert "bytes" == unit_of("goal_bytes")
    assert "bytes" == unit_of("HeapIdle")
    assert "bytes" == unit_of("LazyFree")
    assert "s" == unit_of("skew_seconds")
    assert "" == unit_of("NumGC")


def test_the_exact_number_stands_behind_the_rounded_one():
    shown = table(pd.DataFrame({"HeapIdle": [1_572_864]}), "c")

    assert '<td class="number" title="1,572,864 B">1.50 MiB</td>' in shown.html


def test_what_is_unknown_is_not_0():
    shown = table(pd.DataFrame({"n": pd.array([pd.NA], "Int64")}), "c", {"n": COUNT})

    assert '<td class="number">–</td>' in shown.html


def test_names_from_a_capture_are_text():
    shown = table(pd.DataFrame({"<i>": ["<script>"]}), "<b>")

    for raw in ("<script>", "<i>", "<b>"):
        assert raw not in shown.html
    assert "<p>&lt;script&gt;</p>" in sentences("<script>").html


def test_no_sentence_is_no_box():
    assert NOTHING == sentences("", "")
