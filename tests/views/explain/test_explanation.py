"""Each term of gomem's and of the field means something; a wrong one finds the nearest."""

import pytest

from gomem.causes import CAUSES
from gomem.cli.main import run
from gomem.inputs.kinds import KINDS
from gomem.views.explain.explanation import _columns, explanation_document, terms, unknown_term
from gomem.views.explain.glossary import GLOSSARY
from gomem.views.words import PARTS
from gomem.views.writers.text import write_text


def explained(term):
    document = explanation_document(term)
    assert document is not None, term
    return write_text(document)


@pytest.mark.parametrize("entry", GLOSSARY, ids=lambda entry: entry.names[0])
def test_what_an_entry_relates_to_is_explained_too(entry):
    for term in (*entry.names, *entry.related):
        assert explanation_document(term) is not None, term


def test_no_two_entries_have_one_name():
    names = [name.lower() for entry in GLOSSARY for name in entry.names]

    assert len(names) == len(set(names))


def test_every_column_of_every_input_is_explained():
    """
    Of each kind's frames, none is left out.
    """
    kinds = {kind for kind, _, _ in _columns()}
    of_one_reader = {kind.reader.partition(".")[0]: kind.wanted for kind in reversed(KINDS)}

    assert set(of_one_reader.values()) <= kinds
    for term in terms():
        assert explanation_document(term) is not None, term


@pytest.mark.parametrize(
    ("term", "said"),
    [
        ("HeapIdle", "HeapIdle - HeapReleased is what is kept"),
        ("lazyfree", "resident until the kernel needs the page"),
        ("RES", "in memory now"),
        ("working-set", "less the file pages that were not used of late"),
        ("scav", "gives idle heap back"),
        ("idle-heap-kept", "What to do"),
        ("heap_untouched", "never touched"),
        ("go_memstats_heap_idle_bytes", "HeapIdle"),
        ("consul_runtime_alloc_bytes", "HeapAlloc"),
        ("at_seconds", "Unit: seconds"),
    ],
)
def test_a_term_is_explained(term, said):
    assert said in " ".join(explained(term).split())


def test_a_finding_has_its_mechanism_and_its_remedy():
    for cause in CAUSES:
        text = " ".join(explained(cause.code).split())
        assert " ".join(cause.mechanism.split())[:60] in text


def test_a_part_of_the_ledger_is_explained():
    assert all("part of the ledger" in explained(part) for part in PARTS)


def test_a_wrong_term_is_answered_with_the_nearest(capsys):
    assert 2 == run(["explain", "HeapIdel"])

    assert "HeapIdel: no term of gomem's; did you mean HeapIdle?" in capsys.readouterr().err
    assert "wanted such as HeapIdle" in unknown_term("xyzzy")


def test_a_term_of_two_words_needs_no_quotes(capsys):
    assert 0 == run(["explain", "working", "set"])

    assert "cAdvisor" in capsys.readouterr().out
