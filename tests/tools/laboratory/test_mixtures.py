"""Recorded captures in the forms in which people have files."""

import pytest

import gomem
from tools.laboratory.captures import path_of
from tools.laboratory.forms import FORMS
from tools.laboratory.mixtures import ask

LEAK = "aquad-e"  # five snapshots of a heap that grows to the end


@pytest.mark.parametrize("form", sorted(FORMS))
def test_each_form_keeps_the_snapshots_or_fewer(form, tmp_path):
    capture = gomem.load(path_of(LEAK))

    assert FORMS[form](capture, tmp_path)

    assert 1 <= len(gomem.load(tmp_path)) <= 1 + len(capture)


@pytest.mark.parametrize("form", ["renamed", "downloads", "loops", "slog", "pages"])
def test_a_leak_is_told_in_each_form_that_shows_it(form):
    (asked,) = ask(LEAK, [form])

    assert "right" == asked.kind
    assert ["heap-growth"] == [row["code"] for row in asked.answer.warnings]
