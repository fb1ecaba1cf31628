"""How far loading is, in a cell of a notebook; nothing where nobody looks."""

import shutil
import sys
from types import SimpleNamespace

import pytest

from gomem.capture import watched
from gomem.capture.load import load
from gomem.capture.watched import UNWATCHED, watched_in_a_notebook
from tests.builders import FIXTURES

CAPTURE = FIXTURES / "captures" / "healthy-go1.27.3"


@pytest.fixture
def cell(monkeypatch):
    """What a kernel's cell shows, from the first to the last."""
    shown = []

    def display(words, *, raw, display_id):
        assert raw
        assert display_id
        shown.append(words["text/plain"])
        return SimpleNamespace(update=lambda words, **_: shown.append(words["text/plain"]))

    ipython = SimpleNamespace(
        get_ipython=lambda: SimpleNamespace(kernel="a kernel"),
        display=SimpleNamespace(display=display),
    )
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.delenv(UNWATCHED, raising=False)
    return shown


def test_long_reading_says_how_far_it_is_and_goes(cell, monkeypatch, tmp_path):
    monkeypatch.setattr(watched, "SHOWN_AFTER_SECONDS", 0.0)
    monkeypatch.setattr(watched, "SHOWN_EVERY_SECONDS", 0.0)

    # A copy, as tests share what they have read.
    capture = load(shutil.copytree(CAPTURE, tmp_path / "copied"))

    assert len(cell) > len(capture.artefacts) > 5
    assert all(words.startswith("reading ") for words in cell[:-1])
    assert "" == cell[-1]


def test_what_is_read_at_once_needs_no_words(cell):
    with watched_in_a_notebook() as progress:
        progress("heap.pb.gz", 1, 9)

    assert [] == cell


def test_now_and_then_is_enough(cell, monkeypatch):
    times = iter([0.0, 0.5, 1.0, 1.0, 1.1, 1.3, 1.3])
    monkeypatch.setattr(watched, "monotonic", lambda: next(times))

    with watched_in_a_notebook() as progress:
        for number in range(1, 5):
            progress("heap.pb.gz", number, 4)

    assert ["reading heap.pb.gz: 2 of 4", "reading heap.pb.gz: 4 of 4", ""] == cell


@pytest.mark.usefixtures("cell")
@pytest.mark.parametrize("without", ["a kernel", "a person"])
def test_without_a_kernel_or_a_person_nothing_is_shown(monkeypatch, without):
    if without == "a kernel":
        monkeypatch.setattr(sys.modules["IPython"], "get_ipython", lambda: None)
    else:
        monkeypatch.setenv(UNWATCHED, "1")

    with watched_in_a_notebook() as progress:
        assert progress is None


def test_a_callback_of_the_users_own_stands_instead(cell, monkeypatch):
    monkeypatch.setattr(watched, "SHOWN_AFTER_SECONDS", 0.0)
    said = []

    load(CAPTURE / "3-later" / "memstats.json", progress=lambda *words: said.append(words))

    assert said
    assert [] == cell
