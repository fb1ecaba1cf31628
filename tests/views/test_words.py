"""Every answer has its words: none is shown as a bare key, and none is there for nothing."""

from gomem.analysis.collector import heap_pacing, pauses, phases, triggers
from gomem.analysis.memory import ledger
from gomem.charts import look
from gomem.views import words


def test_every_part_of_the_ledger_has_its_words_in_order():
    assert list(ledger.PARTS) == list(words.PARTS)
    assert set(words.PARTS) == set(look.LOOK)


def test_every_kind_of_mapping_has_its_look():
    assert {"go-heap": "heap_objects", **ledger.PART_OF_KIND} == look.PART_OF_KIND


def test_every_answer_about_the_collector_has_its_words():
    assert set(phases.PHASES) == set(words.PHASES)
    assert set(triggers.TRIGGERS) == set(words.TRIGGERS)
    assert set(heap_pacing.PACING) == set(words.PACING)
    assert list(pauses.TIMES) == list(words.TIMES)


def test_a_count_agrees_with_its_noun():
    assert ["1 place", "2 places", "0 places"] == [words.how_many(n, "place") for n in (1, 2, 0)]
