"""What is drawn and said of kept and released heap."""

import pytest

import gomem
from gomem.errors import CaptureError
from gomem.views.cells.scavenger import heap_return_frame, plot_scavenger, scavenger_sentences
from tests.builders import FIXTURES
from tests.views.figures import marks

CAPTURES = FIXTURES / "captures"


@pytest.fixture(scope="module")
def lazily_freed():
    return gomem.diagnose(CAPTURES / "cache-shrink-go1.12.17")


def heights(diagnosis: gomem.Diagnosis) -> dict[str, list[int]]:
    """Heights of the bars that were drawn, by what the legend calls them."""
    drawn: dict[str, list[int]] = {}
    for bar in marks.bars(plot_scavenger({"": diagnosis}).chart.panels[0]):
        drawn.setdefault(bar.label, []).append(int(bar.height))
    return drawn


def test_a_column_is_the_heap_s_address_space(lazily_freed):
    """
    In use, kept and given back are all of HeapSys; nothing is drawn twice.
    """
    drawn = heights(lazily_freed)

    expected = list(lazily_freed.capture.memstats["HeapSys"])
    assert expected == [sum(column) for column in zip(*drawn.values(), strict=True)]


def test_what_madv_free_left_resident_is_drawn_as_such(lazily_freed):
    """
    LazyFree of the heap's mappings, at the moment after FreeOSMemory and at no other.
    """
    ledgers = lazily_freed.ledgers.values()

    expected = [ledger.part("heap_released_resident") for ledger in ledgers]
    assert expected == heights(lazily_freed)["given back, still resident"]
    assert [0, 0, 0] == expected[:3]


def test_a_drawing_says_its_numbers_in_words(lazily_freed):
    description = plot_scavenger({"go1.12.17": lazily_freed}).description

    assert "go1.12.17: 1-filled 152 MiB in use" in description


def test_a_step_that_moves_less_than_1_mib_hardly_changed(lazily_freed):
    text = scavenger_sentences(lazily_freed).text

    assert "From 3-collected to 4-freed: the heap in use hardly changed" in text


def test_without_memstats_nothing_is_made_up(tmp_path):
    """
    The kernel alone does not know what the runtime keeps.
    """
    smaps = (CAPTURES / "healthy-go1.27.3" / "2-steady" / "smaps").read_bytes()
    (tmp_path / "smaps").write_bytes(smaps)

    with pytest.raises(CaptureError, match="no moment has MemStats"):
        heap_return_frame(gomem.diagnose(tmp_path))
