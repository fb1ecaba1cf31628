"""Sentences made of typed parts: words, a snapshot, a file, a function, bytes, a share, and so on.

A text is a `str`: it prints, compares, sorts and serialises to JSON as a string does. A text also
keeps its parts. So a view can style a function's name, redaction uses the type of a part,
never its text, and a test checks the number in a title without its wording.

    text("{} grows by {}", Function("main.fill"), Rate(1.2e6))

`text`, `+`, `joined`, `capitalised` and `sentence` keep the parts. Every other string operation,
such as an f-string or a slice, returns a plain string without parts. Names in a plain string cannot
be hidden.
"""

from __future__ import annotations

from string import Formatter
from typing import TYPE_CHECKING, Any, Self, TypeVar

from gomem.units import (
    format_age,
    format_bytes,
    format_count,
    format_fraction,
    format_most,
    format_rate,
    format_seconds,
    is_digits,
    is_unknown,
    minus,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_Kind = TypeVar("_Kind", bound="Part")
_FORMATTER = Formatter()


class Text(str):
    """A string with typed parts; a plain string is one part of type `Words`."""

    __slots__ = ("_parts",)
    _parts: tuple[Part, ...]

    def __new__(cls, *pieces: str) -> Self:
        """Concatenate texts and plain strings; a plain string becomes words."""
        parts = tuple(_merged(part for piece in pieces for part in parts_of(piece)))
        self = super().__new__(cls, "".join(map(str, parts)))
        self._parts = parts
        return self

    @property
    def parts(self) -> tuple[Part, ...]:
        """The parts in order; adjacent words are merged."""
        return self._parts

    def of(self, kind: type[_Kind]) -> tuple[_Kind, ...]:
        """Return the parts of a type."""
        return tuple(part for part in self.parts if isinstance(part, kind))

    def shown(self, show: Callable[[Part], Text]) -> Text:
        """Replace each part by what `show` returns for it; returns itself if nothing changes."""
        parts = tuple(map(show, self.parts))
        if all(new is old for new, old in zip(parts, self.parts, strict=True)):
            return self
        return Text(*parts)

    def capitalised(self) -> Text:
        """Capitalise the first letter, unless the text begins with a name."""
        first, *others = self.parts or (Words(""),)
        if type(first) is not Words:
            return self
        return Text(f"{first[:1].upper()}{first[1:]}", *others)

    def sentence(self) -> Text:
        """Capitalise, and end with a full stop."""
        whole = self.capitalised()
        return whole if not whole or whole.endswith((".", "!", "?")) else whole + "."

    def removeprefix(self, prefix: str, /) -> Text:
        """Remove a prefix, if it ends within words or at the end of a part."""
        left, parts = len(prefix) * self.startswith(prefix), list(self.parts)
        while parts and len(parts[0]) <= left:
            left -= len(parts.pop(0))
        if not left:
            return Text(*parts)
        first, *others = parts
        return Text(Words(first[left:]), *others) if type(first) is Words else self

    def removesuffix(self, suffix: str, /) -> Text:
        """Remove a suffix, if it is within words."""
        *others, last = self.parts or (Words(""),)
        if not suffix or type(last) is not Words or not last.endswith(suffix):
            return self
        return Text(*others, last[: -len(suffix)])

    def __add__(self, other: str) -> Text:
        """Concatenate, and keep the parts of both."""
        return Text(self, other)

    def __radd__(self, other: str) -> Text:
        """Prepend a plain string."""
        return Text(other, self)

    def __mul__(self, times: Any) -> Text:
        """Repeat; with a boolean, return itself or an empty text."""
        return Text(*self.parts * times)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by parts."""
        return Text, self.parts


class Part(Text):
    """One typed part of a text."""

    __slots__ = ("value",)
    value: Any  # its value: a name unchanged, or a number in its base unit

    def __new__(cls, value: Any, *details: Any) -> Self:
        """Create the part as it reads in a sentence."""
        self = str.__new__(cls, cls._reads(value, *details))
        self.value = value
        return self

    @property
    def parts(self) -> tuple[Part, ...]:
        """A tuple of the part itself; empty if the part is empty."""
        return (self,) if self else ()

    @staticmethod
    def _reads(value: Any, *_: Any) -> str:
        return str(value)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by value."""
        return type(self), (self.value,)


class Words(Part):
    """gomem's own words, which need no redaction."""

    __slots__ = ()


class Name(Part):
    """A name from the capture; its type decides whether it can be shared."""

    __slots__ = ()
    value: str

    def __new__(cls, value: object) -> Self:
        """Create the name unchanged."""
        return super().__new__(cls, str(value))


class CaptureName(Name):
    """The name of a capture."""

    __slots__ = ()


# Snapshot names that would be misread in a sentence: "at after", "since before".
ADVERBS = frozenset({"before", "after", "during", "between", "now", "then", "later", "again"})


class MomentName(Name):
    """The name of a snapshot."""

    __slots__ = ()


class NumberedMoment(MomentName):
    """A snapshot named by a number or an adverb, which would be misread in a sentence."""

    __slots__ = ()

    @staticmethod
    def _reads(value: Any, *_: Any) -> str:
        return f'snapshot "{value}"' if value in ADVERBS else f"snapshot {value}"


class File(Name):
    """The path of a file, in the capture or on the recorded machine."""

    __slots__ = ()


class Function(Name):
    """A function, with its package."""

    __slots__ = ()


class Program(Name):
    """A program, by its name, its path or its package."""

    __slots__ = ()


class Mapped(File):
    """The name of a mapping: a file, or a label of anonymous memory."""

    __slots__ = ()


class Quoted(Name):
    """Text quoted from a file or from another source outside gomem."""

    __slots__ = ()


class Command(Part):
    """A command to paste into a shell; names in the command are parts."""

    __slots__ = ()
    value: Text

    def __new__(cls, command: str) -> Self:
        """Create the command unchanged."""
        return super().__new__(cls, Text(command))


class Number(Part):
    """A number, written with as few digits as possible; its value is None if unknown."""

    __slots__ = ()
    value: float | None


def _in_a_sentence(written: Callable[..., str]) -> Any:
    """Format a number for a sentence: brief, with a minus sign."""
    return staticmethod(lambda value, *_: minus(written(value, brief=True)))


class Bytes(Number):
    """An amount of memory."""

    __slots__ = ()
    _reads = _in_a_sentence(format_bytes)


class BytesChange(Bytes):
    """A change in bytes, with its sign."""

    __slots__ = ()

    @staticmethod
    def _reads(value: Any, *_: Any) -> str:
        sign = "+" if not is_unknown(value) and value > 0 else ""
        return f"{sign}{minus(format_bytes(value, brief=True))}"


class BytesBy(BytesChange):
    """A change in bytes without its sign, for use with a word such as `more` or `less`."""

    __slots__ = ()

    @staticmethod
    def _reads(value: Any, *_: Any) -> str:
        return format_bytes(value if is_unknown(value) else abs(value), brief=True)


class Rate(Number):
    """Bytes per second, with the digits that its interval leaves."""

    __slots__ = ("_interval",)
    _interval: tuple[float | None, float | None]

    def __new__(
        cls, value: float | None, low: float | None = None, high: float | None = None
    ) -> Self:
        """Create the rate, alone or with its interval."""
        self = super().__new__(cls, value, low, high)
        self._interval = (low, high)
        return self

    @staticmethod
    def _reads(value: Any, *details: Any) -> str:
        return minus(format_rate(value, *details, brief=True))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by value and interval."""
        return type(self), (self.value, *self._interval)


class Seconds(Number):
    """A time span."""

    __slots__ = ()
    _reads = _in_a_sentence(format_seconds)


class Age(Seconds):
    """The time since an event, rounded down."""

    __slots__ = ()
    _reads = _in_a_sentence(format_age)


class Share(Number):
    """A fraction of a whole, in per cent without decimals: `12 %`, `<1 %`."""

    __slots__ = ()
    _reads = _in_a_sentence(format_fraction)


class MostShare(Share):
    """The upper bound of a fraction, rounded up: 13.2 % reads `14 %`."""

    __slots__ = ()
    _reads = _in_a_sentence(format_most)


class Count(Number):
    """A count with its noun: `Count(3, "place")` reads `3 places`."""

    __slots__ = ("_nouns",)
    _nouns: tuple[str, ...]

    def __new__(cls, value: float | None, noun: str = "", plural: str = "") -> Self:
        """Create the count, alone or with its noun."""
        self = super().__new__(cls, value, noun, plural)
        self._nouns = (noun, plural)
        return self

    @staticmethod
    def _reads(value: Any, *details: Any) -> str:
        noun, plural = details
        noun = noun if value == 1 or not noun else plural or f"{noun}s"
        return f"{minus(format_count(value))} {noun}".rstrip()

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by value and noun."""
        return type(self), (self.value, *self._nouns)


_NUMBERS = {"B": Bytes, "B/s": Rate, "s": Seconds, "fraction": Share, "count": Count}


def number(value: float, unit: str) -> Part:
    """Return a number as a part, by its unit in the data dictionary; as words if it has no unit."""
    kind = _NUMBERS.get(unit)
    return Words(minus(f"{value:g}")) if kind is None else kind(value)


def text(template: str, *values: str, **by_name: str) -> Text:
    """Fill a template with typed parts: `{}` in order, `{size}` by name; `{{` is a literal brace.

    Values are parts, texts, or plain strings, which become words.
    """
    pieces: list[str] = []
    left = iter(values)
    for words, place, _, _ in _FORMATTER.parse(template):
        pieces.append(words)
        if place is not None:
            pieces += map(_spoken, parts_of(by_name[place] if place else next(left)))
    assert next(left, None) is None, f"more values than places: {template}"
    return Text(*pieces)


def joined(separator: str, texts: Iterable[str]) -> Text:
    """Join texts with a separator."""
    pieces: list[str] = []
    for piece in texts:
        pieces += [separator, piece] if pieces else [piece]
    return Text(*pieces)


def parts_of(piece: str) -> tuple[Part, ...]:
    """Return the parts of a text; a plain string becomes words."""
    return piece.parts if isinstance(piece, Text) else Words(piece).parts


def _merged(parts: Iterable[Part]) -> Iterable[Part]:
    """Merge adjacent words, and drop empty parts."""
    words: list[str] = []
    for part in parts:
        if type(part) is Words:
            words.append(part)
            continue
        yield from Words("".join(words)).parts
        words = []
        yield part
    yield from Words("".join(words)).parts


def _spoken(part: Part) -> Part:
    """Call a snapshot named `7` or `after` a snapshot, so that a sentence is not misread."""
    is_misread = type(part) is MomentName and (is_digits(part) or part in ADVERBS)
    return NumberedMoment(part.value) if is_misread else part
