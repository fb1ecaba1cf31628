"""What an output shows of the machine it was made on, because reports get shared.

Home directories (shown as `~`) and the capture's location are always hidden. A redacted output also
hides the names of captures, their folders and their moments (which are numbered instead), and text
from files. It keeps the names of files, functions and programs, kinds and digests, because a reader
needs them to act.

`share` is the last pass over a finished document or finished JSON, including the words in figures.
It never searches for names, because a name can be any word or number. The type of each part of a
text decides whether it is shown (see `gomem.text`). Afterwards all texts are plain strings.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import cache
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any, TypeVar

from gomem.text import CaptureName, Command, File, MomentName, Name, Quoted, Text

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import pandas as pd

    from gomem.capture.capture import Capture
    from gomem.text import Part
    from gomem.views.document import Figure

UNNAMED = "capture"
LEFT_OUT = "…"  # in a sentence, for text out of a file
T = TypeVar("T")

_HOME = re.compile(
    r"(?<![\w.~-])(?:/home/[^/\s:'\"]+|/Users/[^/\s:'\"]+|/root)(?=[/\s:'\"]|$)"
    r"|\b[A-Za-z]:\\Users\\[^\\\s:'\"]+"
)
_NO_TEXT = frozenset({bool, int, float, type(None)})


def without_home(text: str) -> str:
    """A text with `~` for each home directory in it."""
    return _HOME.sub("~", text)


@dataclass(frozen=True)
class Hidden:
    """What stands for each name and path."""

    # What to show for each moment of a redacted output.
    moments: Mapping[str, str] = field(default_factory=dict)
    # What to show for a file's path there; others lose their folders.
    paths: Mapping[str, str] = field(default_factory=dict)
    redact: bool = False  # whether more is hidden than home directories and where the capture lies

    @classmethod
    def of(cls, *captures: Capture, redact: bool = False) -> Hidden:
        """What is to be hidden of these captures, whose moments are numbered together."""
        if not redact:
            return cls()
        names = dict.fromkeys(name for capture in captures for name in capture.by_moment)
        moments = {str(name): f"moment-{n}" for n, name in enumerate(names, start=1)}
        paths: dict[str, str] = {}
        for capture in captures:
            places = zip(capture.artefacts["path"], capture.artefacts["moment"], strict=True)
            paths |= {str(path): _file_name(path, moments.get(at, "")) for path, at in places}
        return cls(moments, paths, redact)

    def text(self, text: str) -> str:
        """A text as it may be shown."""
        if not isinstance(text, Text):
            return _words(text)
        parts = text.parts
        if self.redact and len(parts) == 1 and isinstance(parts[0], Quoted):
            return ""
        return "".join(map(self._part, parts))

    def _part(self, part: Part) -> str:
        """A name by what it is of; words and numbers as they are."""
        if not isinstance(part, Name):
            return self.text(part.value) if isinstance(part, Command) else _words(part)
        if isinstance(part, CaptureName):
            last = PurePosixPath(part.value.replace("\\", "/")).name
            return UNNAMED if self.redact or last in {"", ".."} else without_home(last)
        if not self.redact:
            return without_home(str(part))
        if isinstance(part, MomentName):
            return self.moments.get(part.value, "another moment")
        if isinstance(part, File):
            return self.paths.get(part.value) or _file_name(part.value)
        return LEFT_OUT if isinstance(part, Quoted) else str(part)


def _words(words: str) -> str:
    return without_home(words) if "/" in words or "\\" in words else str(words)


def _file_name(path: str, moment: str = "") -> str:
    return "/".join(filter(None, (moment, PurePosixPath(path).name)))


def share(finished: T, hidden: Hidden) -> T:
    """The same document or JSON, with every text in it as it may be shown.

    Goes through dataclasses, lists, tuples, dictionaries and frames, and through what a figure is
    drawn of.
    """
    whole: Any = finished
    if type(whole) in _NO_TEXT:  # first, as most of a document's ten thousands of parts are
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
    # A dataclass with what changed in its fields; what has none is nothing that holds text.
    kind: Any = type(whole)
    changed = {
        name: shown
        for name in _fields(kind)
        if (shown := share(part := getattr(whole, name), hidden)) is not part
    }
    return replace(whole, **changed) if changed else whole


def _shared_figure(figure: Figure, hidden: Hidden) -> Figure:
    """Whose numbers are looked at when somebody draws it."""
    numbers = figure.numbers
    return replace(
        figure, caption=hidden.text(figure.caption), numbers=lambda: share(numbers(), hidden)
    )


@cache
def _fields(of: Any) -> tuple[str, ...]:
    """What a dataclass is made of; nothing if it is none."""
    return tuple(part.name for part in fields(of) if part.init) if is_dataclass(of) else ()


def _key(key: Any, hidden: Hidden) -> Any:
    return hidden.text(key) if isinstance(key, Text) else key


def _shared_frame(frame: pd.DataFrame, hidden: Hidden) -> pd.DataFrame:
    changed = {}
    for name, dtype in frame.dtypes.items():
        if str(dtype) in {"object", "str"}:
            values = frame[name].tolist()
            shown = share(values, hidden)
            if shown is not values:
                changed[str(name)] = shown
    return frame.assign(**changed) if changed else frame


# By their names: what is shown without figures, or without frames, need not load them for this.
_SHARED: dict[str, Callable[[Any, Hidden], Any]] = {
    "DataFrame": _shared_frame,
    "Figure": _shared_figure,
}
