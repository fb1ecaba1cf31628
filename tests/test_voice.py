"""How gomem speaks: every finding of the recorded captures, as an editor would read it."""

import re

import pytest

from gomem.causes import CAUSES
from gomem.text import Name, Number, Text, Words
from tests.builders import CAPTURES, diagnosed

# Words that Go people do not use, or that an editor strikes.
DROPPED = re.compile(
    r"\b(whose|thereof|hence|likewise|meanwhile|somebody|nobody|anybody|whoever|undivided"
    r"|given back|gives? (it |them )?back|goes back|taken again|held against|stands against"
    r"|claims?|claimed|told|tells?|lacks?|wanted|shall|mend|dear|is over|over since"
    r"|the most was|of it|moments?)\b"
)
PRONOUN = re.compile(r"\b[Oo]ne\b(?! (second|goroutine|byte|large))")
DECIMALS = re.compile(r"\d\.\d+ ?%")
MOST_NUMBERS = 3


def own_words(said):
    """What we say ourselves, without names and numbers."""
    return " ".join(part for part in Text(said).parts if type(part) is Words)


def is_spoken(said):
    """Whether an editor would let it pass."""
    words = own_words(said)
    assert not DROPPED.findall(words), said
    assert not PRONOUN.findall(words), said
    assert "  " not in said
    assert said == said.strip()
    return True


def test_there_is_something_to_read():
    assert sum(len(diagnosed(path).findings) for path in CAPTURES) >= len(CAPTURES)


@pytest.mark.parametrize("path", CAPTURES, ids=lambda path: path.name)
def test_findings_are_said_in_the_words_of_the_field(path):
    for finding in diagnosed(path).findings:
        assert is_spoken(finding.title)
        assert is_spoken(finding.next_step)
        assert is_spoken(finding.mechanism)


@pytest.mark.parametrize("path", CAPTURES, ids=lambda path: path.name)
def test_a_title_is_a_headline(path):
    for finding in diagnosed(path).findings:
        title = Text(finding.title)
        assert not DECIMALS.findall(title), title
        assert len(title.of(Number)) <= MOST_NUMBERS, title
        begins = title.parts[0]
        assert isinstance(begins, Name | Number) or begins[0].isupper(), title
        assert not title.endswith("."), title


@pytest.mark.parametrize("cause", CAUSES, ids=lambda cause: cause.code)
def test_a_cause_is_explained_in_the_words_of_the_field(cause):
    assert is_spoken(cause.mechanism)
    assert is_spoken(cause.remedy)
    assert cause.mechanism.endswith(".")
    assert cause.remedy.endswith(".")
