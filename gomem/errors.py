"""Problems with an input: as data for the report, or as an error that ends the command."""

from __future__ import annotations

import errno
import json
import re
import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gomem.text import Count, File, Quoted, Text, Words, text

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gomem.text import Part

EXCERPT_CHARACTERS = 160
NO_THREAD = "can't start new thread"  # Python's words


EXCERPT = "an excerpt: "  # begins what is wrong with it
_DOTS = re.compile(r"\W{0,3}(?:\.{2,}|\u2026|snip\w{0,4})\W{0,9}")  # stand for lines left out


@dataclass(frozen=True, slots=True)
class Damage:
    """A part of an input that could not be read; it is kept, counted and shown, never dropped."""

    source: str  # the artefact, usually by its path inside the capture
    where: str  # the place in it, such as `line 88` or `byte 40961`; empty for the whole file
    what: str  # what was found and what was expected, and how to fix it if there is a way
    text: str = ""  # the offending text, shortened

    def __post_init__(self) -> None:
        """Mark names as names, so that callers need not."""
        object.__setattr__(self, "source", File(self.source))
        object.__setattr__(self, "text", Quoted(self.text))

    @property
    def place(self) -> Text:
        """The source and the place in it, as `source: place`: the prefix of messages."""
        return Text(self.source, f": {self.where}" * bool(self.where))

    @property
    def message(self) -> Text:
        """What is wrong and where, on one line."""
        quoted = Quoted(repr(str(self.text))) if self.text else ""
        return text("{}: {}{}{}", self.place, self.what, ": " if quoted else "", quoted)

    @property
    def is_excerpt(self) -> bool:
        """Whether a person left lines out, all others being whole: dots stand there, or totals."""
        return self.what.startswith(EXCERPT) or _DOTS.fullmatch(str(self.text)) is not None

    def __str__(self) -> str:
        return str(self.message)


def counted_places(damaged: Iterable[Damage]) -> list[Text]:
    """Count the places that could not be read, and those where a person left lines out."""
    places = list(damaged)
    unread = sum(not place.is_excerpt for place in places)
    counts = (
        (unread, "place could not be read", "places could not be read"),
        (len(places) - unread, "place with lines left out", "places with lines left out"),
    )
    return [Text(Count(size, noun, plural)) for size, noun, plural in counts if size]


def nearest(word: object, known: Iterable[str]) -> str | None:
    """Return the valid word nearest to a mistyped one, ignoring case; None if none is near."""
    from difflib import get_close_matches  # needed only after a typo

    by_lower = {name.lower(): name for name in known}
    near = get_close_matches(str(word).lower(), by_lower, n=1)
    return by_lower[near[0]] if near else None


def did_you_mean(word: object, known: Iterable[str], kind: type[Part] = Words) -> Text:
    """Return the suffix `; did you mean …?` for an unknown word; empty if no known word is near.

    `kind` is the type of the known words as parts of the text: gomem's own words by default.
    """
    near = nearest(word, known)
    return Text() if near is None else text("; did you mean {}?", kind(near))


class FormatError(ValueError):
    """An artefact that cannot be parsed; the message says where, what was found and wanted."""

    def __init__(self, source: str, where: str, what: str, text: str = "") -> None:
        self.damage = Damage(source, where, what, text)
        super().__init__(str(self.damage))

    @property
    def message(self) -> Text:
        """The message as a text whose parts keep their types, for redaction."""
        return self.damage.message


class CaptureError(Exception):
    """A capture or a request that gomem cannot handle; the message says why and how to fix it."""

    @property
    def message(self) -> Text:
        """The message as a text; file names, capture names and user input are typed parts."""
        return Text(*self.args[:1])


def is_out_of_memory(error: BaseException) -> bool:
    """Return whether an error means that memory ran out, or was too short to start a thread."""
    if isinstance(error, OSError):
        return error.errno == errno.ENOMEM
    return isinstance(error, MemoryError) or NO_THREAD in str(error)


_UNUSUAL = re.compile(r"[^\n\x20-\x7e]")
_HARMLESS = re.compile(r"[\x20-\x7e\u00a0\u202f]*")


def printable(text: str) -> str:
    r"""Escape the invisible characters of a text.

    These are control characters (including line breaks), bidirectional marks, and unassigned code
    points: `\x1b`, `\n`, `\u202e`.
    """
    if _HARMLESS.fullmatch(text):
        return text
    return "".join(char if _is_visible(char) else repr(char)[1:-1] for char in text)


def printable_json(written: str) -> str:
    r"""Escape the same characters in JSON, such as `\u202e`; its values stay the same."""
    return _UNUSUAL.sub(_in_json, written)


def _in_json(character: re.Match[str]) -> str:
    found = character[0]
    return found if _is_visible(found) else json.dumps(found)[1:-1]


def _is_visible(character: str) -> bool:
    """Return whether a character is visible; spaces of any width are, separators are not."""
    return character.isprintable() or unicodedata.category(character) == "Zs"


def excerpt(text: bytes | str) -> str:
    """Shorten offending text for a message; bytes that are not UTF-8 become escapes."""
    if isinstance(text, bytes):
        text = text[: 4 * EXCERPT_CHARACTERS].decode("utf-8", "backslashreplace")
    text = text.rstrip("\r\n")
    return text if len(text) <= EXCERPT_CHARACTERS else text[: EXCERPT_CHARACTERS - 1] + "…"
