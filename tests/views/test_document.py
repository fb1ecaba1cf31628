"""What a report consists of, before anybody decides how it looks."""

from gomem.text import File, text
from gomem.views.document import (
    MANY_FOLDED,
    Folded,
    Paragraph,
    Step,
    Tile,
    Verdict,
    in_one_fold,
)


def test_a_verdict_in_paragraphs_has_what_to_do_and_keeps_its_parts():
    command = text("gomem top {}", File("a/heap"))
    steps = (Step("Look."), Step(command, is_command=True))
    said = Verdict("info", "note", "It grew.", ("Much.",), steps, "Also: 1 note.", where="Here.")

    assert ("It grew.", "Here.", "Much.", "Also: 1 note.", "Next: Look.", command) == (
        said.paragraphs
    )
    assert "a/heap" == said.paragraphs[-1].of(File)[0].value
    assert ("It grew.",) == Verdict("info", "note", "It grew.").paragraphs


def test_a_size_that_the_sentence_has_is_not_said_again():
    size = Tile("230 MiB", "RSS, +98 MiB")

    assert "" == Verdict("info", "note", "RSS rose to 230\u00a0MiB.", size=size).number
    assert "230 MiB RSS, +98 MiB" == Verdict("info", "note", "1230 MiB.", size=size).number


def folded(count):
    return [Folded(f"{number}", (Paragraph("text"),)) for number in range(count)]


def test_a_few_stay_as_they_are():
    assert tuple(folded(MANY_FOLDED)) == in_one_fold(folded(MANY_FOLDED), "the others")


def test_many_become_one_that_holds_them_all():
    (one,) = in_one_fold(folded(MANY_FOLDED + 1), "the others")

    assert ("the others", tuple(folded(MANY_FOLDED + 1))) == (one.summary, one.blocks)
