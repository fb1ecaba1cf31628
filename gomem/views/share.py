"""Hides details of the machine in outputs, because reports get shared.

Home directories (shown as `~`) and the capture's location are always hidden. A redacted output also
hides folder names and text that was read from files, and replaces the names of captures, moments,
instances, builds, labels and the like with numbers; equal names get equal numbers. It keeps the
names of files, functions and programs, kinds and digests, because a reader needs them to act.

`share` is the last pass over a finished document, finished JSON or a frame, including the words in
figures. It never searches for names, because a name can be any word or number. The type of each
part of a text decides whether it is shown (see `gomem.text`); for columns of a frame, the data
dictionary has the type. Afterwards all texts are plain strings.
"""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cache
from pathlib import PurePath, PurePosixPath
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import urlsplit

from gomem.inputs.schema import as_it_is, maker_of
from gomem.numbered import Address, Build, Label, Metric, Numbered, Unit, Value
from gomem.shell import Argument
from gomem.sources.paths import ARCHIVE_SUFFIXES
from gomem.text import (
    CaptureName,
    Command,
    File,
    Function,
    Mapped,
    MomentName,
    Name,
    Program,
    Quoted,
    Text,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    import pandas as pd

    from gomem.capture.capture import Capture
    from gomem.text import Part
    from gomem.views.document import Figure

UNNAMED = "capture"
LEFT_OUT = "…"  # placeholder for text from a file
T = TypeVar("T")

_HOME = re.compile(
    r"(?<![\w.~-])(?:/home/[^/\s:'\"]+|/Users/[^/\s:'\"]+|/root)(?=[/\s:'\"]|$)"
    r"|\b[A-Za-z]:\\Users\\[^\\\s:'\"]+"
)
_LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})
_NO_TEXT = frozenset({bool, int, float, type(None)})
_TEXTS = frozenset({"object", "str", "category"})  # dtypes that hold text
_RELEASE = r"go[0-9]+(?:\.[0-9]+){0,2}(?:(?:rc|beta)[0-9]+)?"
_SIZE = r"[+-]?[0-9]+(?:\.[0-9]+)? ?(?:%|pp|[nµum]?s|[KMGT]?i?B)?"
# Common values of each kind, which identify nobody.
_PUBLIC = {
    Build: re.compile(_RELEASE),
    Value: re.compile(
        rf"off|none|unset|default|{_SIZE}|{_RELEASE}|linux|darwin|windows|amd64|arm64"
    ),
    # Labels of the runtime's heap profiles, and names of its metrics.
    Label: re.compile(
        "bytes|nanoseconds|goos|goarch|pkg|cpu"
        "|/(?:cgo|cpu|gc|godebug|memory|sched|sync)/[a-z0-9/-]+:[a-z-]+"
    ),
    Unit: re.compile("(?:sec|s|B|ns|MB|allocs|count|requests|fraction|Hz)(?:/(?:op|s|request))?"),
}
_BUDGET = re.compile(rf"(.*)=({_SIZE})")
_LEVEL = re.compile(r"[A-Za-z]\w*")
_BENCHMARK = re.compile(r"[^a-z/.:\s\[][^/.:\s\[]*")  # end of the function's name
# A function followed by its file, as pprof prints a location: an absolute path, else the last word.
_PLACES = (
    re.compile(r"(.*?) ((?:/|[A-Za-z]:[/\\]).*)", re.DOTALL),
    re.compile(r"(.*) (\S*/\S*)", re.DOTALL),
)
_ANONYMOUS = re.compile(r"(\[anon(?:_shmem)?:(?! ?Go: ) ?)(.*)\]")


def without_home(text: str) -> str:
    """Replace each home directory in a text with `~`."""
    return _HOME.sub("~", text)


@dataclass(frozen=True)
class Hidden:
    """The replacements of names and paths."""

    # The replacement of each moment in redacted output.
    moments: dict[str, str] = field(default_factory=dict)
    # The replacement of a file's path in redacted output; other paths lose their folders.
    paths: dict[str, str] = field(default_factory=dict)
    redact: bool = False  # whether to hide more than home directories and the capture's location
    # The place of the capture, which begins the paths in commands, with its folders if it is
    # shown on the machine itself.
    place: str = ""
    # The replacements of other names, by the word for their kind, numbered in order of use.
    numbers: dict[str, dict[str, str]] = field(default_factory=dict, compare=False)

    @classmethod
    def of(cls, *captures: Capture, redact: bool = False, here: bool = False) -> Hidden:
        """Return what to hide of these captures, with moments numbered across all of them.

        `here` is for the terminal of the person who named the captures: the paths in commands
        begin as the first capture was named, and not with its name alone.
        """
        place = captures[0].place if captures else ""
        if not here:  # files named alone are not in a folder that others know
            place = PurePath(place).name if captures and place == captures[0].name else ""
        hidden = cls(redact=redact, place=place)
        for capture in captures if redact else ():
            hidden.add(capture)
        return hidden

    def add(self, capture: Capture) -> None:
        """Add a capture, and number its moments."""
        for name in map(str, capture.by_moment):
            self.moments.setdefault(name, f"moment-{len(self.moments) + 1}")
        places = zip(capture.artefacts["path"], capture.artefacts["moment"], strict=True)
        for path, at in places:
            self.paths[str(path)] = _file_name(path, self.moments.get(at, ""))

    def numbered(self, kind: type[Numbered], names: Iterable[str]) -> Hidden:
        """Number these names in order, and return self."""
        for name in names:
            self._number(kind.word, str(name))
        return self

    def keeping(self, kind: type[Numbered], names: Iterable[str]) -> Hidden:
        """Keep these names, because they reveal nothing, and return self."""
        self.numbers.setdefault(kind.word, {}).update({name: name for name in names})
        return self

    def alike(self, kind: type[Numbered], name: str, other: str) -> None:
        """Give `other` the same replacement as `name`."""
        self.numbers.setdefault(kind.word, {})[other] = self._number(kind.word, name)

    def text(self, text: str) -> str:
        """Return a text with hidden names replaced."""
        if not isinstance(text, Text):
            return _words(text)
        parts = text.parts
        if self.redact and len(parts) == 1 and isinstance(parts[0], Quoted):
            return ""
        return "".join(map(self._part, parts))

    def _part(self, part: Part) -> str:
        """Replace a name by its kind; words and numbers stay."""
        if isinstance(part, CaptureName):
            last = PurePosixPath(part.value.replace("\\", "/")).name
            return UNNAMED if self.redact or last in {"", ".."} else without_home(last)
        if isinstance(part, Argument) and not self.redact:
            return str(Argument(without_home(str(PurePath(self.place, part.value)))))
        if isinstance(part, Name):
            return self._name(part) if self.redact else without_home(str(part))
        return self._command(part.value) if isinstance(part, Command) else _words(part)

    def _command(self, command: Text) -> str:
        """A command; a pager is given a file of an archive, which it cannot open itself."""
        is_packed = self.place.lower().endswith(ARCHIVE_SUFFIXES) and not self.redact
        pager, file = command.parts[0], command.parts[-1]
        if not (is_packed and pager.startswith("less ") and isinstance(file, Argument)):
            return self.text(command)
        archive = Argument(without_home(self.place))
        inside = Argument(f"*{PurePosixPath(file.value).name}")
        is_zip = self.place.lower().endswith(".zip")
        take = f"unzip -p {archive}" if is_zip else f"tar -xOf {archive} --wildcards"
        return f"{take} {inside} | {pager.strip()}"

    def _name(self, part: Name) -> str:
        """The replacement of a name in redacted output."""
        if isinstance(part, MomentName):
            return self.moments.get(part.value, "another moment")
        if isinstance(part, Numbered):
            return self._numbered(part)
        if isinstance(part, File):
            return self._file(part)
        if isinstance(part, Program):
            return _file_name(part.value)
        if isinstance(part, Function):
            return _function(part)
        return LEFT_OUT

    def _file(self, file: File) -> str:
        """A path without its folders; anonymous memory keeps only names given by the runtime."""
        if isinstance(file, Mapped) and (named := _ANONYMOUS.fullmatch(file.value)):
            return f"{named[1]}{self._number('mapping', named[2])}]"
        return self.paths.get(file.value) or _file_name(file.value)

    def _numbered(self, part: Numbered) -> str:
        """The number of a name; common names stay."""
        value = part.value
        if isinstance(part, Metric):
            return self._measured(value)
        if isinstance(part, Address):
            return self._address(value)
        if isinstance(part, Value):
            return ", ".join(self._by_number(Value, each) for each in value.split(", "))
        return self._by_number(type(part), value)

    def _address(self, value: str) -> str:
        """A URL without its path; other machines without their names."""
        with suppress(ValueError):
            parts = urlsplit(value)
            if parts.hostname is not None:
                is_near = parts.hostname in _LOOPBACK
                host = parts.hostname if is_near else self._number(Address.word, parts.hostname)
                return f"{parts.scheme}://{host}" + f":{parts.port}" * (parts.port is not None)
        return self._number(Address.word, value)

    def _measured(self, value: str) -> str:
        """A benchmark's function without its case; levels, units and their budgets stay."""
        if budget := _BUDGET.fullmatch(value):
            return f"{self._measured(budget[1])}={budget[2]}"
        if _PUBLIC[Unit].fullmatch(value) or _LEVEL.fullmatch(value):
            return value
        level, colon, unit = value.rpartition(":")
        if colon and " " not in value:
            return f"{self._measured(level)}:{self._by_number(Unit, unit)}"
        function = _BENCHMARK.match(value)
        case = "" if function and function.end() == len(value) else self._number("case", value)
        return "/".join(filter(None, (function and function[0], case)))

    def _by_number(self, kind: type[Numbered], value: str) -> str:
        public = _PUBLIC.get(kind)
        if not value or (public is not None and public.fullmatch(value)):
            return value
        return self._number(kind.word, value)

    def _number(self, word: str, name: str) -> str:
        known = self.numbers.setdefault(word, {})
        return known.setdefault(name, f"{word}-{len(known) + 1}")


def _words(words: str) -> str:
    return without_home(words) if "/" in words or "\\" in words else str(words)


def _function(name: str) -> str:
    """A function; if its file follows, the file without its folders."""
    found = next(filter(None, (place.fullmatch(name) for place in _PLACES)), None)
    return name if found is None else f"{found[1]} {_file_name(found[2])}"


def _file_name(path: str, moment: str = "") -> str:
    return "/".join(filter(None, (moment, PurePosixPath(path).name)))


def share(finished: T, hidden: Hidden) -> T:
    """Return the document, JSON or frame with hidden names replaced in every text.

    Traverses dataclasses, lists, tuples, dictionaries and frames, and the data of figures.
    """
    whole: Any = finished
    # first, because most of a document's ten thousand parts have no text
    if type(whole) in _NO_TEXT:
        return whole
    if isinstance(whole, str):
        return hidden.text(whole)  # type: ignore[return-value]
    if isinstance(whole, list | tuple):
        items = [share(item, hidden) for item in whole]
        is_same = all(new is old for new, old in zip(items, whole, strict=True))
        return whole if is_same else type(whole)(items)  # type: ignore[return-value]
    if isinstance(whole, dict):
        return {_key(key, hidden): share(value, hidden) for key, value in whole.items()}  # type: ignore[return-value]
    if shared := _SHARED.get(type(whole).__name__):
        return shared(whole, hidden)
    # A dataclass is copied only if a field changed; a class without fields has no text.
    kind: Any = type(whole)
    changed = {
        name: shown
        for name in _fields(kind)
        if (shown := share(part := getattr(whole, name), hidden)) is not part
    }
    return replace(whole, **changed) if changed else whole


def _shared_figure(figure: Figure, hidden: Hidden) -> Figure:
    """A figure whose numbers are redacted when it is drawn."""
    numbers = figure.numbers
    return replace(
        figure, caption=hidden.text(figure.caption), numbers=lambda: share(numbers(), hidden)
    )


@cache
def _fields(of: Any) -> tuple[str, ...]:
    """The fields of a dataclass; empty for other classes."""
    return tuple(part.name for part in fields(of) if part.init) if is_dataclass(of) else ()


def _key(key: Any, hidden: Hidden) -> Any:
    return hidden.text(key) if isinstance(key, Text) else key


def _shared_frame(frame: pd.DataFrame, hidden: Hidden) -> pd.DataFrame:
    """A frame with text redacted by the types in the data dictionary."""
    told, changed = frame.attrs.get("columns", {}), {}
    for name, dtype in frame.dtypes.items():
        if str(dtype) in _TEXTS:
            make = maker_of(told.get(name)) if hidden.redact else as_it_is
            values = frame[name].tolist()
            shown = share(values if make is as_it_is else list(map(make, values)), hidden)
            if shown is not values:
                changed[str(name)] = shown
    return frame.assign(**changed) if changed else frame


# By name, so that output without figures or frames need not import them.
_SHARED: dict[str, Callable[[Any, Hidden], Any]] = {
    "DataFrame": _shared_frame,
    "Figure": _shared_figure,
}
