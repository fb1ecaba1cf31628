"""Eight lines for a chat: no name of a function is cut off."""

import pytest

from gomem.views.document import Document, Verdict
from gomem.views.writers.chat import MAX_LINES, WIDTH, _wrapped, write_chat

PACKAGE = "example.com/platform/delivery/vendor/example.org/routing/internal/handlers"


def lines_of(sentence):
    verdict = Verdict("info", "note", sentence, (), ())
    return write_chat(Document("report", "api", (("Files", "1"),), verdict, ())).splitlines()


@pytest.mark.parametrize("count", [1, 2, 3])
def test_names_lose_their_import_path_rather_than_the_sentence_its_names(count):
    named = ", ".join(f"{PACKAGE}.(*Router).Serve{number} (3{number} %)" for number in range(count))

    lines = lines_of(f"The heap profile has 74 MiB in use. The largest shares are by {named}.")

    whole = " ".join(lines)
    assert all(
        f"…/handlers.(*Router).Serve{number} (3{number} %)" in whole for number in range(count)
    )
    assert "example" not in whole
    assert len(lines) <= MAX_LINES
    assert all(len(line) <= WIDTH for line in lines)


def test_a_name_that_fits_keeps_its_import_path():
    sentence = "Most is by example.com/api/handlers.Serve (82 %)."

    assert sentence in lines_of(sentence)


def test_what_has_no_name_is_cut_as_before():
    lines = lines_of("The heap is full. " + "words " * 80)

    assert 4 == len(lines)
    assert lines[2].endswith(" …")


def test_names_for_which_there_is_no_room_are_cut_at_eight_lines():
    named = ", ".join(f"{PACKAGE}.(*Router).Serve{number} (3 %)" for number in range(40))

    assert MAX_LINES == len(lines_of(f"Shares: {named}."))


LONG = f"github.com/{'company/' * 9}service/internal/pool.(*worker).next"


def test_the_end_of_a_long_name_stays():
    lines = _wrapped(f"1 goroutine; 1 waits in {LONG} (chan receive).", 2)

    assert ".(*worker).next" in " ".join(lines)
    assert all(len(line) <= WIDTH for line in lines)


def test_short_names_are_as_they_are():
    assert ["12 goroutines wait in main.fill."] == _wrapped("12 goroutines wait in main.fill.", 2)
