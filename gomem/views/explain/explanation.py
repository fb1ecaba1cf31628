"""What a term means: from the glossary, the data dictionary, the causes and the ledger's parts."""

from __future__ import annotations

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, cast

from gomem.causes import CAUSES
from gomem.errors import did_you_mean
from gomem.inputs.kinds import KINDS
from gomem.inputs.metrics.names import meaning_of
from gomem.views.document import Codes, Document, Paragraph, Section
from gomem.views.explain.glossary import GLOSSARY
from gomem.views.words import GROUPS, PARTS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from gomem.causes.cause import Cause
    from gomem.inputs.schema import Column
    from gomem.views.document import Block
    from gomem.views.explain.glossary import Entry

KIND = "Term"
SPELT = {("gobench", "units"): "UNIT_NOTES"}
UNIT_NAMES = {"B": "bytes", "s": "seconds", "ns": "nanoseconds", "B/s": "bytes a second"}


def explanation_document(term: str) -> Document | None:
    """All that the term means; None if nothing is called so.

    Args:
        term: In any case, with blanks, hyphens or underscores between its words.
    """
    on_a_page = meaning_of(term)
    sections = tuple(_sections(term))
    if not sections and on_a_page is not None:
        stands_for = on_a_page[1].name
        heading = f"{term}: {stands_for}, on a page of Prometheus metrics"
        sections = (Section("term-0", heading, ()), *_sections(stands_for))
    if not sections:
        return None
    return Document(
        kind=KIND,
        title=term,
        facts=(),
        verdict=None,
        sections=sections,
        made_by=f"gomem {version('gomem')}",
    )


def unknown_term(term: str) -> str:
    """What to say of a term that means nothing, with the nearest one that does."""
    near = did_you_mean(term, terms())
    return f"{term}: no term of gomem's{near or '; wanted such as HeapIdle, LazyFree or RSS'}"


def terms() -> list[str]:
    """All that can be explained, the words of the field first."""
    named = [name for entry in GLOSSARY for name in entry.names]
    columns = [column.name for _, _, column in _columns()]
    codes = [cause.code for cause in CAUSES]
    return list(dict.fromkeys([*named, *codes, *PARTS, *GROUPS, *columns]))


def _sections(term: str) -> Iterator[Section]:
    wanted = _key(term)
    found = 0
    for entry in GLOSSARY:
        if wanted in map(_key, entry.names):
            found += 1
            yield _of_entry(entry, found)
    for cause in CAUSES:
        if wanted == _key(cause.code):
            found += 1
            yield _of_cause(cause, found)
    for words, what in ((PARTS, "a part of the ledger"), (GROUPS, "a group of the ledger")):
        for name, means in words.items():
            if wanted == _key(name):
                found += 1
                yield Section(f"term-{found}", f"{name}: {what}", (Paragraph(_sentence(means)),))
    said = set[str]()
    for kind, frame, column in _columns():
        if wanted == _key(column.name) and column.means not in said:
            said.add(column.means)
            found += 1
            heading = f"{column.name}: column of {frame}, from {kind}"
            yield Section(f"term-{found}", heading, (Paragraph(_of_column(column)),))


def _columns() -> Iterator[tuple[str, str, Column]]:
    """Every column of every frame, of kinds that share a dictionary once; its kind and frame."""
    seen: set[tuple[str, str]] = set()
    for kind in KINDS:
        word = kind.reader.partition(".")[0]
        for frame in kind.frames:
            if frame != "damage" and (word, frame) not in seen:
                seen.add((word, frame))
                for column in _dictionary(word, frame):
                    yield kind.wanted, frame, column


def _dictionary(word: str, frame: str) -> tuple[Column, ...]:
    """The columns of an input's frame, which stand in its `table` or, of pprof, in `frames`."""
    name = SPELT.get((word, frame), frame.upper())
    table = import_module(f"gomem.inputs.{word}.table")
    where = table if hasattr(table, name) else import_module(f"gomem.inputs.{word}.frames")
    return cast("tuple[Column, ...]", getattr(where, name))


def _key(term: str) -> str:
    return "".join(one for one in term.lower() if one.isalnum() or one in ".:/*")


def _of_entry(entry: Entry, number: int) -> Section:
    first, *others = entry.names
    heading = f"{first} ({', '.join(others)})" if others else first
    blocks: list[Block] = [Paragraph(entry.means)]
    if entry.comes_from:
        blocks.append(Paragraph(f"Where from: {entry.comes_from}."))
    if entry.is_not:
        blocks.append(Paragraph(entry.is_not))
    if entry.releases:
        blocks.append(Paragraph(f"By release: {entry.releases}"))
    if entry.related:
        blocks.append(Codes("See also", entry.related))
    return Section(f"term-{number}", heading, tuple(blocks))


def _of_cause(cause: Cause, number: int) -> Section:
    blocks: list[Block] = [Paragraph(cause.mechanism), Paragraph(f"What to do: {cause.remedy}")]
    if cause.references:
        blocks.append(Paragraph(f"To read on: {', '.join(cause.references)}."))
    return Section(f"term-{number}", f"{cause.code}: a finding", tuple(blocks))


def _of_column(column: Column) -> str:
    unit = UNIT_NAMES.get(column.unit, column.unit)
    return f"{column.means} Unit: {unit}." if unit else column.means


def _sentence(words: str) -> str:
    return f"{words[:1].upper()}{words[1:]}."
