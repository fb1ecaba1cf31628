"""Explains a term: a common word, a column, a JSON field, a finding, a threshold, a ledger row.

Columns, fields, findings and thresholds are described where they are defined. Only other words are
in a separate file, `glossary.toml`, so no description exists twice.
"""

from __future__ import annotations

import inspect
import re
import sys
import tomllib
from collections import defaultdict
from dataclasses import dataclass, fields
from functools import cache, partial
from importlib import import_module
from importlib.metadata import version
from pkgutil import walk_packages
from typing import TYPE_CHECKING, Any

from gomem.causes import CAUSES
from gomem.causes.signatures import signatures
from gomem.causes.thresholds import Thresholds
from gomem.errors import did_you_mean
from gomem.inputs.kinds import KINDS
from gomem.inputs.metrics.names import meaning_of
from gomem.inputs.schema import Column
from gomem.releases import Fact
from gomem.sources.packaged import text_beside
from gomem.text import text
from gomem.views.document import Block, Codes, Document, Paragraph, Section
from gomem.views.json.schemas import SCHEMAS, schema_of
from gomem.views.words import GROUPS, PARTS, first_few

if TYPE_CHECKING:
    from collections.abc import Iterator


UNIT_NAMES = {"B": "bytes", "s": "seconds", "ns": "nanoseconds", "B/s": "bytes a second"}
# packages whose modules define frames
FRAME_FOLDERS = ("inputs", "capture", "analysis", "comparison")
SHOWN_PLACES = 3
EACH = "[]"  # in the path of a JSON field: any element of a list
_THRESHOLD = re.compile(r"^    (\w+): (.*(?:\n {8,}.*)*)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Term:
    """A term and its explanation."""

    names: tuple[str, ...]  # the usual name first
    what: str  # the kind of term, such as `column of stats, from MemStats`; can be empty
    blocks: tuple[Block, ...]  # the explanation

    @property
    def heading(self) -> str:
        """The names and the kind."""
        first, *others = self.names
        name = f"{first} ({first_few(others, SHOWN_PLACES)})" if others else first
        return f"{name}: {self.what}" if self.what else name

    def heading_under(self, title: str) -> str:
        """The heading, without the name if that is the title."""
        is_said = self.names == (title,) and self.what
        return f"{self.what[:1].upper()}{self.what[1:]}" if is_said else self.heading


def explanation_document(word: str) -> Document | None:
    """Explain a word, ignoring case, spaces, hyphens and underscores; None if unknown.

    An exact spelling comes before a name with the same letters: `gc_cpu_fraction` is not
    `GCCPUFraction`.
    """
    found = _terms_called(word)
    spelt = (name for term in found for name in term.names if name.lower() == word.lower())
    word = next(spelt, word)
    headings = [term.heading_under(word) for term in found]
    on_a_page = meaning_of(word)
    if not found and on_a_page is not None:
        found = _terms_called(on_a_page[1].name)
        headings = [f"{word}: {on_a_page[1].name}, on a page of Prometheus metrics"]
        headings += [term.heading for term in found]
        found = [Term((word,), "", ()), *found]
    if not found:
        return None
    sections = [
        Section(f"term-{number}", heading, term.blocks)
        for number, (heading, term) in enumerate(zip(headings, found, strict=True), start=1)
    ]
    return Document("Term", word, (), None, tuple(sections), f"gomem {version('gomem')}")


def unknown_term(word: str) -> str:
    """The error for an unknown word, with the most similar term."""
    near = did_you_mean(word, dict.fromkeys(name for term in terms() for name in term.names))
    return f"{word}: unknown term{near or '; try HeapIdle, LazyFree or RSS'}"


@cache
def terms() -> tuple[Term, ...]:
    """All terms, common words first."""
    makers = (
        _glossary, _runtime_metrics, _findings, _missing_calls, _parts, _thresholds, _json_fields,
        _columns,
    )  # fmt: skip
    return tuple(term for make in makers for term in make())


def _terms_called(word: str) -> list[Term]:
    """Terms of that name, by the closest spelling; equal explanations only once."""
    letters = partial(re.sub, r"[^\w.:/*]|_", "")
    for key in (str, str.lower, lambda name: letters(name.lower())):
        by_text: dict[Any, Term] = {}
        for term in terms():
            if key(word) in map(key, term.names):
                by_text.setdefault(term.blocks, term)
        if by_text:
            return list(by_text.values())
    return []


# Kinds of terms


def _glossary() -> Iterator[Term]:
    for entry in tomllib.loads(text_beside("gomem.views", "explain", "glossary.toml"))["entry"]:
        said = {name: " ".join(words.split()) for name, words in entry.items()
                if isinstance(words, str)}  # fmt: skip
        paragraphs = [said["means"]]
        paragraphs += [f"Source: {said['comes_from']}."] if "comes_from" in said else []
        paragraphs += [said["is_not"]] if "is_not" in said else []
        if "facts" in entry:
            facts = " ".join(Fact[name].sentence for name in entry["facts"])
            paragraphs.append(f"By release: {facts}")
        related = (Codes("See also", tuple(entry["related"])),) if "related" in entry else ()
        yield Term(tuple(entry["names"]), "", (*map(Paragraph, paragraphs), *related))


def _runtime_metrics() -> Iterator[Term]:
    """Every metric of the package runtime/metrics."""
    table = tomllib.loads(text_beside("gomem.views", "explain", "runtime_metrics.toml"))
    for metric in table["metric"]:
        field = metric.get("field")
        said = [" ".join(metric["means"].split()), f"In MemStats: {field}." if field else ""]
        what = f"metric of runtime/metrics, since Go {metric['since']}"
        yield Term((metric["name"],), what, tuple(Paragraph(words) for words in said if words))
    for since, settings in table["godebug"].items():
        for setting in settings.split():
            name = f"/godebug/non-default-behavior/{setting}:events"
            means = (
                f"How often the program behaved differently because GODEBUG sets {setting} to "
                "another value than the default of the release."
            )
            what = f"metric of runtime/metrics, since Go {since}"
            yield Term((name,), what, (Paragraph(means),))


def _findings() -> Iterator[Term]:
    for cause in CAUSES:
        is_what = (sys.modules[cause.rule.__module__].__doc__ or "").partition("\n\n")[0].strip()
        said = (is_what, cause.mechanism, text("What to do: {}", cause.remedy))
        blocks = [Paragraph(words) for words in said if words]
        if cause.references:
            blocks.append(Paragraph(f"Further reading: {', '.join(cause.references)}."))
        yield Term((cause.code,), "finding", tuple(blocks))


def _missing_calls() -> Iterator[Term]:
    """Calls that a finding can report as missing, by name, call and related functions."""
    for row in signatures():
        shown_by = Codes("Shown by", row.frames or row.states)
        held = f"Go releases: {row.releases}. " if row.releases else ""
        read = f"Read in {row.module}. " if row.module else ""
        words = (f"Likely missing: {row.call}", row.why, f"{held}{read}See {row.reference}.")
        said = [Paragraph(sentence) for sentence in words]
        yield Term((row.name, *row.frames), "call that can be missing", (*said, shown_by))


def _parts() -> Iterator[Term]:
    for words, what in ((PARTS, "part of the ledger"), (GROUPS, "group of the ledger")):
        for name, means in words.items():
            yield Term((name,), what, (Paragraph(f"{means[:1].upper()}{means[1:]}."),))


def _thresholds() -> Iterator[Term]:
    """An overview of all thresholds with defaults, then each threshold."""
    every = Codes("Defaults", tuple(f"{name}={default}" for name, default, _ in thresholds()))
    way = (
        "Values from which gomem reports a finding. gomem report --threshold NAME=VALUE sets a "
        "threshold, in its base unit."
    )
    yield Term(("thresholds", "threshold"), "", (Paragraph(way), every))
    for name, default, words in thresholds():
        means = f"{words} By default {default}; --threshold {name}=… sets it."
        yield Term((name,), "threshold", (Paragraph(means),))


def thresholds() -> Iterator[tuple[str, Any, str]]:
    """Yield each threshold's name, default and description, from the docstring of its class."""
    usual = {field.name: field.default for field in fields(Thresholds)}
    for name, words in _THRESHOLD.findall(inspect.getdoc(Thresholds) or ""):
        yield name, usual[name], " ".join(words.split())


def _json_fields() -> Iterator[Term]:
    """Fields of the JSON that commands write; fields with the same meaning are one term."""
    places: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for command in SCHEMAS:
        for path, schema in properties(schema_of(command)):
            *where, name = (part for part in path if part != EACH)
            said = schema.get("description", ""), schema.get("x-unit", "")
            places[name, *said].append(".".join((command, *where)))
    for (name, means, unit), found in places.items():
        what = f"JSON field of {first_few(list(dict.fromkeys(found)), SHOWN_PLACES)}"
        yield Term((name,), what, _paragraph(means, unit))


def properties(schema: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Yield each field of a JSON Schema with its path; `EACH` stands for list elements."""
    for name, inner in schema.get("properties", {}).items():
        yield (*path, name), inner
        yield from properties(inner, (*path, name))
    if "items" in schema:
        yield from properties(schema["items"], (*path, EACH))
    for inner in (*schema.get("oneOf", ()), *schema.get("anyOf", ())):
        yield from properties(inner, path)


def _columns() -> Iterator[Term]:
    """Every column of every frame, from the data dictionaries."""
    wanted = {kind.reader.partition(".")[0]: kind.wanted for kind in reversed(KINDS)}
    # A heap dump has the columns of MemStats; only MemStats defines them.
    own_last = sorted(dictionaries(), key=lambda found: ".heapdump." in found[0])
    for module, name, columns in own_last:
        inside = module.split(".")[1:]
        source = wanted.get(inside[1], inside[-1].replace("_", " "))
        for column in columns:
            of = name.lower().replace("_", " ")
            what = f"column of {of}" + f", from {source}" * (source != of)
            yield Term((column.name,), what, _paragraph(column.means, column.unit))


def dictionaries() -> Iterator[tuple[str, str, tuple[Column, ...]]]:
    """Yield the module, name and columns of each data dictionary, including imported ones."""
    for folder in FRAME_FOLDERS:
        package = import_module(f"gomem.{folder}")
        for found in walk_packages(package.__path__, f"{package.__name__}."):
            for name, value in vars(import_module(found.name)).items():
                if isinstance(value, tuple) and value and all(isinstance(v, Column) for v in value):
                    yield found.name, name, value


def _paragraph(means: str, unit: str) -> tuple[Paragraph]:
    """The meaning, with the unit."""
    return (Paragraph(f"{means} Unit: {UNIT_NAMES.get(unit, unit)}." if unit else means),)
