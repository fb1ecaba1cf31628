"""What an output may show of the machine it was made on: reports get shared.

Always hidden are home directories (`~` stands for them) and where the capture lies. A redacted
output hides in addition the names of captures, of their folders and of their moments (these are
numbered instead), and the text of lines that could not be read. It keeps file names, kinds and
digests, and the names of functions: without those nobody could act on it.

`share` is the last pass over a finished document, or over finished JSON, figures' words included.
A name may be any word, or a number: so a view marks what is a name (`named`), a path (`located`) or
a foreign line (`quoted`) where it puts it into a text, and only what is marked is replaced.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cache, cached_property
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    import pandas as pd

    from gomem.capture.capture import Capture
    from gomem.views.document import Figure

UNNAMED = "capture"
T = TypeVar("T")

_HOME = re.compile(
    r"(?<![\w.~-])(?:/home/[^/\s:'\"]+|/Users/[^/\s:'\"]+|/root)(?=[/\s:'\"]|$)"
    r"|\b[A-Za-z]:\\Users\\[^\\\s:'\"]+"
)
_NO_TEXT = frozenset({bool, int, float, type(None)})
# Unicode keeps these code points for a program's own use: no text has them.
_OPEN, _CLOSE, _NAME, _PATH, _QUOTE = "\ufdd0", "\ufdd1", "\ufdd2", "\ufdd3", "\ufdd4"
_SPOKEN = "\ufdd5"  # a name in a sentence, where a bare number would read as an amount
_KINDS = f"{_NAME}{_PATH}{_QUOTE}{_SPOKEN}"
_MARK = re.compile(f"[{_OPEN}{_CLOSE}{_KINDS}]")
_NOTABLE = re.compile(rf"[/\\{_OPEN}{_CLOSE}{_KINDS}]")  # other texts are shown as they are
_MARKED = re.compile(f"{_OPEN}([{_KINDS}])([^{_OPEN}{_CLOSE}]*){_CLOSE}")


def named(name: str) -> str:
    """Mark the name of a moment or of a capture."""
    return _marked(_NAME, name)


def located(path: str) -> str:
    """Mark the path of a file; file names are never hidden, folders may be."""
    return _marked(_PATH, path)


def quoted(line: str) -> str:
    """Mark text out of a file."""
    return _marked(_QUOTE, line)


def named_all(names: str, known: Collection[str]) -> str:
    """Mark, in a list with commas, the names that are known."""
    return ", ".join(named(name) if name in known else name for name in names.split(", "))


def named_in(sentence: str, known: Collection[str]) -> str:
    """Mark, in a sentence, the known names of moments: they stand behind `at`, `by` and the like.

    A name may be a number or any word, so the word before it, and what ends it, are looked at too.
    """
    names = "|".join(sorted(map(re.escape, known), key=len, reverse=True))
    if not names:
        return sentence
    place = re.compile(rf"(?<=\b(?:at|by|of|to) )({names})(?=[,.:;)]|$| (?:and|to|here|has)\b)")
    return place.sub(lambda found: _marked(_SPOKEN, found[1]), sentence)


def located_all(paths: str) -> str:
    """Mark each path of a list with commas."""
    return ", ".join(map(located, paths.split(", ")))


def _marked(kind: str, text: str) -> str:
    return f"{_OPEN}{kind}{_MARK.sub('', text)}{_CLOSE}" if text else ""


def without_home(text: str) -> str:
    """A text with `~` for each home directory in it."""
    return _HOME.sub("~", text)


@dataclass(frozen=True)
class Hidden:
    """What stands for each name and path.

    Attributes:
        names: What to show for the name of a capture or of a moment; others stay.
        paths: What to show for a file's path; others stay, or lose their folders.
        redact: Whether foreign lines and unknown folders are left out.
    """

    names: Mapping[str, str] = field(default_factory=dict)
    paths: Mapping[str, str] = field(default_factory=dict)
    redact: bool = False

    @classmethod
    def of(cls, *captures: Capture, redact: bool = False) -> Hidden:
        """What is to be hidden of these captures, whose moments are numbered together."""
        names = {_MARK.sub("", one.name): _last_part(one.name, redact=redact) for one in captures}
        if not redact:
            return cls(names)
        moments = dict.fromkeys(str(name) for one in captures for name in one.moments["moment"])
        numbered = {name: f"moment-{n}" for n, name in enumerate(moments, start=1)}
        paths: dict[str, str] = {}
        for one in captures:
            paths |= {damage.source: _file_name(damage.source) for damage in one.damaged}
            places = zip(one.artefacts["path"], one.artefacts["moment"], strict=True)
            paths |= {str(path): _file_name(path, numbered.get(at, "")) for path, at in places}
        names |= {_MARK.sub("", name): number for name, number in numbered.items()}
        return cls(names, {_MARK.sub("", path): shown for path, shown in paths.items()}, redact)

    def text(self, text: str) -> str:
        """A text as it may be shown, without marks."""
        if not _NOTABLE.search(text):
            return text
        pieces = _MARKED.split(text)
        shown = [self._unmarked(pieces[0])]
        for kind, marked, after in zip(pieces[1::3], pieces[2::3], pieces[3::3], strict=True):
            shown += [self._shown(kind, marked), self._unmarked(after)]
        return "".join(shown)

    def _shown(self, kind: str, text: str) -> str:
        if kind in (_NAME, _SPOKEN):
            shown = without_home(self.names.get(text, text))
            return f"moment {shown}" if kind == _SPOKEN and shown.isdecimal() else shown
        if kind == _PATH:
            return self._path(text)
        return "" if self.redact else without_home(text)

    def _path(self, path: str) -> str:
        """A path, or a few words around one; folders of which nothing is known are left out."""
        found = 0
        if self._known_paths is not None:
            path, found = self._known_paths.subn(lambda known: self.paths[known[0]], path)
        return _file_name(path) if self.redact and not found else without_home(path)

    def _unmarked(self, text: str) -> str:
        """A path with a folder is known for what it is wherever it stands."""
        text = _MARK.sub("", text)
        if self._known_paths is not None and "/" in text:
            text = self._known_paths.sub(lambda found: self.paths[found[0]], text)
        return without_home(text) if "/" in text or "\\" in text else text

    @cached_property
    def _known_paths(self) -> re.Pattern[str] | None:
        folders = sorted((path for path in self.paths if "/" in path), key=len, reverse=True)
        if not folders:
            return None
        return re.compile(rf"(?<![\w./-])(?:{'|'.join(map(re.escape, folders))})(?![\w/-]|\.\w)")


def _last_part(name: str, *, redact: bool) -> str:
    last = PurePosixPath(name.replace("\\", "/")).name
    return UNNAMED if redact or last in {"", ".."} else last


def _file_name(path: str, moment: str = "") -> str:
    return "/".join(filter(None, (moment, PurePosixPath(path).name)))


def share(finished: T, hidden: Hidden) -> T:
    """The same document or JSON, with every text in it as it may be shown.

    Goes through dataclasses, lists, tuples, dictionaries and frames, and through what a figure is
    drawn of. The keys of a dictionary are names only where they are marked.

    Args:
        finished: A document, a part of one, or what is to become JSON.
        hidden: What stands for which name.
    """
    return _shared(finished, hidden)


def _shared(one: Any, hidden: Hidden) -> Any:
    if type(one) in _NO_TEXT:  # first, as most of a document's ten thousands of parts are
        return one
    if isinstance(one, str):
        return hidden.text(one)
    if isinstance(one, list | tuple):
        items = [_shared(item, hidden) for item in one]
        same = all(new is old for new, old in zip(items, one, strict=True))
        return one if same else type(one)(items)
    if isinstance(one, dict):
        return {_key(key, hidden): _shared(value, hidden) for key, value in one.items()}
    shared = _SHARED.get(type(one).__name__, _shared_dataclass)
    return shared(one, hidden)


def _shared_figure(figure: Figure, hidden: Hidden) -> Figure:
    """Whose numbers are looked at when somebody draws it."""
    numbers = figure.numbers
    return replace(
        figure, caption=hidden.text(figure.caption), numbers=lambda: share(numbers(), hidden)
    )


def _shared_dataclass(one: Any, hidden: Hidden) -> Any:
    """With what changed in its fields; what has none is nothing that holds text."""
    kind: Any = type(one)
    changed = {
        name: shown
        for name in _fields(kind)
        if (shown := _shared(part := getattr(one, name), hidden)) is not part
    }
    return replace(one, **changed) if changed else one


@cache
def _fields(of: Any) -> tuple[str, ...]:
    """What a dataclass is made of; nothing if it is none."""
    return tuple(part.name for part in fields(of) if part.init) if is_dataclass(of) else ()


def _key(key: Any, hidden: Hidden) -> Any:
    return hidden.text(key) if isinstance(key, str) and _OPEN in key else key


def _shared_frame(frame: pd.DataFrame, hidden: Hidden) -> pd.DataFrame:
    changed = {}
    for name, dtype in frame.dtypes.items():
        if str(dtype) in {"object", "str"}:
            values = frame[name].tolist()
            shown = _shared(values, hidden)
            if shown is not values:
                changed[str(name)] = shown
    return frame.assign(**changed) if changed else frame


# By their names: what is shown without figures, or without frames, need not load them for this.
_SHARED: dict[str, Callable[[Any, Hidden], Any]] = {
    "DataFrame": _shared_frame,
    "Figure": _shared_figure,
}
