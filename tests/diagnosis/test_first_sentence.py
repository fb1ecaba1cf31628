"""Sentences that fit into a headline."""

import pytest

from gomem.diagnosis.first_sentence import sentences_within
from gomem.text import File, text

WHOLE = text("RSS is level. It is in {}. The rest is free.", File("a. B"))


@pytest.mark.parametrize(
    ("room", "first", "rest"),
    [
        (1, "RSS is level.", "It is in a. B. The rest is free."),  # at least one
        (30, "RSS is level. It is in a. B.", "The rest is free."),
        (200, WHOLE, ""),
    ],
)
def test_whole_sentences_fit_and_a_name_is_not_split(room, first, rest):
    assert (first, rest) == sentences_within(WHOLE, room)
