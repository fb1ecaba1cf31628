"""How gomem speaks: every finding of the recorded captures, as an editor would read it.

And how it names things: a loop variable is the thing, a constant a bound or a fact.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path

import pytest

from gomem.causes import CAUSES
from gomem.causes.signatures import signatures
from gomem.text import Name, Number, Text, Words
from gomem.views.document import Section
from gomem.views.report.report import report_document
from gomem.views.titles import TITLES, field_title
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
# Table heads, captions and notes at which readers stopped.
STUMBLES = re.compile(
    r"^(step|what moved|what it is|each GC|Phases|field)$|\brun \d|in excess of|left out for width"
    r"|farther end|rose \d+ times|who maps"
)
OUR_FIELDS = re.compile(r"_(bytes|seconds|fraction|cycles)\b")  # names of ours, with their unit
READ_AS_IS = re.compile(r"\bof it\b|moments?")  # in a page also ids, and plain English
MOST_NUMBERS = 3
ROOT = Path(__file__).parents[1]
UNNAMED = re.compile(r"_?(OF|FEW|HALF)(_[A-Z0-9_]+)?")  # constants that say neither bound nor fact


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
    some = CAPTURES[::4]

    assert sum(len(diagnosed(path).findings) for path in some) >= len(some)


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


def shown(part):
    """Every text of a document or a part of one, but for the ids of sections."""
    if isinstance(part, str):
        yield part
    elif isinstance(part, tuple | list):
        for each in part:
            yield from shown(each)
    elif is_dataclass(part):
        names = (field.name for field in fields(part))
        for name in names:
            if name != "name" or not isinstance(part, Section):
                yield from shown(getattr(part, name))


@pytest.mark.at_most(5)
@pytest.mark.parametrize("path", CAPTURES, ids=lambda path: path.name)
def test_a_report_is_written_in_the_words_of_the_field(path):
    said = list(shown(report_document(diagnosed(path))))

    assert len(said) > 100
    for text in said:
        words = own_words(text)
        assert not STUMBLES.findall(words), text
        assert not [word for word in DROPPED.findall(words) if not READ_AS_IS.match(word[0])], text


@pytest.mark.parametrize("path", CAPTURES, ids=lambda path: path.name)
def test_evidence_is_shown_by_title(path):
    """JSON keeps the field's own name."""
    for finding in diagnosed(path).findings:
        for evidence in finding.evidence:
            assert not OUR_FIELDS.findall(field_title(evidence.field)), evidence


def test_a_title_stands_for_the_field_in_longer_names():
    assert "GC CPU time of forced GCs" == field_title("gc_cpu_seconds of forced GCs")
    assert "HeapIdle" == field_title("HeapIdle")
    assert not [title for title in TITLES.values() if OUR_FIELDS.findall(title)]


@pytest.mark.parametrize("cause", CAUSES, ids=lambda cause: cause.code)
def test_a_cause_is_explained_in_the_words_of_the_field(cause):
    assert is_spoken(cause.mechanism)
    assert is_spoken(cause.remedy)
    assert cause.mechanism.endswith(".")
    assert cause.remedy.endswith(".")


@pytest.mark.parametrize("signature", signatures(), ids=lambda signature: signature.name)
def test_a_missing_call_is_explained_in_the_words_of_the_field(signature):
    assert not DROPPED.findall(signature.why)
    assert signature.why.endswith(".")


def named_one(tree: ast.AST) -> Iterator[int]:
    """Lines at which a loop or an expression counts through `one`, or something takes it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
            names = [name for name in ast.walk(node.target) if isinstance(name, ast.Name)]
            yield from (name.lineno for name in names if name.id == "one")
        elif isinstance(node, ast.arg) and node.arg == "one":
            yield node.lineno


def constants_of(tree: ast.Module) -> Iterator[ast.Name]:
    """What a module sets at its top, in its order."""
    for statement in tree.body:
        if isinstance(statement, ast.Assign | ast.AnnAssign):
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            for node in (node for target in targets for node in ast.walk(target)):
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                    yield node


def badly_named(tree: ast.Module) -> list[tuple[int, str]]:
    """Line and name of what is not called what it is."""
    ones = [(line, "one") for line in named_one(tree)]
    unnamed = [node for node in constants_of(tree) if UNNAMED.fullmatch(node.id)]
    return sorted([*ones, *((node.lineno, node.id) for node in unnamed)])


def test_names_are_what_things_are():
    bad = [
        f"{path.relative_to(ROOT)}:{line}: {name}"
        for path in sorted((ROOT / "gomem").rglob("*.py"))
        for line, name in badly_named(ast.parse(path.read_text()))
    ]
    assert not bad, "\n".join(bad)


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("for one in rows: pass", "one"),
        ("for at, (one, other) in pairs: pass", "one"),
        ("sizes = [one.bytes for one in rows]", "one"),
        ("sizes = {name: one for name, one in rows.items()}", "one"),
        ("rows.sort(key=lambda one: one.bytes)", "one"),
        ("def share(one, hidden): pass", "one"),
        ("def share(*, one=None): pass", "one"),
        ("OF_RUNS = 3", "OF_RUNS"),
        ("_OF: dict = {}", "_OF"),
        ("LOW, HALF = 0.1, 0.5", "HALF"),
        ("FEW_NAMES = 5", "FEW_NAMES"),
    ],
)
def test_a_bad_name_is_seen(code, name):
    assert [(1, name)] == badly_named(ast.parse(code))


@pytest.mark.parametrize(
    "code", ["for row in rows: pass", "sizes.one(2)", "OFF = 1", "HALVED = 0.5", "MIN_RUNS = 2"]
)
def test_a_good_name_passes(code):
    assert badly_named(ast.parse(code)) == []
