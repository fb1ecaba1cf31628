"""JSON as programs write it: one value, several in a row, or a text that was cut."""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import TYPE_CHECKING, Any

from gomem.errors import Damage, excerpt
from gomem.text import Quoted, Text, text

if TYPE_CHECKING:
    from collections.abc import Iterable

BEGINNINGS = (b"{", b"[")
# Brackets before a shell prompt, a line of the kernel's log, or around a word: `[AfterSuite] …`.
NOT_JSON = re.compile(
    rb"\[(?:[\w.-]+@[^\]\n]*\]| *\d+\.\d+\] \S|(?!(?:true|false|null)\b)[A-Za-z])"
)
INTEGER_DIGITS = 300  # fits a float, too; Python refuses to parse more than 4 300


PIECE = 1 << 14  # length of the first piece in which the end of a value is searched
MOST_VALUES = 100  # after so many, a text is a log of JSON
MOST_TOLD = 1000  # maximum number of broken places reported for a text
LONGEST_WORD = 16  # the longest token that a cut can break: `-Infinity`, an escape
UNTERMINATED = "Unterminated string"


def whole_number(text: str | bytes) -> float:
    """Parse an integer; infinite if it has more digits than any count can have."""
    return int(text) if len(text) <= INTEGER_DIGITS else float(text)


DECODER = json.JSONDecoder(parse_int=whole_number)


def is_json(data: bytes) -> bool:
    """Whether a text begins like a JSON object or array."""
    text = data.lstrip()
    return text[:1] in BEGINNINGS and NOT_JSON.match(text) is None


def first_value(data: bytes) -> tuple[bool, Any]:
    """Return whether a JSON text begins with a valid value, and that value or its first item."""
    # `(True, None)` for a text that is not JSON at all: its beginning proves nothing.
    if not is_json(data):
        return True, None
    try:
        value, _ = DECODER.raw_decode(data.decode("utf-8-sig", "replace").lstrip())
    except (json.JSONDecodeError, RecursionError):
        return False, None
    return True, value[0] if isinstance(value, list) and value else value


def is_one_value(data: bytes) -> bool:
    """Whether a text is exactly one JSON object or array."""
    if not is_json(data):
        return False
    text = data.decode("utf-8-sig", "replace")
    try:
        _, end = DECODER.raw_decode(text, _skip_blank(text, 0))
    except (json.JSONDecodeError, RecursionError):
        return False
    return _skip_blank(text, end) == len(text)


def is_json_alone(data: bytes) -> bool:
    """Whether a text is JSON to its end, whole or cut: a paste can go on with other evidence."""
    if not is_json(data):
        return False
    text = data.decode("utf-8-sig", "replace")
    place = _skip_blank(text, 0)
    for _ in range(MOST_VALUES):
        if place == len(text):
            return True
        if text[place] not in "{[" or NOT_JSON.match(text[place : place + 200].encode()):
            return False
        try:
            _, end = _decoded(text, place, DECODER)
        except (json.JSONDecodeError, RecursionError):
            return True
        place = _skip_blank(text, end)
    return True


def json_values(data: bytes, source: str) -> tuple[list[tuple[str, Any]], list[Damage]]:
    """Return every JSON value of a text with its place, and damage where the text is not JSON."""
    text = data.decode("utf-8-sig", "replace")
    values: list[tuple[str, Any]] = []
    damage: list[Damage] = []
    place = _skip_blank(text, 0)
    line, counted, untold = 1, 0, 0
    repeated: list[str] = []
    decoder = _decoder(repeated)
    while place < len(text):
        line += text.count("\n", counted, place)
        counted = place
        try:
            value, end = _decoded(text, place, decoder)
        except (json.JSONDecodeError, RecursionError) as error:
            if len(damage) < MOST_TOLD:
                reason = getattr(error, "msg", "nested too deeply")
                what = f"cannot be read as JSON: {reason}; the text may be cut"
                shown = excerpt(text[place : place + 200].partition("\n")[0])
                damage.append(Damage(source, f"line {line}", what, shown))
            else:
                untold += 1
            end = text.find("\n", place)
            end = len(text) if end < 0 else end
        else:
            values.append((f"line {line}", value))
            damage += _of_repeated(repeated, source, f"line {line}")
        repeated.clear()
        place = _skip_blank(text, end)
    if untold:
        what = f"{untold} more places cannot be read as JSON"
        damage.append(Damage(source, f"before line {line}", what))
    return values, damage


def _decoder(repeated: list[str]) -> json.JSONDecoder:
    """Return the usual decoder, which also collects keys that occur more than once in an object."""

    def read(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        value = dict(pairs)
        if len(value) < len(pairs):
            keys = Counter(key for key, _ in pairs)
            repeated.extend(key for key, times in keys.items() if times > 1)
        return value

    return json.JSONDecoder(parse_int=whole_number, object_pairs_hook=read)


def _of_repeated(keys: list[str], source: str, place: str) -> list[Damage]:
    """Return damage for keys that occur more than once in an object."""
    what = "{} stands more than once: the last counts, and files may be mixed up"
    once = dict.fromkeys(keys)  # a retried value reports its keys again
    return [Damage(source, place, text(what, Quoted(excerpt(key)))) for key in once]


def _decoded(text: str, place: int, decoder: json.JSONDecoder) -> tuple[Any, int]:
    """Return the value at a position, and its end; raises JSONDecodeError if there is none.

    An error costs time for all text before it, because Python counts its lines. So a short piece is
    decoded first, and a longer one only if the error can be caused by the end of the piece.
    """
    length = PIECE
    while True:
        piece = text[place : place + length]
        is_rest = place + length >= len(text)
        try:
            value, end = decoder.raw_decode(piece)
        except json.JSONDecodeError as error:
            is_cut = error.pos + LONGEST_WORD > len(piece) or error.msg.startswith(UNTERMINATED)
            if is_rest or not is_cut:
                raise
        else:
            if is_rest or end < len(piece):
                return value, place + end
        length *= 4


def describe_json(values: list[tuple[str, Any]], wanted: Iterable[str]) -> Text:
    """Describe the values found, and the keys wanted, for a message."""
    names = ", ".join(sorted(wanted))
    for _, value in values:
        if isinstance(value, dict):
            return text("found the keys {}; wanted {}", _keys(value), names)
    found = type(values[0][1]).__name__ if values else "nothing"
    return text("found {}; wanted an object with {}", found, names)


def _keys(value: dict[Any, Any]) -> str:
    """Return the first keys of an object; they can be any text."""
    return Quoted(", ".join(excerpt(str(key))[:40] for key in list(value)[:4])) or "(none)"


def _skip_blank(text: str, place: int) -> int:
    while place < len(text) and text[place] in " \t\r\n,\x00":
        place += 1
    return place


def what_json_holds(data: bytes) -> str:
    """Describe the first value of a JSON text, for a message."""
    content = data.decode("utf-8-sig", "replace").lstrip()
    try:
        value, _ = DECODER.raw_decode(content)
    except (json.JSONDecodeError, RecursionError) as error:
        reason = getattr(error, "msg", "nested too deeply")
        return f"text that begins like JSON and is not: {reason}"
    if isinstance(value, dict):
        return text("JSON with the keys {}", _keys(value))
    return f"JSON holding a {type(value).__name__}"
