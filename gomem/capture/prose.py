"""Facts in the text around pastes that no frame has: sizes, settings, the system."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gomem.capture.pasted import MAX_BYTES, prose_in, sentences_in
from gomem.capture.used_numbers import sizes_apart
from gomem.inputs.environ.containers import container_settings
from gomem.inputs.environ.parse import looks_like_environ, settings_named
from gomem.inputs.json_text import is_json_alone
from gomem.inputs.kinds import kind_of
from gomem.inputs.kubernetes import (
    limits_set,
    said_of_a_kill,
    use_beside_limit,
    without_bounds,
)
from gomem.inputs.markdown import outside_fences
from gomem.inputs.named_sizes import without_limits
from gomem.inputs.processes.consumed import UnitLimit, limit_of_unit, peak_beside_limit
from gomem.inputs.processes.row import rounded_size
from gomem.inputs.said_sizes import MEMORY_WORDS, SIZE, memory_sizes
from gomem.inputs.shown_by_tools import sizes_by_tools
from gomem.inputs.system import system_of
from gomem.inputs.told import told_in
from gomem.inputs.unwrap import plain_characters
from gomem.inputs.used_of_limit import limits_in_words
from gomem.releases import GoVersion, known_version, stated_release
from gomem.text import File, Quoted, Text, joined, text

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from gomem.capture.moment import Artefact
    from gomem.inputs.told import Told
    from gomem.sources.artefact import Source

HEAD_BYTES = 1 << 16  # searched for the Go release
NAMED = 3  # sizes, or settings
# What a person's script printed of numbers that it added up: `Total RSS: 448.5 MB`.
_SCRIPTED = re.compile(
    rb"(?:total|sum|all)\b[^\n:=]{0,40}?\b(?:rss|pss|uss|mem(?:ory)?)\b[^\n:=]{0,20}[:=] ?"
    rb"\d[\d.,]{0,15} ?[KMGT]i?B",
    re.IGNORECASE,
)
# Goroutines counted in a sentence; people write coroutines, too.
_COUNT = (
    rb"(?<![\w.,:])\d{1,3}(?:[ ,']?\d{3}){0,4}(?:\.\d{1,2})?"
    rb"(?: ?(?:k|m|(?:thousand|million)s?)\b)?(?![\w%]|\.\d)"
)
_NO_TIME = rb"(?! ?(?:m?s|sec\w*|m|min\w*|h|hours?|days?|[KMG]i?B)\b)"
_COUNTED = re.compile(
    rb"(?:\bfrom " + _COUNT + rb" (?:up )?to )?" + _COUNT
    + rb"\+?(?: (?:\w+ed|\w+ing|stuck|idle|new|live|active))? [gc]o-?routines\b"
    rb"|\b[gc]o-?routines? \(" + _COUNT + rb"\)"
    rb"|\b[gc]o-?routines?(?: [a-z]+){0,4} from " + _COUNT + rb" (?:up )?to " + _COUNT + _NO_TIME
    + rb"|\b[gc]o-?routines?(?:'s)?(?: counts?| numbers?)? (?:went|goes|grew|grows?|rose|rises?|"
    rb"climb(?:s|ed)|increase[sd]?|jump(?:s|ed)) (?:up )?to " + _COUNT + _NO_TIME
    + rb"|\b(?:number of [gc]o-?routines|[gc]o-?routine count)(?:[:=]| is| was) ?" + _COUNT,
    re.IGNORECASE,
)  # fmt: skip
# A profile's first line, quoted in a sentence; of a profile that was read, the number is known.
_TOTAL = re.compile(rb"\bgoroutine profile: total \d{1,9}\b")
# A limit of something else than a process's memory, or one that it had, or could have.
_OTHER_LIMIT = re.compile(
    rb"\b(?:upload|body|file|disk|rate|cache|message|buffer|batch|page|heap|soft|old|previous)s?"
    rb"(?:[ -]\w{1,12}){0,2}[ -]limit|\b(?:if|would|could|should|GOMEMLIMIT|SetMemoryLimit"
    rb"|(?:rais|increas|lower|reduc|chang)(?:es?|ed|ing))\b",
    re.IGNORECASE,
)
_SENTENCES = re.compile(rb"(?<=[.!?]) +")
_PLANNED = re.compile(rb"\b(?:going to|will be|planned|plan to|next|soon)\b", re.IGNORECASE)
# What the digits of a line are, if it says a size and nothing else that a tool could have printed;
# and the kernel's rows, such as those of smaps.
_NO_STATEMENT = re.compile(rb"[={}|\[\];@]|\d\d:\d\d|0x|:(?:\t|  )[ \t]*\d+ kB$")
MAX_STATEMENT, MAX_SIZES = 120, 2  # a row of a tool has more sizes
_SAID = (use_beside_limit, peak_beside_limit, said_of_a_kill, sizes_by_tools)


def first_quoted(words: Sequence[str]) -> Text:
    """Return the first few of several words, quoted, with an ellipsis if there are more."""
    more = ", …" if words[NAMED:] else ""
    return text("{}{}", joined(", ", map(Quoted, words[:NAMED])), more)


@dataclass
class Prose:
    """Facts in a capture's texts, outside the pasted artefacts."""

    sizes: list[str] = field(default_factory=list)
    told: list[Told] = field(default_factory=list)  # tables and sentences that are told whole
    counts: list[str] = field(default_factory=list)  # of goroutines
    uses: list[Text] = field(default_factory=list)  # by its sentences: use beside a limit, a limit
    # By its sentences, and whether each is one that is planned.
    limits: dict[str, bool] = field(default_factory=dict)
    described: dict[str, int] = field(default_factory=dict)  # limits that container files set
    unit: UnitLimit | None = None  # the last that a text has
    settings: dict[str, str] = field(default_factory=dict)  # each with its first file
    used: set[str] = field(default_factory=set)  # variables that a container's description sets
    systems: set[str] = field(default_factory=set)
    releases: dict[str, str] = field(default_factory=dict)  # Go releases, by file

    def add(self, source: Source) -> None:
        """Add the facts of one text."""
        sizes, counts, limits = _in_sentences(source)
        self.sizes += sizes
        self.counts += counts
        self.limits.update(limits)
        head = plain_characters(source.data[:HEAD_BYTES])
        if b"\0" not in head:
            found = (each for each in told_in(head) if not each.data or kind_of(each.data) is None)
            self.told += found
        for compare in _SAID if b"\0" not in head else ():
            if (said := compare(head)) and said not in self.uses:
                self.uses.append(said)
        self.described |= limits_set(head) if b"\0" not in head else {}
        self.unit = (limit_of_unit(head) if b"\0" not in head else None) or self.unit
        settings = dict.fromkeys(_settings_in_text(source), source.name)
        self.settings = settings | self.settings
        self.used.update(container_settings(source.data))
        self.systems.add(system_of(source.data))
        if b"\0" not in head and (release := stated_release(head)):
            self.releases[source.name] = release

    @property
    def limit(self) -> UnitLimit | None:
        """The limit of a unit; else the only one of sentences, or of container files; or None."""
        if self.unit is not None:
            return self.unit
        described = frozenset(self.described.values())
        only = next(iter(self.limits.items())) if len(self.limits) == 1 else ("", False)
        written, is_planned = only
        if (size := rounded_size(written.encode())) is not None:
            return UnitLimit(
                written, size.bytes, is_said=True, is_planned=is_planned, described=described
            )
        if len(described) == 1:
            written, limit = next(iter(self.described.items()))
            return UnitLimit(written, limit, is_said=True, described=described)
        return UnitLimit(described=described) if described else None

    @property
    def release(self) -> GoVersion:
        """The Go release that all texts state; unknown if none does, or if they differ."""
        if len(set(self.releases.values())) != 1:
            return GoVersion()
        name, release = next(iter(self.releases.items()))
        return known_version(release, text("{}", File(name))) or GoVersion()

    @property
    def system(self) -> str:
        """The operating system that all texts name; empty if Linux, or if the texts differ."""
        return next(iter(self.systems)) if len(self.systems) == 1 else ""

    def beside(self, message: str) -> Text:
        """What the text says that an error message does not; empty if that is nothing.

        Sentences on use beside a limit, else sizes that the message does not name; tables.
        """
        said = list(self.uses)
        if self.sizes and not said and not any(size in message for size in self.sizes):
            said.append(text("sizes in the text are not used ({})", first_quoted(self.sizes)))
        told = (each for each in self.told if not each.is_in(message))
        said += [text("the text {}", each.what) for each in told]
        return text("; {}", joined("; ", said)) if said else Text()

    def told_beside(self, artefacts: Sequence[Artefact]) -> tuple[Text, ...]:
        """What the text says in a form of its own, if it has sizes that no artefact has."""
        return tuple(each.what for each in self.told if sizes_apart(each.sizes, artefacts))

    def sizes_apart(self, artefacts: Sequence[Artefact]) -> tuple[str, ...]:
        """The sizes in sentences that no artefact has, and nothing that is told beside one."""
        return sizes_apart(self.sizes, artefacts, [s for each in self.told for s in each.sizes])

    def unused_settings(self, artefacts: Iterable[Artefact]) -> dict[str, str]:
        """Return the settings of variables that no environment in the capture has, with files."""
        environments = (file.parsed for file in artefacts if file.kind.name == "environ")
        known = self.used.union(*(environ.variables for environ in environments))
        named = self.settings.items()
        return {each: name for each, name in named if each.partition("=")[0] not in known}


def _in_sentences(source: Source) -> tuple[list[str], list[str], dict[str, bool]]:
    """Return sizes and goroutine counts that no parser reads, in prose or by a script; limits."""
    data = source.data
    if len(data) > MAX_BYTES or b"\0" in data or is_json_alone(data):
        return [], [], {}
    lines = plain_characters(data).split(b"\n")
    places = prose_in(lines) | sentences_in(lines) | _statements_in(lines)
    written = [lines[place] for place in sorted(places)]
    bare = without_bounds(b"\n".join(lines)).split(b"\n")
    found = (memory_sizes(without_limits(bare[place])) for place in sorted(places))
    sizes = [size.decode() for sizes in found for size in sizes]
    summed = (_SCRIPTED.fullmatch(line.strip()) for line in lines)
    sizes += [found[0].decode("utf-8", "replace") for found in summed if found]
    sentences = (said for line in written for said in _SENTENCES.split(line))
    of_memory = [without_limits(said) for said in sentences if not _OTHER_LIMIT.search(said)]
    planned = limits_in_words(b"\n".join(filter(_PLANNED.search, of_memory)))
    limits = {size: size in planned for size in limits_in_words(b"\n".join(of_memory))}
    counts = [count for line in written for count in _COUNTED.findall(line)]
    return sizes, [count.decode() for count in (*counts, *_TOTAL.findall(data))], limits


def _statements_in(lines: Sequence[bytes]) -> set[int]:
    """The short lines outside of fences that say sizes alone, or goroutines: `RSS 3.9GB`."""
    found: set[int] = set()
    for place, line in outside_fences(lines):
        if len(line) > MAX_STATEMENT or _NO_STATEMENT.search(line):
            continue
        words, sizes = SIZE.subn(b"", line) if MEMORY_WORDS.search(line) else (line, 0)
        if (0 < sizes <= MAX_SIZES and not re.search(rb"\d", words)) or _COUNTED.search(line):
            found.add(place)
    return found


def _settings_in_text(source: Source) -> tuple[str, ...]:
    """Return runtime variables set anywhere in a text, verbatim: `GOMEMLIMIT=320MiB`."""
    data = source.data
    if len(data) > MAX_BYTES or b"\0" in data or looks_like_environ(data, source.name):
        return ()
    return settings_named(data)
