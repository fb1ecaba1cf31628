"""What a report consists of, before anybody decides how it looks."""

from gomem.views.document import MANY_FOLDED, Folded, Paragraph, in_one_fold


def folded(count):
    return [Folded(f"{number}", (Paragraph("text"),)) for number in range(count)]


def test_a_few_stay_as_they_are():
    assert tuple(folded(MANY_FOLDED)) == in_one_fold(folded(MANY_FOLDED), "the others")


def test_many_become_one_that_holds_them_all():
    (one,) = in_one_fold(folded(MANY_FOLDED + 1), "the others")

    assert ("the others", tuple(folded(MANY_FOLDED + 1))) == (one.summary, one.blocks)
